/*
** balance.c
** First, exponents that make the entries of a spanning forest 1, which removes all units; then sweeps of means.
*/
#include "solvers/balance.h"

/*
** MEAN_SWEEPS: sweeps over rows and columns; each replaces an exponent by the mean of its neighbours; after 6 little changes.
** WIDEST: largest distance between the exponents of two rows or two columns (of a range of about 2000). Above 600 too little
** range is left for the scaled data; long chains of unlike entries reach this in any units. MAX_PASSES: passes of the
** equilibration that is used then; each halves the exponents, which are below 2^11.
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
  b->ring = ns_arena_ints(arena, 6 * nmax);
}

/* The root of a node; *offset: the exponent of the node minus the exponent of the root. */
static int forest_root(const NsBalance *b, int node, int *offset) {
  *offset = 0;
  while (b->parent[node] != node) *offset += b->offset[node], node = b->parent[node];
  return node;
}

/* Hangs every node on the path to the root directly below it. */
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
** Joins the trees of row i and column j, if they differ, by an entry of exponent e. Nodes hold r_i and -c_j; the entry becomes
** 1 if r_i - (-c_j) = -e, which fixes the exponent of one tree relative to the other.
*/
static void tie(NsBalance *b, int i, int j, int e) {
  int at_row, at_col, row = forest_root(b, i, &at_row), col = forest_root(b, b->n + j, &at_col);
  flatten(b, i, row, at_row);
  flatten(b, b->n + j, col, at_col);
  if (row == col) return;
  int gap = at_col - e - at_row; /* exponent of the row's root relative to the column's root */
  if (row > col) b->parent[row] = col, b->offset[row] = gap;
  else b->parent[col] = row, b->offset[col] = -gap;
}

static int floor_mean(long long sum, int count) {
  long long twice = 2 * sum + count, by = 2LL * count;
  return (int)(twice >= 0 ? twice / by : -((-twice + by - 1) / by));
}

/* Sets the exponent of each row (or column) to minus the mean exponent of its entries, scaled by the other side. */
static void sparse_means(NsBalance *b, const NsSparse *M, bool rows) {
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

/* The largest scaled exponent of each row (or column); INT_MIN where there are no entries. */
static void take_largest(const NsBalance *b, const NsSparse *M, bool rows, int *to) {
  for (int i = 0; i < b->n; i++) to[i] = INT_MIN;
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      if (M->value[k] == 0) continue;
      int i = M->row[k], at = rows ? i : j, e = ns_binary_exponent(M->value[k]) + b->row[i] + b->col[j];
      if (e > to[at]) to[at] = e;
    }
}

/* An integer version of Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034. */
static void balance_equilibrate(NsBalance *b, const NsSparse *M) {
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

static void begin_forest(NsBalance *b, int n) {
  b->n = n;
  for (int i = 0; i < 2 * n; i++) b->parent[i] = i, b->offset[i] = 0;
}

/* Sets row and col to exponents that make the entries which join the trees 1. */
static void read_forest(NsBalance *b) {
  int offset;
  for (int i = 0; i < b->n; i++) {
    b->row_tree[i] = forest_root(b, i, &offset);
    b->row[i] = offset;
    b->col_tree[i] = forest_root(b, b->n + i, &offset);
    b->col[i] = -offset;
  }
}

void ns_balance_sparse(NsBalance *b, const NsSparse *M) {
  begin_forest(b, M->cols);
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++)
      if (M->value[k] != 0) tie(b, M->row[k], j, ns_binary_exponent(M->value[k]));
  read_forest(b);
  for (int k = 0; k < MEAN_SWEEPS; k++) sparse_means(b, M, k % 2 == 0);
  if (too_wide(b->row, b->n) || too_wide(b->col, b->n)) balance_equilibrate(b, M);
}

/* ---- dense ---- */

/* The exponents of the entries; NS_NO_EXPONENT for zeros. */
static void balance_exponents(const double *M, int ldm, int n, int *to) {
  for (int j = 0; j < n; j++) {
    const double *column = M + (size_t)j * (size_t)ldm;
    for (int i = 0; i < n; i++) {
      double x = column[i];
      *to++ = x != 0 ? ns_binary_exponent(x) : NS_NO_EXPONENT;
    }
  }
}

/* Connected sets of rows (0 .. n - 1) and columns (n ..): b->parent is the set of each node, b->offset its exponent. */
typedef struct Sets {
  int *next, *size, *rows; /* 2 n: the ring of nodes of a set; the number of nodes and of rows in each set */
} Sets;

static void begin_sets(NsBalance *b, Sets *s, int n) {
  *s = (Sets){b->ring, b->ring + 2 * n, b->ring + 4 * n};
  b->n = n;
  for (int i = 0; i < 2 * n; i++) {
    b->parent[i] = s->next[i] = i;
    b->offset[i] = 0;
    s->size[i] = 1;
    s->rows[i] = i < n;
  }
}

/* Merges the sets of two nodes so that the exponent of `a` is the exponent of `z` plus gap; renumbers the smaller set. */
static void unite(NsBalance *b, Sets *s, int a, int z, int gap) {
  int shift = b->offset[z] + gap - b->offset[a];
  if (s->size[b->parent[a]] > s->size[b->parent[z]]) {
    int other = a;
    a = z, z = other;
    shift = -shift;
  }
  int from = b->parent[a], to = b->parent[z], node = a;
  do b->parent[node] = to, b->offset[node] += shift;
  while ((node = s->next[node]) != a);
  node = s->next[a], s->next[a] = s->next[z], s->next[z] = node;
  s->size[to] += s->size[from];
  s->rows[to] += s->rows[from];
}

