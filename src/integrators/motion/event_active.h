/*
** event_active.h
** Accelerations with the active constraints, and the tolerances of contacts. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/*
** Sliding in space counts as nearly stopped below this part of its largest velocity in the run. 1e-6: the direction u / |u| has an
** error of 1e-10 there, and turns by less than 1e-6 before u is 0.
*/
#define NS_NEARLY_STOPPED 1e-6

/* A guard of sticking counts as 0 below this part of its scale: 500 spacings, the rounding of forces that cancel. */
#define NS_ROUNDING_OF_FORCES 1e-13

/*
** Takes the bounds and the coefficients of friction at t, where some are functions of time. NS_EARG for a bound that becomes infinite
** or finite; NS_ECALLBACK.
*/
NsStatus ns_ed_read_bounds(NsEventDriven *ed, double t, NsError *err);

/* The law of friction that begins in this row at the velocity u of the slip along d; takes its coefficient, where it depends on u. */
const NsLaw *ns_ed_law(const NsEventDriven *ed, int row);
void ns_ed_take_friction(NsEventDriven *ed, int row, double u);

/* Fails: a function of the script has no coefficient of friction for this row. */
NsStatus ns_ed_no_friction(const NsEventDriven *ed, int row, NsError *err);

/* The friction of a row in an impulse, after which it slips with the velocity u. */
NsLawFriction ns_ed_impulse_friction(const NsEventDriven *ed, int row, double u);

/* Computes the accelerations with the active constraints at (t, q, v): ed->mode->lambda, ed->acceleration. */
NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err);

/*
** Adds to a (Nv) the rounding of the forces of friction that slips, 4 spacings of each, where it is more than the accepted part of the
** acceleration. There these forces and others nearly cancel, as when slip has just begun.
*/
void ns_ed_add_slip_noise(const NsEventDriven *ed, double accepted, double *a);

/* force (m) = the forces of all rows at the last accelerations: multipliers, and what friction that slips adds. */
void ns_ed_forces(const NsEventDriven *ed, double *force);

/* The y below which a contact counts as closed. */
double ns_ed_tolerance(const NsEventDriven *ed, int row);

/*
** The rounding error of y: the rounding of its terms, or the drift in a step of the motion of length h: y'' = 0 of a body that others hold
** has the rounding of its terms, and y has h^2 times that. The drift matters where y = 0 has no terms of its own.
*/
double ns_ed_rounding(const NsEventDriven *ed, int row);
void ns_ed_measure_drift(NsEventDriven *ed, double h);

/* The level of a row that touches with this y. Rounding of y above the level is no event. */
double ns_ed_touching_level(const NsEventDriven *ed, int row, double y);

/* The time resolution: max_step, or 1/RESOLVED of the run. It limits the steps where a force may depend on time. */
double ns_ed_resolution(const NsEventDriven *ed);

/* The sliding speed |u| of friction that begins in this row; its velocity along the direction d of sliding. */
double ns_ed_sliding_speed(const NsEventDriven *ed, int row);
double ns_ed_sliding_along(const NsEventDriven *ed, int row);

/* Whether friction that slips in space has the direction of u now; else the direction d, or that of the onset of slip. */
bool ns_ed_turns_with_slip(const NsEventDriven *ed, int row);

/* The onset of slip ends where the force that would make the friction stick reaches a limit: the limit minus this force. */
double ns_ed_onset_guard(const NsEventDriven *ed, int row);

/* Whether friction that begins to slip in space with the acceleration a is at the onset of slip; size: sum of the |terms| of a. */
bool ns_ed_begins_onset(const NsEventDriven *ed, double a, double size);
