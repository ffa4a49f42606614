/*
** run.c
** simu:run{...}: the loop in C, with progress on a terminal and Ctrl-C.
*/
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "bind/file/files_hdf5.h"
#include "bind/lua/sigint.h"
#include "bind/lua/interpreter.h"
#include "bind/simulation/discrete.h"
#include "bind/simulation/sensitivities.h"
#include "io/checkpoint.h"
#include "simulation/checkpoint.h"
#include "simulation/run.h"

/* ---- progress ---- */

typedef struct Progress {
  double start;
  double shown; /* time of the last line, in seconds after start; 0: none yet */
  long first;
} Progress;

/* Shows the progress on the terminal, five times a second, when a run has taken a second. */
static void bind_run_show(void *context, const NsTimeStepping *ts) {
  Progress *progress = context;
  double elapsed = ns_clock_now() - progress->start;
  long done = ts->k - progress->first, left = ns_ts_steps(ts) - ts->k;
  if (elapsed < 1 || elapsed < progress->shown + 0.2 || done == 0) return;
  progress->shown = elapsed;
  char line[128];
  ns_print(line, sizeof line, "\rt = %.6g, step %ld of %ld, %.0f s to go \033[K", ns_ts_time(ts), ts->k, ns_ts_steps(ts),
           elapsed / (double)done * (double)left);
  fputs(line, stderr);
  fflush(stderr);
}

/* Whether Ctrl-C has ended a run at the prompt; then the prompt itself ends the line, after the terminal's ^C. */
static bool ends_at_prompt(bool signalled) {
  return signalled && &nsi_interpreter && nsi_interpreter.prompted();
}

/* ---- run ---- */

typedef struct Options {
  long every;
  bool progress, partial, dense, grid;
  NsRunCheckpoints checkpoints;
  const char *stream;   /* anchored by the table of options; NULL: none */
  const NsHdf5 *hdf5;   /* when the stream is a .h5 file; else NULL */
  bool solver;          /* columns tell of the one-step problems */
  bool resume, resumed; /* resume: the option; resumed: there was a checkpoint */
  NsRunSensitivities sensitivities;
  int parameters;        /* stack index of the list of their names, which anchors them; 0: none */
  NslObserver *observer; /* of the option observe; at index 2, where it replaces (and anchors) the options; NULL: none */
} Options;

static bool bind_run_flag(lua_State *L, int idx, const char *name, bool otherwise) {
  bool value = otherwise;
  if (lua_getfield(L, idx, name) != LUA_TNIL) {
    if (!lua_isboolean(L, -1)) nsl_bad(L, "run", name, "a boolean", -1);
    value = lua_toboolean(L, -1);
  }
  lua_pop(L, 1);
  return value;
}

/* The number of steps in an option; `otherwise` when it is absent. */
static long bind_run_count(lua_State *L, int idx, const char *name, long otherwise) {
  long value = otherwise;
  if (lua_getfield(L, idx, name) != LUA_TNIL) {
    lua_Integer given = nsl_integer(L, -1, "run", name);
    if (given < 1) luaL_error(L, "run: %s: expected 1 or more, got %I", name, given);
    value = (long)given;
  }
  lua_pop(L, 1);
  return value;
}

/* Reads the checkpoint options. `every`: the distance between checkpoints, in steps or as "10s"; 10 s by default. */
static NsRunCheckpoints read_checkpoints(lua_State *L, int idx) {
  NsRunCheckpoints c = {NULL, 0, 10};
  if (lua_getfield(L, idx, "checkpoint") == LUA_TNIL) return lua_pop(L, 1), c;
  c.path = nsl_path(L, -1, "run", "checkpoint"); /* kept by the table of options */
  lua_pop(L, 1);
  if (lua_getfield(L, idx, "every") == LUA_TSTRING) {
    c.seconds = ns_run_seconds(lua_tostring(L, -1));
    if (c.seconds == 0)
      luaL_error(L, "run: every: expected a number of steps or a time such as \"10s\", \"5m\", \"1h\", got \"%s\"",
                 lua_tostring(L, -1));
  } else if (!lua_isnil(L, -1)) {
    c.steps = bind_run_count(L, idx, "every", 1);
    c.seconds = 0;
  }
  lua_pop(L, 1);
  return c;
}

/* Raises when the checkpoint would overwrite the stream, and when the file name does not tell its format. */
static void check_stream(lua_State *L, const Options *options) {
  const char *stream = options->stream, *ending = strrchr(stream, '.'), *checkpoint = options->checkpoints.path;
  bool device = strncmp(stream, "/dev/", 5) == 0; /* gets the text of a .csv file */
  if (checkpoint && strcmp(checkpoint, stream) == 0) luaL_error(L, "run: stream: '%s' is the file of the checkpoint", stream);
  if (checkpoint && ns_checkpoint_replaces(checkpoint, stream))
    luaL_error(L, "run: stream: '%s' is a file of the checkpoint '%s', which would replace it", stream, checkpoint);
  if (!device && !nsl_is_hdf5(stream) && (!ending || strcmp(ending, ".csv") != 0))
    luaL_error(L, "run: stream: '%s': expected a name that ends in .csv or .h5 (sol:save writes .npy and .npz)", stream);
}

