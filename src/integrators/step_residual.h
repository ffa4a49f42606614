/*
** step_residual.h
** The convergence test of a step, which all schemes share.
*/
#pragma once

#include <stdbool.h>

#include "linalg/lu.h"

/*
** How far an iterate is from the solution of the step. Each row is measured by its own terms, and each unknown by its own size;
** quantities of different rows or unknowns are never compared. So the measures do not change by a bit when rows, unknowns or
** time are scaled by powers of two. (Oettli and Prager, Numer. Math. 6, 1964.)
*/
typedef struct NsStepResidual {
  double state;          /* max_j |(W^-1 rho)_j| / (size of unknown j) */
  double output;         /* max_i |law output - output in the one-step problem| / (size of row i) */
  double equation;       /* max_i |rho_i| / (terms of row i), over the rows that are tested */
  double rho;            /* max_i |rho_i|, in the units of the rows */
  double gap;            /* max_i |difference of output i|, in the units of the outputs */
  int worst_ds;          /* the system of `state` */
  int violated_ds;       /* the system of `equation` */
  int worst_interaction; /* the interaction of `output` */
} NsStepResidual;

/* The tolerance of a step. */
typedef struct NsStepTolerance {
  double rtol, atol; /* atol: part of an unknown or output that counts as 0, in its units */
  double solver;     /* accuracy of the one-step problem's solution; no test is stricter */
  bool late;         /* convergence is slow: if the iterate fails the test, repeat it with the Jacobians of the iterate */
  bool damped;       /* iterates are compared by their residual: the size of an unknown may only grow between iterates */
  double fine;       /* relative residuals up to this may be told as 0: they are rounding, and change no decision */
  double absolute;   /* an iterate with |rho| and |gap| up to this passes, too, in the units of the rows; 0: not used */
} NsStepTolerance;

/* The tolerance of `equation` that belongs to rtol. */
double ns_step_violation(double rtol);

/*
** The size that a difference of an unknown or an output is divided by: `own`, or more, so that the solver's error in the
** contribution of the multipliers (of size of_multipliers) passes.
*/
double ns_step_size(const NsStepTolerance *tolerance, double own, double of_multipliers);

bool ns_step_converged(const NsStepResidual *r, const NsStepTolerance *tolerance);

/* Whether `equation` alone exceeds its tolerance. */
bool ns_step_only_rows_miss(const NsStepResidual *r, const NsStepTolerance *tolerance);

/* The measure with the largest ratio to its tolerance. */
typedef struct NsStepMiss {
  double value, tolerance;
  bool of_output; /* index is an interaction; else it is a system */
  int index;
} NsStepMiss;

NsStepMiss ns_step_miss(const NsStepResidual *r, const NsStepTolerance *tolerance);

/*
** The equations of one matrix W at an iterate; n numbers each. `terms`: for each row, the sum of the absolute values of its
** terms. `noise`: for each row, sum_j |W_ij| scale_j, since unknown j is known only up to eps scale_j; the rounding of a row is
** eps (terms + noise). `scale`: the size of each unknown.
*/
typedef struct NsStepBlock {
  int n;
  const NsLu *lu; /* factors of W */
  const double *rho, *terms, *noise, *scale;
  double *delta, *work; /* n each, output: W^-1 rho; workspace */
} NsStepBlock;

/* What a scheme keeps for the test of its iterate: the arrays (N) of an NsStepBlock. sizes: the scale of this iterate, when `scale` may only grow. */
typedef struct NsStepTest {
  double *terms, *noise, *scale, *delta, *sizes;
} NsStepTest;

/* Relative residuals below this are rounding: 10 eps. */
#define NS_STEP_FINE 2.2e-15

/*
** max_j (|(W^-1 rho)_j| - atol - rounding_j) / scale_j; *worst is that j. Fills delta. Returns NaN when a number is NaN.
** rounding_j = c eps sum_i |(W^-1)_ji| (terms_i + noise_i) costs one solve per unknown. It is computed only for unknowns whose
** value exceeds NS_STEP_FINE and may be the largest.
*/
double ns_step_unknowns(const NsStepBlock *b, double atol, int *worst);

/* c eps: the relative rounding error of a sum of n terms that callbacks compute. */
double ns_step_roundings(int n);

/*
** (|rho| - rounding) / terms, for one row of a W of order n. rounding = min(c eps (terms + noise), 1e-7 most). The second bound
** is for infinite derivatives, where `noise` is far too large (a square root at 0 is rounded by sqrt(eps)).
*/
double ns_step_row(double rho, double terms, double noise, double most, int n);

/* (|gap| - atol) / size, at least 0. */
double ns_step_output(double gap, double size, double atol);

/* Keep the maximum of the value and the values before; NaN counts as the largest. */
void ns_step_add_state(NsStepResidual *r, double value, int ds);
void ns_step_add_equation(NsStepResidual *r, double value, int ds);
void ns_step_add_output(NsStepResidual *r, double value, int interaction);

/* out_i += |factor| sum_j |A_ij| |x_j| over a rows x cols matrix. */
void ns_step_add_sizes(double factor, int rows, int cols, const double *A, int lda, const double *x, double *out);

/* max(most, max_j |factor A_ij x_j|) for row i of a matrix with `cols` columns. */
double ns_step_largest(double factor, int cols, const double *A, int lda, int i, const double *x, double most);

/* Sets three numbers of the same unit to the largest of them. */
void ns_step_join(double *three);

/* max_j |v_j| / scale_j over the unknowns with scale_j > 0. */
double ns_step_relative(int n, const double *v, const double *scale);
