/*
** friction_newton.c
** Semismooth Newton on the Alart-Curnier map.
*/
/*
** The map is r - P(r - rho u), where P(x) is the nearest point of the cylinder |x_T| <= mu max(0, r_n - rho u_n). Open
** contacts have r = 0 and leave the system. The equations of the closed ones are (W + alpha D) dr = ..., D the local scale.
** alpha starts at 1e-10 and grows when a step fails, so a singular W (forces that are not unique) has a step; it is a proximal
** term, which does not change the solutions.
** Assumptions: none on W; dense LU up to DENSE_ORDER unknowns, KLU on the whole pattern above. Convergence is local: from zero
** most contacts seem open, so the chain also starts from points with large normal forces, and from solutions for less friction.
** Termination: each step must reduce the map below the largest of the last RECENT, by halvings of the step; if that fails
** alpha grows, and at alpha_most the method ends. Each iterate is projected on the cones and measured; the best one is the
** answer. Alart and Curnier, Comput. Methods Appl. Mech. Engrg. 92, 1991; Bertails-Descoubes, Cadoux, Daviet and Acary, ACM
** Trans. Graphics 30, 2011.
*/
#include "solvers/contact/friction_search.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/dense.h"
#include "linalg/lu.h"
#include "linalg/sparse_lu.h"
#include "solvers/contact/friction_nsgs.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/contact/mixed_newton.h"
#include "solvers/residual.h"

/* Modes of a contact: open, or closed, with a bit MODE_SLIDES << k for each disc k that slides. */
enum { MODE_OPEN = 0, MODE_CLOSED = 1, MODE_SLIDES = 2 };

/*
** DENSE_ORDER: unknowns up to which the closed contacts are factored densely, KLU above. HALVINGS: of a step, to 1/64. RECENT:
** number of last map values whose largest a step must get below. POLISH_STEPS: steps after the tolerance is met, to rounding.
** STEPS: default limit.
*/
enum { DENSE_ORDER = 360, HALVINGS = 6, RECENT = 3, POLISH_STEPS = 3, STEPS = 200 };

/* alpha at the start and at most, in units of the contacts' own blocks; a measure that needs no polish. */
static const double alpha_least = 1e-10, alpha_most = 1e-2, rounding = 1e-14;

/*
** SHARE_LEAST, SHARE_MOST: limits of the steps of a round; fewer do not pay for the first factorisation. FIRST_PRESS, PRESS_STEPS,
** AGAIN: steps from the first pressed point, from each other one, and from each when all have failed; then STEPS. Towers and chains,
** in which most contacts stick, take 1 to 5 steps from the first one, and hundreds from zero. PRESSED, UNEVEN: unknowns
** up to which all even and all uneven starts are tried at the end. VARIANTS: uneven starts per force; VARIANTS (1 + 90 / n)
** for n unknowns. STAGE_SWEEPS, STAGE_STEPS: for each friction coefficient of the continuation.
*/
enum {
  SHARE_LEAST = 3,
  SHARE_MOST = 40,
  FIRST_PRESS = 5,
  PRESS_STEPS = 25,
  AGAIN = 80,
  PRESSED = 600,
  UNEVEN = 300,
  VARIANTS = 5
};
enum { STAGE_SWEEPS = 20, STAGE_STEPS = 20 };

/* soon: the work of the others, over that of the steps from the first pressed point, after which these are taken. */
static const double soon = 0.5;

/* The equations of a contact in the system:  E dr + T (W dr) = rhs,  E, T dim x dim, column-major. */
typedef struct Row {
  double *E, *T;
  int mode;
} Row;

/*
** The way of a point: the point with its output, the best iterate (projected on the cones) with its measure, the proximal term, the squared norms of
** the map now and at the last iterates, the steps so far.
*/
typedef struct FrictionWay {
  double *r, *u, *best;
  double least, alpha, norm, recent[RECENT];
  NsSolverInfo info; /* of the best iterate */
  int taken;
} FrictionWay;

/* The ways: of a call from some point; from the guess, which goes on from call to call. */
enum { ONE_CALL, FROM_GUESS, WAYS };

