/*
** mixed_plane.c
** Contacts in the plane and rows with bounds as one box problem.
*/
#include <math.h>
#include <string.h>

#include "solvers/contact/mixed_methods.h"
#include "solvers/residual.h"

/*
** The unknowns y: a row's z; a contact's r_n, f = r_t + mu r_n, b (friction_lcp.h). The outputs: w of a row; u_n, u_t +
** b, 2 mu r_n - f of a contact.
*/
static int unknowns(const NsMixedView *v) {
  return v->p.n + v->kinds.contacts;
}

void ns_mixed_plane_release(NsMixedPlane *s) {
  ns_box_free(s->box);
  ns_arena_release(&s->arena);
  *s = (NsMixedPlane){0};
}

static NsStatus mixed_plane_reserve(NsMixedPlane *s, int n) {
  if (n <= s->capacity) return NS_OK;
  ns_mixed_plane_release(s);
  s->M = ns_arena_matrix(&s->arena, n, n);
  s->first = ns_arena_ints(&s->arena, n);
  double **vectors[] = {&s->q, &s->lower, &s->upper, &s->guess, &s->y, &s->w};
  for (int i = 0; i < 6; i++) *vectors[i] = ns_arena_doubles(&s->arena, n);
  NsStatus status = s->arena.failed ? NS_ENOMEM : ns_box_new(&s->box, n);
  if (status) ns_mixed_plane_release(s);
  else s->capacity = n;
  return status;
}

static void take_bounds(NsMixedPlane *s, const NsMixedView *v) {
  for (int g = 0, at = 0; g < v->p.ngroups; g++) {
    const NsMixedGroup *group = &v->p.groups[g];
    int count = group->dim == 1 ? 1 : 3;
    s->first[g] = at;
    for (int i = 0; i < count; i++) {
      s->lower[at + i] = group->dim == 1 ? group->lower : 0;
      s->upper[at + i] = group->dim == 1 ? group->upper : INFINITY;
    }
    at += count;
  }
}

/* The column of M gets `factor` times column j of W, in the outputs of every group. */
static void mixed_plane_add_column(NsMixedPlane *s, const NsMixedView *v, int column, int j, double factor) {
  double *to = s->M + (size_t)column * (size_t)unknowns(v);
  const double *W = v->p.W + (size_t)j * (size_t)v->p.n;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = 0; i < v->p.groups[g].dim; i++) to[s->first[g] + i] += factor * W[row + i];
}

static void fill(NsMixedPlane *s, const NsMixedView *v) {
  size_t n = (size_t)unknowns(v);
  memset(s->M, 0, n * n * sizeof *s->M);
  memset(s->q, 0, n * sizeof *s->q);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    int at = s->first[g];
    mixed_plane_add_column(s, v, at, row, 1);
    for (int i = 0; i < group->dim; i++) s->q[at + i] = v->p.q[row + i];
    if (group->dim == 1) continue;
    double *normal = s->M + (size_t)at * n, *force = normal + n, *slip = force + n;
    mixed_plane_add_column(s, v, at, row + 1, -group->mu);
    mixed_plane_add_column(s, v, at + 1, row + 1, 1);
    slip[at + 1] += 1;
    normal[at + 2] += 2 * group->mu;
    force[at + 2] -= 1;
  }
}

/* The guess in the unknowns; b is what makes u_t + b >= 0. */
static void from_z(NsMixedPlane *s, const NsMixedView *v, const double *z, const double *w) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    double *y = s->guess + s->first[g], mu = v->p.groups[g].mu;
    y[0] = z[row];
    if (v->p.groups[g].dim == 1) continue;
    y[0] = ns_larger(z[row], 0);
    y[1] = ns_larger(z[row + 1] + mu * y[0], 0);
    y[2] = ns_larger(-w[row + 1], 0);
  }
}

static void to_z(const NsMixedPlane *s, const NsMixedView *v, double *z) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const double *y = s->y + s->first[g];
    double bound = v->p.groups[g].mu * y[0];
    z[row] = y[0];
    if (v->p.groups[g].dim > 1) z[row + 1] = ns_box_clamp(y[1] - bound, -bound, bound);
  }
}

NsStatus ns_mixed_plane(NsMixedPlane *s, const NsMixedView *v, double *z, NsSolverInfo *info) {
  int n = unknowns(v);
  NsStatus status = mixed_plane_reserve(s, n);
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
