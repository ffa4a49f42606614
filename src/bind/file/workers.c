/*
** workers.c
** worker_support for the Lua side: worker processes, the signals that stop a sweep, and a clock.
*/
#include "bind/lua/open.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "bind/lua/object.h"
#include "workers/worker.h"

/* A worker, or in a worker the connection to its driver. */
typedef struct Worker {
  NslHead head;
  NsWorker worker;
  pid_t owner; /* the process that made it: a copy of this process leaves it alone */
} Worker;

static const NslType worker_type = {.name = "internal.worker"};

/* In a worker the connection stays open until the process ends: the driver takes the end of it as the end of the process. */
static int worker_gc(lua_State *L) {
  Worker *self = lua_touserdata(L, 1);
  if (self->owner == getpid() && self->worker.pid > 0) ns_worker_close(&self->worker);
  else ns_worker_forget(&self->worker);
  return 0;
}

static NsWorker *check_worker(lua_State *L) {
  return &((Worker *)nsl_check(L, 1, &worker_type))->worker;
}

static Worker *new_worker(lua_State *L) {
  Worker *self = nsl_new(L, &worker_type, sizeof *self, 0);
  self->worker.fd = -1;
  self->owner = getpid();
  return self;
}

/* ---- start ---- */

/* fork(): a worker and false; in the copy the driver and true; nil and a message when that fails. */
static int worker_fork(lua_State *L) {
  NsError err = {NS_OK, ""};
  bool child = false;
  Worker *self = new_worker(L);
  fflush(NULL); /* else the copy would write what waits in buffers a second time */
  if (ns_worker_fork(&self->worker, &child, &err) != NS_OK) return nsl_nil(L, err.text);
  self->owner = getpid();
  lua_pushboolean(L, child);
  return 2;
}

/* spawn({program, argument, ...}): a worker; nil and a message when that fails. */
static int worker_spawn(lua_State *L) {
  NsError err = {NS_OK, ""};
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_Integer count = luaL_len(L, 1);
  luaL_argcheck(L, count >= 1, 1, "expected a program");
  const char **argv = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *argv, 0);
  for (lua_Integer i = 0; i < count; i++) {
    lua_rawgeti(L, 1, i + 1);
    argv[i] = luaL_checkstring(L, -1);
    lua_pop(L, 1); /* the table keeps it */
  }
  argv[count] = NULL;
  Worker *self = new_worker(L);
  fflush(NULL);
  if (ns_worker_spawn(&self->worker, argv, &err) != NS_OK) return nsl_nil(L, err.text);
  return 1;
}

/* adopt(): in a spawned worker, its driver; nil and a message. */
static int worker_adopt(lua_State *L) {
  NsError err = {NS_OK, ""};
  Worker *self = new_worker(L);
  if (ns_worker_adopt(&self->worker, &err) != NS_OK) return nsl_nil(L, err.text);
  return 1;
}

/*
** ordinal(): in a spawned worker, the number of the sweep that it works for, once; else nothing. The programs that it starts are
** no workers: they do not inherit the variable.
*/
static int worker_ordinal(lua_State *L) {
  static const char name[] = "NSLUA_SWEEP_WORKER";
  const char *text = getenv(name);
  if (!text) return 0;
  lua_pushinteger(L, strtol(text, NULL, 10));
  unsetenv(name);
  return 1;
}

/* limit(bytes): true, or nil and a message. */
static int worker_limit(lua_State *L) {
  NsError err = {NS_OK, ""};
  if (ns_worker_limit(luaL_checknumber(L, 1), &err) != NS_OK) return nsl_nil(L, err.text);
  return lua_pushboolean(L, true), 1;
}

/* ---- methods ---- */

/* worker:next(): the next message that has arrived, or nil. */
static int worker_next(lua_State *L) {
  const char *bytes;
  size_t size;
  if (!ns_worker_next(check_worker(L), &bytes, &size)) return 0;
  return lua_pushlstring(L, bytes, size), 1;
}

/* driver:receive(): waits for a message; nil when the driver is gone or a signal came. */
static int worker_receive(lua_State *L) {
  const char *bytes;
  size_t size;
  if (ns_worker_receive(check_worker(L), &bytes, &size) != NS_OK) return 0;
  return lua_pushlstring(L, bytes, size), 1;
}

