/*
** checkpoint.h
** Checkpoint files: three pieces of bytes under a checksum, written whole or not at all, with the one before kept.
*/
#ifndef NS_IO_CHECKPOINT_H
#define NS_IO_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What a file holds. A zero-initialised one is empty and valid. */
typedef struct NsCheckpoint {
  char *identity, *note, *state; /* what it was taken of, what the script adds, the state */
  size_t identity_size, note_size, state_size;
  bool previous; /* read: it is the generation before */
} NsCheckpoint;

/*
** Writes the pieces (borrowed) to a temporary file, syncs it and gives it the name; what had the name before, when it is
** good, becomes PATH.previous. At any moment, also after a kill, one of the two is whole. The format is that of the
** machine: a magic line, a number that tells the order of bytes, each piece after its size, the CRC-64 of all that
** (ECMA-182). NS_EIO, NS_ENOMEM.
*/
NsStatus ns_checkpoint_write(const char *path, const NsCheckpoint *pieces, NsError *err);

/*
** Reads PATH, or when that is missing or damaged PATH.previous. NS_EIO when neither is good, with the reason of both:
** missing, no checkpoint, of another machine, cut, damaged. NS_ENOMEM. To be cleared after success.
*/
NsStatus ns_checkpoint_read(const char *path, NsCheckpoint *pieces, NsError *err);

/* Whether there is a file at PATH or PATH.previous. */
bool ns_checkpoint_exists(const char *path);

/*
** Whether `other` names a file that checkpoints at PATH replace or remove: PATH, or one that they keep beside it. (The temporary
** file of the writer is none: it takes a name that is free.)
*/
bool ns_checkpoint_replaces(const char *path, const char *other);

void ns_checkpoint_clear(NsCheckpoint *pieces);

#endif
