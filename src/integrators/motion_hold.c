/*
** motion_hold.c
** Constraints that act: the forces that hold rows, and projections on them.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/motion_workspace.h"
#include "linalg/qr.h"

enum { MAX_PROJECTIONS = 10 }; /* Newton iterations of a projection */

/* A projection without progress is accepted within this factor of the rounding error. 1e3: a callback may lose 3 digits. */
static const double STILL = 1e3;

/* ---- constraints that act ---- */

/*
** Largest residual of a row of W z = rhs, as a fraction of the sum of |terms| of this row, when the rows are dependent. A larger
** one is a contradiction. 1e-6: data may have 6 digits.
*/
static const double CONTRADICTION = 1e-6;

/*
** Largest residual of such a row that is taken for rounding, as a fraction of `even`: the right-hand side of this row that has the
** energy of the largest one, rhs_i = sqrt(W_ii) * max_k |rhs_k| / sqrt(W_kk). 1e-12: rounding of some thousand operations. Without
** it a row whose terms are only rounding would contradict the others.
*/
static const double NOISE = 1e-12;

/* Least squares W z = rhs with the least norm of z_k / share_k; W and z are in the units of the rows, the share is not. */
static NsStatus solve_shared(NsMotion *motion, int n, const int *rows, const double *W, double *z) {
  int rank;
  if (!motion->share) return ns_lstsq(n, n, 1, W, n, motion->rhs, n, NS_MOTION_DEPENDENT, z, &rank, NULL);
  double *scaled = ns_alloc((size_t)n * (size_t)n, sizeof *scaled);
  for (int k = 0; scaled && k < n * n; k++) scaled[k] = motion->share[rows[k / n]] / motion->unit[k / n] * W[k];
  NsStatus status = scaled ? ns_lstsq(n, n, 1, scaled, n, motion->rhs, n, NS_MOTION_DEPENDENT, z, &rank, NULL) : NS_ENOMEM;
  for (int k = 0; k < n && status == NS_OK; k++) z[k] *= motion->share[rows[k]] / motion->unit[k];
  ns_free(scaled);
  return status;
}

/* The solution of least norm of W z = rhs, for a W that is singular up to rounding. */
static NsStatus solve_dependent(NsMotion *motion, int n, const int *rows, const double *W, double *z, NsError *err) {
  int worst = 0;
  double most = 0, even = 0; /* even: the largest rhs_i / sqrt(W_ii), whose square is an energy or a power */
  for (int i = 0; i < n; i++) {
    double size = fabs(motion->rhs[i]); /* of a velocity, the sum of its |terms|: what is stopped may be their rounding alone */
    if (motion->stopping) size = fmax(size, motion->u_terms[rows[i]] * motion->unit[i]);
    if (W[i + i * n] > 0) even = fmax(even, size / sqrt(W[i + i * n]));
  }
  NsStatus status = solve_shared(motion, n, rows, W, z);
  if (status != NS_OK) return ns_fail(err, status, "dependent constraints: %s", ns_status_message(status));
  if (motion->off_constraints) return NS_OK;
  for (int i = 0; i < n; i++) {
    double sum = -motion->rhs[i], scale = fabs(motion->rhs[i]);
    for (int j = 0; j < n; j++) {
      double term = W[i + (size_t)j * (size_t)n] * z[j];
      sum += term;
      scale += fabs(term);
    }
    double noise = NOISE * sqrt(fabs(W[i + i * n])) * even;
    if (motion->placing) noise = fmax(noise, STILL * (motion->rounding[rows[i]] + motion->still[rows[i]]) * motion->unit[i]);
    if (motion->stopping && motion->slow) noise = fmax(noise, motion->slow[rows[i]] * motion->unit[i]);
    double off = scale > 0 && fabs(sum) > noise ? fabs(sum) / scale : 0;
    if (off > most) most = off, worst = i;
  }
  if (most <= CONTRADICTION) return NS_OK;
  return ns_fail(err, NS_ENOSOL, "interaction '%s' contradicts the other constraints that act",
                 motion->edges[motion->row_edge[rows[worst]]].inter->name);
}

static int motion_exponent_of(double x) {
  int exponent = 0;
  if (x > 0 && isfinite(x)) (void)frexp(x, &exponent);
  return exponent;
}

/* motion->unit: scales every W_kk to W_00 within a factor of 2; it does not depend on a common unit of the rows. */
static void choose_units(NsMotion *motion, int n, const double *W) {
  for (int k = 0; k < n; k++) {
    int apart = motion_exponent_of(W[k + (size_t)k * (size_t)n]) - motion_exponent_of(W[0]);
    motion->unit[k] = ldexp(1, -(apart - (apart & 1)) / 2);
  }
}

