/*
** mixed_plane.c
** Contacts in the plane and rows with bounds as one box problem, solved by pivoting.
*/
/*
** Assumptions: contacts in the plane; a dense W, which may have any properties.
** The unknowns are z for a row, and for a contact r_n and for each disc, an interval, f = r_t + mu r_n and b. With the slip
** u_t = a - b and k = mu r_n - r_t = 2 mu r_n - f the law of a contact is
**   0 <= u_n _|_ r_n >= 0,   0 <= a = u_t + b _|_ f >= 0,   0 <= k _|_ b >= 0.
** Termination: as in ns_box_solve. NS_ENOSOL (proved, small problems) and NS_ERAY hold for the contacts too, since the two
** problems have the same solutions. Klarbring, in Computational Mechanics of contact, 1990; Acary and Brogliato, Numerical
** Methods for Nonsmooth Dynamical Systems, 2008, section 13.3.
*/
#include "solvers/contact/mixed_plane.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/box/box_solver.h"
#include "solvers/residual.h"

struct NsMixedPlane {
  NsArena arena;
  NsBox *box;
  int capacity;
  int *first; /* first unknown of each group */
  double *M, *q, *lower, *upper, *guess, *y, *w;
};

int ns_mixed_plane_unknowns(const NsMixedView *v) {
  int count = v->p.n;
  for (int g = 0; g < v->p.ngroups; g++) count += v->p.groups[g].cone ? v->p.groups[g].cone->discs : 0;
  return count;
}

/* The place of row i of a group among its unknowns, which are r_n, then f and b of each disc. */
static int plane_place(int i) {
  return i > 0 ? 2 * i - 1 : 0;
}

/* Distance between two unknowns of a contact. If there are contacts only, all r_n come first, then all f, then all b. */
static int stride(const NsMixedView *v) {
  return v->kinds.uniform ? v->kinds.contacts : 1;
}

static void mixed_plane_clear(NsMixedPlane *s) {
  ns_box_free(s->box);
  ns_arena_release(&s->arena);
  *s = (NsMixedPlane){0};
}

static NsStatus mixed_plane_room(NsMixedPlane *s, int n) {
  if (n <= s->capacity) return NS_OK;
  mixed_plane_clear(s);
  s->M = ns_arena_matrix(&s->arena, n, n);
  s->first = ns_arena_ints(&s->arena, n);
  NS_ARENA_VECTORS(&s->arena, n, &s->q, &s->lower, &s->upper, &s->guess, &s->y, &s->w);
  NsStatus status = s->arena.failed ? NS_ENOMEM : ns_box_new(&s->box, n);
  if (status) mixed_plane_clear(s);
  else s->capacity = n;
  return status;
}

/* Sets the first unknown and the bounds of each group. */
static void take_bounds(NsMixedPlane *s, const NsMixedView *v) {
  int step = stride(v);
  for (int g = 0, at = 0; g < v->p.ngroups; g++) {
    const NsMixedGroup *group = &v->p.groups[g];
    int count = group->cone ? 1 + 2 * group->cone->discs : 1;
    s->first[g] = at;
    for (int i = 0; i < count; i++) {
      s->lower[at + i * step] = group->cone ? 0 : group->lower;
      s->upper[at + i * step] = group->cone ? INFINITY : group->upper;
    }
    at += step == 1 ? count : 1;
  }
}

/* Adds `factor` times column j of W to column `column` of M, in the outputs of every group. */
static void mixed_plane_add_column(NsMixedPlane *s, const NsMixedView *v, int column, int j, double factor) {
  double *to = s->M + (size_t)column * (size_t)ns_mixed_plane_unknowns(v);
  const double *W = v->p.W + (size_t)j * (size_t)v->p.n;
  for (int g = 0, row = 0, step = stride(v); g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = 0; i < v->p.groups[g].dim; i++) to[s->first[g] + plane_place(i) * step] += factor * W[row + i];
}

