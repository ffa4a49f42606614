/*
** mixed_sweep.c
** Gauss-Seidel sweeps over rows and contacts.
*/
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/friction_local.h"
#include "solvers/mixed_parts.h"

enum { CHECK_EVERY = 10 };

typedef struct Sweep {
  const NsMixedProblem *p;
  double *z, *w;
  double *blocks; /* 9 for each group */
  double *rho;
} Sweep;

/* w += W_j d. */
static void spread(Sweep *s, int j, double d) {
  const NsMixedProblem *p = s->p;
  if (d == 0) return;
  if (p->W) {
    for (int i = 0; i < p->n; i++) s->w[i] += p->W[i + (size_t)j * (size_t)p->n] * d;
    return;
  }
  for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++)
    s->w[p->sparse->row[k]] += p->sparse->value[k] * d;
}

/* The group's own solution, the others as they are. */
static void relax(Sweep *s, int g, int row) {
  const NsMixedGroup *group = &s->p->groups[g];
  const double *B = s->blocks + 9 * (size_t)g;
  int dim = group->dim;
  double r[3], b[3];
  for (int i = 0; i < dim; i++) {
    r[i] = s->z[row + i];
    b[i] = s->w[row + i];
    for (int j = 0; j < dim; j++) b[i] -= B[i + j * dim] * s->z[row + j];
  }
  if (dim == 1) {
    r[0] -= s->rho[g] * s->w[row];
    ns_mixed_project(group, r);
  } else {
    NsContact contact;
    ns_contact_set(&contact, dim, B, group->mu, s->rho[g]);
    (void)(dim == 2 ? ns_contact_solve2(&contact, b, r) : ns_contact_solve3(&contact, b, r));
  }
  for (int i = 0; i < dim; i++) {
    double d = r[i] - s->z[row + i];
    s->z[row + i] = r[i];
    spread(s, row + i, d);
  }
}

static NsStatus run(Sweep *s, const NsMixedOptions *options, NsSolverInfo *info) {
  int most = options->max_iterations > 0 ? options->max_iterations : 20000;
  for (int sweep = 1; sweep <= most; sweep++) {
    if (ns_interrupted()) return NS_EINTR;
    for (int g = 0, row = 0; g < s->p->ngroups; row += s->p->groups[g++].dim) relax(s, g, row);
    info->iterations = sweep;
    if (sweep % CHECK_EVERY) continue;
    if (ns_mixed_measure(s->p, s->z, s->w) <= options->tolerance) return NS_OK;
  }
  return NS_EMAXITER;
}

NsStatus ns_mixed_sweeps(const NsMixedProblem *p, const NsMixedOptions *options, double *z, NsSolverInfo *info) {
  NsArena room = {0};
  Sweep s = {p, z, ns_arena_doubles(&room, p->n), ns_arena_doubles(&room, 9 * (ptrdiff_t)p->ngroups),
             ns_arena_doubles(&room, p->ngroups)};
  info->solver = "gauss_seidel";
  NsStatus status = NS_ENOMEM;
  if (!room.failed) {
    for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
      int dim = p->groups[g].dim;
      for (int j = 0; j < dim; j++)
        for (int i = 0; i < dim; i++) s.blocks[9 * (size_t)g + (size_t)(i + j * dim)] = ns_mixed_entry(p, row + i, row + j);
      double diagonal = ns_mixed_diagonal(p, row, dim);
      s.rho[g] = diagonal > 0 ? 1 / diagonal : 1;
      ns_mixed_project(&p->groups[g], z + row);
    }
    ns_mixed_product(p, z, s.w);
    status = run(&s, options, info);
  }
  ns_arena_release(&room);
  return status;
}
