/*
** checkpoint.c
** simu:save_state(file [, note]), simu:load_state(file [, options]).
*/
#include "simulation/checkpoint.h"

#include "bind/simulation/simulation.h"

/* Raises inside a step, whose state is half written. */
static void bind_checkpoint_check_idle(lua_State *L, const NslTimeStepping *self, const char *what) {
  if (self->ts->nsds->busy) luaL_error(L, "%s: a step is being computed (called from inside a callback?)", what);
}

typedef struct Job {
  const char *path, *note;
  size_t note_size;
  bool any_constants;
  NsCheckpoint pieces;
} Job;

typedef NsStatus Work(NsTimeStepping *ts, Job *job, NsError *err);

static NsStatus bind_checkpoint_save(NsTimeStepping *ts, Job *job, NsError *err) {
  return ns_ts_save(ts, job->path, job->note, job->note_size, err);
}

static NsStatus bind_checkpoint_load(NsTimeStepping *ts, Job *job, NsError *err) {
  return ns_ts_load(ts, job->path, job->any_constants, &job->pieces, err);
}

/* Runs `work`, which may call callbacks for the first outputs. Raises what they raise. */
static void bind_checkpoint_run(lua_State *L, NslTimeStepping *self, Work *work, Job *job, const char *what) {
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(self->host, L, &self->ts->progress, self->ts->nsds);
  NsStatus status = work(self->ts, job, &err);
  nsl_leave(self->host, edge);
  if (status == NS_EIO || status == NS_EARG) luaL_error(L, "%s: %s", what, err.text);
  if (status != NS_OK) nsl_raise_step(L, &err);
}

static const char *check_string(lua_State *L, int idx, const char *who, const char *what) {
  if (lua_type(L, idx) != LUA_TSTRING) nsl_bad(L, who, what, "a string", idx);
  return lua_tostring(L, idx);
}

int nsl_simulation_save(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "save_state");
  Job job = {.path = nsl_path(L, 2, "save_state", "file")};
  bind_checkpoint_check_idle(L, self, "save_state");
  if (!lua_isnoneornil(L, 3)) {
    check_string(L, 3, "save_state", "note");
    job.note = lua_tolstring(L, 3, &job.note_size);
  }
  bind_checkpoint_run(L, self, bind_checkpoint_save, &job, "save_state");
  return 0;
}

static bool read_constants(lua_State *L, int idx) {
  static const char *const known[] = {"constants", NULL};
  bool any = false;
  if (lua_isnoneornil(L, idx)) return false;
  if (!lua_istable(L, idx)) nsl_bad(L, "load_state", "options", "a table", idx);
  nsl_check_options(L, idx, "load_state", known);
  if (lua_getfield(L, idx, "constants") != LUA_TNIL) {
    if (!lua_isboolean(L, -1)) nsl_bad(L, "load_state", "constants", "a boolean", -1);
    any = !lua_toboolean(L, -1);
  }
  lua_pop(L, 1);
  return any;
}

/* Pushes the note of a checkpoint, nil when there is none. */
static int push_note(lua_State *L) {
  const NsCheckpoint *pieces = lua_touserdata(L, 1);
  if (pieces->note_size > 0) lua_pushlstring(L, pieces->note, pieces->note_size);
  else lua_pushnil(L);
  return 1;
}

int nsl_simulation_load(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "load_state");
  Job job = {.path = nsl_path(L, 2, "load_state", "file"), .any_constants = read_constants(L, 3)};
  bind_checkpoint_check_idle(L, self, "load_state");
  bind_checkpoint_run(L, self, bind_checkpoint_load, &job, "load_state");
  bool previous = job.pieces.previous;
  lua_pushcfunction(L, push_note);
  lua_pushlightuserdata(L, &job.pieces);
  int status = lua_pcall(L, 1, 1, 0);
  ns_checkpoint_clear(&job.pieces);
  if (status != LUA_OK) return lua_error(L);
  lua_pushstring(L, previous ? "previous" : "current");
  return 2;
}
