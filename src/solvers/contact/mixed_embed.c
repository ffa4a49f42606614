/*
** mixed_embed.c
** Rewrites rows and contacts as contacts of one cone, and solves those.
*/
/*
** The cone is the least one into which all contacts embed (ns_cone_join). Equations are eliminated. A row with one finite bound, z >= l or z <= u, becomes a contact without friction: z = l + r_n or
** u - r_n. A row with two bounds becomes the first tangent of a contact with mu = 1 and a fixed normal force r_n = (u - l) /
** 2, given by the decoupled equation W_nn r_n - W_nn (u - l) / 2 = 0; then z = (l + u) / 2 + r_t, and Coulomb's law is the law
** of the row. A row of the cone that a row or a contact lacks is decoupled with q = 0: its velocity W_tt r_t and its force r_t
** then have the same sign, so both are 0.
** Assumptions: if there are equations, W is dense and of at most REDUCED_ROWS rows. If their block is singular, some equations
** remain, and a failure proves nothing (*exact).
** Termination: as in the chain for contacts (friction_chain.h), with at most EMBEDDED_SWEEPS sweeps.
*/
#include "solvers/contact/mixed_embed.h"

#include <math.h>
#include <string.h>

#include "solvers/balance.h"
#include "base/memory.h"
#include "solvers/contact/mixed_contacts.h"
#include "solvers/contact/mixed_reduce.h"
#include "solvers/contact/mixed_scale.h"
#include "solvers/residual.h"

/*
** REDUCED_ROWS: largest number of rows; a larger dense matrix is slow in the methods for contacts. EMBEDDED_SWEEPS: default
** limit of sweeps; the chain for rows and contacts makes its own sweeps afterwards.
*/
enum { REDUCED_ROWS = 400, EMBEDDED_SWEEPS = 2000 };

/* at_bound: a force within this fraction of half the width from its bound is at the bound. 1e-12: rounding of the chain. */
static const double at_bound = 1e-12;

struct NsMixedEmbed {
  NsArena arena;
  int capacity;
  NsMixedReduction reduction;
  NsMixedScaled scaled;
  void *contacts;        /* the workspace of ns_mixed_contacts */
  int *place;            /* n: index of z_i among the unknowns of the contacts; -1: none */
  double *sign, *offset; /* n: z_i = offset_i + sign_i r_place */
  double *q, *guess, *r, *rho, *w;
  NsMixedGroup *groups;
  int *first, *number; /* the first row and the number of each group */
  NsArena matrix;
  int order;        /* order for which W is allocated */
  double *W;        /* the embedded matrix, dense */
  NsSparse *sparse; /* or sparse; NULL: dense */
};

static NsStatus mixed_embed_room(NsMixedEmbed *e, int n) {
  if (n <= e->capacity) return NS_OK;
  ns_arena_release(&e->arena);
  e->capacity = 0;
  ptrdiff_t most = NS_CONE_MOST * (ptrdiff_t)n;
  NS_ARENA_VECTORS(&e->arena, most, &e->q, &e->guess, &e->r);
  NS_ARENA_VECTORS(&e->arena, n, &e->rho, &e->sign, &e->offset, &e->w);
  NS_ARENA_INTS(&e->arena, n, &e->place, &e->first, &e->number);
  e->groups = ns_arena_take(&e->arena, (size_t)n, sizeof *e->groups);
  if (e->arena.failed) return ns_arena_release(&e->arena), NS_ENOMEM;
  e->capacity = n;
  return NS_OK;
}

/* ---- the place of each row ---- */

/* The problem that is being rewritten. */
typedef struct Plan {
  NsMixedEmbed *e;
  const NsMixedView *v;
  const NsConeClass *cone;
  int dim, nc;
  const double *A, *b; /* the matrix after the elimination; A is NULL for a sparse problem */
} Plan;

static bool two_bounds(const NsMixedGroup *group) {
  return !group->cone && group->lower > -INFINITY && group->upper < INFINITY;
}