typedef struct FrictionNewton {
  NsArena arena;
  int dim, nc;
  Row *row;           /* nc */
  double *map;        /* dim nc: the map at r */
  double *step, *rhs; /* dim nc */
  double *trial, *trial_u, *trial_map;
  FrictionWay way[WAYS];
  int factored; /* factorisations of the last call */
  bool dense;
  NsLu *own;
  double *A;   /* order^2 */
  int *place;  /* nc: position among the closed contacts; -1: open */
  NsSparse *S; /* the pattern of W */
  int *slot;   /* index in S of entry k of block p */
  NsSparseLu *lu;
  double *friction;      /* discs nc: coefficients of the continuation */
  NsConeContact *easier; /* nc: the contacts with these coefficients */
} FrictionNewton;

static NsStatus make_dense(FrictionNewton *w) {
  int n = w->dim * w->nc;
  w->A = ns_arena_matrix(&w->arena, n, n);
  if (w->arena.failed) return NS_ENOMEM;
  return ns_lu_new(&w->own, n);
}

/* Makes S, and the index in S of each entry of the blocks. */
static NsStatus make_sparse(FrictionNewton *w, const NsBlock *W) {
  int size = w->dim * w->dim;
  ptrdiff_t count = (ptrdiff_t)ns_block_count(W) * size;
  NsStatus status = ns_block_to_sparse(&w->S, W);
  w->slot = ns_arena_ints(&w->arena, count);
  int *next = ns_arena_ints(&w->arena, (ptrdiff_t)w->dim * w->nc);
  if (status) return status;
  if (w->arena.failed) return NS_ENOMEM;
  memcpy(next, w->S->colptr, (size_t)(w->dim * w->nc) * sizeof *next);
  for (int p = 0; p < ns_block_count(W); p++)
    for (int k = 0; k < size; k++) w->slot[p * size + k] = next[W->col[p] * w->dim + k / w->dim]++;
  return ns_sparse_lu_new(&w->lu, w->S);
}

/*
** The work of one factorisation and what belongs to it, in sweeps of Gauss-Seidel; an entry of W and 1/30 of a contact are an operation of a sweep.
** Measured for 48 to 144 unknowns, within a factor of two: BLAS is fast, and open contacts leave the matrix.
*/
static double estimate_cost(const FrictionNewton *w, const NsBlock *W) {
  double n = (double)w->dim * w->nc, entries = (double)ns_block_count(W) * w->dim * w->dim;
  double factor = w->dense ? 8 * n * n + n * n * n / 30 : 2.5 * ns_larger(ns_sparse_lu_flops(w->lu), 0) + 60 * entries;
  return 1 + factor / (entries + 30.0 * w->nc);
}

static void alart_curnier_release(void *work) {
  FrictionNewton *w = work;
  if (!w) return;
  ns_lu_free(w->own);
  ns_sparse_lu_free(w->lu);
  ns_sparse_free(w->S);
  ns_arena_release(&w->arena);
  ns_free(w);
}

/* Takes the rows, with their equations behind them in one block. */
static void take_rows(FrictionNewton *w) {
  size_t size = (size_t)(w->dim * w->dim), nc = (size_t)w->nc;
  w->row = ns_arena_take(&w->arena, nc, sizeof *w->row + 2 * size * sizeof(double));
  if (!w->row) return;
  double *equations = (double *)(void *)(w->row + nc);
  for (size_t i = 0; i < nc; i++) w->row[i].E = equations + 2 * i * size, w->row[i].T = w->row[i].E + size;
}

