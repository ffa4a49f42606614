/*
** step_residual.h
** How far an iterate is from solving the step: the one test that all schemes share.
*/
#ifndef NS_INTEGRATORS_STEP_RESIDUAL_H
#define NS_INTEGRATORS_STEP_RESIDUAL_H

#include <stdbool.h>

#include "linalg/lu.h"

/*
** Each row of an equation is measured by its own terms, each unknown by its own size; no number of one row or unknown is
** compared with one of another. So the measures stay the same, to the last bit, when rows, unknowns and time are scaled
** by powers of two. (Oettli and Prager, Numer. Math. 6, 1964.)
*/
typedef struct NsStepResidual {
  double state;    /* largest |(W^-1 rho)_j| over the size of unknown j */
  double output;   /* largest difference of a law's output from what the one-step problem gave, over the size of that row */
  double equation; /* largest |rho_i| over the terms of row i, of the rows that are tested */
  double rho;      /* largest |rho_i|, in whatever units the rows have */
  double gap;      /* largest difference of an output, in whatever units the outputs have */
  int worst_ds;    /* the system with the largest state residual */
  int violated_ds; /* the system with the largest `equation` */
  int worst_interaction; /* the interaction with the largest output residual */
} NsStepResidual;

/* What a step must pass. */
typedef struct NsStepTolerance {
  double rtol, atol; /* atol: what of an unknown, or of an output, counts as 0, in its units */
  double solver;     /* what the one-step problem's solver left, at most what it was asked for: no test is tighter than that */
  bool late;         /* the iteration is slow: an iterate that does not pass is measured with the Jacobians there, too */
  bool damped;       /* iterates are chosen by their measure: the sizes of unknowns only grow from one to the next */
  double absolute;   /* an iterate with |rho| and |gap| up to this, in the units of their rows, passes, too; 0: none does */
} NsStepTolerance;

/* What `equation` may be at a tolerance. */
double ns_step_violation(double rtol);

/*
** The size that a difference of an output or of an unknown is compared with: its own, or, where that is more, as much of what
** the multipliers make of it that rtol of it is what their solver left.
*/
double ns_step_size(const NsStepTolerance *tolerance, double own, double of_multipliers);

bool ns_step_converged(const NsStepResidual *r, const NsStepTolerance *tolerance);

/* Whether all but `equation` is within the tolerance. */
bool ns_step_only_rows_miss(const NsStepResidual *r, const NsStepTolerance *tolerance);

/* The measure that misses its tolerance by the largest factor, and whose it is. */
typedef struct NsStepMiss {
  double value, tolerance;
  bool of_output; /* index is that of an interaction, else of a system */
  int index;
} NsStepMiss;

NsStepMiss ns_step_miss(const NsStepResidual *r, const NsStepTolerance *tolerance);

/*
** The equations that one matrix W joins, at an iterate; n numbers each.
** `terms`: sum of the sizes of the terms of each row. `noise`: sum of the sizes whose rounding the row may show beside
** that of its terms, as sum |W_ij| scale_j, since unknown j is known to eps scale_j only. `scale`: the own size of each.
*/
typedef struct NsStepBlock {
  int n;
  const NsLu *lu; /* factors of W */
  const double *rho, *terms, *noise, *scale;
  double *delta, *work; /* n each, written: W^-1 rho; scratch */
} NsStepBlock;

/* Relative residuals below this are rounding for every use that is made of them: ten times eps. */
#define NS_STEP_FINE 2.2e-15

/*
** max_j of what |(W^-1 rho)_j| is above atol and above rounding, over scale_j; *worst is the unknown. Rounding is
** c eps sum_i |W^-1_ji| (terms_i + noise_i), found by one solve for each unknown that needs it: none where every value is
** below NS_STEP_FINE without it. NaN when a number is. Fills delta.
*/
double ns_step_unknowns(const NsStepBlock *b, double atol, int *worst);

/* Rounding of a sum of n terms that callbacks make, over the sum of their sizes: c eps. */
double ns_step_roundings(int n);

/*
** |rho_i| of one row, less the rounding of terms + noise, over its terms; n is the order of its W. That rounding counts up to
** 1e-7 of `most`: where a derivative is infinite, eps times it is no bound of what rounding does to the function (the root
** of eps is, for a root).
*/
double ns_step_row(double rho, double terms, double noise, double most, int n);

/* What of |gap| is above atol, over the size of that row. */
double ns_step_output(double gap, double size, double atol);

/* Each keeps the larger of a value and what was found before; NaN is largest. */
void ns_step_add_state(NsStepResidual *r, double value, int ds);
void ns_step_add_equation(NsStepResidual *r, double value, int ds);
void ns_step_add_output(NsStepResidual *r, double value, int interaction);

/* out_i += |factor| sum_j |A_ij| |x_j| over a rows x cols matrix. */
void ns_step_add_sizes(double factor, int rows, int cols, const double *A, int lda, const double *x, double *out);

/* The largest of `most` and |factor A_ij x_j| over row i of a matrix with so many columns. */
double ns_step_largest(double factor, int cols, const double *A, int lda, int i, const double *x, double most);

/* Gives each of three numbers, which have one unit, the largest of them. */
void ns_step_join(double *three);

/* max_j |v_j| / scale_j over the unknowns whose scale is not 0: a size without units. */
double ns_step_relative(int n, const double *v, const double *scale);

#endif
