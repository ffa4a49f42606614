/*
** mixed_measure.h
** A problem of rows and contacts as the methods see it, and how well a candidate solves it.
*/
#ifndef NS_SOLVERS_CONTACT_MIXED_MEASURE_H
#define NS_SOLVERS_CONTACT_MIXED_MEASURE_H

#include <math.h>

#include "solvers/contact/mixed.h"

/* What a problem is made of. */
typedef struct NsMixedKinds {
  int equations, bounded; /* rows without and with bounds */
  int contacts, dim;      /* contacts; the largest dim */
  bool uniform;           /* no rows, all contacts of that dim */
} NsMixedKinds;

/* A problem as the methods see it. */
typedef struct NsMixedView {
  NsMixedProblem p; /* W is given, whatever the caller gave, up to NS_MIXED_DENSE rows */
  NsMixedKinds kinds;
  double tolerance;
  bool keep;  /* a guess within the tolerance is the answer, when the tolerance is larger than the default */
  bool early; /* a heap whose tolerance is larger than the default: the first answer within it will do */
  int max_iterations;
  bool contacts;          /* contacts of one dimension, which a chain of their own solves, */
  const NsMethod *method; /* or, when it is not NULL, this method of friction_chain.h alone */
  double *rho;            /* ngroups: steps of the natural map */
  double *explained;      /* n: how large the data let |W| |z| + |q| be expected */
  double *size, *load;    /* n: work of ns_mixed_measure */
} NsMixedView;

/* A sparse problem of at most so many rows is made dense: all methods take it then. */
enum { NS_MIXED_DENSE = 600 };

static inline bool ns_mixed_equation(const NsMixedGroup *group) {
  return group->dim == 1 && group->lower == -INFINITY && group->upper == INFINITY;
}

/* Whether products go by the columns of the sparse W, also where there is a dense one. */
static inline bool ns_mixed_sparse(const NsMixedProblem *p) {
  return p->sparse && (!p->W || p->n > NS_MIXED_DENSE_ROWS);
}

/* Fills *kinds; does not look at W and q. NS_ENAN, NS_EARG for groups and sizes that ns_mixed_solve refuses. */
NsStatus ns_mixed_look(const NsMixedProblem *p, NsMixedKinds *kinds);

/* The entry (i, j) of W. */
double ns_mixed_entry(const NsMixedProblem *p, int i, int j);

/* The block of a group whose first row is `row`, dim x dim. */
void ns_mixed_block(const NsMixedProblem *p, int row, int dim, double *block);

/* The largest row sum of |W| in that block. */
double ns_mixed_block_size(const NsMixedProblem *p, int row, int dim);

/*
** Fills v->rho: 1 over the largest row sum of a contact's own block, over a row's diagonal entry where that is
** positive; else over the largest entry of the rows; 1 where these are zero. Where there are rows also v->explained,
** |W| e + |q| with e the larger of rho |q| and the finite bounds; v->size is work.
*/
void ns_mixed_prepare(NsMixedView *v);

/* w = W z + q. */
void ns_mixed_product(const NsMixedProblem *p, const double *z, double *w);

/*
** Writes w = W z + q and returns the measure that mixed.h states; INFINITY for NaN or a row beyond its bounds. |W| |z| + |q| counts up to 1e4
** times what the data let expect, so that forces that grow without bound do not hide what stays wrong.
*/
double ns_mixed_measure(const NsMixedView *v, const double *z, double *w);

/* The largest |z - P(z - rho w)|, and that over the largest |z| or rho |q|. */
double ns_mixed_residual(const NsMixedView *v, const double *z, const double *w, double *relative);

#endif
