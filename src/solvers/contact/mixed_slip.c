/*
** mixed_slip.c
** Finds coefficients of friction that depend on the slip, and bounds of friction that grow with a reaction.
*/
#include "solvers/contact/mixed.h"

#include <float.h>
#include <math.h>

enum {
  SLIP_ITERATIONS = 200, /* one contact takes 3 to 6; in chains of contacts errors fall by a part in each */
  SLIP_DAMPED = 60       /* from here on half of each change is made */
};

/* Coefficients are found when they change by less than this part; SLIP_STALLED: when the change does not fall any more, by rounding of w. */
static const double SLIP_FOUND = 4 * DBL_EPSILON, SLIP_STALLED = 1e-10;

/*
** A bound whose change is this part of the largest multiplier of the problem, both in units of equal energy (sqrt(W_kk) z_k), does not change: the
** reaction of a joint in free fall is rounding.
*/
static const double SLIP_ROUNDING = 64 * DBL_EPSILON;

/*
** Newton's method is used where 1 - mu'(u) du/dmu is at least this. Below, the coefficient at the present slip is next: from the static
** one on this falls to the largest coefficient that obeys the law.
*/
static const double SLIP_REGULAR = 0.5;

static double slip_matrix(const NsMixedProblem *p, int i, int j) {
  if (p->W) return p->W[i + (ptrdiff_t)j * p->n];
  for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++)
    if (p->sparse->row[k] == i) return p->sparse->value[k];
  return 0;
}

/* d|u| / dmu of a contact whose first row is k and that slips along d, while the others keep their forces. */
static double slip_by_mu(const NsMixedProblem *p, int k, int dim, double mu, const double *d, double normal) {
  double own = slip_matrix(p, k, k), tangent = 0, to_normal = 0, from_normal = 0;
  for (int i = 1; i < dim; i++) {
    to_normal += slip_matrix(p, k, k + i) * d[i - 1];
    from_normal += slip_matrix(p, k + i, k) * d[i - 1];
    for (int j = 1; j < dim; j++) tangent += d[i - 1] * slip_matrix(p, k + i, k + j) * d[j - 1];
  }
  double left = own - mu * to_normal, normal_by_mu = left > 0 ? normal * to_normal / left : 0;
  return -tangent * normal + (from_normal - mu * tangent) * normal_by_mu;
}

/* The next coefficient of the contact whose first row is k. *change: how far it is from the one at the slip, as a part of that. */
static double slip_next(const NsMixedProblem *p, const NsMixedGroup *group, int k, const double *z, const double *w,
                        double *change) {
  double speed = 0, d[2] = {0, 0}, slope = 0, mu = group->mu[0];
  for (int i = 1; i < group->dim; i++) speed = hypot(speed, w[k + i]);
  for (int i = 1; i < group->dim && speed > 0; i++) d[i - 1] = w[k + i] / speed;
  double at = group->slip.mu(group->slip.law, group->slip.unit * speed, &slope), off = at - mu;
  *change = fabs(off) / fmax(at, DBL_MIN);
  if (isnan(at) || !(z[k] > 0) || !(speed > 0)) return at;
  double regular = 1 - slope * group->slip.unit * slip_by_mu(p, k, group->dim, mu, d, z[k]);
  return regular >= SLIP_REGULAR ? fmax(0, mu + off / regular) : at;
}

/* The bound of a row that grows with its reaction. */
static double reaction_bound(const NsMixedReaction *reaction, const double *z) {
  double length = 0;
  for (int i = reaction->first; i < reaction->first + reaction->rows; i++) length = hypot(length, z[i]);
  return reaction->own + reaction->mu * length;
}

static void group_take_bound(NsMixedGroup *group, double bound) {
  group->lower = -bound, group->upper = bound;
}

/* The largest multiplier of the problem in units of equal energy. */
static double slip_largest_energy(const NsMixedProblem *p, const double *z) {
  double most = 0;
  for (int k = 0; k < p->n; k++) most = fmax(most, sqrt(fabs(slip_matrix(p, k, k))) * fabs(z[k]));
  return most;
}

/* The next friction of all groups, from the answer z, w: the largest change, as a part of it; NAN: a coefficient failed. */
static double friction_next(const NsMixedProblem *p, NsMixedGroup *groups, const double *z, const double *w, bool damped) {
  double most = 0, change, rounding = SLIP_ROUNDING * slip_largest_energy(p, z);
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim) {
    NsMixedGroup *group = &groups[g];
    if (!ns_mixed_depends(group)) continue;
    if (group->cone) {
      double next = slip_next(p, group, k, z, w, &change);
      if (isnan(next)) return NAN;
      group->slip.next = damped ? 0.5 * (next + group->mu[0]) : next;
    } else {
      double next = reaction_bound(&group->reaction, z);
      double off = fabs(next - group->upper);
      change = sqrt(fabs(slip_matrix(p, k, k))) * off > rounding ? off / fmax(next, group->upper) : 0;
      group->reaction.next = damped ? 0.5 * (next + group->upper) : next;
    }
    most = fmax(most, change);
  }
  return most;
}

static void friction_take(const NsMixedProblem *p, NsMixedGroup *groups) {
  for (int g = 0; g < p->ngroups; g++) {
    if (!ns_mixed_depends(&groups[g])) continue;
    if (groups[g].cone) groups[g].mu[0] = groups[g].slip.next;
    else group_take_bound(&groups[g], groups[g].reaction.next);
  }
}

/* The friction before the first answer. *any: some depends on the answer. False: a coefficient has failed. */
static bool friction_begin(const NsMixedProblem *p, NsMixedGroup *groups, const double *guess, bool *any) {
  *any = false;
  for (int g = 0; g < p->ngroups; g++) {
    if (!ns_mixed_depends(&groups[g])) continue;
    *any = true;
    if (groups[g].cone && isnan(groups[g].mu[0])) return false;
    if (!groups[g].cone)
      group_take_bound(&groups[g], guess ? reaction_bound(&groups[g].reaction, guess) : groups[g].reaction.own);
  }
  return true;
}

NsStatus ns_mixed_slip_solve(NsMixed *solver, const NsMixedProblem *p, NsMixedGroup *groups, const double *guess, double *z,
                             double *w, NsSolverInfo *info) {
  double before = INFINITY;
  int iterations = 0;
  bool any;
  if (!friction_begin(p, groups, guess, &any)) return *info = (NsSolverInfo){.status = NS_ECALLBACK}, NS_ECALLBACK;
  NsStatus status = ns_mixed_solve(solver, p, guess, z, w, info);
  for (int i = 0; any && status == NS_OK; i++) {
    double most = friction_next(p, groups, z, w, i >= SLIP_DAMPED);
    if (isnan(most)) return info->status = NS_ECALLBACK;
    if (most <= SLIP_FOUND || (most <= SLIP_STALLED && most >= before)) break;
    if (i == SLIP_ITERATIONS && most <= SLIP_STALLED) break;
    if (i == SLIP_ITERATIONS) return info->status = NS_ENOCONV;
    before = most;
    friction_take(p, groups);
    iterations += info->iterations;
    status = ns_mixed_solve(solver, p, z, z, w, info);
  }
  info->iterations += iterations;
  return status;
}
