/*
** mixed_embed.c
** Rows and contacts as contacts of one dimension.
**
** Equations are eliminated. A row with one finite bound, z >= l or z <= u, is a contact without friction, z = l + r_n
** or u - r_n. A row with two is the first tangent of a contact with mu = 1 whose normal force is held at half the width,
** W_nn r_n - W_nn (u - l) / 2 = 0, decoupled: z = (l + u) / 2 + r_t, Coulomb's law being that of the row. A tangent
** that a row or a contact in the plane lacks is decoupled with q = 0: its velocity is W_tt r_t, against a force of that
** sign, so both are 0 and drop out of the law.
*/
#include <math.h>
#include <string.h>

#include "solvers/contact/mixed_methods.h"
#include "solvers/residual.h"

enum { REDUCED_ROWS = 400 }; /* more make a dense matrix that the friction solvers are slow on */

/* A force this near to half the width is at its bound. */
static const double at_bound = 1e-12;

static void release_friction(NsMixedFriction *friction) {
  ns_friction_free(friction->solver);
  ns_block_free(friction->W);
  *friction = (NsMixedFriction){NULL, NULL};
}

void ns_mixed_embed_release(NsMixedEmbed *e) {
  for (int k = 0; k <= NS_MIXED_SLOTS; k++) release_friction(&e->slot[0][k]), release_friction(&e->slot[1][k]);
  ns_mixed_reduction_release(&e->reduction);
  ns_arena_release(&e->arena);
  *e = (NsMixedEmbed){0};
}

static NsStatus mixed_embed_reserve(NsMixedEmbed *e, int n) {
  if (n <= e->capacity) return NS_OK;
  ns_arena_release(&e->arena);
  e->capacity = 0;
  ptrdiff_t most = 3 * (ptrdiff_t)n;
  double **vectors[] = {&e->q, &e->guess, &e->r, &e->u, &e->mu, &e->sign, &e->offset, &e->w};
  for (int k = 0; k < 8; k++) *vectors[k] = ns_arena_doubles(&e->arena, k < 4 ? most : n);
  e->place = ns_arena_ints(&e->arena, n);
  if (e->arena.failed) return ns_arena_release(&e->arena), NS_ENOMEM;
  e->capacity = n;
  return NS_OK;
}

/* ---- where each row goes ---- */

/* One problem on its way: W and q as they are to be embedded. */
typedef struct Plan {
  NsMixedEmbed *e;
  const NsMixedView *v;
  int dim, nc;
  const double *A, *b; /* A dense, or NULL: the sparse matrix of the problem */
} Plan;

static bool two_bounds(const NsMixedGroup *group) {
  return group->dim == 1 && group->lower > -INFINITY && group->upper < INFINITY;
}

/* The place of a row with bounds. */
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
  e->mu[s->nc++] = two_bounds(group) ? 1 : 0;
}

static void place_all(Plan *s) {
  const NsMixedProblem *p = &s->v->p;
  NsMixedEmbed *e = s->e;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    if (group->dim == 1) {
      place_row(s, group, row);
      continue;
    }
    for (int i = 0; i < group->dim; i++) {
      e->place[row + i] = s->nc * s->dim + i;
      e->sign[row + i] = 1;
      e->offset[row + i] = 0;
    }
    e->mu[s->nc++] = group->mu;
  }
}

/* ---- the matrix ---- */

/* What takes the entries of the embedded matrix. */
typedef struct Sink {
  NsBlock *W; /* filled, or NULL: triplets, counted only while i is NULL */
  bool zeros; /* triplets for zeros too */
  ptrdiff_t count;
  int *i, *j;
  double *v;
} Sink;

/* The block (I, J) of a row of blocks; NULL where there is none. */
static double *find_block(const NsBlock *W, int I, int J) {
  int low = W->rowptr[I], high = W->rowptr[I + 1] - 1, size = W->dim * W->dim;
  if (high - low + 1 == W->nb) return W->value + (size_t)(low + J) * (size_t)size;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (W->col[middle] == J) return W->value + (size_t)middle * (size_t)size;
    if (W->col[middle] < J) low = middle + 1;
    else high = middle - 1;
  }
  return NULL;
}

/* False: there is no block for it. */
static bool mixed_embed_put(Sink *sink, int i, int j, double v) {
  if (sink->W) {
    int dim = sink->W->dim;
    double *block = v != 0 ? find_block(sink->W, i / dim, j / dim) : NULL;
    if (block) block[i % dim + j % dim * dim] += v;
    return block || v == 0;
  }
  if (v == 0 && !sink->zeros) return true;
  if (sink->i) sink->i[sink->count] = i, sink->j[sink->count] = j, sink->v[sink->count] = v;
  sink->count++;
  return true;
}

static bool put_entry(const Plan *s, Sink *sink, int i, int j, double v) {
  const NsMixedEmbed *e = s->e;
  if (e->place[i] < 0 || e->place[j] < 0) return true;
  return mixed_embed_put(sink, e->place[i], e->place[j], e->sign[i] * e->sign[j] * v);
}

/* The diagonal entry of what is added to a group: of the size of its own. */
static double added(const Plan *s, int g) {
  return 1 / s->v->rho[g];
}

/* The entries for a normal force that is given and for tangents that are missing. */
static bool put_added(const Plan *s, Sink *sink) {
  const NsMixedProblem *p = &s->v->p;
  bool good = true;
  for (int g = 0, row = 0; g < p->ngroups && good; row += p->groups[g++].dim) {
    int at = s->e->place[row], used = p->groups[g].dim;
    if (at < 0) continue;
    if (two_bounds(&p->groups[g])) {
      at--;
      good = mixed_embed_put(sink, at, at, added(s, g));
      used = 2;
    }
    for (int i = used; i < s->dim && good; i++) good = mixed_embed_put(sink, at + i, at + i, added(s, g));
  }
  return good;
}

