/*
** sparse_search.h
** The search for the solution of one sparse, connected box problem in balanced units: candidates, and active sets with KLU.
*/
#pragma once

#include "linalg/sparse.h"
#include "solvers/box/active.h"
#include "solvers/box/box_search.h"
#include "solvers/residual.h"

/* Made for one matrix; ns_sparse_search_begin gives it a problem. */
typedef struct NsSparseSearch {
  NsBoxSearch box;
  const NsSparse *M;
  NsSparseMap *factors; /* NULL: for methods that factor nothing */
  NsBoxMap as_map;
  const double *guess;              /* n; NULL: none */
  double *rho, *diagonal, *largest; /* n: step lengths; the diagonal of M; the largest entry of each row of M */
  bool positive;                    /* the diagonal is positive */
  double *v, *size;                 /* n: M z + q and |M| |z| + |q| of the last product */
  double *best_z;                   /* n: the best candidate, which measures box.base.least */
  signed char *set;                 /* n: the current active set */
  NsLost lost;
  double *d, *e, *step, *inside; /* n: workspace of the functions below */
} NsSparseSearch;

/* Borrows M (balanced by balance.h, must not change). NS_ENOMEM, NS_ETOOLARGE; release also after a failure. */
NsStatus ns_sparse_search_take(NsSparseSearch *s, NsArena *arena, const NsSparse *M, const NsBoxOptions *options, bool factors);
void ns_sparse_search_release(NsSparseSearch *s);

/* Begins a search without a candidate; results do not depend on earlier factorisations. The vectors are borrowed. */
void ns_sparse_search_begin(NsSparseSearch *s, const double *q, const double *lower, const double *upper, const double *guess);

/* Computes s->v and s->size for z. */
void ns_sparse_product(NsSparseSearch *s, const double *z);

/* The componentwise backward error of z, whose product is in s->v, s->size. */
double ns_sparse_error(const NsSparseSearch *s, const double *z);

/* Keeps z (product in s->v) if it is the best candidate; false: not a candidate, since ns_box_lost. */
bool ns_sparse_keep(NsSparseSearch *s, const double *z, double error);

/*
** At most `limit` times: solves the active set s->set by one factorisation and refinements (a component that they show to be
** rounding alone becomes exactly 0), then moves all wrong components. *tries: the number of sets; z (n): the last point.
** NS_OK: the best candidate is exact; NS_ENOCONV: no component is wrong, or their number does not fall; NS_ENOSOL: the set
** uses an infinite bound; NS_ESINGULAR, NS_EINTR. Terminates for M-matrices: Hintermueller, Ito and Kunisch, The primal-dual
** active set strategy as a semismooth Newton method, SIAM J. Optim. 13, 2003.
*/
NsStatus ns_sparse_follow_sets(NsSparseSearch *s, double *z, int limit, int *tries);
