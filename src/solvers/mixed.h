#ifndef NS_SOLVERS_MIXED_H
#define NS_SOLVERS_MIXED_H
#include "linalg/sparse.h"
#include "solvers/default.h"
typedef struct NsMixedGroup { int dim; double lower, upper, mu; } NsMixedGroup;
typedef struct NsMixedProblem {
  int n, ngroups; const NsMixedGroup *groups; const double *W; const NsSparse *sparse; const double *q;
} NsMixedProblem;
typedef struct NsMixedOptions { double tolerance; int max_iterations; } NsMixedOptions;
typedef struct NsMixed NsMixed;
NsStatus ns_mixed_new(NsMixed **out);
void ns_mixed_free(NsMixed *solver);
NsMixedOptions *ns_mixed_options(NsMixed *solver);
NsStatus ns_mixed_solve(NsMixed *solver, const NsMixedProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info);
#endif
