/*
** mixed_sweep.c
** Gauss-Seidel sweeps over rows and contacts.
*/
/*
** A sweep solves one group after another with the others fixed: a row with a positive diagonal entry by division, a contact by
** its cone (cone.h), other rows by a projected step. w is updated column by column.
** Assumptions: none on the groups; W dense or sparse. Sweeps converge in practice for a symmetric positive semidefinite W
** and small mu. One sweep carries a load from a contact only to its neighbours.
** Termination: the measure, tested every MEASURE_EVERY sweeps, is within tolerance; or it is NaN; or the limit is reached.
** Jourdan, Alart and Jean, Comput. Methods Appl. Mech. Engrg. 155, 1998.
*/
#include "solvers/contact/mixed_sweep.h"

#include <math.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/residual.h"

/*
** MEASURE_EVERY: sweeps between two measures; a measure costs about a sweep. FIRST_ROUND: sweeps of the first round; GROWTH:
** factor of each later round.
*/
enum { MEASURE_EVERY = 10, FIRST_ROUND = 50, GROWTH = 4 };

struct NsMixedSweeps {
  NsArena arena;
  int capacity, groups, most; /* allocated: rows, groups, rows of a group */
  NsConeContact *contact;     /* groups */
  double *block;              /* most^2 groups */
};

static void mixed_sweep_clear(NsMixedSweeps *s) {
  ns_arena_release(&s->arena);
  *s = (NsMixedSweeps){0};
}

static NsStatus mixed_sweep_room(NsMixedSweeps *s, int n, int groups, int most) {
  if (groups <= s->groups && n <= s->capacity && most <= s->most) return NS_OK;
  mixed_sweep_clear(s);
  ptrdiff_t rows = n + n / 2, wanted = groups + groups / 2;
  s->contact = ns_arena_take(&s->arena, (size_t)wanted, sizeof *s->contact);
  s->block = ns_arena_doubles(&s->arena, most * most * wanted);
  if (s->arena.failed) return mixed_sweep_clear(s), NS_ENOMEM;
  s->groups = (int)wanted;
  s->most = most;
  s->capacity = (int)rows;
  return NS_OK;
}

static void mixed_sweep_prepare(NsMixedSweeps *s, const NsMixedView *v) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    int dim = v->p.groups[g].dim;
    double *block = s->block + (size_t)(s->most * s->most) * (size_t)g;
    ns_mixed_block(&v->p, row, dim, block);
    if (v->p.groups[g].cone) ns_cone_contact_set(&s->contact[g], v->p.groups[g].cone, block, v->p.groups[g].mu, v->rho[g]);
  }
}

/* w += W_j d. */
static void mixed_sweep_spread(const NsMixedProblem *p, int j, double d, double *w) {
  if (d == 0) return;
  if (!ns_mixed_sparse(p)) {
    const double *column = p->W + (size_t)j * (size_t)p->n;
    for (int i = 0; i < p->n; i++) w[i] += column[i] * d;
    return;
  }
  for (int k = p->sparse->colptr[j]; k < p->sparse->colptr[j + 1]; k++) w[p->sparse->row[k]] += p->sparse->value[k] * d;
}

/* Solves one group with the others fixed; a row without a positive diagonal entry takes a projected step. */
static void relax(const NsMixedSweeps *s, const NsMixedView *v, int g, int row, double *z, double *w) {
  const NsMixedGroup *group = &v->p.groups[g];
  const double *B = s->block + (size_t)(s->most * s->most) * (size_t)g;
  int dim = group->dim;
  double r[NS_CONE_MOST], b[NS_CONE_MOST];
  for (int i = 0; i < dim; i++) {
    r[i] = z[row + i];
    b[i] = w[row + i];
    for (int j = 0; j < dim; j++) b[i] -= B[i + j * dim] * z[row + j];
  }
  if (group->cone) group->cone->solve(&s->contact[g], b, r);
  else r[0] = ns_box_clamp(z[row] - v->rho[g] * w[row], group->lower, group->upper);
  for (int i = 0; i < dim; i++) {
    double d = r[i] - z[row + i];
    z[row + i] = r[i];
    mixed_sweep_spread(&v->p, row + i, d, w);
  }
}

