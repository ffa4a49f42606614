/*
** mixed_embed.c
** Rows and contacts as contacts of one dimension: equations eliminated, missing tangents added.
*/
#include <math.h>
#include <string.h>

#include "linalg/lu.h"
#include "solvers/mixed_parts.h"

enum { DENSE_ROWS = 1500 }; /* a sparse problem of more rows keeps its equations, and is not for this method */

void ns_mixed_friction_free(NsMixedFriction *friction) {
  ns_friction_free(friction->solver);
  ns_block_free(friction->W);
  *friction = (NsMixedFriction){NULL, NULL};
}

typedef struct Embedding {
  const NsMixedProblem *p;
  int dim, nc, ne;
  int *place;     /* n: a row's place among the nc dim entries, or -1 - its number among the equations */
  double *mu;     /* nc */
  double *A;      /* n x n: W with the equations eliminated (dense); NULL: W as it is */
  double *b;      /* n: q likewise */
  double *q, *guess, *r, *u; /* nc dim */
  NsLu *lu;       /* of the equations' block */
} Embedding;

static bool is_equation(const NsMixedGroup *group) {
  return group->dim == 1 && group->lower == -INFINITY && group->upper == INFINITY;
}

static void number(Embedding *s) {
  for (int g = 0, row = 0; g < s->p->ngroups; row += s->p->groups[g++].dim) {
    const NsMixedGroup *group = &s->p->groups[g];
    if (is_equation(group)) {
      s->place[row] = -1 - s->ne++;
      continue;
    }
    for (int i = 0; i < group->dim; i++) s->place[row + i] = s->nc * s->dim + i;
    s->mu[s->nc++] = group->dim > 1 ? group->mu : 0;
  }
}

static NsStatus densify(Embedding *s) {
  const NsMixedProblem *p = s->p;
  if (p->sparse) ns_sparse_to_dense(p->sparse, s->A, p->n);
  else memcpy(s->A, p->W, (size_t)p->n * (size_t)p->n * sizeof *s->A);
  memcpy(s->b, p->q, (size_t)p->n * sizeof *s->b);
  return NS_OK;
}

/*
** A -= A_ce A_ee^-1 A_ec, b -= A_ce A_ee^-1 b_e. Where A_ee is singular (equations that say the same twice) a small
** multiple of the identity is added to it.
*/
static NsStatus eliminate(Embedding *s, NsArena *room) {
  size_t n = (size_t)s->p->n, ne = (size_t)s->ne;
  double *block = ns_arena_matrix(room, s->ne, s->ne), *X = ns_arena_matrix(room, s->ne, s->p->n + 1), largest = 0;
  int *rows = ns_arena_ints(room, s->ne);
  if (room->failed || ns_lu_new(&s->lu, s->ne) != NS_OK) return NS_ENOMEM;
  for (size_t i = 0; i < n; i++)
    if (s->place[i] < 0) rows[-1 - s->place[i]] = (int)i;
  for (size_t j = 0; j < ne; j++)
    for (size_t i = 0; i < ne; i++) {
      block[i + j * ne] = s->A[(size_t)rows[i] + (size_t)rows[j] * n];
      largest = fmax(largest, fabs(block[i + j * ne]));
    }
  NsStatus status = ns_lu_factor(s->lu, block, s->ne);
  for (size_t i = 0; status == NS_ESINGULAR && i < ne; i++) block[i + i * ne] += 1e-12 * largest;
  if (status == NS_ESINGULAR) status = ns_lu_factor(s->lu, block, s->ne);
  if (status != NS_OK) return status;
  for (size_t j = 0; j <= n; j++)
    for (size_t i = 0; i < ne; i++)
      X[i + j * ne] = j < n ? s->A[(size_t)rows[i] + j * n] : s->b[rows[i]];
  ns_lu_solve(s->lu, s->p->n + 1, X, s->ne);
  for (size_t i = 0; i < n; i++) {
    if (s->place[i] < 0) continue;
    for (size_t k = 0; k < ne; k++) {
      double f = s->A[i + (size_t)rows[k] * n];
      if (f == 0) continue;
      for (size_t j = 0; j < n; j++)
        if (s->place[j] >= 0) s->A[i + j * n] -= f * X[k + j * ne];
      s->b[i] -= f * X[k + n * ne];
    }
  }
  return NS_OK;
}

/* z of the equations from that of the others. */
static void recover(const Embedding *s, NsArena *room, double *z) {
  double *x = ns_arena_doubles(room, s->ne);
  if (s->ne == 0 || room->failed) return;
  for (int i = 0; i < s->p->n; i++) {
    if (s->place[i] >= 0) continue;
    double sum = s->p->q[i];
    for (int j = 0; j < s->p->n; j++)
      if (s->place[j] >= 0) sum += ns_mixed_entry(s->p, i, j) * z[j];
    x[-1 - s->place[i]] = -sum;
  }
  ns_lu_solve(s->lu, 1, x, s->ne);
  for (int i = 0; i < s->p->n; i++)
    if (s->place[i] < 0) z[i] = x[-1 - s->place[i]];
}

