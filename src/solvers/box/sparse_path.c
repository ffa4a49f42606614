/*
** sparse_path.c
** Complementary pivoting on a basis that KLU factors.
*/
#include "solvers/box/sparse_path.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/sparse_lu.h"
#include "solvers/residual.h"

/*
** ETAS: pivots between two factorisations. Measured on 3,000 variables with 5 entries per column: a solve with the factors
** costs about as much as 20 eta vectors, a factorisation as much as 15 solves.
*/
enum { ETAS = 48 };

/*
** SLIP: how far a variable may pass its bound, relative to its size or to 1; so of nearly equal ratios the one with the
** largest pivot is taken (Harris, Math. Prog. 5, 1973). SMALL: least pivot over the largest entry of its column.
*/
static const double SLIP = 1e-10, SMALL = 1e-9;

typedef enum Side { HELD_LOW, HELD_HIGH } Side;

/* Numbers of the variables: z_i is i, w_i is n + i, t is 2 n. */
struct NsSparsePath {
  int n;
  NsArena arena;
  NsSparse *B; /* the basis, with the pattern of M */
  NsSparseLu *lu;
  int *basic;            /* n: the basic variable at each position */
  bool *is_basic;        /* 2 n + 1 */
  Side *side;            /* n: the side on which a nonbasic z_i is held: w_i >= 0 or w_i <= 0 */
  double *held;          /* n: where it is held: a bound, or the start of the path */
  double *x;             /* n: values of the basic variables */
  double *r;             /* n */
  double *column, *etas; /* n; ETAS x n */
  int *eta_place;        /* the position that each eta vector replaced */
  int eta_count;
  const NsSparse *M; /* of the current solve */
  const double *q;
  double *lower, *upper;
};

NsStatus ns_sparse_path_new(NsSparsePath **out, const NsSparse *M) {
  *out = NULL;
  if (M->rows != M->cols) return NS_ESIZE;
  NsSparsePath *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  int n = s->n = M->cols;
  s->basic = ns_arena_ints(&s->arena, n);
  s->is_basic = ns_arena_take(&s->arena, 2 * (size_t)n + 1, sizeof *s->is_basic);
  s->side = ns_arena_take(&s->arena, (size_t)n, sizeof *s->side);
  NS_ARENA_VECTORS(&s->arena, n, &s->x, &s->lower, &s->upper, &s->held, &s->r, &s->column);
  s->etas = ns_arena_matrix(&s->arena, ETAS + 1, n);
  s->eta_place = ns_arena_ints(&s->arena, ETAS + 1);
  NsStatus status = s->arena.failed ? NS_ENOMEM : ns_sparse_copy(&s->B, M);
  if (!status) status = ns_sparse_lu_new(&s->lu, s->B);
  if (status) return ns_sparse_path_free(s), status;
  *out = s;
  return NS_OK;
}

void ns_sparse_path_free(NsSparsePath *s) {
  if (!s) return;
  ns_sparse_lu_free(s->lu);
  ns_sparse_free(s->B);
  ns_arena_release(&s->arena);
  ns_free(s);
}

/* ---- the basis ---- */

static int path_parameter(const NsSparsePath *s) {
  return 2 * s->n;
}

/* out += factor times the column of a variable in M z - w - t r. */
static void sparse_path_add_column(const NsSparsePath *s, int variable, double factor, double *out) {
  if (variable == path_parameter(s)) {
    for (int i = 0; i < s->n; i++) out[i] -= factor * s->r[i];
  } else if (variable >= s->n) {
    out[variable - s->n] -= factor;
  } else {
    for (int k = s->M->colptr[variable]; k < s->M->colptr[variable + 1]; k++) out[s->M->row[k]] += factor * s->M->value[k];
  }
}

/* b = basis^-1 b. */
static void solve_basis(const NsSparsePath *s, double *b) {
  int n = s->n;
  ns_sparse_lu_solve(s->lu, 1, b, n);
  for (int k = 0; k < s->eta_count; k++) {
    const double *eta = s->etas + (size_t)k * (size_t)n;
    int place = s->eta_place[k];
    double pivot = b[place] / eta[place];
    if (pivot != 0)
      for (int i = 0; i < n; i++) b[i] -= eta[i] * pivot;
    b[place] = pivot;
  }
}

