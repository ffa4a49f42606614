/*
** bracket.c
** Bracketing for one variable, as a method.
*/

#include <math.h>

#include "base/interrupt.h"
#include "solvers/box/scalar.h"
#include "solvers/chain.h"
#include "solvers/mcp/mcp_search.h"

static int bracket_value(void *context, double z, double *f) {
  NsMcpSearch *m = context;
  return ns_interrupted() || ns_search_late(&m->search) ? -1 : ns_mcp_evaluate(m, &z, f);
}

/*
** Whether z, where F vanishes or changes its sign, is no solution: a pole, beside which F is larger than at the start, or a place
** so far out that F has faded to 0, by underflow. 1: it is none; 0; -1: end the run.
*/
static int bracket_doubts(NsMcpSearch *m) {
  double start = m->start[0], middle = start + (m->z[0] - start) / 2, first, between, last;
  int code = bracket_value(m, start, &first);
  if (code == 0) code = bracket_value(m, middle, &between);
  if (code == 0) code = bracket_value(m, m->z[0], &last);
  if (code != 0) return code < 0 ? -1 : 0;
  if (m->z[0] == m->lower[0] || m->z[0] == m->upper[0]) return 0;
  return fabs(last) > fabs(first) || (last == 0 && between != 0 && fabs(between) <= NS_MCP_NO_VIOLATION);
}

static NsOutcome bracket_run(void *work, NsSearch *search, int mode) {
  NsMcpSearch *m = (NsMcpSearch *)search;
  NsScalarProblem p = {m->lower[0], m->upper[0], bracket_value, m};
  NsOutcome out = {ns_scalar_solve(&p, m->start[0], m->z), false, 0, "bracketing"};
  (void)work, (void)mode;
  if (out.status == NS_ECALLBACK) return out.status = ns_mcp_stopped(m), out;
  int code = out.status ? 1 : bracket_doubts(m);
  if (code == 0) code = ns_mcp_accept(m);
  out.status = code < 0 ? ns_mcp_stopped(m) : code > 0 ? NS_ENOCONV : NS_OK;
  return out;
}

/* For one variable (scalar.h). Always finds a solution of a continuous F between finite bounds. */
const NsMethod ns_mcp_bracket = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .run = bracket_run};
