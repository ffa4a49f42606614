/*
** box_solver.c
** Solves each connected component of a box problem in balanced units by the chains of dense_chain.c.
*/
#include "solvers/box/box_solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "linalg/dense.h"
#include "solvers/balance.h"
#include "solvers/box/methods.h"
#include "solvers/box/dense_search.h"
#include "solvers/box/one_variable.h"
#include "solvers/components.h"
#include "solvers/residual.h"

/* Default tolerance. 1e-11: four digits above rounding, for answers that come from sweeps. */
static const double default_tolerance = 1e-11;

struct NsBox {
  NsArena arena;
  NsBoxOptions options;
  NsDenseSearch search;
  NsMethods methods;
  NsChain given, balanced; /* for the problem in the given units; in balanced units */
  int nmax;
  NsBoxProblem reduced; /* the current component, without fixed variables and in balanced units */
  NsComponents parts;
  NsBalance balance;
  NsUnits units; /* of the current component */
  double *M, *q, *lower, *upper, *near;
  double *fresh;        /* n: recomputed w; workspace of the balance */
  int *keep;            /* variables that are not settled alone, sorted by component */
  const int *listed;    /* the b->kept variables of the last enumeration */
  int kept, order;      /* order: number of variables of the last problem */
  signed char *settled; /* n: the variable is settled alone, outside of the components */
  signed char *known;   /* n: w is already known */
  double *ray;          /* of the problem */
};

static void box_take_vectors(NsBox *b, int n) {
  NS_ARENA_VECTORS(&b->arena, n, &b->q, &b->lower, &b->upper, &b->near, &b->fresh, &b->ray);
  b->M = ns_arena_matrix(&b->arena, n, n);
  b->keep = ns_arena_ints(&b->arena, n);
  b->settled = ns_arena_take(&b->arena, (size_t)n, 1);
  b->known = ns_arena_take(&b->arena, (size_t)n, 1);
  ns_units_take(&b->units, &b->arena, n);
  ns_components_take(&b->parts, &b->arena, n);
  ns_balance_take(&b->balance, &b->arena, n);
}

NsStatus ns_box_new(NsBox **out, int nmax) {
  *out = NULL;
  if (nmax < 0) return NS_EARG;
  NsBox *b = ns_alloc(1, sizeof *b);
  if (!b) return NS_ENOMEM;
  b->nmax = nmax;
  b->options = (NsBoxOptions){default_tolerance, 0, NULL, 0};
  box_take_vectors(b, nmax);
  NsStatus status = ns_dense_search_take(&b->search, &b->arena, &b->options, nmax);
  if (!status) status = ns_methods_reserve(&b->methods, ns_box_methods, &b->arena, &b->search.box.base);
  if (!status) status = ns_chain_bind(&b->given, ns_box_chain_given, &b->methods, &b->arena);
  if (!status) status = ns_chain_bind(&b->balanced, ns_box_chain_balanced, &b->methods, &b->arena);
  if (status) return ns_box_free(b), status;
  *out = b;
  return NS_OK;
}

void ns_box_free(NsBox *b) {
  if (!b) return;
  ns_methods_release(&b->methods);
  ns_dense_search_release(&b->search);
  ns_arena_release(&b->arena);
  ns_free(b);
}

void ns_box_solution(const NsBox *b, int k, double *z) {
  for (int i = 0; i < b->kept; i++) z[b->listed[i]] = b->search.solution[(size_t)k * (size_t)b->kept + (size_t)i];
}

bool ns_box_ray(const NsBox *b, double *ray) {
  if (!b->search.has_ray) return false;
  memcpy(ray, b->ray, (size_t)b->order * sizeof *ray);
  return true;
}

NsBoxOptions *ns_box_options(NsBox *b) {
  return &b->options;
}

int ns_box_solutions(const NsBox *b) {
  return b->search.found;
}

/* Component i of the guess; 0 when there is none or it is not finite. */
static double guessed(const double *guess, int i) {
  return guess && fabs(guess[i]) <= DBL_MAX ? guess[i] : 0;
}

static NsStatus check_data(const NsBoxProblem *p) {
  bool crossed = false, finite = ns_is_finite(p->n, 1, p->q, p->n) && ns_is_finite(p->n, p->n, p->M, p->ldm);
  for (int j = 0; j < p->n; j++) {
    double l = p->lower[j], u = p->upper[j];
    if (l <= u && l < INFINITY && u > -INFINITY) continue;
    if (l != l || u != u) return NS_ENAN;
    crossed = true;
  }
  return !finite ? NS_ENAN : crossed ? NS_EARG : NS_OK;
}

