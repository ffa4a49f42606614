/*
** residual.h
** How well a candidate solves a box problem: natural residual, its relative form, componentwise backward error.
*/
#pragma once

#include <math.h>

#include "base/arena.h"
#include "linalg/sparse.h"
#include "solvers/box/box.h"

/* The point of [lower, upper] nearest to x. */
static inline double ns_box_clamp(double x, double lower, double upper) {
  return x < lower ? lower : x > upper ? upper : x;
}

/* The larger and the smaller of two numbers; inline, since fmax may be a call. When a is NaN the result is b. */
static inline double ns_larger(double a, double b) {
  return a > b ? a : b;
}

static inline double ns_smaller(double a, double b) {
  return a < b ? a : b;
}

/* The violation of a component: 0, |w|, or the part of w with a wrong sign at a bound; INFINITY outside of the bounds. */
static inline double ns_box_violation(double z, double w, double lower, double upper) {
  if (!(z >= lower && z <= upper)) return INFINITY;
  return (w >= 0 && z == lower) || (w <= 0 && z == upper) ? 0 : fabs(w);
}

/* Whether z = 0 solves a problem of n variables, whatever M is. */
bool ns_box_zero_solves(int n, const double *q, const double *lower, const double *upper);

/* w = M z + q and size = |M| |z| + |q|, both of n. */
void ns_box_product(const NsBoxProblem *p, const double *z, double *w, double *size);

/*
** Natural residual max_i |z_i - proj(z_i - rho_i w_i)| for w (n, normally M z + q), in the units of z. rho_i = 1 / M_ii where
** M_ii > 0, else 1 / max_j |M_ij|, else 1. *relative (may be NULL) is the residual over max(max_i |z_i|, max_i rho_i |q_i|,
** DBL_MIN): it does not change when all z, or all w, are measured in another unit. NaN in z or w gives INFINITY.
** Facchinei and Pang 2003, section 1.5.
*/
double ns_box_residual(const NsBoxProblem *p, const double *z, const double *w, double *relative);

/* The natural residual with rho = 1, not scaled: max_i |z_i - proj(z_i - w_i)|; NaN when an entry is NaN. */
double ns_box_plain_residual(int n, const double *lower, const double *upper, const double *z, const double *w);

/* The larger of `so_far` and the largest |x_i|. */
double ns_largest(int n, const double *x, double so_far);

/* Workspace of ns_box_lost. */
typedef struct NsLost {
  double *data;         /* n: terms of a row that data explain */
  bool *open, *reached; /* n: rows that are equations; variables that data explain */
} NsLost;

/* Allocates for up to nmax variables from the arena; check the arena's `failed`. */
void ns_lost_take(NsLost *lost, NsArena *arena, ptrdiff_t nmax);

/*
** Whether z is a false answer: far out along a direction d with M d = 0, the terms of M z cancel, and q no longer counts. Such a point solves the
** problem with q = 0, and ns_box_backward accepts it for any q. The terms of a true answer come from data: q, variables at bounds other than 0, and
** each variable in an equation (w_i = 0 but for 1e-8 of the terms) of whose terms more than 1e-8 are data. The others are the lost equations. z is
** false where there are some with data, and these data are all lost in rounding, or |w| is wrong by a tenth of the data in one of them, or, as a part
** of the terms, by a hundredth of the largest part that data are. Each row is judged by its own terms: units don't matter.
** M: the matrix where it is sparse; NULL: that of p.
*/
bool ns_box_lost(NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *w, const double *size);

/*
** A stricter test: whether |w| is wrong by 1e-6 of the data of a row, q and variables at bounds other than 0, where these are at most 1e-8 of its terms.
** It may refuse a true answer where data are rounding, and finds false ones of saddle systems with tiny entries that ns_box_lost takes for true.
*/
bool ns_box_misses(NsLost *lost, const NsBoxProblem *p, const NsSparse *M, const double *z, const double *w,
                   const double *size);

/*
** Whether w is wrong by at least 1e-2 max_i |q_i| in a row where that is at most 1e-8 of the terms; a variable at a bound other than 0 is data as q
** is. Rows are weighed by rho (NULL: 1).
*/
bool ns_box_far_out(const NsBoxProblem *p, const double *z, const double *w, const double *size, const double *rho);

/*
** Componentwise backward error: the smallest e such that z (inside its bounds) solves exactly a problem whose
** entries of M and q differ from the given ones by at most e relatively:
**   max_i v_i / (|M| |z| + |q|)_i, with 0 / 0 = 0,
** where v_i = |w_i| for z_i strictly between its bounds, and the wrong-signed part of w_i for z_i at a bound. No scaling of
** rows and columns changes it, and narrow boxes do not hide a wrong answer. An exact answer has a few 1e-16. A row whose terms
** are below p->faded counts as 0. INFINITY when z leaves its bounds or a number is NaN. w and size come from ns_box_product.
** Oettli and Prager, Numer. Math. 6, 1964; Higham, Accuracy and Stability, 2nd ed., theorem 7.3.
*/
double ns_box_backward(const NsBoxProblem *p, const double *z, const double *w, const double *size);

/* Cleans an accepted answer: sets w_i to exactly 0 between bounds, and at a bound where rounding gave it the wrong sign. */
void ns_box_clean(const NsBoxProblem *p, const double *z, double *w);
