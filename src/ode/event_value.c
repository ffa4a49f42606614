/*
** event_value.c
** The values of events along a dense output.
*/
#include "ode/event_value.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { PLACES = 8 }; /* places at which is looked whether an event has left zero */

void ns_event_text(const NsEvents *events, int event, char text[NS_EVENT_TEXT]) {
  const char *name = events->names ? events->names[event] : NULL;
  if (name) snprintf(text, NS_EVENT_TEXT, "event %d (%.50s)", event + 1, name);
  else snprintf(text, NS_EVENT_TEXT, "event %d", event + 1);
}

NsStatus ns_event_search_value(NsEventSearch *s, int event, double t, const double *y, double *g, NsError *err) {
  NsStatus status = s->events.value(s->events.context, event, t, y, g, err);
  if (status != NS_OK || !isnan(*g)) return status;
  char text[NS_EVENT_TEXT];
  ns_event_text(&s->events, event, text);
  return ns_fail(err, NS_ENAN, "%s is nan (t=%.10g)", text, t);
}

NsStatus ns_event_search_sought(NsEventSearch *s, int event, double t, const double *y, double *g, NsError *err) {
  NsStatus status = ns_event_search_value(s, event, t, y, g, err);
  *g -= s->offset[event];
  return status;
}

NsStatus ns_event_search_grain(NsEventSearch *s, int e, double *grain, NsError *err) {
  static const double ROUNDINGS = 8 * DBL_EPSILON;
  double t = s->dense.t_old, g, moved;
  NsStatus status = s->dense.at(s->dense.context, t, s->y, err);
  if (status == NS_OK) status = ns_event_search_value(s, e, t, s->y, &g, err);
  if (status == NS_OK) status = ns_event_search_value(s, e, t * (1 + ROUNDINGS), s->y, &moved, err);
  if (status == NS_OK) *grain = fabs(moved - g);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    double y = s->y[i];
    s->y[i] = y * (1 + ROUNDINGS);
    status = ns_event_search_value(s, e, t, s->y, &moved, err);
    s->y[i] = y;
    if (status == NS_OK) *grain += fabs(moved - g);
  }
  return status;
}

NsStatus ns_event_search_largest(NsEventSearch *s, int e, double t, double *most, NsError *err) {
  const NsDenseOutput *c = &s->dense;
  NsStatus status = NS_OK;
  *most = 0;
  for (int k = 1; k <= PLACES && status == NS_OK; k++) {
    double at = c->t_old + (t - c->t_old) * k / PLACES, g = 0;
    status = c->at(c->context, at, s->y, err);
    if (status == NS_OK) status = ns_event_search_sought(s, e, at, s->y, &g, err);
    *most = fmax(*most, fabs(g));
  }
  return status;
}
