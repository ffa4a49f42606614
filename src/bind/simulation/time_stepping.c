/*
** time_stepping.c
** TimeStepping: stepping by hand, options, accounts.
*/
#include "bind/lua/open.h"
#include "bind/array/field.h"
#include "bind/array/linear_systems.h"
#include "bind/lua/options.h"
#include "bind/simulation/simulation.h"
#include "simulation/adaptive.h"
#include "simulation/start.h"

static NsTimeStepping *engine(lua_State *L) {
  return nsl_check_simulation(L, 1)->ts;
}

/* The keys of the option table of a simulation: its parts, then the options of nsl_read_step_control. */
static const char *const simulation_options[] = {"nsds", "grid",  "integrator", "problem", "rtol",
                                                 "atol", "h_min", "h_max",      "compile", NULL};

/*
** Brings the arguments into the form (nsds, td, osi, osnspb, more, more, options), seven values. The options come last among the
** arguments, or are the only one and contain the parts, too.
*/
static void take_arguments(lua_State *L, const NsSimulationClass *class) {
  int given = lua_gettop(L), most = class->settle ? 6 : 4;
  if (given == most + 1 && lua_isnil(L, given)) lua_settop(L, --given);
  bool options = given > 0 && nsl_is_options(L, given);
  if (options) nsl_check_options(L, given, class->name, simulation_options + (given == 1 ? 0 : NSL_TS_PARTS));
  if (options && given == 1) {
    for (int i = 0; i < NSL_TS_PARTS; i++) lua_getfield(L, 1, simulation_options[i]);
    lua_rotate(L, 1, -1);
    given = NSL_TS_PARTS + 1;
  }
  if (!options) {
    nsl_at_most(L, most, class->name);
    lua_settop(L, 7);
    return;
  }
  if (given - 1 > most) luaL_error(L, "%s: expected at most %d arguments and a table, got %d", class->name, most, given);
  lua_insert(L, 1);
  lua_settop(L, 7);
  lua_rotate(L, 1, -1);
}

/* The option `compile` of the table at 5; without it, what nslua --compile says. */
static void read_compile(lua_State *L, NslTimeStepping *self, const char *who) {
  lua_getfield(L, LUA_REGISTRYINDEX, "nslua.compile");
  if (lua_istable(L, 5) && lua_getfield(L, 5, "compile") != LUA_TNIL) {
    if (!lua_isboolean(L, -1)) nsl_bad(L, who, "compile", "a boolean", -1);
    lua_replace(L, -2);
  }
  self->compile = lua_toboolean(L, -1);
  lua_settop(L, 6);
}

/*
** Arguments: (nsds, td, osi [, osnspb] [, options]), or one option table. Without a one-step problem the simulation gets one that accepts every law. Upvalues:
** the module, the class. A simulation with projection takes two more arguments, osnspb_pos and level; they are checked but not
** used, because the projection has its own solver at position level.
*/
static int new_simulation(lua_State *L) {
  const NsSimulationClass *class = lua_touserdata(L, lua_upvalueindex(2));
  take_arguments(L, class);
  if (!lua_isnil(L, 5)) nsl_check_osnsp(L, 5);
  if (!lua_isnil(L, 6)) nsl_integer(L, 6, class->name, "level");
  lua_replace(L, 5);
  lua_settop(L, 5);
  NslNsds *nsds = nsl_check_nsds(L, 1);
  NslTimeGrid *grid = nsl_check_time_grid(L, 2);
  NslOsi *osi = nsl_check_osi(L, 3);
  if (lua_isnil(L, 4)) {
    bool mechanics = ns_scheme_form(osi->integrator->class, NS_MECHANICS);
    lua_getfield(L, lua_upvalueindex(1), mechanics ? "GenericMechanical" : "MLCP");
    lua_call(L, 0, 1);
    lua_replace(L, 4);
  }
  NslOsnsp *osnsp = nsl_check_osnsp(L, 4);
  NslTimeStepping *self = nsl_new(L, &nsl_simulation_types[0], sizeof *self, NSL_TS_USERVALUES);
  self->head.type = &nsl_simulation_types[class - ns_simulation_classes];
  nsl_remember_object(L, 6); /* for the calls of its events */
  for (int i = 1; i <= NSL_TS_PARTS; i++) {
    lua_pushvalue(L, i);
    lua_setiuservalue(L, 6, i);
    self->parts[i - 1] = lua_touserdata(L, i);
  }
  NsError err = {NS_OK, ""};
  self->host = nsl_host(L);
  nsl_count_memory(L, ns_ts_workspace_size(nsds->nsds));
  if (ns_ts_new(&self->ts, class, nsds->nsds, grid->grid, osi->integrator, osnsp->problem, &err) != NS_OK) nsl_raise(L, &err);
  if (lua_istable(L, 5)) nsl_read_step_control(L, 5, self->ts);
  read_compile(L, self, class->name);
  if (nsl_push_early_end(L, self->ts) && ns_ts_end_shows(self->ts)) {
    lua_pushfstring(L, "%s: %s", class->name, lua_tostring(L, -1));
    nsl_warn_once(L, lua_tostring(L, -1), lua_tostring(L, -1));
  }
  lua_settop(L, 6);
  return 1;
}

