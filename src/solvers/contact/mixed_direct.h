/*
** mixed_direct.h
** A direct attempt at few contacts of one cone, in the given units and without workspaces.
*/
#pragma once

#include "solvers/contact/mixed.h"

/* Number of rows up to which there is an attempt. */
enum { NS_MIXED_DIRECT = 64 };

/*
** Whether all numbers of p other than 0 are finite and between 2^-200 and 2^200, so that no product of ns_mixed_direct leaves the range of doubles. Else the
** groups must be scaled before (mixed_scale.h).
*/
bool ns_mixed_direct_ordinary(const NsMixedProblem *p);

/*
** Solves the groups group[0 .. count - 1] of p, whose rows begin at first[g] (NULL: all), from zero; all groups of p are contacts of one cone. Rounds
** of sweeps of exact contacts and of Newton's method on the Alart-Curnier map, without a line search. Each operation commutes with scaling a contact by
** powers of two, so the answer has the same bits in all units. True: every contact is exact to rounding; z, w (in the rows of the groups) and *info
** are filled. False, and z, w as they were: no answer was found, there are more rows than NS_MIXED_DIRECT, or the cone has several discs, whose
** units differ.
*/
bool ns_mixed_direct(const NsMixedProblem *p, const int *first, const int *group, int count, double *z, double *w,
                     NsSolverInfo *info);
