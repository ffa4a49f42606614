/*
** mcp.c
** Solves nonlinear complementarity problems: scaling, the chain of methods, the answer.
*/
#include "solvers/mcp/mcp.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "solvers/chain.h"
#include "solvers/mcp/mcp_search.h"
#include "solvers/residual.h"

const NsMethod *const ns_mcp_methods[] = {&ns_mcp_josephy, &ns_mcp_semismooth, &ns_mcp_bracket, NULL};

/* ---- the chain ---- */

/*
** DENSE_UP_TO: number of variables up to which sparse problems are also tried with dense box problems, whose chain has more
** methods than the sparse paths. 300: a dense box problem then takes up to a second and 6 MB.
*/
enum { DENSE_UP_TO = 300 };

static const NsMcpSearch *search_of(const NsSearch *search) {
  return (const NsMcpSearch *)search;
}

/*
** Whether an attempt uses Josephy's directions: round 0 from the start, later rounds from perturbed points. Dense problems
** always do, sparse ones in every second round, not in the first.
*/
static bool by_box(const NsMcpSearch *s, int round) {
  if (s->options.method) return s->options.method == &ns_mcp_josephy;
  return !s->sparse || round % 2 == 1;
}

static bool first_by_box(const NsSearch *search) {
  return by_box(search_of(search), 0);
}

static bool first_by_map(const NsSearch *search) {
  return !first_by_box(search);
}

static bool more_boxes(const NsSearch *search) {
  return search_of(search)->sparse && !search_of(search)->options.method;
}

static bool more_maps(const NsSearch *search) {
  return !search_of(search)->sparse && !search_of(search)->options.method && search_of(search)->n > 1;
}

static bool dense_boxes(const NsSearch *search) {
  return more_boxes(search) && search_of(search)->n <= DENSE_UP_TO;
}

static bool rounds_left(const NsSearch *search) {
  const NsMcpSearch *s = search_of(search);
  return s->info->restarts < s->options.restarts;
}

static bool next_by_box(const NsSearch *search) {
  return rounds_left(search) && by_box(search_of(search), search_of(search)->info->restarts + 1);
}

static bool next_by_map(const NsSearch *search) {
  return rounds_left(search) && !by_box(search_of(search), search_of(search)->info->restarts + 1);
}

static bool one_variable(const NsSearch *search) {
  return search_of(search)->n == 1;
}

static const NsChainStep steps[] = {
    {.method = &ns_mcp_josephy, .when = first_by_box, .mode = NS_MCP_HERE, .tells = true},
    {.method = &ns_mcp_semismooth, .when = first_by_map, .mode = NS_MCP_HERE, .tells = true},
    {.method = &ns_mcp_josephy, .when = more_boxes, .mode = NS_MCP_START, .tells = true},
    {.method = &ns_mcp_josephy, .when = dense_boxes, .mode = NS_MCP_DENSE, .tells = true},
    {.method = &ns_mcp_josephy, .when = next_by_box, .mode = NS_MCP_RESTART, .tells = true},
    {.method = &ns_mcp_semismooth, .when = next_by_map, .mode = NS_MCP_RESTART, .tells = true},
    {.when = rounds_left, .back = 2},
    {.method = &ns_mcp_semismooth, .when = more_maps, .mode = NS_MCP_START, .tells = true},
    {.method = &ns_mcp_bracket, .when = one_variable},
    {0},
};

/* ---- a solver ---- */

struct NsMcp {
  NsMcpSearch search;
  NsMethods methods;
  NsChain chain;
};