/* Fills M and q. The outputs are w for a row; u_n, u_t + b and 2 mu r_n - f for a contact. */
static void fill(NsMixedPlane *s, const NsMixedView *v) {
  size_t n = (size_t)ns_mixed_plane_unknowns(v);
  int step = stride(v);
  memset(s->M, 0, n * n * sizeof *s->M);
  memset(s->q, 0, n * sizeof *s->q);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    int normal = s->first[g];
    mixed_plane_add_column(s, v, normal, row, 1);
    for (int i = 0; i < group->dim; i++) s->q[normal + plane_place(i) * step] = v->p.q[row + i];
    for (int i = 1; i < group->dim; i++) {
      int force = normal + plane_place(i) * step, slip = force + step;
      mixed_plane_add_column(s, v, normal, row + i, -group->mu[i - 1]);
      mixed_plane_add_column(s, v, force, row + i, 1);
      s->M[(size_t)force + (size_t)slip * n] += 1;
      s->M[(size_t)slip + (size_t)normal * n] += 2 * group->mu[i - 1];
      s->M[(size_t)slip + (size_t)force * n] -= 1;
    }
  }
}

/* Converts the guess to the unknowns; b is chosen so that u_t + b >= 0. */
static void from_z(NsMixedPlane *s, const NsMixedView *v, const double *z, const double *w) {
  for (int g = 0, row = 0, step = stride(v); g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    double *y = s->guess + s->first[g];
    y[0] = group->cone ? ns_larger(z[row], 0) : z[row];
    for (int i = 1; i < group->dim; i++) {
      y[plane_place(i) * step] = ns_larger(z[row + i] + group->mu[i - 1] * y[0], 0);
      y[(plane_place(i) + 1) * step] = ns_larger(-w[row + i], 0);
    }
  }
}

static void to_z(const NsMixedPlane *s, const NsMixedView *v, double *z) {
  for (int g = 0, row = 0, step = stride(v); g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const double *y = s->y + s->first[g];
    z[row] = y[0];
    for (int i = 1; i < v->p.groups[g].dim; i++) {
      double bound = v->p.groups[g].mu[i - 1] * y[0];
      z[row + i] = ns_box_clamp(y[plane_place(i) * step] - bound, -bound, bound);
    }
  }
}

NsStatus ns_mixed_plane_solve(NsMixedPlane *s, const NsMixedView *v, double *z, NsSolverInfo *info) {
  int n = ns_mixed_plane_unknowns(v);
  NsStatus status = mixed_plane_room(s, n);
  if (status) return status;
  take_bounds(s, v);
  fill(s, v);
  ns_mixed_product(&v->p, z, s->w);
  from_z(s, v, z, s->w);
  NsBoxProblem problem = {n, s->M, n, s->q, s->lower, s->upper, 0};
  status = ns_box_solve(s->box, &problem, s->guess, s->y, s->w, info);
  to_z(s, v, z);
  info->solver = "lcp";
  return status;
}

/* ---- the method ---- */

static NsStatus mixed_plane_reserve(void **work, NsSearch *search) {
  (void)search;
  return (*work = ns_alloc(1, sizeof(NsMixedPlane))) ? NS_OK : NS_ENOMEM;
}

static void mixed_plane_release(void *work) {
  if (work) mixed_plane_clear(work);
  ns_free(work);
}

static NsOutcome mixed_plane_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {0};
  ns_mixed_copy(s, s->z, s->best);
  NsStatus status = ns_mixed_plane_solve(work, &s->v, s->z, &info);
  NsOutcome out = ns_mixed_candidate(s, status, &info);
  if (mode == 0 || status == NS_ENOSOL || status == NS_ERAY) s->verdict = out.status;
  return out;
}

const NsMethod ns_mixed_plane = {.name = "lcp",
                                 .takes = NS_TAKES_DENSE | NS_TAKES_PLANE,
                                 .needs = "contacts in the plane",
                                 .reserve = mixed_plane_reserve,
                                 .release = mixed_plane_release,
                                 .run = mixed_plane_run};
