/*
** mixed_sweep.c
** Gauss-Seidel sweeps over rows and contacts.
*/
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/mixed_parts.h"
#include "solvers/residual.h"

enum { MEASURE_EVERY = 10 };

void ns_mixed_sweeps_release(NsMixedSweeps *s) {
  ns_arena_release(&s->arena);
  *s = (NsMixedSweeps){0};
}

static NsStatus reserve(NsMixedSweeps *s, int groups) {
  if (groups <= s->groups) return NS_OK;
  ns_mixed_sweeps_release(s);
  s->contact = ns_arena_take(&s->arena, (size_t)groups, sizeof *s->contact);
  s->block = ns_arena_doubles(&s->arena, 9 * (ptrdiff_t)groups);
  if (s->arena.failed) return ns_mixed_sweeps_release(s), NS_ENOMEM;
  s->groups = groups;
  return NS_OK;
}

static void prepare(NsMixedSweeps *s, const NsMixedView *v) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    int dim = v->p.groups[g].dim;
    double *block = s->block + 9 * (size_t)g;
    ns_mixed_block(&v->p, row, dim, block);
    if (dim > 1) ns_contact_set(&s->contact[g], dim, block, v->p.groups[g].mu, v->rho[g]);
  }
}

/* w += W_j d. */
static void spread(const NsMixedProblem *p, int j, double d, double *w) {
  if (d == 0) return;
  if (!ns_mixed_sparse(p)) {
    const double *column = p->W + (size_t)j * (size_t)p->n;
    for (int i = 0; i < p->n; i++) w[i] += column[i] * d;
    return;
  }
  for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++) w[p->sparse->row[k]] += p->sparse->value[k] * d;
}

/* The group's own solution, the others as they are; where a row has no positive diagonal a projected step. */
static void relax(const NsMixedSweeps *s, const NsMixedView *v, int g, int row, double *z, double *w) {
  const NsMixedGroup *group = &v->p.groups[g];
  const double *B = s->block + 9 * (size_t)g;
  int dim = group->dim;
  double r[3], b[3];
  for (int i = 0; i < dim; i++) {
    r[i] = z[row + i];
    b[i] = w[row + i];
    for (int j = 0; j < dim; j++) b[i] -= B[i + j * dim] * z[row + j];
  }
  if (dim == 1) r[0] = ns_box_clamp(z[row] - v->rho[g] * w[row], group->lower, group->upper);
  else if (dim == 2) ns_contact_solve2(&s->contact[g], b, r);
  else ns_contact_solve3(&s->contact[g], b, r);
  for (int i = 0; i < dim; i++) {
    double d = r[i] - z[row + i];
    z[row + i] = r[i];
    spread(&v->p, row + i, d, w);
  }
}

static void sweep(const NsMixedSweeps *s, const NsMixedView *v, bool backwards, double *z, double *w) {
  const NsMixedGroup *groups = v->p.groups;
  int count = v->p.ngroups, row = backwards ? v->p.n : 0;
  for (int k = 0; k < count; k++) {
    int g = backwards ? count - 1 - k : k;
    if (backwards) row -= groups[g].dim;
    relax(s, v, g, row, z, w);
    if (!backwards) row += groups[g].dim;
  }
}

NsStatus ns_mixed_sweeps(NsMixedSweeps *s, const NsMixedView *v, int count, double *z, double *w, NsSolverInfo *info) {
  NsStatus status = reserve(s, v->p.ngroups);
  if (status) return status;
  info->solver = "gauss_seidel";
  prepare(s, v);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    if (v->p.groups[g].dim == 1) z[row] = ns_box_clamp(z[row], v->p.groups[g].lower, v->p.groups[g].upper);
  ns_mixed_product(&v->p, z, w);
  for (int k = 1; k <= count; k++) {
    if (ns_interrupted()) return NS_EINTR;
    sweep(s, v, k % 2 == 0, z, w);
    info->iterations = k;
    if (k % MEASURE_EVERY && k < count) continue;
    double measure = ns_mixed_measure(v, z, w);
    if (measure <= v->tolerance) return NS_OK;
    if (!(measure < INFINITY)) return NS_ENOCONV;
  }
  return NS_EMAXITER;
}