/* Joins all connected rows and columns; each entry that joins two sets becomes 1. */
static void tie_dense(NsBalance *b, const int *E, int n) {
  Sets s;
  begin_sets(b, &s, n);
  for (int j = 0; j < n; j++, E += n)
    for (int i = 0; i < n && s.rows[b->parent[n + j]] < n; i++)
      if (E[i] != NS_NO_EXPONENT && b->parent[i] != b->parent[n + j]) unite(b, &s, i, n + j, -E[i]);
  for (int i = 0; i < n; i++) {
    b->row_tree[i] = b->parent[i];
    b->row[i] = b->offset[i];
    b->col_tree[i] = b->parent[n + i];
    b->col[i] = -b->offset[n + i];
  }
}

static void row_means(NsBalance *b, const int *E, int n) {
  for (int i = 0; i < n; i++) b->count[i] = 0, b->sum[i] = 0;
  for (int j = 0; j < n; j++, E += n) {
    int shift = b->col[j];
    for (int i = 0; i < n; i++) {
      int there = E[i] != NS_NO_EXPONENT;
      b->sum[i] += there ? E[i] + shift : 0;
      b->count[i] += there;
    }
  }
  for (int i = 0; i < n; i++)
    if (b->count[i]) b->row[i] = -floor_mean(b->sum[i], b->count[i]);
}

/* Computes the exponents of the columns; false when a scaled entry would overflow or lose digits. */
static bool column_means(NsBalance *b, const int *E, int n) {
  bool fits = true;
  for (int j = 0; j < n; j++, E += n) {
    long long sum = 0;
    int count = 0, least = INT_MAX, most = INT_MIN;
    for (int i = 0; i < n; i++) {
      if (E[i] == NS_NO_EXPONENT) continue;
      int e = E[i] + b->row[i];
      sum += e;
      count++;
      least = e < least ? e : least;
      most = e > most ? e : most;
    }
    if (!count) continue;
    b->col[j] = -floor_mean(sum, count);
    fits &= least + b->col[j] > -1000 && most + b->col[j] < 1000;
  }
  return fits;
}

/* Whether powers of two with these exponents can be multiplied one after the other without overflow. */
static bool moderate_exponents(const int *e, int n) {
  for (int i = 0; i < n; i++)
    if (e[i] < -450 || e[i] > 450) return false;
  return true;
}

void ns_balance_apply(const NsBalance *b, const double *M, int ldm, int n, double *power, double *to) {
  bool plain = moderate_exponents(b->row, n) && moderate_exponents(b->col, n);
  for (int i = 0; i < n && plain; i++) power[i] = ns_times_power(1, b->row[i]);
  for (int j = 0; j < n; j++, to += n) {
    const double *from = M + (size_t)j * (size_t)ldm;
    double own = plain ? ns_times_power(1, b->col[j]) : 1;
    if (plain)
      for (int i = 0; i < n; i++) to[i] = from[i] * (power[i] * own);
    else
      for (int i = 0; i < n; i++) to[i] = ns_times_power(from[i], b->row[i] + b->col[j]);
  }
}

bool ns_balance_dense(NsBalance *b, const double *M, int ldm, int n, int *E) {
  balance_exponents(M, ldm, n, E);
  tie_dense(b, E, n);
  row_means(b, E, n);
  return column_means(b, E, n);
}

/* ---- units ---- */

void ns_units_take(NsUnits *u, NsArena *arena, ptrdiff_t nmax) {
  u->w = ns_arena_ints(arena, nmax);
  u->z = ns_arena_ints(arena, nmax);
  u->most = ns_arena_ints(arena, 2 * nmax);
  u->bare = ns_arena_take(arena, 2 * (size_t)(nmax > 0 ? nmax : 0), sizeof *u->bare);
}

void ns_units_find(NsUnits *u, const NsUnitsData *d, const int *member, int n) {
  for (int k = 0; k < 2 * n; k++) u->most[k] = NS_NO_EXPONENT;
  for (int k = 0; k < n; k++) {
    int i = member ? member[k] : k, *of_w = &u->most[d->row_tree[i]], *of_z = &u->most[d->col_tree[i]];
    *of_w = ns_larger_exponent(*of_w, d->q[i], d->row[i]);
    *of_z = ns_larger_exponent(*of_z, d->lower[i], -d->col[i]);
    *of_z = ns_larger_exponent(*of_z, d->upper[i], -d->col[i]);
  }
  for (int k = 0; k < 2 * n; k++) u->bare[k] = u->most[k] == NS_NO_EXPONENT;
  for (int k = 0; k < n && d->guess; k++) {
    int i = member ? member[k] : k, tree = d->col_tree[i];
    if (u->bare[tree]) u->most[tree] = ns_larger_exponent(u->most[tree], d->guess[i], -d->col[i]);
  }
  for (int k = 0; k < n; k++) {
    int i = member ? member[k] : k, of_w = u->most[d->row_tree[i]], of_z = u->most[d->col_tree[i]];
    u->w[k] = d->row[i] - (of_w > NS_NO_EXPONENT ? of_w : 0);
    u->z[k] = -d->col[i] - (of_z > NS_NO_EXPONENT ? of_z : 0);
  }
}
