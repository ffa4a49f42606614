/*
** scene_flush.c
** Solids of a scene that lie beside each other, and the contacts of their flat parts.
*/
#include "base/memory.h"
#include "contact/scene_parts.h"

NsStatus ns_scene_find_flush(NsScene *s) {
  if (s->beside.known == s->nshapes) return NS_OK;
  NsFlushPart *parts = ns_alloc((size_t)s->nshapes, sizeof *parts);
  if (!parts) return NS_ENOMEM;
  for (int i = 0; i < s->nshapes; i++)
    parts[i] = (NsFlushPart){s->shapes[i].q, s->shapes[i].n == 3 && s->space == 3 ? NULL : s->shapes[i].solid};
  ns_arena_release(&s->beside.arena);
  NsStatus status = ns_flush_find(s->nshapes, parts, &s->beside.arena, &s->beside.of);
  if (status == NS_OK) s->beside.known = s->nshapes;
  else s->beside.of = NULL;
  ns_free(parts);
  return status;
}

void ns_scene_order(NsTouch *t, int i, int j, int *one, int *other) {
  *one = t->swapped ? j : i, *other = t->swapped ? i : j;
  if (t->flat == 0) return;
  *other = t->flat - 1;
  t->swapped = *one > *other;
  t->id = (t->id & ~((uint64_t)1 << 19)) | (uint64_t)t->swapped << 19;
}

bool ns_scene_is_flush(const NsScene *s, int shape) {
  return s->beside.of && s->beside.known == s->nshapes && s->beside.of[shape];
}

bool ns_scene_is_flat(const NsScene *s, int shape, int face) {
  return ns_scene_is_flush(s, shape) && face < s->shapes[shape].solid->nfaces && s->beside.of[shape]->faces[face].solid;
}
