/*
** sparse_search.h
** The search for the solution of one sparse, connected box problem in balanced units: candidates, and active sets with KLU.
*/
#ifndef NS_SOLVERS_BOX_SPARSE_SEARCH_H
#define NS_SOLVERS_BOX_SPARSE_SEARCH_H

#include "linalg/sparse.h"
#include "solvers/box/active.h"
#include "solvers/box/box_search.h"

/* Made for one matrix; ns_sparse_search_begin gives it a problem. */
typedef struct NsSparseSearch {
  NsBoxSearch box;
  const NsSparse *M;
  NsSparseMap *factors; /* NULL: for methods that need none */
  NsBoxMap as_map;
  const double *guess;              /* n; NULL: none */
  double *rho, *diagonal, *largest; /* n: step lengths; of M: the diagonal, the largest entries of the rows */
  bool positive;                    /* the diagonal */
  double *v, *size;                 /* n: of the last product: M z + q and |M| |z| + |q| */
  double *best_z;                   /* n: the best candidate, which measures box.base.least */
  signed char *set;                 /* n: the active set in hand */
  double *d, *e, *step, *inside;    /* n: work of the functions below */
} NsSparseSearch;

/*
** Takes room from `arena`. M (balanced as by balance.h) is borrowed: pattern and values must stay. NS_ENOMEM, NS_ETOOLARGE; to be
** released as well.
*/
NsStatus ns_sparse_search_take(NsSparseSearch *s, NsArena *arena, const NsSparse *M, const NsBoxOptions *options, bool factors);
void ns_sparse_search_release(NsSparseSearch *s);

/* Begins a search: there is no candidate, and factors do not depend on those of the problems before. The vectors are borrowed. */
void ns_sparse_search_begin(NsSparseSearch *s, const double *q, const double *lower, const double *upper, const double *guess);

/* s->v and s->size of z. */
void ns_sparse_product(NsSparseSearch *s, const double *z);

/* The backward error of z, whose product is in s->v: each row against its own terms. */
double ns_sparse_error(const NsSparseSearch *s, const double *z);

/* Keeps z (its product in s->v) as the best candidate when it is; false when the problem is lost in it (ns_box_lost). */
bool ns_sparse_keep(NsSparseSearch *s, const double *z, double error);

/*
** Solves the active set s->set by one factorisation and refinements (a component that they show to be rounding alone becomes the
** exact 0), and moves all components that are wrong, at most `limit` times; *tries counts, z (n) is where it stands. NS_OK: the best
** candidate is exact; NS_ENOCONV: no component is wrong, or as many stay wrong; NS_ENOSOL: the set names an infinite bound;
** NS_ESINGULAR, NS_EINTR. Hintermueller, Ito and Kunisch, The primal-dual active set strategy as a semismooth Newton method, SIAM J.
** Optim. 13, 2003: it ends for M-matrices.
*/
NsStatus ns_sparse_follow_sets(NsSparseSearch *s, double *z, int limit, int *tries);

#endif