/* Adds a contact with these coefficients, 0 for the discs that are added. */
static void place_contact(Plan *s, const double *mu, int discs) {
  NsMixedGroup *to = &s->e->groups[s->nc];
  *to = (NsMixedGroup){.cone = s->cone, .dim = s->dim};
  for (int k = 0; k < discs; k++) to->mu[k] = mu[k];
  s->e->first[s->nc] = s->nc * s->dim;
  s->e->number[s->nc] = s->nc;
  s->nc++;
}

/* Finds the contact unknown for a row with bounds. */
static void place_row(Plan *s, const NsMixedGroup *group, int row) {
  NsMixedEmbed *e = s->e;
  int at = s->nc * s->dim;
  e->place[row] = -1;
  e->sign[row] = 1;
  e->offset[row] = group->lower;
  if (ns_mixed_equation(group) || group->lower == group->upper) return;
  e->place[row] = at;
  if (two_bounds(group)) {
    e->place[row] = at + 1;
    e->offset[row] = 0.5 * group->lower + 0.5 * group->upper;
  } else if (group->lower == -INFINITY) {
    e->sign[row] = -1;
    e->offset[row] = group->upper;
  }
  place_contact(s, &(const double){two_bounds(group) ? 1 : 0}, 1);
}

static void place_all(Plan *s) {
  const NsMixedProblem *p = &s->v->p;
  NsMixedEmbed *e = s->e;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    if (!group->cone) {
      place_row(s, group, row);
      continue;
    }
    for (int i = 0; i < group->dim; i++) {
      e->place[row + i] = s->nc * s->dim + ns_cone_embed(group->cone, s->cone, i);
      e->sign[row + i] = 1;
      e->offset[row + i] = 0;
    }
    place_contact(s, group->mu, group->cone->discs);
  }
}

/* ---- the matrix ---- */

/* Receives the entries of the rewritten matrix: a dense matrix, or triplets (only counted while i is NULL). */
typedef struct Sink {
  double *dense; /* order x order, or NULL */
  int order;
  ptrdiff_t count;
  int *i, *j;
  double *v;
} Sink;

static void mixed_embed_put(Sink *sink, int i, int j, double v) {
  if (v == 0) return;
  if (sink->dense) {
    sink->dense[(size_t)i + (size_t)j * (size_t)sink->order] += v;
    return;
  }
  if (sink->i) sink->i[sink->count] = i, sink->j[sink->count] = j, sink->v[sink->count] = v;
  sink->count++;
}

static void put_entry(const Plan *s, Sink *sink, int i, int j, double v) {
  const NsMixedEmbed *e = s->e;
  if (e->place[i] >= 0 && e->place[j] >= 0) mixed_embed_put(sink, e->place[i], e->place[j], e->sign[i] * e->sign[j] * v);
}

/* The diagonal entry of an unknown that is added to a group: as large as the entries of the group. */
static double added(const Plan *s, int g) {
  return 1 / s->v->rho[g];
}

/* Adds the entries of fixed normal forces and of missing tangents. */
static void put_added(const Plan *s, Sink *sink) {
  const NsMixedProblem *p = &s->v->p;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsConeClass *cone = p->groups[g].cone;
    int at = s->e->place[row], used = two_bounds(&p->groups[g]) ? 2 : 1;
    if (at < 0) continue;
    if (used == 2) at--, mixed_embed_put(sink, at, at, added(s, g));
    for (int i = 1; i < s->dim; i++)
      if (cone ? ns_cone_source(cone, s->cone, i) < 0 : i >= used) mixed_embed_put(sink, at + i, at + i, added(s, g));
  }
}

static void mixed_embed_put_all(const Plan *s, Sink *sink) {
  const NsSparse *sparse = s->v->p.sparse;
  int n = s->v->p.n;
  sink->count = 0;
  for (int j = 0; s->A && j < n; j++)
    for (int i = 0; i < n; i++) put_entry(s, sink, i, j, s->A[i + (size_t)j * (size_t)n]);
  for (int j = 0; !s->A && j < n; j++)
    for (int k = sparse->colptr[j]; k < sparse->colptr[j + 1]; k++) put_entry(s, sink, sparse->row[k], j, sparse->value[k]);
  put_added(s, sink);
}

