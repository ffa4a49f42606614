/*
** balance.c
** First clusters of rows and columns, joined at the mean of the entries between them, which removes all units; then sweeps of means.
*/
#include "solvers/balance.h"

/*
** MEAN_SWEEPS: sweeps over rows and columns; each replaces an exponent by the mean of its neighbours; after 6 little changes.
** WIDEST: largest distance between the exponents of two rows or two columns (of a range of about 2000). Above 600 too little
** range is left for the scaled data; long chains of unlike entries reach this in any units. STEEPEST: exponent of the largest entry
** that the means may leave: 2^16 times the mean of its row and column. Drift along a grid
** leaves larger ones. MAX_PASSES: passes of the equilibration that is used then; each halves the exponents, which are below 2^11.
*/
enum { MEAN_SWEEPS = 6, WIDEST = 600, STEEPEST = 16, MAX_PASSES = 12 };

void ns_balance_take(NsBalance *b, NsArena *arena, ptrdiff_t nmax) {
  NS_ARENA_INTS(arena, nmax, &b->row, &b->col, &b->row_tree, &b->col_tree);
  NS_ARENA_INTS(arena, 2 * nmax, &b->parent, &b->offset);
  b->count = ns_arena_ints(arena, 4 * nmax);
  b->sum = ns_arena_take(arena, 4 * (size_t)(nmax > 0 ? nmax : 0), sizeof *b->sum);
  b->ring = ns_arena_ints(arena, 6 * nmax);
}

static int floor_mean(long long sum, int count) {
  long long twice = 2 * sum + count, by = 2LL * count;
  return (int)(twice >= 0 ? twice / by : -((-twice + by - 1) / by));
}

/*
** The binary exponent of x in steps of 1 / FINE, straight between powers of two: the leading bits of the number itself. Steps of 1
** would turn entries a little above and below 1, one beside the diagonal and one across it, into a slope that grows along a grid.
*/
enum { FINE = 256 };

/* A mean of fine exponents; halves go to even numbers, also after a change of units. Always upwards they would add up to 2^40 along a grid. */
static int fine_mean(long long sum, int count) {
  int mean = floor_mean(sum, count);
  return 2 * sum == (2LL * mean - 1) * count ? mean & ~1 : mean;
}

static int fine_exponent(double x) {
  uint64_t bits;
  int lifted = x != 0 && fabs(x) < DBL_MIN ? 64 : 0;
  if (lifted) x = ldexp(x, lifted);
  memcpy(&bits, &x, sizeof bits);
  return (int)(bits >> 44 & 0x7ffff) - (1022 + lifted) * FINE;
}

/* Sets the fine exponent of each row (or column) to minus the mean of its entries, scaled by the other side. */
static void sparse_means(NsBalance *b, const NsSparse *M, bool rows) {
  for (int i = 0; i < b->n; i++) b->count[i] = 0, b->sum[i] = 0;
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      if (M->value[k] == 0) continue;
      int i = M->row[k], at = rows ? i : j;
      b->sum[at] += fine_exponent(M->value[k]) + (rows ? b->col[j] : b->row[i]);
      b->count[at]++;
    }
  for (int i = 0; i < b->n; i++)
    if (b->count[i]) (rows ? b->row : b->col)[i] = -fine_mean(b->sum[i], b->count[i]);
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

static bool too_steep(NsBalance *b, const NsSparse *M) {
  take_largest(b, M, true, b->count);
  for (int i = 0; i < b->n; i++)
    if (b->count[i] > STEEPEST) return true;
  return false;
}

/*
** Clusters of rows (nodes 0 .. n - 1, exponent r_i) and columns (nodes n .., exponent -c_j). b->parent is the cluster of each node,
** named by one of its nodes, b->offset its exponent.
*/
typedef struct Clusters {
  int *partner; /* 2 n: the cluster that each one joins in this round; -1: none yet */
  int *into;    /* 2 n: the name after this round */
  int *shift;   /* 2 n: what its exponents gain in this round */
} Clusters;

/* Finds partners: pairs first, then a partner for each cluster that is left over, whose neighbours are all in pairs. */
static bool choose_partners(const NsBalance *b, const NsSparse *M, Clusters *s) {
  bool some = false;
  for (int i = 0; i < 2 * b->n; i++) s->partner[i] = -1;
  for (int pass = 0; pass < 2; pass++)
    for (int j = 0; j < b->n; j++)
      for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
        int row = b->parent[M->row[k]], col = b->parent[b->n + j];
        if (M->value[k] == 0 || row == col) continue;
        bool row_free = s->partner[row] < 0, col_free = s->partner[col] < 0;
        if (pass == 0 ? !(row_free && col_free) : !(row_free || col_free)) continue;
        if (row_free) s->partner[row] = col;
        if (col_free) s->partner[col] = row;
        some = true;
      }
  return some;
}

