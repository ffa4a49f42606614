/*
** mcp.h
** Nonlinear mixed complementarity: Josephy-Newton and semismooth Newton, on dense and on sparse Jacobians.
*/
#pragma once

#include <stdbool.h>

#include "base/function.h"
#include "base/status.h"
#include "linalg/sparse.h"
#include "solvers/method.h"

/*
** Find z in [lower, upper] with F_i(z) >= 0 if z_i = lower_i, F_i(z) <= 0 if z_i = upper_i, F_i(z) = 0 between. Equivalently
** -F(z) is in the normal cone of the box at z. F takes one vector, args[0] = z (n), at time 0, and returns n values; its
** Jacobian has argument index 0. F is called inside the box only. A value that is not finite counts as a recoverable failure.
** If `sparse` is set, it replaces F.jacobian: it is called with F.context and sets *J to a matrix that the caller owns and
** that must stay valid until the next call; return codes as for F. Facchinei and Pang, Finite-Dimensional Variational
** Inequalities and Complementarity Problems, 2003.
*/
typedef struct NsMcpProblem {
  int n;
  const double *lower, *upper; /* n, infinite bounds allowed */
  NsFunction F;
  int (*sparse)(void *context, const double *z, const NsSparse **J);
} NsMcpProblem;

/* All methods, NULL at the end; ns_method_name lists those with a name for scripts. */
extern const NsMethod *const ns_mcp_methods[];

typedef struct NsMcpOptions {
  double tolerance;       /* largest backward error of an answer */
  int max_iterations;     /* Newton iterations of all attempts together */
  double max_time;        /* seconds; 0: no limit */
  int restarts;           /* attempts from perturbed points after the first attempt failed */
  const NsMethod *method; /* one of ns_mcp_methods; NULL: the chain */
} NsMcpOptions;

/* What a solve did. Filled on failure too. */
typedef struct NsMcpInfo {
  NsStatus status;
  int iterations, evaluations, jacobians;
  int pivots;         /* pivots of all box problems; 0: no active set changed */
  int restarts;       /* attempts after the first */
  int entry;          /* after NS_ENAN: the entry of F (from 0) that is not finite at z0; else -1 */
  double residual;    /* natural residual max_i |z_i - proj(z_i - F_i)| */
  double scale;       /* largest size_i in `backward` */
  double relative;    /* residual / scale */
  double backward;    /* max_i v_i / size_i (see ns_mcp_solve), which decides about acceptance */
  const char *solver; /* "josephy-newton" or "semismooth"; "bracketing" if that found the answer */
} NsMcpInfo;

/* A solver for problems of n variables, with dense or with sparse Jacobians. */
typedef struct NsMcp NsMcp;

/*
** Tolerance 1e-10, 500 iterations, 8 restarts, no time limit. NS_EARG (n < 0), NS_ENOMEM, NS_ETOOLARGE; *mcp is NULL on
** failure. ns_mcp_free takes NULL.
*/
NsStatus ns_mcp_new(NsMcp **mcp, int n, bool sparse);
void ns_mcp_free(NsMcp *mcp);

/* The options, to be read and written in place; they hold for the solves that follow. */
NsMcpOptions *ns_mcp_options(NsMcp *mcp);

/*
** Solves from z0 (n; NULL: zero), projected on the box; leaves z and w = F(z) (n each). The same input gives the same bits.
** Dense: the Josephy-Newton method. Each iteration linearises F and solves the box problem (box_solver.h) from the iterate, so
** an unchanged active set takes no pivot. If that has no solution, or the line search rejects the direction, it tries the
** Newton direction of the Fischer-Burmeister function, box problems with J + mu I, and the projected gradient of that
** function. The line search is nonmonotone (Ferris, Kanzow and Munson, Feasible descent algorithms for mixed complementarity
** problems, Math. Prog. 86, 1999; Josephy, MRC report 1965, 1979).
** Sparse: the active-set Newton direction of the natural map, else of the Fischer-Burmeister function (De Luca, Facchinei and
** Kanzow, Math. Prog. 75, 1996), by KLU, which analyses only a new pattern. If that attempt fails, Josephy-Newton from the
** same start, with box problems solved by pivots on a sparse basis (sparse_path.h), and, up to 300 variables, once more with
** the dense chain.
** Restarts: after a failed attempt come attempts from perturbed points. For one variable, unless the cap on iterations is
** reached, the last attempt is bracketing (scalar.h), which always finds a solution of a continuous F between finite bounds.
** Scaling: equations and unknowns are first scaled by powers of two (linalg/equilibrate.h, at z0), so scaling the problem by
** powers of two only scales the answer, to the bit.
** Acceptance: v_i <= tolerance size_i for all i, where v_i = |F_i| between bounds and the wrong-signed part of F_i at a bound,
** and size_i = (|J| |z| + |F - J z|)_i. This does not depend on the units. When iterations no longer get nearer, and the
** Newton step is small (at most sqrt(tolerance) of z, or of its size at the start), a v_i below 2^-100 of the scales at the
** start counts as 0 (for zeros of second order at 0): an iterate that runs away is no solution. One more Newton step follows, and is kept if
** it is better.
** Status: NS_OK; NS_ENOCONV: every attempt stopped at a point that is no solution; NS_ESINGULAR: the same, and every
** linearised problem of the last attempt was singular; NS_EMAXITER: the cap on iterations or time; NS_ENAN: F or its Jacobian
** is not finite at z0 (info.entry); NS_EARG: crossed bounds, or z0 not finite; NS_ECALLBACK: a callback returned a negative
** number; NS_EINTR; NS_ESIZE: a sparse J is not n x n; NS_ENOMEM (sparse). Unless the data were bad, z is the point with the
** least natural residual.
** Memory: dense solves allocate nothing; sparse ones for a new pattern, for the first box problems, and inside KLU.
*/
NsStatus ns_mcp_solve(NsMcp *mcp, const NsMcpProblem *p, const double *z0, double *z, double *w, NsMcpInfo *info);