/* Puts a variable, whose column is `d` in terms of the basis, at a position of the basis. */
static void sparse_path_replace(NsSparsePath *s, int place, int variable, const double *d) {
  memcpy(s->etas + (size_t)s->eta_count * (size_t)s->n, d, (size_t)s->n * sizeof *d);
  s->eta_place[s->eta_count++] = place;
  s->is_basic[s->basic[place]] = false;
  s->is_basic[variable] = true;
  s->basic[place] = variable;
}

/* Sets column j of the basis to the column of z_j or w_j. */
static void set_basis_column(NsSparsePath *s, int j, bool of_z) {
  for (int k = s->B->colptr[j]; k < s->B->colptr[j + 1]; k++)
    s->B->value[k] = of_z ? s->M->value[k] : s->B->row[k] == j ? -1 : 0;
}

static NsStatus factor_basis(NsSparsePath *s) {
  NsStatus status = ns_sparse_lu_refactor(s->lu, s->B, NULL);
  s->eta_count = 0;
  return status == NS_OK || status == NS_ENOMEM ? status : NS_ESINGULAR;
}

/* s->column: basis^-1 times the column of a variable. */
static void find_column(NsSparsePath *s, int variable) {
  memset(s->column, 0, (size_t)s->n * sizeof *s->column);
  sparse_path_add_column(s, variable, 1, s->column);
  solve_basis(s, s->column);
}

/*
** Factors the basis again, with the variable of pair j at position j. t takes the position of the pair without a basic
** variable; the factors use a variable of that pair instead, and an eta vector brings t in.
*/
static NsStatus renew_basis(NsSparsePath *s) {
  int n = s->n, left = -1;
  for (int j = 0; j < n; j++) {
    bool z = s->is_basic[j], w = s->is_basic[n + j];
    if (!z && !w) left = j;
    s->basic[j] = z ? j : n + j;
    set_basis_column(s, j, z);
  }
  NsStatus status = factor_basis(s);
  if (left < 0) return status;
  for (int turn = 0; turn < 2; turn++) {
    if (turn == 1) {
      s->basic[left] = left;
      set_basis_column(s, left, true);
      status = factor_basis(s);
    }
    if (status == NS_ENOMEM) return status;
    if (status != NS_OK) continue;
    find_column(s, path_parameter(s));
    if (s->column[left] == 0 || !isfinite(s->column[left])) continue;
    sparse_path_replace(s, left, path_parameter(s), s->column);
    return NS_OK;
  }
  return NS_ESINGULAR;
}

/* Computes the basic variables (t given if nonbasic, other nonbasic ones held or 0), with one refinement in s->column. */
static void find_values(NsSparsePath *s, double t) {
  int n = s->n;
  memset(s->x, 0, (size_t)n * sizeof *s->x);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) s->column[i] = -s->q[i];
    for (int i = 0; i < n; i++)
      if (!s->is_basic[i]) sparse_path_add_column(s, i, -s->held[i], s->column);
    if (!s->is_basic[path_parameter(s)]) sparse_path_add_column(s, path_parameter(s), -t, s->column);
    for (int place = 0; place < n; place++)
      if (s->x[place] != 0) sparse_path_add_column(s, s->basic[place], -s->x[place], s->column);
    solve_basis(s, s->column);
    for (int place = 0; place < n; place++) s->x[place] += s->column[place];
  }
}

/* ---- the path ---- */

/* The bounds of a variable while it is basic. */
static void bounds_of(const NsSparsePath *s, int variable, double *least, double *most) {
  int n = s->n, i = variable - n;
  *least = 0;
  *most = INFINITY;
  if (variable == path_parameter(s)) return;
  if (variable < n) {
    *least = s->lower[variable], *most = s->upper[variable];
  } else if (s->lower[i] == s->upper[i]) {
    *least = -INFINITY;
  } else if (s->side[i] == HELD_HIGH) {
    *least = -INFINITY, *most = 0;
  }
}

/* The step length at which a basic variable x, with rate of change -rate, meets its bound. */
static double sparse_path_room_of(double x, double rate, double least, double most, double slip) {
  double to = rate > 0 ? x - least : most - x;
  return (fmax(to, 0) + slip) / fabs(rate);
}