static NsStatus alart_curnier_reserve(void **work, NsSearch *search) {
  NsFrictionSearch *f = (NsFrictionSearch *)search;
  const NsFriction *p = f->mixed.blocks;
  FrictionNewton *w = *work = ns_alloc(1, sizeof *w);
  if (!w) return NS_ENOMEM;
  ptrdiff_t n = (ptrdiff_t)p->dim * p->nc;
  w->dim = p->dim;
  w->nc = p->nc;
  w->dense = n <= DENSE_ORDER;
  take_rows(w);
  w->place = ns_arena_ints(&w->arena, p->nc);
  w->friction = ns_arena_doubles(&w->arena, (ptrdiff_t)p->nc * p->cone->discs);
  w->easier = ns_arena_take(&w->arena, (size_t)p->nc, sizeof *w->easier);
  NS_ARENA_VECTORS(&w->arena, n, &w->map, &w->step, &w->rhs, &w->trial, &w->trial_u, &w->trial_map);
  for (int k = 0; k < WAYS; k++) NS_ARENA_VECTORS(&w->arena, n, &w->way[k].r, &w->way[k].u, &w->way[k].best);
  NsStatus status = w->arena.failed ? NS_ENOMEM : w->dense ? make_dense(w) : make_sparse(w, p->W);
  if (!status) f->cost = estimate_cost(w, p->W);
  return status;
}

/* ---- the map and its rows ---- */

/*
** map = r - (max(0, y_n), each y_D clipped to the disc of radius mu max(0, y_n)) for one contact, y = r - rho u. Returns the mode.
*/
static int contact_map(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *map) {
  double y[NS_CONE_MOST] = {0};
  int mode = MODE_CLOSED;
  for (int i = 0; i < cone->dim; i++) y[i] = r[i] - rho * u[i], map[i] = r[i];
  if (y[0] <= 0) return MODE_OPEN;
  map[0] = rho * u[0];
  for (int k = 0; k < cone->discs; k++) {
    int from = cone->first[k], to = cone->first[k + 1];
    double radius = mu[k] * y[0], length = ns_disc_length(y + from, to - from);
    bool slides = !(length <= radius);
    for (int i = from; i < to; i++) map[i] = slides ? r[i] - radius * y[i] / length : rho * u[i];
    if (slides) mode |= MODE_SLIDES << k;
  }
  return mode;
}

/* Evaluates the map of all contacts. Returns the sum of squares. */
static double alart_curnier_evaluate(const NsFriction *p, const double *r, const double *u, double *map, Row *row) {
  double sum = 0;
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)p->dim;
    int mode = contact_map(p->cone, ns_friction_mu(p, i), p->rho[i], r + k, u + k, map + k);
    if (row) row[i].mode = mode;
    for (int d = 0; d < p->dim; d++) sum += map[k + (size_t)d] * map[k + (size_t)d];
  }
  return sum;
}

/* The equations of a disc (its rows from .. to - 1) that slides: the direction of its force. */
static void slide_rows(int d, int from, int to, double mu, double rho, double alpha, const double *r, const double *u, Row *row,
                       double *rhs) {
  double y[NS_CONE_MOST], normal = r[0] - rho * u[0];
  for (int i = from; i < to; i++) y[i] = r[i] - rho * u[i];
  double length = ns_disc_length(y + from, to - from), kappa = mu * normal / length;
  for (int i = from; i < to; i++) {
    double di = y[i] / length;
    row->E[i] = -mu * di;
    rhs[i] = -(r[i] - mu * r[0] * di);
    for (int j = from; j < to; j++) {
      double across = kappa * ((i == j) - di * y[j] / length);
      row->E[i + d * j] = (i == j) - across * (1 - alpha);
      row->T[i + d * j] = across * rho;
    }
  }
}

/* The equations of a closed contact: the normal velocity, and in each disc the velocity (stick) or the direction (slide). */
static void closed_row(const NsConeClass *cone, const double *mu, double rho, double alpha, const double *r, const double *u,
                       Row *row, double *rhs) {
  int d = cone->dim;
  memset(row->E, 0, (size_t)(d * d) * sizeof *row->E);
  memset(row->T, 0, (size_t)(d * d) * sizeof *row->T);
  row->E[0] = alpha;
  row->T[0] = rho;
  rhs[0] = -rho * u[0];
  for (int k = 0; k < cone->discs; k++) {
    int from = cone->first[k], to = cone->first[k + 1];
    if (row->mode & MODE_SLIDES << k) slide_rows(d, from, to, mu[k], rho, alpha, r, u, row, rhs);
    for (int i = from; !(row->mode & MODE_SLIDES << k) && i < to; i++) {
      row->E[(d + 1) * i] = alpha;
      row->T[(d + 1) * i] = rho;
      rhs[i] = -rho * u[i];
    }
  }
}

