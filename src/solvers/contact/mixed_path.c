/*
** mixed_path.c
** Heaps in the plane by complementary pivots with a sparse basis.
*/
/*
** The box problem is that of mixed_plane.c: r_n, and for each disc f = r_t + mu r_n and b, with outputs u_n, u_t + b and 2 mu r_n - f. Its units
** are those in which the contacts' own blocks are about 1 and the largest velocity of the data is 1.
** FROM_BOUNDS: a path of the problem itself. The forces of a jammed heap are not unique; on this path the basis stays regular nevertheless.
** NEAR: from a point whose modes are mostly right, a path has a few pivots. As the forces of these modes may not be unique, a term
** weight (z - centre) in w makes the basis regular. The centre is the last point: Rockafellar, SIAM J. Control Optim. 14, 1976.
** Assumptions: contacts in the plane; a sparse W with its whole diagonal, which may have any properties.
** Termination: the measure is within tolerance; or TURNS paths have ended; a path ends as in ns_sparse_path_solve.
*/
#include "solvers/contact/mixed_path.h"

#include <math.h>

#include "base/memory.h"
#include "linalg/sparse.h"
#include "solvers/box/sparse_path.h"
#include "solvers/contact/mixed_plane.h"
#include "solvers/residual.h"

/*
** PIVOTS: most pivots of a path from the bounds, over the unknowns: heaps of 84 to 300 disks need 1.5 to 2, some 7 or, with
** mu = 0.9, more than 10, one of 120 disks 19. LONG_PIVOTS: likewise of a long path. NEAR_PIVOTS: most
** pivots of one from a point: those that arrive need about 10.
*/
enum { PIVOTS = 6, LONG_PIVOTS = 40, NEAR_PIVOTS = 300, TURNS = 8 };

/*
** inside: where a path from a point begins, in units of the largest velocity. least_weight, heavier: the weight of the term, in units of the
** contacts' own blocks; it is multiplied by `heavier` after a path that does not arrive, and divided by it after one that does.
*/
static const double inside = 1e-3, least_weight = 1e-6, heavier = 10;

struct NsMixedPath {
  NsArena arena;
  int capacity, entries; /* allocated: unknowns, triplets */
  NsSparse *M;           /* the last matrix */
  NsSparsePath *path;    /* for its pattern */
  int *i, *j;
  double *value; /* entries: the triplets of M */
  int *at;       /* the unknown of each row of W */
  double *unit;  /* of each unknown */
  double *q, *lower, *upper, *guess, *w, *rho, *y;
  double scale;  /* the largest velocity of the data, in units of the contacts' own blocks */
  double weight; /* of the term; 0: there is none */
};

static void mixed_path_clear(NsMixedPath *s) {
  ns_sparse_path_free(s->path);
  ns_sparse_free(s->M);
  ns_arena_release(&s->arena);
  *s = (NsMixedPath){0};
}

static NsStatus mixed_path_room(NsMixedPath *s, int n, int entries) {
  if (n <= s->capacity && entries <= s->entries) return NS_OK;
  mixed_path_clear(s);
  ptrdiff_t rows = n + n / 2, room = (ptrdiff_t)entries + entries / 2;
  NS_ARENA_INTS(&s->arena, room, &s->i, &s->j);
  NS_ARENA_INTS(&s->arena, rows, &s->at);
  NS_ARENA_VECTORS(&s->arena, rows, &s->unit, &s->q, &s->lower, &s->upper, &s->guess, &s->w, &s->rho, &s->y);
  s->value = ns_arena_doubles(&s->arena, room);
  if (s->arena.failed) return mixed_path_clear(s), NS_ENOMEM;
  s->capacity = (int)rows, s->entries = (int)room;
  return NS_OK;
}

/* The largest velocity of the data, in units of the contacts' own blocks. */
static double mixed_path_scale(const NsMixedView *v) {
  double most = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = 0; i < v->p.groups[g].dim; i++) most = ns_larger(most, sqrt(v->rho[g]) * fabs(v->p.q[row + i]));
  return most > 0 ? most : 1;
}

