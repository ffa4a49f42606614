/*
** scratch.h
** Directories for files that a program needs for a while: new ones, for this user alone.
*/
#ifndef NS_IO_SCRATCH_H
#define NS_IO_SCRATCH_H

#include "base/error.h"

enum { NS_SCRATCH_PATH = 1024 };

/* The path of the directory; empty when there is none. */
typedef struct NsScratch {
  char path[NS_SCRATCH_PATH];
} NsScratch;

/*
** Makes a directory of a name that nobody can foresee in TMPDIR (else /tmp), which only this user can enter. NS_EIO
** ("cannot make a directory in 'PATH': reason"), and scratch->path is empty then.
*/
NsStatus ns_scratch_new(NsScratch *scratch, NsError *err);

/* Removes the files in it, and the directory; directories in it stay. Empties scratch->path. */
void ns_scratch_remove(NsScratch *scratch);

#endif