/* Whether the data of a problem of one variable can be solved. */
static bool is_sound(const NsBoxProblem *p) {
  double l = p->lower[0], u = p->upper[0];
  return p->M[0] * 0 + p->q[0] * 0 == 0 && l <= u && l < INFINITY && u > -INFINITY;
}

static bool stands_alone(const NsBoxProblem *p, int i) {
  for (int j = 0; j < p->n; j++)
    if (p->M[i + (size_t)j * (size_t)p->ldm] != 0 || p->M[j + (size_t)i * (size_t)p->ldm] != 0) return false;
  return true;
}

/*
** Settles fixed and isolated variables; the others go to b->keep. Returns their number; *solvable: all settled ones have a z.
*/
static int settle_alone(NsBox *b, const NsBoxProblem *p, const double *guess, double *z, bool *solvable) {
  int kept = 0;
  *solvable = true;
  for (int i = 0; i < p->n; i++) {
    double l = p->lower[i], u = p->upper[i];
    if (l != u && (p->M[i + (size_t)i * (size_t)p->ldm] != 0 || !stands_alone(p, i))) {
      b->keep[kept++] = i;
      continue;
    }
    const NsOneVariable one = {0, p->q[i], l, u};
    if (ns_one_variable(&one, guessed(guess, i), &z[i])) z[i] = ns_box_clamp(guessed(guess, i), l, u), *solvable = false;
  }
  return kept;
}

/* Sorts b->keep by components. If the caller chose a method, all variables form one component. */
static void take_apart(NsBox *b, const NsBoxProblem *p, int kept) {
  if (!b->options.method) ns_components_dense(&b->parts, p->M, p->ldm, kept, b->keep);
  else ns_components_single(&b->parts, kept);
  for (int k = 0; k < kept && b->parts.count > 1; k++) b->parts.of[k] = b->keep[b->parts.member[k]];
  if (b->parts.count > 1) memcpy(b->keep, b->parts.of, (size_t)kept * sizeof *b->keep);
}

/* A component of a problem: its variables, and whether settled variables contribute to its q. */
typedef struct BoxPiece {
  const int *index;
  int n;
  bool whole;   /* contains all variables of the problem */
  bool touched; /* a settled variable contributes to its q */
} BoxPiece;

/* Rounding of a sum with the terms of all variables of p, over those terms. */
static double settled_rounding(const NsBoxProblem *p) {
  return (p->n + 2) * DBL_EPSILON;
}

/*
** b->q = q of the component plus the contribution of the settled variables; 0 where that is within the rounding of its terms, which would prove of a
** row without other terms that there is no solution.
*/
static void load_piece(NsBox *b, const NsBoxProblem *p, BoxPiece *piece, const double *z) {
  double *size = b->near;
  for (int r = 0; r < piece->n; r++) b->q[r] = p->q[piece->index[r]], size[r] = fabs(b->q[r]);
  for (int j = 0; j < p->n; j++) {
    if (!b->settled[j] || z[j] == 0) continue;
    const double *column = p->M + (size_t)j * (size_t)p->ldm;
    for (int r = 0; r < piece->n; r++) {
      double term = column[piece->index[r]] * z[j];
      b->q[r] += term;
      size[r] += fabs(term);
      piece->touched |= term != 0;
    }
  }
  for (int r = 0; r < piece->n && piece->touched; r++)
    if (fabs(b->q[r]) <= settled_rounding(p) * size[r]) b->q[r] = 0;
}

/* Extracts the component as a problem in the given units; b->near becomes its guess. */
static const NsBoxProblem *cut_piece(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess) {
  int n = piece->n;
  for (int k = 0; k < n; k++) b->near[k] = guessed(guess, piece->index[k]);
  if (piece->whole) return p;
  for (int c = 0; c < n; c++) {
    int i = piece->index[c];
    const double *from = p->M + (size_t)i * (size_t)p->ldm;
    for (int r = 0; r < n; r++) b->M[r + (size_t)c * (size_t)n] = from[piece->index[r]];
    b->lower[c] = p->lower[i];
    b->upper[c] = p->upper[i];
  }
  b->reduced = (NsBoxProblem){n, b->M, n > 0 ? n : 1, b->q, b->lower, b->upper, 0};
  return &b->reduced;
}

