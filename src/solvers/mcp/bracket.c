/*
** bracket.c
** Bracketing for one variable, as a method.
*/
#include "solvers/mcp/bracket.h"

#include "base/interrupt.h"
#include "solvers/box/scalar.h"
#include "solvers/chain.h"
#include "solvers/mcp/mcp_search.h"

static int bracket_value(void *context, double z, double *f) {
  NsMcpSearch *m = context;
  return ns_interrupted() || ns_search_late(&m->search) ? -1 : ns_mcp_evaluate(m, &z, f);
}

static NsOutcome bracket_run(void *work, NsSearch *search, int mode) {
  NsMcpSearch *m = (NsMcpSearch *)search;
  NsScalarProblem p = {m->lower[0], m->upper[0], bracket_value, m};
  NsOutcome out = {ns_scalar_solve(&p, m->start[0], m->z), false, 0, "bracketing"};
  (void)work, (void)mode;
  if (out.status == NS_ECALLBACK) return out.status = ns_mcp_stopped(m), out;
  int code = out.status ? 1 : ns_mcp_accept(m);
  out.status = code < 0 ? ns_mcp_stopped(m) : code > 0 ? NS_ENOCONV : NS_OK;
  return out;
}

const NsMethod ns_mcp_bracket = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .run = bracket_run};
