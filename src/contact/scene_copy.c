/*
** scene_copy.c
** A scene of the same shapes and contacts, as for the clone of a model.
*/
#include "contact/scene_parts.h"

/* The contact of the slot, not linked; it gets the same slot. */
static NsStatus scene_copy_contact(NsScene *to, const NsScene *from, int slot) {
  const NsSceneContact *c = &from->slots[slot];
  NsSceneOrigin origin;
  int same;
  ns_scene_origin(from, slot, &origin);
  NsStatus status = ns_scene_recall(to, &origin, &same);
  if (status != NS_OK) return status;
  NsSceneContact *copy = &to->slots[same];
  if (c->touch) *copy->touch = *c->touch;
  copy->seen = c->seen, copy->looked = c->looked, copy->parted = c->parted;
  return NS_OK;
}

NsStatus ns_scene_copy(NsScene **to, const NsScene *from, const NsSceneShape *shapes) {
  NsStatus status = ns_scene_new(to, from->space, from->reach);
  for (int i = 0; i < from->nshapes && status == NS_OK; i++) status = ns_scene_add(*to, &shapes[i]);
  for (int i = 0; i < from->nhalves && status == NS_OK; i++) status = ns_scene_add_half(*to, &from->halves[i]);
  for (int slot = 0; slot < from->nslots && status == NS_OK; slot++) status = scene_copy_contact(*to, from, slot);
  if (status == NS_OK) (*to)->searches = from->searches, (*to)->looks = from->looks, (*to)->frame = from->frame;
  return status;
}