static void alart_curnier_make_rows(FrictionNewton *w, const NsFriction *p, double alpha, const double *r, const double *u) {
  int d = p->dim;
  for (int i = 0; i < p->nc; i++) {
    size_t k = (size_t)i * (size_t)d;
    if (w->row[i].mode == MODE_OPEN)
      for (int j = 0; j < d; j++) w->rhs[k + (size_t)j] = -r[k + (size_t)j];
    else closed_row(p->cone, ns_friction_mu(p, i), p->rho[i], alpha, r + k, u + k, &w->row[i], w->rhs + k);
  }
}

/* One entry of T W_ij (+ E on the diagonal). */
static double alart_curnier_entry(const Row *row, const double *block, int d, int i, int j, bool diagonal) {
  double sum = diagonal ? row->E[i + d * j] : 0;
  for (int k = 0; k < d; k++) sum += row->T[i + d * k] * block[k + j * d];
  return sum;
}

/* Moves the known steps of the open contacts to the right-hand side of contact i. */
static void subtract_open(const FrictionNewton *w, const Row *row, const double *block, int d, int i, int j) {
  for (int a = 0; a < d; a++)
    for (int b = 0; b < d; b++) {
      double known = w->rhs[j * d + b];
      if (known != 0) w->step[i * d + a] -= alart_curnier_entry(row, block, d, a, b, false) * known;
    }
}

static NsStatus alart_curnier_solve_dense(FrictionNewton *w, const NsFriction *p) {
  int d = p->dim, size = d * d, closed = 0;
  for (int i = 0; i < p->nc; i++) w->place[i] = w->row[i].mode == MODE_OPEN ? -1 : closed++;
  memcpy(w->step, w->rhs, (size_t)(d * p->nc) * sizeof *w->step);
  if (closed == 0) return NS_OK;
  NsLu *lu = w->own;
  int n = d * closed;
  ns_lu_set_order(lu, n);
  memset(w->A, 0, (size_t)n * (size_t)n * sizeof *w->A);
  for (int i = 0; i < p->nc; i++) {
    if (w->place[i] < 0) continue;
    for (int b = p->W->rowptr[i]; b < p->W->rowptr[i + 1]; b++) {
      const double *block = p->W->value + (size_t)b * (size_t)size;
      int j = p->W->col[b], at = w->place[j];
      if (at < 0) subtract_open(w, &w->row[i], block, d, i, j);
      for (int k = 0; k < size && at >= 0; k++)
        w->A[(size_t)(at * d + k / d) * (size_t)n + (size_t)(w->place[i] * d + k % d)] = alart_curnier_entry(
            &w->row[i], block, d, k % d, k / d, i == j);
    }
  }
  NsStatus status = ns_lu_factor(lu, w->A, n);
  if (status) return status;
  memset(w->trial, 0, (size_t)n * sizeof *w->trial);
  for (int i = 0; i < p->nc; i++)
    if (w->place[i] >= 0) memcpy(w->trial + w->place[i] * d, w->step + i * d, (size_t)d * sizeof *w->trial);
  ns_lu_solve(lu, 1, w->trial, n);
  for (int i = 0; i < p->nc; i++)
    if (w->place[i] >= 0) memcpy(w->step + i * d, w->trial + w->place[i] * d, (size_t)d * sizeof *w->trial);
  return NS_OK;
}