/* Where triplets go; counted only while i is NULL. */
typedef struct Triplets {
  ptrdiff_t count;
  int *i, *j;
  double *v;
} Triplets;

static void put(Triplets *t, int i, int j, double v) {
  if (i < 0 || j < 0 || v == 0) return;
  if (t->i) t->i[t->count] = i, t->j[t->count] = j, t->v[t->count] = v;
  t->count++;
}

/* The entries of the embedded matrix; a missing tangent has a diagonal entry of the size of its contact's. */
static void put_all(const Embedding *s, Triplets *t) {
  const NsMixedProblem *p = s->p;
  const double *dense = s->A ? s->A : p->W;
  for (int j = 0; dense && j < p->n; j++)
    for (int i = 0; i < p->n; i++) put(t, s->place[i], s->place[j], dense[i + (size_t)j * (size_t)p->n]);
  for (int j = 0; !dense && j < p->n; j++)
    for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++)
      put(t, s->place[p->sparse->row[k]], s->place[j], p->sparse->value[k]);
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    double diagonal = ns_mixed_diagonal(p, row, p->groups[g].dim);
    for (int i = p->groups[g].dim; s->place[row] >= 0 && i < s->dim; i++)
      put(t, s->place[row] + i, s->place[row] + i, diagonal > 0 ? diagonal : 1);
  }
}

static NsStatus form_block(const Embedding *s, NsArena *room, NsBlock **out) {
  Triplets t = {0};
  put_all(s, &t);
  t = (Triplets){0, ns_arena_ints(room, t.count), ns_arena_ints(room, t.count), ns_arena_doubles(room, t.count)};
  if (room->failed) return NS_ENOMEM;
  put_all(s, &t);
  return ns_block_from_triplets(out, s->dim, s->nc * s->dim, t.count, t.i, t.j, t.v);
}

static bool same_pattern(const NsBlock *a, const NsBlock *b) {
  return a && a->dim == b->dim && a->nb == b->nb &&
         memcmp(a->rowptr, b->rowptr, (size_t)(a->nb + 1) * sizeof *a->rowptr) == 0 &&
         memcmp(a->col, b->col, (size_t)a->rowptr[a->nb] * sizeof *a->col) == 0;
}

static NsStatus solve(NsMixedFriction *friction, Embedding *s, NsArena *room, const NsMixedOptions *options, double *z,
                      NsSolverInfo *info) {
  NsBlock *W = NULL;
  NsStatus status = form_block(s, room, &W);
  if (status != NS_OK) return status;
  const double *b = s->A ? s->b : s->p->q;
  for (int i = 0; i < s->p->n; i++)
    if (s->place[i] >= 0) s->q[s->place[i]] = b[i], s->guess[s->place[i]] = z[i];
  NsFriction problem = {s->dim, s->nc, s->mu, W, s->q};
  if (!same_pattern(friction->W, W)) {
    ns_friction_free(friction->solver);
    friction->solver = NULL;
    status = ns_friction_new(&friction->solver, &problem, NS_FRICTION_DEFAULT);
  }
  ns_block_free(friction->W);
  friction->W = W;
  if (status != NS_OK) {
    ns_mixed_friction_free(friction);
    return status;
  }
  *ns_friction_options(friction->solver) =
      (NsFrictionOptions){.tolerance = options->tolerance, .max_iterations = options->max_iterations};
  status = ns_friction_solve(friction->solver, &problem, s->guess, s->r, s->u, info);
  for (int i = 0; i < s->p->n; i++)
    if (s->place[i] >= 0) z[i] = s->r[s->place[i]];
  return status;
}

NsStatus ns_mixed_embed(NsMixedFriction *friction, const NsMixedProblem *p, const NsMixedKinds *kinds,
                        const NsMixedOptions *options, double *z, NsSolverInfo *info) {
  NsArena room = {0};
  if (kinds->bounded || (kinds->equations && p->n > DENSE_ROWS)) return NS_ESIZE;
  Embedding s = {.p = p, .dim = kinds->dim};
  int most = p->ngroups * s.dim;
  s.place = ns_arena_ints(&room, p->n);
  s.mu = ns_arena_doubles(&room, p->ngroups);
  s.q = ns_arena_doubles(&room, most);
  s.guess = ns_arena_doubles(&room, most);
  s.r = ns_arena_doubles(&room, most);
  s.u = ns_arena_doubles(&room, most);
  if (kinds->equations) {
    s.A = ns_arena_matrix(&room, p->n, p->n);
    s.b = ns_arena_doubles(&room, p->n);
  }
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  if (status == NS_OK) number(&s);
  if (status == NS_OK && s.A) status = densify(&s);
  if (status == NS_OK && s.A) status = eliminate(&s, &room);
  if (status == NS_OK) status = solve(friction, &s, &room, options, z, info);
  if (status != NS_ENOMEM) recover(&s, &room, z);
  ns_lu_free(s.lu);
  ns_arena_release(&room);
  return status;
}