/* An error without a text. To clear all of the text would take as long as a tenth of a small step. */
static void no_error(NsError *err) {
  err->status = NS_OK;
  err->text[0] = '\0';
}

static int ts_compute(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "computeOneStep");
  NsError err;
  no_error(&err);
  nsl_warn_start(L, 1);
  nsl_listen(L, 1);
  NslEdge edge = nsl_enter(self->host, L, &self->ts->progress, NULL);
  NsStatus status = ns_ts_compute_step(self->ts, &err);
  nsl_leave(self->host, edge);
  nsl_advise(L, 1, &err);
  return status == NS_OK ? 0 : nsl_raise_step(L, &err);
}

/* ns_ts_next_step; who minds contacts then may call functions of the script. */
static NsStatus ts_accept(lua_State *L, NslTimeStepping *self, NsError *err) {
  if (!self->ts->nsds->minder) return ns_ts_next_step(self->ts, err);
  NslEdge edge = nsl_enter(self->host, L, &self->ts->progress, self->ts->nsds);
  NsStatus status = ns_ts_next_step(self->ts, err);
  nsl_leave(self->host, edge);
  return status;
}

static int ts_next(lua_State *L) {
  NslTimeStepping *self = nsl_check_simulation(L, 1);
  NsError err;
  no_error(&err);
  if (self->ts->nsds->busy) luaL_error(L, "nextStep: a step is being computed (called from inside a callback?)");
  if (self->ts->nsds->acting) luaL_error(L, "nextStep: a step is being computed (called from inside an action or observe?)");
  if (ts_accept(L, self, &err) != NS_OK) return nsl_raise_step(L, &err);
  nsl_warn_idle(L, 1);
  return 0;
}

/* Reads the option `consistent` of the table at 2, if any. */
static bool read_consistent(lua_State *L) {
  static const char *const known[] = {"consistent", NULL};
  if (lua_isnoneornil(L, 2)) return false;
  nsl_check_options(L, 2, "initialize", known);
  lua_getfield(L, 2, "consistent");
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1)) nsl_bad(L, "initialize", "consistent", "a boolean", -1);
  bool consistent = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return consistent;
}

/* initialize([{consistent = true}]) */
static int ts_initialize(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "initialize");
  bool consistent = read_consistent(L);
  NsError err = {NS_OK, ""};
  nsl_warn_start(L, 1);
  NslEdge edge = nsl_enter(self->host, L, &self->ts->progress, self->ts->nsds);
  NsStatus status = ns_ts_prepare(self->ts, &err);
  nsl_leave(self->host, edge);
  if (status == NS_OK && consistent) {
    edge = nsl_enter(self->host, L, &self->ts->progress, NULL);
    status = ns_ts_find_start(self->ts, &err);
    nsl_leave(self->host, edge);
  }
  return status == NS_OK ? 0 : nsl_raise_step(L, &err);
}

static int ts_has_next(lua_State *L) {
  return lua_pushboolean(L, ns_ts_has_next(engine(L))), 1;
}

static int ts_next_time(lua_State *L) {
  return lua_pushnumber(L, ns_ts_next_time(engine(L))), 1;
}

static int ts_time(lua_State *L) {
  return lua_pushnumber(L, ns_ts_time(engine(L))), 1;
}

static int ts_step_size(lua_State *L) {
  NsTimeStepping *ts = engine(L);
  return lua_pushnumber(L, ns_time_grid_step(ts->grid, ts->k)), 1;
}

static int ts_step(lua_State *L) {
  return lua_pushinteger(L, engine(L)->k), 1;
}

static int ts_steps_total(lua_State *L) {
  return lua_pushinteger(L, ns_ts_steps(engine(L))), 1;
}

