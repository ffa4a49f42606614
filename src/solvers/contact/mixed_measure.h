/*
** mixed_measure.h
** A problem of rows and contacts as the methods see it, and how well a candidate solves it.
*/
#pragma once

#include <math.h>

#include "solvers/contact/mixed.h"

/* The numbers of rows and contacts of a problem. */
typedef struct NsMixedKinds {
  int equations, bounded;  /* rows without bounds; rows with bounds */
  int contacts, most;      /* contacts; the most rows of a group */
  const NsConeClass *cone; /* the cone of all contacts, or the least one into which all embed; NULL: there is none */
  unsigned takes;          /* the bits of NsConeClass.takes that all contacts have */
  bool uniform;            /* no rows, and all contacts have the cone `cone` */
} NsMixedKinds;

/* A problem as the methods see it. */
typedef struct NsMixedView {
  NsMixedProblem p; /* has a dense W for up to NS_MIXED_DENSE rows, even if the caller gave a sparse one */
  NsMixedKinds kinds;
  double tolerance;
  bool steady; /* see NsMixedOptions */
  bool keep;   /* see NsMixedOptions; true only if the tolerance is above the default */
  bool early;  /* a heap with a tolerance above the default: stop at the first answer within it */
  int max_iterations;
  bool contacts;          /* the problem goes to the chain for contacts of one cone, */
  const NsMethod *method; /* or, if not NULL, to this method of friction_chain.h alone */
  double *rho;            /* ngroups: step lengths of the natural map */
  double *explained;      /* n: expected size of |W| |z| + |q|, from the data */
  double *size, *load;    /* n: workspace of ns_mixed_measure */
} NsMixedView;

/* Number of rows up to which a sparse problem is made dense, so that all methods accept it. */
enum { NS_MIXED_DENSE = 600 };

static inline bool ns_mixed_equation(const NsMixedGroup *group) {
  return !group->cone && group->lower == -INFINITY && group->upper == INFINITY;
}

/* Whether products use the columns of the sparse W, even if there is a dense one. */
static inline bool ns_mixed_sparse(const NsMixedProblem *p) {
  return p->sparse && (!p->W || p->n > NS_MIXED_DENSE_ROWS);
}

/* Fills *kinds without looking at W and q. NS_ENAN, NS_EARG: bad groups or sizes, see ns_mixed_solve. */
NsStatus ns_mixed_look(const NsMixedProblem *p, NsMixedKinds *kinds);

/* The entry (i, j) of W. */
double ns_mixed_entry(const NsMixedProblem *p, int i, int j);

/* The diagonal block (dim x dim) of the group that starts at `row`. */
void ns_mixed_block(const NsMixedProblem *p, int row, int dim, double *block);

/* The largest row sum of |W| in that block. */
double ns_mixed_block_size(const NsMixedProblem *p, int row, int dim);

/*
** Fills v->rho = 1 / s for each group: s is the largest row sum of |W| in a contact's own block, or a row's diagonal entry if
** that is positive; else the largest |W| in the group's rows; rho = 1 if these rows are zero. If there are rows, also
** v->explained = |W| e + |q|, where e is the larger of rho |q| and the finite bounds, or, where both are 0 or rounding, what neighbours explain;
** v->size is workspace.
*/
void ns_mixed_prepare(NsMixedView *v);

/* w = W z + q. */
void ns_mixed_product(const NsMixedProblem *p, const double *z, double *w);

/*
** Writes w = W z + q and returns the measure (see mixed.h); INFINITY for NaN or a row outside its bounds. If there are rows,
** |W| |z| + |q| counts as at most 1e4 times v->explained, so that forces that grow without bound do not hide an error; and an error of a row that
** is rounding of the largest of these terms, as velocities of equal energy, is 0.
*/
double ns_mixed_measure(const NsMixedView *v, const double *z, double *w);

/* The same, and the part of each group (ngroups; NULL: not wanted) in it, of which the measure is the largest. */
double ns_mixed_errors(const NsMixedView *v, const double *z, double *w, double *errors);

/* The largest |z - P(z - rho w)|; *relative is this over the largest |z| or rho |q|. */
double ns_mixed_residual(const NsMixedView *v, const double *z, const double *w, double *relative);
