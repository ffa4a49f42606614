/*
** state.c
** Snapshots: an object's walk, copied into one block of bytes and back.
*/
#include "model/state.h"

#include <string.h>

#include "base/memory.h"

typedef struct Cursor {
  char *at;
  size_t size;
} Cursor;

static void state_measure(void *context, const char *name, void *data, size_t bytes) {
  (void)name, (void)data;
  ((Cursor *)context)->size += bytes;
}

static void copy_out(void *context, const char *name, void *data, size_t bytes) {
  Cursor *cursor = context;
  (void)name;
  if (bytes) memcpy(cursor->at, data, bytes);
  cursor->at += bytes;
}

static void copy_in(void *context, const char *name, void *data, size_t bytes) {
  Cursor *cursor = context;
  (void)name;
  if (bytes) memcpy(data, cursor->at, bytes);
  cursor->at += bytes;
}

static size_t state_size(NsWalk walk, void *object) {
  Cursor cursor = {0};
  walk(object, state_measure, &cursor);
  return cursor.size;
}

NsStatus ns_snapshot_reserve(NsSnapshot *snapshot, NsWalk walk, void *object) {
  size_t size = state_size(walk, object);
  char *bytes = ns_resize(snapshot->bytes, size, 1);
  if (!bytes) return NS_ENOMEM;
  snapshot->bytes = bytes;
  snapshot->size = size;
  return NS_OK;
}

void ns_snapshot_save(NsSnapshot *snapshot, NsWalk walk, void *object) {
  Cursor cursor = {.at = snapshot->bytes};
  walk(object, copy_out, &cursor);
}

NsStatus ns_snapshot_restore(const NsSnapshot *snapshot, NsWalk walk, void *object) {
  Cursor cursor = {.at = snapshot->bytes};
  if (state_size(walk, object) != snapshot->size) return NS_ESIZE;
  walk(object, copy_in, &cursor);
  return NS_OK;
}

void ns_snapshot_free(NsSnapshot *snapshot) {
  ns_free(snapshot->bytes);
  *snapshot = (NsSnapshot){0};
}