/* Whether the grid alone gives the rows. */
static bool rows_on_grid(lua_State *L, int idx) {
  int type = lua_getfield(L, idx, "rows");
  const char *rows = type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  bool grid = rows && strcmp(rows, "grid") == 0, all = type == LUA_TNIL || (rows && strcmp(rows, "all") == 0);
  if (!grid && !all && rows) luaL_error(L, "run: rows: expected \"all\" or \"grid\", got \"%s\"", rows);
  if (!grid && !all) nsl_bad(L, "run", "rows", "\"all\" or \"grid\"", -1);
  lua_pop(L, 1);
  return grid;
}

static Options bind_run_read_options(lua_State *L, int idx) {
  static const char *const known[] = {"every",   "record", "checkpoint",    "stream", "resume", "progress", "partial",
                                      "observe", "dense",  "sensitivities", "rows",   "solver", NULL};
  Options options = {.every = 1, .progress = isatty(STDERR_FILENO) != 0};
  if (lua_isnoneornil(L, idx)) return options;
  if (!lua_istable(L, idx)) nsl_bad(L, "run", "options", "a table", idx);
  int top = lua_gettop(L);
  bool old_record = lua_getfield(L, idx, "checkpoint") == LUA_TNIL && lua_getfield(L, idx, "every") != LUA_TNIL;
  lua_settop(L, top);
  nsl_check_options(L, idx, "run", known + old_record); /* without a checkpoint, `every` is the old name of `record` */
  options.checkpoints = read_checkpoints(L, idx);
  options.every = bind_run_count(L, idx, "record", options.every);
  if (lua_getfield(L, idx, "stream") != LUA_TNIL) options.stream = nsl_path(L, -1, "run", "stream");
  lua_pop(L, 1);
  if (options.stream) check_stream(L, &options);
  if (options.stream && nsl_is_hdf5(options.stream)) options.hdf5 = nsl_hdf5(L, "run: stream", options.stream);
  options.resume = bind_run_flag(L, idx, "resume", false);
  options.progress = bind_run_flag(L, idx, "progress", options.progress);
  options.partial = bind_run_flag(L, idx, "partial", false);
  options.dense = bind_run_flag(L, idx, "dense", false);
  options.grid = rows_on_grid(L, idx);
  options.solver = bind_run_flag(L, idx, "solver", false);
  if (options.solver && options.resume && options.stream)
    luaL_error(L, "run: solver: a stream that a checkpoint resumes can not have it: each run numbers its methods anew");
  if (options.grid && options.dense)
    luaL_error(L, "run: rows: \"grid\" goes without dense = true: sol:at finds the sides of events by their rows");
  if (lua_getfield(L, idx, "sensitivities") != LUA_TNIL) {
    if (options.resume) luaL_error(L, "run: sensitivities: a run from a checkpoint can not have them: they start at t0");
    nsl_prepare_sensitivities(L);
    nsl_read_sensitivities(L, -1, &options.sensitivities);
    lua_remove(L, idx + 1);
    options.parameters = idx + 1;
  } else {
    lua_pop(L, 1);
  }
  int kind = lua_getfield(L, idx, "observe");
  if (kind != LUA_TNIL) {
    if (kind != LUA_TFUNCTION) nsl_bad(L, "run", "observe", "a function", -1);
    options.observer = nsl_push_observer(L, 1, lua_gettop(L), idx);
    options.observer->self = idx;
    lua_replace(L, idx);
  }
  lua_settop(L, options.parameters ? idx + 2 : idx); /* the names, and the memory of the parameters */
  return options;
}

/* Calls the observer, if there is one, so that its columns are known. begin: for the first row of the run. */
static void observe_first(lua_State *L, NslTimeStepping *self, NslObserver *observer, bool begin) {
  if (!observer) return;
  NsError err = {NS_OK, ""};
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NslEdge edge = nsl_enter(self->host, L, &self->ts->progress, NULL);
  NsStatus status = begin ? ns_run_begin(self->ts, &err) : NS_OK;
  if (status == NS_OK) status = nsl_observe(observer, &err);
  observer->ahead = begin;
  nsl_leave(self->host, edge);
  nsl_guard_end(&guard, L);
  if (status != NS_OK) nsl_raise_step(L, &err);
}