static NsStatus alart_curnier_solve_sparse(FrictionNewton *w, const NsFriction *p) {
  int d = p->dim, size = d * d;
  memcpy(w->step, w->rhs, (size_t)(d * p->nc) * sizeof *w->step);
  for (int i = 0; i < p->nc; i++)
    for (int b = p->W->rowptr[i]; b < p->W->rowptr[i + 1]; b++) {
      const double *block = p->W->value + (size_t)b * (size_t)size;
      int j = p->W->col[b];
      bool open_i = w->row[i].mode == MODE_OPEN, open_j = w->row[j].mode == MODE_OPEN;
      if (!open_i && open_j) subtract_open(w, &w->row[i], block, d, i, j);
      for (int k = 0; k < size; k++)
        w->S->value[w->slot[b * size + k]] = open_i || open_j ? i == j && k % d == k / d
                                                              : alart_curnier_entry(&w->row[i], block, d, k % d, k / d, i == j);
    }
  NsStatus status = ns_sparse_lu_refactor(w->lu, w->S, NULL);
  if (!status) ns_sparse_lu_solve(w->lu, 1, w->step, d * p->nc);
  return status;
}

/* ---- steps ---- */

/* Halves the step until the map falls, and then moves the point. */
static bool alart_curnier_search(FrictionNewton *w, const NsFriction *p, FrictionWay *way) {
  int n = p->dim * p->nc;
  double t = 1, bound = way->norm;
  for (int k = 0; k < RECENT; k++) bound = ns_larger(bound, way->recent[k]);
  for (int k = 0; k <= HALVINGS; k++, t /= 2) {
    for (int i = 0; i < n; i++) w->trial[i] = way->r[i] + t * w->step[i];
    ns_block_product(p->W, w->trial, p->q, w->trial_u);
    double now = alart_curnier_evaluate(p, w->trial, w->trial_u, w->trial_map, NULL);
    if (!(now < (1 - 1e-3 * t) * bound)) continue;
    memcpy(way->r, w->trial, (size_t)n * sizeof *way->r);
    memcpy(way->u, w->trial_u, (size_t)n * sizeof *way->u);
    way->norm = now;
    return true;
  }
  return false;
}

/* Takes the Newton step for the modes at the point; increases alpha until a step is accepted. */
static NsStatus alart_curnier_advance(FrictionNewton *w, const NsFriction *p, FrictionWay *way) {
  for (;;) {
    alart_curnier_evaluate(p, way->r, way->u, w->map, w->row);
    alart_curnier_make_rows(w, p, way->alpha, way->r, way->u);
    w->factored++;
    NsStatus status = w->dense ? alart_curnier_solve_dense(w, p) : alart_curnier_solve_sparse(w, p);
    if (status == NS_ENOMEM) return status;
    if (!status && ns_is_finite(p->dim * p->nc, 1, w->step, p->dim * p->nc) && alart_curnier_search(w, p, way)) {
      way->alpha = ns_larger(way->alpha / 30, alpha_least);
      return NS_OK;
    }
    if (way->alpha >= alpha_most) return NS_ENOCONV;
    way->alpha = ns_smaller(way->alpha * 30, alpha_most);
  }
}

/* Measures the projection of the point on the cones; keeps it if it is the best. */
static void alart_curnier_judge(FrictionNewton *w, const NsFriction *p, FrictionWay *way) {
  NsSolverInfo now = {0};
  size_t bytes = (size_t)(p->dim * p->nc) * sizeof *way->r;
  memcpy(w->trial, way->r, bytes);
  for (int i = 0; i < p->nc; i++) p->cone->project(p->cone, ns_friction_mu(p, i), w->trial + (size_t)i * (size_t)p->dim);
  double measure = ns_friction_measure(p, w->trial, w->trial_u, &now);
  if (!(measure < way->least)) return;
  way->least = measure;
  way->info = now;
  memcpy(way->best, w->trial, bytes);
}

/* Begins a way at r. */
static void alart_curnier_begin(FrictionNewton *w, const NsFriction *p, FrictionWay *way, const double *r) {
  size_t bytes = (size_t)(p->dim * p->nc) * sizeof *r;
  memcpy(way->r, r, bytes);
  memcpy(way->best, r, bytes);
  ns_block_product(p->W, r, p->q, way->u);
  way->norm = alart_curnier_evaluate(p, r, way->u, w->map, NULL);
  for (int k = 0; k < RECENT; k++) way->recent[k] = 10 * way->norm;
  way->alpha = alpha_least;
  way->least = INFINITY;
  way->info = (NsSolverInfo){.relative = INFINITY, .backward = INFINITY};
  way->taken = 0;
  alart_curnier_judge(w, p, way);
}

