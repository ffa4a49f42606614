/*
** event_search.c
** Events within a step: signs at samples of the dense output, dips between them, roots.
*/
#include <math.h>
#include <string.h>

#include "ode/bracket.h"
#include "simulation/event_parts.h"

enum { MAX_POLISH = 6 };

/*
** What is positive until the event of a row: lambda of a held contact, y above its level of an open one. For one that
** has just left, (y - y0) / (t - t0), whose limit at t0 is the velocity: the bounce's start is no root, nor is what
** rounding makes of y there.
*/
static double guard(const NsEventDriven *ed, int row, double t, double y) {
  const Row *r = &ed->rows[row];
  if (r->state != ROW_DEPARTING) return y - r->level;
  return t > r->t0 ? (y - r->y0 + 4 * ed->now->rounding[row]) / (t - r->t0) : r->u0;
}

/* y or lambda of every row that can have an event, and u, at a point of the dense output. */
static NsStatus evaluate(NsEventDriven *ed, double t, double *y, double *u, NsError *err) {
  ns_dop853_at(ed->rk, t, ed->sample);
  const double *q = ed->sample, *v = q + ed->Nq;
  *ed->clock = t;
  NsStatus status = NS_OK;
  if (ed->nheld > 0) status = ns_ed_accelerate(ed, t, q, v, err);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, t, q, v, err);
  if (status != NS_OK) return status;
  memcpy(y, ed->now->y, (size_t)ed->m * sizeof *y);
  memcpy(u, ed->now->u, (size_t)ed->m * sizeof *u);
  for (int k = 0; k < ed->nheld; k++) y[ed->held[k]] = ed->lambda[k];
  return NS_OK;
}

/* The guard, or the velocity, of ed->sought. */
static NsStatus guard_at(void *context, double t, double *f, NsError *err) {
  NsEventDriven *ed = context;
  double *y = ed->q_part, *u = ed->u_after;
  NsStatus status = evaluate(ed, t, y, u, err);
  *f = guard(ed, ed->sought, t, y[ed->sought]);
  return status;
}

static NsStatus velocity_at(void *context, double t, double *f, NsError *err) {
  NsEventDriven *ed = context;
  double *y = ed->q_part, *u = ed->u_after;
  NsStatus status = evaluate(ed, t, y, u, err);
  *f = u[ed->sought];
  return status;
}

/* The least value of the cubic with these values and slopes at both ends of an interval of length h. */
static double dip(double f0, double s0, double f1, double s1, double h) {
  double least = fmin(f0, f1);
  for (int k = 1; k < 8; k++) {
    double x = k / 8.0, w = 1 - x;
    double f = w * w * (1 + 2 * x) * f0 + x * w * w * h * s0 + x * x * (1 + 2 * w) * f1 - x * x * w * h * s1;
    least = fmin(least, f);
  }
  return least;
}

/*
** The root of a row's guard between samples at a and b, if there is one: *root, else NaN. Where the ends are positive
** and the velocity changes its sign from - to +, the lowest point is looked at.
*/
static NsStatus root_between(NsEventDriven *ed, int row, double a, double b, int j, double *root, NsError *err) {
  double ya = ed->sample_y[j][row], yb = ed->sample_y[j + 1][row];
  double ua = ed->sample_u[j][row], ub = ed->sample_u[j + 1][row], fa = guard(ed, row, a, ya), fb = guard(ed, row, b, yb);
  *root = NAN;
  ed->sought = row;
  if (fb <= 0 && fa > 0) return ns_bracket_root(guard_at, ed, a, fa, b, fb, 0, root, err);
  if (fb <= 0) return *root = a, NS_OK;
  if (ed->rows[row].state == ROW_HELD || ua >= 0 || ub <= 0) return NS_OK;
  double margin = 0.25 * fmin(ya, yb);
  if (dip(ya, ua, yb, ub, b - a) > margin) return NS_OK;
  double lowest, f = 0;
  NsStatus status = ns_bracket_root(velocity_at, ed, a, ua, b, ub, 0, &lowest, err);
  if (status == NS_OK) status = guard_at(ed, lowest, &f, err);
  if (status != NS_OK || f > 0) return status;
  return ns_bracket_root(guard_at, ed, a, fa, lowest, f, 0, root, err);
}

/* The first root of all rows within the step; *row is -1 when there is none. */
static NsStatus first_root(NsEventDriven *ed, int *row, double *t, NsError *err) {
  const NsDop853State *step = ns_dop853_state(ed->rk);
  double length = step->t - step->t_old;
  *row = -1;
  *t = INFINITY;
  for (int j = 0; j < SAMPLES && *row < 0; j++) {
    double a = step->t_old + j * length / SAMPLES, b = j + 1 == SAMPLES ? step->t : step->t_old + (j + 1) * length / SAMPLES;
    if (j == 0) {
      NsStatus status = evaluate(ed, a, ed->sample_y[0], ed->sample_u[0], err);
      if (status != NS_OK) return status;
    }
    NsStatus status = evaluate(ed, b, ed->sample_y[j + 1], ed->sample_u[j + 1], err);
    for (int i = 0; i < ed->m && status == NS_OK; i++) {
      double root;
      if (!ed->rows[i].unilateral) continue;
      status = root_between(ed, i, a, b, j, &root, err);
      if (status == NS_OK && root < *t) *t = root, *row = i;
    }
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* Takes the step again up to t; there, y of an open contact is driven to its level by Newton's method on t. */
static NsStatus go_to(NsEventDriven *ed, int row, double t, NsError *err) {
  const NsDop853State *step = ns_dop853_state(ed->rk);
  double end = step->t;
  bool open = ed->rows[row].state != ROW_HELD;
  double level = ed->rows[row].state == ROW_DEPARTING ? 0 : ed->rows[row].level;
  for (int k = 0;; k++) {
    if (t <= step->t_old) t = nextafter(step->t_old, INFINITY);
    NsStatus status = ns_dop853_retake(ed->rk, t, err);
    if (status != NS_OK || !open || k == MAX_POLISH) return status;
    const double *q = step->y, *v = q + ed->Nq;
    status = ns_motion_outputs(ed->motion, 1, &row, t, q, v, err);
    if (status != NS_OK) return status;
    double off = ed->now->y[row] - level, u = ed->now->u[row];
    double next = t - off / u;
    if (!(u < 0) || fabs(off) <= ed->now->rounding[row] || !(next <= end) || !(next > step->t_old) || next == t)
      return NS_OK;
    t = next;
  }
}

NsStatus ns_ed_search(NsEventDriven *ed, int *row, NsError *err) {
  double t;
  bool any = false;
  *row = -1;
  for (int i = 0; i < ed->m; i++) any = any || ed->rows[i].unilateral;
  if (!any) return NS_OK;
  NsStatus status = ns_dop853_interpolate(ed->rk, err);
  if (status == NS_OK) status = first_root(ed, row, &t, err);
  if (status != NS_OK || *row < 0) return status;
  return go_to(ed, *row, t, err);
}
