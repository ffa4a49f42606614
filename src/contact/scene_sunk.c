/*
** scene_sunk.c
** On which side of a polyline a thin body is that has sunk in it.
*/
#include "contact/scene_parts.h"

/* Notes for a contact in the plane whether its body has sunk in a polyline so deep that its centre is near this, or through it; deeper than its own size a script has moved it. */
static void scene_note_sunk(NsScene *s, const NsSceneContact *c) {
  if (!c->linked || !c->touch || c->touch->kind != NS_TOUCH_POINT_FACE || !c->touch->swapped || !s->shapes[c->second].mesh)
    return;
  NsSceneShape *shape = &s->shapes[c->first];
  const NsTouch *t = c->touch;
  NsPose pose = ns_pose(shape->q, shape->n, true);
  double corner[3], centre[3];
  ns_place(&pose, t->corner, corner), ns_place(&pose, shape->solid->centre, centre);
  ns_sub3(corner, t->point, corner), ns_sub3(centre, t->point, centre);
  double deep = t->R1 - ns_dot3(t->normal, corner), high = ns_dot3(t->normal, centre);
  if (!(fabs(high) < deep && deep < shape->around && deep > shape->sunk)) return;
  shape->sunk = deep, shape->sunk_in = c->second;
  memcpy(shape->out, t->normal, sizeof shape->out);
}

void ns_scene_note_sunk(NsScene *s) {
  if (s->space == 3 || s->nmeshes == 0) return;
  for (int i = 0; i < s->nshapes; i++) s->shapes[i].sunk = 0;
  for (int slot = 0; slot < s->nslots; slot++) scene_note_sunk(s, &s->slots[slot]);
}