/*
** At most `iterations` steps of a way; r becomes its best iterate, u the output of that. NS_OK: the measure is within
** tolerance (with `polish`, steps go on to rounding while they improve it); NS_EMAXITER; NS_ENOCONV: no step improves;
** NS_EINTR, NS_ENOMEM.
*/
static NsStatus alart_curnier_go_on(FrictionNewton *w, const NsFriction *p, FrictionWay *way, double tolerance, int iterations,
                                    bool polish, double *r, double *u, NsSolverInfo *info) {
  NsStatus status = NS_EMAXITER;
  int taken = 0, extra = polish ? POLISH_STEPS : 0;
  if (w->lu) ns_sparse_lu_restart(w->lu);
  while (taken < iterations && (way->least > tolerance || (way->least > rounding && extra-- > 0))) {
    double before = way->least;
    if (ns_interrupted()) status = NS_EINTR;
    else status = alart_curnier_advance(w, p, way);
    if (status) break;
    status = NS_EMAXITER;
    way->recent[way->taken++ % RECENT] = way->norm;
    taken++;
    alart_curnier_judge(w, p, way);
    if (before <= tolerance && way->least > before / 2) break;
  }
  if (way->least <= tolerance && status != NS_EINTR) status = NS_OK;
  memcpy(r, way->best, (size_t)(p->dim * p->nc) * sizeof *r);
  ns_block_product(p->W, r, p->q, u);
  *info = way->info;
  info->status = status;
  info->iterations = taken;
  info->solver = "newton";
  return status;
}

/* The same from r. */
static NsStatus alart_curnier_solve(FrictionNewton *w, const NsFriction *p, double tolerance, int iterations, bool polish,
                                    double *r, double *u, NsSolverInfo *info) {
  alart_curnier_begin(w, p, &w->way[ONE_CALL], r);
  return alart_curnier_go_on(w, p, &w->way[ONE_CALL], tolerance, iterations, polish, r, u, info);
}

/* ---- the method and its starting points ---- */

/* Steps of a way, and its outcome. The answer of a small problem is polished, in the chain also beyond these steps. */
static NsOutcome alart_curnier_keep(FrictionNewton *w, NsFrictionSearch *f, FrictionWay *way, int steps) {
  NsMixedSearch *s = &f->mixed;
  NsSolverInfo info = {0};
  bool polish = ns_friction_small(f);
  w->factored = 0;
  NsStatus status = alart_curnier_go_on(w, s->blocks, way, s->base.tolerance, steps, polish, s->z, s->w, &info);
  int taken = info.iterations;
  if (!status && polish && taken == steps && !s->v.method)
    alart_curnier_go_on(w, s->blocks, way, s->base.tolerance, POLISH_STEPS, polish, s->z, s->w, &info),
        info.iterations += taken;
  return ns_friction_keep(f, &info);
}

/* Steps from f->mixed.z. */
static NsOutcome alart_curnier_steps(FrictionNewton *w, NsFrictionSearch *f, int steps) {
  alart_curnier_begin(w, f->mixed.blocks, &w->way[ONE_CALL], f->mixed.z);
  return alart_curnier_keep(w, f, &w->way[ONE_CALL], steps);
}

/* The outcome of a call that takes no step. */
static NsOutcome alart_curnier_passed(const NsFrictionSearch *f) {
  return ns_mixed_outcome(&f->mixed, NS_ENOCONV, &f->mixed.info);
}

