/*
** semismooth.c
** Newton directions of the natural map and of the Fischer-Burmeister map.
*/

#include "solvers/mcp/mcp_search.h"

/* The system diag(a) + diag(b) J of a direction. */
typedef struct Semismooth {
  double *a, *b;
} Semismooth;

static NsStatus semismooth_reserve(void **work, NsSearch *search) {
  NsMcpSearch *m = (NsMcpSearch *)search;
  Semismooth *own = *work = ns_arena_take(&m->arena, 1, sizeof *own);
  if (!own) return NS_ENOMEM;
  NS_ARENA_VECTORS(&m->arena, m->n, &own->a, &own->b);
  return NS_OK;
}

/* Newton's direction of the natural map max(min(z - l, f), z - u). */
static NsStatus semismooth_active_set(NsMcpSearch *m, double *a, double *b) {
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
  const Semismooth *own = work;
  return k == 0 ? semismooth_active_set(m, own->a, own->b) : ns_mcp_fischer_direction(m, mu[k]);
}

static NsOutcome semismooth_run(void *work, NsSearch *search, int mode) {
  NsStatus status = ns_mcp_attempt((NsMcpSearch *)search, mode, semismooth_direction, work);
  return (NsOutcome){status, false, 0, ns_mcp_semismooth.name};
}

/*
** Each direction is the Newton direction of the natural map max(min(z - l, f), z - u), an active-set step. If the line search
** rejects it: the Newton direction of the Fischer-Burmeister map with increasing regularisation. Each takes one linear system
** (KLU for sparse J). The mode says where the attempt starts (mcp_search.h). De Luca, Facchinei and Kanzow, A semismooth
** equation approach to the solution of nonlinear complementarity problems, Math. Prog. 75, 1996.
*/
const NsMethod ns_mcp_semismooth = {
    .name = "semismooth", .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .reserve = semismooth_reserve, .run = semismooth_run};
