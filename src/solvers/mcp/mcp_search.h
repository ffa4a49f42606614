/*
** mcp_search.h
** The search for the solution of a nonlinear complementarity problem: Newton iterations under a line search, by any directions.
*/
#ifndef NS_SOLVERS_MCP_MCP_SEARCH_H
#define NS_SOLVERS_MCP_MCP_SEARCH_H

#include <stdint.h>

#include "linalg/equilibrate.h"
#include "solvers/mcp/mcp.h"
#include "solvers/mcp/mcp_jacobian.h"

enum { NS_MCP_WINDOW = 4 }; /* values of the merit that the line search looks back on */

typedef struct NsMcpSearch NsMcpSearch;

/*
** Writes direction k of a method (0: the most promising; below NS_MCP_UNPERTURBED: of Newton's method itself) into s->direction. Failures:
** there is none; NS_EINTR and NS_ENOMEM end the run.
*/
typedef NsStatus (*NsMcpDirection)(NsMcpSearch *s, void *work, int k);
enum { NS_MCP_UNPERTURBED = 2, NS_MCP_DIRECTIONS = 4 };

/*
** All but the problem and what is returned is scaled (linalg/equilibrate.h): z_j counts in units of 2^column[j], F_i is
** multiplied by 2^row[i]. search.least is the backward error of the best point.
*/
struct NsMcpSearch {
  NsSearch search;
  int n;
  bool sparse;
  NsMcpOptions options;
  NsArena arena;
  NsMcpJacobian jac;
  NsEquilibrium scales;
  bool have_jacobian; /* jac is that of the iterate already */
  double *lower, *upper;
  double *user_z; /* a point in the user's units */
  double *start;
  double *z, *F, *trial_z, *trial_F, *last_z; /* the iterate, a candidate, the iterate before */
  double *psi, *at_z, *at_f;                  /* the scaled map and its derivative at z */
  double *rho, *size, *row;                   /* row scales; sizes; work */
  double *direction, *gradient, *q;           /* q: work */
  double *best_z, *best_F;
  double best_residual, best_scale; /* of best_z */
  double theta, window[NS_MCP_WINDOW];
  double backward;
  uint64_t random;
  NsMcpDirection last; /* of the last attempt */
  void *last_work;
  bool singular; /* no Newton direction of the attempt could be had */
  const NsMcpProblem *p;
  NsMcpInfo *info;
};

/* Where an attempt starts: where the search stands, F and its Jacobian known; at the start; at a perturbed point, the next of them. */
enum { NS_MCP_HERE, NS_MCP_START, NS_MCP_RESTART, NS_MCP_DENSE /* NS_MCP_START, with dense box problems */ };

/*
** Newton iterations with those directions. NS_OK; NS_ENOCONV: the attempt came to no solution; else why the run must stop.
*/
NsStatus ns_mcp_attempt(NsMcpSearch *s, int from, NsMcpDirection direction, void *work);

/* F at z (scaled): 0, 1 when it can't be had there, -1 when the run must stop. */
int ns_mcp_evaluate(NsMcpSearch *s, const double *z, double *F);

/* The Jacobian at the iterate; the code of ns_mcp_evaluate, and in *status what is wrong with a sparse one. */
int ns_mcp_differentiate(NsMcpSearch *s, NsStatus *status);

/*
** Whether the iterate is a solution found otherwise (0), polished by the last method that made an attempt; one without violation is
** where F has no derivative, too. Else a code.
*/
int ns_mcp_accept(NsMcpSearch *s);

/* Newton's direction of the Fischer-Burmeister map, with mu added to the diagonal: for all methods. */
NsStatus ns_mcp_fischer_direction(NsMcpSearch *s, double mu);

/* Why a run stops that a callback, a signal or the clock ends. */
NsStatus ns_mcp_stopped(const NsMcpSearch *s);

/* The first entry that is not finite, -1: none. */
int ns_mcp_not_finite(int n, const double *x);

/* x within the (scaled) bounds of variable i; z within the user's bounds, in the user's units. */
double ns_mcp_clamp(const NsMcpSearch *s, int i, double x);
void ns_mcp_unscale(const NsMcpSearch *s, const double *z, double *to);

#endif
