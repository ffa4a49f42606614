/*
** terms.h
** The terms of a model's equations at a point, for solvers of their own: values and Jacobians of systems and relations.
*/
#pragma once

#include "model/vjp.h"

/*
** The terms of all systems of one family and of their interactions, stacked in the graph's order. First order: M x' = f + r, r by B and K
** (K is added to A); mechanics: M v' = f + C' lambda. Both: y = y(x, lambda), A = df/dx or df/dq, V = df/dv, C = dy/dx or dy/dq, D = dy/dlambda;
** mechanics: rate = dy/dt at fixed q and G = d(C' lambda)/dq, by differences where a relation does not know it.
*/
typedef struct NsTerms {
  NsNsds *nsds;
  NsFamily family;
  double t;
  const double *x, *lambda; /* the point, which is not the state of the model: all states; all multipliers */
  int nq, nv, m;            /* coordinates (of first order the states), equations, rows of the family */
  double *f, *M, *A;        /* nv; nv x nv; nv x nq. All are zeros before the call */
  double *y, *C, *D;        /* m; m x nq; m x m */
  double *V, *rate, *G;     /* mechanics: nv x nv; m; nq x nq. Of first order rate is NULL */
  double *B;                /* first order: nv x m */
} NsTerms;

/* Sets nq, nv and m for nsds and family. */
void ns_terms_measure(NsTerms *at);

/* Fills the arrays. Errors: NS_ENOMEM, and the model's errors. The constants of the model are updated for t; its state stays. */
NsStatus ns_terms_fill(NsTerms *at, NsError *err);

/*
** f (nv), y (m) = the derivatives by a number of the model of f, with the input of lambda in both families, and of y, right after ns_terms_fill.
** False: they are not known, as in a model with quaternions.
*/
bool ns_terms_by(const NsTerms *at, const NsParameter *number, double *f, double *y);