/* The iterator of steps(): accepts the computed step, computes the next one, and returns its number and time. */
static int ts_iterate(lua_State *L) {
  NsTimeStepping *ts = engine(L);
  NsError err = {NS_OK, ""};
  lua_settop(L, 1);
  if (ts->computed && ts_accept(L, lua_touserdata(L, 1), &err) != NS_OK) nsl_raise_step(L, &err);
  if (!ns_ts_has_next(ts)) return nsl_warn_idle(L, 1), lua_pushnil(L), 1;
  ts_compute(L);
  lua_pushinteger(L, ts->k + 1);
  lua_pushnumber(L, ns_ts_next_time(ts));
  return 2;
}

static const char loop_name[] = "nslua.loop";

/* Closes the loop of steps(). A loop that `break` leaves may never come to the end, where managers are told of; an error is told itself. */
static int ts_leave_loop(lua_State *L) {
  luaL_checkudata(L, 1, loop_name);
  if (!lua_isnoneornil(L, 2)) return 0;
  lua_getiuservalue(L, 1, 1);
  return nsl_warn_left(L, lua_gettop(L)), 0;
}

static int ts_steps(lua_State *L) {
  nsl_idle_simulation(L, 1, "steps");
  lua_pushcfunction(L, ts_iterate);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  lua_newuserdatauv(L, 0, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, loop_name);
  return 4;
}

static int ts_reset(lua_State *L) {
  ns_ts_reset(nsl_idle_simulation(L, 1, "reset")->ts);
  return 0;
}

/* ---- options ---- */

/* Reads the number at idx into a field of the options. */
static void read_step_option(lua_State *L, int idx, const NsField *fields, const char *name, void *options, const char *who,
                             const char *what) {
  nsl_read_field(L, idx, ns_field_find(fields, name), options, NULL, who, what);
}

/* Methods that set one number of Newton's: the method, its field, the argument in messages. */
static const struct {
  const char *method, *field, *what;
} newton_setters[] = {{"setNewtonMaxIteration", "most iterations", "iterations"},
                      {"setNewtonAbsoluteResidual", "absolute residual", "residual"},
                      {"setMaxSubsteps", "most parts of a step", "substeps"}};

enum { NEWTON_SETTERS = sizeof newton_setters / sizeof *newton_setters };

static int ts_set_newton(lua_State *L) {
  int i = nsl_which(L);
  NsTimeStepping *ts = engine(L);
  read_step_option(L, 2, ns_newton_fields, newton_setters[i].field, &ts->newton, newton_setters[i].method,
                   newton_setters[i].what);
  return 0;
}

/* setNewtonTolerance(relative [, absolute]); absolute: 0 by default. */
static int ts_set_newton_tolerance(lua_State *L) {
  NsTimeStepping *ts = engine(L);
  const char *who = "setNewtonTolerance";
  NsNewtonOptions wanted = ts->newton;
  wanted.atol = 0;
  read_step_option(L, 2, ns_newton_fields, "relative tolerance", &wanted, who, "relative tolerance");
  if (!lua_isnoneornil(L, 3))
    read_step_option(L, 3, ns_newton_fields, "absolute tolerance", &wanted, who, "absolute tolerance");
  ts->newton = wanted;
  return 0;
}

/* setConstraintTolerance(tolerance [, iterations]): when the projection stops; in the units of y. */
static int ts_set_constraint_tolerance(lua_State *L) {
  NsTimeStepping *ts = engine(L);
  const char *who = "setConstraintTolerance";
  NsProjectionOptions wanted = ts->projection;
  wanted.absolute = true;
  read_step_option(L, 2, ns_projection_fields, "tolerance", &wanted, who, "tolerance");
  if (!lua_isnoneornil(L, 3)) read_step_option(L, 3, ns_projection_fields, "most iterations", &wanted, who, "iterations");
  ts->projection = wanted;
  return 0;
}

/* setComputeResiduY and setComputeResiduR are accepted without effect: every residual is always tested. */
static int ts_accept_flag(lua_State *L) {
  engine(L);
  if (!lua_isboolean(L, 2)) nsl_bad(L, "setComputeResidu", "flag", "a boolean", 2);
  return 0;
}

static int ts_set_verbose(lua_State *L) {
  NslTimeStepping *self = nsl_check_simulation(L, 1);
  if (!lua_isboolean(L, 2)) nsl_bad(L, "setVerbose", "verbose", "a boolean", 2);
  self->verbose = lua_toboolean(L, 2);
  return 0;
}

/* ---- accounts ---- */

static int ts_newton_iterations(lua_State *L) {
  return lua_pushinteger(L, engine(L)->newton_iterations), 1;
}

