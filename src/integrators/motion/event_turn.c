/*
** event_turn.c
** The directions in which friction in space begins to slip from rest: d along the acceleration u', which depends on d.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_modes.h"
#include "linalg/qr.h"

/*
** TURNS: largest number of Newton steps; from the answer of the one-step solver three are enough. Where friction is nearly as large as
** the other forces, a fixed-point iteration d = u' / |u'| moves away from the solution: u' turns by 1 / (|u'| m / mu lambda_n) of a turn of d.
*/
enum { TURNS = 12 };

static bool unit_turns(const Unit *unit) {
  return unit->normal >= 0 && unit->width == 2 && !unit->moving && unit->option == OPTION_ALONG;
}

/* The largest sine of an angle between d and u'; 1 where they are opposed. */
static double turn_error(const NsModes *s) {
  double most = 0;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (!unit_turns(unit)) continue;
    const double *a = s->w + unit->first, *d = unit->d;
    double speed = ns_motion_length(a[0], a[1]);
    if (speed > 0) most = fmax(most, d[0] * a[0] + d[1] * a[1] > 0 ? fabs(d[0] * a[1] - d[1] * a[0]) / speed : 1);
  }
  return most;
}

/* Adds the column of an unknown that changes row i of y'' by from[i]: the rows of the unknowns, then d x u' of the units that turn. */
static void turn_column(const NsModes *s, int count, const double *from, double *column) {
  for (int a = 0; a < count; a++) column[a] = from[s->unknown[a]];
  for (int u = 0, row = count; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (unit_turns(unit)) column[row++] = unit->d[0] * from[unit->first + 1] - unit->d[1] * from[unit->first];
  }
}

/* One Newton step for the forces of the mode and the turns of d (times mu lambda_n), in s->A, s->rhs, s->part. False: no step. */
static bool turn_once(const NsEventDriven *ed, NsModes *s) {
  int count = ns_ed_mode_unknowns(ed, s), n = count, rank;
  for (int u = 0; u < s->nunits; u++) n += unit_turns(&s->units[u]);
  (void)ns_ed_mode_solve(ed, s);
  memset(s->rhs, 0, (size_t)n * sizeof *s->rhs);
  for (int a = 0; a < count; a++) {
    for (int i = 0; i < s->n; i++) s->change[i] = ns_ed_effective(ed, s, i, s->unknown[a]);
    turn_column(s, count, s->change, s->A + (size_t)a * (size_t)n);
  }
  for (int u = 0, at = count; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (!unit_turns(unit)) continue;
    const double *d = unit->d, *a = s->w + unit->first, *W = s->W + (size_t)unit->first * (size_t)s->n;
    double bound = ns_ed_unit_bound(ed, s, unit);
    for (int i = 0; i < s->n; i++) s->change[i] = d[1] * W[i] - d[0] * W[i + s->n];
    turn_column(s, count, s->change, s->A + (size_t)at * (size_t)n);
    s->rhs[at] = -(d[0] * a[1] - d[1] * a[0]);
    if (bound > 0) s->A[at + (size_t)at * (size_t)n] -= (d[0] * a[0] + d[1] * a[1]) / bound;
    at++;
  }
  if (ns_lstsq(n, n, 1, s->A, n, s->rhs, n, DBL_EPSILON, s->part, &rank, NULL) != NS_OK) return false;
  for (int u = 0, at = count; u < s->nunits; u++) {
    Unit *unit = &s->units[u];
    if (!unit_turns(unit)) continue;
    double bound = ns_ed_unit_bound(ed, s, unit), turn = s->part[at++];
    turn = bound > 0 ? fmax(-1, fmin(1, turn / bound)) : 0;
    double x = unit->d[0] - turn * unit->d[1], y = unit->d[1] + turn * unit->d[0], length = ns_motion_length(x, y);
    unit->d[0] = x / length, unit->d[1] = y / length;
  }
  return true;
}

/* Copies the directions of the units from s->turned, or to it. */
static void turns_keep(NsModes *s, bool back) {
  for (int u = 0; u < s->nunits; u++)
    for (int i = 0; i < 2; i++) {
      double *kept = &s->turned[2 * u + i], *d = &s->units[u].d[i];
      if (back) *d = *kept;
      else *kept = *d;
    }
}

bool ns_ed_turn_directions(const NsEventDriven *ed, NsModes *s) {
  double least = INFINITY;
  if (!ns_ed_mode_solve(ed, s)) return false;
  turns_keep(s, false);
  for (int turn = 0; turn < TURNS; turn++) {
    double error = turn_error(s);
    if (error < least) turns_keep(s, false), least = error;
    if (error <= 4 * DBL_EPSILON || !turn_once(ed, s) || !ns_ed_mode_solve(ed, s)) break;
  }
  turns_keep(s, true);
  return ns_ed_mode_solve(ed, s);
}