/* Finds the units of a component; false if scaling would overflow or lose digits. */
static bool take_box_units(NsBox *b, const NsBoxProblem *p) {
  const NsBalance *balance = &b->balance;
  bool exact = ns_balance_dense(&b->balance, p->M, p->ldm, p->n, b->search.scaled.exponent);
  const NsUnitsData data = {balance->row, balance->col, balance->row_tree, balance->col_tree,
                            p->q,         p->lower,     p->upper,          b->near};
  ns_units_find(&b->units, &data, NULL, p->n);
  for (int k = 0; k < p->n && exact; k++)
    exact = ns_power_fits(p->q[k], b->units.w[k]) && ns_power_fits(p->lower[k], b->units.z[k]) &&
            ns_power_fits(p->upper[k], b->units.z[k]);
  return exact;
}

/* Converts the component p (which may be in the arrays of b) and b->near to balanced units. */
static const NsBoxProblem *balanced(NsBox *b, const NsBoxProblem *p) {
  int n = p->n;
  if (!take_box_units(b, p))
    for (int k = 0; k < n; k++) b->balance.row[k] = b->balance.col[k] = b->units.w[k] = b->units.z[k] = 0;
  ns_balance_apply(&b->balance, p->M, p->ldm, n, b->fresh, b->M);
  for (int c = 0; c < n; c++) {
    b->q[c] = ns_times_power(p->q[c], b->units.w[c]);
    b->lower[c] = ns_times_power(p->lower[c], b->units.z[c]);
    b->upper[c] = ns_times_power(p->upper[c], b->units.z[c]);
    b->near[c] = ns_times_power(b->near[c], b->units.z[c]);
  }
  b->reduced = (NsBoxProblem){n, b->M, n > 0 ? n : 1, b->q, b->lower, b->upper, NS_FADED};
  return &b->reduced;
}

/* Variable k of the component in the units of the problem: at a bound exactly the bound, else within the bounds. */
static double unscaled(const NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, int k, double x) {
  int i = piece->index[k];
  if (x == b->lower[k]) return p->lower[i];
  if (x == b->upper[k]) return p->upper[i];
  return ns_box_clamp(ns_times_power(x, -b->units.z[k]), p->lower[i], p->upper[i]);
}

/* Converts the ray and the list of all solutions of the component to the units of the problem. */
static void keep_studies(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, bool new_ray) {
  int n = piece->n;
  if (new_ray) memset(b->ray, 0, (size_t)p->n * sizeof *b->ray);
  for (int k = 0; k < n && new_ray; k++) b->ray[piece->index[k]] = ns_times_power(b->search.ray[k], -b->units.z[k]);
  if (b->search.found == 0 || b->listed) return;
  b->listed = piece->index;
  b->kept = n;
  for (int s = 0; s < b->search.found; s++)
    for (int k = 0; k < n; k++) {
      double *x = &b->search.solution[(size_t)s * (size_t)n + (size_t)k];
      *x = unscaled(b, p, piece, k, *x);
    }
}

static void tell_outcome(const NsOutcome *out, double backward, NsSolverInfo *info) {
  *info = (NsSolverInfo){out->status, out->iterations, 0, 0, backward, out->warm, out->solver};
}

/* Writes the answer of a component that was solved in the given units. */
static void give_answer(const NsDenseSearch *search, const BoxPiece *piece, double *z, double *w) {
  const double *from_z = search->best_z, *from_w = search->best_w;
  for (int k = 0, n = piece->n; k < n; k++) z[piece->index[k]] = from_z[k], w[piece->index[k]] = from_w[k];
}

/* The same for a component in balanced units; without an answer writes the guess. */
static void give_balanced(const NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess, double *z,
                          double *w) {
  bool any = b->search.box.base.least < INFINITY;
  for (int k = 0; k < piece->n; k++) {
    int i = piece->index[k];
    z[i] = any ? unscaled(b, p, piece, k, b->search.best_z[k]) : ns_box_clamp(guessed(guess, i), p->lower[i], p->upper[i]);
    w[i] = any ? ns_times_power(b->search.best_w[k], -b->units.w[k]) : NAN;
  }
}

