/*
** euler_moreau.h
** The theta-gamma scheme for first-order systems, linearised for one Newton iteration at a time.
*/
#ifndef NS_INTEGRATORS_EULER_MOREAU_H
#define NS_INTEGRATORS_EULER_MOREAU_H

#include "integrators/step_residual.h"
#include "model/first_order_ds.h"
#include "model/nsds.h"

/*
** M (x - x_k) = h theta f(t_{k+1}, x) + h (1 - theta) f(t_k, x_k) + h gamma r + h (1 - gamma) r_k,
** r = g(t_{k+1}, x, lambda),  y = h(t_{k+1}, x, lambda),  law(y, lambda).
** With gamma_in_relation r is fully implicit, and the law holds between lambda and h(t_{k+1}, gamma x + (1 - gamma)
** x_k, lambda). Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 9;
** Greenhalgh, Acary and Brogliato, Numerische Mathematik 125 (2013), for the gamma-point.
*/
typedef struct NsEulerMoreauOptions {
  double theta, gamma; /* in [0, 1]; theta 0 is explicit in f */
  bool gamma_in_relation;
  bool
      restart; /* the first step, every one in which a multiplier comes to a bound or leaves one, and the steps after these have
                   theta = gamma = 1 */
} NsEulerMoreauOptions;

/*
** The workspace of the scheme for one NSDS: stacked vectors over all N states and m multipliers. Systems are stacked
** in the NSDS's order within clusters: systems whose states a relation's K couples share one matrix W = M - h theta
** f_x - h gamma K.
*/
typedef struct NsEulerMoreau NsEulerMoreau;

/* Allocates everything for the graph as it stands. NS_ENOMEM. */
NsStatus ns_euler_moreau_new(NsEulerMoreau **em, NsNsds *nsds);
void ns_euler_moreau_free(NsEulerMoreau *em);

/* Whether every system and relation is linear (one iteration is then exact). */
bool ns_euler_moreau_linear(const NsEulerMoreau *em);

/*
** Begins a step of length h from t_k to t_next (t_k + h to rounding) at the memories of every object, evaluates what
** is explicit, and starts the iterate at x_k, lambda_k (in a linear model, whose one iteration does not depend on
** it, at lambda = 0).
*/
NsStatus ns_euler_moreau_begin(NsEulerMoreau *em, const NsEulerMoreauOptions *options, double t_k, double t_next, double h,
                               NsError *err);

/*
** With `restart`: whether the (solved) step has a switch in it and is to be taken with theta = gamma = 1; true begins it anew in
** that way. A switch is a multiplier that is at another bound than lambda_k, or at one where lambda_k was at none.
*/
bool ns_euler_moreau_restarts(NsEulerMoreau *em);

/* The step that has begun is taken with theta = gamma = 1: the one before was the first, or had a switch in it. */
void ns_euler_moreau_make_implicit(NsEulerMoreau *em);

/* With `restart`: whether the (solved) step is the first, or has a switch in it. */
bool ns_euler_moreau_switched(const NsEulerMoreau *em);

/* dx (N): what the iterate is from x_k, 0 for algebraic states; the name of the system that element i belongs to. */
int ns_euler_moreau_order(const NsEulerMoreau *em);
void ns_euler_moreau_moved(const NsEulerMoreau *em, double *dx);
const char *ns_euler_moreau_name_of(const NsEulerMoreau *em, int i);

/*
** Accepts the solution of a short step as the start of a run: lambda, y and r of every object; of x only the algebraic states,
** those whose derivative is in no equation.
*/
void ns_euler_moreau_start(NsEulerMoreau *em);

/* Starts the iterate of the present step at x_k, lambda_k again. */
void ns_euler_moreau_restart(NsEulerMoreau *em);

/* Puts the multipliers of the iterate at lambda (m); its state stays. */
void ns_euler_moreau_place(NsEulerMoreau *em, const double *lambda);

/* f, h and g at the iterate, and the residual rho. */
NsStatus ns_euler_moreau_evaluate(NsEulerMoreau *em, NsError *err);

/* y and r alone: what a linear model needs before it is committed. */
NsStatus ns_euler_moreau_evaluate_relations(NsEulerMoreau *em, NsError *err);

/*
** The Jacobians at the iterate, W and its factors, W^-1 B, and the matrix of the one-step problem. What did not
** change is kept. NS_ESINGULAR.
*/
NsStatus ns_euler_moreau_linearize(NsEulerMoreau *em, NsError *err);

/*
** The one-step problem of the iterate: y = problem_matrix lambda + q. Needs evaluate and linearize. q has m
** elements.
*/
const double *ns_euler_moreau_matrix(const NsEulerMoreau *em);
void ns_euler_moreau_q(NsEulerMoreau *em, double *q);

/*
** Moves the iterate to x + s dx(lambda), lambda_a + s (lambda - lambda_a), 0 < s <= 1, from the point where q was
** formed.
*/
void ns_euler_moreau_advance(NsEulerMoreau *em, const double *lambda, double s);

/*
** How far the iterate (evaluated) is from the equations, `y` being what the one-step problem gave (m). Linearises at the
** iterate, and measures anew, when it does not pass and either the tolerance says `late`, or only rows keep it from passing; that
** measure counts when it passes.
*/
NsStepResidual ns_euler_moreau_residual(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance);

/* y at the (evaluated) iterate: m elements. */
const double *ns_euler_moreau_output(const NsEulerMoreau *em);

/*
** Where the solver of the one-step problem should start: lambda_k, moved into the law's set, then the last iterate.
*/
const double *ns_euler_moreau_guess(const NsEulerMoreau *em);

/* Whether every number of the iterate is finite; the name of the first system with one that is not goes to err. */
NsStatus ns_euler_moreau_finite(const NsEulerMoreau *em, NsError *err);

/*
** Accepts the (evaluated) iterate: writes x, r, y and lambda of every object. Evaluates h once more with
** gamma_in_relation.
*/
NsStatus ns_euler_moreau_commit(NsEulerMoreau *em, NsError *err);

/* Number of factorisations of W so far. */
long ns_euler_moreau_factorizations(const NsEulerMoreau *em);

#endif
