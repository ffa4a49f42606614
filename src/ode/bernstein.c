/*
** bernstein.c
** The Bernstein form: conversion from dense output and from values, halving, sign changes, first root.
*/
#include "ode/bernstein.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  N = NS_BERNSTEIN_DEGREE,
  HALVINGS = 52 /* halvings until a piece is as short as the spacing of numbers at 1 */
};

/* C(n, k). */
static const double binomial[N + 1][N + 1] = {
    {1},
    {1, 1},
    {1, 2, 1},
    {1, 3, 3, 1},
    {1, 4, 6, 4, 1},
    {1, 5, 10, 10, 5, 1},
    {1, 6, 15, 20, 15, 6, 1},
    {1, 7, 21, 35, 35, 21, 7, 1},
    {1, 8, 28, 56, 70, 56, 28, 8, 1},
};

/* cos(pi k / 8). */
static const double cosines[N + 1] = {1, 0.92387953251128675613,  0.70710678118654752440,  0.38268343236508977173,
                                      0, -0.38268343236508977173, -0.70710678118654752440, -0.92387953251128675613,
                                      -1};

/* Row j: the Chebyshev polynomial T_j(2 x - 1) in Bernstein form of degree 8. */
static const double chebyshev[N + 1][N + 1] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1},
    {-1, -3. / 4, -1. / 2, -1. / 4, 0, 1. / 4, 1. / 2, 3. / 4, 1},
    {1, 0, -5. / 7, -8. / 7, -9. / 7, -8. / 7, -5. / 7, 0, 1},
    {-1, 5. / 4, 25. / 14, 33. / 28, 0, -33. / 28, -25. / 14, -5. / 4, 1},
    {1, -3, -9. / 7, 11. / 7, 99. / 35, 11. / 7, -9. / 7, -3, 1},
    {-1, 21. / 4, -39. / 14, -143. / 28, 0, 143. / 28, 39. / 14, -21. / 4, 1},
    {1, -8, 13, 0, -429. / 35, 0, 13, -8, 1},
    {-1, 45. / 4, -65. / 2, 143. / 4, 0, -143. / 4, 65. / 2, -45. / 4, 1},
    {1, -15, 65, -143, 1287. / 7, -143, 65, -15, 1},
};

/* Row f of dense output multiplies x^p (1 - x)^s, p = f/2 + 1, s = (f + 1)/2, whose coefficients are all 0 or positive. */
void ns_bernstein_of_dense(double start, int rows, const double *F, double *b) {
  for (int k = 0; k <= rows; k++) b[k] = start;
  for (int f = 0; f < rows; f++) {
    int p = f / 2 + 1, s = (f + 1) / 2;
    for (int k = p; k <= rows - s; k++) b[k] += F[f] * (binomial[rows - p - s][k - p] / binomial[rows][k]);
  }
}

double ns_bernstein_node(int k) {
  return 0.5 - 0.5 * cosines[k];
}

/* cos(pi j k / 8). */
static double cosine(int j, int k) {
  int m = j * k % (2 * N);
  return cosines[m <= N ? m : 2 * N - m];
}

/* Chebyshev coefficient j of the interpolant of the values at the nodes. */
static double chebyshev_part(const double *v, int j) {
  double sum = 0.5 * (v[0] * cosine(j, N) + v[N]);
  for (int k = 1; k < N; k++) sum += v[k] * cosine(j, N - k);
  return sum * (j == 0 || j == N ? 1. / N : 2. / N);
}

double ns_bernstein_interpolate(const double *v, double *b) {
  double most = 0, last = 0;
  for (int k = 0; k <= N; k++) {
    most = fmax(most, fabs(v[k]));
    b[k] = 0;
  }
  for (int j = 0; j <= N; j++) {
    double c = chebyshev_part(v, j);
    if (j >= N - 2) last += fabs(c);
    if (fabs(c) <= 4 * DBL_EPSILON * most) continue;
    for (int k = 0; k <= N; k++) b[k] += c * chebyshev[j][k];
  }
  b[0] = v[0];
  b[N] = v[N];
  return last;
}

