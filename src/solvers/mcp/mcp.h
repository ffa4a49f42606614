/*
** mcp.h
** Nonlinear mixed complementarity: Josephy-Newton and semismooth Newton, on dense and on sparse Jacobians.
*/
#ifndef NS_SOLVERS_MCP_MCP_H
#define NS_SOLVERS_MCP_MCP_H

#include <stdbool.h>

#include "base/function.h"
#include "base/status.h"
#include "linalg/sparse.h"
#include "solvers/method.h"

/*
** Find z in [lower, upper] with F_i(z) >= 0 where z_i = lower_i, <= 0 where z_i = upper_i, = 0 between: -F(z) is in
** the normal cone of the box at z. F takes one vector, args[0] = z (n), at time 0, and fills n values; its Jacobian
** is asked for by argument 0. F is asked for inside the box only. A value that is not finite counts as recoverable.
** sparse, when set, takes the place of F.jacobian: it gets F.context and leaves in *J a matrix that stays the
** caller's and must live until the next call; same return codes.
** Facchinei and Pang, Finite-Dimensional Variational Inequalities and Complementarity Problems, 2003.
*/
typedef struct NsMcpProblem {
  int n;
  const double *lower, *upper; /* n, infinite bounds allowed */
  NsFunction F;
  int (*sparse)(void *context, const double *z, const NsSparse **J);
} NsMcpProblem;

/* All methods, NULL at the end; by ns_method_name those that scripts may ask for. */
extern const NsMethod *const ns_mcp_methods[];

typedef struct NsMcpOptions {
  double tolerance;       /* largest backward error of an answer */
  int max_iterations;     /* Newton iterations of all attempts together */
  double max_time;        /* seconds; 0: no limit */
  int restarts;           /* attempts from perturbed points after the first one failed */
  const NsMethod *method; /* one of ns_mcp_methods; NULL: the chain */
} NsMcpOptions;

/* What was done. Filled on failure too. */
typedef struct NsMcpInfo {
  NsStatus status;
  int iterations, evaluations, jacobians;
  int pivots;         /* of the box problems together; 0: no active set changed */
  int restarts;       /* attempts after the first */
  int entry;          /* after NS_ENAN: the entry of F (from 0) that is not finite at the start; else -1 */
  double residual;    /* natural residual max_i |z_i - proj(z_i - F_i)| */
  double scale;       /* largest of the sizes that backward is measured against */
  double relative;    /* residual / scale */
  double backward;    /* max_i v_i / size_i: the measure that decides */
  const char *solver; /* "josephy-newton" or "semismooth"; "bracketing" when that had the answer */
} NsMcpInfo;

/* A solver for problems of n variables, with dense or with sparse Jacobians. */
typedef struct NsMcp NsMcp;

/*
** Tolerance 1e-10, 500 iterations, 8 restarts, no time limit. NS_EARG (n < 0), NS_ENOMEM, NS_ETOOLARGE; *mcp is
** NULL on failure. ns_mcp_free takes NULL.
*/
NsStatus ns_mcp_new(NsMcp **mcp, int n, bool sparse);
void ns_mcp_free(NsMcp *mcp);

/* The options, read and written in place; they hold for the solves that follow. */
NsMcpOptions *ns_mcp_options(NsMcp *mcp);

/*
** Solves from z0 (n; NULL: zero), projected on the box; leaves z and w = F(z) (n each). Dense: each iteration
** linearises F and solves the box problem (box_solver.h) from the present point, so that an unchanged active set takes
** no pivot; when this has no solution, or its direction does not serve, proximally perturbed ones (J + mu I), the
** Newton direction of the Fischer-Burmeister function and its projected gradient follow, under a nonmonotone line
** search (Ferris, Kanzow and Munson, Feasible descent algorithms for mixed complementarity problems, Math. Prog. 86,
** 1999; Josephy, MRC report 1965, 1979). Sparse: the active-set Newton direction of the natural map, else that of
** Fischer-Burmeister (De Luca, Facchinei and Kanzow, Math. Prog. 75, 1996), by KLU, which factors anew only when the
** pattern changes; when that attempt ends at no solution, Josephy's directions from the same start, the box problems being
** solved by pivots on a sparse basis (sparse_path.h), and up to 300 variables once more by the chain for dense matrices.
** A failed attempt is followed by others from perturbed points, and for one variable, when the cap on
** iterations is not reached, by the search for a bound that is the answer or a change of sign (scalar.h), which finds a
** solution of a continuous F between finite bounds always; the same input gives the same bits.
** Equations and unknowns are scaled by powers of two first (linalg/equilibrate.h, at z0), so that scaling either changes
** no more than the scale of the answer: its bits stay.
** With v_i = |F_i| between bounds and the wrong-signed part of F_i at a bound, and size_i = (|J| |z| + |F - J z|)_i, the
** answer is accepted when v_i <= tolerance size_i for all i: neither the units of an equation nor those of an unknown
** matter. Where iterations come no nearer to that, a v_i of 2^-100 of the scales of the start counts as 0 (zeros of
** second order at 0). One Newton step more follows, kept when better. NS_OK; NS_ENOCONV: every attempt stopped at a point that is no solution; NS_ESINGULAR: the same, each
** linearised problem of the last attempt being singular; NS_EMAXITER: the cap on iterations or on time; NS_ENAN: F or
** its Jacobian is not finite at z0 (info.entry); NS_EARG: bounds that cross or z0 not finite; NS_ECALLBACK: a
** callback returned a negative number; NS_EINTR; NS_ESIZE: a sparse J is not n x n; NS_ENOMEM (sparse). Unless the
** data were bad, z is the point of the least natural residual that was seen. Dense solves allocate nothing; sparse
** ones when the pattern is new, when box problems are first needed, and inside KLU.
*/
NsStatus ns_mcp_solve(NsMcp *mcp, const NsMcpProblem *p, const double *z0, double *z, double *w, NsMcpInfo *info);

#endif
