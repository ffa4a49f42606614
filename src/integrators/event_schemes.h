/*
** event_schemes.h
** The integrators that go from event to event: their options, and their forms for the families of systems.
*/
#pragma once

#include "integrators/scheme.h"
#include "integrators/flow/mode.h"

/*
** The options of RungeKuttaOSI and RadauOSI. A form reads those that its models need. D1MinusLinearOSI has this struct, too,
** with the default values.
*/
typedef struct NsEventOptions {
  NsIntegrator base;
  double rtol, atol; /* error tolerances of a step: 1e-12, 1e-14 */
  double tolerance;  /* mechanics, 1e-12: a contact with y <= tolerance is closed; y never falls below -2 tolerance */
  double max_step;   /* longest step, and length of the shortest feature that is seen for certain; NAN: automatic */
  int max_events;    /* limit in one step of the grid */
  int ambiguity;     /* an NsAmbiguity: what to do where the next mode is not unique */
  bool atol_in_units, tolerance_in_units;
} NsEventOptions;

extern const NsEventOptions ns_event_defaults;

/* The forms: motion/ for mechanics; flow/ for models of first order, with DOP853 or Radau between events. */
extern const NsSchemeClass ns_form_motion, ns_form_switching_dop853, ns_form_switching_radau;

/* What stops the steps of a motion between two events, and what to do. */
extern const char ns_event_stops_of_steps[];