/*
** The barycentric formula at Chebyshev-Lobatto points: weights 1, -1, 1, ... and half of that at both ends. Berrut and
** Trefethen, SIAM Review 46(3), 2004.
*/
void ns_bernstein_between(const double *nodes, ptrdiff_t stride, ptrdiff_t count, double x, double *out) {
  double weight[NS_BERNSTEIN_SIZE], sum = 0;
  memset(out, 0, (size_t)count * sizeof *out);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) {
    double off = x - ns_bernstein_node(k), end = k == 0 || k == NS_BERNSTEIN_DEGREE ? 0.5 : 1;
    if (off == 0) {
      memcpy(out, nodes + k * stride, (size_t)count * sizeof *out);
      return;
    }
    sum += weight[k] = (k % 2 ? -end : end) / off;
  }
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++)
    for (ptrdiff_t i = 0; i < count; i++) out[i] += weight[k] / sum * nodes[i + k * stride];
}

NsBernsteinMeasure ns_bernstein_measure(const double *nodes, ptrdiff_t stride) {
  double v[NS_BERNSTEIN_SIZE], b[NS_BERNSTEIN_SIZE];
  NsBernsteinMeasure measure = {0, 0, 0};
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) v[k] = nodes[k * stride], measure.most = fmax(measure.most, fabs(v[k]));
  if (measure.most == 0) return measure;
  measure.error = ns_bernstein_interpolate(v, b);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) measure.sum += b[k];
  return measure;
}

double ns_bernstein_at(int n, const double *b, double x) {
  double c[NS_BERNSTEIN_SIZE];
  memcpy(c, b, (size_t)(n + 1) * sizeof *c);
  for (int m = n; m > 0; m--)
    for (int k = 0; k < m; k++) c[k] = (1 - x) * c[k] + x * c[k + 1];
  return c[0];
}

double ns_bernstein_slope(int n, const double *b, double x) {
  double d[NS_BERNSTEIN_SIZE] = {0};
  for (int k = 0; k < n; k++) d[k] = n * (b[k + 1] - b[k]);
  return n > 0 ? ns_bernstein_at(n - 1, d, x) : 0;
}

void ns_bernstein_split(int n, double *b, double *right) {
  memcpy(right, b, (size_t)(n + 1) * sizeof *b);
  for (int m = 1; m <= n; m++) {
    for (int k = 0; k <= n - m; k++) right[k] = 0.5 * right[k] + 0.5 * right[k + 1];
    b[m] = right[0];
  }
}

int ns_bernstein_changes(int n, const double *b) {
  int changes = 0;
  double last = 0;
  for (int k = 0; k <= n; k++) {
    if (b[k] == 0) continue;
    if (last != 0 && (b[k] < 0) != (last < 0)) changes++;
    last = b[k];
  }
  return changes;
}

void ns_bernstein_divide(int n, double *b) {
  double start = b[0];
  for (int k = 0; k < n; k++) b[k] = (b[k + 1] - start) * n / (k + 1);
}

static bool bernstein_positive(int n, const double *b) {
  for (int k = 0; k <= n; k++)
    if (!(b[k] > 0)) return false;
  return true;
}

/* *x = the first root in [from, from + width], the interval of the polynomial b; overwrites b. */
static bool bernstein_search(int n, double *b, double from, double width, int halvings, double *x) {
  double right[NS_BERNSTEIN_SIZE];
  if (b[0] <= 0) return *x = from, true;
  if (bernstein_positive(n, b)) return false;
  if (halvings == 0) return *x = from + width, b[n] <= 0;
  ns_bernstein_split(n, b, right);
  return bernstein_search(n, b, from, width / 2, halvings - 1, x) ||
         bernstein_search(n, right, from + width / 2, width / 2, halvings - 1, x);
}

bool ns_bernstein_first(int n, const double *b, double *x) {
  double room[NS_BERNSTEIN_SIZE];
  for (int k = 0; k <= n && b[0] > 0; k++)
    if (!isfinite(b[k])) return false; /* no part can be told to be positive: the search would halve all of them */
  memcpy(room, b, (size_t)(n + 1) * sizeof *b);
  return bernstein_search(n, room, 0, 1, HALVINGS, x);
}