/* Sets the unknowns of the rows, with units, bounds and q, which holds the centre z of the term. */
static void mixed_path_unknowns(NsMixedPath *s, const NsMixedView *v, const double *z) {
  double scale = s->scale;
  for (int g = 0, row = 0, at = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    int count = group->cone ? 1 + 2 * group->cone->discs : 1;
    double root = sqrt(v->rho[g]);
    for (int i = 0; i < group->dim; i++) {
      s->at[row + i] = at + (i > 0 ? 2 * i - 1 : 0);
      s->q[s->at[row + i]] = root * v->p.q[row + i] / scale - s->weight * z[row + i] / (root * scale);
    }
    for (int k = at; k < at + count; k++) {
      bool output = (k - at) > 0 && (k - at) % 2 == 0; /* b */
      if (output) s->q[k] = 0;
      s->unit[k] = output ? 1 / root : root;
      s->lower[k] = group->cone ? 0 : group->lower / (root * scale);
      s->upper[k] = group->cone ? INFINITY : group->upper / (root * scale);
      s->rho[k] = 1;
    }
    at += count;
  }
}

static void mixed_path_put(NsMixedPath *s, int *count, int i, int j, double value) {
  s->i[*count] = i, s->j[*count] = j, s->value[(*count)++] = value;
}

/* Column j of W with the term, times `factor`, as entries of column `column`. */
static void mixed_path_column(NsMixedPath *s, const NsMixedView *v, int *count, int column, int j, double factor) {
  const NsSparse *W = v->p.sparse;
  for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++) {
    int i = s->at[W->row[k]];
    double held = W->row[k] == j ? s->weight : 0;
    mixed_path_put(s, count, i, column, factor * (s->unit[i] * W->value[k] * s->unit[column] + held));
  }
}

/* Makes M. */
static NsStatus mixed_path_matrix(NsMixedPath *s, const NsMixedView *v, int n) {
  int count = 0;
  for (int k = 0; k < n; k++) mixed_path_put(s, &count, k, k, 0);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    int normal = s->at[row];
    mixed_path_column(s, v, &count, normal, row, 1);
    for (int i = 1; i < group->dim; i++) {
      int force = s->at[row + i], slip = force + 1;
      mixed_path_column(s, v, &count, normal, row + i, -group->mu[i - 1]);
      mixed_path_column(s, v, &count, force, row + i, 1);
      mixed_path_put(s, &count, force, slip, 1);
      mixed_path_put(s, &count, slip, normal, 2 * group->mu[i - 1]);
      mixed_path_put(s, &count, slip, force, -1);
    }
  }
  NsSparse *M;
  NsStatus status = ns_sparse_from_triplets(&M, n, n, count, s->i, s->j, s->value);
  if (status) return status;
  bool same = s->M && ns_sparse_same_pattern(s->M, M);
  ns_sparse_free(s->M);
  s->M = M;
  if (same && s->path) return NS_OK;
  ns_sparse_path_free(s->path);
  s->path = NULL;
  return ns_sparse_path_new(&s->path, M);
}

/*
** The guess z, whose output is `w`, in the unknowns, with outputs that choose a regular basis for the contact: a contact slips one way (f and b are
** held), the other way (both are in the basis), or sticks (f is).
*/
static void mixed_path_guess(NsMixedPath *s, const NsMixedView *v, const double *z, const double *w) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    int normal = s->at[row];
    double root = sqrt(v->rho[g]), scale = s->scale;
    s->guess[normal] = (group->cone ? ns_larger(z[row], 0) : z[row]) / (root * scale);
    s->w[normal] = root * w[row] / scale;
    for (int i = 1; i < group->dim; i++) {
      int force = s->at[row + i], slip = force + 1;
      double slips = w[row + i] * root / scale, bound = group->mu[i - 1] * s->guess[normal];
      double f = ns_box_clamp(z[row + i] / (root * scale) + bound, 0, 2 * bound);
      bool forth = f - slips <= 0, back = !forth && f - slips >= 2 * bound;
      s->guess[force] = forth ? 0 : ns_larger(f, inside);
      s->guess[slip] = back ? ns_larger(-slips, inside) : 0;
      s->w[force] = forth ? ns_larger(slips, inside) : 0;
      s->w[slip] = back ? 0 : ns_larger(2 * bound - f, inside);
    }
  }
}

