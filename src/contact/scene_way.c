/*
** scene_way.c
** The ways that the bodies of a scene go.
*/
#include <math.h>
#include <string.h>

#include "contact/scene_parts.h"

/* The way between the coordinates p and q of a shape. */
static double scene_way_between(const NsSceneShape *shape, const double *p, const double *q, int space) {
  double move[SCENE_COORDINATES] = {0};
  for (int k = 0; k < shape->n; k++) move[k] = q[k] - p[k];
  if (space == 2) return hypot(move[0], move[1]) + fabs(move[2]) * shape->around;
  double turn = ns_scene_is_ball(shape) ? 0 : sqrt(ns_dot3(move + 3, move + 3) + move[6] * move[6]); /* half of the angle */
  return ns_length3(move) + 2 * turn * shape->around;
}

void ns_scene_start(NsScene *s) {
  s->far = false;
  for (int i = 0; i < s->nshapes; i++) {
    const NsSceneShape *shape = &s->shapes[i];
    double *from = s->from + SCENE_FROM * (ptrdiff_t)i;
    if (shape->n > 0) memcpy(from, shape->q, (size_t)shape->n * sizeof *from);
    from[SCENE_COORDINATES] = 0;
  }
}

double ns_scene_way(NsScene *s, double parts) {
  double most = 0, least = INFINITY;
  for (int i = 0; i < s->nshapes; i++) {
    const NsSceneShape *shape = &s->shapes[i];
    double *from = s->from + SCENE_FROM * (ptrdiff_t)i, *way = &from[SCENE_COORDINATES];
    if (shape->n == 0 || s->space == 2) continue;
    *way = fmax(*way, parts * scene_way_between(shape, from, shape->q, s->space));
    memcpy(from, shape->q, (size_t)shape->n * sizeof *from);
    if (shape->around > 0) most = fmax(most, *way), least = fmin(least, shape->around);
  }
  double way = most > 0 ? most / least : 0;
  return s->far = way > NS_SCENE_LOOK, way;
}

void ns_scene_among(NsScene *s, int among) {
  s->among = among;
}

void ns_scene_set_home(NsScene *s, int shape, int home) {
  if (s->shapes[shape].n > 0) s->shapes[shape].home = home;
}

bool ns_scene_is_aside(const NsScene *s, int i, int j) {
  int one = i < 0 ? -1 : s->shapes[i].home, other = j < 0 ? -1 : s->shapes[j].home;
  if (s->among == NS_SCENE_ALL || s->looking == SCENE_MEETS) return false;
  if (s->among == NS_SCENE_BETWEEN) return one < 0 || other < 0 || one == other;
  return (one >= 0 && one != s->among) || (other >= 0 && other != s->among);
}

int ns_scene_going(const NsScene *s, int *going) {
  int count = 0;
  for (int k = 0; k < s->nround && count <= SCENE_FEW; k++) {
    if (!(s->from[SCENE_FROM * (ptrdiff_t)s->round[k] + SCENE_COORDINATES] > 0)) continue;
    if (count < SCENE_FEW) going[count] = k;
    count++;
  }
  return count;
}

void ns_scene_forget_pairs(NsScene *s) {
  int going[SCENE_FEW];
  if (s->space == 3 && ns_scene_going(s, going) > SCENE_FEW) s->skin = -1, s->wider = 1;
}

bool ns_scene_strayed(NsScene *s) {
  bool searched = s->minded != s->searches, strayed = false;
  for (int i = 0; i < s->nshapes && !searched && !strayed; i++) {
    const NsSceneShape *shape = &s->shapes[i];
    const double *from = s->from + SCENE_FROM * (ptrdiff_t)i;
    strayed = shape->n > 0 && !(2 * scene_way_between(shape, from, shape->q, s->space) <= s->reach + shape->lead);
  }
  s->minded = s->searches;
  if (searched || strayed) ns_scene_start(s);
  return strayed;
}

bool ns_scene_knows_pair(const NsScene *s, const NsSceneContact *contact) {
  int first = contact->first, second = contact->second;
  for (const NsSceneContact *c = s->slots; c < s->slots + s->nslots; c++) {
    bool same = (c->first == first && c->second == second) || (c->first == second && c->second == first);
    if (same && (c->linked || c->seen == s->searches)) return true;
  }
  return false;
}
