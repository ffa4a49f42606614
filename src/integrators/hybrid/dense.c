/*
** dense.c
** The dense output of a motion with events: both sides of an event, and the smooth pieces between, for records and for derivatives.
*/
#include <string.h>

#include "integrators/hybrid/hybrid.h"
#include "ode/bernstein.h"
#include "ode/control.h"

/* The defect moves the unknowns in a piece's length / DEFECT_PART, for differences. */
enum { DEFECT_PART = 64 };

void ns_hybrid_state(const NsHybrid *run, const double *v, double *u) {
  for (int i = 0; i < run->unknowns; i++) u[i] = run->unit ? v[i] * run->unit[i] : v[i];
}

NsStatus ns_hybrid_interpolate(NsHybrid *run, void *context, NsError *err) {
  NsStepper *stepper = run->stepper;
  void *own = stepper->problem.context;
  int n = run->unknowns, rows = run->method->rows;
  stepper->problem.context = context;
  NsStatus status = run->method->interpolate(stepper, err);
  stepper->problem.context = own;
  for (int r = 0; r < rows && status == NS_OK; r++) ns_hybrid_state(run, stepper->rows[r], run->rows + (ptrdiff_t)r * n);
  ns_hybrid_state(run, stepper->state.y_old, run->from);
  run->dense = (NsDenseRows){n, rows, stepper->state.t_old, stepper->state.t, run->from, run->rows};
  return status;
}

void ns_hybrid_at(const NsHybrid *run, double t, double *u) {
  const NsDenseRows *d = &run->dense;
  ns_dense_at(d->n, d->rows, d->y_old, d->F, (t - d->t_old) / (d->t - d->t_old), u);
}

/* ---- what is recorded ---- */

void ns_hybrid_keep_side(NsHybrid *run) {
  NsSensitivity *s = run->sensitivity;
  if (!run->sink) return;
  run->class->row(run, run->u, run->side);
  if (s) memcpy(s->X_before, s->X, (size_t)s->nx * (size_t)s->p * sizeof *s->X);
}

NsStatus ns_hybrid_tell_kept(NsHybrid *run, double t, NsError *err) {
  NsSensitivity *s = run->sensitivity;
  double *after = s ? s->X : NULL;
  if (!run->sink) return NS_OK;
  if (s) s->X = s->X_before;
  NsStatus status = run->sink->side(run->sink->context, t, run->side, err);
  if (s) s->X = after;
  return status;
}

NsStatus ns_hybrid_tell_side(NsHybrid *run, NsError *err) {
  ns_hybrid_keep_side(run);
  return ns_hybrid_tell_kept(run, run->t, err);
}

/*
** slope (unknowns) = the slope of the dense output less the rate of the motion, at place x of the dense output. run->sample:
** the unknowns there.
*/
static NsStatus hybrid_defect(NsHybrid *run, double x, NsError *err) {
  const NsDenseRows *d = &run->dense;
  double length = d->t - d->t_old, t = d->t_old + length * x, F[NS_BERNSTEIN_DEGREE], b[NS_BERNSTEIN_SIZE];
  for (int i = 0; i < d->n; i++) run->slope[i] = run->unit ? run->sample[i] / run->unit[i] : run->sample[i];
  long count = 0;
  NsStatus status = ns_ode_rate(&run->stepper->problem, t, run->slope, run->rate, &count, err);
  for (int i = 0; i < d->n && status == NS_OK; i++) {
    for (int r = 0; r < d->rows; r++) F[r] = d->F[(ptrdiff_t)r * d->n + i];
    ns_bernstein_of_dense(d->y_old[i], d->rows, F, b);
    run->slope[i] = ns_bernstein_slope(d->rows, b, x) / length - (run->unit ? run->unit[i] : 1) * run->rate[i];
  }
  return status;
}

/* Evaluates what is told on the dense output at t; run->sample: the unknowns there. */
static NsStatus hybrid_evaluate_at(NsHybrid *run, double t, NsError *err) {
  ns_hybrid_at(run, t, run->sample);
  *run->clock = t;
  return run->class->evaluate(run, t, run->sample, err);
}

