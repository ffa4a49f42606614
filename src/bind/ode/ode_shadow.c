/*
** ode_shadow.c
** Traces of plain Lua functions for their derivatives, compared with the functions along the way.
*/
#include "bind/ode/ode_shadow.h"

#include <string.h>

#include "bind/diff/compile.h"

/* Traces the function at stack index `function` with these arguments; NULL when that is not possible. */
static NslTrace *shadow_trace(NslOde *ode, int function, int nargs, const NslTraceArg *args, double t, const double *y) {
  return nsl_push_plain_trace(ode->L, function, nargs, args, nsl_ode_inputs(ode, t, y), true);
}

void nsl_ode_shadow_f(NslOde *ode, NslShadow *shadow, double t, const double *y) {
  NslTraceArg args[NS_PATHS_ARGS];
  *shadow = (NslShadow){.trace = ode->trace};
  if (ode->trace || !lua_isfunction(ode->L, ode->f)) return;
  int nargs = nsl_ode_trace_arguments(ode, args);
  if (nargs < 0 || nargs >= NS_PATHS_ARGS) return;
  args[nargs] = (NslTraceArg){NSL_TRACE_VECTOR, ode->n, 1, ode->rate->label, 0};
  NslTrace *trace = shadow_trace(ode, ode->f, nargs + 1, args, t, y);
  if (!trace || trace->result == NSL_RESULT_NOTHING || trace->fn.outputs != ode->n) return;
  shadow->trace = trace;
  shadow->plain = true;
}

void nsl_ode_shadow_event(NslOde *ode, NslShadow *shadow, int e, double t, const double *y) {
  NslTraceArg args[NS_PATHS_ARGS];
  *shadow = (NslShadow){.trace = ode->event_trace ? ode->event_trace[e] : NULL};
  if (shadow->trace) return;
  int nargs = nsl_ode_trace_arguments(ode, args);
  if (nargs < 0) return;
  lua_rawgeti(ode->L, ode->events, e + 1);
  NslTrace *trace = lua_isfunction(ode->L, -1) ? shadow_trace(ode, lua_gettop(ode->L), nargs, args, t, y) : NULL;
  if (!trace || trace->result != NSL_RESULT_NUMBERS || trace->fn.outputs != 1) return;
  shadow->trace = trace;
  shadow->plain = true;
}

/* Sets the inputs to (t, y). Returns whether the function is to be called. */
static bool shadow_begin(NslOde *ode, NslShadow *shadow, double t, const double *y) {
  memcpy(shadow->trace->fn.in, nsl_ode_inputs(ode, t, y), (size_t)shadow->trace->fn.inputs * sizeof *y);
  return nsl_shadow_asks(shadow);
}

bool nsl_ode_shadow_holds_f(NslOde *ode, NslShadow *shadow, double t, const double *y, NsStatus *status, NsError *err) {
  *status = NS_OK;
  if (!shadow->plain) shadow->trace = ode->trace;
  if (!shadow->trace) return false;
  if (!shadow_begin(ode, shadow, t, y)) return true;
  *status = nsl_ode_rate(ode, t, y, ode->plain, err);
  if (*status == NS_OK && !ns_paths_agrees(&shadow->trace->fn, ode->plain)) shadow->trace = NULL;
  return *status == NS_OK && shadow->trace;
}

bool nsl_ode_shadow_holds_event(NslOde *ode, NslShadow *shadow, int e, double t, const double *y, NsStatus *status,
                                NsError *err) {
  double value;
  *status = NS_OK;
  if (!shadow->plain) shadow->trace = ode->event_trace ? ode->event_trace[e] : NULL;
  if (!shadow->trace) return false;
  if (!shadow_begin(ode, shadow, t, y)) return true;
  *status = nsl_ode_event(ode, e, t, y, &value, err);
  if (*status == NS_OK && !ns_paths_agrees(&shadow->trace->fn, &value)) shadow->trace = NULL;
  return *status == NS_OK && shadow->trace;
}