/* worker:send(message): whether the other side is there. */
static int worker_send(lua_State *L) {
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  return lua_pushboolean(L, ns_worker_send(check_worker(L), bytes, size) == NS_OK), 1;
}

/* worker:ended(): nothing while it runs; then how it ended and the number of the signal, or 0. */
static int worker_ended(lua_State *L) {
  const NsWorker *worker = check_worker(L);
  if (!worker->ended) return 0;
  lua_pushstring(L, worker->end);
  lua_pushinteger(L, worker->signal);
  return 2;
}

/* worker:stop(signal): "TERM" lets it finish by itself, "KILL" does not. */
static int worker_stop(lua_State *L) {
  static const char *const names[] = {"TERM", "KILL", NULL};
  NsWorker *worker = check_worker(L);
  ns_worker_stop(worker, luaL_checkoption(L, 2, NULL, names) == 0 ? SIGTERM : SIGKILL);
  return 0;
}

static int worker_close(lua_State *L) {
  ns_worker_close(check_worker(L));
  return 0;
}

/* worker:release(): in a copy of the process, closes the connection of its driver to another worker. */
static int worker_release(lua_State *L) {
  Worker *self = nsl_check(L, 1, &worker_type);
  if (self->owner != getpid() && self->worker.fd >= 0) close(self->worker.fd), self->worker.fd = -1;
  return 0;
}

static int worker_pid(lua_State *L) {
  return lua_pushinteger(L, check_worker(L)->pid), 1;
}

/* wait({worker, ...}, seconds) */
static int workers_wait(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  int n = (int)luaL_len(L, 1);
  NsWorker **list = lua_newuserdatauv(L, (size_t)n * sizeof *list + 1, 0);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, 1, i + 1);
    list[i] = &((Worker *)nsl_check(L, -1, &worker_type))->worker;
    lua_pop(L, 1); /* the table keeps it */
  }
  if (ns_workers_wait(list, n, luaL_checknumber(L, 2)) != NS_OK) luaL_error(L, "not enough memory");
  return 0;
}

/* ---- signals ---- */

static volatile sig_atomic_t signal_came;    /* in a driver that listens: the last SIGINT or SIGTERM, 0: none */
static volatile sig_atomic_t worker_stops;   /* in a worker: a SIGTERM came */
static volatile sig_atomic_t worker_is_busy; /* in a worker: a task runs */
static struct sigaction before_listening[2];
static atomic_int listeners; /* calls of listen without an unlisten */
static const int heard[2] = {SIGINT, SIGTERM};

/* The first signal asks for a clean stop. The next one acts as it would without a sweep. */
static void hear_signal(int number) {
  if (signal_came)
    for (int i = 0; i < 2; i++)
      if (heard[i] == number) {
        sigaction(number, &before_listening[i], NULL);
        kill(getpid(), number);
      }
  signal_came = number;
}

/* listen(): from now on SIGINT and SIGTERM only set what signalled() returns. Calls nest. */
static int signals_listen(lua_State *L) {
  (void)L;
  struct sigaction action = {.sa_handler = hear_signal};
  if (listeners++ > 0) return 0;
  sigemptyset(&action.sa_mask);
  signal_came = 0;
  for (int i = 0; i < 2; i++) sigaction(heard[i], &action, &before_listening[i]);
  return 0;
}

static int signals_unlisten(lua_State *L) {
  (void)L;
  if (listeners == 0 || --listeners > 0) return 0;
  for (int i = 0; i < 2; i++) sigaction(heard[i], &before_listening[i], NULL);
  return 0;
}

/* signalled(): "INT" or "TERM" after such a signal, else nothing. */
static int signals_came(lua_State *L) {
  if (!signal_came) return 0;
  return lua_pushstring(L, signal_came == SIGINT ? "INT" : "TERM"), 1;
}

/* A SIGTERM acts on the running task as a Ctrl-C does: runs write their checkpoints and raise. */
static void stop_serving(int number) {
  (void)number;
  worker_stops = 1;
  if (worker_is_busy) raise(SIGINT);
}

