/*
** variational.h
** Linear equations along a known trajectory: sensitivities forwards in time, adjoints and gradients backwards.
*/
#pragma once

#include <stdbool.h>

#include "base/error.h"

/*
** A trajectory x(t) (n values) of x' = f(t, x; parameters) is known, for example by the dense output of the steps that computed
** it. Here are the linear equations along it, with J = df/dx (n x n) and P = df/dparameters (n x p) at (t, x(t)):
**
**   forward:  S' = J S + P                     S (n x p) = dx/dparameters, from any t to any other
**   adjoint:  mu' = -J' mu - c,  g' = -P' mu - d    mu (n), g (p), usually backwards from the end to the start
**
** With c = d(cost rate)/dx and d = d(cost rate)/dparameters the adjoint gives the gradient of cost = terminal(x(T)) + integral of
** the cost rate: start at T with mu = d(terminal)/dx and g = 0; then the gradient is g(0) + S(0)' mu(0).
** With `mass` the forward equations are E(t) S' = J S + P; E may be singular (a linear differential-algebraic system).
**
** All matrices are column-major. The functions integrate a smooth stretch; at a jump of x the caller transforms S or mu and goes
** on (ns_variational_jump). Hiskens and Pai, IEEE Trans. Circuits and Systems I 47(2), 2000; Cao, Li, Petzold and Serban, SIAM J.
** Sci. Comput. 24(3), 2003.
*/

/*
** Fills J (n x n), P (n x p) and E (n x n) at t. They arrive zeroed. P is NULL when the problem is not `forced`, E is NULL without
** `mass`. It is called within the stretch that is being integrated, in any order of times. NS_ERETRY or NS_ENAN: a shorter step
** may help; any other failure ends the integration.
*/
typedef NsStatus (*NsVariationalTerms)(void *context, double t, double *J, double *P, double *E, NsError *err);

/* Fills c (n) and d (p) of the adjoint at t; they arrive zeroed. Fails as NsVariationalTerms does. */
typedef NsStatus (*NsVariationalCost)(void *context, double t, double *c, double *d, NsError *err);

/* Jmu (n) = J' mu and Pmu (p) = P' mu at t, without forming J and P. Fails as NsVariationalTerms does. */
typedef NsStatus (*NsVariationalVjp)(void *context, double t, const double *mu, double *Jmu, double *Pmu, NsError *err);

/* The equations. Arrays are borrowed. */
typedef struct NsVariationalProblem {
  int n, p; /* of states and of parameters; p may be 0 */
  NsVariationalTerms terms;
  void *context;          /* of all callbacks */
  bool adjoint;           /* false: forward */
  NsVariationalCost cost; /* adjoint: NULL: c = 0 and d = 0 */
  NsVariationalVjp vjp;   /* adjoint, explicit method: NULL: products with the J and P of `terms` */
  bool forced;            /* P is not 0 */
  bool mass;              /* forward, implicit: E is not the identity */
  bool implicit;          /* Radau IIA of order 5, for stiff J; false: DOP853 */
  bool adaptive;          /* without mass: Radau IIA where J is stiff, DOP853 elsewhere, whatever `implicit` says */

  /*
  ** The error of S[i][j] in a step is at most rtol (|S[i][j]| + size[i] s_j / 100), where size[i] is the size of state i and s_j =
  ** max_k |S[k][j]| / size[k] the relative size of column j. So each column is judged by itself, and units do not matter. The
  ** adjoint: rtol (|mu[i]| + s / (100 size[i])) with s = max_k |mu[k]| size[k]; and g[j] by its own size and by what errors of mu
  ** change in it. A good size is max |x[i]| + atol[i] / rtol of the run. The sizes may change between calls. size[i] = 0: row i
  ** is judged by its own values.
  */
  double rtol;
  const double *size; /* n */

  /*
  ** p: forward, a lower bound of s_j, which may change between calls; NULL: 0. It is needed where S begins at 0 and P does so, too:
  ** the error of a power of t is the same part of it in any step.
  */
  const double *least;
  const int *index;   /* n, with mass: 1 to 3, the index of each unknown (ode/dae.h); NULL: all 1 */
  const double *time; /* with index: T of the weights of errors (ode/dae.h); it may change between calls */
} NsVariationalProblem;

/* The present point and the counts. y is the forward S (n x p), or mu (n) and then g (p); owned by the integrator. */
typedef struct NsVariationalState {
  double t, t_old; /* the last step went from t_old to t */
  double h_next;   /* length of the next step; it stays from one stretch to the next */
  const double *y;
  long steps, rejected;
  long evaluations; /* of terms or vjp */
} NsVariationalState;

typedef struct NsVariational NsVariational;

/* Makes every allocation. NS_ENOMEM, NS_ETOOLARGE; *variational is NULL on failure. The problem is copied. */
NsStatus ns_variational_new(NsVariational **variational, const NsVariationalProblem *problem);
void ns_variational_free(NsVariational *variational);

const NsVariationalState *ns_variational_state(const NsVariational *variational);

/*
** Puts the integrator at (t, y); y (as in the state) is copied. h_first: length of the first step, a good one is the run's step
** there; 0: as h_next of the last stretch, or chosen here.
*/
void ns_variational_start(NsVariational *variational, double t, const double *y, double h_first);

/* Replaces y (copied) at the present t, where the trajectory jumps or gets a kink; the step length stays. */
void ns_variational_jump(NsVariational *variational, const double *y);

/*
** Steps exactly to t_end, forwards or backwards. After a failure the integrator stands at the last accepted step: NS_ENOCONV when
** steps get too short, NS_ENAN, NS_ESINGULAR (mass: no step length gives a regular system), NS_EINTR, the failures of the
** callbacks; NS_EMAXITER after 100,000 steps.
*/
NsStatus ns_variational_go_to(NsVariational *variational, double t_end, NsError *err);

/* One step towards t_end and not past it. The failures of ns_variational_go_to. */
NsStatus ns_variational_step(NsVariational *variational, double t_end, NsError *err);

/*
** y = the solution at t within the last step, by dense output (order 7, or 3 if implicit). The explicit method evaluates the terms
** 3 times more for the first t in a step. The failures of the callbacks.
*/
NsStatus ns_variational_at(NsVariational *variational, double t, double *y, NsError *err);
