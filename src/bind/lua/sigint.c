/*
** sigint.c
** SIGINT while the engine runs, in one thread or in several.
*/
#include "bind/lua/sigint.h"

#include <errno.h>
#include <lauxlib.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "base/interrupt.h"
#include "bind/lua/interpreter.h"

/* Largest number of threads whose Lua code a signal stops; in further threads only the engine's loops stop. */
enum { MOST_RUNS = 64 };

/* A thread with a run: written by that thread under the lock, read by the handler. */
typedef struct Run {
  pthread_t owner;
  lua_State *_Atomic thread; /* the Lua thread that a signal stops; NULL: the slot is free */
  atomic_bool told;          /* a signal is pending for this thread */
  atomic_bool forwarded;     /* the next signal was forwarded by another thread */
} Run;

/*
** The module is never unloaded (Makefile: nodelete): the kernel may have chosen the handler in one thread while another thread
** removes it. `inside` counts the threads in the handler; a run waits for 0 before its slot is reused.
*/
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Run runs[MOST_RUNS];
static int running;                  /* number of active runs; under the lock */
static struct sigaction host_action; /* the host's action of SIGINT; written before the handler is installed */
static bool installed;               /* under the lock */
static atomic_int inside;

/* This thread's slot; depth of its guards; Lua instructions until the hook raises again. Not for other threads' handlers. */
static _Thread_local Run *mine;
static _Thread_local int depth;
static _Thread_local int patience;

/* Time of the last signal. */
static _Atomic time_t last;

/* Raises the error again and again, at shorter intervals: cleanup code has time to run, a loop around a pcall ends. */
static void sigint_stop_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (!ns_interrupted()) {
    lua_sethook(L, NULL, 0, 0); /* a coroutine that outlived the run */
    return;
  }
  lua_sethook(L, sigint_stop_hook, LUA_MASKCOUNT, patience);
  if (patience > 1) patience /= 2;
  luaL_error(L, "interrupted");
}

static void sigint_hook_at_once(lua_State *L) {
  if (L) lua_sethook(L, sigint_stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* ---- the handler ---- */

/* Whether a signal in an earlier run came less than two seconds ago and has not yet brought the user to the prompt. */
static bool again(void) {
  struct timespec now;
  if (!&nsi_interpreter || !nsi_interpreter.prompted()) return false;
  clock_gettime(CLOCK_MONOTONIC, &now);
  time_t before = atomic_exchange(&last, now.tv_sec + (now.tv_sec == 0));
  return before && now.tv_sec - before < 2;
}

/* The slot of the thread that runs the handler; NULL when it has none. */
static Run *run_of_this_thread(void) {
  for (int i = 0; i < MOST_RUNS; i++)
    if (atomic_load(&runs[i].thread) && pthread_equal(runs[i].owner, pthread_self())) return &runs[i];
  return NULL;
}

static bool any_told(void) {
  for (int i = 0; i < MOST_RUNS; i++)
    if (atomic_load(&runs[i].thread) && atomic_load(&runs[i].told)) return true;
  return false;
}

/* Tells all runs. Other threads get the signal forwarded, because only they may set hooks on their Lua threads. */
static void tell_all(int signal_number, const Run *own) {
  ns_interrupt_raise();
  for (int i = 0; i < MOST_RUNS; i++) {
    if (!atomic_load(&runs[i].thread)) continue;
    atomic_store(&runs[i].told, true);
    if (&runs[i] == own) continue;
    atomic_store(&runs[i].forwarded, true);
    pthread_kill(runs[i].owner, signal_number);
  }
}

/*
** Engine loops poll the flag. The hook stops a callback that does not return, also one that waits for a coroutine (only
** nslua's interpreter knows which one). A second signal goes to the host.
*/
static void handle(int signal_number) {
  Run *own = run_of_this_thread();
  bool forwarded = own && atomic_exchange(&own->forwarded, false);
  if (&nsi_interpreter && !forwarded) nsi_interpreter.told();
  if (!forwarded && (again() || any_told())) {
    sigaction(signal_number, &host_action, NULL);
    raise(signal_number);
    ns_interrupt_raise();
    return;
  }
  if (!forwarded) tell_all(signal_number, own);
  if (!own) return;
  patience = 1 << 14;
  sigint_hook_at_once(atomic_load(&own->thread));
  if (&nsi_interpreter) sigint_hook_at_once(nsi_interpreter.running());
}

static void sigint_on_signal(int signal_number) {
  int error = errno;
  atomic_fetch_add(&inside, 1);
  handle(signal_number);
  atomic_fetch_sub(&inside, 1);
  errno = error;
}

/* ---- coming and going ---- */

/* Installs the handler, unless it is installed: after a second signal the host's handler is back. */
static void install(void) {
  struct sigaction action = {.sa_handler = sigint_on_signal}, present;
  sigaction(SIGINT, NULL, &present);
  if (present.sa_handler == sigint_on_signal) return;
  host_action = present;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  installed = true;
}

/* Restores the host's handler, unless the host has installed another one meanwhile. */
static void uninstall(void) {
  struct sigaction present;
  sigaction(SIGINT, NULL, &present);
  if (installed && present.sa_handler == sigint_on_signal) sigaction(SIGINT, &host_action, NULL);
  installed = false;
}

/* Takes a slot for this thread. */
static void sigint_enter(lua_State *L) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST_RUNS && !mine; i++)
    if (!atomic_load(&runs[i].thread)) mine = &runs[i];
  if (mine) {
    mine->owner = pthread_self();
    atomic_store(&mine->told, false);
    atomic_store(&mine->forwarded, false);
    atomic_store(&mine->thread, L);
  }
  running++;
  install();
  pthread_mutex_unlock(&lock);
}

/* Removes a signal forwarded to this thread and not delivered yet (it may be blocked here); the host must not get it. */
static void drop_forwarded(void) {
  struct timespec now = {0, 0};
  sigset_t interrupt;
  if (!atomic_exchange(&mine->forwarded, false)) return;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  (void)sigtimedwait(&interrupt, NULL, &now);
}

static void sigint_leave(void) {
  pthread_mutex_lock(&lock);
  if (mine) atomic_store(&mine->thread, NULL);
  while (atomic_load(&inside) > 0) sched_yield(); /* a handler that has read the slot may still signal this thread */
  if (mine) drop_forwarded();
  if (--running == 0) uninstall();
  pthread_mutex_unlock(&lock);
  mine = NULL;
}

void nsl_guard_begin(NslGuard *guard, lua_State *L) {
  *guard = (NslGuard){.thread = mine ? atomic_load(&mine->thread) : NULL,
                      .hook = lua_gethook(L),
                      .mask = lua_gethookmask(L),
                      .count = lua_gethookcount(L)};
  ns_interrupt_watch();
  if (depth++ > 0) {
    if (mine) atomic_store(&mine->thread, L);
    return;
  }
  if (!&nsi_interpreter || !nsi_interpreter.waits())
    ns_interrupt_clear(); /* when a signal waits, the flag stays and stops this run */
  sigint_enter(L);
}

bool nsl_guard_end(const NslGuard *guard, lua_State *L) {
  bool interrupted = ns_interrupted();
  if (--depth == 0) sigint_leave();
  else if (mine) atomic_store(&mine->thread, guard->thread), atomic_store(&mine->told, false);
  ns_interrupt_clear();
  ns_interrupt_unwatch();
  lua_sethook(L, guard->hook, guard->mask, guard->count);
  if (&nsi_interpreter) nsi_interpreter.rearm(L);
  return interrupted;
}
