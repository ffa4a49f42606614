/*
** event_schemes.c
** RungeKuttaOSI and RadauOSI: the classes that scripts see, and the tables of their forms.
*/
#include "integrators/event_schemes.h"

#include <math.h>

#include "integrators/flow/mode.h"

enum { EVENTS_SET = NS_FIELD_SETTER | NS_FIELD_CONSTANT, EVENTS_OUT_OF_REACH = NS_FIELD_HIDDEN | NS_FIELD_CONSTANT };

static const NsField event_fields[] = {
    NS_FIELD_A_NUMBER("rtol", NsEventOptions, rtol, 1e-14, 0.1, EVENTS_OUT_OF_REACH | NS_FIELD_SHOWN),
    NS_FIELD_A_NUMBER("atol", NsEventOptions, atol, 0, INFINITY, EVENTS_OUT_OF_REACH | NS_FIELD_ABOVE | NS_FIELD_SHOWN),
    NS_FIELD_A_NUMBER("contactTolerance", NsEventOptions, tolerance, 0, INFINITY, EVENTS_SET | NS_FIELD_ABOVE),
    NS_FIELD_A_NUMBER("maxStep", NsEventOptions, max_step, 0, INFINITY, EVENTS_SET | NS_FIELD_ABOVE | NS_FIELD_OPTIONAL),
    NS_FIELD_A_COUNT("maxEvents", NsEventOptions, max_events, 1, 1000000000, EVENTS_SET),
    NS_FIELD_A_WORD("ambiguity", NsEventOptions, ambiguity, ns_ambiguity_words, EVENTS_SET),
    NS_FIELD_A_FLAG("atol in units", NsEventOptions, atol_in_units, EVENTS_OUT_OF_REACH),
    NS_FIELD_A_FLAG("contactTolerance in units", NsEventOptions, tolerance_in_units, EVENTS_OUT_OF_REACH),
    NS_FIELD_END};

static const char *const event_arguments[] = {"rtol?", "atol?", "maxStep?", NULL};
static const char *const event_tolerances[] = {"rtol?", "atol?", NULL};
static const NsFieldGroup event_group = {"tolerances", event_tolerances};

const NsEventOptions ns_event_defaults = {
    .rtol = 1e-12, .atol = 1e-14, .tolerance = 1e-12, .max_step = NAN, .max_events = 1000000};

/* A tolerance that a script sets is in units; the default is relative. */
static void event_given(void *object, const NsField *field) {
  NsEventOptions *o = object;
  if (field->offset == offsetof(NsEventOptions, atol)) o->atol_in_units = true;
  if (field->offset == offsetof(NsEventOptions, tolerance)) o->tolerance_in_units = true;
}

static const char *event_words(const NsIntegrator *integrator) {
  (void)integrator;
  return ": rtol {rtol}, atol {atol}";
}

/* ---- RungeKuttaOSI ---- */

const char ns_event_stops_of_steps[] =
    "a callback that jumps needs a relation and a law for its switch, and a gain with a vertical tangent at its switch, as "
    "sqrt|y| of super-twisting, is for TimeStepping with EulerMoreauOSI";

const char ns_scheme_runge_kutta_text[] = "RungeKuttaOSI";

static const NsSchemeClass *const runge_kutta_forms[NS_FAMILIES] = {
    [NS_FIRST_ORDER] = &ns_form_switching_dop853, [NS_MECHANICS] = &ns_form_motion};

const NsSchemeClass ns_scheme_runge_kutta = {.name = ns_scheme_runge_kutta_text,
                                             .bytes = sizeof(NsEventOptions),
                                             .defaults = &ns_event_defaults.base,
                                             .fields = event_fields,
                                             .arguments = event_arguments,
                                             .group = &event_group,
                                             .given = event_given,
                                             .words = event_words,
                                             .forms = runge_kutta_forms,
                                             .locates = true,
                                             .whole = true};

/* ---- RadauOSI ---- */

static const NsField radau_fields[] = {
    NS_FIELD_A_NUMBER("rtol", NsEventOptions, rtol, 1e-14, 0.1, EVENTS_OUT_OF_REACH | NS_FIELD_SHOWN),
    NS_FIELD_A_NUMBER("atol", NsEventOptions, atol, 0, INFINITY, EVENTS_OUT_OF_REACH | NS_FIELD_ABOVE | NS_FIELD_SHOWN),
    NS_FIELD_A_NUMBER("maxStep", NsEventOptions, max_step, 0, INFINITY, EVENTS_SET | NS_FIELD_ABOVE | NS_FIELD_OPTIONAL),
    NS_FIELD_A_COUNT("maxEvents", NsEventOptions, max_events, 1, 1000000000, EVENTS_SET),
    NS_FIELD_A_WORD("ambiguity", NsEventOptions, ambiguity, ns_ambiguity_words, EVENTS_SET),
    NS_FIELD_A_FLAG("atol in units", NsEventOptions, atol_in_units, EVENTS_OUT_OF_REACH),
    NS_FIELD_END};

/* A method of order 5 needs 10 times as many steps for each 4 digits: the tolerances are wider than RungeKuttaOSI's. */
static const NsEventOptions radau_defaults = {
    .rtol = 1e-8, .atol = 1e-10, .tolerance = 1e-12, .max_step = NAN, .max_events = 1000000};

const char ns_scheme_radau_text[] = "RadauOSI";

static const NsSchemeClass *const radau_forms[NS_FAMILIES] = {[NS_FIRST_ORDER] = &ns_form_switching_radau};

const NsSchemeClass ns_scheme_radau = {.name = ns_scheme_radau_text,
                                       .bytes = sizeof(NsEventOptions),
                                       .defaults = &radau_defaults.base,
                                       .fields = radau_fields,
                                       .arguments = event_arguments,
                                       .group = &event_group,
                                       .given = event_given,
                                       .words = event_words,
                                       .forms = radau_forms,
                                       .locates = true,
                                       .whole = true};
