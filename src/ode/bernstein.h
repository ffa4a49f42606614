/*
** bernstein.h
** Polynomials on [0, 1] in Bernstein form: certain bounds, signs and roots of functions of one variable.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
** A polynomial of degree n <= NS_BERNSTEIN_DEGREE has n + 1 coefficients b:
**   p(x) = sum of b[k] C(n, k) x^k (1 - x)^(n - k),  b[0] = p(0),  b[n] = p(1),  min b <= p(x) <= max b.
** The number of roots in (0, 1), with multiplicity, is the number of sign changes in b, or less by an even number. Both facts
** hold for each half after ns_bernstein_split, and become sharp on short pieces: no root is lost, not even a double one, and a
** piece without roots is soon recognised. Farin, Curves and Surfaces for CAGD, 5th ed., 2002, chapters 4 to 6.
*/
enum { NS_BERNSTEIN_DEGREE = 8, NS_BERNSTEIN_SIZE = NS_BERNSTEIN_DEGREE + 1 };

/* b (rows + 1) = the coefficients of one component of a dense output (ns_dense_at): start: its value at 0, F: its rows. */
void ns_bernstein_of_dense(double start, int rows, const double *F, double *b);

/* The k-th of the NS_BERNSTEIN_SIZE Chebyshev-Lobatto points in [0, 1]: 0, 0.038, 0.146, ... 1. */
double ns_bernstein_node(int k);

/* The nodes at which the defect of a dense output is looked at: the start, then the 3rd, 5th and 7th. */
enum { NS_DEFECTS = 4 };
static inline int ns_defect_node(int i) {
  return 2 * i;
}

/*
** b (NS_BERNSTEIN_SIZE) = the coefficients of the polynomial of degree NS_BERNSTEIN_DEGREE with the values v at the nodes.
** Returns an estimate of the interpolation error for a function that the nodes resolve: the size of the last three Chebyshev
** coefficients, without those that are only rounding (below 4 spacings of the largest value). Trefethen, Approximation Theory
** and Approximation Practice, 2013, chapters 4 and 8.
*/
double ns_bernstein_interpolate(const double *v, double *b);

/*
** The polynomials whose values at the nodes are in `nodes`, the values at a node `stride` after the values at the node before.
** between: out (count) = their values at x. measure: of the first one the error above, the largest |value| at a node, and
** NS_BERNSTEIN_SIZE times its integral.
*/
typedef struct NsBernsteinMeasure {
  double error, most, sum;
} NsBernsteinMeasure;
void ns_bernstein_between(const double *nodes, ptrdiff_t stride, ptrdiff_t count, double x, double *out);
NsBernsteinMeasure ns_bernstein_measure(const double *nodes, ptrdiff_t stride);

/*
** Safety factor: the interpolation error is taken to be at most this many times the estimate of ns_bernstein_interpolate. A
** factor 4 covers a function with a kink: its coefficients decay as 1/k^2, those left out are 2 times the last three, and
** aliasing doubles them. A factor 2 more is margin.
*/
enum { NS_BERNSTEIN_SAFETY = 8 };

/* The value and the slope at x, 0 <= x <= 1. */
double ns_bernstein_at(int n, const double *b, double x);
double ns_bernstein_slope(int n, const double *b, double x);

/* Splits at 1/2: b becomes the left half, `right` (n + 1) the right half, each over [0, 1] again. */
void ns_bernstein_split(int n, double *b, double *right);

/* The number of sign changes among the coefficients; zeros are skipped. */
int ns_bernstein_changes(int n, const double *b);

/* b (n numbers, of degree n - 1) = (p(x) - p(0)) / x: removes a root at 0. */
void ns_bernstein_divide(int n, double *b);

/* *x = the first point in [0, 1] with p(x) <= 0, to the spacing of numbers at 1; false when there is none, or p is not finite behind a start above 0. */
bool ns_bernstein_first(int n, const double *b, double *x);
