/*
** lu.c
** Dense LU: scaled partial pivoting up to order 16, dgetrf above; unit-independent pivots; blocked LU without row exchanges.
*/
#include "linalg/lu.h"

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/dense.h"
#include "linalg/small.h"

/*
** SMALL: largest order that the own code factors; NARROW: largest width of a block of columns that loops eliminate. Below these
** sizes a call of LAPACK or BLAS costs more than it saves.
*/
enum { SMALL = 16, NARROW = 8 };

/*
** ROUNDS: sweeps over rows and columns that find the units of the unknowns (a third sweep changes few exponents).
** MOST_EXPONENT: units stay in 2^-1000 .. 2^1000, the range of a double.
*/
enum { ROUNDS = 2, MOST_EXPONENT = 1000 };

/*
** In units that find_units has found, row k is kept unless another pivot is more than unit_slack times larger: the units are
** powers of two and not exact, so pivots within this factor count as equal. Chosen by experience.
*/
static const double unit_slack = 4;

struct NsLu {
  NsArena arena;
  double *a;      /* n x n: L below the diagonal, U on and above it */
  double *scale;  /* n: largest entry of each row of A */
  double *weight; /* n: 1 / scale, 0 for a row of zeros */
  double *unit;   /* n: unit of each unknown, a power of two; 1 except after ns_lu_factor_fair */
  double *power;  /* n: factor of each row of A, a power of two; used when `fair` and n > SMALL */
  double *work;   /* 4n: workspace of dgecon */
  double *more;   /* 3 (n + 1): workspace of find_units_by_product */
  lapack_int *pivot, *iwork;
  int *row_exponent, *column_exponent, *queue; /* n, n, 2n */
  double norm;                                 /* 1-norm of A */
  int n, capacity, singular_row;
  bool fair;
};

NsStatus ns_lu_new(NsLu **out, int n) {
  *out = NULL;
  if (n < 0) return NS_EARG;
  if (n > 0 && (size_t)n > PTRDIFF_MAX / sizeof(double) / (size_t)n) return NS_ETOOLARGE;
  NsLu *lu = ns_alloc(1, sizeof *lu);
  if (!lu) return NS_ENOMEM;
  lu->n = lu->capacity = n;
  lu->singular_row = -1;
  lu->a = ns_arena_matrix(&lu->arena, n, n);
  NS_ARENA_VECTORS(&lu->arena, n, &lu->scale, &lu->weight, &lu->unit, &lu->power);
  lu->work = ns_arena_matrix(&lu->arena, 4, n);
  lu->more = ns_arena_matrix(&lu->arena, 3, (ptrdiff_t)n + 1);
  NS_ARENA_INTS(&lu->arena, n, &lu->row_exponent, &lu->column_exponent);
  lu->queue = ns_arena_ints(&lu->arena, 2 * (ptrdiff_t)n);
  lu->pivot = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->pivot);
  lu->iwork = ns_arena_take(&lu->arena, (size_t)n, sizeof *lu->iwork);
  if (lu->arena.failed) return ns_lu_free(lu), NS_ENOMEM;
  *out = lu;
  return NS_OK;
}

void ns_lu_free(NsLu *lu) {
  if (!lu) return;
  ns_arena_release(&lu->arena);
  ns_free(lu);
}

int ns_lu_order(const NsLu *lu) {
  return lu->n;
}

void ns_lu_set_order(NsLu *lu, int n) {
  lu->n = n < lu->capacity ? n : lu->capacity;
  lu->singular_row = -1;
}

int ns_lu_singular_row(const NsLu *lu) {
  return lu->singular_row;
}

void ns_lu_split(const NsLu *lu, double *P, double *L, double *U) {
  size_t n = (size_t)lu->n;
  for (size_t j = 0; j < n; j++)
    for (size_t i = 0; i < n; i++) {
      size_t at = i + j * n;
      P[at] = i == j;
      L[at] = i > j ? lu->a[at] : i == j;
      U[at] = i <= j ? lu->a[at] : 0;
    }
  for (size_t k = 0; k < n; k++) {
    size_t p = (size_t)lu->pivot[k] - 1;
    for (size_t j = 0; j < n; j++) {
      double x = P[k + j * n];
      P[k + j * n] = P[p + j * n], P[p + j * n] = x;
    }
  }
}

