/*
** threads.c
** A host with a Lua state in each of several threads: threads SECONDS COUNT SIGNAL SCRIPT. Every thread runs the script in a new
** state, again and again for SECONDS; with SIGNAL 1 the process gets a SIGINT once all threads have said that they are ready
** (the script calls ready()). Then the host's own handler must be what it was before. Prints what went wrong, or what the
** scripts returned last, one line for each thread.
*/
#include <lauxlib.h>
#include <lualib.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 16 };

static atomic_int ready_threads, host_signals;

typedef struct Worker {
  pthread_t thread;
  const char *script;
  double until;
  char said[300];
  long rounds;
} Worker;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_host_signal(int number) {
  (void)number;
  atomic_fetch_add(&host_signals, 1);
}

static int say_ready(lua_State *L) {
  (void)L;
  atomic_fetch_add(&ready_threads, 1);
  return 0;
}

/* One state from its beginning to its end, which closes the module. */
static void run_once(Worker *w) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, say_ready);
  lua_setglobal(L, "ready");
  if (luaL_dofile(L, w->script) == LUA_OK && lua_gettop(L) > 0) snprintf(w->said, sizeof w->said, "%s", luaL_tolstring(L, -1, NULL));
  else if (lua_gettop(L) > 0) snprintf(w->said, sizeof w->said, "error: %.200s", luaL_tolstring(L, -1, NULL));
  lua_close(L);
  w->rounds++;
}

static void *work(void *argument) {
  Worker *w = argument;
  do run_once(w);
  while (now() < w->until);
  return NULL;
}

int main(int argc, char **argv) {
  static Worker workers[MOST];
  struct sigaction action = {.sa_handler = on_host_signal}, after;
  if (argc != 5) return 2;
  int count = atoi(argv[2]);
  bool signals = atoi(argv[3]) != 0;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  for (int i = 0; i < count; i++) {
    workers[i].script = argv[4];
    workers[i].until = now() + atof(argv[1]);
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) return 2;
  }
  if (signals) {
    struct timespec pause = {0, 50000000};
    for (int k = 0; k < 400 && atomic_load(&ready_threads) < count; k++) nanosleep(&pause, NULL);
    for (int k = 0; k < 4; k++) nanosleep(&pause, NULL); /* from ready() into the run */
    kill(getpid(), SIGINT);
  }
  for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
  sigaction(SIGINT, NULL, &after);
  if (after.sa_handler != on_host_signal) printf("the handler is not the host's\n");
  int before = atomic_load(&host_signals);
  raise(SIGINT);
  if (atomic_load(&host_signals) != before + 1) printf("the host's handler was not called\n");
  for (int i = 0; i < count; i++) printf("%s\n", workers[i].said);
  printf("host %d\n", before);
  return 0;
}
