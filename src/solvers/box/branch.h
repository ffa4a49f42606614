/*
** branch.h
** Branch and bound on the places of the variables, for matrices of any kind.
*/
#pragma once

#include "solvers/method.h"

/*
** Depth first: a node has chosen places (at the lower bound with w >= 0, between with w = 0, at the upper bound with w <= 0) for some variables;
** for the others only the linear conditions hold that all their places share. The dual simplex method finds a point of the node, or a row that
** proves that there is none. The variable with the largest natural residual at the point is chosen next. NS_OK: a verified answer; NS_ENOSOL: no
** node is left, and every proof is beyond rounding; NS_EMAXITER: the limit of work, which counts operations, so that the same input gives the same
** bits; NS_ENOCONV: no node is left, but a proof was within rounding. For up to NS_BRANCH_MOST variables. Dantzig, Linear Programming and
** Extensions, 1963, for the bounds; Bard, An efficient point algorithm for a linear two-stage optimization problem, Oper. Res. 31, 1983, section 4.
*/
extern const NsMethod ns_box_branch;
enum { NS_BRANCH_MOST = 300 };
