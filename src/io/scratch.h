/*
** scratch.h
** Private temporary directories.
*/
#pragma once

#include "base/error.h"

enum { NS_SCRATCH_PATH = 1024 };

/* The path of the directory; empty when there is none. */
typedef struct NsScratch {
  char path[NS_SCRATCH_PATH];
} NsScratch;

/*
** Makes a directory with an unpredictable name in TMPDIR (else /tmp), accessible to this user only. NS_EIO ("cannot make a
** directory in 'PATH': reason"); scratch->path is then empty.
*/
NsStatus ns_scratch_new(NsScratch *scratch, NsError *err);

/* Removes the directory with its files, not its subdirectories. Sets scratch->path to "". */
void ns_scratch_remove(NsScratch *scratch);
