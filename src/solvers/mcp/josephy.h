/*
** josephy.h
** The Josephy-Newton method for nonlinear complementarity problems.
*/
#pragma once

#include "solvers/method.h"

/*
** Each direction leads to the solution of the box problem with F linearised at the iterate. The box solver starts at the
** iterate, so an unchanged active set takes no pivot. If this fails or the line search rejects the direction: the direction of
** the Fischer-Burmeister map, then box problems with J + mu I. The mode says where the attempt starts (mcp_search.h).
** Converges quadratically near a strongly regular solution. Josephy, Newton's method for generalized equations, MRC report
** 1965, 1979; Ferris, Kanzow and Munson, Feasible descent algorithms for mixed complementarity problems, Math. Prog. 86, 1999.
*/
extern const NsMethod ns_mcp_josephy;
