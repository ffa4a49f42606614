/*
** heap_order.h
** The order in which a heap's groups are solved: neighbours follow each other, whatever order the caller gave.
*/
#pragma once

#include "base/arena.h"
#include "solvers/contact/mixed.h"

/*
** Sorts group[0 .. count - 1], the groups of one component of p (first: the first row of each group; of: the group of each row), by their
** distance in the graph of W from a group at its edge, and at one distance by their neighbours before, as Cuthill and McKee do
** (Proc. 24th Nat. Conf. ACM, 1969). Sweeps in this order carry a load through the heap. room: 4 ngroups numbers. W is sparse.
*/
void ns_heap_order(const NsMixedProblem *p, const int *first, const int *of, int count, int *group, int *room);
