/*
** event_dense.c
** Tells the dense output of a step (NsDenseSink): the values before and after each event, and along each smooth piece.
*/
#include <string.h>

#include "integrators/event_driven/event_dense.h"

#include "integrators/event_driven/event_active.h"
#include "integrators/sensitivity.h"

int ns_ed_columns(const NsEventDriven *ed) {
  return ed->Nq + ed->Nv + 2 * ed->m;
}

/* Writes a row: x of each system; lambda (m); the present outputs. */
static void dense_row(const NsEventDriven *ed, const double *q, const double *v, const double *lambda, double *row) {
  for (int d = 0; d < ed->base.nsds->nds; d++) {
    const NsDs *ds = ed->base.nsds->ds[d];
    memcpy(row, q, (size_t)ds->nx * sizeof *row);
    memcpy(row + ds->nx, v, (size_t)ds->nr * sizeof *row);
    row += ds->n, q += ds->nx, v += ds->nr;
  }
  memcpy(row, lambda, (size_t)ed->m * sizeof *row);
  memcpy(row + ed->m, ed->now->y, (size_t)ed->m * sizeof *row);
}

/* ed->mode->multiplier (m) = the multipliers of all rows; those that are not active are 0. */
static void spread_multipliers(NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  if (ed->has_friction) return; /* the accelerations have set them */
  memset(mode->multiplier, 0, (size_t)ed->m * sizeof *mode->multiplier);
  for (int k = 0; k < mode->nactive; k++) mode->multiplier[mode->active[k]] = mode->lambda[k];
}

/* The derivatives by parameters on the side before an event. */
static void keep_side_before(NsEventDriven *ed) {
  NsSensitivity *s = ed->sensitivity;
  if (s) memcpy(s->X_before, s->X, (size_t)s->nx * (size_t)s->p * sizeof *s->X);
}

static NsStatus tell_side_before(NsEventDriven *ed, NsError *err) {
  NsSensitivity *s = ed->sensitivity;
  double *after = s ? s->X : NULL;
  if (s) s->X = s->X_before;
  NsStatus status = ed->sink->side(ed->sink->context, ed->t, ed->side_before, err);
  if (s) s->X = after;
  return status;
}

NsStatus ns_ed_dense_start(NsEventDriven *ed, NsError *err) {
  if (!ed->sink) return NS_OK;
  keep_side_before(ed);
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  for (int e = 0, at = 0; e < ed->base.nsds->ninteractions; at += ed->base.nsds->interactions[e++]->m) {
    const NsInteraction *inter = ed->base.nsds->interactions[e];
    memcpy(ed->mode->multiplier + at, inter->lambda_k, (size_t)inter->m * sizeof(double));
  }
  if (status == NS_OK) dense_row(ed, ed->q, ed->v, ed->mode->multiplier, ed->side_before);
  return status;
}

NsStatus ns_ed_dense_before(NsEventDriven *ed, NsError *err) {
  if (!ed->sink) return NS_OK;
  NsStatus status = ed->mode->nacting > 0 ? ns_ed_accelerate(ed, ed->t, ed->q, ed->v, err) : NS_OK;
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  if (status != NS_OK) return status;
  spread_multipliers(ed);
  dense_row(ed, ed->q, ed->v, ed->mode->multiplier, ed->side_before);
  keep_side_before(ed);
  return NS_OK;
}

NsStatus ns_ed_dense_after(NsEventDriven *ed, NsError *err) {
  if (!ed->sink) return NS_OK;
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  if (status == NS_OK) status = tell_side_before(ed, err);
  if (status != NS_OK) return status;
  spread_multipliers(ed);
  dense_row(ed, ed->q, ed->v, ed->mode->multiplier, ed->side_before);
  return ed->sink->side(ed->sink->context, ed->t, ed->side_before, err);
}

NsStatus ns_ed_dense_piece(NsEventDriven *ed, NsError *err) {
  if (!ed->sink || !ed->sink->piece) return NS_OK;
  const NsStepperState *step = &ed->rk->base.state;
  double t_old = step->t_old, t = step->t;
  NsStatus status = ns_rk_interpolate(&ed->rk->base, err);
  for (int j = 0; j < NS_BERNSTEIN_SIZE && status == NS_OK; j++) {
    double at = j == NS_BERNSTEIN_DEGREE ? t : t_old + (t - t_old) * ns_bernstein_node(j);
    ns_rk_at(ed->rk, at, ed->sample);
    const double *q = ed->sample, *v = q + ed->Nq;
    *ed->clock = at;
    status = ns_ed_accelerate(ed, at, q, v, err);
    if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, at, q, v, err);
    spread_multipliers(ed);
    dense_row(ed, q, v, ed->mode->multiplier, ed->dense + (ptrdiff_t)j * ns_ed_columns(ed));
  }
  return status == NS_OK ? ed->sink->piece(ed->sink->context, t_old, t, ed->dense, err) : status;
}
