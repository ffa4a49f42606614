/*
** mixed_path.h
** Heaps in the plane by complementary pivots with a sparse basis.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* Modes of the method, which starts from the last point of the rounds (NsMixedSearch.standing). */
enum { NS_PATH_NEAR, NS_PATH_FROM_BOUNDS, NS_PATH_LONG };
extern const NsMethod ns_mixed_path;

/* The workspace that ns_mixed_path reserves. */
typedef struct NsMixedPath NsMixedPath;

/*
** z becomes the answer of the last path that arrived; w is workspace (n). info->iterations: the pivots. Modes:
**   NS_PATH_NEAR: from z, which should have mostly the right modes: proximal steps with small weights. NS_OK: within tolerance; NS_ENOCONV;
**   NS_ERAY, often where coefficients of friction are above 0.5.
**   NS_PATH_FROM_BOUNDS: the problem itself, from no forces. NS_OK: solved up to rounding; NS_ERAY, which proves nothing.
**   NS_PATH_LONG: the same with a longer path.
** Failures: NS_EMAXITER, NS_ESINGULAR, NS_ENOMEM, NS_ETOOLARGE, NS_EINTR; NS_ESIZE for contacts in space or without a sparse W.
*/
NsStatus ns_mixed_path_solve(NsMixedPath *path, const NsMixedView *v, int mode, double *z, double *w, NsSolverInfo *info);
