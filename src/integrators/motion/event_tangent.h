/*
** event_tangent.h
** Derivatives of the motion of mechanics, its guards and its resets by the states, in closed form. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_vjp.h"

/*
** Exact are: forces and masses that are numbers, Lua functions that take dual numbers, or compiled functions; relations that are linear,
** have automatic derivatives, or are ready-made contacts (see ns_relation_curvature); friction. Not: modes with dependent constraints or
** with friction at the onset of slip; a contact's computeh. Then the functions below return *exact = false, and the caller takes differences.
*/
typedef struct NsMotionTangent NsMotionTangent;

/* For ed, a workspace that lives longer; vjp: its derivatives by parameters, or NULL. NS_ENOMEM. */
NsStatus ns_motion_tangent_new(NsMotionTangent **tangent, NsEventDriven *ed, NsMotionVjp *vjp, int p);
void ns_motion_tangent_free(NsMotionTangent *tangent);

/*
** J (n x n, n = Nq + Nv; NULL: not wanted) = the derivative of the rates by u; column j of P (n x p; NULL: not wanted) = that by
** parameter j, for those with known[j]. size (n): sizes of u; entries of J that are rounding at these sizes become 0. Fails as
** ns_ed_accelerate does.
*/
NsStatus ns_motion_tangent_terms(NsMotionTangent *tangent, double t, const double *u, const double *size, double *J, double *P,
                                 bool *known, bool *exact, NsError *err);

/* Whether the output of a row, or (row < 0) the forces of the present mode, can not depend on time at fixed u. */
bool ns_motion_tangent_still(const NsMotionTangent *tangent, int row);

/*
** gu (n) = the derivative by u of a guard of a row: the output, ns_ed_sliding_along, the guard of the forces (ns_motion_vjp_force).
** The outputs of the row, or the accelerations, have been evaluated.
*/
typedef NsStatus NsMotionGuardSlope(NsMotionTangent *tangent, double t, int row, const double *u, double *gu, bool *exact,
                                    NsError *err);
NsMotionGuardSlope ns_motion_tangent_output, ns_motion_tangent_sliding, ns_motion_tangent_force;

/* A (n x n) = the derivative by u of the state after an impulse that has been evaluated at (t, u). False: not exact, or h moves in time. */
bool ns_motion_tangent_impulse(NsMotionTangent *tangent, double t, const double *u, const NsMotionImpulse *impulse, double *A);

/* Column j of out (n x p) = its derivative by parameter j, with known[j]. */
void ns_motion_tangent_impulse_by_parameters(NsMotionTangent *tangent, double t, const double *u,
                                             const NsMotionImpulse *impulse, double *out, bool *known);

/* The same of ns_motion_project of n rows, which have been coupled. */
bool ns_motion_tangent_rest(NsMotionTangent *tangent, int places, int n, const int *rows, double *A);