/* ---- the units of rows and unknowns ---- */

/* The biased binary exponent of a number that is not 0. */
static int lu_exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 52 & 0x7ff);
}

static double power_of_two(int e) {
  e = e > MOST_EXPONENT ? MOST_EXPONENT : e < -MOST_EXPONENT ? -MOST_EXPONENT : e;
  uint64_t bits = (uint64_t)(e + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/* Entry l of line k of A. A line is a row or a column. */
static double entry_of_line(const double *A, int lda, bool row, int k, int l) {
  return row ? A[(size_t)k + (size_t)l * (size_t)lda] : A[(size_t)l + (size_t)k * (size_t)lda];
}

/* Sets the exponents of the unknown lines that cross this line, so that the scaled crossing entry has exponent 0. */
static int cross_line(NsLu *lu, const double *A, int lda, int line, int count, signed char *known) {
  int n = lu->n;
  bool row = line < n;
  int k = row ? line : line - n, own = (row ? lu->row_exponent : lu->column_exponent)[k];
  int *others = row ? lu->column_exponent : lu->row_exponent;
  signed char *seen = row ? known + n : known;
  for (int l = 0; l < n; l++) {
    double x = seen[l] ? 0 : entry_of_line(A, lda, row, k, l);
    if (x == 0) continue;
    seen[l] = 1;
    others[l] = -(lu_exponent_of(x) + own);
    lu->queue[count++] = row ? n + l : l;
  }
  return count;
}

/*
** Finds exponents of rows and columns so that all entries along a spanning tree of the nonzeros get exponent 0. The tree
** depends on the pattern only. Scaling rows and columns of A by powers of two changes the exponents, but not the scaled
** matrix; so all later decisions that use the scaled matrix are independent of units.
*/
static void settle_units(NsLu *lu, const double *A, int lda) {
  signed char *known = (signed char *)lu->work; /* 2n: whether the exponent of a line is set */
  memset(known, 0, 2 * (size_t)lu->n);
  for (int i = 0, done = 0, count = 0; i < lu->n; i++) {
    if (known[i]) continue;
    known[i] = 1;
    lu->row_exponent[i] = 0;
    lu->queue[count++] = i;
    while (done < count) count = cross_line(lu, A, lda, lu->queue[done++], count, known);
  }
  for (int j = 0; j < lu->n; j++)
    if (!known[lu->n + j]) lu->column_exponent[j] = 0;
}

/* Shifts a line's exponent so that its smallest and largest scaled entries are equally far from 1. */
static void center_line(NsLu *lu, const double *A, int lda, bool row, int k) {
  int *own = (row ? lu->row_exponent : lu->column_exponent) + k, low = INT32_MAX, high = INT32_MIN;
  const int *others = row ? lu->column_exponent : lu->row_exponent;
  for (int l = 0; l < lu->n; l++) {
    double x = entry_of_line(A, lda, row, k, l);
    if (x == 0) continue;
    int e = lu_exponent_of(x) + others[l];
    if (e < low) low = e;
    if (e > high) high = e;
  }
  if (low > high) return;
  int sum = low + high;
  *own = -(sum >= 0 ? sum / 2 : -((1 - sum) / 2));
}

/* Finds units of the unknowns in which the entries of A are similar in size. */
static void find_units(NsLu *lu, const double *A, int lda) {
  settle_units(lu, A, lda);
  for (int k = 0; k < ROUNDS; k++) {
    for (int i = 0; i < lu->n; i++) center_line(lu, A, lda, true, i);
    for (int j = 0; j < lu->n; j++) center_line(lu, A, lda, false, j);
  }
  for (int j = 0; j < lu->n; j++) lu->unit[j] = power_of_two(lu->column_exponent[j] + 1023);
}

/* An exponent that no entry has: where A has a 0. */
static const int no_entry = 1 << 24;

/* The search for a transversal: in the units of settle_units, with the exponents that it adds. The last column is a start. */
typedef struct Transversal {
  int *of_column, *way,
      *left;         /* n + 1 each: the row of a column, -1: none; the column before it on the way; what is left to it */
  bool *seen;        /* n + 1 */
  int *row, *column; /* n, n + 1: exponents */
} Transversal;

/* Gives row k a column of its own, by the shortest way through the others. False when there is none. */
static bool extend_transversal(const NsLu *lu, const double *A, int lda, const Transversal *t, int k) {
  int n = lu->n, at = n;
  for (int j = 0; j <= n; j++) t->left[j] = no_entry, t->seen[j] = false;
  t->of_column[n] = k;
  while (t->of_column[at] >= 0) {
    int i = t->of_column[at], next = -1;
    t->seen[at] = true;
    for (int j = 0; j < n; j++) {
      double x = A[(size_t)i + (size_t)j * (size_t)lda];
      if (t->seen[j]) continue;
      int gap = x == 0 ? no_entry
                       : -(lu_exponent_of(x) + lu->row_exponent[i] + lu->column_exponent[j]) - t->row[i] - t->column[j];
      if (gap < t->left[j]) t->left[j] = gap, t->way[j] = at;
      if (t->left[j] < no_entry && (next < 0 || t->left[j] < t->left[next])) next = j;
    }
    if (next < 0) return false;
    int step = t->left[next];
    for (int j = 0; j <= n; j++) {
      if (t->seen[j]) t->row[t->of_column[j]] += step, t->column[j] -= step;
      else if (t->left[j] < no_entry) t->left[j] -= step;
    }
    at = next;
  }
  for (; at != n; at = t->way[at]) t->of_column[at] = t->of_column[t->way[at]];
  return true;
}

/*
** Finds units in which the entries of the transversal of the largest product are 1 and no other entry is larger (Duff and Koster,
** SIAM J. Matrix Anal. Appl. 22, 2001). Other than by find_units, entries that are too small to have an influence have none on the
** units. False: each transversal has a 0.
*/
static bool find_units_by_product(NsLu *lu, const double *A, int lda) {
  void *memory = lu->more;
  int n = lu->n, *room = memory;
  Transversal t = {room, room + n + 1, room + 2 * (n + 1), NULL, room + 3 * (n + 1), room + 4 * (n + 1)};
  t.seen = (bool *)(room + 5 * (n + 1));
  settle_units(lu, A, lda);
  for (int j = 0; j <= n; j++) t.of_column[j] = -1, t.row[j] = t.column[j] = 0;
  for (int k = 0; k < n; k++)
    if (!extend_transversal(lu, A, lda, &t, k)) return false;
  int low = INT32_MAX, high = INT32_MIN;
  for (int j = 0; j < n; j++) {
    int e = lu->column_exponent[j] += t.column[j];
    if (e < low) low = e;
    if (e > high) high = e;
  }
  int middle = low + (high - low) / 2; /* a common factor of all units has no influence */
  for (int j = 0; j < n; j++) lu->unit[j] = power_of_two(lu->column_exponent[j] - middle);
  return true;
}

/* Copies A; computes its row maxima (in the units of the unknowns) and its 1-norm. False when an entry is not finite. */
static int lu_load(NsLu *lu, const double *A, int lda) {
  int n = lu->n;
  double check = 0;
  lu->norm = 0;
  for (int i = 0; i < n; i++) lu->scale[i] = 0;
  for (int j = 0; j < n; j++) {
    const double *from = A + (size_t)j * (size_t)lda;
    double *to = lu->a + (size_t)j * (size_t)n, sum = 0, unit = lu->unit[j];
    for (int i = 0; i < n; i++) {
      double size = fabs(from[i]);
      to[i] = from[i];
      sum += size;
      if (size * unit > lu->scale[i]) lu->scale[i] = size * unit;
      check += from[i] * 0.0;
    }
    if (sum > lu->norm) lu->norm = sum;
  }
  for (int i = 0; i < n; i++) {
    double scale = lu->scale[i];
    lu->weight[i] = scale >= DBL_MIN ? 1 / scale : scale > 0 ? 1 / DBL_MIN : 0;
  }
  return check == 0;
}

/* Multiplies the rows of the copy by powers of two so that they have similar size, because dgetrf compares them unscaled. */
static void level_rows(NsLu *lu) {
  for (int i = 0; i < lu->n; i++) {
    lu->power[i] = lu->scale[i] > 0 ? power_of_two(1023 - lu_exponent_of(lu->scale[i])) : 1;
    for (int j = 0; j < lu->n; j++) lu->a[(size_t)i + (size_t)j * (size_t)lu->n] *= lu->power[i];
  }
}

/* The largest |entry| of column k of A, each divided by the maximum of its row; at most 1 in the unit of the unknown. */
static double lu_column_scale(const NsLu *lu, const double *A, int lda, int k) {
  const double *column = A + (size_t)k * (size_t)lda;
  double largest = 0;
  for (int i = 0; i < lu->n; i++) largest = fmax(largest, fabs(column[i]) * lu->weight[i]);
  return largest;
}

/* Whether pivot k, in this row of A, is zero up to rounding, infinite or nan. Reads the column only if the pivot is small. */
static int lu_negligible(const NsLu *lu, const double *A, int lda, double pivot, int row, int k) {
  double size = fabs(pivot), bound = 4.0 * lu->n * DBL_EPSILON * lu->scale[row];
  if (size * lu->unit[k] > bound && size <= DBL_MAX) return 0;
  return !(size <= DBL_MAX) || size <= bound * lu_column_scale(lu, A, lda, k);
}

/* ---- elimination ---- */

static void lu_swap_rows(double *a, int n, int p, int q) {
  for (int j = 0; j < n; j++) {
    double t = a[p + j * n];
    a[p + j * n] = a[q + j * n];
    a[q + j * n] = t;
  }
}

/* The row i >= k with the largest weighted entry in column k; row k if no entry is more than `slack` times larger. */
static int lu_choose_pivot(const double *column, const double *weight, int n, int k, double slack) {
  int best = k;
  double largest = fabs(column[k]) * weight[k] * slack;
  for (int i = k + 1; i < n; i++) {
    double size = fabs(column[i]) * weight[i];
    if (size > largest) best = i, largest = size;
  }
  return best;
}

/* Divides a column by the pivot. A subnormal pivot is not inverted, because its inverse would overflow. */
static void lu_divide(double *column, int from, int n, double pivot) {
  if (fabs(pivot) >= DBL_MIN) {
    double inverse = 1 / pivot;
    for (int i = from; i < n; i++) column[i] *= inverse;
  } else {
    for (int i = from; i < n; i++) column[i] /= pivot;
  }
}

static NsStatus lu_factor_small(NsLu *lu, const double *A, int lda, double slack) {
  int n = lu->n, row[SMALL];
  double *a = lu->a, weight[SMALL];
  for (int i = 0; i < n; i++) {
    row[i] = i;
    weight[i] = lu->weight[i];
  }
  for (int k = 0; k < n; k++) {
    double *ck = a + k * n;
    int p = lu_choose_pivot(ck, weight, n, k, slack);
    lu->pivot[k] = p + 1;
    if (p != k) {
      int r = row[p];
      double w = weight[p];
      lu_swap_rows(a, n, p, k);
      row[p] = row[k], row[k] = r;
      weight[p] = weight[k], weight[k] = w;
    }
    if (lu_negligible(lu, A, lda, ck[k], row[k], k)) {
      lu->singular_row = row[k];
      return NS_ESINGULAR;
    }
    lu_divide(ck, k + 1, n, ck[k]);
    for (int j = k + 1; j < n; j++) {
      double *cj = a + j * n, f = cj[k];
      if (f != 0)
        for (int i = k + 1; i < n; i++) cj[i] -= ck[i] * f;
    }
  }
  return NS_OK;
}

static NsStatus lu_factor_large(NsLu *lu, const double *A, int lda) {
  int n = lu->n, *row = (int *)lu->iwork;
  bool entered = ns_blas_enter();
  int failed = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, lu->a, n, lu->pivot);
  ns_blas_leave(entered);
  if (failed < 0) return NS_EARG;
  for (int i = 0; i < n; i++) row[i] = i;
  for (int k = 0; k < n; k++) {
    int p = lu->pivot[k] - 1, r = row[p];
    row[p] = row[k], row[k] = r;
    double pivot = lu->a[k + (size_t)k * (size_t)n];
    if (lu_negligible(lu, A, lda, lu->fair ? pivot / lu->power[row[k]] : pivot, row[k], k)) {
      lu->singular_row = row[k];
      return NS_ESINGULAR;
    }
  }
  return NS_OK;
}

NsStatus ns_lu_factor(NsLu *lu, const double *A, int lda) {
  lu->singular_row = -1;
  lu->fair = false;
  for (int j = 0; j < lu->n; j++) lu->unit[j] = 1;
  if (!lu_load(lu, A, lda)) return NS_ENAN;
  return lu->n <= SMALL ? lu_factor_small(lu, A, lda, 1) : lu_factor_large(lu, A, lda);
}

/* Factors A with the pivots that the units of the unknowns choose. */
static NsStatus lu_factor_in_units(NsLu *lu, const double *A, int lda) {
  if (!lu_load(lu, A, lda)) return NS_ENAN;
  if (lu->n <= SMALL) return lu_factor_small(lu, A, lda, unit_slack);
  level_rows(lu);
  return lu_factor_large(lu, A, lda);
}

NsStatus ns_lu_factor_fair(NsLu *lu, const double *A, int lda) {
  if (lu->n < 2) return ns_lu_factor(lu, A, lda);
  lu->singular_row = -1;
  lu->fair = lu->n > SMALL;
  find_units(lu, A, lda);
  NsStatus status = lu_factor_in_units(lu, A, lda);
  if (status != NS_ESINGULAR || !find_units_by_product(lu, A, lda)) return status;
  int row = lu->singular_row;
  lu->singular_row = -1;
  status = lu_factor_in_units(lu, A, lda);
  if (status == NS_ESINGULAR) lu->singular_row = row;
  return status;
}

/* ---- no row exchanges ---- */

/* Eliminates columns from .. to - 1 in all rows below. False: a pivot is 0, infinite or nan. */
static int factor_narrow(NsLu *lu, int from, int to) {
  int n = lu->n;
  for (int k = from; k < to; k++) {
    double *ck = lu->a + (size_t)k * (size_t)n;
    if (!(fabs(ck[k]) > 0 && fabs(ck[k]) <= DBL_MAX)) return lu->singular_row = k, 0;
    lu_divide(ck, k + 1, n, ck[k]);
    for (int j = k + 1; j < to; j++) {
      double *cj = lu->a + (size_t)j * (size_t)n, f = cj[k];
      for (int i = k + 1; f != 0 && i < n; i++) cj[i] -= ck[i] * f;
    }
  }
  return 1;
}

/* As factor_narrow, recursively: left half, update of the right half by a matrix product (most of the work), right half. */
static int lu_factor_columns(NsLu *lu, int from, int to) {
  int n = lu->n, middle = from + (to - from) / 2;
  double *a = lu->a;
  size_t ld = (size_t)n;
  if (to - from <= NARROW) return factor_narrow(lu, from, to);
  if (!lu_factor_columns(lu, from, middle)) return 0;
  double *left = a + (size_t)from * ld, *right = a + (size_t)middle * ld;
  ns_dense_solve_unit_lower(middle - from, to - middle, left + from, n, right + from, n);
  ns_dense_gemm(n - middle, to - middle, middle - from, -1, left + middle, n, right + from, n, 1, right + middle, n);
  return lu_factor_columns(lu, middle, to);
}

/* Whether |pivot| > `least` times the sum of its |terms|, for every pivot. */
static int pivots_stand(NsLu *lu, const double *A, int lda, double least) {
  size_t ld = (size_t)lu->n;
  for (int k = 0; k < lu->n; k++) {
    double sum = fabs(A[(size_t)k + (size_t)k * (size_t)lda]);
    for (int j = 0; j < k; j++) sum += fabs(lu->a[(size_t)k + (size_t)j * ld] * lu->a[(size_t)j + (size_t)k * ld]);
    if (!(fabs(lu->a[(size_t)k + (size_t)k * ld]) > least * sum)) return lu->singular_row = k, 0;
  }
  return 1;
}

NsStatus ns_lu_factor_in_order(NsLu *lu, const double *A, int lda, double least) {
  int n = lu->n;
  lu->singular_row = -1;
  lu->fair = false;
  for (int j = 0; j < n; j++) {
    lu->unit[j] = 1;
    memcpy(lu->a + (size_t)j * (size_t)n, A + (size_t)j * (size_t)lda, (size_t)n * sizeof *A);
    lu->pivot[j] = j + 1;
  }
  if (n > 0 && !lu_factor_columns(lu, 0, n)) return NS_ESINGULAR;
  return pivots_stand(lu, A, lda, least) ? NS_OK : NS_ESINGULAR;
}

NsSmallLu ns_lu_small(const NsLu *lu) {
  return (NsSmallLu){lu->a, lu->pivot};
}

static void lu_solve_one(const NsLu *lu, double *b) {
#define SOLVE(n) ns_small_solve(ns_lu_small(lu), b, n)
  NS_SMALL_OR_BODY_SWITCH(lu->n, SOLVE)
}

/* Multiplies each row of B by the factor of its row of A. */
static void multiply_rows(const NsLu *lu, int nrhs, double *B, int ldb) {
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < lu->n; i++) B[(size_t)i + (size_t)j * (size_t)ldb] *= lu->power[i];
}

