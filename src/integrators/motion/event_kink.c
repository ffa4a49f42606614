/*
** event_kink.c
** Finds kinks of active contacts. The equation y'' = 0 of an active contact keeps u = 0, with either gradient; where the gradient's
** direction jumps, u jumps. A gradient that is continuous, as that of a rounded corner, has no kink.
*/
#include "integrators/motion/event_kink.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_active.h"

/*
** A jump of u counts that is this part, or so many relative tolerances (the drift of u), of the velocity that the systems have there, or
** could have after a step of the grid: it is the sine of the bend. Flatter ones are crossed.
*/
static const double KINK = 1e-6, KINK_TOLERANCES = 100;

/*
** Steps towards a kink leave the part LEFT of the way, as their stages must not be behind it. Where what is left is below CLOSE of the
** step of the grid, a step goes as far behind it: other contacts at the same corner are behind their kinks then, too, whatever the
** rounding.
*/
static const double LEFT = 1e-3, CLOSE = 1e-9;

void ns_ed_forget_kinks(NsEventDriven *ed) {
  memset(ed->event.kinked, 0, (size_t)ed->m * sizeof *ed->event.kinked);
}

bool ns_ed_at_kink(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  int normal = ns_motion_has_friction(mode, row) ? mode->rows[ns_motion_friction_row(mode, row)].friction.normal : row;
  return normal >= 0 && ed->event.kinked[normal];
}

void ns_ed_active_but_kinks(const NsEventDriven *ed, int *rows, int *n, int *places) {
  const NsMotionMode *mode = ed->mode;
  *n = *places = 0;
  for (int k = 0; k < mode->nactive; k++) {
    if (ns_ed_at_kink(ed, mode->active[k])) continue;
    rows[(*n)++] = mode->active[k];
    *places += k < mode->nplaces;
  }
}

/* *over: |u| of the row, evaluated last, less the jump that counts. */
static double kink_over(const NsEventDriven *ed, int row) {
  double speed = 0;
  for (int j = 0; j < ed->Nv; j++)
    speed += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m]) * (ed->scales.even[j] + ed->mode->h * ed->scales.even_free[j]);
  return fabs(ed->now->u[row]) - fmax(KINK, KINK_TOLERANCES * ed->run.options.rtol) * speed;
}

static NsStatus kink_value(NsEventDriven *ed, int row, double t, double *over, NsError *err) {
  ns_hybrid_at(&ed->run, t, ed->run.sample);
  *ed->run.clock = t;
  NsStatus status = ns_motion_outputs(ed->motion, 1, &row, t, ed->run.sample, ed->run.sample + ed->Nq, err);
  *over = kink_over(ed, row);
  return status;
}

/* Notes the active contacts that have left u = 0 at the end of the step; *row: the first of them, -1: none. */
static NsStatus note_kinks(NsEventDriven *ed, int *row, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  NsStatus status = NS_OK;
  *row = -1;
  for (int k = 0; k < ed->mode->nplaces && status == NS_OK; k++) {
    int i = ed->mode->active[k];
    if (!ed->mode->rows[i].unilateral || ed->mode->rows[i].straight) continue;
    *ed->run.clock = step->t;
    status = ns_motion_outputs(ed->motion, 1, &i, step->t, step->y, step->y + ed->Nq, err);
    ed->event.kinked[i] = kink_over(ed, i) > 0;
    if (ed->event.kinked[i] && *row < 0) *row = i;
  }
  return status;
}

/* Locates by bisection the time *t behind which u of the row has jumped. *jumps: it has; else u has drifted. */
static NsStatus locate_kink(NsEventDriven *ed, int row, double *t, bool *jumps, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  double a = step->t_old, b = step->t, over, before = 0, after = 0;
  NsStatus status = kink_value(ed, row, a, &over, err);
  if (over > 0) b = a;
  for (double mid = a + (b - a) / 2; status == NS_OK && mid > a && mid < b; mid = a + (b - a) / 2) {
    status = kink_value(ed, row, mid, &over, err);
    if (over > 0) b = mid;
    else a = mid;
  }
  if (status == NS_OK) status = kink_value(ed, row, a, &over, err), before = ed->now->u[row];
  if (status == NS_OK) status = kink_value(ed, row, b, &over, err), after = ed->now->u[row];
  *t = b, *jumps = fabs(after - before) > 0.5 * fabs(after);
  return status;
}

double ns_ed_kink_little(const NsEventDriven *ed, double t) {
  return CLOSE * ed->mode->h + 8 * DBL_EPSILON * fabs(t);
}

NsStatus ns_ed_turns_at_kink(NsEventDriven *ed, int row, double t, bool *turns, NsError *err) {
  double little = ns_ed_kink_little(ed, t), over;
  *turns = false;
  if (ed->mode->rows[row].straight || t - little < ed->run.stepper->state.t_old) return NS_OK;
  NsStatus status = kink_value(ed, row, t - little, &over, err);
  double u = ed->now->u[row], rise = ns_ed_tolerance(ed, row) + ns_ed_rounding(ed, row);
  if (status != NS_OK || !(over > 0 && u < 0)) return status;
  double after = t + fmax(little, 4 * rise / -u); /* the gap counts as 0 that long before its kink */
  if (after > ed->run.t_next) return NS_OK;
  status = kink_value(ed, row, after, &over, err);
  *turns = ed->now->u[row] >= 0;
  if (status != NS_OK || !*turns) return status;
  status = ns_rk_retake(ed->run.stepper, after, err);
  return status == NS_OK ? note_kinks(ed, &row, err) : status;
}

NsStatus ns_ed_find_kink(NsEventDriven *ed, int *row, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  double first = INFINITY, t;
  bool jumps = true;
  *row = -1;
  for (bool close = false; !close;) {
    int i;
    NsStatus status = note_kinks(ed, &i, err);
    if (status != NS_OK || i < 0) return status;
    status = ns_hybrid_interpolate(&ed->run, ed, err);
    if (status == NS_OK) status = locate_kink(ed, i, &t, &jumps, err);
    if (status != NS_OK) return status;
    if (!jumps || !(t > step->t_old) || !(t < first)) return ns_ed_forget_kinks(ed), NS_OK;
    double little = ns_ed_kink_little(ed, t);
    close = t - step->t_old <= little;
    first = close ? fmin(t + little, step->t) : step->t_old + (1 - LEFT) * (t - step->t_old);
    status = ns_rk_retake(ed->run.stepper, first, err);
    if (status != NS_OK) return status;
  }
  return note_kinks(ed, row, err);
}
