/*
** mixed_plane.c
** Contacts in the plane and rows with bounds as one box problem.
*/
#include <math.h>
#include <string.h>

#include "solvers/mixed_parts.h"

/*
** The unknowns y: a row's z; a contact's r_n, f = r_t + mu r_n, b (friction_lcp.h). Then z = T y with r_t = f - mu r_n,
** and the outputs are w of a row; u_n, u_t + b, 2 mu r_n - f of a contact.
*/
typedef struct Plane {
  const NsMixedProblem *p;
  int n;      /* unknowns */
  int *first; /* of each group */
  double *M, *q, *lower, *upper, *guess, *y, *w;
} Plane;

static void take_bounds(Plane *s) {
  for (int g = 0; g < s->p->ngroups; g++) {
    const NsMixedGroup *group = &s->p->groups[g];
    int at = s->first[g];
    s->lower[at] = group->dim == 1 ? group->lower : 0;
    s->upper[at] = group->dim == 1 ? group->upper : INFINITY;
    for (int i = 1; group->dim > 1 && i < 3; i++) s->lower[at + i] = 0, s->upper[at + i] = INFINITY;
  }
}

/* The column of M for `factor` times column j of W, in the outputs of every group. */
static void add_column(Plane *s, int column, int j, double factor) {
  double *to = s->M + (size_t)column * (size_t)s->n;
  for (int g = 0, row = 0; g < s->p->ngroups; row += s->p->groups[g++].dim)
    for (int i = 0; i < s->p->groups[g].dim; i++) to[s->first[g] + i] += factor * ns_mixed_entry(s->p, row + i, j);
}

static void fill(Plane *s) {
  for (int g = 0, row = 0; g < s->p->ngroups; row += s->p->groups[g++].dim) {
    const NsMixedGroup *group = &s->p->groups[g];
    int at = s->first[g];
    double *M = s->M;
    size_t n = (size_t)s->n;
    add_column(s, at, row, 1);
    for (int i = 0; i < group->dim; i++) s->q[at + i] = s->p->q[row + i];
    if (group->dim == 1) continue;
    add_column(s, at, row + 1, -group->mu);
    add_column(s, at + 1, row + 1, 1);
    M[(size_t)at + 1 + (size_t)(at + 2) * n] += 1;
    M[(size_t)at + 2 + (size_t)at * n] += 2 * group->mu;
    M[(size_t)at + 2 + (size_t)(at + 1) * n] -= 1;
  }
}

/* The guess in the unknowns; b is what makes u_t + b >= 0. */
static void from_z(Plane *s, const double *z, const double *w) {
  for (int g = 0, row = 0; g < s->p->ngroups; row += s->p->groups[g++].dim) {
    double *y = s->guess + s->first[g];
    y[0] = z[row];
    if (s->p->groups[g].dim == 1) continue;
    y[1] = z[row + 1] + s->p->groups[g].mu * z[row];
    y[2] = fmax(0, -w[row + 1]);
  }
}

static void to_z(const Plane *s, double *z) {
  for (int g = 0, row = 0; g < s->p->ngroups; row += s->p->groups[g++].dim) {
    const double *y = s->y + s->first[g];
    z[row] = y[0];
    if (s->p->groups[g].dim > 1) z[row + 1] = y[1] - s->p->groups[g].mu * y[0];
  }
}

static NsStatus solve(Plane *s, double *z, NsSolverInfo *info) {
  NsBox *box;
  NsStatus status = ns_box_new(&box, s->n);
  if (status != NS_OK) return status;
  NsBoxProblem problem = {s->n, s->M, s->n, s->q, s->lower, s->upper};
  ns_mixed_product(s->p, z, s->w);
  from_z(s, z, s->w);
  status = ns_box_solve(box, &problem, s->guess, s->y, s->w, info);
  to_z(s, z);
  ns_box_free(box);
  return status;
}

NsStatus ns_mixed_plane(const NsMixedProblem *p, const NsMixedKinds *kinds, double *z, NsSolverInfo *info) {
  NsArena room = {0};
  Plane s = {.p = p, .n = p->n + kinds->contacts};
  s.first = ns_arena_ints(&room, p->ngroups);
  s.M = ns_arena_matrix(&room, s.n, s.n);
  double **vectors[] = {&s.q, &s.lower, &s.upper, &s.guess, &s.y, &s.w};
  for (int i = 0; i < 6; i++) *vectors[i] = ns_arena_doubles(&room, s.n);
  NsStatus status = NS_ENOMEM;
  if (!room.failed) {
    for (int g = 0, at = 0; g < p->ngroups; at += p->groups[g++].dim == 1 ? 1 : 3) s.first[g] = at;
    take_bounds(&s);
    fill(&s);
    status = solve(&s, z, info);
  }
  ns_arena_release(&room);
  return status;
}
