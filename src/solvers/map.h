/*
** map.h
** What Newton and interior-point methods need from a matrix, dense or sparse: products, and factors of diag(d) + diag(e) M.
*/
#pragma once

#include "base/arena.h"
#include "linalg/lu.h"
#include "linalg/sparse.h"

/* A box problem and the operations on its matrix M (n x n). The vectors are borrowed. */
typedef struct NsBoxMap {
  int n;
  const double *q, *lower, *upper;
  const double *rho; /* n, positive: step lengths of the natural map; 1 / M_ii where M_ii > 0 */
  void *self;
  void (*product)(void *self, const double *x, double *y);            /* y = M x */
  void (*product_transposed)(void *self, const double *x, double *y); /* y = M' x */
  NsStatus (*factor)(void *self, const double *d, const double *e);   /* factors diag(d) + diag(e) M; NS_ESINGULAR */
  void (*solve)(void *self, double *b);                               /* solves with the last factors, in place */
} NsBoxMap;

/* The active set at z, w = M z + q: at a bound where z - rho w is on or beyond it, else between. */
void ns_box_map_set(const NsBoxMap *map, const double *z, const double *w, signed char *set);

/* The dense map. M and the matrix `work` (of the order of lu) are borrowed. */
typedef struct NsDenseMap {
  const double *M;
  int n, ldm;
  double *work, *rhs; /* order x order, order */
  NsLu *lu;           /* of order n or more */
} NsDenseMap;

/* Fills the functions of `map` for a dense matrix; the other fields are the caller's. */
void ns_dense_map(NsBoxMap *map, NsDenseMap *self);

/* The sparse map. */
typedef struct NsSparseMap NsSparseMap;

/* M is borrowed: its values may change, its pattern may not. NS_ENOMEM, NS_ETOOLARGE; *out is NULL on failure. */
NsStatus ns_sparse_map_new(NsSparseMap **out, const NsSparse *M);
void ns_sparse_map_free(NsSparseMap *self);

/* The floating-point operations of a factorisation, estimated (ns_sparse_lu_flops). */
double ns_sparse_map_flops(const NsSparseMap *self);

/* Begins a new problem: results do not depend on earlier factorisations. */
void ns_sparse_map_restart(NsSparseMap *self);

/*
** diag(d) + diag(e) M (e NULL: ones), with the pattern of M and the diagonal. Valid until the next call of this or of factor.
*/
const NsSparse *ns_sparse_map_matrix(NsSparseMap *self, const double *d, const double *e);

/* Fills the functions of `map`. */
void ns_sparse_map(NsBoxMap *map, NsSparseMap *self);
