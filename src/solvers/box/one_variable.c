/*
** one_variable.c
** One variable: the candidates are the root of m z + q and the bounds.
*/
#include "solvers/box/one_variable.h"

#include <float.h>
#include <math.h>

#include "solvers/residual.h"

NsStatus ns_one_variable(const NsOneVariable *p, double near, double *z) {
  double m = p->m, q = p->q, l = p->lower, u = p->upper;
  if (l == u || (m == 0 && q == 0)) {
    *z = ns_box_clamp(near, l, u);
    return NS_OK;
  }
  if (m >= 0) {
    double root = m > 0 ? -q / m : q > 0 ? -INFINITY : INFINITY;
    *z = ns_box_clamp(root, l, u);
    return fabs(*z) <= DBL_MAX ? NS_OK : NS_ENOSOL;
  }
  double candidates[3] = {-q / m, l, u}, best = INFINITY;
  bool good[3] = {candidates[0] >= l && candidates[0] <= u, m * l + q >= 0, m * u + q <= 0};
  for (int k = 0; k < 3; k++) {
    double d = fabs(candidates[k] - near);
    if (!good[k] || !(fabs(candidates[k]) <= DBL_MAX) || d >= best) continue;
    best = d;
    *z = candidates[k];
  }
  return best < INFINITY ? NS_OK : NS_ENOSOL;
}

NsSolverInfo ns_one_variable_solve(const NsOneVariable *given, double near, double tolerance, double *z, double *w) {
  if (!(fabs(near) <= DBL_MAX)) near = 0;
  double answer = ns_box_clamp(near, given->lower, given->upper), relative = 0;
  NsStatus status = ns_one_variable(given, near, &answer);
  double size = ns_smaller(fabs(given->m * answer) + fabs(given->q), DBL_MAX);
  *z = answer;
  *w = given->m * answer + given->q;
  double violation = ns_box_violation(*z, *w, given->lower, given->upper), residual = 0, backward = 0;
  if (violation != 0) {
    NsBoxProblem p = {1, &given->m, 1, &given->q, &given->lower, &given->upper, 0};
    backward = ns_box_backward(&p, z, w, &size);
    residual = ns_box_residual(&p, z, w, &relative);
  }
  if (status == NS_OK && !(backward <= tolerance)) status = NS_ENOCONV;
  if (status == NS_OK && !((*w > 0 && *z == given->lower) || (*w < 0 && *z == given->upper))) *w = 0;
  return (NsSolverInfo){status, 0, residual, relative, backward, true, "closed form"};
}