/* ---- the friction problem ---- */

static void fill_vectors(const Plan *s, const double *z) {
  const NsMixedProblem *p = &s->v->p;
  NsMixedEmbed *e = s->e;
  memset(e->q, 0, (size_t)(s->nc * s->dim) * sizeof *e->q);
  memset(e->guess, 0, (size_t)(s->nc * s->dim) * sizeof *e->guess);
  memcpy(e->w, s->b, (size_t)p->n * sizeof *e->w);
  for (int g = 0, j = 0; g < p->ngroups; j += p->groups[g++].dim) {
    double x = e->offset[j];
    if (p->groups[g].cone || x == 0 || ns_mixed_equation(&p->groups[g])) continue;
    for (int i = 0; s->A && i < p->n; i++) e->w[i] += s->A[i + (size_t)j * (size_t)p->n] * x;
    for (int k = s->A ? 0 : p->sparse->colptr[j]; !s->A && k < p->sparse->colptr[j + 1]; k++)
      e->w[p->sparse->row[k]] += p->sparse->value[k] * x;
  }
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    for (int i = 0; i < group->dim && e->place[row] >= 0; i++) {
      int at = e->place[row + i];
      e->q[at] = e->sign[row + i] * e->w[row + i];
      e->guess[at] = e->sign[row + i] * (z[row + i] - e->offset[row + i]);
    }
    if (!two_bounds(group) || e->place[row] < 0) continue;
    double half = 0.5 * group->upper - 0.5 * group->lower;
    e->q[e->place[row] - 1] = -half * added(s, g);
    e->guess[e->place[row] - 1] = half;
  }
}

/* Computes z of the rewritten rows from the forces; a force at a bound gives exactly the bound. */
static void take_answer(const Plan *s, double *z) {
  const NsMixedProblem *p = &s->v->p;
  const NsMixedEmbed *e = s->e;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    int at = e->place[row];
    if (!group->cone && at < 0 && !ns_mixed_equation(group)) z[row] = e->offset[row];
    for (int i = 0; at >= 0 && i < group->dim; i++)
      z[row + i] = e->offset[row + i] + e->sign[row + i] * e->r[e->place[row + i]];
    if (group->cone || at < 0) continue;
    z[row] = ns_box_clamp(z[row], group->lower, group->upper);
    if (!two_bounds(group)) continue;
    double half = 0.5 * group->upper - 0.5 * group->lower, force = e->r[at];
    if (fabs(force) >= half * (1 - at_bound)) z[row] = force < 0 ? group->lower : group->upper;
  }
}

/* Makes the matrix of *p: dense if W is dense. */
static NsStatus mixed_embed_matrix(const Plan *s, NsMixedProblem *p) {
  NsMixedEmbed *e = s->e;
  NsArena room = {0};
  Sink sink = {.order = p->n};
  if (s->A) {
    if (p->n > e->order) {
      ns_arena_release(&e->matrix);
      e->W = ns_arena_matrix(&e->matrix, p->n, p->n);
      e->order = e->matrix.failed ? 0 : p->n;
      if (e->matrix.failed) return ns_arena_release(&e->matrix), NS_ENOMEM;
    }
    memset(e->W, 0, (size_t)p->n * (size_t)p->n * sizeof *e->W);
    sink.dense = e->W;
    mixed_embed_put_all(s, &sink);
    p->W = e->W;
    return NS_OK;
  }
  mixed_embed_put_all(s, &sink);
  NS_ARENA_INTS(&room, sink.count, &sink.i, &sink.j);
  sink.v = ns_arena_doubles(&room, sink.count);
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    mixed_embed_put_all(s, &sink);
    ns_sparse_free(e->sparse);
    e->sparse = NULL;
    status = ns_sparse_from_triplets(&e->sparse, p->n, p->n, sink.count, sink.i, sink.j, sink.v);
  }
  p->sparse = e->sparse;
  ns_arena_release(&room);
  return status;
}

