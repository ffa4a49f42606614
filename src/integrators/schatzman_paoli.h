/*
** schatzman_paoli.h
** The two-step scheme of Paoli and Schatzman for Lagrangian systems with impacts, on positions.
*/
#ifndef NS_INTEGRATORS_SCHATZMAN_PAOLI_H
#define NS_INTEGRATORS_SCHATZMAN_PAOLI_H

#include "integrators/energy.h"
#include "integrators/step_residual.h"
#include "model/mechanical_ds.h"
#include "model/nsds.h"
#include "solvers/contact/mixed.h"

/*
** With q- , q_k, q+ the coordinates at t_k - h, t_k, t_k + h,
**   M(q_k) (q+ - 2 q_k + q-) = h^2 F(t_k, theta/2 (q+ + q-) + (1 - theta) q_k, v) + h H(q_k)' P,   v = (q+ - q-) / 2h,
** and a law between positions and the impulse P (mass times velocity, as that of moreau_jean.h):
**   0 <= (g(q+) + e g(q-)) / (1 + e) _|_ P >= 0 for Newton's impact law,   g(q+) = 0 for an equality.
** All is taken about t_k, so that a smooth motion has order 2 for every theta; of a linear one theta >= 1/2 is stable
** for every h, theta = 0 is the explicit scheme (leapfrog). A bilateral constraint is held in the coordinates (SHAKE).
** An impact takes two steps, after which the difference q+ - q_k is -e times that before; y stays above
** -2 e / (1 + e) h |u|, u being the speed of the approach.
** The first step has q- = q+ - 2 h v_0, so that v is v_0: q- = q_0 - h v_0 + h^2/2 a_0 to second order, a_0 being the
** acceleration under the constraints and contacts that act; so has a step after the state was written.
** What a system's velocity is set to is v, that of t_k.
** Paoli and Schatzman, A numerical scheme for impact problems, SIAM J. Numer. Anal. 40, 2002; Ryckaert, Ciccotti and
** Berendsen, J. Comput. Phys. 23, 1977; Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008,
** chapter 10.
*/
typedef struct NsSchatzmanPaoliOptions {
  double theta; /* in [0, 1] */
} NsSchatzmanPaoliOptions;

/* The workspace of the scheme for one NSDS. The two-step memory is that of the systems: see model/ds.h. */
typedef struct NsSchatzmanPaoli NsSchatzmanPaoli;

/*
** NS_EARG when a law is neither NewtonImpactNSL nor EqualityConditionNSL, a relation is compliant, or a system is a
** rigid body, naming it.
*/
NsStatus ns_schatzman_paoli_accepts(const NsNsds *nsds, NsError *err);

/* Allocates everything for the graph as it stands, which is accepted. NS_ENOMEM. */
NsStatus ns_schatzman_paoli_new(NsSchatzmanPaoli **sp, NsNsds *nsds);
void ns_schatzman_paoli_free(NsSchatzmanPaoli *sp);

/* Whether one iteration is the solution: every system and relation is linear. */
bool ns_schatzman_paoli_linear(const NsSchatzmanPaoli *sp);

/*
** Begins a step of length h from t_k to t_next at the memories of every object; the iterate starts at 2 q_k - q-.
** NS_EARG when the last step had another length, NS_ECALLBACK, NS_ENAN, NS_ECLOSED.
*/
NsStatus ns_schatzman_paoli_begin(NsSchatzmanPaoli *sp, const NsSchatzmanPaoliOptions *options, double t_k, double t_next,
                                  double h, NsError *err);

/* Starts the iterate of the present step again. */
void ns_schatzman_paoli_restart(NsSchatzmanPaoli *sp);

/* Forces, outputs and the residual at the iterate; outputs and impulses alone. NS_ECALLBACK. */
NsStatus ns_schatzman_paoli_evaluate(NsSchatzmanPaoli *sp, NsError *err);
NsStatus ns_schatzman_paoli_evaluate_relations(NsSchatzmanPaoli *sp, NsError *err);

/*
** W = c M - h^2 theta c / 2 dF/dq - h (2 - c) / 2 dF/dv (c = 1; 2 in a first step) and its factors, H(q+), and the
** one-step problem of all rows, whose output is (g(q+) + e g(q-)) / h. NS_ESINGULAR, NS_ENOMEM, NS_ECALLBACK.
*/
NsStatus ns_schatzman_paoli_linearize(NsSchatzmanPaoli *sp, NsError *err);

const NsMixedProblem *ns_schatzman_paoli_problem(const NsSchatzmanPaoli *sp);
const double *ns_schatzman_paoli_guess(const NsSchatzmanPaoli *sp);

/* Moves the iterate by s of the way to the solution lambda. */
void ns_schatzman_paoli_advance(NsSchatzmanPaoli *sp, const double *lambda, double s);

/* How far the iterate (evaluated) is from the equations, `y` being what the problem's solution gave. */
NsStepResidual ns_schatzman_paoli_residual(NsSchatzmanPaoli *sp, const double *y, const NsStepTolerance *tolerance);

/* Whether every number of the iterate is finite; the name of the first system with one that is not goes to err. */
NsStatus ns_schatzman_paoli_finite(const NsSchatzmanPaoli *sp, NsError *err);

/*
** Accepts the (evaluated) iterate: writes q, v, p of every system, y, ydot and lambda of every interaction; adds what
** the step did to the account (may be NULL). NS_ECALLBACK.
*/
NsStatus ns_schatzman_paoli_commit(NsSchatzmanPaoli *sp, NsEnergyAccount *account, NsError *err);

/* Number of factorisations of W so far. */
long ns_schatzman_paoli_factorizations(const NsSchatzmanPaoli *sp);

#endif