/* Scales W and the right-hand side to these units, or (`back`) from them; exact. */
static void change_units(NsMotion *motion, int n, double *W, bool back) {
  for (int j = 0; j < n; j++) {
    double column = back ? 1 / motion->unit[j] : motion->unit[j];
    motion->rhs[j] *= column;
    for (int i = 0; i < n; i++) W[i + (size_t)j * (size_t)n] *= column * (back ? 1 / motion->unit[i] : motion->unit[i]);
  }
}

/* Solves W z = rhs (n) in these units. */
static NsStatus solve_alike_rows(NsMotion *motion, int n, const int *rows, const double *W, double *z, NsError *err) {
  if (motion->order != n) {
    ns_lu_free(motion->lu);
    motion->lu = NULL;
    motion->order = 0;
    if (ns_lu_new(&motion->lu, n) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
    motion->order = n;
  }
  NsStatus status = ns_lu_factor(motion->lu, W, n);
  motion->regular = status == NS_OK && !(n > 1 && ns_lu_rcond(motion->lu) < NS_MOTION_DEPENDENT);
  if (status == NS_ESINGULAR || (status == NS_OK && !motion->regular)) return solve_dependent(motion, n, rows, W, z, err);
  if (status != NS_OK) return ns_fail(err, status, "the constraints that act: %s", ns_status_message(status));
  memcpy(z, motion->rhs, (size_t)n * sizeof *z);
  ns_lu_solve(motion->lu, 1, z, n);
  return NS_OK;
}

/* Solves W z = rhs (n); W is formed. Whether rows count as dependent must not depend on their units. */
static NsStatus motion_solve_rows(NsMotion *motion, int n, const int *rows, double *W, double *z, NsError *err) {
  if (n == 0) return NS_OK;
  ns_motion_delassus(motion, n, rows, W);
  choose_units(motion, n, W);
  change_units(motion, n, W, false);
  NsStatus status = solve_alike_rows(motion, n, rows, W, z, err);
  for (int k = 0; k < n && status == NS_OK; k++) z[k] *= motion->unit[k];
  change_units(motion, n, W, true);
  return status;
}

/*
** One step of iterative refinement. W has lost what the rows have in common: where they nearly depend on each other, as of faces with a
** slight bend, its answer has the square of their condition in its rounding error. The accelerations with these forces keep the rows apart:
** so the error falls to the condition.
*/
static void refine_hold(NsMotion *motion, int n, const int *rows, double *lambda) {
  memcpy(motion->held, motion->a_free, (size_t)motion->view.Nv * sizeof *motion->held);
  ns_motion_add_input(motion, n, rows, lambda, motion->held);
  for (int k = 0; k < n; k++) motion->rhs[k] = -motion->unit[k] * ns_motion_output_acceleration(motion, rows[k], motion->held);
  ns_lu_solve(motion->lu, 1, motion->rhs, n);
  for (int k = 0; k < n; k++) lambda[k] += motion->unit[k] * motion->rhs[k];
}

NsStatus ns_motion_hold(NsMotion *motion, int n, const int *rows, double *W, double *lambda, NsError *err) {
  for (int k = 0; k < n; k++) motion->rhs[k] = -ns_motion_output_acceleration(motion, rows[k], motion->a_free);
  NsStatus status = motion_solve_rows(motion, n, rows, W, lambda, err);
  if (status == NS_OK && n > 1 && motion->regular) refine_hold(motion, n, rows, lambda);
  return status;
}

NsStatus ns_motion_hold_nearly(NsMotion *motion, int n, const int *rows, double *W, double *lambda, NsError *err) {
  bool off = motion->off_constraints;
  motion->off_constraints = true;
  NsStatus status = ns_motion_hold(motion, n, rows, W, lambda, err);
  motion->off_constraints = off;
  return status;
}

/* ---- projection ---- */

/* motion->still, the y that counts as 0 in a projection: 4 eps max(|y| before the projection, 4 eps reach). Updates reach. */
static void measure_still(NsMotion *motion, int n, const int *rows, double *reach) {
  for (int k = 0; k < n; k++) {
    double off = fabs(motion->y[rows[k]]);
    reach[rows[k]] = fmax(reach[rows[k]], off);
    motion->still[rows[k]] = 4 * DBL_EPSILON * fmax(off, 4 * DBL_EPSILON * reach[rows[k]]);
  }
}

/* Rounding of a correction: each row keeps 4 eps of the terms of W z, which cancel where one row holds what another one moves. */
static void allow_correction(NsMotion *motion, int n, const int *rows, const double *W, const double *z) {
  for (int k = 0; k < n; k++) {
    double terms = 0;
    for (int j = 0; j < n; j++) terms += fabs(W[k + (size_t)j * (size_t)n] * z[j]);
    motion->still[rows[k]] = fmax(motion->still[rows[k]], 4 * DBL_EPSILON * terms);
  }
}

/* Distance of a row from its constraint: |y| over its rounding error. Up to 1 the row is on the constraint. */
static double motion_distance(const NsMotion *motion, int row) {
  double off = fabs(motion->y[row]);
  return off <= DBL_MIN ? 0 : off / (motion->rounding[row] + motion->still[row]);
}

/* The row with the largest distance. */
static int farthest(const NsMotion *motion, int n, const int *rows, double *off) {
  int worst = rows[0];
  *off = 0;
  for (int k = 0; k < n; k++) {
    double value = motion_distance(motion, rows[k]);
    if (value > *off) *off = value, worst = rows[k];
  }
  return worst;
}

/* Evaluates H, X and the outputs at a point. */
static NsStatus prepare_rows(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v,
                             NsError *err) {
  NsStatus status = ns_motion_outputs(motion, n, rows, t, q, v, err);
  for (int i = 0; i < motion->nsds->nds && status == NS_OK; i++) status = ns_motion_factor_mass(&motion->nodes[i], t, q, err);
  for (int k = 0; k < n && status == NS_OK; k++) ns_motion_form_X(motion, rows[k]);
  return status;
}

/* Moves q by X z, as by velocities X z for one unit of time. */
static void shift(NsMotion *motion, int n, const int *rows, const double *z, double *q) {
  double *way = motion->a_free; /* workspace: accelerations are evaluated again after a projection */
  memset(way, 0, (size_t)motion->view.Nv * sizeof *way);
  ns_motion_add_input(motion, n, rows, z, way);
  ns_motion_move(motion, way, 1, q);
}

/*
** Newton's method. It ends at rounding, or without progress within STILL times the rounding. `work` = y' W^-1 y is the square
** of the correction in the kinetic norm.
*/
static NsStatus project_coordinates(NsMotion *motion, int n, const int *rows, double t, double *reach, double *q,
                                    const double *v, double *W, NsError *err) {
  double before = INFINITY, work_before = INFINITY, off;
  for (int i = 0;; i++) {
    NsStatus status = prepare_rows(motion, n, rows, t, q, v, err);
    if (status != NS_OK) return status;
    if (i == 0) measure_still(motion, n, rows, reach);
    int worst = farthest(motion, n, rows, &off);
    if (off <= 1 || (off <= STILL && off > 0.5 * before)) return NS_OK;
    for (int k = 0; k < n; k++) motion->rhs[k] = -motion->y[rows[k]];
    motion->placing = true;
    status = motion_solve_rows(motion, n, rows, W, motion->answer, err);
    motion->placing = false;
    if (status != NS_OK) return status;
    double work = 0;
    for (int k = 0; k < n; k++) work += motion->rhs[k] * motion->answer[k];
    if (i == MAX_PROJECTIONS || !(fabs(work) <= 100 * work_before))
      return ns_fail(err, NS_ENOCONV, "interaction '%s': the constraint can not be kept: y = %.3g after %d projections",
                     motion->edges[motion->row_edge[worst]].inter->name, motion->y[worst], i);
    shift(motion, n, rows, motion->answer, q);
    allow_correction(motion, n, rows, W, motion->answer);
    before = off;
    work_before = fabs(work);
  }
}

/* Projects v; H and X of the rows belong to q. */
static NsStatus stop_rows(NsMotion *motion, int n, const int *rows, double *v, double *W, NsError *err) {
  for (int k = 0; k < n; k++) motion->rhs[k] = -motion->u[rows[k]];
  motion->stopping = true;
  NsStatus status = motion_solve_rows(motion, n, rows, W, motion->answer, err);
  motion->stopping = false;
  if (status == NS_OK) ns_motion_add_input(motion, n, rows, motion->answer, v);
  return status;
}

NsStatus ns_motion_project(NsMotion *motion, int places, int n, const int *rows, double t, double *reach, double *q, double *v,
                           double *W, NsError *err) {
  NsStatus status = NS_OK;
  if (places > 0) status = project_coordinates(motion, places, rows, t, reach, q, v, W, err);
  if (status == NS_OK && n > places) status = prepare_rows(motion, n, rows, t, q, v, err);
  return status == NS_OK ? stop_rows(motion, n, rows, v, W, err) : status;
}

NsStatus ns_motion_stop(NsMotion *motion, int n, const int *rows, double t, const double *q, double *v, double *W,
                        NsError *err) {
  NsStatus status = prepare_rows(motion, n, rows, t, q, v, err);
  return status == NS_OK ? stop_rows(motion, n, rows, v, W, err) : status;
}
