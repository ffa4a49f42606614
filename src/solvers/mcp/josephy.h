/*
** josephy.h
** The method of Josephy and Newton for nonlinear complementarity problems.
*/
#ifndef NS_SOLVERS_MCP_JOSEPHY_H
#define NS_SOLVERS_MCP_JOSEPHY_H

#include "solvers/method.h"

/*
** Each direction leads to the solution of the box problem with F linearised at the iterate, from which it starts: an unchanged active
** set takes no pivot. When that has no solution, or does not serve: the direction of the Fischer-Burmeister map, then box problems
** with J + mu I. The mode says where it starts (mcp_search.h). Quadratic near a solution that is strongly regular. Josephy, Newton's
** method for generalized equations, MRC report 1965, 1979; Ferris, Kanzow and Munson, Feasible descent algorithms for mixed
** complementarity problems, Math. Prog. 86, 1999.
*/
extern const NsMethod ns_mcp_josephy;

#endif