/* Contacts of one dimension, dense, all blocks there: W as it is. */
static void copy_blocks(const Plan *s, NsBlock *W) {
  int dim = s->dim;
  double *to = W->value;
  for (int I = 0; I < W->nb; I++)
    for (int J = 0; J < W->nb; J++) {
      const double *from = s->A + (size_t)(I * dim) + (size_t)(J * dim) * (size_t)s->v->p.n;
      for (int j = 0; j < dim; j++, from += s->v->p.n)
        for (int i = 0; i < dim; i++) *to++ = from[i];
    }
}

static bool mixed_embed_put_all(const Plan *s, Sink *sink) {
  const NsSparse *sparse = s->v->p.sparse;
  int n = s->v->p.n;
  if (sink->W && s->A && s->v->kinds.uniform && ns_block_count(sink->W) == s->nc * s->nc) return copy_blocks(s, sink->W), true;
  if (sink->W) memset(sink->W->value, 0, (size_t)ns_block_count(sink->W) * (size_t)(s->dim * s->dim) * sizeof(double));
  for (int j = 0; s->A && j < n; j++)
    for (int i = 0; i < n; i++)
      if (!put_entry(s, sink, i, j, s->A[i + (size_t)j * (size_t)n])) return false;
  for (int j = 0; !s->A && j < n; j++)
    for (int k = sparse->colptr[j]; k < sparse->colptr[j + 1]; k++)
      if (!put_entry(s, sink, sparse->row[k], j, sparse->value[k])) return false;
  return put_added(s, sink);
}

/* Few contacts get all blocks, so that their number alone is the pattern. */
static bool put_full(const Plan *s, Sink *sink) {
  int n = s->nc * s->dim;
  for (int j = 0; sink->zeros && j < n; j += s->dim)
    for (int i = 0; i < n; i += s->dim) mixed_embed_put(sink, i, j, 0);
  return mixed_embed_put_all(s, sink);
}

static NsStatus make_block(const Plan *s, bool full, NsBlock **out) {
  NsArena room = {0};
  Sink sink = {.zeros = full};
  put_full(s, &sink);
  sink.i = ns_arena_ints(&room, sink.count);
  sink.j = ns_arena_ints(&room, sink.count);
  sink.v = ns_arena_doubles(&room, sink.count);
  sink.count = 0;
  NsStatus status = NS_ENOMEM;
  if (!room.failed) {
    put_full(s, &sink);
    status = ns_block_from_triplets(out, s->dim, s->nc * s->dim, sink.count, sink.i, sink.j, sink.v);
  }
  ns_arena_release(&room);
  return status;
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
    if (p->groups[g].dim > 1 || x == 0 || ns_mixed_equation(&p->groups[g])) continue;
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

/* z of the embedded rows; bounds exactly. */
static void take_answer(const Plan *s, double *z) {
  const NsMixedProblem *p = &s->v->p;
  const NsMixedEmbed *e = s->e;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    int at = e->place[row];
    if (group->dim == 1 && at < 0 && !ns_mixed_equation(group)) z[row] = e->offset[row];
    for (int i = 0; at >= 0 && i < group->dim; i++) z[row + i] = e->offset[row + i] + e->sign[row + i] * e->r[at + i];
    if (group->dim > 1 || at < 0) continue;
    z[row] = ns_box_clamp(z[row], group->lower, group->upper);
    if (!two_bounds(group)) continue;
    double half = 0.5 * group->upper - 0.5 * group->lower, force = e->r[at];
    if (fabs(force) >= half * (1 - at_bound)) z[row] = force < 0 ? group->lower : group->upper;
  }
}

/* The solver of this size or pattern, its matrix filled. */
static NsStatus mixed_embed_take_solver(const Plan *s, NsFriction *problem, NsMixedFriction **out) {
  bool few = s->nc <= NS_MIXED_SLOTS;
  NsMixedFriction *friction = *out = &s->e->slot[s->dim - 2][few ? s->nc : 0];
  Sink sink = {.W = friction->W};
  if (friction->W && friction->W->nb == s->nc && mixed_embed_put_all(s, &sink)) {
    problem->W = friction->W;
    return NS_OK;
  }
  release_friction(friction);
  NsStatus status = make_block(s, few, &friction->W);
  problem->W = friction->W;
  if (!status) status = ns_friction_new(&friction->solver, problem, NS_FRICTION_DEFAULT);
  if (status) release_friction(friction);
  return status;
}

static NsStatus mixed_embed_solve(Plan *s, double *z, NsSolverInfo *info) {
  NsMixedEmbed *e = s->e;
  NsMixedFriction *friction;
  place_all(s);
  if (s->nc == 0) return NS_OK;
  fill_vectors(s, z);
  NsFriction problem = {s->dim, s->nc, e->mu, NULL, e->q};
  NsStatus status = mixed_embed_take_solver(s, &problem, &friction);
  if (status) return status;
  *ns_friction_options(friction->solver) = (NsFrictionOptions){s->v->tolerance, s->v->max_iterations};
  status = ns_friction_solve(friction->solver, &problem, e->guess, e->r, e->u, info);
  take_answer(s, z);
  return status;
}

NsStatus ns_mixed_embed(NsMixedEmbed *e, const NsMixedView *v, double *z, bool *exact, NsSolverInfo *info) {
  Plan s = {e, v, v->kinds.dim, 0, v->p.W, v->p.q};
  *exact = true;
  if (v->kinds.equations && (!v->p.W || v->p.n > REDUCED_ROWS)) return NS_ESIZE;
  NsStatus status = mixed_embed_reserve(e, v->p.n);
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
