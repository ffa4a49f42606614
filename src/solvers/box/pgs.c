/*
** pgs.c
** Projected successive over-relaxation with w updated by columns.
*/
#include "solvers/box/pgs.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/interrupt.h"
#include "linalg/dense.h"
#include "solvers/residual.h"

enum { CHECK_EVERY = 10 };

static bool positive_diagonal(const NsBoxProblem *p) {
  for (int i = 0; i < p->n; i++)
    if (!(p->M[i + (size_t)i * (size_t)p->ldm] > 0)) return false;
  return true;
}

/* One sweep. Returns the largest change of a component relative to the size of its new value. */
static double pgs_sweep(const NsBoxProblem *p, double omega, double *z, double *w) {
  double largest = 0;
  for (int i = 0; i < p->n; i++) {
    const double *column = p->M + (size_t)i * (size_t)p->ldm;
    double next = ns_box_clamp(z[i] - omega * w[i] / column[i], p->lower[i], p->upper[i]), change = next - z[i];
    if (change == 0) continue;
    z[i] = next;
    ns_dense_axpy(p->n, change, column, w);
    largest = ns_larger(largest, fabs(change) / ns_larger(fabs(next), fabs(change)));
  }
  return largest;
}

void ns_pgs_sweeps(const NsBoxProblem *p, int count, double *z, double *w) {
  for (int k = 0; k < count; k++) pgs_sweep(p, 1, z, w);
}

NsStatus ns_pgs_solve(const NsBoxProblem *p, double omega, double tolerance, int max_sweeps, double *z, double *w, double *size,
                      int *sweeps) {
  *sweeps = 0;
  if (!positive_diagonal(p) || !(omega > 0 && omega < 2)) return NS_EARG;
  for (int i = 0; i < p->n; i++) z[i] = ns_box_clamp(z[i], p->lower[i], p->upper[i]);
  ns_box_product(p, z, w, size);
  if (ns_box_backward(p, z, w, size) <= tolerance) return NS_OK;
  while (*sweeps < max_sweeps) {
    double change = pgs_sweep(p, omega, z, w);
    ++*sweeps;
    if (change > tolerance && *sweeps % CHECK_EVERY != 0) continue;
    ns_box_product(p, z, w, size);
    double backward = ns_box_backward(p, z, w, size);
    if (backward <= tolerance) return NS_OK;
    if (backward == INFINITY) return NS_ENAN;
    if (ns_interrupted()) return NS_EINTR;
  }
  return NS_EMAXITER;
}