/*
** run->defects, from the row at the unknowns moved by their defects for a part of the piece. Leaves the motion evaluated at the
** end of the piece, as ns_hybrid_tell_piece without defects does.
*/
static NsStatus hybrid_defects(NsHybrid *run, NsError *err) {
  const NsDenseRows *d = &run->dense;
  double part = (d->t - d->t_old) / DEFECT_PART;
  NsStatus status = NS_OK;
  int nx = 0;
  for (int s = 0; s < run->base.nsds->nds; s++) nx += run->base.nsds->ds[s]->n;
  for (int k = 0; k < NS_DEFECTS && status == NS_OK; k++) {
    int node = ns_defect_node(k);
    double x = ns_bernstein_node(node), t = d->t_old + (d->t - d->t_old) * x;
    const double *here = run->values + (ptrdiff_t)node * run->columns;
    *run->clock = t;
    ns_hybrid_at(run, t, run->sample);
    status = hybrid_defect(run, x, err);
    for (int i = 0; i < d->n; i++) run->sample[i] += part * run->slope[i];
    if (status == NS_OK) status = run->class->evaluate(run, t, run->sample, err);
    if (status == NS_OK) run->class->row(run, run->sample, run->moved);
    for (int i = 0; i < nx && status == NS_OK; i++) run->defects[(ptrdiff_t)k * nx + i] = (run->moved[i] - here[i]) / part;
  }
  return status == NS_OK ? hybrid_evaluate_at(run, d->t, err) : status;
}

NsStatus ns_hybrid_tell_piece(NsHybrid *run, NsError *err) {
  if (!run->sink || !run->sink->piece) return NS_OK;
  NsStatus status = ns_hybrid_interpolate(run, run->stepper->problem.context, err);
  const NsDenseRows *d = &run->dense;
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++) {
    double t = k == NS_BERNSTEIN_DEGREE ? d->t : d->t_old + (d->t - d->t_old) * ns_bernstein_node(k);
    status = hybrid_evaluate_at(run, t, err);
    if (status == NS_OK) run->class->row(run, run->sample, run->values + (ptrdiff_t)k * run->columns);
  }
  if (status == NS_OK && run->sink->wants_defects) status = hybrid_defects(run, err);
  const double *defects = run->sink->wants_defects ? run->defects : NULL;
  return status == NS_OK ? run->sink->piece(run->sink->context, d->t_old, d->t, run->values, defects, err) : status;
}

/* ---- derivatives ---- */

/* An NsDenseOutput: u (n) on the dense output of the last step. */
static NsStatus hybrid_state_at(void *context, double t, double *u, NsError *err) {
  NsHybrid *run = context;
  (void)err;
  ns_hybrid_at(run, t, run->sample);
  memcpy(u, run->sample, (size_t)run->n * sizeof *u);
  if (run->class->fit) run->class->fit(run, u);
  return NS_OK;
}

NsStatus ns_hybrid_sense_piece(NsHybrid *run, NsError *err) {
  NsSensitivity *s = run->sensitivity;
  const NsStepperState *step = run->stepper ? &run->stepper->state : NULL;
  if (!s) return NS_OK;
  NsLinearisation *lin = s->lin;
  NsDenseOutput dense = {.t_old = step->t_old, .t = step->t, .at = hybrid_state_at, .context = run};
  NsStatus status = run->class->linearise(run, err);
  if (status == NS_OK) status = ns_hybrid_interpolate(run, lin->rates, err);
  if (status == NS_OK) status = ns_sensitivity_piece(s, lin, &dense, err);
  if (run->class->after) run->class->after(run);
  ns_hybrid_state(run, step->y, run->sample);
  if (status == NS_OK && s->wants_rates) status = run->class->rates(run, step->t, run->sample, err);
  return status == NS_OK ? lin->states(lin->context, s, step->t, run->sample, s->S, s->X, err) : status;
}