/* Whether this cluster moves to its partner: one of a pair stays, the one with the smaller name. */
static bool cluster_moves(const Clusters *s, int cluster) {
  int partner = s->partner[cluster];
  return partner >= 0 && (s->partner[partner] != cluster || partner < cluster);
}

/* Computes how far each cluster moves relative to its partner: the mean over all entries between the two, each of which wants 1. */
static void measure_gaps(const NsBalance *b, const NsSparse *M, Clusters *s) {
  for (int i = 0; i < 2 * b->n; i++) b->sum[i] = b->count[i] = s->shift[i] = 0;
  for (int j = 0; j < b->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      int i = M->row[k], row = b->parent[i], col = b->parent[b->n + j];
      if (M->value[k] == 0 || row == col) continue;
      int gap = b->offset[b->n + j] - fine_exponent(M->value[k]) - b->offset[i];
      if (s->partner[row] == col && cluster_moves(s, row)) b->sum[row] += gap, b->count[row]++;
      if (s->partner[col] == row && cluster_moves(s, col)) b->sum[col] -= gap, b->count[col]++;
    }
  for (int i = 0; i < 2 * b->n; i++)
    if (b->count[i]) s->shift[i] = fine_mean(b->sum[i], b->count[i]);
}

/* Joins every cluster with its partner; a partner that moves itself takes along what joined it. */
static void join_partners(NsBalance *b, Clusters *s) {
  for (int i = 0; i < 2 * b->n; i++) {
    int to = cluster_moves(s, i) ? s->partner[i] : i;
    s->into[i] = cluster_moves(s, to) ? s->partner[to] : to;
  }
  for (int i = 0; i < 2 * b->n; i++) {
    int from = b->parent[i], to = cluster_moves(s, from) ? s->partner[from] : from;
    b->offset[i] += s->shift[from] + (to != from ? s->shift[to] : 0);
    b->parent[i] = s->into[from];
  }
}

/* Sets row and col to fine exponents that bring the entries near 1 in the mean between clusters of every size. */
static void balance_clusters(NsBalance *b, const NsSparse *M) {
  Clusters s = {b->ring, b->ring + 2 * M->cols, b->ring + 4 * M->cols};
  b->n = M->cols;
  for (int i = 0; i < 2 * b->n; i++) b->parent[i] = i, b->offset[i] = 0;
  while (choose_partners(b, M, &s)) {
    measure_gaps(b, M, &s);
    join_partners(b, &s);
  }
  for (int i = 0; i < b->n; i++) {
    b->row_tree[i] = b->parent[i], b->row[i] = b->offset[i];
    b->col_tree[i] = b->parent[b->n + i], b->col[i] = -b->offset[b->n + i];
  }
}

void ns_balance_sparse(NsBalance *b, const NsSparse *M) {
  balance_clusters(b, M);
  for (int k = 0; k < MEAN_SWEEPS; k++) sparse_means(b, M, k % 2 == 0);
  for (int i = 0; i < b->n; i++) b->row[i] = floor_mean(b->row[i], FINE), b->col[i] = floor_mean(b->col[i], FINE);
  if (too_wide(b->row, b->n) || too_wide(b->col, b->n) || too_steep(b, M)) balance_equilibrate(b, M);
}

/* ---- dense ---- */

/* The exponents of numbers; NS_NO_EXPONENT for zeros. */
static void exponents_of(const double *x, ptrdiff_t count, int *to) {
  uint64_t small = 0; /* of a number below 2^-1022 that is not 0: some digit */
  for (ptrdiff_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &x[i], sizeof bits);
    uint64_t biased = bits >> 52 & 0x7ff;
    int e = (int)biased - 1022;
    small |= bits << 12 & (biased - 1);
    to[i] = e == -1022 ? NS_NO_EXPONENT : e;
  }
  for (ptrdiff_t i = 0; i < count && small != 0; i++)
    if (x[i] != 0) to[i] = ns_binary_exponent(x[i]);
}

/* The same for the entries of a matrix. */
static void balance_exponents(const double *M, int ldm, int n, int *to) {
  bool whole = ldm == n;
  ptrdiff_t rows = whole ? (ptrdiff_t)n * n : n;
  for (int j = 0; j < (whole ? 1 : n); j++) exponents_of(M + (ptrdiff_t)j * ldm, rows, to + j * rows);
}

