/*
** equations.h
** The equations of a graph of first-order systems, stacked, and their Jacobians.
*/
#ifndef NS_INTEGRATORS_FESD_EQUATIONS_H
#define NS_INTEGRATORS_FESD_EQUATIONS_H

#include "model/first_order_ds.h"
#include "model/nsds.h"

/*
** M x' = F(t, x, lambda),  y = h(t, x, lambda),  where F = f + sum of g over the interactions. N states and m multipliers, in
** the order of the graph. Matrices are column-major.
*/
typedef struct NsEquations {
  NsNsds *nsds;
  int N, m;
  int *offset, *row; /* of each system; of each interaction */

  /* the last evaluation; r = sum of g */
  double *F, *r, *y;   /* N, N, m */
  double *M, *Fx, *Fl; /* N x N, N x N, N x m */
  double *hx, *hl;     /* m x N, m x m */
  double *x, *out, *J; /* workspace of one system or interaction */
} NsEquations;

/* Takes the memory; the arena has `failed` when there is none. All systems are first-order ones. */
void ns_equations_take(NsEquations *eq, NsArena *arena, NsNsds *nsds);

/* Evaluates F, r and y; with `slopes`, M and the Jacobians too. Returns the statuses of callbacks and coefficients. */
NsStatus ns_equations_evaluate(NsEquations *eq, double t, const double *x, const double *lambda, bool slopes, NsError *err);

/* The interaction of a row. */
int ns_equations_interaction(const NsEquations *eq, int row);

#endif
