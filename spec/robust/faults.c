/*
** faults.c
** A host that makes allocations fail: one at a time, or all from one on, for every place in the code that allocates.
**
** faults once|twice|onward EVERY FIRST SCRIPT ARGUMENT... runs the script to learn the allocations: the places are the
** distinct stacks of calls, each known by the number of its first allocation. Then, for every EVERY-th place from number
** FIRST on, in a process of its own, the script is run with that allocation failing (that and the next one, which Lua
** makes after it has collected its garbage; all from it on), and run again without a fault in the same Lua state. The
** first run must end as without the fault, or with an error that speaks of memory (or of a module that Lua can not open);
** the second must end as without the fault; and after the state is closed no more memory is held than without one. All
** allocations are counted, those of Lua, of the engine and of the libraries under it: this program's malloc is the one
** that they find.
** Where it is the call of a finaliser that fails, Lua gives the finaliser up with a warning, before anything of the
** module runs: what the object held is lost, which is counted apart.
** The last line of the output: "PLACES places, TRIED tried, FAILED failed, SILENT went on, LOST lost a finaliser".
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
void *__libc_memalign(size_t alignment, size_t size);

enum { DEPTH = 40, PLACES = 1 << 15, TABLE = 1 << 17 };

/* ---- the allocator that all libraries find ---- */

static bool counting, learning, onward, inside;
static long burst = 1; /* so many fail, one after the other */
static long allocations, fail_at = -1, held;

/* What a child learns, in memory that it shares: the stacks met, and the number of the first allocation of each. */
typedef struct Lesson {
  uint64_t seen[TABLE];
  long first[PLACES], places, allocations, held;
  uint64_t output;
} Lesson;

static Lesson *lesson;

static void learn(void) {
  void *frames[DEPTH];
  uint64_t hash = UINT64_C(14695981039346656037);
  inside = true;
  int depth = backtrace(frames, DEPTH);
  inside = false;
  for (int i = 2; i < depth; i++) hash = (hash ^ (uint64_t)frames[i]) * UINT64_C(1099511628211);
  hash |= 1;
  for (uint64_t at = hash % TABLE;; at = (at + 1) % TABLE) {
    if (lesson->seen[at] == hash) return;
    if (lesson->seen[at]) continue;
    if (lesson->places == PLACES) return;
    lesson->seen[at] = hash;
    lesson->first[lesson->places++] = allocations;
    return;
  }
}

/* Whether this allocation is to fail. */
static bool fails(void) {
  if (!counting || inside) return false;
  allocations++;
  if (learning) learn();
  bool bad = fail_at > 0 && allocations >= fail_at && (onward || allocations < fail_at + burst);
  if (bad) errno = ENOMEM;
  return bad;
}

void *malloc(size_t size) {
  if (fails()) return NULL;
  void *block = __libc_malloc(size);
  held += block != NULL;
  return block;
}

void *calloc(size_t count, size_t size) {
  if (fails()) return NULL;
  void *block = __libc_calloc(count, size);
  held += block != NULL;
  return block;
}

void *realloc(void *block, size_t size) {
  if (size > 0 && fails()) return NULL;
  void *moved = __libc_realloc(block, size);
  held += (block == NULL && moved != NULL) - (block != NULL && size == 0);
  return moved;
}

void *memalign(size_t alignment, size_t size) {
  if (fails()) return NULL;
  void *block = __libc_memalign(alignment, size);
  held += block != NULL;
  return block;
}

void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = memalign(alignment, size);
  return *block ? 0 : 12;
}

void free(void *block) {
  held -= block != NULL;
  __libc_free(block);
}

/* Lua takes the time for the seed of its hashes; with the same one every run allocates alike. */
time_t time(time_t *where) {
  if (where) *where = 1;
  return 1;
}

/* ---- the script ---- */

static uint64_t printed;
static bool given_up; /* a finaliser, by Lua */

static void hear_warning(void *context, const char *message, int more) {
  (void)context;
  (void)more;
  if (strstr(message, "__gc")) given_up = true;
}

static int hash_print(lua_State *L) {
  for (int i = 1; i <= lua_gettop(L); i++) {
    size_t size;
    const char *text = luaL_tolstring(L, i, &size);
    for (size_t k = 0; k < size; k++) printed = (printed ^ (unsigned char)text[k]) * UINT64_C(1099511628211);
    lua_pop(L, 1);
  }
  return 0;
}

/* The state with the libraries, the module's paths, print and io.write that only hash what they get. */
static int prepare(lua_State *L) {
  luaL_openlibs(L);
  lua_pushcfunction(L, hash_print);
  lua_setglobal(L, "print");
  lua_getglobal(L, "io");
  lua_pushcfunction(L, hash_print);
  lua_setfield(L, -2, "write");
  return 0;
}