/* Connected sets of rows (0 .. n - 1) and columns (n ..): b->parent is the set of each node, b->offset its exponent. */
typedef struct Sets {
  int *next, *size, *rows; /* 2 n: the ring of nodes of a set; the number of nodes and of rows in each set */
} Sets;

/* Makes each node a set of its own. */
static void split_sets(Sets *s, NsBalance *b) {
  for (int i = 0; i < 2 * b->n; i++) {
    b->parent[i] = s->next[i] = i;
    s->size[i] = 1;
    s->rows[i] = i < b->n;
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

/* What tie_dense does to a matrix without zeros in its first row and column; false where there are some. */
static bool tie_full(NsBalance *b, const int *E, int n) {
  const int *first = E;
  for (int i = 0; i < n; i++)
    if (first[i] == NS_NO_EXPONENT || E[(ptrdiff_t)i * n] == NS_NO_EXPONENT) return false;
  for (int i = 0; i < n; i++) {
    b->parent[i] = b->parent[n + i] = n;
    b->offset[i] = -first[i];
    b->offset[n + i] = E[(ptrdiff_t)i * n] - first[0];
  }
  return true;
}

/* Joins all connected rows and columns; each entry that joins two sets becomes 1. */
static void tie_dense(NsBalance *b, Sets *s, const int *E, int n) {
  b->n = n;
  *s = (Sets){b->ring, b->ring + 2 * n, b->ring + 4 * n};
  if (tie_full(b, E, n)) return;
  for (int i = 0; i < 2 * n; i++) b->offset[i] = 0;
  split_sets(s, b);
  for (int j = 0; j < n; j++, E += n)
    for (int i = 0; i < n; i++) {
      if (E[i] == NS_NO_EXPONENT || b->parent[i] == b->parent[n + j]) continue;
      unite(b, s, i, n + j, -E[i]);
      if (s->rows[b->parent[i]] == n) break;
    }
}

/* ---- entries that are rounding ---- */

/*
** ROUNDING: exponent of an entry that counts as rounding beside 1. Where tied exponents go beyond it, entries that are rounding, which may be
** 1e-80, may have tied rows to each other, and would bring them out of all proportion.
*/
enum { ROUNDING = -52 };

/* The exponent of an entry, not 0, in the units of the sets. */
static int tied_exponent(const NsBalance *b, const int *E, int i, int j) {
  return E[i + (ptrdiff_t)j * b->n] + b->offset[i] - b->offset[b->n + j];
}

/* Sums the exponents of each row in the units of the sets, and counts its entries. False when an entry is rounding beside 1, or 1 beside it. */
static bool sum_rows(const NsBalance *b, const int *E, int *restrict sum, int *restrict count) {
  int n = b->n, wide = 0;
  const int *offset = b->offset;
  for (int i = 0; i < n; i++) sum[i] = count[i] = 0;
  for (int j = 0; j < n && !wide; j++, E += n) {
    int shift = offset[n + j];
    for (int i = 0; i < n; i++) {
      int there = E[i] != NS_NO_EXPONENT, e = (E[i] + offset[i] - shift) & -there;
      sum[i] += e;
      count[i] += there;
      wide |= (e < ROUNDING) | (e > -ROUNDING);
    }
  }
  return !wide;
}

/* floor_mean of small numbers, whose division is faster. */
static inline int narrow_mean(int sum, int count) {
  int twice = 2 * sum + count, by = 2 * count;
  return twice >= 0 ? twice / by : -((-twice + by - 1) / by);
}

/* Sets row and col to means, so that no scaled entry loses digits. False, and nothing is set, when sum_rows refuses. */
static bool narrow_means(NsBalance *b, const int *E) {
  int n = b->n, *restrict row = b->row, *sum = b->count + n;
  if (!sum_rows(b, E, sum, b->count)) return false;
  for (int i = 0; i < n; i++) row[i] = b->offset[i] - (b->count[i] ? narrow_mean(sum[i], b->count[i]) : 0);
  for (int j = 0; j < n; j++, E += n) {
    int total = 0, count = 0, shift = b->offset[n + j]; /* in the units of the set: small numbers */
    for (int i = 0; i < n; i++) {
      int there = E[i] != NS_NO_EXPONENT;
      total += (E[i] + row[i] - shift) & -there;
      count += there;
    }
    b->col[j] = (count ? -narrow_mean(total, count) : 0) - shift;
  }
  return true;
}

/* NONE_YET: a column has no row. ABSENT: cost of a zero of the diagonal, for columns that have no other row. NEVER: of the other zeros. */
enum { NONE_YET = -1 };
static const long long ABSENT = 1LL << 40, NEVER = 1LL << 60;

/* A row for each column, and exponents that make their entries 1 and no other entry larger. */
typedef struct Matching {
  NsBalance *b;
  const int *E;
  int *row, *before,
      *done; /* n: the row of a column; the column before it on a path; whether a search has reached it, or leaves it out */
  long long *u, *v;        /* n: exponents of rows and columns, added to those of b->offset */
  long long *least, *back; /* n: distances */
  bool artificial;         /* zeros of the diagonal may be matched */
} Matching;

/* What entry i, j lacks to 1; NEVER where it is 0. */
static long long match_slack(const Matching *m, int i, int j) {
  if (m->E[i + (ptrdiff_t)j * m->b->n] != NS_NO_EXPONENT) return -(tied_exponent(m->b, m->E, i, j) + m->u[i] + m->v[j]);
  return m->artificial && i == j ? ABSENT - m->u[i] - m->v[j] : NEVER;
}

/* The column, of those that the search has not reached, with the least distance; NONE_YET: there is none. */
static int match_nearest(const Matching *m, const long long *distance) {
  int best = NONE_YET;
  for (int j = 0; j < m->b->n; j++)
    if (!m->done[j] && distance[j] < NEVER && (best == NONE_YET || distance[j] < distance[best])) best = j;
  return best;
}

/* Finds a row for one more column, along the shortest path that starts with row i. `out`: rows and columns to leave out. */
static void match_row(Matching *m, int i, const int *out) {
  int n = m->b->n, last = NONE_YET, row = i;
  for (int j = 0; j < n; j++) m->least[j] = NEVER, m->done[j] = out[j];
  do {
    for (int j = 0; j < n; j++) {
      if (m->done[j]) continue;
      long long slack = match_slack(m, row, j);
      if (slack < m->least[j]) m->least[j] = slack, m->before[j] = last;
    }
    last = match_nearest(m, m->least);
    long long step = m->least[last];
    m->u[i] += step;
    for (int j = 0; j < n; j++) {
      if (!m->done[j]) m->least[j] -= m->least[j] < NEVER ? step : 0;
      else if (!out[j]) m->u[m->row[j]] += step, m->v[j] -= step;
    }
    m->done[last] = true;
    row = m->row[last];
  } while (row != NONE_YET);
  for (int j = last; j != NONE_YET; j = m->before[j]) m->row[j] = m->before[j] == NONE_YET ? i : m->row[m->before[j]];
}

/*
** Kuhn, The Hungarian method for the assignment problem, Naval Res. Logistics Quart. 2, 1955; Duff and Koster, On algorithms for permuting large
** entries to the diagonal of a sparse matrix, SIAM J. Matrix Anal. Appl. 22, 2001.
*/
static void match_all(Matching *m, const int *out) {
  int n = m->b->n;
  for (int j = 0; j < n; j++) m->u[j] = m->v[j] = 0, m->row[j] = NONE_YET;
  for (int i = 0; i < n; i++)
    if (!out[i]) match_row(m, i, out);
}

/* The distances from column s, or to it, where the way from column a to b is what entry (row of a, b) lacks. */
static void match_distances(Matching *m, int s, bool to, const int *out, long long *distance) {
  for (int j = 0; j < m->b->n; j++) distance[j] = NEVER, m->done[j] = out[j];
  distance[s] = 0;
  for (int at; (at = match_nearest(m, distance)) != NONE_YET;) {
    m->done[at] = true;
    for (int j = 0; j < m->b->n; j++) {
      if (m->done[j]) continue;
      long long way = to ? match_slack(m, m->row[j], at) : match_slack(m, m->row[at], j);
      if (way < NEVER && distance[at] + way < distance[j]) distance[j] = distance[at] + way;
    }
  }
}

/*
** Unites the columns and rows that column s can be reached from and that can be reached from it. Their exponents are the middle of those that make no
** entry larger than 1: sets of rows between which there is but rounding become comparable. They are left out of what follows.
*/
static void match_unite(Matching *m, Sets *s, int first, int *out) {
  NsBalance *b = m->b;
  match_distances(m, first, false, out, m->least);
  match_distances(m, first, true, out, m->back);
  for (int j = 0; j < b->n; j++) {
    if (out[j] || m->least[j] == NEVER || m->back[j] == NEVER) continue;
    int row = m->row[j], col = b->n + j, shift = floor_mean(m->back[j] - m->least[j], 2);
    b->offset[row] += (int)m->u[row] + shift, b->offset[col] += (int)-m->v[j] + shift;
    out[j] = true;
    if (b->parent[row] != b->parent[col]) unite(b, s, row, col, b->offset[row] - b->offset[col]);
    if (j != first) unite(b, s, col, b->n + first, b->offset[col] - b->offset[b->n + first]);
  }
}

/* The largest exponent of the entries in the rows of a's set and the columns of z's set. */
static int most_between(const NsBalance *b, const Sets *s, const int *E, int a, int z) {
  int most = NS_NO_EXPONENT, i = a, j = z, n = b->n;
  do {
    do {
      bool there = i < n && j >= n && E[i + (ptrdiff_t)(j - n) * n] != NS_NO_EXPONENT;
      int e = there ? tied_exponent(b, E, i, j - n) : most;
      most = e > most ? e : most;
    } while ((j = s->next[j]) != z);
  } while ((i = s->next[i]) != a);
  return most;
}

/* Joins what is still apart: the largest entries between two sets become equal; where they go one way alone, 1. */
static void tie_loosely(NsBalance *b, Sets *s, const int *E) {
  int n = b->n;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      if (b->parent[i] == b->parent[n + j] || E[i + (ptrdiff_t)j * n] == NS_NO_EXPONENT) continue;
      int there = most_between(b, s, E, i, n + j), back = most_between(b, s, E, n + j, i);
      int shift = back == NS_NO_EXPONENT ? -there : floor_mean(back - there, 2);
      unite(b, s, i, n + j, b->offset[i] + shift - b->offset[n + j]);
    }
}

/* Ties anew, by entries that are the largest in every product over a matching, and takes those out of E that are rounding beside them. */
static void tie_matched(NsBalance *b, Sets *s, int *E) {
  int n = b->n, *out = b->count + 3 * n;
  Matching m = {b, E, b->count, b->count + n, b->count + 2 * n, b->sum, b->sum + n, b->sum + 2 * n, b->sum + 3 * n, true};
  for (int i = 0; i < n; i++) out[i] = false;
  match_all(&m, out);
  m.artificial = false;
  int left_out = 0;
  for (int i = 0; i < n; i++) left_out += out[i] = m.row[i] == i && E[(ptrdiff_t)i * (n + 1)] == NS_NO_EXPONENT;
  if (left_out) match_all(&m, out);
  split_sets(s, b);
  for (int j = 0; j < n; j++)
    if (!out[j]) match_unite(&m, s, j, out);
  tie_loosely(b, s, E);
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      int *e = &E[i + (ptrdiff_t)j * n];
      if (*e != NS_NO_EXPONENT && tied_exponent(b, E, i, j) < ROUNDING) *e = NS_NO_EXPONENT;
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
  Sets s;
  tie_dense(b, &s, E, n);
  bool narrow = narrow_means(b, E);
  if (!narrow) tie_matched(b, &s, E);
  for (int i = 0; i < n; i++) b->row_tree[i] = b->parent[i], b->col_tree[i] = b->parent[n + i];
  if (narrow) return true;
  for (int i = 0; i < n; i++) b->row[i] = b->offset[i], b->col[i] = -b->offset[n + i];
  row_means(b, E, n);
  return column_means(b, E, n);
}

/* ---- units ---- */

void ns_units_take(NsUnits *u, NsArena *arena, ptrdiff_t nmax) {
  NS_ARENA_INTS(arena, nmax, &u->w, &u->z);
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
  bool guessed = false; /* the size of some tree is that of the guess */
  for (int k = 0; k < n && d->guess; k++) guessed |= u->most[d->col_tree[member ? member[k] : k]] == NS_NO_EXPONENT;
  for (int k = 0; k < 2 * n && guessed; k++) u->bare[k] = u->most[k] == NS_NO_EXPONENT;
  for (int k = 0; k < n && guessed; k++) {
    int i = member ? member[k] : k, tree = d->col_tree[i];
    if (u->bare[tree]) u->most[tree] = ns_larger_exponent(u->most[tree], d->guess[i], -d->col[i]);
  }
  for (int k = 0; k < n; k++) {
    int i = member ? member[k] : k, of_w = u->most[d->row_tree[i]], of_z = u->most[d->col_tree[i]];
    u->w[k] = d->row[i] - (of_w > NS_NO_EXPONENT ? of_w : 0);
    u->z[k] = -d->col[i] - (of_z > NS_NO_EXPONENT ? of_z : 0);
  }
}
