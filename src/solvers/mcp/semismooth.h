/*
** semismooth.h
** Newton's method on maps whose zeros are the solutions of a nonlinear complementarity problem.
*/
#pragma once

#include "solvers/method.h"

/*
** Each direction is the Newton direction of the natural map max(min(z - l, f), z - u), an active-set step. If the line search
** rejects it: the Newton direction of the Fischer-Burmeister map with increasing regularisation. Each takes one linear system
** (KLU for sparse J). The mode says where the attempt starts (mcp_search.h). De Luca, Facchinei and Kanzow, A semismooth
** equation approach to the solution of nonlinear complementarity problems, Math. Prog. 75, 1996.
*/
extern const NsMethod ns_mcp_semismooth;
