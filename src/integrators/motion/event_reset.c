/*
** event_reset.c
** Impulses and rest with their active sets fixed, as functions of time, state and parameters.
*/
#include "integrators/motion/event_reset.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_active.h"
#include "linalg/qr.h"

enum { IMPULSE_ITERATIONS = 30 }; /* of Newton's method, for sliding in space; 4 to 6 are usual */

/* Friction of an impact is at its bound from this part of the bound on. 1e-9: the solver gives it to about 1e-12. */
static const double IMPULSE_BOUND = 1e-9;

/* An impulse counts as 0 below this part of the terms of its row. */
static const double NO_IMPULSE = 1e-12;

/* ---- impulses ---- */

/* The row in which the friction of a row begins; -1: the row has no friction of a contact. */
static int friction_row(const NsMotionMode *mode, int row) {
  int first = ns_motion_friction_row(mode, row);
  return ns_motion_has_friction(mode, row) && mode->rows[first].friction.normal >= 0 ? first : -1;
}

/*
** The kind of the impulse of row k: W z + q is the change of its velocity, and a part `none` of the terms of that counts as 0.
*/
static ImpulseKind impulse_kind(const NsMotionMode *mode, const NsMotionImpulse *of, const double *q, double none, int k) {
  size_t n = (size_t)of->n;
  int row = of->rows[k], first = friction_row(mode, row);
  const double *z = of->z;
  double terms = fabs(q[k]), own = of->W[(size_t)k + (size_t)k * n];
  for (size_t j = 0; j < n; j++) terms += fabs(of->W[(size_t)k + j * n] * z[j]);
  if (mode->rows[row].joint) return IMPULSE_EQUATION;
  if (first < 0) return fabs(own * z[k]) > none * terms ? IMPULSE_EQUATION : IMPULSE_NONE;
  int at = k - (row - first); /* of the first component */
  const Friction *friction = &mode->rows[first].friction;
  double most = friction->mu * z[at - 1], size = friction->width == 1 ? fabs(z[at]) : ns_motion_length(z[at], z[at + 1]);
  double normal = of->W[(size_t)(at - 1) * (n + 1)];
  if (!(fabs(normal * z[at - 1]) > none * terms)) return IMPULSE_NONE;
  if (size < most * (1 - IMPULSE_BOUND)) return IMPULSE_EQUATION;
  return friction->width == 1 ? IMPULSE_SLIP : IMPULSE_SLIP_IN_SPACE;
}

/* The friction of closed row k, in the plane, that slips after the impulses z. */
static NsLawFriction slip_after(const NsMotionLinearisation *w, size_t k) {
  double slide = w->q[k];
  for (size_t j = 0; j < (size_t)w->nclosed; j++) slide += w->W[k + j * (size_t)w->nclosed] * w->z[j];
  return ns_ed_impulse_friction(w->ed, w->closed[k], slide);
}

/* Residuals and their derivatives by z, for rows in units of z. */
static void impulse_equations(NsMotionLinearisation *w) {
  const NsEventDriven *ed = w->ed;
  const NsMotionMode *mode = ed->mode;
  size_t n = (size_t)w->nclosed;
  memset(w->A, 0, n * n * sizeof *w->A);
  for (size_t k = 0; k < n; k++) {
    int row = w->closed[k], first = friction_row(mode, row);
    double own = w->W[k + k * n];
    if (w->kind[k] == IMPULSE_NONE || !(own > 0)) {
      w->residual[k] = w->z[k], w->A[k + k * n] = 1;
    } else if (w->kind[k] == IMPULSE_EQUATION) {
      double sum = w->q[k];
      for (size_t j = 0; j < n; j++) sum += w->W[k + j * n] * w->z[j], w->A[k + j * n] = w->W[k + j * n] / own;
      w->residual[k] = sum / own;
    } else if (w->kind[k] == IMPULSE_SLIP) {
      NsLawFriction at = slip_after(w, k);
      double side = w->z_run[k] > 0 ? at.mu : -at.mu;
      w->residual[k] = w->z[k] - side * w->z[k - 1];
      for (size_t j = 0; j < n && at.slope != 0; j++) w->A[k + j * n] = at.slope * w->z[k - 1] * w->W[k + j * n];
      w->A[k + k * n] += 1, w->A[k + (k - 1) * n] -= side;
    } else {
      size_t at = k - (size_t)(row - first);
      double slide[2] = {w->q[at], w->q[at + 1]}, normal = w->z[at - 1];
      for (size_t j = 0; j < n; j++)
        for (size_t c = 0; c < 2; c++) slide[c] += w->W[at + c + j * n] * w->z[j];
      double speed = ns_motion_length(slide[0], slide[1]), d[2] = {slide[0] / speed, slide[1] / speed};
      NsLawFriction of = ns_ed_impulse_friction(ed, row, speed);
      double mu = of.mu;
      size_t c = k - at;
      w->residual[k] = w->z[k] + mu * normal * d[c];
      for (size_t j = 0; j < n; j++) {
        double along = d[0] * w->W[at + j * n] + d[1] * w->W[at + 1 + j * n];
        w->A[k + j * n] = mu * normal / speed * (w->W[k + j * n] - d[c] * along) + of.slope * normal * d[c] * along;
      }
      w->A[k + k * n] += 1;
      w->A[k + (at - 1) * n] += mu * d[c];
    }
  }
}

