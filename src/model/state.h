/*
** state.h
** What a stateful object must remember, walked once: for rollback, reset, clone and checkpoints alike.
*/
#ifndef NS_MODEL_STATE_H
#define NS_MODEL_STATE_H

#include <stddef.h>

#include "base/status.h"

/* Called for each piece of state: its name, where it lies and its size in bytes. */
typedef void (*NsVisitor)(void *context, const char *name, void *data, size_t bytes);

/* Walks the state of one object, always in the same order. State that is not visited does not exist. */
typedef void (*NsWalk)(void *object, NsVisitor visitor, void *context);

/* A copy of an object's state. A zero-initialised snapshot is empty and valid. */
typedef struct NsSnapshot {
  char *bytes;
  size_t size;
} NsSnapshot;

/* Makes room for the object's state (NS_ENOMEM); called again it resizes. */
NsStatus ns_snapshot_reserve(NsSnapshot *snapshot, NsWalk walk, void *object);

/* Copies the state out; the snapshot must have been reserved for an object of the same shape. Allocates nothing. */
void ns_snapshot_save(NsSnapshot *snapshot, NsWalk walk, void *object);

/*
** Copies the state back, into the same object or into another of the same shape. NS_ESIZE, nothing written, if the
** shape differs.
*/
NsStatus ns_snapshot_restore(const NsSnapshot *snapshot, NsWalk walk, void *object);

void ns_snapshot_free(NsSnapshot *snapshot);

#endif