/* Goes on from the guess until its work is that of the sweeps and first-order steps so far. */
static NsOutcome alart_curnier_from_guess(FrictionNewton *w, NsFrictionSearch *f) {
  FrictionWay *way = &w->way[FROM_GUESS];
  int steps = (int)ns_smaller((f->spent - f->guessed) / f->cost, STEPS);
  if (steps < 1) return alart_curnier_passed(f);
  if (f->guessed == 0) alart_curnier_begin(w, f->mixed.blocks, way, f->guess);
  NsOutcome out = alart_curnier_keep(w, f, way, steps);
  f->guessed = out.status == NS_ENOCONV || way->taken >= STEPS ? INFINITY : f->guessed + w->factored * f->cost;
  return out;
}

/*
** Takes steps for a share of the work so far, less what its earlier ones have taken; to polish an answer, for twice that work, whatever they have
** taken. After a failure it waits for sweeps ten times nearer, or for one round.
*/
static NsOutcome alart_curnier_share(FrictionNewton *w, NsFrictionSearch *f) {
  bool solved = f->mixed.base.least <= f->mixed.base.tolerance, stuck = f->tried > 0 && f->standing > 0.1 * f->tried;
  double spent = ns_friction_small(f) ? ns_larger(f->spent, SHARE_MOST) : f->spent;
  double share = (solved ? 2 * spent : spent - f->shared) / f->cost;
  if (share < SHARE_LEAST) return alart_curnier_passed(f);
  if (stuck && !solved) return f->tried = 0, alart_curnier_passed(f);
  ns_friction_restart(f);
  NsOutcome out = alart_curnier_steps(w, f, share < SHARE_MOST ? (int)share : SHARE_MOST);
  f->shared += w->factored * f->cost;
  if (out.status != NS_OK) f->tried = f->standing;
  return out;
}

/* A number in [0, 1), evenly distributed over i: the fractional part of (i + 1) times an irrational number. */
static double friction_newton_spread(int i, double irrational) {
  return fmod((i + 1) * irrational, 1);
}

/* The irrational numbers of the rows 1, 2, ... of a contact. */
static const double irrational[NS_CONE_MOST - 1] = {0.4142135623730951, 0.7320508075688772, 0.2360679774997898,
                                                    0.6457513110645906, 0.3166247903553998, 0.6055512754639891};

/* Takes a different part of each normal force, and tangential ones. */
static void friction_newton_unequal(const NsFriction *p, int variant, double *r) {
  for (int i = 0; i < p->nc; i++) {
    double *x = r + (size_t)i * (size_t)p->dim;
    x[0] *= friction_newton_spread(i, 0.6180339887498949 * variant);
    for (int disc = 0; disc < p->cone->discs; disc++) {
      double wide = ns_smaller(ns_friction_mu(p, i)[disc], 2);
      for (int k = p->cone->first[disc]; k < p->cone->first[disc + 1]; k++)
        x[k] = wide * x[0] * (friction_newton_spread(i, irrational[k - 1] * variant) - 0.5);
    }
  }
}

/*
** Newton from a point where every normal force is `times` the largest impulse that stops a contact alone, or, from variant 1 on, a part of that.
** Reason: from zero most contacts seem open, and Newton does not close contacts with large friction, which wedge, again.
*/
static NsOutcome alart_curnier_pressed(FrictionNewton *w, NsFrictionSearch *f, double times, int variant, int steps) {
  ns_mixed_press(&f->mixed.v, times, f->mixed.z);
  if (variant > 0) friction_newton_unequal(f->mixed.blocks, variant, f->mixed.z);
  return alart_curnier_steps(w, f, steps);
}

/*
** Newton from one such point after another, each in its turn, with at most as much work in all as the other methods have done. A point from which no
** step helps is not tried again.
*/
static NsOutcome alart_curnier_pressed_round(FrictionNewton *w, NsFrictionSearch *f) {
  NsOutcome out = alart_curnier_passed(f);
  while (out.status != NS_OK && out.status != NS_ENOMEM && f->presses < 3 * NS_PRESSES && !ns_interrupted()) {
    int k = f->presses, steps = k == 0 ? FIRST_PRESS : k < NS_PRESSES ? PRESS_STEPS : k < 2 * NS_PRESSES ? AGAIN : STEPS;
    unsigned bit = 1u << k % NS_PRESSES;
    if (f->pressed + (k == 0 ? soon : 1) * steps * f->cost > f->spent) break;
    f->presses++;
    if (f->useless & bit) continue;
    out = alart_curnier_pressed(w, f, ns_pressed[k % NS_PRESSES], 0, steps);
    if (out.status == NS_ENOCONV || steps == STEPS) f->useless |= bit;
    f->pressed += w->factored * f->cost;
  }
  return out;
}

