/*
** sparse_box.c
** Solves each connected component of a sparse problem, scaled by powers of two; the scaling is undone exactly.
*/
#include "solvers/box/sparse_box.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/balance.h"
#include "solvers/components.h"
#include "solvers/box/one_variable.h"
#include "solvers/residual.h"
#include "solvers/box/sparse_chain.h"

/*
** FEW: variables up to which a component that the sparse methods do not solve goes to the dense ones, which are those for matrices of any kind. 128: a
** failure of theirs takes as long as the failures before it, some 30 ms.
*/
enum { FEW = 128 };

/* A component of more than one variable: its balanced matrix and its solver. */
typedef struct SparsePiece {
  NsSparse *M;
  NsSparseChain *chain;
} SparsePiece;

struct NsSparseBox {
  NsArena arena;
  NsBoxOptions options;
  NsComponents parts;
  int n;
  int *row, *col;           /* exponents of the balanced rows and variables */
  int *row_tree, *col_tree; /* trees of rows and columns, see balance.h */
  NsUnits units;            /* of the current component */
  double *diagonal, *largest;
  SparsePiece *piece; /* by components */
  int pieces;
  double *q, *lower, *upper, *guess, *z, *w; /* of the current component, scaled */
  NsBox *dense;                              /* for components of few variables; NULL: none needed it yet */
  double *M, *dense_z, *dense_w;             /* a matrix of FEW variables at most, and its solution */
  double *fresh, *size;                      /* its product with z, computed afresh, and the terms of that */
  NsLost lost;
};

static void take_piece_room(NsSparseBox *s) {
  NS_ARENA_VECTORS(&s->arena, s->n, &s->diagonal, &s->largest, &s->q, &s->lower, &s->upper, &s->guess, &s->z, &s->w);
  NS_ARENA_INTS(&s->arena, s->n, &s->row, &s->col, &s->row_tree, &s->col_tree);
  ns_units_take(&s->units, &s->arena, s->n);
  ns_components_take(&s->parts, &s->arena, s->n);
}

static void find_parts(NsSparseBox *s, const NsSparse *M) {
  ns_components_begin(&s->parts, s->n);
  for (int j = 0; j < s->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      int i = M->row[k];
      if (M->value[k] != 0 && i != j) ns_components_join(&s->parts, i, j);
      if (i == j) s->diagonal[j] = M->value[k];
      s->largest[i] = ns_larger(s->largest[i], fabs(M->value[k]));
    }
  ns_components_finish(&s->parts);
}

/* Extracts component c of M; place[i] is the index of variable i within its component. */
static NsStatus cut_out(const NsSparseBox *s, const NsSparse *M, const int *place, int c, NsSparse **out) {
  const int *member = s->parts.member + s->parts.start[c];
  int size = ns_components_size(&s->parts, c), count = 0;
  for (int j = 0; j < size; j++) count += M->colptr[member[j] + 1] - M->colptr[member[j]];
  NsStatus status = ns_sparse_new(out, size, size, count);
  if (status) return status;
  count = 0;
  for (int j = 0; j < size; j++) {
    for (int k = M->colptr[member[j]]; k < M->colptr[member[j] + 1]; k++) {
      if (s->parts.of[M->row[k]] != c) continue; /* a stored zero */
      (*out)->row[count] = place[M->row[k]];
      (*out)->value[count++] = M->value[k];
    }
    (*out)->colptr[j + 1] = count;
  }
  return NS_OK;
}

/* Scales the entries of the component, unless scaling would overflow or lose digits. */
static void scale_piece(NsSparse *M, int *row, int *col) {
  bool exact = true;
  for (int j = 0; j < M->cols; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) exact = exact && ns_power_fits(M->value[k], row[M->row[k]] + col[j]);
  if (!exact) {
    memset(row, 0, (size_t)M->cols * sizeof *row);
    memset(col, 0, (size_t)M->cols * sizeof *col);
    return;
  }
  for (int j = 0; j < M->cols; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) M->value[k] = ns_times_power(M->value[k], row[M->row[k]] + col[j]);
}

/* Makes the piece of component c; stores its exponents in s->row, s->col at the positions of its members. */
static NsStatus make_piece(NsSparseBox *s, const NsSparse *M, NsBalance *balance, const int *place, int c) {
  SparsePiece *piece = &s->piece[c];
  const int *member = s->parts.member + s->parts.start[c];
  NsStatus status = cut_out(s, M, place, c, &piece->M);
  if (status) return status;
  ns_balance_sparse(balance, piece->M);
  scale_piece(piece->M, balance->row, balance->col);
  for (int k = 0; k < piece->M->cols; k++) {
    int i = member[k];
    s->row[i] = balance->row[k], s->col[i] = balance->col[k];
    s->row_tree[i] = balance->row_tree[k], s->col_tree[i] = balance->col_tree[k];
  }
  return ns_sparse_chain_new(&piece->chain, piece->M, &s->options);
}

