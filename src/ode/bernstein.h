/*
** bernstein.h
** Functions of one variable on [0, 1] as polynomials in Bernstein's form, whose signs and roots can be told for certain.
*/
#ifndef NS_ODE_BERNSTEIN_H
#define NS_ODE_BERNSTEIN_H

#include <stdbool.h>

/*
** A polynomial of degree n <= NS_BERNSTEIN_DEGREE is given by n + 1 coefficients b: p(x) = sum of b[k] C(n, k) x^k (1 - x)^(n - k).
** It lies between the least and the largest of them, b[0] = p(0), b[n] = p(1), and it has at most as many roots in (0, 1) as b has
** changes of sign, counted with multiplicity, the difference being even. Both hold for each half after ns_bernstein_split, and
** are sharp when the pieces are short: so no root and no double root is lost, and what has none is soon known to have none.
** Farin, Curves and Surfaces for CAGD, 5th ed., 2002, chapters 4 to 6.
*/
enum { NS_BERNSTEIN_DEGREE = 8, NS_BERNSTEIN_SIZE = NS_BERNSTEIN_DEGREE + 1 };

/* b (rows + 1) of one component of the dense output that ns_dense_at takes: its value at 0 and its `rows` numbers. */
void ns_bernstein_of_dense(double start, int rows, const double *F, double *b);

/* The k-th of the NS_BERNSTEIN_SIZE points of Chebyshev and Lobatto in [0, 1]: 0, 0.038, 0.146, ... 1. */
double ns_bernstein_node(int k);

/*
** b (NS_BERNSTEIN_SIZE) of the polynomial of degree NS_BERNSTEIN_DEGREE that has the values v at the nodes. Returns an estimate of how
** far it is from a function that the nodes resolve: the size of its last three Chebyshev coefficients. Coefficients that are rounding alone (below 4
** spacings of the largest value) are left out. Trefethen, Approximation Theory and Approximation Practice, 2013, chapters 4, 8.
*/
double ns_bernstein_interpolate(const double *v, double *b);

/*
** How many times that estimate the interpolation may be off: 4 of a function with a kink, whose coefficients decay as 1/k^2 (those
** that are left out are 2 times the last three, and fold back on these), and 2 more for chance.
*/
enum { NS_BERNSTEIN_SAFETY = 8 };

/* The value and the slope at x, 0 <= x <= 1. */
double ns_bernstein_at(int n, const double *b, double x);
double ns_bernstein_slope(int n, const double *b, double x);

/* Splits at 1/2: b becomes the left half, `right` (n + 1) the right one, each over [0, 1] again. */
void ns_bernstein_split(int n, double *b, double *right);

/* The changes of sign among the coefficients; zeros are passed over. */
int ns_bernstein_changes(int n, const double *b);

/* b (n numbers, of degree n - 1) = (p(x) - p(0)) / x: the form in which a root at 0 is taken out. */
void ns_bernstein_divide(int n, double *b);

/* The first x in [0, 1] at which the polynomial is 0 or less, to the spacing of numbers at 1; false when there is none. */
bool ns_bernstein_first(int n, const double *b, double *x);

#endif