/* Newton from all such points, then from uneven ones, more of them the smaller the problem is. */
static NsOutcome alart_curnier_all_pressed(FrictionNewton *w, NsFrictionSearch *f) {
  int n = f->mixed.v.p.n, variants = n <= UNEVEN ? VARIANTS + VARIANTS * 90 / n : 0;
  NsOutcome out = alart_curnier_passed(f);
  for (int k = 0; out.status != NS_OK && n <= PRESSED && k < NS_PRESSES * (1 + variants) && !ns_interrupted(); k++)
    if (k >= NS_PRESSES || !(f->useless >> k & 1))
      out = alart_curnier_pressed(w, f, ns_pressed[k % NS_PRESSES], k / NS_PRESSES, STEPS);
  return out;
}

/*
** Continuation in the friction coefficient: each stage starts from the answer of the previous one, with less friction.
** For friction so large that no method converges from zero.
*/
static NsOutcome alart_curnier_roughened(FrictionNewton *w, NsFrictionSearch *f) {
  NsMixedSearch *s = &f->mixed;
  const NsFriction *p = s->blocks;
  NsFriction easier = *p;
  NsSolverInfo info = {0};
  double most = 0, tolerance = s->base.tolerance;
  easier.mu = w->friction;
  int count = p->nc * p->cone->discs;
  for (int i = 0; i < count; i++) most = ns_larger(most, p->mu[i]);
  memset(s->z, 0, (size_t)s->v.p.n * sizeof *s->z);
  for (double mu = 0.1; mu < 1.3 * most && mu < 1e6 && !ns_interrupted(); mu *= 1.25) {
    for (int i = 0; i < count; i++) w->friction[i] = ns_smaller(p->mu[i], mu);
    ns_nsgs_prepare(&easier, w->easier);
    NsStatus status = ns_nsgs_solve(&easier, w->easier, tolerance, STAGE_SWEEPS, s->z, s->w, &info, NULL);
    if (status) alart_curnier_solve(w, &easier, tolerance, STAGE_STEPS, false, s->z, s->w, &info);
  }
  return alart_curnier_steps(w, f, SHARE_MOST);
}

static NsOutcome alart_curnier_run(void *work, NsSearch *search, int mode) {
  NsFrictionSearch *f = (NsFrictionSearch *)search;
  int limit = f->mixed.v.max_iterations;
  switch (mode) {
    case NS_FRICTION_SHARE: return alart_curnier_share(work, f);
    case NS_FRICTION_GUESS: return alart_curnier_from_guess(work, f);
    case NS_FRICTION_PRESSED: return alart_curnier_pressed_round(work, f);
    case NS_FRICTION_ROUGHENED: return alart_curnier_roughened(work, f);
    case NS_FRICTION_ALL_PRESSED: return alart_curnier_all_pressed(work, f);
    case NS_FRICTION_LONG:
      if (f->stalls > 0) ns_friction_restart(f);
      return alart_curnier_steps(work, f, STEPS);
    default: return alart_curnier_steps(work, f, limit > 0 ? limit : STEPS);
  }
}

/*
** Modes. 0: max_iterations steps (0: 200) from the guess. SHARE: the steps of one round, from the best candidate. PRESSED: steps
** from points where every contact has a large normal force. LONG: 200 steps from the last point of the first-order method, or
** from the best candidate. ROUGHENED: continuation from small friction coefficients. ALL_PRESSED:
** from many points with large forces.
*/
const NsMethod ns_friction_newton = {.name = "newton",
                                     .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                     .reserve = alart_curnier_reserve,
                                     .release = alart_curnier_release,
                                     .run = alart_curnier_run};
