/*
** alarm.c
** A Lua module: one SIGINT to this process, some microseconds from now, and how long ago it was sent.
*/
#include <lauxlib.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t sent, outside; /* on its way to an engine; one came while none ran */
static struct timespec when, used; /* by the clock, in processor time */

static void send(int signal_number) {
  (void)signal_number;
  clock_gettime(CLOCK_MONOTONIC, &when);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  sent = 1;
  raise(SIGINT);
}

static void set_timer(long microseconds) {
  struct itimerval value = {{0, 0}, {microseconds / 1000000, microseconds % 1000000}};
  setitimer(ITIMER_REAL, &value, NULL);
}

/* The host's handler: what it gets has come while no engine ran. It is tried again in a millisecond. */
static void on_interrupt(int signal_number) {
  (void)signal_number;
  outside = 1;
  sent = 0;
  set_timer(1000);
}

static void set_handler(int signal_number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(signal_number, &action, NULL);
}

/* set(microseconds) */
static int alarm_set(lua_State *L) {
  long microseconds = (long)luaL_checkinteger(L, 1);
  set_handler(SIGALRM, send);
  set_handler(SIGINT, on_interrupt);
  sent = outside = 0;
  set_timer(microseconds > 0 ? microseconds : 1);
  return 0;
}

static double since(clockid_t clock, const struct timespec *start) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/*
** Stops the timer. Seconds since the last signal went to an engine, by the clock and of this process (nothing when none
** did); and whether the host got one.
*/
static int alarm_elapsed(lua_State *L) {
  double wall = since(CLOCK_MONOTONIC, &when), processor = since(CLOCK_PROCESS_CPUTIME_ID, &used);
  set_timer(0);
  lua_pushboolean(L, outside);
  if (!sent) return 1;
  lua_pushnumber(L, wall);
  lua_pushnumber(L, processor);
  return 3;
}

__attribute__((visibility("default"))) int luaopen_alarm(lua_State *L);

int luaopen_alarm(lua_State *L) {
  static const luaL_Reg functions[] = {{"set", alarm_set}, {"elapsed", alarm_elapsed}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
