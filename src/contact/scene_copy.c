/*
** scene_copy.c
** A scene of the same shapes and contacts, as for the clone of a model; whether shapes are the same.
*/
#include "contact/scene_parts.h"

#include "base/hash.h"

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

static void scene_hash(uint64_t *hash, const double *x, int n) {
  for (int k = 0; k < n; k++) {
    double number = x[k] + 0.0; /* 0 has one sign */
    ns_hash_bytes(hash, &number, sizeof number);
  }
}

uint64_t ns_scene_mark(const NsScene *s, int shape) {
  const NsSceneShape *a = &s->shapes[shape];
  uint64_t hash = NS_HASH_START;
  double sizes[] = {a->n, a->nballs, a->around, a->half, a->solid ? a->solid->ring.R : 0, a->solid ? a->solid->radius : 0};
  scene_hash(&hash, sizes, 6);
  for (int k = 0; k < a->nballs; k++) scene_hash(&hash, a->balls[k].at, 3), scene_hash(&hash, &a->balls[k].radius, 1);
  if (a->solid) scene_hash(&hash, a->solid->vertices, 3 * a->solid->nvertices);
  for (int k = 0; a->mesh && k < ns_mesh_triangles(a->mesh); k++) {
    double corners[9];
    ns_mesh_corners(a->mesh, k, corners);
    scene_hash(&hash, corners, 9);
  }
  return hash;
}
