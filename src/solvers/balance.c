/*
** balance.c
** First exponents that make the entries of a spanning forest 1, which takes all units out; then sweeps of means.
*/
#include "solvers/balance.h"

#include <limits.h>
#include <math.h>

/*
** Sweeps over rows and columns (each brings the spread to the mean of its neighbours; more change little). Exponents of
** rows or columns further apart than WIDEST leave too little of the range of numbers, 2^2000, for what they scale; long
** chains of entries that are not alike, no units, do that. Then MAX_PASSES passes towards rows and columns with a largest
** entry of 1 (each halves the exponents, which are at most 2^11).
*/
enum { MEAN_SWEEPS = 6, WIDEST = 600, MAX_PASSES = 12 };

void ns_balance_take(NsBalance *b, NsArena *arena, ptrdiff_t nmax) {
  b->row = ns_arena_ints(arena, nmax);
  b->col = ns_arena_ints(arena, nmax);
  b->row_tree = ns_arena_ints(arena, nmax);
  b->col_tree = ns_arena_ints(arena, nmax);
  b->parent = ns_arena_ints(arena, 2 * nmax);
  b->offset = ns_arena_ints(arena, 2 * nmax);
  b->count = ns_arena_ints(arena, nmax);
  b->sum = ns_arena_take(arena, (size_t)(nmax > 0 ? nmax : 0), sizeof *b->sum);
}

int ns_binary_exponent(double x) {
  int e;
  (void)frexp(x, &e);
  return e;
}

bool ns_power_exact(double x, int e) {
  return ldexp(ldexp(x, e), -e) == x;
}

/* The root of a node, and in *offset what is added to its exponent beside that of the root. */
static int forest_root(const NsBalance *b, int node, int *offset) {
  *offset = 0;
  while (b->parent[node] != node) *offset += b->offset[node], node = b->parent[node];
  return node;
}

/* Hangs every node on the way to the root directly below it. */
static void flatten(NsBalance *b, int node, int root, int offset) {
  while (b->parent[node] != root && node != root) {
    int next = b->parent[node], step = b->offset[node];
    b->parent[node] = root;
    b->offset[node] = offset;
    offset -= step;
    node = next;
  }
}

/*
** The entry of exponent e joins row i to column j when they are in different trees. Nodes hold r_i and -c_j, so that
** r_i - (-c_j) = -e makes the entry 1: one node's exponent is that of the other plus a number.
*/
static void tie(NsBalance *b, int i, int j, int e) {
  int at_row, at_col, row = forest_root(b, i, &at_row), col = forest_root(b, b->n + j, &at_col);
  flatten(b, i, row, at_row);
  flatten(b, b->n + j, col, at_col);
  if (row == col) return;
  int gap = at_col - e - at_row; /* of the row's root beside the column's */
  if (row > col) b->parent[row] = col, b->offset[row] = gap;
  else b->parent[col] = row, b->offset[col] = -gap;
}

static int floor_mean(long long sum, int count) {
  long long twice = 2 * sum + count, by = 2LL * count;
  return (int)(twice >= 0 ? twice / by : -((-twice + by - 1) / by));
}

/* Sets each exponent of rows (or columns) to minus the mean of what its entries have. */
static void take_means(NsBalance *b, const NsSparse *M, bool rows) {
  for (int i = 0; i < b->n; i++) b->count[i] = 0, b->sum[i] = 0;
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      if (M->value[k] == 0) continue;
      int i = M->row[k], at = rows ? i : j;
      b->sum[at] += ns_binary_exponent(M->value[k]) + (rows ? b->col[j] : b->row[i]);
      b->count[at]++;
    }
  for (int i = 0; i < b->n; i++)
    if (b->count[i]) (rows ? b->row : b->col)[i] = -floor_mean(b->sum[i], b->count[i]);
}

/* The largest exponent that the entries of each row (or column) have now; INT_MIN where there are none. */
static void take_largest(const NsBalance *b, const NsSparse *M, bool rows, int *to) {
  for (int i = 0; i < b->n; i++) to[i] = INT_MIN;
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      if (M->value[k] == 0) continue;
      int i = M->row[k], at = rows ? i : j, e = ns_binary_exponent(M->value[k]) + b->row[i] + b->col[j];
      if (e > to[at]) to[at] = e;
    }
}

/* Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034, in integers. */
static void equilibrate(NsBalance *b, const NsSparse *M) {
  int *of_row = b->offset, *of_col = b->offset + b->n;
  for (int i = 0; i < b->n; i++) b->row[i] = b->col[i] = 0;
  for (int k = 0; k < MAX_PASSES; k++) {
    take_largest(b, M, true, of_row);
    take_largest(b, M, false, of_col);
    for (int i = 0; i < b->n; i++) {
      if (of_row[i] > INT_MIN) b->row[i] -= of_row[i] / 2;
      if (of_col[i] > INT_MIN) b->col[i] -= of_col[i] / 2;
    }
  }
}

static bool too_wide(const int *exponent, int n) {
  int least = INT_MAX, most = INT_MIN;
  for (int i = 0; i < n; i++) {
    least = exponent[i] < least ? exponent[i] : least;
    most = exponent[i] > most ? exponent[i] : most;
  }
  return n > 0 && most - least > WIDEST;
}

void ns_balance_sparse(NsBalance *b, const NsSparse *M) {
  int offset;
  b->n = M->cols;
  for (int i = 0; i < 2 * b->n; i++) b->parent[i] = i, b->offset[i] = 0;
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++)
      if (M->value[k] != 0) tie(b, M->row[k], j, ns_binary_exponent(M->value[k]));
  for (int i = 0; i < b->n; i++) {
    b->row_tree[i] = forest_root(b, i, &offset);
    b->row[i] = offset;
    b->col_tree[i] = forest_root(b, b->n + i, &offset);
    b->col[i] = -offset;
  }
  for (int k = 0; k < MEAN_SWEEPS; k++) take_means(b, M, k % 2 == 0);
  if (too_wide(b->row, b->n) || too_wide(b->col, b->n)) equilibrate(b, M);
}
