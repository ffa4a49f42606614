/*
** moreau_jean.h
** The theta scheme of Moreau and Jean for mechanics with impacts, linearised for one Newton iteration at a time.
*/
#ifndef NS_INTEGRATORS_MOREAU_JEAN_H
#define NS_INTEGRATORS_MOREAU_JEAN_H

#include "integrators/energy.h"
#include "integrators/step_residual.h"
#include "model/mechanical_ds.h"
#include "model/nsds.h"
#include "solvers/contact/mixed.h"

/*
** M(q) (v - v_k) = h theta F(t_{k+1}, q, v) + h (1 - theta) F(t_k, q_k, v_k) + H(q)' P,
** q = q_k + h (theta v + (1 - theta) v_k)    (a rigid body turns by the exponential of that),
** u = H(q) T(q) v + dh/dt,  and the law between u and the impulse P: Newton's impact law is 0 <= u + e u_k _|_ P >= 0.
** A contact takes part in a step only when it is forecast to be closed: y_k + gamma h u_k <= tolerance, see
** ns_moreau_jean_tolerance: a gap that is rounding alone, of this step or piled up over many, does not open a contact
** at rest. Laws other than unilateral ones always take part.
** Boundary conditions prescribe velocities of a system at t_{k+1}: exactly; what the first equation lacks in their rows
** is the impulse of whatever moves them. They enter u_{k+1} like all velocities.
** A compliant relation's law holds between y = h(q, lambda) at the end of the step and the force lambda; P = h lambda.
** Moreau, Unilateral contact and dry friction in finite freedom dynamics, 1988; Jean, The non-smooth contact dynamics
** method, CMAME 177, 1999; Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 10.
*/
typedef struct NsMoreauJeanOptions {
  double theta, gamma;    /* theta in [0, 1]; gamma of the forecast, 1/2 by default */
  bool linearly_implicit; /* exactly one Newton iteration from v_k, with M and H at q_k + h v_k */
  bool has_threshold;     /* a contact takes part when its forecast is at most this, in the units of y, without a tolerance */
  double threshold;
} NsMoreauJeanOptions;

/*
** The tolerance of the forecast: 1e-10 of the way that a contact goes freely in the step, h max(|u|, |change|), change
** being what the forces would change u by; 1e-3 of it for a contact that carried an impulse in the last step and
** rests: |u| <= 1e-6 |change|. The rounding of y comes on top.
*/
double ns_moreau_jean_tolerance(double h, double u, double change, double lambda_k);

/* The workspace of the scheme for one NSDS: stacked vectors over all coordinates, velocities and multipliers. */
typedef struct NsMoreauJean NsMoreauJean;

/* Allocates everything for the graph as it stands, all of whose systems are mechanical. NS_ENOMEM. */
NsStatus ns_moreau_jean_new(NsMoreauJean **mj, NsNsds *nsds);
void ns_moreau_jean_free(NsMoreauJean *mj);

/* Whether one iteration is the solution: every system and relation is linear, or the options say so. */
bool ns_moreau_jean_linear(const NsMoreauJean *mj);

/*
** Begins a step of length h from t_k to t_next at the memories of every object: forces, outputs and velocities of the
** outputs at t_k. The iterate starts at v_k, q_k + h v_k; of a nonlinear model that has only contacts, none of which is
** to close, at the velocities that go on as in the last steps without impulses, by a line or a parabola.
** NS_ECALLBACK, NS_ENAN, NS_ECLOSED, NS_EARG.
*/
NsStatus ns_moreau_jean_begin(NsMoreauJean *mj, const NsMoreauJeanOptions *options, double t_k, double t_next, double h,
                              NsError *err);

/* Starts the iterate of the present step again, at v_k. */
void ns_moreau_jean_restart(NsMoreauJean *mj);

/* Whether the iterate started elsewhere than at v_k. */
bool ns_moreau_jean_predicted(const NsMoreauJean *mj);

/* Forces and the residual at the iterate, and the outputs that take part, once that is decided. */
NsStatus ns_moreau_jean_evaluate(NsMoreauJean *mj, NsError *err);

/* All outputs and impulses alone: what a linear model needs before it is committed. */
NsStatus ns_moreau_jean_evaluate_relations(NsMoreauJean *mj, NsError *err);