/* The answer for a row, which is at a bound where the path has left it there. */
static double mixed_path_row(const NsMixedPath *s, const NsMixedGroup *group, int at, double unit) {
  if (s->y[at] == s->lower[at]) return group->lower;
  if (s->y[at] == s->upper[at]) return group->upper;
  return ns_box_clamp(unit * s->y[at], group->lower, group->upper);
}

static void mixed_path_answer(const NsMixedPath *s, const NsMixedView *v, double *z) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    double unit = sqrt(v->rho[g]) * s->scale;
    z[row] = group->cone ? unit * s->y[s->at[row]] : mixed_path_row(s, group, s->at[row], unit);
    for (int i = 1; i < group->dim; i++) {
      double bound = group->mu[i - 1] * z[row];
      z[row + i] = ns_box_clamp(unit * s->y[s->at[row + i]] - bound, -bound, bound);
    }
  }
}

/* One path of at most `most` pivots: of the problem with a term of this weight about z, from z; without a term from the bounds. z becomes its end. */
static NsStatus mixed_path_turn(NsMixedPath *s, const NsMixedView *v, double weight, int most, double *z, double *w,
                                NsSolverInfo *info) {
  int n = ns_mixed_plane_unknowns(v), pivots = 0;
  s->weight = weight;
  mixed_path_unknowns(s, v, z);
  NsStatus status = mixed_path_matrix(s, v, n);
  if (status) return status;
  NsPathStart start = {.rho = s->rho, .inside = inside, .max_pivots = most};
  if (weight > 0) {
    ns_mixed_product(&v->p, z, w);
    mixed_path_guess(s, v, z, w);
    start.z = s->guess, start.w = s->w;
  }
  status = ns_sparse_path_solve(s->path, s->M, s->q, s->lower, s->upper, &start, s->y, &pivots);
  info->iterations += pivots;
  if (status == NS_OK) mixed_path_answer(s, v, z);
  return status;
}

NsStatus ns_mixed_path_solve(NsMixedPath *s, const NsMixedView *v, int mode, double *z, double *w, NsSolverInfo *info) {
  if (!(v->kinds.takes & NS_TAKES_PLANE) || !v->p.sparse) return NS_ESIZE;
  int n = ns_mixed_plane_unknowns(v);
  NsStatus status = mixed_path_room(s, n, 2 * ns_sparse_nnz(v->p.sparse) + 4 * n);
  if (status) return status;
  s->scale = mixed_path_scale(v);
  if (mode == NS_PATH_FROM_BOUNDS) return mixed_path_turn(s, v, 0, PIVOTS * n, z, w, info);
  if (mode == NS_PATH_LONG) return mixed_path_turn(s, v, 0, LONG_PIVOTS * n, z, w, info);
  double weight = least_weight;
  for (int k = 0; k < TURNS; k++) {
    status = mixed_path_turn(s, v, weight, NEAR_PIVOTS, z, w, info);
    if (status == NS_EINTR || status == NS_ENOMEM) return status;
    if (!status && ns_mixed_measure(v, z, w) <= v->tolerance) return NS_OK;
    weight = status ? heavier * weight : ns_larger(least_weight, weight / heavier);
  }
  return status ? status : NS_ENOCONV;
}

/* ---- the method ---- */

static NsStatus mixed_path_reserve(void **work, NsSearch *search) {
  (void)search;
  return (*work = ns_alloc(1, sizeof(NsMixedPath))) ? NS_OK : NS_ENOMEM;
}

static void mixed_path_release(void *work) {
  if (work) mixed_path_clear(work);
  ns_free(work);
}

static NsOutcome mixed_path_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {.solver = "lcp"};
  ns_mixed_copy(s, s->z, s->standing);
  NsStatus status = ns_mixed_path_solve(work, &s->v, mode, s->z, s->w, &info);
  return ns_mixed_candidate(s, status, &info);
}

const NsMethod ns_mixed_path = {.takes = NS_TAKES_SPARSE | NS_TAKES_PLANE,
                                .needs = "contacts in the plane and a sparse matrix",
                                .reserve = mixed_path_reserve,
                                .release = mixed_path_release,
                                .run = mixed_path_run};
