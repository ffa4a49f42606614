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

int nsl_simulation_save(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "save_state");
  Job job = {.path = nsl_path(L, 2, "save_state", "file")};
  bind_checkpoint_check_idle(L, self, "save_state");
  if (!lua_isnoneornil(L, 3)) {
    if (lua_type(L, 3) != LUA_TSTRING) nsl_bad(L, "save_state", "note", "a string", 3);
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

/* Pushes a piece of a checkpoint, nil when there is none. */
static int push_bytes(lua_State *L) {
  const NsOrigin *piece = lua_touserdata(L, 1);
  if (piece->size > 0) lua_pushlstring(L, piece->bytes, piece->size);
  else lua_pushnil(L);
  return 1;
}

/* Pushes the piece and frees all of them. */
static void push_checkpoint_piece(lua_State *L, NsCheckpoint *pieces, NsOrigin piece) {
  lua_pushcfunction(L, push_bytes);
  lua_pushlightuserdata(L, &piece);
  int status = lua_pcall(L, 1, 1, 0);
  ns_checkpoint_clear(pieces);
  if (status != LUA_OK) lua_error(L);
}

/*
** Has the contacts that come and go linked as in the file: pushes a function that links those before again, or nil. A file that can
** not be read is left to what reads its state.
*/
static void push_file_links(lua_State *L, int simulation, const char *path) {
  NsCheckpoint pieces;
  NsError err = {NS_OK, ""};
  bool hooked = nsl_push_hook(L, "contacts");
  if (!hooked || ns_checkpoint_read(path, &pieces, &err) != NS_OK) {
    lua_settop(L, lua_gettop(L) - hooked), lua_pushnil(L);
    return;
  }
  lua_getiuservalue(L, simulation, NSL_TS_NSDS);
  lua_pushstring(L, path);
  push_checkpoint_piece(L, &pieces, (NsOrigin){pieces.links, pieces.links_size});
  lua_call(L, 3, 1);
}

void nsl_call_relinked(lua_State *L, const char *path, int nargs, int nresults) {
  int f = lua_gettop(L) - nargs;
  push_file_links(L, f + 1, path);
  lua_insert(L, f);
  int status = lua_pcall(L, nargs, nresults, 0);
  if (status != LUA_OK) {
    lua_insert(L, f);
    if (lua_isnil(L, f + 1)) lua_pop(L, 1);
    else lua_call(L, 0, 0);
    lua_error(L);
  }
  lua_remove(L, f);
}

int nsl_simulation_take_state(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "load_state");
  Job job = {.path = nsl_path(L, 2, "load_state", "file"), .any_constants = read_constants(L, 3)};
  bind_checkpoint_check_idle(L, self, "load_state");
  bind_checkpoint_run(L, self, bind_checkpoint_load, &job, "load_state");
  bool previous = job.pieces.previous;
  push_checkpoint_piece(L, &job.pieces, (NsOrigin){job.pieces.note, job.pieces.note_size});
  lua_pushstring(L, previous ? "previous" : "current");
  return 2;
}

int nsl_simulation_load(lua_State *L) {
  const NslTimeStepping *self = nsl_idle_simulation(L, 1, "load_state");
  const char *path = nsl_path(L, 2, "load_state", "file");
  (void)read_constants(L, 3);
  bind_checkpoint_check_idle(L, self, "load_state");
  lua_settop(L, 3);
  lua_pushcfunction(L, nsl_simulation_take_state);
  lua_insert(L, 1);
  nsl_call_relinked(L, path, 3, 2);
  return 2;
}
