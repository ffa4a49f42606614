/*
** semismooth.c
** Directions of Newton's method on two maps.
*/
#include "solvers/mcp/semismooth.h"

#include "solvers/mcp/mcp_search.h"

/* Newton's direction of the natural map max(min(z - l, f), z - u). */
static NsStatus semismooth_active_set(NsMcpSearch *m) {
  double *a = m->q, *b = m->row;
  for (int i = 0; i < m->n; i++) {
    double forward = m->z[i] - m->rho[i] * m->F[i], l = m->lower[i], u = m->upper[i];
    bool low = forward <= l, held = low || forward >= u || l == u;
    a[i] = held;
    b[i] = held ? 0 : m->rho[i];
    m->direction[i] = held ? (low ? l : u) - m->z[i] : -m->rho[i] * m->F[i];
  }
  return ns_mcp_jacobian_solve(&m->jac, a, b, m->direction);
}

static NsStatus semismooth_direction(NsMcpSearch *m, void *work, int k) {
  static const double mu[] = {0, 0, 1e-3, 1e-1};
  (void)work;
  return k == 0 ? semismooth_active_set(m) : ns_mcp_fischer_direction(m, mu[k]);
}

static NsOutcome semismooth_run(void *work, NsSearch *search, int mode) {
  NsStatus status = ns_mcp_attempt((NsMcpSearch *)search, mode, semismooth_direction, work);
  return (NsOutcome){status, 0, ns_mcp_semismooth.name, false};
}

const NsMethod ns_mcp_semismooth = {.name = "semismooth", .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .run = semismooth_run};
