/*
** residual.h
** How well a candidate solves a box problem: natural residual, its relative form, componentwise backward error.
*/
#ifndef NS_SOLVERS_RESIDUAL_H
#define NS_SOLVERS_RESIDUAL_H

#include <math.h>

#include "solvers/box/box.h"

/* The point of [lower, upper] nearest to x. */
static inline double ns_box_clamp(double x, double lower, double upper) {
  return x < lower ? lower : x > upper ? upper : x;
}

/* The larger and the smaller of two numbers, inlined where fmax would be a call; a NaN in a is passed over. */
static inline double ns_larger(double a, double b) {
  return a > b ? a : b;
}

static inline double ns_smaller(double a, double b) {
  return a < b ? a : b;
}

/* What is wrong with a component: |w| or its wrong-signed part; INFINITY outside of the bounds. */
static inline double ns_box_violation(double z, double w, double lower, double upper) {
  if (!(z >= lower && z <= upper)) return INFINITY;
  return (w >= 0 && z == lower) || (w <= 0 && z == upper) ? 0 : fabs(w);
}

/* Whether z = 0 solves a problem of n variables, whatever M is. */
bool ns_box_zero_solves(int n, const double *q, const double *lower, const double *upper);

/* w = M z + q and size = |M| |z| + |q|, both of n. */
void ns_box_product(const NsBoxProblem *p, const double *z, double *w, double *size);

/*
** Natural residual max_i |z_i - proj(z_i - rho_i w_i)| for w (n, normally M z + q), in the units of z. rho_i = 1 /
** M_ii where M_ii > 0, else 1 / max_j |M_ij|, else 1. *relative (may be NULL) is the residual over max(max_i |z_i|,
** max_i rho_i |q_i|, DBL_MIN): it does not change when all z, or all w, are measured in another unit. NaN in z or w
** gives INFINITY.
** Facchinei and Pang 2003, section 1.5.
*/
double ns_box_residual(const NsBoxProblem *p, const double *z, const double *w, double *relative);

/* The same with rho = 1 in the units given: max_i |z_i - proj(z_i - w_i)|; NaN when there is one. */
double ns_box_plain_residual(int n, const double *lower, const double *upper, const double *z, const double *w);

/* The larger of `so_far` and the largest |x_i|. */
double ns_largest(int n, const double *x, double so_far);

/*
** Whether an answer is so far out along a direction of which M makes nothing that the problem is lost in it: every q_i that is not
** 0 is at most 1e-8 of the terms of its row, and rounding has swallowed them all, or w is wrong by a tenth of some of them. Such
** a point solves the problem without q; it passes ns_box_backward, whatever q is, where the terms cancel. False where a
** variable lies at a bound other than 0: then the bound is what the terms are made of. In `balanced` units, in which the rows may
** be compared, it is also one when w is wrong, in a row whose terms cancel so, by a hundredth of the largest q.
*/
bool ns_box_lost(const NsBoxProblem *p, const double *z, const double *w, const double *size, bool balanced);

/*
** Whether w is wrong, in a row of whose terms that is 1e-8 at most, by a hundredth of the largest q, rows weighed by rho (NULL: 1): the
** part of ns_box_lost that compares rows. False where a variable lies at a bound other than 0.
*/
bool ns_box_far_out(const NsBoxProblem *p, const double *z, const double *w, const double *size, const double *rho);

/*
** Componentwise backward error: the smallest e such that z (inside its bounds) solves exactly a problem whose
** entries of M and q differ from the given ones by at most e relatively. With v_i = |w_i| for z_i strictly between
** its bounds, and the wrong-signed part of w_i at a bound, it is max_i v_i / (|M| |z| + |q|)_i, 0/0 being 0. It is
** unchanged by any scaling of rows and columns, narrow boxes do not hide a wrong answer, and an exact answer has a
** few times 1e-16. Rows of faded terms (box.h) count as nothing. INFINITY when z leaves its bounds or something is NaN. w and size as from ns_box_product. Oettli
** and Prager, Numer. Math. 6, 1964; Higham, Accuracy and Stability, 2nd ed., theorem 7.3.
*/
double ns_box_backward(const NsBoxProblem *p, const double *z, const double *w, const double *size);

/* Sets w_i of an accepted answer to the exact 0 between bounds and where its sign is wrong by rounding. */
void ns_box_clean(const NsBoxProblem *p, const double *z, double *w);

#endif