/* The relative residuals of the last iterate: of the state, of the output. */
static int ts_newton_residual(lua_State *L) {
  NsTimeStepping *ts = engine(L);
  lua_pushnumber(L, ts->residual.state);
  lua_pushnumber(L, ts->residual.output);
  return 2;
}

static int ts_stats(lua_State *L) {
  const NsTimeStepping *ts = engine(L);
  const struct {
    const char *name;
    long value;
  } counts[] = {{"steps", ts->stats.steps},
                {"newton_iterations", ts->stats.newton_iterations},
                {"max_newton_iterations", ts->stats.max_newton},
                {"solver_iterations", ts->stats.solver_iterations},
                {"substeps", ts->stats.substeps},
                {"damped_steps", ts->stats.damped_steps},
                {"linear_steps", ts->stats.linear_steps},
                {"factorizations", ts->stats.factorizations}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) nsl_set_integer(L, counts[i].name, counts[i].value);
  if (ts->class->settle) {
    nsl_set_integer(L, "unsettled_steps", ts->stats.unsettled_steps);
    nsl_set_number(L, "unsettled", ts->stats.unsettled);
  }
  if (ns_adaptive_asked(&ts->adaptive)) nsl_push_step_counts(L, &ts->stats);
  return 1;
}

/* energy(): a table of the energies of the accepted state, and of the work since the first call, which starts the account. */
static int ts_energy(lua_State *L) {
  NslTimeStepping *self = nsl_ready_simulation(L, 1, "energy");
  NsTimeStepping *ts = self->ts;
  NsError err = {NS_OK, ""};
  double kinetic, potential;
  NslEdge edge = nsl_enter(self->host, L, &ts->progress, ts->nsds);
  NsStatus status = ns_ts_energy(ts, &kinetic, &potential, &err);
  if (status == NS_OK && !ts->accounting) ns_ts_account(ts);
  if (status == NS_OK) status = ns_ts_account_changes(ts, &err);
  nsl_leave(self->host, edge);
  if (status != NS_OK) return nsl_raise_step(L, &err);
  const struct {
    const char *name;
    double value;
  } entries[] = {{"kinetic", kinetic},
                 {"potential", potential},
                 {"total", kinetic + potential},
                 {"forces", ts->energy.forces},
                 {"damping", ts->energy.damping},
                 {"impacts", ts->energy.impacts},
                 {"friction", ts->energy.friction},
                 {"boundary", ts->energy.boundary},
                 {"numerical", ts->energy.numerical}};
  lua_createtable(L, 0, 9);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) nsl_set_number(L, entries[i].name, entries[i].value);
  return 1;
}

/* events(): a table for each event up to the present state, in order of time. */
static int ts_events(lua_State *L) {
  const NsTimeStepping *ts = engine(L);
  if (!ns_integrator_drives(ts->integrator) && ts->user.count == 0 && ts->log.count == 0)
    luaL_error(L, "events: a %s with a %s has none; EventDriven locates them", ts->class->name,
               ns_integrator_name(ts->integrator));
  nsl_push_events(L, ts->log.events, ts->log.count, NULL);
  return 1;
}

/* nsds(), timeDiscretisation(), osi(), osnspb(). */
static int ts_part(lua_State *L) {
  nsl_check_simulation(L, 1);
  return lua_getiuservalue(L, 1, nsl_which(L)), 1;
}

/* Releases the one-step problem for use by another simulation. All parts still exist here, unless the Lua state is closing. */
static void simulation_release(lua_State *L, NslTimeStepping *self) {
  if (!self->ts) return;
  lua_getiuservalue(L, 1, NSL_TS_OSNSP);
  const NslOsnsp *osnsp = lua_touserdata(L, -1);
  if (!osnsp || !osnsp->problem) self->ts->problem = NULL;
  lua_pop(L, 1);
  ns_ts_free(self->ts);
  self->ts = NULL;
}

static int ts_close(lua_State *L) {
  NslTimeStepping *self = nsl_check_simulation(L, 1);
  if (self->ts->nsds->busy) luaL_error(L, "close: a step is being computed (called from inside a callback?)");
  if (self->ts->nsds->acting) luaL_error(L, "close: a step is being computed (called from inside an action or observe?)");
  if (self->ts->nsds->observed) luaL_error(L, "close: a row of a run is being recorded (called from inside observe?)");
  self->head.closed = true;
  simulation_release(L, self);
  return 0;
}

static int ts_gc(lua_State *L) {
  NslTimeStepping *self = lua_touserdata(L, 1);
  self->head.closed = true;
  simulation_release(L, self);
  return 0;
}