/*
** The position that blocks a variable which moves by `sign` (its column is in s->column), and the length; -1: none blocks.
** Of the positions within SLIP of the first: t, else the one with the largest pivot.
*/
static int find_stop(const NsSparsePath *s, double sign, double *length) {
  double most_pivot = 0, limit = INFINITY, least, most;
  int stop = -1;
  for (int k = 0; k < s->n; k++) most_pivot = fmax(most_pivot, fabs(s->column[k]));
  for (int pass = 0; pass < 2; pass++) {
    double best = 0;
    for (int k = 0; k < s->n; k++) {
      double rate = sign * s->column[k];
      if (fabs(rate) <= SMALL * most_pivot) continue;
      bounds_of(s, s->basic[k], &least, &most);
      if ((rate > 0 ? least : -most) == -INFINITY) continue;
      if (pass == 0) {
        limit = fmin(limit, sparse_path_room_of(s->x[k], rate, least, most, SLIP * (1 + fabs(s->x[k]))));
        continue;
      }
      double room = sparse_path_room_of(s->x[k], rate, least, most, 0);
      double pivot = s->basic[k] == path_parameter(s) ? INFINITY : fabs(rate);
      if (room <= limit && pivot > best) best = pivot, stop = k, *length = room;
    }
    if (limit == INFINITY) return -1;
  }
  return stop;
}

static void advance_values(NsSparsePath *s, double sign, double length) {
  for (int k = 0; k < s->n; k++) s->x[k] -= sign * length * s->column[k];
}

/* The variable that moves next, which is the partner of `variable`; *sign: its direction. */
static int partner_of(NsSparsePath *s, int variable, bool at_least, double *sign) {
  int n = s->n, i = variable < n ? variable : variable - n;
  if (variable < n) {
    s->side[i] = at_least ? HELD_LOW : HELD_HIGH;
    s->held[i] = at_least ? s->lower[i] : s->upper[i];
  }
  *sign = s->side[i] == HELD_LOW ? 1 : -1;
  return variable < n ? n + i : i;
}

/* How far a nonbasic variable may move before its own other bound. */
static double own_room(const NsSparsePath *s, int variable, double sign) {
  if (variable == path_parameter(s)) return 1;
  if (variable >= s->n) return INFINITY;
  return sign > 0 ? s->upper[variable] - s->held[variable] : s->held[variable] - s->lower[variable];
}

/*
** One pivot with the entering variable *entering and direction *sign. 1: t has reached 0; 0: the path continues; else -status.
*/
static int pivot_once(NsSparsePath *s, int *entering, double *sign) {
  int t = path_parameter(s), variable = *entering;
  double length = INFINITY;
  find_column(s, variable);
  int place = find_stop(s, *sign, &length);
  double own = own_room(s, variable, *sign);
  if (place < 0 && own == INFINITY) return -(int)NS_ERAY;
  if (place < 0 || own <= length) { /* moves to its own other bound: the basis stays */
    advance_values(s, *sign, own);
    if (variable == t) return 1;
    *entering = partner_of(s, variable, *sign < 0, sign);
    return 0;
  }
  int leaving = s->basic[place];
  double rate = *sign * s->column[place];
  double from = variable == t ? 1 : variable < s->n ? s->held[variable] : 0;
  advance_values(s, *sign, length);
  sparse_path_replace(s, place, variable, s->column);
  s->x[place] = from + *sign * length;
  if (leaving == t) return 1;
  *entering = partner_of(s, leaving, rate > 0, sign);
  return 0;
}

/* The bounds of this solve. */
static void set_bounds(NsSparsePath *s, const double *lower, const double *upper, double compact) {
  double size = 1;
  for (int i = 0; i < s->n; i++) {
    size = fmax(size, fabs(s->q[i]));
    if (isfinite(lower[i])) size = fmax(size, fabs(lower[i]));
    if (isfinite(upper[i])) size = fmax(size, fabs(upper[i]));
  }
  for (int i = 0; i < s->n; i++) {
    bool half = compact > 0 && isfinite(lower[i]) != isfinite(upper[i]);
    s->lower[i] = half && lower[i] == -INFINITY ? -compact * size : lower[i];
    s->upper[i] = half && upper[i] == INFINITY ? compact * size : upper[i];
  }
}

static void begin_pair(NsSparsePath *s, int i, bool held, Side side, double z) {
  s->side[i] = side;
  s->held[i] = z;
  s->is_basic[held ? s->n + i : i] = true;
}