static NsStatus mcp_take_arrays(NsMcpSearch *m) {
  NS_ARENA_VECTORS(&m->arena, m->n, &m->lower, &m->upper, &m->user_z, &m->start, &m->z, &m->F, &m->trial_z, &m->trial_F,
                   &m->last_z, &m->psi, &m->at_z, &m->at_f, &m->rho, &m->size, &m->row, &m->direction, &m->gradient, &m->q,
                   &m->best_z, &m->best_F, &m->first);
  ns_equilibrium_take(&m->scales, &m->arena, m->n);
  return m->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_mcp_new(NsMcp **out, int n, bool sparse) {
  *out = NULL;
  if (n < 0) return NS_EARG;
  NsMcp *mcp = ns_alloc(1, sizeof *mcp);
  if (!mcp) return NS_ENOMEM;
  NsMcpSearch *m = &mcp->search;
  m->n = n;
  m->sparse = sparse;
  m->options = (NsMcpOptions){1e-10, 500, 0, 8, NULL};
  m->search.exact = -1; /* no early end: methods end by themselves, after their polish */
  m->search.final = ~(1u << NS_ENOCONV);
  NsStatus status = mcp_take_arrays(m);
  if (!status) status = ns_mcp_jacobian_init(&m->jac, &m->arena, n, sparse);
  if (!status) status = ns_methods_reserve(&mcp->methods, ns_mcp_methods, &m->arena, &m->search);
  if (!status) status = ns_chain_bind(&mcp->chain, steps, &mcp->methods, &m->arena);
  if (status) return ns_mcp_free(mcp), status;
  *out = mcp;
  return NS_OK;
}

void ns_mcp_free(NsMcp *mcp) {
  if (!mcp) return;
  ns_methods_release(&mcp->methods);
  ns_mcp_jacobian_release(&mcp->search.jac);
  ns_arena_release(&mcp->search.arena);
  ns_free(mcp);
}

NsMcpOptions *ns_mcp_options(NsMcp *mcp) {
  return &mcp->search.options;
}

/* ---- one solve ---- */

static NsStatus mcp_check(const NsMcpProblem *p, const double *z0) {
  for (int i = 0; i < p->n; i++) {
    if (!(p->lower[i] <= p->upper[i]) || p->lower[i] == INFINITY || p->upper[i] == -INFINITY) return NS_EARG;
    if (z0 && !isfinite(z0[i])) return NS_EARG;
  }
  return NS_OK;
}

/* Finds the scales from F and J at the start (already evaluated), and scales both, the bounds and z0. */
static void scale_problem(NsMcpSearch *m) {
  ns_equilibrate(&m->scales, m->jac.dense, m->jac.J, m->z, m->F);
  for (int i = 0; i < m->n; i++) {
    int c = m->scales.column[i];
    m->first[i] = 0;
    m->lower[i] = ldexp(m->p->lower[i], -c);
    m->upper[i] = ldexp(m->p->upper[i], -c);
    m->z[i] = m->best_z[i] = m->last_z[i] = ldexp(m->z[i], -c);
    m->F[i] = m->best_F[i] = ldexp(m->F[i], m->scales.row[i]);
  }
  memcpy(m->start, m->z, (size_t)m->n * sizeof *m->z);
  ns_mcp_jacobian_scale(&m->jac, m->scales.row, m->scales.column);
  m->have_jacobian = true;
}

static NsStatus mcp_begin(NsMcpSearch *m, const double *z0) {
  size_t bytes = (size_t)m->n * sizeof(double);
  NsStatus status;
  memset(m->scales.row, 0, (size_t)m->n * sizeof *m->scales.row);
  memset(m->scales.column, 0, (size_t)m->n * sizeof *m->scales.column);
  memcpy(m->lower, m->p->lower, bytes);
  memcpy(m->upper, m->p->upper, bytes);
  for (int i = 0; i < m->n; i++) m->z[i] = m->best_z[i] = m->last_z[i] = ns_mcp_clamp(m, i, z0 ? z0[i] : 0);
  int code = ns_mcp_evaluate(m, m->z, m->F);
  if (code < 0) return NS_ECALLBACK;
  memcpy(m->best_F, m->F, bytes);
  m->info->entry = ns_mcp_not_finite(m->n, m->F);
  if (code > 0) return m->info->entry >= 0 ? NS_ENAN : NS_ENOCONV;
  code = ns_mcp_differentiate(m, &status);
  if (code < 0) return status ? status : NS_ECALLBACK;
  if (code > 0) return NS_ENAN;
  return scale_problem(m), NS_OK;
}

static void mcp_prepare(NsMcpSearch *m, const NsMcpProblem *p, NsMcpInfo *info) {
  m->p = p;
  m->info = info;
  m->have_jacobian = false;
  m->search.tolerance = m->options.tolerance;
  m->search.least = m->best_residual = m->best_scale = INFINITY;
  m->random = 20240601;
  m->search.deadline = m->options.max_time > 0 ? ns_clock_now() + m->options.max_time : 0;
  *info = (NsMcpInfo){.entry = -1};
  info->residual = info->scale = info->relative = info->backward = INFINITY;
  info->solver = by_box(m, 0) ? ns_mcp_josephy.name : ns_mcp_semismooth.name;
}

static void mcp_conclude(NsMcpSearch *m, double *z, double *w) {
  ns_mcp_unscale(m, m->best_z, z);
  for (int i = 0; i < m->n; i++) w[i] = ldexp(m->best_F[i], -m->scales.row[i]);
  m->info->backward = m->search.least;
  if (m->best_residual == INFINITY) return;
  m->info->residual = ns_box_plain_residual(m->n, m->p->lower, m->p->upper, z, w);
  m->info->scale = m->best_scale;
  m->info->relative = m->info->residual > 0 ? m->info->residual / m->best_scale : 0;
}

NsStatus ns_mcp_solve(NsMcp *mcp, const NsMcpProblem *p, const double *z0, double *z, double *w, NsMcpInfo *info) {
  NsMcpSearch *m = &mcp->search;
  mcp_prepare(m, p, info);
  NsStatus status = p->n != m->n ? NS_ESIZE : mcp_check(p, z0);
  if (status) return info->status = status;
  if (p->n == 0) {
    info->backward = info->residual = info->scale = info->relative = 0;
    return info->status = NS_OK;
  }
  status = mcp_begin(m, z0);
  if (!status) {
    NsOutcome out = ns_chain_run(&mcp->chain, &m->search);
    info->solver = out.solver;
    status = out.status == NS_ENOCONV && m->singular ? NS_ESINGULAR : out.status;
  }
  mcp_conclude(m, z, w);
  return info->status = status;
}
