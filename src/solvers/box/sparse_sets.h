/*
** sparse_sets.h
** The active set of the guess, followed on a sparse matrix.
*/
#ifndef NS_SOLVERS_BOX_SPARSE_SETS_H
#define NS_SOLVERS_BOX_SPARSE_SETS_H

#include "solvers/method.h"

/*
** From the active set of the guess (of 0 without one) all wrong components move while that helps, see ns_sparse_follow_sets. Of many
** variables without a guess only few sets are tried: where a free boundary has far to go, sets move by a point a step.
*/
extern const NsMethod ns_sparse_sets;

/* Variables from which on interior points follow the first sets at once: they take as many steps for any size. */
enum { NS_SPARSE_LARGE = 500 };

#endif
