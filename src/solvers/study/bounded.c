/*
** bounded.c
** Running error bounds for elimination.
*/
#include "solvers/study/bounded.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static size_t bounded_at(const NsBounded *A, int i, int j) {
  return (size_t)i + (size_t)j * (size_t)A->n;
}

NsSign ns_bounded_sign(const NsBounded *A, int i, int j) {
  double v = A->v[bounded_at(A, i, j)], e = A->e[bounded_at(A, i, j)];
  if (v > e) return NS_POSITIVE;
  if (v < -e) return NS_NEGATIVE;
  return v == 0 && e == 0 ? NS_ZERO : NS_UNSURE;
}

/* x - y; adds its rounding error to *e. */
static double difference(double x, double y, double *e) {
  double d = x - y, back = d - x;
  *e += fabs((x - (d - back)) - (y + back));
  return d;
}

/* One entry a - q b of the complement, with the quotient q of error eq. */
static double bounded_entry(double a, double ea, double q, double eq, double b, double eb, double *e) {
  double p = q * b;
  *e = ea + fabs(fma(q, b, -p)) + fabs(q) * eb + eq * (fabs(b) + eb);
  double d = difference(a, p, e);
  *e *= 1 + 1e-12;
  return d;
}

void ns_bounded_schur(const NsBounded *A, NsBounded *to) {
  double pivot = A->v[0], off = A->e[0];
  to->n = A->n - 1;
  for (int i = 1; i < A->n; i++) {
    double x = A->v[bounded_at(A, i, 0)], ex = A->e[bounded_at(A, i, 0)], q = x / pivot;
    double eq = (fabs(fma(q, pivot, -x)) + ex + fabs(q) * off) / (fabs(pivot) - off);
    for (int j = 1; j < A->n; j++) {
      size_t from = bounded_at(A, i, j), top = bounded_at(A, 0, j), place = bounded_at(to, i - 1, j - 1);
      to->v[place] = bounded_entry(A->v[from], A->e[from], q, eq, A->v[top], A->e[top], &to->e[place]);
    }
  }
}

void ns_bounded_rest(const NsBounded *A, NsBounded *to) {
  to->n = A->n - 1;
  for (int j = 1; j < A->n; j++)
    for (int i = 1; i < A->n; i++) {
      to->v[bounded_at(to, i - 1, j - 1)] = A->v[bounded_at(A, i, j)];
      to->e[bounded_at(to, i - 1, j - 1)] = A->e[bounded_at(A, i, j)];
    }
}

void ns_bounded_take(int n, const double *M, int count, const int *index, NsBounded *to) {
  to->n = count;
  for (int j = 0; j < count; j++)
    for (int i = 0; i < count; i++) {
      to->v[bounded_at(to, i, j)] = M[index[i] + (size_t)index[j] * (size_t)n];
      to->e[bounded_at(to, i, j)] = 0;
    }
}

int ns_bounded_pivot(NsBounded *A, int rows) {
  int best = 0;
  for (int i = 1; i < rows; i++)
    if (fabs(A->v[bounded_at(A, i, 0)]) - A->e[bounded_at(A, i, 0)] >
        fabs(A->v[bounded_at(A, best, 0)]) - A->e[bounded_at(A, best, 0)])
      best = i;
  for (int j = 0; j < A->n && best > 0; j++) {
    size_t a = bounded_at(A, 0, j), b = bounded_at(A, best, j);
    double v = A->v[a], e = A->e[a];
    A->v[a] = A->v[b], A->e[a] = A->e[b];
    A->v[b] = v, A->e[b] = e;
  }
  return best > 0;
}

/* Whether column 0 is certainly 0. */
static int zero_column(const NsBounded *A) {
  for (int i = 0; i < A->n; i++)
    if (ns_bounded_sign(A, i, 0) != NS_ZERO) return 0;
  return 1;
}

NsSign ns_bounded_det_sign(NsBounded *A, NsBounded *spare) {
  int sign = 1;
  NsBounded now = *A, next = *spare;
  while (now.n > 0) {
    if (zero_column(&now)) return NS_ZERO;
    if (ns_bounded_pivot(&now, now.n)) sign = -sign;
    NsSign s = ns_bounded_sign(&now, 0, 0);
    if (s != NS_POSITIVE && s != NS_NEGATIVE) return NS_UNSURE;
    sign *= (int)s;
    ns_bounded_schur(&now, &next);
    NsBounded swap = now;
    now = next;
    next = swap;
  }
  return (NsSign)sign;
}

/* ---- integers ---- */

__extension__ typedef __int128 Wide;

enum { DIGITS = 53 };

/* The exponent of the lowest bit of x, which is not 0. */
static int lowest_bit(double x) {
  int e;
  int64_t digits = (int64_t)ldexp(frexp(fabs(x), &e), DIGITS);
  for (e -= DIGITS; (digits & 1) == 0; digits >>= 1) e++;
  return e;
}

/* The entries as integers over a common power of 2; false unless they are so small that every minor fits into 62 bits. */
static bool integers(int n, const double *M, int count, const int *index, int64_t A[][NS_EXACT_MINOR]) {
  int low = 0;
  double largest = 0;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) {
      double x = M[index[i] + (size_t)index[j] * (size_t)n];
      if (x != 0 && (largest == 0 || lowest_bit(x) < low)) low = lowest_bit(x);
      largest = fmax(largest, fabs(x));
    }
  if (largest == 0) low = 0;
  if (largest > 0 && count * (log2(largest) - low + 0.5 * log2(count)) > 62) return false;
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++) A[i][j] = (int64_t)ldexp(M[index[i] + (size_t)index[j] * (size_t)n], -low);
  return true;
}

static NsSign integer_sign(int n, int64_t A[][NS_EXACT_MINOR]) {
  int64_t before = 1;
  int sign = 1;
  for (int k = 0; k < n; k++) {
    int row = k;
    while (row < n && A[row][k] == 0) row++;
    if (row == n) return NS_ZERO;
    for (int j = k; j < n && row != k; j++) {
      int64_t swap = A[k][j];
      A[k][j] = A[row][j], A[row][j] = swap;
    }
    if (row != k) sign = -sign;
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) A[i][j] = (int64_t)(((Wide)A[i][j] * A[k][k] - (Wide)A[i][k] * A[k][j]) / before);
    before = A[k][k];
  }
  return before > 0 ? (NsSign)sign : (NsSign)-sign;
}

NsSign ns_minor_sign(int n, const double *M, int count, const int *index, NsBounded *a, NsBounded *b) {
  int64_t A[NS_EXACT_MINOR][NS_EXACT_MINOR];
  ns_bounded_take(n, M, count, index, a);
  NsSign sign = ns_bounded_det_sign(a, b);
  if (sign != NS_UNSURE || !integers(n, M, count, index, A)) return sign;
  return integer_sign(count, A);
}