static NsStatus make_pieces(NsSparseBox *s, const NsSparse *M) {
  NsArena room = {0};
  NsBalance balance;
  int most = 0;
  s->piece = ns_arena_take(&s->arena, (size_t)s->parts.count, sizeof *s->piece);
  for (int c = 0; c < s->parts.count; c++)
    if (ns_components_size(&s->parts, c) > most) most = ns_components_size(&s->parts, c);
  int *place = ns_arena_ints(&room, s->n);
  ns_balance_take(&balance, &room, most);
  NsStatus status = room.failed || s->arena.failed ? NS_ENOMEM : NS_OK;
  for (int k = 0; k < s->n && !status; k++) place[s->parts.member[k]] = k - s->parts.start[s->parts.of[s->parts.member[k]]];
  for (; s->pieces < s->parts.count && !status; s->pieces++)
    if (ns_components_size(&s->parts, s->pieces) > 1) status = make_piece(s, M, &balance, place, s->pieces);
  ns_arena_release(&room);
  return status;
}

NsStatus ns_sparse_box_new(NsSparseBox **out, const NsSparse *M, const NsBoxOptions *options) {
  *out = NULL;
  if (M->rows != M->cols) return NS_ESIZE;
  if (options->method && !ns_sparse_method(options->method)) return NS_EARG;
  NsSparseBox *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->options = *options;
  s->n = M->cols;
  take_piece_room(s);
  NsStatus status = s->arena.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    find_parts(s, M);
    status = make_pieces(s, M);
  }
  if (status) ns_sparse_box_free(s);
  else *out = s;
  return status;
}