/* Solves one component: z and, when there is an answer, w of its members. */
static void solve_box_piece(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess, double *z, double *w,
                            NsSolverInfo *info) {
  NsDenseSearch *search = &b->search;
  NsSearch *base = &search->box.base;
  bool chain = !b->options.method, had_ray = search->has_ray;
  const NsBoxProblem *own = cut_piece(b, p, piece, guess);
  if (search->box.cold && chain && ns_box_zero_solves(own->n, own->q, own->lower, own->upper)) {
    for (int k = 0; k < piece->n; k++) z[piece->index[k]] = 0, w[piece->index[k]] = own->q[k];
    *info = (NsSolverInfo){NS_OK, 0, 0, 0, 0, true, "closed form"};
    return;
  }
  if (chain) {
    ns_dense_search_begin(search, own, b->near);
    NsOutcome early = ns_chain_run(&b->given, base);
    if (early.status == NS_OK) {
      give_answer(search, piece, z, w);
      tell_outcome(&early, base->least, info);
      return;
    }
  }
  search->has_ray = false;
  ns_dense_search_begin(search, balanced(b, own), b->near);
  NsOutcome out = chain ? ns_chain_run(&b->balanced, base) : ns_method_run(b->options.method, &b->methods, base);
  keep_studies(b, p, piece, search->has_ray);
  search->has_ray = search->has_ray || had_ray;
  give_balanced(b, p, piece, guess, z, w);
  tell_outcome(&out, base->least, info);
}

static NsStatus box_report(NsSolverInfo *info, NsSolverInfo what) {
  *info = what;
  return what.status;
}

/* The natural residual; it is 0, and not computed, if there is no violation. */
static double box_natural_residual(const NsBoxProblem *p, const double *z, const double *w, double backward, double *relative) {
  *relative = 0;
  return backward == 0 ? 0 : ns_box_residual(p, z, w, relative);
}

/*
** Measures z (verified before) and completes w: w is kept for variables that are `known` (NULL: all), else it is M z + q. *info holds
** the sum over the components, and is completed.
*/
static NsStatus box_conclude(NsBox *b, const NsBoxProblem *p, const signed char *known, const double *z, double *w,
                             NsSolverInfo *info) {
  bool good = info->status == NS_OK, all = good && (!known || !memchr(known, 0, (size_t)p->n));
  if (!all) {
    ns_box_product(p, z, b->fresh, b->search.active->size);
    for (int i = 0; i < p->n; i++)
      if (!good || !known[i]) w[i] = b->fresh[i];
  }
  info->residual = box_natural_residual(p, z, w, info->backward, &info->relative);
  if (good && info->residual == INFINITY) info->status = NS_ENAN;
  if (info->status == NS_OK) ns_box_clean(p, z, w);
  else info->backward = ns_box_backward(p, z, w, b->search.active->size);
  return info->status;
}

static void poison(const NsBoxProblem *p, double *z, double *w) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
}

static NsSolverInfo nothing_of(NsStatus status, double measure) {
  return (NsSolverInfo){status, 0, measure, measure, measure, false, "none"};
}

/* Solves a variable that is connected only to settled ones. */
static NsSolverInfo solve_single(NsBox *b, const NsBoxProblem *p, int i, const double *guess, double *z, double *w) {
  const NsOneVariable one = {p->M[i + (size_t)i * (size_t)p->ldm], b->q[0], p->lower[i], p->upper[i]};
  NsSolverInfo info = ns_one_variable_solve(&one, guessed(guess, i), b->options.tolerance, &z[i], &w[i]);
  if (info.status) z[i] = ns_box_clamp(guessed(guess, i), one.lower, one.upper);
  return info;
}

/* Solves the component whose q is in b->q. */
static NsSolverInfo solve_loaded(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess, double *z,
                                 double *w) {
  NsSolverInfo info;
  if (piece->n == 1 && !b->options.method) return solve_single(b, p, piece->index[0], guess, z, w);
  solve_box_piece(b, p, piece, guess, z, w, &info);
  return info;
}

/* Column c of b->M (all rows): the entries of variable j in the rows of the component, then zeros; with its bounds. */
static void cut_column(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, int all, int c, int j, double lower,
                       double upper) {
  double *to = b->M + (size_t)c * (size_t)all;
  const double *from = p->M + (size_t)j * (size_t)p->ldm;
  for (int r = 0; r < all; r++) to[r] = r < piece->n ? from[piece->index[r]] : 0;
  b->lower[c] = lower, b->upper[c] = upper, b->near[c] = 0;
}