/* Ends a worker; after a SIGTERM by that signal, so that its driver does not take the end for one of the task's own making. */
static _Noreturn void end_worker(int status) {
  fflush(stdout);
  if (worker_stops) {
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
  _exit(status);
}

/*
** serve(f, ...): in a worker, calls f and ends the process after it, whatever happens. SIGINT acts as in the host, SIGTERM as
** above. Nothing of the Lua state is closed: its files belong to the driver.
*/
static int signals_serve(lua_State *L) {
  struct sigaction action = {.sa_handler = stop_serving};
  if (listeners > 0) listeners = 1;
  signals_unlisten(L);
  sigemptyset(&action.sa_mask);
  worker_stops = worker_is_busy = 0;
  sigaction(SIGTERM, &action, NULL);
  int status = lua_pcall(L, lua_gettop(L) - 1, 0, 0);
  if (status != LUA_OK && !worker_stops) fprintf(stderr, "nslua: a worker: %s\n", lua_tostring(L, -1));
  end_worker(status == LUA_OK ? 0 : 1);
}

/* busy(on): in a worker, whether a task runs now: only then a SIGTERM interrupts Lua code. */
static int signals_busy(lua_State *L) {
  worker_is_busy = lua_toboolean(L, 1);
  return 0;
}

static int signals_stopping(lua_State *L) {
  return lua_pushboolean(L, worker_stops != 0), 1;
}

/* die_by("TERM"): ends this process as the signal does when nobody handles it. */
static int signals_die_by(lua_State *L) {
  static const char *const names[] = {"INT", "TERM", NULL};
  int number = heard[luaL_checkoption(L, 1, NULL, names)];
  fflush(NULL);
  signal(number, SIG_DFL);
  raise(number);
  return 0;
}

/* leave(status): ends a worker; nothing of its Lua state is closed. */
static int signals_leave(lua_State *L) {
  end_worker((int)luaL_checkinteger(L, 1));
}

/* ---- the process ---- */

static int process_clock(lua_State *L) {
  return lua_pushnumber(L, ns_clock_now()), 1;
}

static int process_pid(lua_State *L) {
  return lua_pushinteger(L, getpid()), 1;
}

/* signal_process(pid, "TERM" or nil): sends it, or only looks; whether there is such a process. */
static int process_signal(lua_State *L) {
  pid_t pid = (pid_t)luaL_checkinteger(L, 1);
  return lua_pushboolean(L, pid > 1 && (kill(pid, lua_isnoneornil(L, 2) ? 0 : SIGTERM) == 0 || errno == EPERM)), 1;
}

static int process_terminal(lua_State *L) {
  return lua_pushboolean(L, isatty(STDERR_FILENO)), 1;
}

static int process_host(lua_State *L) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return lua_pushstring(L, name), 1;
}

static int process_cores(lua_State *L) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return lua_pushinteger(L, count < 1 ? 1 : count), 1;
}

void nsl_open_workers(lua_State *L) {
  static const luaL_Reg methods[] = {{"next", worker_next},       {"receive", worker_receive}, {"send", worker_send},
                                     {"ended", worker_ended},     {"stop", worker_stop},       {"close", worker_close},
                                     {"release", worker_release}, {"pid", worker_pid},         {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", worker_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"fork", worker_fork},
                                       {"spawn", worker_spawn},
                                       {"adopt", worker_adopt},
                                       {"ordinal", worker_ordinal},
                                       {"limit", worker_limit},
                                       {"wait", workers_wait},
                                       {"listen", signals_listen},
                                       {"unlisten", signals_unlisten},
                                       {"signalled", signals_came},
                                       {"serve", signals_serve},
                                       {"busy", signals_busy},
                                       {"stopping", signals_stopping},
                                       {"die_by", signals_die_by},
                                       {"leave", signals_leave},
                                       {"clock", process_clock},
                                       {"pid", process_pid},
                                       {"signal_process", process_signal},
                                       {"terminal", process_terminal},
                                       {"host", process_host},
                                       {"cores", process_cores},
                                       {NULL, NULL}};
  nsl_register_type(L, &worker_type, meta, methods);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "worker_support");
}
