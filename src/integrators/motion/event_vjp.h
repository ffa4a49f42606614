/*
** event_vjp.h
** Derivatives of the motion of mechanics, its guards and its impulses by numbers of the model, in closed form. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"
#include "integrators/sensitivity.h"

/* What holds for the impulse z of a closed row, where w = W z + (1 + e) u-: z = 0; w = 0; friction at its bound. */
typedef enum ImpulseKind { IMPULSE_NONE, IMPULSE_EQUATION, IMPULSE_SLIP, IMPULSE_SLIP_IN_SPACE } ImpulseKind;

/*
** The numbers of the list are: mass, K, C, constant fExt and z of Lagrangian systems, also where callbacks with exact derivatives
** (`exact` of NsFunction) take z; C and e of linear relations between them; all numbers of the laws. By differences are: all other
** numbers; z that callbacks of relations use, and in masses at impacts; all numbers in modes with dependent constraints or with friction at the onset of slip;
** mass and C of relations where rows come to rest; C of a relation while its friction slips in space; mass, C of relations and
** numbers of laws in impacts that are dependent, or that slip in space.
*/
typedef struct NsMotionVjp NsMotionVjp;

/* What is differentiated: mu . a + force . (the multipliers of the active rows). */
typedef struct NsMotionWeights {
  const double *mu;    /* Nv; NULL: 0 */
  const double *force; /* m; NULL: 0 */
} NsMotionWeights;

/* An impulse z of closed rows that has been evaluated, with the derivatives A of its equations by z. */
typedef struct NsMotionImpulse {
  int n;
  const int *rows;
  const ImpulseKind *kind;
  const bool *bounces;
  const double *z, *W, *A; /* n, n x n, n x n */
  const double *slide;     /* n: the z of the run, whose signs the friction that slips has */
  const double *sliding;   /* n: the velocities after the impulse, with the restitution */
} NsMotionImpulse;

/* Looks for the parameters in the model of ed, a workspace that lives longer. NS_ENOMEM. */
NsStatus ns_motion_vjp_new(NsMotionVjp **vjp, NsEventDriven *ed, const NsParameter *parameters, int p);
void ns_motion_vjp_free(NsMotionVjp *vjp);

/*
** The derivatives by parameter j where ed has evaluated the accelerations last, of M a = F + H' lambda (push, Nv) and of H_h a + bias =
** 0 (off, m, by row; both 0 on entry) at fixed u, a and lambda, as right sides: push = dF + dH' lambda - dM a, off = -dH a. ns_motion_vjp_begin comes first.
** False: they are not in the list.
*/
void ns_motion_vjp_begin(NsMotionVjp *vjp, double t, const double *u);
void ns_motion_vjp_look(NsMotionVjp *vjp, double t, const double *u); /* the outputs alone */
bool ns_motion_vjp_source(NsMotionVjp *vjp, int j, double t, const double *u, double *push, double *off);

/* out (p) and known (p) = 0. */
void ns_motion_vjp_nothing(const NsMotionVjp *vjp, double *out, bool *known);

/*
** out (p) = the derivatives at fixed states u where ed has evaluated the accelerations last, for those parameters with known[j] (p);
** out and known of the others are 0.
*/
void ns_motion_vjp(NsMotionVjp *vjp, double t, const double *u, const NsMotionWeights *weights, double *out, bool *known);

/* The same of the output of a row; of ns_ed_sliding_along. Accelerations need not be evaluated. */
void ns_motion_vjp_output(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known);
void ns_motion_vjp_sliding(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known);

/* The same of the guard of the forces of a row: ns_motion_stick_guard where its friction sticks, else the multiplier of an active row. */
void ns_motion_vjp_force(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known);

/* Its derivatives by the coefficient of friction and by the bounds of a relay, at fixed forces. */
typedef struct NsForceSlope {
  double mu, lower, upper;
} NsForceSlope;

/* weight (m, zeros) = its derivatives by the multipliers, at the last accelerations. */
NsForceSlope ns_motion_force_weights(const NsEventDriven *ed, int row, double *weight);

/*
** How parameter j changes M dv = H' z by push (Nv), and the equations of z by off (m, by row; both 0 on entry), at fixed z and dv = change:
** H dv + (1 + e) H v = 0, and z = mu z_n of friction that slips. *acts: it does. False: it is not in the list. ns_motion_vjp_look comes first.
*/
bool ns_motion_vjp_impulse(const NsMotionVjp *vjp, const NsMotionImpulse *impulse, int j, const double *v, const double *change,
                           double *push, double *off, bool *acts);

/* Rows come to rest: out is 0 for the parameters that have no effect on it. */
void ns_motion_vjp_rest(NsMotionVjp *vjp, double *out, bool *known);