/* Extracts the component, whose q is loaded, with the settled variables that act on it: each may differ from its value by rounding. */
static const NsBoxProblem *cut_rounded(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *z) {
  int all = piece->n;
  for (int j = 0; j < p->n; j++) all += b->settled[j] && z[j] != 0;
  int c = piece->n;
  for (int k = 0; k < piece->n; k++)
    cut_column(b, p, piece, all, k, piece->index[k], p->lower[piece->index[k]], p->upper[piece->index[k]]);
  for (int j = 0; j < p->n; j++) {
    double slack = settled_rounding(p) * fabs(z[j]);
    if (b->settled[j] && z[j] != 0) b->q[c] = 0, cut_column(b, p, piece, all, c++, j, -slack, slack);
  }
  b->reduced = (NsBoxProblem){all, b->M, all, b->q, b->lower, b->upper, 0};
  return &b->reduced;
}

/* Whether a proof that there is no solution holds for other values of settled variables, too, that round to the given ones. */
static bool proof_stands(NsBox *b, const NsBoxProblem *p, BoxPiece *piece, const double *z) {
  NsDenseSearch *search = &b->search;
  bool had_ray = search->has_ray;
  int found = search->found;
  if (!piece->touched) return true;
  load_piece(b, p, piece, z);
  ns_dense_search_begin(search, balanced(b, cut_rounded(b, p, piece, z)), b->near);
  NsOutcome out = ns_method_run(&ns_box_branch, &b->methods, &search->box.base);
  search->has_ray = had_ray;
  search->found = found;
  return out.status == NS_ENOSOL;
}

/* Solves one component after another, when there are several or settled variables. b->known tells whose w is written. */
static NsSolverTotal solve_pieces(NsBox *b, const NsBoxProblem *p, int kept, const double *guess, double *z, double *w) {
  NsSolverTotal total = ns_solver_total("closed form");
  memset(b->settled, 1, (size_t)p->n);
  for (int k = 0; k < kept; k++) b->settled[b->keep[k]] = 0;
  memset(b->known, 0, (size_t)p->n);
  for (int c = 0; c < b->parts.count; c++) {
    BoxPiece piece = {b->keep + b->parts.start[c], ns_components_size(&b->parts, c), false, false};
    load_piece(b, p, &piece, z);
    NsSolverInfo own = solve_loaded(b, p, &piece, guess, z, w);
    if (own.status == NS_ENOSOL && !proof_stands(b, p, &piece, z)) own.status = NS_ENOCONV;
    ns_solver_add(&total, &own);
    for (int k = 0; k < piece.n; k++) b->known[piece.index[k]] = !piece.touched;
  }
  return total;
}

NsStatus ns_box_solve(NsBox *b, const NsBoxProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info) {
  NsStatus status = p->n < 0 || p->n > b->nmax ? NS_ESIZE : NS_OK;
  b->search.found = 0;
  b->search.has_ray = false;
  b->listed = NULL;
  b->order = p->n;
  if (!status && p->n == 1 && !b->options.method && is_sound(p)) {
    const NsOneVariable one = {p->M[0], p->q[0], p->lower[0], p->upper[0]};
    *info = ns_one_variable_solve(&one, guessed(guess, 0), b->options.tolerance, z, w);
    return info->status;
  }
  if (!status) status = check_data(p);
  if (status) {
    if (status != NS_ESIZE) poison(p, z, w);
    return box_report(info, nothing_of(status, INFINITY));
  }
  b->search.box.cold = !guess;
  if (!guess && !b->options.method && ns_box_zero_solves(p->n, p->q, p->lower, p->upper)) {
    for (int i = 0; i < p->n; i++) z[i] = 0, w[i] = p->q[i];
    return box_report(info, (NsSolverInfo){NS_OK, 0, 0, 0, 0, true, "closed form"});
  }
  bool solvable;
  int kept = settle_alone(b, p, guess, z, &solvable);
  take_apart(b, p, kept);
  if (kept == p->n && b->parts.count == 1) {
    const BoxPiece whole = {b->keep, kept, true, false};
    solve_box_piece(b, p, &whole, guess, z, w, info);
    return box_conclude(b, p, NULL, z, w, info);
  }
  NsSolverTotal total = solve_pieces(b, p, kept, guess, z, w);
  NsSolverInfo none = nothing_of(NS_ENOSOL, INFINITY);
  if (!solvable) ns_solver_add(&total, &none);
  *info = total.info;
  return box_conclude(b, p, b->known, z, w, info);
}