void ns_sparse_box_free(NsSparseBox *s) {
  if (!s) return;
  for (int c = 0; s->piece && c < s->parts.count; c++) {
    ns_sparse_chain_free(s->piece[c].chain);
    ns_sparse_free(s->piece[c].M);
  }
  ns_box_free(s->dense);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsBoxOptions *ns_sparse_box_options(NsSparseBox *s) {
  return &s->options;
}

/* ---- one solve ---- */

/* A problem in the caller's units. */
typedef struct Given {
  const double *q, *lower, *upper, *guess;
} Given;

static NsStatus check_vectors(const NsSparseBox *s, const Given *p) {
  double sum = 0;
  for (int i = 0; i < s->n; i++) {
    double l = p->lower[i], u = p->upper[i];
    sum += p->q[i] * 0 + s->largest[i] * 0;
    if (l != l || u != u) return NS_ENAN;
    if (!(l <= u && l < INFINITY && u > -INFINITY)) return NS_EARG;
  }
  return sum == 0 ? NS_OK : NS_ENAN;
}

/* Makes the solver for all components of few variables, when the first one needs it. */
static NsStatus make_dense_box(NsSparseBox *s) {
  int most = 0;
  for (int c = 0; c < s->parts.count; c++) {
    int size = ns_components_size(&s->parts, c);
    if (size <= FEW && size > most) most = size;
  }
  if (!s->M) s->M = ns_arena_matrix(&s->arena, most, most);
  if (!s->lost.reached) {
    NS_ARENA_VECTORS(&s->arena, most, &s->dense_z, &s->dense_w, &s->fresh, &s->size);
    ns_lost_take(&s->lost, &s->arena, most);
  }
  if (!s->arena.failed) return ns_box_new(&s->dense, most);
  s->arena.failed = false; /* the next one may try again */
  s->M = NULL, s->lost.reached = NULL;
  return NS_ENOMEM;
}

/* Whether some row of the dense answer misses its data. */
static bool misses_data(NsSparseBox *s, const NsSparse *M, const NsBoxProblem *p) {
  ns_box_product(p, s->dense_z, s->fresh, s->size);
  return ns_box_misses(&s->lost, p, M, s->dense_z, s->fresh, s->size);
}

/*
** Solves a scaled component of few variables by the dense methods, when those have an answer or a proof that there is none. An answer far out that
** misses the data does not count.
*/
static void solve_densely(NsSparseBox *s, const NsSparse *M, bool guess, NsSolverInfo *info) {
  int n = M->cols;
  NsSolverInfo own;
  NsStatus status = s->dense ? NS_OK : make_dense_box(s);
  if (status) {
    info->status = status;
    return;
  }
  memset(s->M, 0, (size_t)n * (size_t)n * sizeof *s->M);
  for (int j = 0; j < n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) s->M[M->row[k] + (size_t)j * (size_t)n] = M->value[k];
  const NsBoxProblem p = {n, s->M, n, s->q, s->lower, s->upper, NS_FADED};
  *ns_box_options(s->dense) = s->options;
  status = ns_box_solve(s->dense, &p, guess ? s->guess : NULL, s->dense_z, s->dense_w, &own);
  if (status == NS_EINTR) info->status = status;
  if (status != NS_OK && status != NS_ENOSOL) return;
  if (status == NS_OK && misses_data(s, M, &p)) return;
  memcpy(s->z, s->dense_z, (size_t)n * sizeof *s->z);
  memcpy(s->w, s->dense_w, (size_t)n * sizeof *s->w);
  *info = own;
}

/* Whether the answer of a component has no finite number in the given units. */
static bool overflows(const NsSparseBox *s, int size) {
  for (int k = 0; k < size; k++)
    if (!(fabs(ns_times_power(s->z[k], -s->units.z[k])) <= DBL_MAX)) return true;
  return false;
}

static NsSolverInfo solve_sparse_piece(NsSparseBox *s, const Given *p, int c, double *z, double *w) {
  const int *member = s->parts.member + s->parts.start[c];
  int size = ns_components_size(&s->parts, c);
  NsSolverInfo info;
  const NsUnitsData data = {s->row, s->col, s->row_tree, s->col_tree, p->q, p->lower, p->upper, p->guess};
  ns_units_find(&s->units, &data, member, size);
  for (int k = 0; k < size; k++) {
    int i = member[k];
    s->q[k] = ns_times_power(p->q[i], s->units.w[k]);
    s->lower[k] = ns_times_power(p->lower[i], s->units.z[k]);
    s->upper[k] = ns_times_power(p->upper[i], s->units.z[k]);
    if (p->guess) s->guess[k] = ns_times_power(p->guess[i], s->units.z[k]);
  }
  *ns_sparse_chain_options(s->piece[c].chain) = s->options;
  ns_sparse_chain_solve(s->piece[c].chain, s->q, s->lower, s->upper, p->guess ? s->guess : NULL, s->z, s->w, &info);
  if (info.status == NS_OK && overflows(s, size)) info.status = NS_ENAN;
  bool open = info.status != NS_OK && info.status != NS_EINTR && !s->options.method;
  if (open && size <= FEW) solve_densely(s, s->piece[c].M, p->guess, &info);
  for (int k = 0; k < size; k++) {
    int i = member[k];
    z[i] = s->z[k] == s->lower[k]   ? p->lower[i]
           : s->z[k] == s->upper[k] ? p->upper[i]
                                    : ns_box_clamp(ns_times_power(s->z[k], -s->units.z[k]), p->lower[i], p->upper[i]);
    w[i] = ns_times_power(s->w[k], -s->units.w[k]);
  }
  return info;
}

/* When there is no answer: writes the guess, clamped to the bounds. */
static void give_start(const Given *p, const NsOneVariable *one, int i, double *z, double *w) {
  *z = ns_box_clamp(p->guess && fabs(p->guess[i]) <= DBL_MAX ? p->guess[i] : 0, one->lower, one->upper);
  *w = one->m * *z + one->q;
}

static NsSolverInfo solve_alone(const NsSparseBox *s, const Given *p, int i, double *z, double *w) {
  const NsOneVariable one = {s->diagonal[i], p->q[i], p->lower[i], p->upper[i]};
  if (s->options.method && s->options.method->needs && !(s->diagonal[i] > 0)) {
    give_start(p, &one, i, z, w);
    return (NsSolverInfo){NS_EARG, 0, 0, 0, INFINITY, false, s->options.method->name};
  }
  NsSolverInfo info = ns_one_variable_solve(&one, p->guess ? p->guess[i] : 0, s->options.tolerance, z, w);
  if (info.status == NS_OK) return info;
  give_start(p, &one, i, z, w);
  return info;
}

/* The largest |z - proj(z - rho w)|, in the units of z. */
static double natural_residual_of(const NsSparseBox *s, const Given *p, const double *z, const double *w) {
  double worst = 0;
  for (int i = 0; i < s->n; i++) {
    double rho = s->diagonal[i] > 0 ? 1 / s->diagonal[i] : s->largest[i] > 0 ? 1 / s->largest[i] : 1;
    double r = fabs(z[i] - ns_box_clamp(z[i] - rho * w[i], p->lower[i], p->upper[i]));
    worst = r <= DBL_MAX ? ns_larger(worst, r) : INFINITY;
  }
  return worst;
}

NsStatus ns_sparse_box_solve(NsSparseBox *s, const double *q, const double *lower, const double *upper, const double *guess,
                             double *z, double *w, NsSolverInfo *info) {
  Given p = {q, lower, upper, guess};
  NsStatus status = check_vectors(s, &p);
  if (status) {
    for (int i = 0; i < s->n; i++) z[i] = w[i] = NAN;
    *info = (NsSolverInfo){status, 0, INFINITY, INFINITY, INFINITY, false, "none"};
    return status;
  }
  NsSolverTotal total = ns_solver_total("closed form");
  for (int c = 0; c < s->parts.count; c++) {
    int first = s->parts.member[s->parts.start[c]];
    NsSolverInfo own = s->piece[c].chain ? solve_sparse_piece(s, &p, c, z, w) : solve_alone(s, &p, first, &z[first], &w[first]);
    ns_solver_add(&total, &own);
  }
  *info = total.info;
  info->residual = natural_residual_of(s, &p, z, w);
  if (info->status == NS_OK && info->residual == INFINITY) info->status = NS_ENAN;
  return info->status;
}
