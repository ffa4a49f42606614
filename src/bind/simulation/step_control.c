/*
** step_control.c
** The options of adaptive time stepping: rtol, atol, h_min, h_max.
*/
#include "bind/array/field.h"
#include "bind/simulation/simulation.h"
#include "simulation/adaptive.h"

/* The keys of an option table, and the fields. */
static const struct {
  const char *key, *field, *setter;
} control_options[] = {
    {"rtol", "rtol", "setRtol"}, {"atol", "atol", "setAtol"}, {"h_min", "hMin", "setHMin"}, {"h_max", "hMax", "setHMax"}};

enum { CONTROL_OPTIONS = sizeof control_options / sizeof *control_options };

/* Takes new options, or raises and keeps the old ones. */
static void control_take(lua_State *L, NsTimeStepping *ts, const NsAdaptiveOptions *wanted) {
  NsError err = {NS_OK, ""};
  NsAdaptiveOptions before = ts->adaptive;
  ts->adaptive = *wanted;
  if (ns_adaptive_check(ts, &err) == NS_OK) return;
  ts->adaptive = before;
  nsl_raise(L, &err);
}

void nsl_read_step_control(lua_State *L, int idx, NsTimeStepping *ts) {
  NsAdaptiveOptions wanted = ts->adaptive;
  for (int i = 0; i < CONTROL_OPTIONS; i++) {
    if (lua_getfield(L, idx, control_options[i].key) != LUA_TNIL)
      nsl_read_field(L, -1, ns_field_find(ns_adaptive_fields, control_options[i].field), &wanted, NULL, ts->class->name,
                     control_options[i].key);
    lua_pop(L, 1);
  }
  control_take(L, ts, &wanted);
}

static int control_get(lua_State *L) {
  int i = nsl_which(L);
  const NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  nsl_push_field(L, ns_field_find(ns_adaptive_fields, control_options[i].field), &ts->adaptive);
  return 1;
}

static int control_set(lua_State *L) {
  int i = nsl_which(L);
  NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  NsAdaptiveOptions wanted = ts->adaptive;
  lua_settop(L, 2);
  nsl_read_field(L, 2, ns_field_find(ns_adaptive_fields, control_options[i].field), &wanted, NULL, control_options[i].setter,
                 control_options[i].key);
  control_take(L, ts, &wanted);
  return 0;
}

void nsl_push_step_counts(lua_State *L, const NsTimeSteppingStats *stats) {
  nsl_set_integer(L, "accepted", stats->accepted);
  nsl_set_integer(L, "rejected", stats->rejected);
  nsl_set_integer(L, "forced", stats->forced);
  nsl_set_number(L, "h_least", stats->h_least);
  nsl_set_number(L, "h_most", stats->h_most);
}

void nsl_open_step_control(lua_State *L) {
  for (int i = 0; i < CONTROL_OPTIONS; i++) {
    nsl_set_variants(L, (NslVariant[]){{control_options[i].field, control_get, i}, {0}});
    nsl_set_variants(L, (NslVariant[]){{control_options[i].setter, control_set, i}, {0}});
  }
}
