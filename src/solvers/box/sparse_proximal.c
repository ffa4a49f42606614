/*
** sparse_proximal.c
** Steps of the proximal point method, each solved by active sets with KLU.
*/
#include "solvers/box/methods.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/box/sparse_search.h"
#include "solvers/residual.h"

/* STEPS: limit (the shift is least after 5). SETS: limit in a step. IDLE: sets, or steps, without progress after which the way changes. */
enum { STEPS = 60, SETS = 500, IDLE = 5 };

/* As in proximal.c, for rows whose diagonal is 1. */
static const double first_shift = 1e-2, shift_falls = 0.1, least_shift = 1e-7;

/* Adds one Newton step, in the components between bounds, for rho (M z + q) + shift (z - at) = 0. s->v is the product of z, and becomes the product of the sum. */
static void proximal_correct(NsSparseSearch *s, double shift, const double *at, double *z) {
  for (int i = 0; i < s->box.n; i++) s->step[i] = s->set[i] == NS_BETWEEN ? -s->rho[i] * s->v[i] - shift * (z[i] - at[i]) : 0;
  s->as_map.solve(s->as_map.self, s->step);
  for (int i = 0; i < s->box.n; i++)
    if (s->set[i] == NS_BETWEEN) z[i] += s->step[i];
  ns_sparse_product(s, z);
}

/* Solves the equations of the set, with one refinement. */
static NsStatus proximal_solve_set(NsSparseSearch *s, double shift, const double *at, double *z) {
  for (int i = 0; i < s->box.n; i++) {
    bool between = s->set[i] == NS_BETWEEN;
    s->d[i] = between ? shift : 1;
    s->e[i] = between ? s->rho[i] : 0;
    if (!between) z[i] = s->set[i] == NS_AT_LOWER ? s->as_map.lower[i] : s->as_map.upper[i];
  }
  NsStatus status = s->as_map.factor(s->as_map.self, s->d, s->e);
  if (status) return status;
  ns_sparse_product(s, z);
  proximal_correct(s, shift, at, z);
  proximal_correct(s, shift, at, z);
  return NS_OK;
}

/* The set to which component i belongs at z. */
static signed char proximal_place(const NsSparseSearch *s, double shift, const double *at, const double *z, int i) {
  double l = s->as_map.lower[i], u = s->as_map.upper[i], w = s->rho[i] * s->v[i] + shift * (z[i] - at[i]);
  double slack = NS_BOX_EXACT * s->rho[i] * s->size[i];
  signed char now = s->set[i];
  if (l == u) return now;
  if (now == NS_BETWEEN) return z[i] < l ? NS_AT_LOWER : z[i] > u ? NS_AT_UPPER : now;
  return (now == NS_AT_LOWER ? w < -slack : w > slack) ? NS_BETWEEN : now;
}

/* Moves the wrong components, or only the last of them. Returns their number. */
static int proximal_repair(NsSparseSearch *s, double shift, const double *at, const double *z, bool one) {
  int wrong = 0;
  for (int i = s->box.n - 1; i >= 0; i--) {
    signed char place = proximal_place(s, shift, at, z, i);
    if (place == s->set[i]) continue;
    if (wrong++ == 0 || !one) s->set[i] = place;
  }
  return wrong;
}

/* Moves `at` to the solution of the step; z: workspace. */
static NsStatus proximal_step_sparse(NsSparseSearch *s, double shift, double *at, double *z) {
  int least = s->box.n + 1, idle = 0;
  size_t bytes = (size_t)s->box.n * sizeof *z;
  memcpy(z, at, bytes);
  for (int k = 0; k < SETS; k++) {
    NsStatus status = ns_interrupted() ? NS_EINTR : proximal_solve_set(s, shift, at, z);
    if (status) return status;
    int wrong = proximal_repair(s, shift, at, z, idle > IDLE);
    if (wrong == 0) return memcpy(at, z, bytes), NS_OK;
    idle = wrong < least ? 0 : idle + 1;
    if (wrong < least) least = wrong;
  }
  return NS_ENOCONV;
}

static NsOutcome sparse_proximal_run(void *work, NsSearch *search, int mode) {
  NsSparseSearch *s = (NsSparseSearch *)search;
  NsBoxPoint *m = work;
  NsOutcome out = {NS_ENOCONV, false, 0, "proximal"};
  double shift = first_shift, least = INFINITY;
  (void)mode;
  if (!s->positive) return out.status = NS_EARG, out;
  s->box.start(&s->box, m->z);
  ns_sparse_product(s, m->z);
  ns_box_map_set(&s->as_map, m->z, s->v, s->set);
  for (int idle = 0; out.iterations < STEPS && idle <= IDLE; shift = ns_larger(shift_falls * shift, least_shift)) {
    NsStatus status = proximal_step_sparse(s, shift, m->z, m->w);
    if (status == NS_EINTR) return out.status = status, out;
    if (status) break;
    out.iterations++;
    double error = ns_sparse_error(s, m->z);
    if (!ns_sparse_keep(s, m->z, error)) break;
    if (search->least <= search->exact) break;
    idle = error < 0.5 * least ? 0 : idle + 1;
    least = ns_smaller(error, least);
  }
  out.status = s->box.finish(&s->box, m->z, NS_ENOCONV);
  return out;
}

/*
** For chains: steps as in proximal.c, on rows that their diagonal has scaled. An active set is one factorisation; all wrong components move at
** once, and only the last one when their number has not fallen for some sets (Kostreva, Linear Algebra Appl. 21, 1978: it ends for P-matrices).
** So rows that depend on each other are no obstacle, as the four touches of two faces. NS_EARG: a diagonal entry is not positive. NS_ENOCONV: the
** error no longer falls, or a step has no solution.
*/
const NsMethod ns_sparse_proximal = {.takes = NS_TAKES_SPARSE, .reserve = ns_box_point_reserve, .run = sparse_proximal_run};
