/*
** mcp_search.h The search for a solution of a nonlinear complementarity problem: Newton iterations with line search; the
** method gives the directions.
*/
#pragma once

#include <stdint.h>

#include "linalg/equilibrate.h"
#include "solvers/mcp/mcp.h"
#include "solvers/mcp/mcp_jacobian.h"

/*
** A violation below this fraction of the first size of its row (1 at most: the scales at the start) counts as 0, after NEAR such
** iterations (mcp_search.c) without an answer, where the iterate does not run away: where F vanishes to second order, no relative
** measure converges. About eps^2: a double zero at 0 is found to 1e-15 of the start.
*/
#define NS_MCP_NO_VIOLATION 0x1p-100

enum { NS_MCP_WINDOW = 4 }; /* past values of the merit in the nonmonotone line search */

typedef struct NsMcpSearch NsMcpSearch;

/*
** Writes direction k of a method into s->direction. Direction 0 is the most promising; those below NS_MCP_UNPERTURBED are
** Newton directions, later ones are perturbed. A failure means that there is no such direction; NS_EINTR and NS_ENOMEM end the
** run.
*/
typedef NsStatus (*NsMcpDirection)(NsMcpSearch *s, void *work, int k);
enum { NS_MCP_UNPERTURBED = 2, NS_MCP_DIRECTIONS = 4 };

/*
** All numbers are scaled (linalg/equilibrate.h), except the problem and what is returned: z_j has the unit 2^column[j], F_i is
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
  bool have_jacobian; /* jac is the Jacobian at the iterate */
  double *lower, *upper;
  double *user_z; /* a point in the user's units, workspace */
  double *start;
  double *z, *F, *trial_z, *trial_F, *last_z; /* the iterate, a candidate, the previous iterate */
  double *psi, *at_z, *at_f;                  /* the map and its derivatives at z */
  double *rho, *size, *row;                   /* row weights; sizes; workspace */
  double *direction, *gradient, *q;           /* q: workspace */
  double *best_z, *best_F, *first;            /* first: the size of each row where it first was not 0 */
  double best_residual, best_scale;           /* of best_z */
  double theta, window[NS_MCP_WINDOW];
  double backward;
  uint64_t random;
  NsMcpDirection last; /* directions of the last attempt */
  void *last_work;
  bool singular; /* the attempt found no Newton direction */
  const NsMcpProblem *p;
  NsMcpInfo *info;
};

/* Where an attempt starts: at the iterate, whose F and Jacobian are known; at the start; at the next perturbed point. */
enum { NS_MCP_HERE, NS_MCP_START, NS_MCP_RESTART, NS_MCP_DENSE /* NS_MCP_START, with dense box problems */ };

/* Newton iterations with these directions. NS_OK; NS_ENOCONV: no solution found; else the reason to end the run. */
NsStatus ns_mcp_attempt(NsMcpSearch *s, int from, NsMcpDirection direction, void *work);

/* F at z (scaled). 0: good; 1: F has no value there; -1: end the run. */
int ns_mcp_evaluate(NsMcpSearch *s, const double *z, double *F);

/* The Jacobian at the iterate. Returns as ns_mcp_evaluate; *status: what is wrong with a sparse Jacobian. */
int ns_mcp_differentiate(NsMcpSearch *s, NsStatus *status);

/*
** Whether the iterate, found by another method, is a solution (0; else a code as above). Polishes it with the last method that
** made an attempt. A point without violation is accepted even if F has no derivative there.
*/
int ns_mcp_accept(NsMcpSearch *s);

/* The Newton direction of the Fischer-Burmeister map with mu added to the diagonal. */
NsStatus ns_mcp_fischer_direction(NsMcpSearch *s, double mu);

/* The status of a run that a callback, a signal or the time limit has ended. */
NsStatus ns_mcp_stopped(const NsMcpSearch *s);

/* The first entry that is not finite; -1: all are finite. */
int ns_mcp_not_finite(int n, const double *x);

/* clamp: x within the scaled bounds of variable i. unscale: `to` = z in the user's units, within the user's bounds. */
double ns_mcp_clamp(const NsMcpSearch *s, int i, double x);
void ns_mcp_unscale(const NsMcpSearch *s, const double *z, double *to);

/* The methods; each starts where its mode says. */
extern const NsMethod ns_mcp_josephy, ns_mcp_semismooth, ns_mcp_bracket;
