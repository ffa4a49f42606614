/*
** sparse_sets.h
** The active set of the guess, followed on a sparse matrix.
*/
#pragma once

#include "solvers/method.h"

/*
** Follows active sets (ns_sparse_follow_sets) from the set of the guess, or of 0 without a guess. For many variables without a
** guess it tries only few sets: when a free boundary has far to move, each set moves it by one point.
*/
extern const NsMethod ns_sparse_sets;

/* Number of variables from which interior point follows after few sets; it takes as many steps for any size. */
enum { NS_SPARSE_LARGE = 500 };
