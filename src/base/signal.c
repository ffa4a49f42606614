/*
** signal.c
** The handler of SIGINT while runs are on, in one thread or in several.
*/
#include "base/signal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/interrupt.h"

/* Largest number of threads whose scripts a signal stops; in further threads only the engine's loops stop. */
enum { MOST_RUNS = 64 };

/* A thread with a run: written by that thread under the lock, read by the handler. */
typedef struct SignalRun {
  pthread_t owner;
  void *_Atomic script;  /* what a signal stops; NULL: the slot is free */
  atomic_bool told;      /* a signal is pending for this thread */
  atomic_bool forwarded; /* the next signal was forwarded by another thread */
} SignalRun;

/*
** The module is never unloaded (Makefile: nodelete): the kernel may have chosen the handler in one thread while another thread
** removes it. `inside` counts the threads in the handler; a run waits for 0 before its slot is reused.
*/
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const NsSignalHooks *hooks; /* written before the handler is installed */
static SignalRun runs[MOST_RUNS];
static int running;                  /* number of active runs; under the lock */
static struct sigaction host_action; /* the host's action of SIGINT; written before the handler is installed */
static bool installed;               /* under the lock */
static atomic_int inside;

/* This thread's slot, and how many of its runs are nested. Not for other threads' handlers. */
static _Thread_local SignalRun *mine;
static _Thread_local int depth;

/* Time of the last signal. */
static _Atomic time_t last;

/* ---- the handler ---- */

/* Whether a signal in an earlier run came less than two seconds ago and has not yet brought the user to the prompt. */
static bool again(void) {
  struct timespec now;
  if (!hooks->prompted()) return false;
  clock_gettime(CLOCK_MONOTONIC, &now);
  time_t before = atomic_exchange(&last, now.tv_sec + (now.tv_sec == 0));
  return before && now.tv_sec - before < 2;
}

/* The slot of the thread that runs the handler; NULL when it has none. */
static SignalRun *run_of_this_thread(void) {
  for (int i = 0; i < MOST_RUNS; i++)
    if (atomic_load(&runs[i].script) && pthread_equal(runs[i].owner, pthread_self())) return &runs[i];
  return NULL;
}

static bool any_told(void) {
  for (int i = 0; i < MOST_RUNS; i++)
    if (atomic_load(&runs[i].script) && atomic_load(&runs[i].told)) return true;
  return false;
}

/* Tells all runs. Other threads get the signal forwarded, because only they may stop their scripts. */
static void tell_all(int signal_number, const SignalRun *own) {
  ns_interrupt_raise();
  for (int i = 0; i < MOST_RUNS; i++) {
    if (!atomic_load(&runs[i].script)) continue;
    atomic_store(&runs[i].told, true);
    if (&runs[i] == own) continue;
    atomic_store(&runs[i].forwarded, true);
    pthread_kill(runs[i].owner, signal_number);
  }
}

/* Engine loops poll the flag; `stop` of the hooks stops a script that does not return. A second signal goes to the host. */
static void handle(int signal_number) {
  SignalRun *own = run_of_this_thread();
  bool forwarded = own && atomic_exchange(&own->forwarded, false);
  if (!forwarded) hooks->told();
  if (!forwarded && (again() || any_told())) {
    sigaction(signal_number, &host_action, NULL);
    pthread_kill(pthread_self(), signal_number);
    ns_interrupt_raise();
    return;
  }
  if (!forwarded) tell_all(signal_number, own);
  if (own) hooks->stop(atomic_load(&own->script));
}

static void signal_come(int signal_number) {
  int error = errno;
  atomic_fetch_add(&inside, 1);
  handle(signal_number);
  atomic_fetch_sub(&inside, 1);
  errno = error;
}

/* ---- coming and going ---- */

/* Installs the handler, unless it is installed: after a second signal the host's handler is back. */
static void install(void) {
  struct sigaction action = {.sa_handler = signal_come}, present;
  sigaction(SIGINT, NULL, &present);
  if (present.sa_handler == signal_come) return;
  host_action = present;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  installed = true;
}

/* Restores the host's handler, unless the host has installed another one meanwhile. */
static void uninstall(void) {
  struct sigaction present;
  sigaction(SIGINT, NULL, &present);
  if (installed && present.sa_handler == signal_come) sigaction(SIGINT, &host_action, NULL);
  installed = false;
}

/* Takes a slot for this thread. */
static void signal_enter(const NsSignalHooks *of, void *script) {
  pthread_mutex_lock(&lock);
  hooks = of;
  for (int i = 0; i < MOST_RUNS && !mine; i++)
    if (!atomic_load(&runs[i].script)) mine = &runs[i];
  if (mine) {
    mine->owner = pthread_self();
    atomic_store(&mine->told, false);
    atomic_store(&mine->forwarded, false);
    atomic_store(&mine->script, script);
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

static void signal_leave(void) {
  pthread_mutex_lock(&lock);
  if (mine) atomic_store(&mine->script, NULL);
  while (atomic_load(&inside) > 0) sched_yield(); /* a handler that has read the slot may still signal this thread */
  if (mine) drop_forwarded();
  if (--running == 0) uninstall();
  pthread_mutex_unlock(&lock);
  mine = NULL;
}

void *ns_signal_begin(const NsSignalHooks *of, void *script, bool waits) {
  void *before = mine ? atomic_load(&mine->script) : NULL;
  ns_interrupt_watch();
  if (depth++ > 0) {
    if (mine) atomic_store(&mine->script, script);
    return before;
  }
  if (!waits) ns_interrupt_clear();
  signal_enter(of, script);
  return before;
}

bool ns_signal_end(void *before) {
  bool interrupted = ns_interrupted();
  if (--depth == 0) signal_leave();
  else if (mine) atomic_store(&mine->script, before), atomic_store(&mine->told, false);
  ns_interrupt_clear();
  ns_interrupt_unwatch();
  return interrupted;
}