static int ts_tostring(lua_State *L) {
  NslTimeStepping *self = lua_touserdata(L, 1);
  const char *name = self->head.type->name;
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", name), 1;
  nsl_pushf(L, "%s: step %I of %I, t = %f", name, (lua_Integer)self->ts->k, (lua_Integer)ns_ts_steps(self->ts),
            ns_ts_time(self->ts));
  return 1;
}

static int ts_display(lua_State *L) {
  nsl_check_simulation(L, 1);
  lua_settop(L, 1);
  luaL_tolstring(L, 1, NULL);
  static const char *const labels[] = {"model", "grid", "integrator", "one-step problem"};
  for (int i = 1; i <= NSL_TS_PARTS; i++) {
    lua_pushstring(L, labels[i - 1]);
    lua_getiuservalue(L, 1, i);
  }
  return nsl_display(L, 2);
}

static const luaL_Reg methods[] = {{"computeOneStep", ts_compute},
                                   {"advanceToEvent", ts_compute},
                                   {"nextStep", ts_next},
                                   {"initialize", ts_initialize},
                                   {"hasNextEvent", ts_has_next},
                                   {"nextTime", ts_next_time},
                                   {"startingTime", ts_time},
                                   {"timeStep", ts_step_size},
                                   {"currentTimeStep", ts_step_size},
                                   {"step", ts_step},
                                   {"numberOfSteps", ts_steps_total},
                                   {"steps", ts_steps},
                                   {"run", nsl_simulation_run},
                                   {"check", nsl_simulation_check},
                                   {"clone", nsl_simulation_clone},
                                   {"reset", ts_reset},
                                   {"save_state", nsl_simulation_save},
                                   {"load_state", nsl_simulation_load},
                                   {"setNewtonTolerance", ts_set_newton_tolerance},
                                   {"setConstraintTolerance", ts_set_constraint_tolerance},
                                   {"setComputeResiduY", ts_accept_flag},
                                   {"setComputeResiduR", ts_accept_flag},
                                   {"setVerbose", ts_set_verbose},
                                   {"newtonIterations", ts_newton_iterations},
                                   {"getNewtonNbIterations", ts_newton_iterations},
                                   {"newtonResidual", ts_newton_residual},
                                   {"stats", ts_stats},
                                   {"energy", ts_energy},
                                   {"events", ts_events},
                                   {"addEvent", nsl_simulation_add_event},
                                   {"every", nsl_simulation_every},
                                   {"discrete", nsl_simulation_discrete},
                                   {"on", nsl_simulation_on},
                                   {"removeEvent", nsl_simulation_remove_event},
                                   {"userEvents", nsl_simulation_user_events},
                                   {"display", ts_display},
                                   {"close", ts_close},
                                   {NULL, NULL}};

static const luaL_Reg meta[] = {{"__gc", ts_gc}, {"__close", ts_close}, {"__tostring", ts_tostring}, {NULL, NULL}};

void nsl_open_time_stepping(lua_State *L) {
  static const NslVariant parts[] = {{"nsds", ts_part, NSL_TS_NSDS},
                                     {"timeDiscretisation", ts_part, NSL_TS_GRID},
                                     {"osi", ts_part, NSL_TS_OSI},
                                     {"osnspb", ts_part, NSL_TS_OSNSP},
                                     {NULL, NULL, 0}};
  static const luaL_Reg loop_meta[] = {{"__close", ts_leave_loop}, {NULL, NULL}};
  int module = lua_gettop(L);
  luaL_newmetatable(L, loop_name);
  luaL_setfuncs(L, loop_meta, 0);
  lua_pop(L, 1);
  nsl_register_type(L, &nsl_simulation_types[0], meta, methods);
  luaL_getmetatable(L, nsl_simulation_types[0].name);
  lua_getfield(L, -1, "__index");
  nsl_set_variants(L, parts);
  for (int i = 0; i < NEWTON_SETTERS; i++)
    nsl_set_variants(L, (NslVariant[]){{newton_setters[i].method, ts_set_newton, i}, {0}});
  nsl_open_step_control(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, module, "simulation_methods"); /* for the methods that are written in Lua */
  lua_pop(L, 2);
  for (int i = 0; i < NS_SIMULATION_CLASSES; i++) {
    lua_pushvalue(L, -1);
    lua_pushlightuserdata(L, (void *)(size_t)&ns_simulation_classes[i]);
    lua_pushcclosure(L, new_simulation, 2);
    lua_setfield(L, -2, ns_simulation_classes[i].name);
  }
}