/* Begins at a guess: z at bounds are held, all else is basic; r is such that the equations hold at t = 1. */
static NsStatus begin_at_guess(NsSparsePath *s, const NsPathStart *start) {
  memcpy(s->r, s->q, (size_t)s->n * sizeof *s->r);
  for (int i = 0; i < s->n; i++) {
    double l = s->lower[i], u = s->upper[i], z = start->z[i], w = start->w[i];
    double inside = fmin(start->inside, (u - l) / 4), away = start->inside / start->rho[i];
    double forward = z - start->rho[i] * w;
    bool low = l == u || forward <= l, high = !low && forward >= u;
    z = low ? l : high ? u : fmin(fmax(z, l + inside), u - inside);
    w = l == u ? w : low ? fmax(w, away) : high ? fmin(w, -away) : 0;
    begin_pair(s, i, low || high, high ? HELD_HIGH : HELD_LOW, z);
    for (int k = s->M->colptr[i]; k < s->M->colptr[i + 1] && z != 0; k++) s->r[s->M->row[k]] += s->M->value[k] * z;
    s->r[i] -= w;
  }
  NsStatus status = renew_basis(s);
  if (status == NS_OK) find_values(s, 1);
  return status;
}

/* Unequal numbers from 1 to 4, so that few variables reach their bounds at once. */
static double cover_of(int i) {
  return 1 + 3 * fmod(0.6180339887498949 * (i + 1), 1);
}

/*
** Begins with every bounded variable held at a bound; r has the signs that w requires there. This is the end of a ray, on
** which the path comes in; if all bounds are finite, it can not leave on another ray.
*/
static NsStatus begin_at_bounds(NsSparsePath *s, bool upper) {
  int n = s->n;
  double wrong = 0, least, most;
  memset(s->r, 0, (size_t)n * sizeof *s->r);
  for (int i = 0; i < n; i++) {
    double l = s->lower[i], u = s->upper[i];
    bool high = isfinite(u) && (upper || l == -INFINITY);
    begin_pair(s, i, isfinite(l) || isfinite(u), high ? HELD_HIGH : HELD_LOW, high ? u : l);
  }
  NsStatus status = renew_basis(s);
  if (status != NS_OK) return status;
  find_values(s, 0);
  for (int i = 0; i < n; i++) {
    bounds_of(s, s->basic[i], &least, &most);
    wrong = fmax(wrong, fmax(least - s->x[i], s->x[i] - most));
  }
  for (int i = 0; i < n; i++) {
    bool settled = s->basic[i] < n || s->lower[i] == s->upper[i];
    s->r[i] = settled ? 0 : (s->side[i] == HELD_LOW ? -2 : 2) * wrong * cover_of(i);
  }
  find_values(s, 1);
  return NS_OK;
}

static void read_solution(const NsSparsePath *s, double *z) {
  int n = s->n;
  for (int i = 0; i < n; i++)
    if (!s->is_basic[i]) z[i] = s->held[i];
  for (int k = 0; k < n; k++) {
    int i = s->basic[k];
    if (i < n) z[i] = ns_box_clamp(s->x[k], s->lower[i], s->upper[i]);
  }
}

NsStatus ns_sparse_path_solve(NsSparsePath *s, const NsSparse *M, const double *q, const double *lower, const double *upper,
                              const NsPathStart *start, double *z, int *pivots) {
  int entering = path_parameter(s), moved = 0;
  double sign = -1;
  s->M = M, s->q = q;
  memset(s->is_basic, 0, (2 * (size_t)s->n + 1) * sizeof *s->is_basic);
  set_bounds(s, lower, upper, start->compact);
  NsStatus status = start->z ? begin_at_guess(s, start) : begin_at_bounds(s, start->upper);
  for (*pivots = 0; status == NS_OK && moved == 0; ++*pivots) {
    if (*pivots >= start->max_pivots) return NS_EMAXITER;
    if (s->eta_count >= ETAS) {
      if (ns_interrupted()) return NS_EINTR;
      status = renew_basis(s);
      if (status == NS_OK) find_values(s, 1);
      if (status) break;
    }
    moved = pivot_once(s, &entering, &sign);
    if (moved < 0) status = (NsStatus)-moved;
  }
  if (status) return status;
  status = renew_basis(s);
  if (status) return status;
  find_values(s, 0);
  read_solution(s, z);
  return NS_OK;
}