/* z of the fixed active set, from the z of the run; of dependent rows the change of least norm. */
static NsStatus impulse_solve_fixed(NsMotionLinearisation *w, double t, NsError *err) {
  int n = w->nclosed, rank;
  bool curved = false;
  for (int k = 0; k < n; k++)
    curved = curved || w->kind[k] == IMPULSE_SLIP_IN_SPACE ||
             (w->kind[k] == IMPULSE_SLIP && ns_law_slides(ns_ed_law(w->ed, w->closed[k])));
  memcpy(w->z, w->z_run, (size_t)n * sizeof *w->z);
  for (int i = 0; i < (curved ? IMPULSE_ITERATIONS : 1); i++) {
    impulse_equations(w);
    NsStatus status = ns_lstsq(n, n, 1, w->A, n, w->residual, n, NS_MOTION_DEPENDENT, w->step, &rank, NULL);
    if (status != NS_OK) return ns_fail(err, status, "sensitivities: the impulses at t=%.10g have no derivatives", t);
    double most = 0, size = 0;
    for (int k = 0; k < n; k++) w->z[k] -= w->step[k], most = fmax(most, fabs(w->step[k])), size = fmax(size, fabs(w->z[k]));
    if (most <= 4 * DBL_EPSILON * size) break;
  }
  return NS_OK;
}

/* W and q of the closed rows, before the impulses. */
static NsStatus impulse_evaluate(NsMotionLinearisation *w, double t, const double *u, NsError *err) {
  NsEventDriven *ed = w->ed;
  const double *q = u, *v = u + ed->Nq;
  NsStatus status = ns_ed_read_bounds(ed, t, err);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, t, q, v, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, t, q, v, err);
  if (status == NS_OK) status = ns_motion_couple(ed->motion, w->nclosed, w->closed, t, q, v, err);
  if (status != NS_OK) return status;
  ns_motion_delassus(ed->motion, w->nclosed, w->closed, w->W);
  for (int i = 0; i < w->nclosed; i++) {
    int row = w->closed[i];
    w->q[i] = (1 + (w->bounces[i] ? ed->mode->rows[row].restitution : 0)) * ed->now->u[row];
  }
  return NS_OK;
}

/* u after the impulses. */
static NsStatus lin_impulse(void *context, int k, double t, const double *u, double *after, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  (void)k;
  NsStatus status = impulse_evaluate(w, t, u, err);
  if (status != NS_OK) return status;
  status = impulse_solve_fixed(w, t, err);
  memcpy(after, u, (size_t)(ed->Nq + ed->Nv) * sizeof *u);
  ns_motion_add_input(ed->motion, w->nclosed, w->closed, w->z, after + ed->Nq);
  return status;
}

static NsMotionImpulse impulse_of_lin(const NsMotionLinearisation *w) {
  ptrdiff_t n = w->nclosed;
  for (ptrdiff_t k = 0; k < n; k++) {
    w->sliding[k] = w->q[k];
    for (ptrdiff_t j = 0; j < n; j++) w->sliding[k] += w->W[k + j * n] * w->z[j];
  }
  return (NsMotionImpulse){w->nclosed, w->closed, w->kind, w->bounces, w->z, w->W, w->A, w->z_run, w->sliding};
}

NsStatus ns_ed_sense_impulse(NsEventDriven *ed, bool jam, NsError *err) {
  const NsMotionEvent *event = &ed->event;
  NsSensitivity *s = ed->run.sensitivity;
  if (!s) return NS_OK;
  if (jam)
    return ns_fail(err, NS_EARG, "sensitivities: the impulse without collision at t=%.10g has no derivatives here", ed->run.t);
  NsMotionLinearisation *w = s->lin;
  w->nclosed = event->nclosed;
  memcpy(w->closed, event->closed, (size_t)event->nclosed * sizeof *w->closed);
  memcpy(w->z_run, ed->problem.z, (size_t)event->nclosed * sizeof *w->z_run);
  NsMotionImpulse run = {.n = event->nclosed, .rows = event->closed, .z = ed->problem.z, .W = ed->problem.W};
  for (int k = 0; k < event->nclosed; k++) {
    w->kind[k] = impulse_kind(ed->mode, &run, ed->problem.q, NO_IMPULSE, k);
    w->bounces[k] = ed->problem.q[k] != event->before[event->closed[k]];
  }
  w->acted = true;
  return ns_sensitivity_map(s, &w->lin, lin_impulse, ed->run.t, ed->run.u, err);
}

