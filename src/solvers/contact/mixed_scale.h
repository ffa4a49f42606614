/*
** mixed_scale.h
** Some groups of a problem of rows and contacts in units of their own: powers of two.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_SCALE_H
#define NS_SOLVERS_CONTACT_MIXED_SCALE_H

#include "base/arena.h"
#include "solvers/contact/mixed.h"

/* Some groups of a problem, closed under what W connects, in units of their own: w' = 2^unit_w w, z' = 2^unit_z z. */
typedef struct NsMixedScaled {
  NsArena arena;
  int capacity;
  ptrdiff_t room;   /* entries of W */
  NsMixedProblem p; /* points at what follows */
  NsMixedGroup *groups;
  int *row;                     /* of the given problem */
  int *unit_w, *unit_z, *place; /* by rows; place of a given row among them */
  double *W, *q, *guess, *z, *w;
  NsSparse *sparse;
} NsMixedScaled;

/*
** Fills s with the groups group[0 .. count - 1] (increasing) of p; the rows of group g start at first[g]. With `contacts` in units in
** which every group's own block is near 1 and the largest of q and the bounds is between 1/2 and 1; else as they are.
** Allocates when it is larger than any before. NS_ENOMEM, NS_ETOOLARGE.
*/
NsStatus ns_mixed_scale(NsMixedScaled *s, const NsMixedProblem *p, const int *first, const int *group, int count, bool contacts,
                        const double *guess);
void ns_mixed_scaled_release(NsMixedScaled *s);

#endif
