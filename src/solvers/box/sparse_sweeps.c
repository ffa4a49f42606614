/*
** sparse_sweeps.c
** Sweeps that update M z + q column by column.
*/
#include "solvers/box/sparse_sweeps.h"

#include <math.h>

#include "base/interrupt.h"
#include "solvers/box/sparse_search.h"
#include "solvers/residual.h"

/*
** SWEEPS: default limit by name. FEW_SWEEPS: limit in a chain. CHECK_EVERY: sweeps between two tests; a test costs a product.
*/
enum { SWEEPS = 20000, FEW_SWEEPS = 2000, CHECK_EVERY = 10 };

/* One sweep from z, whose product is in s->v. Returns the largest change of a component relative to its new value. */
static double sparse_sweep(NsSparseSearch *s, double omega, double *z) {
  const NsSparse *M = s->M;
  double most = 0;
  for (int i = 0; i < s->box.n; i++) {
    double now = z[i];
    double next = ns_box_clamp(now - omega * s->v[i] / s->diagonal[i], s->as_map.lower[i], s->as_map.upper[i]);
    double change = next - now;
    if (change == 0) continue;
    z[i] = next;
    for (int k = M->colptr[i]; k < M->colptr[i + 1]; k++) s->v[M->row[k]] += M->value[k] * change;
    most = ns_larger(most, fabs(change) / ns_larger(fabs(next), fabs(change)));
  }
  return most;
}

static NsOutcome sparse_sweeps_run(void *work, NsSearch *search, int mode) {
  NsSparseSearch *s = (NsSparseSearch *)search;
  NsOutcome out = {NS_EARG, false, 0, "psor"};
  double tolerance = search->tolerance, omega = s->box.options->omega > 0 ? s->box.options->omega : 1,
         *z = ((NsBoxPoint *)work)->z;
  int limit = mode == NS_SWEEPS_FEW ? FEW_SWEEPS : ns_box_limit(&s->box, SWEEPS);
  if (!s->positive) return out;
  s->box.start(&s->box, z);
  ns_sparse_product(s, z);
  out.status = NS_EMAXITER;
  while (out.iterations < limit) {
    double change = sparse_sweep(s, omega, z);
    out.iterations++;
    if (change > tolerance && out.iterations % CHECK_EVERY != 0) continue;
    ns_sparse_product(s, z);
    double error = ns_sparse_error(s, z);
    if (error == INFINITY) return out.status = NS_ENAN, out;
    if (error <= tolerance) out.status = NS_OK;
    else if (ns_interrupted()) return out.status = NS_EINTR, out;
    else continue;
    break;
  }
  if (!ns_sparse_keep(s, z, ns_sparse_error(s, z)) && out.status == NS_OK) out.status = NS_ENOCONV;
  if (search->least > search->exact) out.status = s->box.finish(&s->box, z, out.status);
  return out;
}

const NsMethod ns_sparse_sweeps = {.name = "psor",
                                   .aliases = (const char *const[]){"pgs", NULL},
                                   .takes = NS_TAKES_SPARSE | NS_WITHOUT_FACTORS,
                                   .needs = "a positive diagonal",
                                   .reserve = ns_box_point_reserve,
                                   .run = sparse_sweeps_run};