/*
** Jacobians at the iterate, W = M - h theta dF/dv - h^2 theta^2 dF/dq T and its factors; the contacts that take part
** (decided once a step) and their problem. When `full`, W has the derivative of M(q) (v - v_k) - H(q)'P by q too, and the
** problem that of u = H(q) v + dh/dt: then Newton's convergence is quadratic. Second derivatives of h are taken by jets, of
** relations of Lagrangian systems with at most 12 coordinates, in models without friction; those that couple the impulse on
** one system to the coordinates of another are left out. What did not change is kept. NS_ESINGULAR, NS_ENOMEM, NS_ECALLBACK.
*/
NsStatus ns_moreau_jean_linearize(NsMoreauJean *mj, bool full, NsError *err);

/* The problem of the iterate, of those that take part, and where a solver should start (its n elements). */
const NsMixedProblem *ns_moreau_jean_problem(const NsMoreauJean *mj);
const double *ns_moreau_jean_guess(const NsMoreauJean *mj);

/* The interaction (its number) that a row of the problem belongs to. */
int ns_moreau_jean_interaction(const NsMoreauJean *mj, int row);

/* Moves the iterate by s of the way to the solution lambda (of those that take part). */
void ns_moreau_jean_advance(NsMoreauJean *mj, const double *lambda, double s);

/* How far the iterate (evaluated) is from the equations, `y` being what the problem's solution gave. */
NsStepResidual ns_moreau_jean_residual(NsMoreauJean *mj, const double *y, const NsStepTolerance *tolerance);

/* Whether every number of the iterate is finite; the name of the first system with one that is not goes to err. */
NsStatus ns_moreau_jean_finite(const NsMoreauJean *mj, NsError *err);

/*
** Completes the (evaluated) iterate of a nonlinear model that passed: without contacts it moves on by the correction
** that the residual measured, when the iteration contracts; outputs of contacts that take no part. NS_ECALLBACK, NS_ENAN.
*/
NsStatus ns_moreau_jean_complete(NsMoreauJean *mj, NsError *err);

/*
** The projection of the coordinates on the constraints, at the end of a step: with the velocities as they are, the
** shift dq = W^-1 H' nu of least W-norm for which equations have y + H dq = 0 and contacts (their normals; those that
** took part, and others that have come too near) 0 <= y + H dq _|_ nu >= 0, repeated until y itself holds.
** ns_moreau_jean_violation: the largest |y| of an equation or -y of a contact at the iterate, each over the size of its row, the
** terms of C q and the ways that the velocities make in it; `absolute`: each as it is. ns_moreau_jean_positions:
** the problem in nu at the iterate; NS_ECALLBACK, NS_ENOMEM. ns_moreau_jean_shift: moves by its solution, and
** evaluates the relations there. Acary, Projected event-capturing time-stepping schemes, CMAME 256, 2013.
*/
double ns_moreau_jean_violation(const NsMoreauJean *mj, bool absolute);
NsStatus ns_moreau_jean_positions(NsMoreauJean *mj, const NsMixedProblem **problem, NsError *err);
NsStatus ns_moreau_jean_shift(NsMoreauJean *mj, const double *nu, NsError *err);

/*
** The same together with the velocities, in the steps after ns_moreau_jean_combine: q = q_k (+) h (theta v + (1 -
** theta) v_k) (+) W^-1 H' nu, with nu the multipliers of the constraints, 0 <= y _|_ nu >= 0 for contacts; the shift
** stays when v is found again, and the violation is that of this law: |y|, for contacts |min(y, what nu moves y by)|.
** enlarge: contacts that penetrate by more than the tolerance, or that have a nu, take part in the law of the velocities
** from now on, to the end of the step; true when one of them did not.
*/
void ns_moreau_jean_combine(NsMoreauJean *mj);
bool ns_moreau_jean_enlarge(NsMoreauJean *mj, double tolerance, bool absolute);

/*
** Accepts the (evaluated) iterate: writes q, v, p of every system, y, ydot and lambda of every interaction; adds what
** the step did to the account. NS_ECALLBACK.
*/
NsStatus ns_moreau_jean_commit(NsMoreauJean *mj, NsEnergyAccount *account, NsError *err);

/* Number of factorisations of W so far. */
long ns_moreau_jean_factorizations(const NsMoreauJean *mj);

#endif