/* ---- impacts in a given mode ---- */

/*
** An impulse counts as 0 below this part of the terms of its row, when it follows from the states at both sides. 1e-9: states have errors of
** 1e-12, which the jump and its cancellation make some hundred times larger.
*/
static const double NO_GIVEN_IMPULSE = 1e-9;

/* The closed rows: rows of constraints, of closed contacts, and of the contact that hits. */
static void given_close(NsMotionLinearisation *w, int hit) {
  const NsMotionMode *mode = w->ed->mode;
  w->nclosed = 0;
  for (int i = 0; i < mode->m; i++) {
    int first = friction_row(mode, i), head = first < 0 ? i : mode->rows[first].friction.normal;
    const Row *row = &mode->rows[head];
    if (!row->joint && !(row->unilateral && (head == hit || row->state == ROW_ACTIVE))) continue;
    w->bounces[w->nclosed] = true;
    w->closed[w->nclosed++] = i;
  }
}

/* w->z_run = the impulses that change u by `change`, where W is known; not *known: the rows depend on each other. */
static NsStatus given_impulses(NsMotionLinearisation *w, double t, const double *change, bool *known, NsError *err) {
  int n = w->nclosed, rank = 0;
  for (int k = 0; k < n; k++) w->q[k] = ns_motion_speed(w->ed->motion, w->closed[k], change + w->ed->Nq);
  NsStatus status = ns_lstsq(n, n, 1, w->W, n, w->q, n, NS_MOTION_DEPENDENT, w->z_run, &rank, NULL);
  *known = rank == n;
  return status == NS_OK ? status : ns_fail(err, status, "the impulses at t=%.10g: %s", t, ns_status_message(status));
}

/* A contact that hits without an impulse, where an orbit grazes: it slips on as it does. False: it has u = 0, or there is another contact. */
static bool given_graze(NsMotionLinearisation *w, int k) {
  const NsMotionMode *mode = w->ed->mode;
  bool alone = true;
  for (int i = 0; i < w->nclosed; i++) alone = alone && (i == k || !mode->rows[w->closed[i]].unilateral);
  for (int i = k + 1; i < w->nclosed; i++) {
    int first = friction_row(mode, w->closed[i]);
    if (first < 0 || mode->rows[first].friction.normal != w->closed[k]) break;
    w->kind[i] = IMPULSE_SLIP;
    w->z_run[i] = -w->ed->now->u[w->closed[i]];
    alone = alone && mode->rows[first].friction.width == 1 && (w->z_run[i] != 0 || mode->rows[first].friction.mu == 0);
  }
  return alone;
}

NsStatus ns_ed_given_impact(void *lin, int hit, double t, const double *before, const double *after, double *ways, bool *known,
                            NsError *err) {
  NsMotionLinearisation *w = lin;
  const NsEventDriven *ed = w->ed;
  NsMotionImpulse of = {.rows = w->closed, .z = w->z_run, .W = w->W};
  given_close(w, hit);
  of.n = w->nclosed;
  NsStatus status = impulse_evaluate(w, t, before, err);
  for (int i = 0; i < ed->Nq + ed->Nv; i++) w->fitting[i] = after[i] - before[i];
  if (status == NS_OK) status = given_impulses(w, t, w->fitting, known, err);
  memset(ways, 0, 2 * (size_t)ed->m * sizeof *ways);
  for (int k = 0; k < w->nclosed && status == NS_OK; k++) w->kind[k] = impulse_kind(ed->mode, &of, w->q, NO_GIVEN_IMPULSE, k);
  for (int k = 0; k < w->nclosed && status == NS_OK; k++) {
    int row = w->closed[k];
    if (ed->mode->rows[row].friction.slides) *known = false; /* the impulse depends on the velocities before it */
    if (row == hit && w->kind[k] == IMPULSE_NONE) *known = given_graze(w, k) && *known;
    if (row == hit) w->kind[k] = IMPULSE_EQUATION;
    ways[2 * row] = 1 + (double)w->kind[k], ways[2 * row + 1] = w->z_run[k];
  }
  return status;
}

