/*
** checkpoint.h
** Checkpoint files: blocks of bytes under a checksum, written whole or not at all; the previous file is kept.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The contents of a file. A zero-initialised one is empty and valid. */
typedef struct NsCheckpoint {
  char *identity, *note, *state; /* what identifies the simulation, the script's addition, the state */
  char *links;                   /* what links contacts that come and go; it may be absent */
  size_t identity_size, note_size, state_size, links_size;
  bool previous; /* after reading: it came from PATH.previous */
} NsCheckpoint;

/*
** Writes the pieces (borrowed) to a temporary file, syncs it and renames it to PATH. A good file that had the name before
** becomes PATH.previous. At any moment, also after a kill, one of the two is whole. Format (native byte order): a magic line,
** a number that tells the byte order, each piece after its size (links only if there are any), the CRC-64 (ECMA-182) of all that.
** NS_EIO, NS_ENOMEM.
*/
NsStatus ns_checkpoint_write(const char *path, const NsCheckpoint *pieces, NsError *err);

/*
** Reads PATH, or PATH.previous when PATH is missing or damaged. The caller clears *pieces after success. NS_EIO when neither
** is good, with the reason for both: missing, not a checkpoint, from another machine, truncated, damaged. NS_ENOMEM.
*/
NsStatus ns_checkpoint_read(const char *path, NsCheckpoint *pieces, NsError *err);

/* Whether there is a file at PATH or PATH.previous. */
bool ns_checkpoint_exists(const char *path);

/*
** Whether `other` names a file that checkpoints at PATH replace or remove: PATH itself or one that they keep beside it. (The
** writer's temporary file is not among them: it takes a free name.)
*/
bool ns_checkpoint_replaces(const char *path, const char *other);

void ns_checkpoint_clear(NsCheckpoint *pieces);