/* The numbers of a row beside the model's. */
static int count_numbers(const NsTimeStepping *ts, const Options *options) {
  int observed = options->observer ? options->observer->count : 0, solver = options->solver ? NSL_SOLVER_COLUMNS : 0;
  return observed + nsl_count_discrete(ts) + solver;
}

/* The solution on top, which has no S, gets the names of the parameters of a recorded run. */
static void name_parameters(lua_State *L, int names) {
  lua_getiuservalue(L, -1, 1);
  lua_pushvalue(L, names);
  lua_setfield(L, -2, "sensitivities");
  lua_pop(L, 1);
}

/* Pushes a solution for the run, with the columns of its observer. */
static NsSolution *push_record(lua_State *L, const Options *options, long rows) {
  const NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  bool adjoint = options->sensitivities.options.adjoint, more = count_numbers(ts, options) > 0;
  if (more && options->observer) nsl_push_observed_names(L, 2);
  else lua_pushnil(L);
  if (more) nsl_add_discrete_names(L, ts);
  if (options->solver) nsl_add_solver_names(L);
  NsSolution *solution = nsl_push_solution(L, 1, rows, more ? lua_gettop(L) : 0, adjoint ? 0 : options->parameters);
  lua_remove(L, -2);
  if (adjoint) name_parameters(L, options->parameters);
  return solution;
}

/* Records in the solution how the run ended. */
static void set_outcome(lua_State *L, int solution, const char *status, int message) {
  lua_getiuservalue(L, solution, 1);
  nsl_set_string(L, "status", status);
  lua_pushvalue(L, message);
  lua_setfield(L, -2, "message");
  lua_pop(L, 1);
}

/* Raises the error of a step; called through lua_pcall to get the error object. */
static int raise_again(lua_State *L) {
  return nsl_raise_step(L, lua_touserdata(L, 1));
}

/*
** Words the error of a callback that a signal stopped: replaces the hook's text on top by "interrupted (t=4.95 step 99) in "
** and that text.
*/
static void word_interruption(lua_State *L, const NsTimeStepping *ts) {
  static const char ending[] = ": interrupted";
  char place[96];
  size_t size = 0, tail = sizeof ending - 1;
  const char *said = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &size) : NULL;
  ns_print(place, sizeof place, "interrupted (t=%.10g step %ld)", ns_ts_time(ts), ts->k);
  if (said && size > tail && strcmp(said + size - tail, ending) == 0) {
    lua_pushlstring(L, said, size - tail);
    lua_pushfstring(L, "%s in %s", place, lua_tostring(L, -1));
    lua_replace(L, -3);
    lua_pop(L, 1);
  } else {
    lua_pushstring(L, place);
    lua_replace(L, -2);
  }
}

/* Pushes the error object of a failed run. */
static void push_failure(lua_State *L, NsError *err) {
  lua_pushcfunction(L, raise_again);
  lua_pushlightuserdata(L, err);
  lua_pcall(L, 1, 0, 0);
}

/* Pushes an array of the columns' names above the solution at 3, whose list of names anchors the strings. */
static const char **push_names(lua_State *L, int ncols) {
  lua_getiuservalue(L, 3, 1);
  lua_getfield(L, -1, "names");
  const char **names = lua_newuserdatauv(L, (size_t)ncols * sizeof *names, 0);
  for (int c = 0; c < ncols; c++) {
    lua_rawgeti(L, -2, c + 1);
    names[c] = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  return names;
}

/* The file of the stream, with the columns of the solution at 3; without a stream its path is NULL. */
static NsRunFile run_file(lua_State *L, const Options *options, int ncols) {
  const char **names = options->stream ? push_names(L, ncols) : NULL;
  return (NsRunFile){options->stream, options->hdf5, ncols, names, options->resume, options->resumed};
}

/*
** Raises, before anything has changed, when the stream does not continue from the checkpoint. A bad checkpoint is reported
** later, when it is loaded.
*/
static void check_rows(lua_State *L, const NslTimeStepping *self, const Options *options, const NsSolution *solution) {
  NsError err = {NS_OK, ""};
  long k;
  bool computed;
  if (ns_ts_peek(self->ts, options->checkpoints.path, &k, &computed, &err) != NS_OK) return;
  NsRunFile file = run_file(L, options, ns_solution_width(solution));
  if (ns_run_check_file(&file, ns_run_place(self->ts, k, computed, options->every), &err) != NS_OK) nsl_raise_step(L, &err);
}

/* (simulation, Options): takes over the state. */
static int resume_relinked(lua_State *L) {
  const Options *options = lua_touserdata(L, 2);
  lua_pushcfunction(L, nsl_simulation_take_state);
  lua_pushvalue(L, 1);
  lua_pushstring(L, options->checkpoints.path);
  lua_call(L, 2, 0);
  return 0;
}

/*
** resume = true: continues from the checkpoint, if there is one. *solution: of a run that streams, at 3; its columns are those of the links before
** the file's, as they were where the stream began. Else it is NULL.
*/
static void bind_run_resume(lua_State *L, NslTimeStepping *self, Options *options, NsSolution **solution) {
  const char *path = options->checkpoints.path;
  if (!path) luaL_error(L, "run: resume: there is no checkpoint among the options");
  if (!ns_checkpoint_exists(path)) return;
  int top = lua_gettop(L);
  if (options->stream) {
    observe_first(L, self, options->observer, false); /* for the names */
    *solution = push_record(L, options, ns_run_rows(self->ts, options->every));
    lua_insert(L, 3);
    check_rows(L, self, options, *solution);
    lua_settop(L, ++top);
  }
  lua_pushcfunction(L, resume_relinked);
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, options);
  nsl_call_relinked(L, path, 2, 0);
  options->resumed = true;
}