NsStatus ns_ed_given_reset(void *lin, const double *ways, double t, const double *u, double *after, double *A, bool *exact,
                           double *B, bool *known, NsError *err) {
  NsMotionLinearisation *w = lin;
  const NsEventDriven *ed = w->ed;
  w->nclosed = 0;
  for (int i = 0; i < ed->m; i++) {
    if (ways[2 * i] == 0) continue;
    w->kind[w->nclosed] = (ImpulseKind)(ways[2 * i] - 1), w->z_run[w->nclosed] = ways[2 * i + 1];
    w->bounces[w->nclosed] = true;
    w->closed[w->nclosed++] = i;
  }
  if (!A) return lin_impulse(w, 0, t, u, after, err);
  NsStatus status = ns_ed_lin_reset(w, lin_impulse, t, u, A, exact, err);
  if (status == NS_OK) status = ns_ed_vjp_map(w, lin_impulse, t, u, B, known, err);
  memcpy(after, w->fitting, (size_t)(ed->Nq + ed->Nv) * sizeof *after);
  return status;
}

/* ---- rest ---- */

/* u with y = 0 of the first rows that rest, and u = 0 of all of them. */
static NsStatus lin_rest(void *context, int k, double t, const double *u, double *after, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  (void)k;
  memcpy(after, u, (size_t)(ed->Nq + ed->Nv) * sizeof *u);
  return ns_motion_project(ed->motion, w->places, w->n, w->rows, t, ed->mode->reach, after, after + ed->Nq, ed->W, err);
}

/* Whether a row was active before the event: then S keeps it at rest, and the projection removes rounding only. */
static bool rested_before(const NsEventDriven *ed, int row) {
  int first = friction_row(ed->mode, row);
  if (ed->mode->rows[row].joint || ed->mode->rows[row].state == ROW_ACTIVE) return true;
  return first >= 0 && ns_motion_friction_is(ed->mode, first, FRICTION_STICK);
}

NsStatus ns_ed_sense_rest(NsEventDriven *ed, int places, int n, const int *rows, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  if (!s) return NS_OK;
  NsMotionLinearisation *w = s->lin;
  bool start = ed->run.t == ed->t_first, rested = !w->acted && !start;
  for (int k = 0; k < n && rested; k++) rested = rested_before(w->ed, rows[k]);
  if (rested) return NS_OK;
  w->n = n, w->places = places;
  memcpy(w->rows, rows, (size_t)n * sizeof *rows);
  if (start) return NS_OK; /* what leaves at once is not known yet, see ns_ed_sense_after */
  w->acted = true;
  return ns_ed_sense_rest_of(ed, err);
}

NsStatus ns_ed_sense_rest_of(NsEventDriven *ed, NsError *err) {
  NsMotionLinearisation *w = ed->run.sensitivity->lin;
  return ns_sensitivity_map(ed->run.sensitivity, &w->lin, lin_rest, ed->run.t, ed->run.u, err);
}

/* H, M and X of rows at a point. */
static NsStatus couple_rest(NsMotionLinearisation *w, double t, const double *u, NsError *err) {
  NsEventDriven *ed = w->ed;
  const double *q = u, *v = u + ed->Nq;
  NsStatus status = ns_motion_outputs(ed->motion, w->n, w->rows, t, q, v, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, t, q, v, err);
  return status == NS_OK ? ns_motion_couple(ed->motion, w->n, w->rows, t, q, v, err) : status;
}

NsStatus ns_ed_lin_reset(void *context, NsLinearisationMap map, double t, const double *u, double *A, bool *exact,
                         NsError *err) {
  NsMotionLinearisation *w = context;
  *exact = false;
  if (map == lin_rest) {
    NsStatus status = couple_rest(w, t, u, err);
    if (status == NS_OK) *exact = ns_motion_tangent_rest(w->tangent, w->places, w->n, w->rows, A);
    return status;
  }
  if (map != lin_impulse) return NS_OK;
  NsStatus status = lin_impulse(w, 0, t, u, w->fitting, err);
  if (status != NS_OK) return status;
  impulse_equations(w);
  NsMotionImpulse impulse = impulse_of_lin(w);
  *exact = ns_motion_tangent_impulse(w->tangent, t, u, &impulse, A);
  return NS_OK;
}

NsStatus ns_ed_vjp_map(void *context, NsLinearisationMap map, double t, const double *u, double *out, bool *known,
                       NsError *err) {
  NsMotionLinearisation *w = context;
  if (map != lin_impulse) {
    ns_motion_vjp_rest(w->vjp, out, known);
    return NS_OK;
  }
  NsStatus status = lin_impulse(w, 0, t, u, w->fitting, err);
  if (status != NS_OK) return status;
  impulse_equations(w);
  NsMotionImpulse impulse = impulse_of_lin(w);
  ns_motion_tangent_impulse_by_parameters(w->tangent, t, u, &impulse, out, known);
  return NS_OK;
}
