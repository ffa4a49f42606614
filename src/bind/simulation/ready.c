/*
** ready.c
** Before a simulation steps: whether it can, and the warnings about its start and end.
*/
#include <math.h>

#include "base/text.h"
#include "bind/call/callback.h"
#include "bind/simulation/simulation.h"
#include "simulation/run.h"

/* The type names of the classes; all have the metatable of the first. */
const NslType nsl_simulation_types[NS_SIMULATION_CLASSES] = {
#define X(name, ...) {name, NULL, NULL},
    NS_SIMULATION_LIST(X)
#undef X
};

NslTimeStepping *nsl_check_simulation(lua_State *L, int idx) {
  return nsl_check_family(L, idx, nsl_simulation_types, NS_SIMULATION_CLASSES, "simulation", "simu");
}

/* Raises when one of the four parts is closed: the memory is still there (the parts are anchored), but it is of no use. */
static void simulation_check_parts(lua_State *L, const NslTimeStepping *self) {
  for (int i = 0; i < NSL_TS_PARTS; i++)
    if (self->parts[i]->closed) luaL_error(L, "%s is closed", self->parts[i]->type->name);
}

static bool find_methods(lua_State *L, int callee, NsInteraction *inter, void *context) {
  (void)context;
  nsl_find_methods(L, callee);
  if (!inter) nsl_find_boundary_methods(L, callee);
  return true;
}

NslTimeStepping *nsl_ready_simulation(lua_State *L, int idx, const char *what) {
  idx = lua_absindex(L, idx);
  NslTimeStepping *self = nsl_check_simulation(L, idx);
  if (self->ts->nsds->busy) luaL_error(L, "%s: a step is being computed (called from inside a callback?)", what);
  simulation_check_parts(L, self);
  if (self->class_version != self->host->class_version) {
    nsl_each_callee(L, idx, NSL_TS_NSDS, find_methods, NULL);
    self->class_version = self->host->class_version;
  }
  nsl_renew_traces(L, self->host, self->ts->nsds);
  if (self->compile) nsl_compile_again(L, idx);
  return self;
}

NslTimeStepping *nsl_idle_simulation(lua_State *L, int idx, const char *what) {
  NslTimeStepping *self = nsl_ready_simulation(L, idx, what);
  if (self->ts->nsds->acting) luaL_error(L, "%s: a step is being computed (called from inside an action or observe?)", what);
  return self;
}

NslModelCall nsl_begin_model_call(lua_State *L, NslTimeStepping *self, bool busy) {
  NslModelCall call = {.clock = self->ts->progress.t, .err = {NS_OK, ""}};
  nsl_guard_begin(&call.guard, L);
  call.edge = nsl_enter(self->host, L, &self->ts->progress, busy ? self->ts->nsds : NULL);
  return call;
}

void nsl_end_model_call(lua_State *L, NslTimeStepping *self, NslModelCall *call, NsStatus status) {
  self->ts->progress.t = call->clock;
  nsl_leave(self->host, call->edge);
  nsl_guard_end(&call->guard, L);
  if (status == NS_OK) return;
  if (call->err.text[0] == '\0') (void)ns_fail(&call->err, status, "%s", ns_status_message(status));
  nsl_raise_step(L, &call->err);
}

void *nsl_new_on_simulation(lua_State *L, const NslType *type, size_t size) {
  NslTimeStepping *simulation = nsl_idle_simulation(L, 1, type->name);
  NslOnSimulation *self = nsl_new(L, type, size, 2);
  self->simulation = simulation;
  lua_pushvalue(L, 1);
  return lua_setiuservalue(L, -2, 1), self;
}

void *nsl_check_on_simulation(lua_State *L, const NslType *type) {
  NslOnSimulation *self = nsl_check(L, 1, type);
  lua_getiuservalue(L, 1, 1);
  return nsl_idle_simulation(L, -1, type->name), self;
}

/* Verbose mode: prints a line on stderr for each iteration. */
static void simulation_tell(void *context, const NsNewtonReport *r) {
  NslTimeStepping *self = context;
  const NsSolverInfo *s = r->solver;
  lua_writestringerror("%s", self->ts->problem ? ns_osnsp_name(self->ts->problem->kind) : "");
  if (r->island) lua_writestringerror(" of '%s'", r->island);
  char line[256];
  ns_print(line, sizeof line,
           ": t=%.10g step %ld newton %d: state residual %.3g, output residual %.3g; %s, %d iteration%s, residual "
           "%.3g%s\n",
           r->at.t, r->at.step, r->at.newton, r->residual.state, r->residual.output, s->solver ? s->solver : "?", s->iterations,
           s->iterations == 1 ? "" : "s", s->residual, r->damping < 1 ? ", damped" : "");
  lua_writestringerror("%s", line);
}

void nsl_listen(lua_State *L, int idx) {
  NslTimeStepping *self = lua_touserdata(L, idx);
  const NslOsnsp *osnsp = (const NslOsnsp *)self->parts[NSL_TS_OSNSP - 1];
  self->ts->listener = self->verbose || osnsp->verbose ? simulation_tell : NULL;
  self->ts->listener_context = self;
}

