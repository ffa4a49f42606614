/*
** event_reset.h
** The resets of mechanics with fixed active sets, for derivatives by parameters. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_vjp.h"
#include "integrators/motion/event_sensitivity.h"
#include "integrators/motion/event_tangent.h"

/* A copy of the workspace of event-driven integration: the workspace of the run is not touched. */
typedef struct NsMotionLinearisation {
  NsLinearisation lin;
  NsArena arena;
  NsEventDriven *ed;
  double clock;
  double *size;                 /* Nq + Nv: largest |u| in the run */
  double *u;                    /* Nq + Nv: before the event */
  NsMotionMode *mode_before;    /* workspace of a comparison */
  double *direction;            /* m x 2: of friction in space, see keep_directions */
  double *fitting;              /* Nq + Nv: a state that fits the constraints */
  bool holds;                   /* S does not change in the last piece, see ns_sensitivity_holds */
  NsLinearisationGuard *guards; /* m + 1 */
  int hit;                      /* the row of the event */
  bool acted;                   /* the event has had impulses or rest */

  /* impulses: rows, their kinds, and whether the restitution acts; impulses; the linear problem */
  int nclosed, *closed;
  ImpulseKind *kind;
  bool *bounces;
  double *z, *z_run, *q, *residual, *step, *sliding, *W, *A;

  int n, places, *rows; /* rows that come to rest */
  NsMotionVjp *vjp;
  NsMotionTangent *tangent;
  double t_event; /* the time of the last event */
  bool rough;     /* F_u has no closed form in this mode */
} NsMotionLinearisation;

/* For the family of ed, which lives longer. A linearisation that could not be made is there, too, to be freed. NS_ENOMEM. */
NsStatus ns_ed_lin_new(NsMotionLinearisation **lin, NsEventDriven *ed, const NsParameter *parameters, int p, NsError *err);
void ns_ed_lin_free(void *lin);

/* Notes whether rows that are active depend on each other at (t, u), which fits the constraints. */
NsStatus ns_ed_find_dependent(NsMotionLinearisation *w, double t, const double *u, NsError *err);

/* impact and reset of an NsGivenMode. */
NsStatus ns_ed_given_impact(void *lin, int hit, double t, const double *before, const double *after, double *ways, bool *known,
                            NsError *err);
NsStatus ns_ed_given_reset(void *lin, const double *ways, double t, const double *u, double *after, double *A, bool *exact,
                           double *B, bool *known, NsError *err);

/* terms, slope, reset, vjp and vjp_guard of NsLinearisation; the context is an NsMotionLinearisation. */
NsStatus ns_ed_lin_terms(void *context, double t, const double *u, double *J, double *P, bool *known, bool *exact,
                         NsError *err);
NsStatus ns_ed_lin_slope(void *context, int row, double t, const double *u, double *gu, bool *still, bool *exact, NsError *err);
NsStatus ns_ed_lin_reset(void *context, NsLinearisationMap map, double t, const double *u, double *A, bool *exact,
                         NsError *err);
NsStatus ns_ed_lin_vjp(void *context, double t, const double *u, const double *mu, double *out, bool *known, NsError *err);
NsStatus ns_ed_lin_vjp_guard(void *context, int row, double t, const double *u, double *out, bool *known, NsError *err);

/* The vjp_map of NsLinearisation for the maps of ns_ed_sense_impulse and ns_ed_sense_rest; the context is an NsMotionLinearisation. */
NsStatus ns_ed_vjp_map(void *context, NsLinearisationMap map, double t, const double *u, double *out, bool *known,
                       NsError *err);

/*
** The accelerations at *u. Where rows that are active depend on each other, *u becomes the nearest state at which they hold: they have no
** solution at others. S is tangent to the states at which they hold, so its equations stay the same.
*/
NsStatus ns_ed_lin_accelerate(NsMotionLinearisation *w, double t, const double **u, NsError *err);

/* The guard of a row, as an NsLinearisationMap; the context is an NsMotionLinearisation. */
NsStatus ns_ed_lin_guard(void *context, int row, double t, const double *u, double *out, NsError *err);

/*
** The start of a run (event_start.c). ns_ed_check_start: NS_EARG when a contact is closed, and a parameter moves its y, or, where it is at
** rest, its u. ns_ed_sense_start_rest: S after the rest of rows, when it is known which of them are active. ns_ed_check_start_forces: NS_EARG
** when friction sticks at the limit of its force, and a parameter moves it beyond; in the mode after the start.
*/
NsStatus ns_ed_check_start(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_sense_start_rest(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_check_start_forces(NsEventDriven *ed, NsError *err);

/* S after the rest of the rows in the linearisation. */
NsStatus ns_ed_sense_rest_of(NsEventDriven *ed, NsError *err);