static NsStatus mixed_embed_solve(Plan *s, double *z, NsSolverInfo *info) {
  NsMixedEmbed *e = s->e;
  place_all(s);
  if (s->nc == 0) return NS_OK;
  fill_vectors(s, z);
  NsMixedProblem problem = {.n = s->nc * s->dim, .ngroups = s->nc, .groups = e->groups, .q = e->q};
  NsStatus status = mixed_embed_matrix(s, &problem);
  if (!status) status = ns_mixed_scale(&e->scaled, &problem, e->first, e->number, s->nc, true, e->guess);
  if (status) return status;
  NsMixedScaled *scaled = &e->scaled;
  int limit = s->v->max_iterations > 0 ? s->v->max_iterations : EMBEDDED_SWEEPS;
  NsMixedView view = {.p = scaled->p, .tolerance = s->v->tolerance, .max_iterations = limit, .rho = e->rho};
  view.kinds = (NsMixedKinds){.contacts = s->nc, .most = s->dim, .cone = s->cone, .takes = s->cone->takes, .uniform = true};
  ns_mixed_prepare(&view);
  memcpy(scaled->z, scaled->guess, (size_t)problem.n * sizeof *scaled->z);
  status = ns_mixed_contacts_solve(e->contacts, &view, scaled->z, scaled->w, info);
  for (int i = 0; i < problem.n; i++) e->r[i] = ns_times_power(scaled->z[i], -scaled->unit_z[i]);
  take_answer(s, z);
  return status;
}

NsStatus ns_mixed_embed_solve(NsMixedEmbed *e, const NsMixedView *v, double *z, bool *exact, NsSolverInfo *info) {
  const NsConeClass *cone = v->kinds.cone;
  *exact = true;
  if (!cone) return NS_ESIZE;
  Plan s = {e, v, cone, cone->dim, 0, v->p.W, v->p.q};
  if (v->kinds.equations && (!v->p.W || v->p.n > REDUCED_ROWS)) return NS_ESIZE;
  NsStatus status = mixed_embed_room(e, v->p.n);
  if (!status && v->kinds.equations) {
    status = ns_mixed_reduce(&e->reduction, &v->p, z, exact);
    s.A = e->reduction.A;
    s.b = e->reduction.b;
  }
  if (status) return status;
  status = mixed_embed_solve(&s, z, info);
  if (v->kinds.equations) ns_mixed_recover(&e->reduction, &v->p, z, e->w);
  return status;
}

/* ---- the method ---- */

static NsStatus mixed_embed_reserve(void **work, NsSearch *search) {
  NsMixedEmbed *e = *work = ns_alloc(1, sizeof *e);
  return e ? ns_mixed_contacts.reserve(&e->contacts, search) : NS_ENOMEM;
}

static void mixed_embed_release(void *work) {
  NsMixedEmbed *e = work;
  if (!e) return;
  ns_mixed_contacts.release(e->contacts);
  ns_mixed_scaled_release(&e->scaled);
  ns_mixed_reduction_release(&e->reduction);
  ns_sparse_free(e->sparse);
  ns_arena_release(&e->matrix);
  ns_arena_release(&e->arena);
  ns_free(e);
}

static NsOutcome mixed_embed_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {0};
  bool exact;
  (void)mode;
  ns_mixed_copy(s, s->z, s->best);
  NsStatus status = ns_mixed_embed_solve(work, &s->v, s->z, &exact, &info);
  bool told = status == NS_ENOSOL || status == NS_ERAY;
  if (status == NS_ETOOLARGE || (told && exact)) s->verdict = status;
  return ns_mixed_candidate(s, told && !exact ? NS_ENOCONV : status, &info);
}

const NsMethod ns_mixed_embed = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                 .needs = "equations in a dense matrix",
                                 .reserve = mixed_embed_reserve,
                                 .release = mixed_embed_release,
                                 .run = mixed_embed_run};
