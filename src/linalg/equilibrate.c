/*
** equilibrate.c
** Three stages: a forest of nonzeros removes the units; means of exponents balance the matrix; x and F fix the free factors.
*/
#include "linalg/equilibrate.h"

#include <limits.h>
#include <math.h>

/*
** SWEEPS: number of half sweeps (rows, columns, rows ...). Unless the matrix is a long chain, each at least halves the
** imbalance, so 12 reduce a span of 2^1000 to less than a factor 2. LARGEST: scales stay in 2^-LARGEST .. 2^LARGEST, the range
** of a double. NONE: the exponent of a zero entry.
*/
enum { SWEEPS = 12, LARGEST = 1000, NONE = INT_MIN };

void ns_equilibrium_take(NsEquilibrium *s, NsArena *arena, int n) {
  ptrdiff_t nodes = 2 * (ptrdiff_t)n;
  s->n = n;
  NS_ARENA_INTS(arena, n, &s->row, &s->column);
  NS_ARENA_INTS(arena, nodes, &s->parent, &s->above, &s->anchor, &s->count);
  NS_ARENA_VECTORS(arena, nodes, &s->mean, &s->sum);
}

/* ---- the entries ---- */

typedef struct Matrix {
  int n;
  const double *dense;
  const NsSparse *sparse;
} Matrix;

static int entries_of(const Matrix *A, int j) {
  return A->dense ? A->n : A->sparse->colptr[j + 1] - A->sparse->colptr[j];
}

/* The exponent of entry number k of column j, whose row is *i; NONE when it is 0 or not finite. */
static int entry_exponent(const Matrix *A, int j, int k, int *i) {
  ptrdiff_t place = A->dense ? (ptrdiff_t)j * A->n + k : A->sparse->colptr[j] + (ptrdiff_t)k;
  double x = A->dense ? A->dense[place] : A->sparse->value[place];
  *i = A->dense ? k : A->sparse->row[place];
  return x == 0 || !isfinite(x) ? NONE : ilogb(x);
}

/* ---- the forest: nodes 0 .. n - 1 are rows, n .. 2 n - 1 columns ---- */

/* The root of a node; *off = exponent of the node - exponent of its root. Compresses the path. */
static int root_of(NsEquilibrium *s, int node, int *off) {
  int root = node, total = 0;
  while (s->parent[root] != root) total += s->above[root], root = s->parent[root];
  *off = total;
  while (s->parent[node] != root && node != root) {
    int next = s->parent[node], step = s->above[node];
    s->parent[node] = root;
    s->above[node] = total;
    total -= step;
    node = next;
  }
  return root;
}

/*
** p is the exponent of a node: rows are multiplied by 2^-p, columns by 2^p. The exponent e of an entry becomes
** e + p_column - p_row. An entry between two trees joins them so that this is 0.
*/
static void equilibrate_join(NsEquilibrium *s, int row, int column, int e) {
  int of_row, of_column, a = root_of(s, row, &of_row), b = root_of(s, column, &of_column);
  if (a == b) return;
  s->parent[b] = a; /* p_column = p_row - e */
  s->above[b] = of_row - e - of_column;
}

static void grow_forest(NsEquilibrium *s, const Matrix *A) {
  int n = s->n, i, off;
  for (int node = 0; node < 2 * n; node++) s->parent[node] = node, s->above[node] = 0;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < entries_of(A, j); k++) {
      int e = entry_exponent(A, j, k, &i);
      if (e != NONE) equilibrate_join(s, i, n + j, e);
    }
  for (int node = 0; node < 2 * n; node++) {
    root_of(s, node, &off);
    if (node < n) s->row[node] = -off;
    else s->column[node - n] = off;
  }
}

/* ---- the balance: means of the exponents ---- */

/* One half sweep: shifts the exponent of each row (column) so that the mean exponent of its entries is 0. */
static void equilibrate_balance(NsEquilibrium *s, const Matrix *A, int columns) {
  int n = s->n, first = columns ? n : 0, i;
  for (int node = first; node < first + n; node++) s->sum[node] = 0, s->count[node] = 0;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < entries_of(A, j); k++) {
      int e = entry_exponent(A, j, k, &i);
      if (e == NONE) continue;
      int node = columns ? n + j : i;
      s->sum[node] += (e + s->row[i] + s->column[j]) + s->mean[columns ? i : n + j];
      s->count[node]++;
    }
  for (int node = first; node < first + n; node++)
    if (s->count[node] > 0) s->mean[node] = -s->sum[node] / s->count[node];
}

/* Rounds the column scales; sets the row scales so that the largest entry of each row is 1 to 2. */
static void settle_rows(NsEquilibrium *s, const Matrix *A) {
  int n = s->n, i;
  for (int j = 0; j < n; j++) s->column[j] += (int)lrint(s->mean[n + j]);
  for (i = 0; i < n; i++) s->count[i] = NONE, s->row[i] = 0;
  for (int j = 0; j < n; j++)
    for (int k = 0; k < entries_of(A, j); k++) {
      int e = entry_exponent(A, j, k, &i);
      if (e != NONE && e + s->column[j] > s->count[i]) s->count[i] = e + s->column[j], s->row[i] = -s->count[i];
    }
}

/* ---- the free factor of each uncoupled part ---- */

static void raise_anchor(NsEquilibrium *s, int node, double x, int scale) {
  int off;
  if (x == 0 || !isfinite(x)) return;
  int root = root_of(s, node, &off), size = ilogb(x) + scale;
  if (size > s->anchor[root]) s->anchor[root] = size;
}

static int equilibrate_limited(int exponent) {
  return exponent > LARGEST ? LARGEST : exponent < -LARGEST ? -LARGEST : exponent;
}

static void anchor(NsEquilibrium *s, const double *x, const double *F) {
  int n = s->n, off;
  for (int node = 0; node < 2 * n; node++) s->anchor[node] = NONE;
  for (int i = 0; i < n; i++) {
    raise_anchor(s, n + i, x[i], -s->column[i]);
    raise_anchor(s, i, F[i], s->row[i]);
  }
  for (int i = 0; i < n; i++) {
    int size = s->anchor[root_of(s, i, &off)];
    if (size != NONE) s->row[i] -= size;
    size = s->anchor[root_of(s, n + i, &off)];
    if (size != NONE) s->column[i] += size;
    s->row[i] = equilibrate_limited(s->row[i]);
    s->column[i] = equilibrate_limited(s->column[i]);
  }
}

void ns_equilibrate(NsEquilibrium *s, const double *dense, const NsSparse *sparse, const double *x, const double *F) {
  Matrix A = {s->n, dense, sparse};
  grow_forest(s, &A);
  for (int node = 0; node < 2 * s->n; node++) s->mean[node] = 0;
  for (int k = 0; k < SWEEPS; k++) equilibrate_balance(s, &A, k % 2);
  settle_rows(s, &A);
  anchor(s, x, F);
}
