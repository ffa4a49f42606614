/*
** mixed_scale.h
** Extracts a component of a problem of rows and contacts and scales it by powers of two.
*/
#pragma once

#include "base/arena.h"
#include "solvers/contact/mixed.h"

/* Connected groups of a problem in their own units: w' = 2^unit_w w, z' = 2^unit_z z. */
typedef struct NsMixedScaled {
  NsArena arena;
  int capacity;
  ptrdiff_t room;   /* capacity for entries of W */
  NsMixedProblem p; /* the scaled problem; points at the arrays below */
  NsMixedGroup *groups;
  int *row;                     /* the rows in the given problem */
  int *unit_w, *unit_z, *place; /* exponents by rows; place: the position of a given row among these rows */
  int *run;                     /* workspace, one for each row */
  double *W, *q, *guess, *z, *w;
  NsSparse *sparse;
} NsMixedScaled;

/*
** Fills s with the groups group[0 .. count - 1] (increasing) of p; the rows of group g start at first[g]. If `contacts`, the
** units are such that the own block of every row and disc is near 1 (cone.h: the first disc together with its normal) and the largest of q and the bounds is between 1/2 and 1; else they
** are p's. Allocates for a problem larger than any before. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_scale(NsMixedScaled *s, const NsMixedProblem *p, const int *first, const int *group, int count, bool contacts,
                        const double *guess);
void ns_mixed_scaled_release(NsMixedScaled *s);