void ns_lu_solve(const NsLu *lu, int nrhs, double *B, int ldb) {
  if (lu->n > SMALL) {
    if (lu->fair) multiply_rows(lu, nrhs, B, ldb);
    bool entered = ns_blas_enter();
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', lu->n, nrhs, lu->a, lu->n, lu->pivot, B, ldb);
    ns_blas_leave(entered);
    return;
  }
  for (int j = 0; j < nrhs; j++) lu_solve_one(lu, B + (size_t)j * (size_t)ldb);
}

static void solve_one_transposed(const NsLu *lu, double *b) {
  int n = lu->n;
  const double *a = lu->a;
  for (int k = 0; k < n; k++) {
    double t = b[k];
    for (int i = 0; i < k; i++) t -= a[i + k * n] * b[i];
    b[k] = t / a[k + k * n];
  }
  for (int k = n - 2; k >= 0; k--)
    for (int i = k + 1; i < n; i++) b[k] -= a[i + k * n] * b[i];
  for (int k = n - 1; k >= 0; k--) {
    int p = lu->pivot[k] - 1;
    double t = b[p];
    b[p] = b[k], b[k] = t;
  }
}

void ns_lu_solve_transposed(const NsLu *lu, int nrhs, double *B, int ldb) {
  if (lu->n > SMALL) {
    bool entered = ns_blas_enter();
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', lu->n, nrhs, lu->a, lu->n, lu->pivot, B, ldb);
    ns_blas_leave(entered);
    if (lu->fair) multiply_rows(lu, nrhs, B, ldb);
    return;
  }
  for (int j = 0; j < nrhs; j++) solve_one_transposed(lu, B + (size_t)j * (size_t)ldb);
}

