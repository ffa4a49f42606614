/*
** motion_mode.c
** The mode of mechanics: its block, the numbers of the laws, and the guards that need no evaluation.
*/
#include "integrators/motion/motion_mode.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

NsMotionMode *ns_motion_mode_new(NsArena *arena, int m) {
  size_t rows = (size_t)m;
  size_t bytes = sizeof(NsMotionMode) + rows * (sizeof(Row) + 9 * sizeof(double) + 2 * sizeof(int));
  NsMotionMode *mode = ns_arena_take(arena, bytes, 1);
  if (!mode) return NULL;
  mode->m = m;
  mode->bytes = bytes - offsetof(NsMotionMode, nactive);
  mode->rows = (Row *)(void *)(mode + 1);
  double *at = (double *)(void *)(mode->rows + rows);
  double **of_rows[] = {&mode->multiplier, &mode->lambda, &mode->share, &mode->slow, &mode->reach,
                        &mode->drift,      &mode->pulled, &mode->slid,  &mode->along};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++, at += m) *of_rows[i] = at;
  mode->active = (int *)(void *)at;
  mode->acting = mode->active + m;
  return mode;
}

void *ns_motion_mode_block(const NsMotionMode *mode) {
  return (char *)(size_t)mode + offsetof(NsMotionMode, nactive);
}

void ns_motion_mode_take(NsMotionMode *mode, const void *block) {
  memcpy(ns_motion_mode_block(mode), block, mode->bytes);
}

static bool same_row(const Row *a, const Row *b) {
  const Friction *f = &a->friction, *g = &b->friction;
  return a->state == b->state && f->stick_slip == g->stick_slip && f->tied == g->tied && f->onset == g->onset &&
         f->stops == g->stops && f->begins == g->begins && f->d[0] == g->d[0] && f->d[1] == g->d[1];
}

bool ns_motion_mode_same(const NsMotionMode *a, const NsMotionMode *b) {
  bool same = a->dependent == b->dependent && a->nactive == b->nactive && a->nacting == b->nacting && a->nplaces == b->nplaces;
  for (int i = 0; i < a->m && same; i++) same = same_row(&a->rows[i], &b->rows[i]);
  return same;
}

void ns_motion_mode_read_laws(NsMotionMode *mode, const NsMotion *motion) {
  for (int i = 0; i < mode->m; i++) {
    int e = ns_motion_interaction(motion, i), first = ns_motion_first_row(motion, e);
    const NsLaw *law = ns_motion_nsds(motion)->interactions[e]->law;
    Row *row = &mode->rows[i];
    row->restitution = ns_law_restitution(law, i - first, 1);
    if (row->friction.width == 0) continue;
    NsLawGroup group = ns_law_group(law, row->friction.normal >= 0 ? 0 : i - first, false);
    if (row->friction.normal >= 0) row->friction.mu = group.mu[ns_law_disc_of(&group, i - first)];
    else if (row->friction.reactions > 0) row->friction.mu = group.mu[0];
    else row->friction.lower = law->lower[i - first], row->friction.upper = law->upper[i - first];
  }
}

/* ---- guards ---- */

NsGuardKind ns_motion_guard_kind(const NsMotionMode *mode, int row) {
  if (row < 0 || row >= mode->m) return row == mode->m && mode->pole_size != 0 ? GUARD_POLE : GUARD_NONE;
  const Row *r = &mode->rows[row];
  if (row > 0 && ns_motion_friction_is(mode, row - 1, FRICTION_SLIP) && r[-1].friction.onset) return GUARD_ONSET;
  if (r->unilateral) return r->state == ROW_ACTIVE ? GUARD_FORCE : GUARD_GAP;
  if (ns_motion_friction_is(mode, row, FRICTION_STICK)) return GUARD_STICK;
  return ns_motion_friction_is(mode, row, FRICTION_SLIP) ? GUARD_SLIP : GUARD_NONE;
}

NsGuardKind ns_motion_watched(const NsMotionMode *mode, int row) {
  NsGuardKind kind = ns_motion_guard_kind(mode, row);
  const Friction *f = kind == GUARD_STICK || kind == GUARD_SLIP ? &mode->rows[row].friction : NULL;
  if (!f) return kind;
  bool relay = f->normal < 0, never = kind == GUARD_STICK ? relay && isinf(f->lower) && isinf(f->upper)
                                                          : f->tied || (relay && !f->varies && f->lower == f->upper);
  return never ? GUARD_NONE : kind;
}

double ns_motion_active_force(const NsMotionMode *mode, int row) {
  for (int k = 0; k < mode->nactive; k++)
    if (mode->active[k] == row) return mode->lambda[k];
  return 0;
}

double ns_motion_length(double a, double b) {
  double most = fmax(fabs(a), fabs(b));
  int exponent;
  if (!(most > 0) || !isfinite(most)) return most;
  (void)frexp(most, &exponent);
  a = ldexp(a, -exponent);
  b = ldexp(b, -exponent);
  return ldexp(sqrt(a * a + b * b), exponent);
}

double ns_motion_stick_guard(const NsMotionMode *mode, int row, double *scale) {
  const Friction *friction = &mode->rows[row].friction;
  const double *force = mode->multiplier + row;
  if (friction->normal >= 0) {
    double most = friction->mu * mode->multiplier[friction->normal],
           size = friction->width == 1 ? fabs(force[0]) : ns_motion_length(force[0], force[1]);
    *scale = most * most;
    return (most - size) * (most + size);
  }
  double below = force[0] - friction->lower, above = friction->upper - force[0];
  bool least = isfinite(friction->lower), greatest = isfinite(friction->upper);
  *scale = least && greatest ? (friction->upper - friction->lower) * (friction->upper - friction->lower)
           : least           ? fabs(force[0]) + fabs(friction->lower)
                             : fabs(force[0]) + fabs(friction->upper);
  return least && greatest ? below * above : least ? below : greatest ? above : INFINITY;
}