static void mixed_sweep_sweep(const NsMixedSweeps *s, const NsMixedView *v, bool backwards, double *z, double *w) {
  const NsMixedGroup *groups = v->p.groups;
  int count = v->p.ngroups, row = backwards ? v->p.n : 0;
  for (int k = 0; k < count; k++) {
    int g = backwards ? count - 1 - k : k;
    if (backwards) row -= groups[g].dim;
    relax(s, v, g, row, z, w);
    if (!backwards) row += groups[g].dim;
  }
}

/* Allocates, prepares the blocks, moves z into the bounds and computes w. */
static NsStatus mixed_sweep_begin(NsMixedSweeps *s, const NsMixedView *v, double *z, double *w) {
  NsStatus status = mixed_sweep_room(s, v->p.n, v->p.ngroups, v->kinds.most);
  if (status) return status;
  mixed_sweep_prepare(s, v);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    if (!v->p.groups[g].cone) z[row] = ns_box_clamp(z[row], v->p.groups[g].lower, v->p.groups[g].upper);
  ns_mixed_product(&v->p, z, w);
  return NS_OK;
}

NsStatus ns_mixed_sweeps_solve(NsMixedSweeps *s, const NsMixedView *v, int count, double *z, double *w, NsSolverInfo *info) {
  NsStatus status = mixed_sweep_begin(s, v, z, w);
  if (status) return status;
  info->solver = "gauss_seidel";
  for (int k = 1; k <= count; k++) {
    if (ns_interrupted()) return NS_EINTR;
    mixed_sweep_sweep(s, v, k % 2 == 0, z, w);
    info->iterations = k;
    if (k % MEASURE_EVERY && k < count) continue;
    double measure = ns_mixed_measure(v, z, w);
    if (measure <= v->tolerance) return NS_OK;
    if (!(measure < INFINITY)) return NS_ENOCONV;
  }
  return NS_EMAXITER;
}

/* ---- the method ---- */

static NsStatus mixed_sweep_reserve(void **work, NsSearch *search) {
  (void)search;
  return (*work = ns_alloc(1, sizeof(NsMixedSweeps))) ? NS_OK : NS_ENOMEM;
}

static void mixed_sweep_release(void *work) {
  if (work) mixed_sweep_clear(work);
  ns_free(work);
}

/* The limit of sweeps: `most`, or the caller's limit if that is smaller. */
static int mixed_sweep_limit(const NsMixedView *v, int most) {
  return v->max_iterations > 0 && v->max_iterations < most ? v->max_iterations : most;
}

/* Begins a series: its starting point and the sweeps of its first round. */
static void begin_series(NsMixedSearch *s, int mode) {
  if (mode != NS_SWEEPS_LARGE) ns_mixed_copy(s, s->standing, s->best);
  s->series = mode;
  s->swept = 0;
  s->next = FIRST_ROUND;
}

static NsOutcome mixed_sweep_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {0};
  if (s->series != mode) begin_series(s, mode);
  int left = mixed_sweep_limit(&s->v, mode) - s->swept, count = s->next < left ? s->next : left;
  NsStatus status = ns_mixed_sweeps_solve(work, &s->v, count, s->standing, s->w, &info);
  ns_mixed_copy(s, s->z, s->standing);
  info.iterations += s->swept;
  s->swept += count;
  s->next *= GROWTH;
  s->sweeping = status == NS_EMAXITER;
  s->left = left - count;
  return ns_mixed_candidate(s, status, &info);
}

const NsMethod ns_mixed_sweeps = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                  .reserve = mixed_sweep_reserve,
                                  .release = mixed_sweep_release,
                                  .run = mixed_sweep_run};
