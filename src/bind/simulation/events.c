/*
** events.c
** The events of a log as tables.
*/
#include <string.h>

#include "bind/array/vector.h"
#include "bind/simulation/simulation.h"

static void push_event(lua_State *L, const NsEvent *event, const NsEventSlopes *slopes) {
  const struct {
    const char *name;
    double value;
  } numbers[] = {{"t", event->t},
                 {"before", event->before},
                 {"after", event->after},
                 {"impulse", event->impulse},
                 {"accumulation", event->accumulation}};
  bool user = event->kind == NS_EVENT_USER;
  int count = event->kind == NS_EVENT_REST ? 5 : event->kind == NS_EVENT_IMPACT ? 4 : 3;
  lua_createtable(L, 0, 8);
  nsl_set_string(L, "kind", ns_event_name(event->kind));
  nsl_set_string(L, "name", event->name);
  if (!user) nsl_set_string(L, "interaction", event->name);
  if (!user) nsl_set_integer(L, "component", event->component + 1);
  for (int k = 0; k < count; k++) nsl_set_number(L, numbers[k].name, numbers[k].value);
  if (!slopes || event->slope < 1 || event->slope > slopes->count) return;
  size_t p = (size_t)slopes->p;
  memcpy(nsl_push_vector(L, slopes->p, NULL)->data, slopes->dt + (size_t)(event->slope - 1) * p, p * sizeof(double));
  lua_setfield(L, -2, "dt");
}

void nsl_push_events(lua_State *L, const NsEvent *events, long count, const NsEventSlopes *slopes) {
  lua_createtable(L, (int)count, 0);
  for (long i = 0; i < count; i++) {
    push_event(L, &events[i], slopes);
    lua_rawseti(L, -2, i + 1);
  }
}
