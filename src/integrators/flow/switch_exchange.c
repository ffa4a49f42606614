/*
** switch_exchange.c
** Models of first order for a solver outside of the engine: rates and guards in a mode, and what happens at events. The states z are
** the differential states s.
*/
#include <string.h>

#include "integrators/flow/flow_workspace.h"
#include "integrators/flow/switching.h"

/*
** The rest of an accumulation that is passed over, a part of the time of the last events or of the time in which a state changes by its
** size. 1e-7: such a solver has a tolerance of 1e-6 or so, and can not go to the spacing of numbers.
*/
static const double EXCHANGE_REST = 1e-7;

static void exchange_flow_sizes(const NsScheme *scheme, int *states, int *guards) {
  const NsSwitching *sw = (const NsSwitching *)scheme;
  *states = sw->run.n;
  *guards = 2 * sw->m;
}

static void exchange_flow_name(const NsScheme *scheme, int i, int *system, char *letter, int *number) {
  const NsSwitching *sw = (const NsSwitching *)scheme;
  *system = ns_flow_differential(sw->flow, i, number)->index;
  *letter = *number < 0 ? 's' : 'x';
}

/* ---- a point ---- */

/* Guard k at the last evaluation: above 0 in the mode. */
static double exchange_flow_guard(const NsSwitching *sw, int k) {
  return sw->mode->guards[k].used ? ns_switch_guard(sw, &sw->mode->guards[k]) - sw->mode->guards[k].base : 1;
}

/* Coefficients that do not depend on time are read as well: another tool may change them between events. */
static NsStatus exchange_flow_go_to(NsSwitching *sw, double t, NsError *err) {
  *sw->run.clock = t;
  return ns_flow_update(sw->flow, t, err);
}

static NsStatus exchange_flow_rate(NsScheme *scheme, double t, const double *z, double *rate, double *guards, NsError *err) {
  NsSwitching *sw = (NsSwitching *)scheme;
  NsStatus status = exchange_flow_go_to(sw, t, err);
  if (status == NS_OK && rate) status = ns_flow_rate(sw->flow, t, z, rate, err);
  if (status == NS_OK && guards) status = ns_flow_outputs(sw->flow, t, z, err);
  for (int k = 0; k < 2 * sw->m && guards && status == NS_OK; k++) guards[k] = exchange_flow_guard(sw, k);
  return status;
}

static NsStatus exchange_flow_place(NsScheme *scheme, double t, const double *z, NsError *err) {
  NsSwitching *sw = (NsSwitching *)scheme;
  NsStatus status = exchange_flow_go_to(sw, t, err);
  return status == NS_OK ? ns_flow_evaluate(sw->flow, t, z, NULL, err) : status;
}

/* ---- steps and events ---- */

static NsStatus exchange_flow_begin(NsScheme *scheme, const NsStep *step, const NsDrive *drive, double *z, NsError *err) {
  NsSwitching *sw = (NsSwitching *)scheme;
  NsStatus status = ns_switch_start(&sw->run, step, drive, err);
  sw->coarse = EXCHANGE_REST;
  sw->usual = step->h;
  if (status == NS_OK) status = ns_switch_start_guards(sw, err);
  if (status == NS_OK) memcpy(z, sw->run.u, (size_t)sw->run.n * sizeof *z);
  return status;
}

static NsStatus exchange_flow_accept(NsScheme *scheme, double t, const double *z, bool *event, NsError *err) {
  NsSwitching *sw = (NsSwitching *)scheme;
  NsStatus status = exchange_flow_rate(scheme, t, z, sw->room.rate, NULL, err);
  if (status == NS_OK) status = ns_flow_outputs(sw->flow, t, z, err);
  *event = false;
  for (int k = 0; k < 2 * sw->m && status == NS_OK; k++) *event = *event || exchange_flow_guard(sw, k) <= 0;
  if (status != NS_OK || *event) return status;
  ns_flow_note(sw->flow, z, sw->now->lambda);
  ns_switch_set_levels(sw, false);
  return NS_OK;
}

/* The state z at t, projected on the constraints of the mode, becomes the present one; time does not go on from here. */
static NsStatus exchange_flow_take(NsSwitching *sw, double t, const double *z, NsError *err) {
  memcpy(sw->run.u, z, (size_t)sw->run.n * sizeof *z);
  sw->run.t = sw->run.t_next = *sw->run.clock = t;
  sw->run.t_k = sw->run.base.nsds->t0;
  sw->run.handled = 0;
  memset(sw->slope, 0, 2 * (size_t)sw->m * sizeof *sw->slope);
  return ns_flow_project(sw->flow, t, sw->run.u, err);
}

/* Reads the laws and M anew, and goes on from the memories. */
static NsStatus exchange_flow_renew(NsSwitching *sw, double t, NsError *err) {
  int nd = sw->run.n;
  sw->run.t = sw->run.t_next = *sw->run.clock = t;
  NsStatus status = ns_flow_begin(sw->flow, t, sw->usual, err);
  if (status == NS_OK && sw->now->nd != nd) return ns_fail(err, NS_EARG, "the rank of M has changed at t=%g", t);
  return status == NS_OK ? ns_switch_begin(sw, err) : status;
}

static NsStatus exchange_flow_event(NsScheme *scheme, double t, double *z, const bool *passed, bool renew, NsError *err) {
  NsSwitching *sw = (NsSwitching *)scheme;
  NsStatus status = NS_OK;
  int first = -1;
  for (int k = 0; k < 2 * sw->m && first < 0; k++)
    if (passed[k]) first = k;
  if (first < 0 && !renew) return NS_OK;
  if (first >= 0) status = exchange_flow_take(sw, t, z, err);
  if (first >= 0 && status == NS_OK) status = ns_switch_handle(&sw->run, first, err);
  if (status == NS_OK && renew) status = exchange_flow_renew(sw, t, err);
  if (status == NS_OK) status = ns_switch_start_guards(sw, err);
  if (status == NS_OK) memcpy(z, sw->run.u, (size_t)sw->run.n * sizeof *z);
  return status;
}

static void exchange_flow_visit(NsScheme *scheme, NsVisitor visitor, void *context) {
  NsSwitching *sw = (NsSwitching *)scheme;
  visitor(context, "guards", &sw->mode->stuck, sw->mode->bytes);
  ns_flow_visit(sw->flow, visitor, context);
}

static void exchange_flow_resume(NsScheme *scheme) {
  ns_flow_resume(((NsSwitching *)scheme)->flow);
}

const NsSchemeExchange ns_switch_exchange = {.sizes = exchange_flow_sizes,
                                             .name = exchange_flow_name,
                                             .begin = exchange_flow_begin,
                                             .rate = exchange_flow_rate,
                                             .accept = exchange_flow_accept,
                                             .event = exchange_flow_event,
                                             .place = exchange_flow_place,
                                             .visit = exchange_flow_visit,
                                             .resume = exchange_flow_resume};
