/*
** sparse_proximal.h
** The proximal point method on active sets of a sparse problem.
*/
#pragma once

#include "solvers/method.h"

/*
** For chains: steps as in proximal.h, on rows that their diagonal has scaled. An active set is one factorisation; all wrong components move at
** once, and only the last one when their number has not fallen for some sets (Kostreva, Linear Algebra Appl. 21, 1978: it ends for P-matrices).
** So rows that depend on each other are no obstacle, as the four touches of two faces. NS_EARG: a diagonal entry is not positive. NS_ENOCONV: the
** error no longer falls, or a step has no solution.
*/
extern const NsMethod ns_sparse_proximal;
