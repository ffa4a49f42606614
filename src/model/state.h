/*
** state.h
** The state of an object, listed by one function, its walk. Rollback, reset, clone and checkpoints all use the walk.
*/
#pragma once

#include <stddef.h>

#include "base/status.h"

/* Called for each piece of state with its name, address and size in bytes. */
typedef void (*NsVisitor)(void *context, const char *name, void *data, size_t bytes);

/* Calls the visitor for each piece of an object's state, always in the same order. A piece that it omits is not kept. */
typedef void (*NsWalk)(void *object, NsVisitor visitor, void *context);

/* A copy of an object's state. A zero-initialised snapshot is empty and valid. */
typedef struct NsSnapshot {
  char *bytes;
  size_t size;
} NsSnapshot;

/* Allocates memory for a copy of the object's state; may be called again when the size changes. NS_ENOMEM. */
NsStatus ns_snapshot_reserve(NsSnapshot *snapshot, NsWalk walk, void *object);

/* Copies the state into the snapshot, reserved for an object with the same walk and sizes. Allocates nothing. */
void ns_snapshot_save(NsSnapshot *snapshot, NsWalk walk, void *object);

/*
** Copies the snapshot into the same object, or into another with the same walk and sizes. NS_ESIZE, with nothing written, when
** the sizes differ.
*/
NsStatus ns_snapshot_restore(const NsSnapshot *snapshot, NsWalk walk, void *object);

void ns_snapshot_free(NsSnapshot *snapshot);