double ns_lu_rcond(NsLu *lu) {
  double rcond = 0;
  if (lu->n == 0) return 1;
  if (lu->singular_row >= 0) return 0;
  bool entered = ns_blas_enter();
  LAPACKE_dgecon_work(LAPACK_COL_MAJOR, '1', lu->n, lu->a, lu->n, lu->norm, &rcond, lu->work, lu->iwork);
  ns_blas_leave(entered);
  return rcond;
}

void ns_lu_inverse(const NsLu *lu, double *X) {
  size_t n = (size_t)lu->n;
  if (n == 0) return;
  memset(X, 0, n * n * sizeof *X);
  for (size_t i = 0; i < n; i++) X[i * (n + 1)] = 1;
  ns_lu_solve(lu, lu->n, X, lu->n);
}

double ns_lu_det(const NsLu *lu) {
  double mantissa = 1;
  long exponent = 0;
  for (int k = 0; k < lu->n; k++) {
    int e;
    mantissa = frexp(mantissa * lu->a[k + (size_t)k * (size_t)lu->n], &e);
    exponent += e;
    if (lu->pivot[k] != k + 1) mantissa = -mantissa;
  }
  if (exponent > 4096) exponent = 4096;
  if (exponent < -4096) exponent = -4096;
  return ldexp(mantissa, (int)exponent);
}