static int run_script(lua_State *L) {
  char **argv = lua_touserdata(L, 1);
  int n = 0;
  lua_newtable(L);
  for (; argv[n]; n++) {
    lua_pushstring(L, argv[n]);
    lua_rawseti(L, -2, n);
  }
  lua_setglobal(L, "arg");
  if (luaL_loadfile(L, argv[0]) != LUA_OK) return lua_error(L);
  for (int i = 1; i < n; i++) lua_pushstring(L, argv[i]);
  lua_call(L, n - 1, 0);
  return 0;
}

static int add_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message) luaL_traceback(L, L, message, 1);
  return 1;
}

/* Runs the script; 0, or what kind of error. The message goes to `told`. */
static int run(lua_State *L, char **argv, bool traceback, char *told, size_t size) {
  printed = UINT64_C(14695981039346656037);
  lua_settop(L, 0);
  if (traceback) lua_pushcfunction(L, add_traceback);
  lua_pushcfunction(L, run_script);
  lua_pushlightuserdata(L, argv);
  int status = lua_pcall(L, 1, 0, traceback ? 1 : 0);
  if (status != LUA_OK) snprintf(told, size, "%s", lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "(no string)");
  lua_settop(L, 0);
  return status;
}

static lua_State *new_state(void) {
  lua_State *L = luaL_newstate();
  if (!L) return NULL;
  lua_setwarnf(L, hear_warning, NULL);
  lua_pushcfunction(L, prepare);
  if (lua_pcall(L, 0, 0, 0) == LUA_OK) return L;
  lua_close(L);
  return NULL;
}

/* ---- children ---- */

static void teach(char **argv) {
  char told[512];
  lua_State *L = new_state();
  counting = learning = true;
  if (run(L, argv, true, told, sizeof told) != LUA_OK) {
    counting = false;
    printf("the script fails without a fault: %s\n", told);
    fflush(stdout);
    _exit(3);
  }
  counting = learning = false;
  lesson->allocations = allocations;
  lesson->output = printed;
  if (run(L, argv, true, told, sizeof told) != LUA_OK) _exit(3);
  if (printed != lesson->output) _exit(4);
  lua_close(L);
  lesson->held = held;
  exit(0);
}

static const char *verdict_of(char **argv, bool *went_on) {
  static char told[512];
  static char text[640];
  lua_State *L = new_state();
  counting = true;
  int status = run(L, argv, false, told, sizeof told);
  counting = false;
  *went_on = status == LUA_OK;
  if (status == LUA_OK && printed != lesson->output) return "the script went on with other results";
  if (status != LUA_OK && !strstr(told, "memory") && !strstr(told, "' not found:")) {
    snprintf(text, sizeof text, "the error does not speak of memory: %s", told);
    return text;
  }
  if (run(L, argv, true, told, sizeof told) != LUA_OK) {
    snprintf(text, sizeof text, "the script fails when it is run again: %s", told);
    return text;
  }
  if (printed != lesson->output) return "the script gives other results when it is run again";
  lua_close(L);
  if (held > lesson->held && !given_up) {
    snprintf(text, sizeof text, "%ld blocks leaked", held - lesson->held);
    return text;
  }
  return NULL;
}

static void suffer(char **argv) {
  bool went_on;
  const char *verdict = verdict_of(argv, &went_on);
  if (verdict) {
    printf("allocation %ld: %s\n", fail_at, verdict);
    fflush(stdout);
    exit(2);
  }
  exit(held > lesson->held ? 5 : went_on ? 1 : 0);
}

/* The exit status of a child that does `work`, negative when it crashed. */
static int child(void (*work)(char **), char **argv) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    alarm(120);
    held = 0;
    work(argv);
  }
  int status;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(int argc, char **argv) {
  void *warm[4];
  if (argc < 5) return 64;
  onward = strcmp(argv[1], "onward") == 0;
  burst = strcmp(argv[1], "twice") == 0 ? 2 : 1;
  long every = strtol(argv[2], NULL, 10), place = strtol(argv[3], NULL, 10), tried = 0, failed = 0, silent = 0,
       lost = 0;
  lesson = mmap(NULL, sizeof *lesson, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (lesson == MAP_FAILED || every < 1 || place < 0) return 64;
  backtrace(warm, 4); /* loads what it needs */
  const char *core = getenv("NSLUA_CORE");
  if (core && !dlopen(core, RTLD_NOW | RTLD_GLOBAL)) printf("%s\n", dlerror());
  if (child(teach, argv + 4) != 0) {
    printf("the script can not be run twice alike\n");
    return 1;
  }
  for (; place < lesson->places; place += every) {
    fail_at = lesson->first[place];
    tried++;
    int status = child(suffer, argv + 4);
    silent += status == 1;
    lost += status == 5;
    failed += status != 0 && status != 1 && status != 5;
    if (status < 0) printf("allocation %ld: the process ended by signal %d\n", fail_at, -status);
  }
  printf("%ld places, %ld tried, %ld failed, %ld went on, %ld lost a finaliser\n", lesson->places, tried, failed, silent, lost);
  return failed > 0;
}