/* Sets what fills the numbers of a row beside the model's, if there are any; pushes their memory. */
static void fill_numbers(lua_State *L, const NsTimeStepping *ts, const Options *options, NslRowNumbers *numbers,
                         NsRunOptions *run) {
  numbers->count = count_numbers(ts, options);
  if (!options->observer && numbers->count == 0) return;
  numbers->values = lua_newuserdatauv(L, (size_t)numbers->count * sizeof(double), 0);
  run->observe = nsl_fill_row, run->observer = numbers;
  run->observed = numbers->values, run->nobserved = numbers->count;
}

/* Sets the outcome of the solution at 3, which is on top; raises the error of a run that failed or was stopped and is not wanted in part. */
static void end_run(lua_State *L, const NsTimeStepping *ts, const Options *options, NsStatus status, bool signalled,
                    NsError *err) {
  if (status == NS_OK) {
    if (!nsl_push_early_end(L, ts)) lua_pushnil(L);
    set_outcome(L, 3, "completed", 4);
    return;
  }
  bool stopped = signalled && status == NS_ECALLBACK;
  if (!stopped && !options->partial) nsl_raise_step(L, err);
  push_failure(L, err);
  if (stopped) word_interruption(L, ts);
  if (!options->partial) luaL_error(L, "%s", lua_tostring(L, -1));
  set_outcome(L, 3, stopped || status == NS_EINTR ? "interrupted" : "failed", 4);
}

int nsl_simulation_run(lua_State *L) {
  NslTimeStepping *self = nsl_idle_simulation(L, 1, "run");
  lua_settop(L, 2);
  Options options = bind_run_read_options(L, 2);
  NsSolution *solution = NULL;
  if (options.resume) bind_run_resume(L, self, &options, &solution);
  nsl_warn_start(L, 1);
  observe_first(L, self, options.observer, true);
  if (!solution) {
    solution = push_record(L, &options, ns_run_rows(self->ts, options.every));
    lua_insert(L, 3);
  }
  Progress progress = {.start = ns_clock_now(), .first = self->ts->k};
  NsRunOptions run = {.every = options.every,
                      .dense = options.dense,
                      .grid = options.grid,
                      .sensitivities = options.sensitivities,
                      .checkpoints = options.checkpoints,
                      .tick = options.progress ? bind_run_show : NULL,
                      .context = &progress};
  NslSolverColumns solver = {.ts = self->ts};
  NslRowNumbers numbers = {.observer = options.observer, .solver = options.solver ? &solver : NULL, .ts = self->ts};
  fill_numbers(L, self->ts, &options, &numbers, &run);
  int ncols = ns_solution_width(solution);
  NsRunFile file = run_file(L, &options, ncols);
  if (file.path) run.row = lua_newuserdatauv(L, (size_t)ncols * sizeof(double), 0);
  NsError err = {NS_OK, ""};
  NslGuard guard;
  nsl_listen(L, 1);
  nsl_watch_parameters(L, &options.sensitivities);
  nsl_guard_begin(&guard, L);
  self->host->runs++;
  NslEdge edge = nsl_enter(self->host, L, &self->ts->progress, NULL);
  NsStatus status = ns_run_streaming(self->ts, solution, &run, &file, &err);
  if (status == NS_OK) status = nsl_read_initial(&options.sensitivities, &err);
  nsl_leave(self->host, edge);
  bool signalled = nsl_guard_end(&guard, L);
  nsl_advise(L, 1, &err);
  if (progress.shown > 0 && !ends_at_prompt(signalled)) fprintf(stderr, "\r\033[K");
  lua_settop(L, 3);
  nsl_set_solution_stats(L, 3, self->ts, ns_clock_now() - progress.start);
  if (options.solver) nsl_set_solution_methods(L, 3, &solver);
  nsl_warn_quickening(L, 1);
  nsl_warn_idle(L, 1);
  end_run(L, self->ts, &options, status, signalled, &err);
  lua_settop(L, 3);
  return 1;
}