bool nsl_push_early_end(lua_State *L, const NsTimeStepping *ts) {
  char text[NS_EARLY_END];
  return ns_run_ends_early(ts, text) ? lua_pushstring(L, text), true : false;
}

void nsl_push_penetration(lua_State *L, const NsTimeStepping *ts, const NsInteraction *inter, int row) {
  char y[40];
  ns_print(y, sizeof y, "y[%d] = %.6g", row + 1, inter->y[row]);
  lua_pushfstring(
      L,
      "interaction '%s': it starts with %s, below 0: the laws of %s act on velocities and leave the gap there; start "
      "at 0 or above, or take a TimeSteppingDirectProjection",
      inter->name, y, ns_integrator_name(ts->integrator));
}

/*
** Least depth of a gap below 0, relative to its terms, that the first step warns about (2e-3; check() complains earlier): an
** initial state published with three digits is no mistake.
*/
static const double warned_part = 2e-3;

/* Warns of the callbacks of a system or relation that jump within steps. */
static bool warn_of_jumps(lua_State *L, int idx, NsInteraction *inter, void *context) {
  NslCallee *callee = lua_touserdata(L, idx);
  (void)inter, (void)context;
  for (int i = 0; i < callee->kind->nslots; i++) {
    if (!nsl_callback_jumps(&callee->callbacks[i])) continue;
    lua_pushfstring(
        L,
        "%s %s: it rounds the time to integers (floor, %%, fmod) and jumps within steps, which may not see it; take "
        "ns.sawtooth, ns.pwm or ns.clock, and ns.follow",
        nsl_callee_title(L, callee), callee->callbacks[i].slot->name);
    nsl_warn_once(L, lua_tostring(L, -1), lua_tostring(L, -1));
    lua_pop(L, 2);
  }
  return true;
}

/* Raises for a system with numbers that it can not have, as a mass matrix that is none. */
static void check_systems(lua_State *L, const NsNsds *nsds) {
  for (int d = 0; d < nsds->nds; d++) {
    NsError err = {NS_OK, ""};
    NsDs *ds = nsds->ds[d];
    if (ds->class->check && ds->class->check(ds, &err) != NS_OK) nsl_raise(L, &err);
  }
}

/* A failure of the preparation is left for the step itself to report. */
void nsl_warn_start(lua_State *L, int idx) {
  NslTimeStepping *self = lua_touserdata(L, idx);
  NsTimeStepping *ts = self->ts;
  if (self->start_told) return;
  check_systems(L, ts->nsds);
  self->start_told = true;
  NsError unheard = {NS_OK, ""};
  NslEdge edge = nsl_enter(self->host, L, &ts->progress, ts->nsds);
  nsl_each_callee(L, idx, NSL_TS_NSDS, warn_of_jumps, NULL);
  if (!ns_ts_may_keep_penetration(ts)) {
    nsl_leave(self->host, edge);
    return;
  }
  int row = 0;
  const NsInteraction *inter = ns_ts_prepare(ts, &unheard) == NS_OK ? ns_ts_penetrating(ts, warned_part, &row) : NULL;
  nsl_leave(self->host, edge);
  if (!inter) return;
  nsl_push_penetration(L, ts, inter, row);
  lua_pushfstring(L, "start of '%s'", inter->name); /* one warning for each contact, not for each depth */
  nsl_warn_once(L, lua_tostring(L, -1), lua_tostring(L, -2));
  lua_pop(L, 2);
}

static bool warn_idle(lua_State *L, int idx, bool left) {
  int top = lua_gettop(L);
  if (!nsl_push_hook(L, "idle managers")) return false;
  lua_getiuservalue(L, idx, NSL_TS_NSDS);
  lua_pushboolean(L, left);
  lua_call(L, 2, 1);
  bool told = lua_isstring(L, -1);
  if (told) nsl_warn_once(L, lua_tostring(L, -1), lua_tostring(L, -1));
  lua_settop(L, top);
  return told;
}

void nsl_warn_idle(lua_State *L, int idx) {
  NslTimeStepping *self = lua_touserdata(L, idx);
  if (self->end_told || ns_ts_has_next(self->ts) || self->ts->k < 2) return;
  self->end_told = true;
  warn_idle(L, idx, false);
}

void nsl_warn_left(lua_State *L, int idx) {
  NslTimeStepping *self = lua_touserdata(L, idx);
  if (!self->end_told) self->end_told = warn_idle(L, idx, true);
}

void nsl_warn_quickening(lua_State *L, int idx) {
  const NslTimeStepping *self = lua_touserdata(L, idx);
  NsQuickening found;
  if (!ns_event_log_quickens(&self->ts->log, &found)) return;
  char half[40];
  ns_print(half, sizeof half, "%.3g", found.half);
  lua_pushfstring(
      L,
      "interaction '%s' has switched %I times, the last half of them in a time of %s: the pace grows exponentially, as "
      "with a relay that acts through a lag; TimeStepping slides there",
      found.last->name, (LUAI_UACINT)found.count, half);
  lua_pushfstring(L, "pace of '%s'", found.last->name);
  nsl_warn_once(L, lua_tostring(L, -1), lua_tostring(L, -2));
  lua_pop(L, 2);
}
