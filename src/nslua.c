/*
** nslua.c
** main(): an interpreter with the options of `lua` that finds the nslua module by its own path, and starts the prompt.
*/
#include <lauxlib.h>
#include <limits.h>
#include <lua.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "repl/channel.h"
#include "repl/prompt.h"
#include "repl/stop.h"

#define NSLUA_VERSION "nslua " NS_VERSION " (" LUA_RELEASE ")"

typedef struct Options {
  const char *bad; /* the option that is wrong, or NULL */
  int script;      /* index in argv of the script, argc when there is none */
  bool version, features, interactive, execute, no_environment, help, doctor, compile, leave;
  const char *pipes;   /* of --kernel-worker=R,W, or NULL */
  const char *command; /* the name of a command of nslua, or NULL */
} Options;

static void interpreter_complain(const char *message) {
  fflush(stdout);
  fprintf(stderr, "nslua: %s\n", message);
}

static int add_traceback(lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (!message && luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING) return 1;
  if (!message) message = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  if (strstr(message, "\nstack traceback:\n")) return lua_pushstring(L, message), 1; /* the traceback of an inner call */
  luaL_traceback(L, L, message, 2);                                                  /* starts above the handler of nsi_pcall */
  return 1;
}

/* lua_pcall with a traceback, stoppable by SIGINT; prints errors. */
static int interpreter_call(lua_State *L, int nargs, int nresults) {
  int base = lua_gettop(L) - nargs;
  lua_pushcfunction(L, add_traceback);
  lua_insert(L, base);
  int status = nsi_pcall(L, nargs, nresults, base);
  lua_remove(L, base);
  if (status != LUA_OK) {
    const char *message = lua_tostring(L, -1);
    interpreter_complain(message ? message : "(error object is not a string)");
    lua_pop(L, 1);
  }
  return status;
}

/* Pushes what require(module) returns. */
static int push_module(lua_State *L, const char *module) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  return interpreter_call(L, 1, 1);
}

/* Calls the chunk that a luaL_load function left on the stack, or prints the error why it could not be loaded. */
static int call_loaded(lua_State *L, int status, int nargs) {
  if (status == LUA_OK) return interpreter_call(L, nargs, 0);
  interpreter_complain(lua_tostring(L, -1));
  lua_pop(L, 1);
  return status;
}

static int run_string(lua_State *L, const char *code, const char *name) {
  return call_loaded(L, luaL_loadbuffer(L, code, strlen(code), name), 0);
}

/* Runs the script with the arguments in the table `arg`; "-" is standard input unless "--" precedes it. */
static int run_script(lua_State *L, char **argv, int script) {
  bool standard_input = strcmp(argv[script], "-") == 0 && strcmp(argv[script - 1], "--") != 0;
  int status = luaL_loadfile(L, standard_input ? NULL : argv[script]), n = 0;
  if (status == LUA_OK) {
    lua_getglobal(L, "arg");
    if (lua_type(L, -1) != LUA_TTABLE) luaL_error(L, "'arg' is not a table");
    n = (int)luaL_len(L, -1);
    luaL_checkstack(L, n + 3, "too many arguments to script");
    for (int i = 1; i <= n; i++) lua_rawgeti(L, -i, i);
    lua_remove(L, -n - 1);
  }
  return call_loaded(L, status, n);
}

/* -l mod, -l g=mod */
static int load_library(lua_State *L, char *name) {
  char *module = strchr(name, '=');
  if (module) *module++ = '\0';
  int status = push_module(L, module ? module : name);
  if (status == LUA_OK) lua_setglobal(L, name);
  return status;
}

/* os.exit that closes the state by default: files are flushed, __gc and __close run. */
static int os_exit(lua_State *L) {
  int status = lua_isboolean(L, 1) ? (lua_toboolean(L, 1) ? EXIT_SUCCESS : EXIT_FAILURE)
                                   : (int)luaL_optinteger(L, 1, EXIT_SUCCESS);
  nsi_stop_close();
  if (lua_isnoneornil(L, 2) || lua_toboolean(L, 2)) lua_close(L);
  exit(status);
}

/* Puts `entries` before package[field]. */
static void prepend(lua_State *L, const char *field, const char *entries) {
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s;", entries);
  lua_getfield(L, -2, field);
  lua_concat(L, 2);
  lua_setfield(L, -2, field);
  lua_pop(L, 1);
}

/*
** ROOT/build/bin/nslua uses ROOT/build/lib and ROOT/lua (or ROOT/build/lua, a link in a build directory that lies
** elsewhere); PREFIX/bin/nslua uses PREFIX/{share,lib}/lua/5.4.
*/
static void set_paths(lua_State *L) {
  char base[PATH_MAX], path[PATH_MAX + 64];
  ssize_t length = readlink("/proc/self/exe", base, sizeof base - 1);
  if (length <= 0) return;
  base[length] = '\0';
  for (int level = 0; level < 2; level++) *strrchr(base, '/') = '\0';
  snprintf(path, sizeof path, "%s/lib/nslua/core.so", base);
  bool built = access(path, F_OK) == 0;
  prepend(L, "cpath", lua_pushfstring(L, built ? "%s/lib/?.so" : "%s/lib/lua/5.4/?.so", base));
  snprintf(path, sizeof path, "%s/lua", base);
  if (built && access(path, F_OK) != 0) *strrchr(base, '/') = '\0';
  const char *dir = lua_pushfstring(L, built ? "%s/lua" : "%s/share/lua/5.4", base);
  prepend(L, "path", lua_pushfstring(L, "%s/?.lua;%s/?/init.lua", dir, dir));
  lua_pop(L, 3);
}

/* arg: the script at 0, its arguments from 1, the interpreter and its options at negative indices. */
static void push_arg(lua_State *L, char **argv, int argc, int script) {
  int zero = script == argc ? 0 : script;
  lua_createtable(L, argc - zero, zero + 1);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i - zero);
  }
}

/* Scripts may take words out of arg: the registry keeps all of them, for processes that run the script anew. */
static void set_arg(lua_State *L, char **argv, int argc, int script) {
  push_arg(L, argv, argc, script);
  lua_setglobal(L, "arg");
  push_arg(L, argv, argc, script);
  lua_setfield(L, LUA_REGISTRYINDEX, "nslua.arg");
}

static int run_environment(lua_State *L) {
  const char *name = "LUA_INIT_5_4", *init = getenv(name);
  if (!init) init = getenv(name = "LUA_INIT");
  if (!init) return LUA_OK;
  if (*init == '@') return call_loaded(L, luaL_loadfile(L, init + 1), 0);
  return run_string(L, init, lua_pushfstring(L, "=%s", name));
}

/* Calls what a module returns with the table of nsi_push_api and a script or nil. It handles its errors. */
static int run_prompt(lua_State *L, const char *module, const char *script) {
  if (push_module(L, module) != LUA_OK) return LUA_ERRRUN;
  nsi_push_api(L);
  lua_pushstring(L, script);
  nsi_stop_prompt(true);
  int status = lua_pcall(L, 2, 0, 0);
  nsi_stop_prompt(false);
  if (status != LUA_OK) interpreter_complain(lua_tostring(L, -1));
  return status;
}

#define WORKER "--kernel-worker="

/* Starts the worker of a kernel. */
static int run_worker(lua_State *L, const char *pipes) {
  if (!nsi_channel_open(pipes)) return interpreter_complain("--kernel-worker: only a kernel starts this"), LUA_ERRRUN;
  return run_prompt(L, "nslua.notebook.worker", NULL);
}

/*
** The commands `nslua NAME ...` and the modules that run them: functions that get the arguments, a list, with the path of
** this program under "program", and return whether all went well.
*/
static const struct {
  const char *name, *module;
} commands[] = {{"kernel", "nslua.notebook.install"},
                {"--console", "nslua.notebook.console"},
                {"sweep", "nslua.sweep.command"},
                {"fmu", "nslua.fmi.command"}};

/* The module of a command; NULL when it is none. */
static const char *module_of(const char *name) {
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (strcmp(commands[i].name, name) == 0) return commands[i].module;
  return NULL;
}

/* Runs a command with the arguments after its name. */
static int run_command(lua_State *L, const char *name, char **rest) {
  char program[PATH_MAX];
  int n = 0;
  if (push_module(L, module_of(name)) != LUA_OK) return LUA_ERRRUN;
  lua_createtable(L, 0, 1);
  for (; rest[n]; n++) {
    lua_pushstring(L, rest[n]);
    lua_rawseti(L, -2, n + 1);
  }
  ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  lua_pushlstring(L, program, length > 0 ? (size_t)length : 0);
  lua_setfield(L, -2, "program");
  if (interpreter_call(L, 1, 1) != LUA_OK) return LUA_ERRRUN;
  return lua_toboolean(L, -1) ? LUA_OK : LUA_ERRRUN;
}

/* Runs nslua.repl.doctor, a function of the table of nsi_push_api; it returns whether everything needed is installed. */
static int run_doctor(lua_State *L) {
  if (push_module(L, "nslua.repl.doctor") != LUA_OK) return LUA_ERRRUN;
  nsi_push_api(L);
  lua_pushliteral(L, NSLUA_VERSION);
  if (interpreter_call(L, 2, 1) != LUA_OK) return LUA_ERRRUN;
  return lua_toboolean(L, -1) ? LUA_OK : LUA_ERRRUN;
}

/* Prints the line of nslua.repl.modules on the optional modules. */
static int print_features(lua_State *L) {
  if (push_module(L, "nslua.repl.modules") != LUA_OK) return LUA_ERRRUN;
  lua_getfield(L, -1, "line");
  if (interpreter_call(L, 0, 1) != LUA_OK) return LUA_ERRRUN;
  puts(lua_tostring(L, -1));
  return LUA_OK;
}

static void print_help(FILE *to) {
  fputs(
      "usage: nslua [options] [script [args]]\n"
      "without a script: a prompt on a terminal (? there shows its help), else standard input\n"
      "  -e stat    run the string 'stat'\n"
      "  -i         a prompt after 'script', also when it fails; its variables are kept\n"
      "  -l mod     require 'mod' into the global 'mod' (-l g=mod: into 'g')\n"
      "  -v         show the version\n"
      "  -E         ignore environment variables\n"
      "  -W         turn warnings on\n"
      "  --, -      stop handling options; - runs standard input\n"
      "  --compile  compiles the callbacks of all simulations that can be, and tells which, on the error output\n"
      "  --doctor   what is found, what is missing and how to install it\n"
      "  --console  the prompt of Jupyter: colours, editing of many lines, a menu of completions\n"
      "  --version  the version, and which optional modules are there\n"
      "  --help     this text\n"
      "nslua kernel install [--user | --prefix DIR]: nslua in Jupyter notebooks\n"
      "nslua sweep script [options]: a script with other settings for its sweeps (nslua sweep --help)\n"
      "nslua fmu script [file.fmu] [options]: a model for other simulation tools (nslua fmu --help)\n",
      to);
}

/* Reads one option; returns how many more arguments it takes, -1 when it is wrong. */
static int read_option(Options *options, char **argv, int i) {
  const char *text = argv[i];
  char letter = text[1];
  if (strcmp(text, "--help") == 0) return options->help = options->leave = true, 0;
  if (strcmp(text, "--doctor") == 0) return options->doctor = true, 0;
  if (strcmp(text, "--compile") == 0) return options->compile = true, 0;
  if (strncmp(text, WORKER, sizeof WORKER - 1) == 0) return options->pipes = text + sizeof WORKER - 1, 0;
  if (strcmp(text, "--version") == 0) return options->version = options->features = true, 0;
  if (letter == 'e' || letter == 'l') {
    options->execute |= letter == 'e';
    if (text[2]) return 0;
    return argv[i + 1] && argv[i + 1][0] != '-' ? 1 : -1;
  }
  if (letter == '\0' || text[2] || !strchr("ivEW", letter)) return -1;
  options->interactive |= letter == 'i';
  options->version |= letter == 'i' || letter == 'v';
  options->no_environment |= letter == 'E';
  return 0;
}

static bool is_file(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static Options interpreter_read_options(char **argv, int argc) {
  Options options = {.script = argc};
  for (int i = 1; i < argc; i++) {
    if (i == 1 && module_of(argv[i]) && !is_file(argv[i])) { /* a script of that name comes first */
      options.command = argv[i];
      return options.script = i + 1, options;
    }
    if (argv[i][0] != '-' || strcmp(argv[i], "-") == 0) return options.script = i, options;
    if (strcmp(argv[i], "--") == 0) return options.script = i + 1, options;
    int more = read_option(&options, argv, i);
    if (more < 0) return options.bad = argv[i], options;
    i += more;
  }
  return options;
}

/* Executes -e, -l and -W in order. */
static int run_options(lua_State *L, char **argv, int end) {
  for (int i = 1; i < end; i++) {
    char letter = argv[i][1];
    if (letter == '-') continue;
    if (letter == 'W') lua_warning(L, "@on", 0);
    if (letter != 'e' && letter != 'l') continue;
    char *operand = argv[i][2] ? argv[i] + 2 : argv[++i];
    if ((letter == 'e' ? run_string(L, operand, "=(command line)") : load_library(L, operand)) != LUA_OK) return LUA_ERRRUN;
  }
  return LUA_OK;
}

static int interpreter_run(lua_State *L, char **argv, int argc, const Options *options) {
  bool script = options->script < argc;
  if (options->features) return print_features(L);
  if (options->command) return run_command(L, options->command, argv + options->script);
  lua_pushboolean(L, options->compile);
  lua_setfield(L, LUA_REGISTRYINDEX, "nslua.compile");
  if (!options->no_environment && run_environment(L) != LUA_OK) return LUA_ERRRUN;
  if (run_options(L, argv, options->script) != LUA_OK) return LUA_ERRRUN;
  if (options->doctor) return run_doctor(L);
  if (options->pipes) return run_worker(L, options->pipes);
  if (options->interactive) return run_prompt(L, "nslua.repl", argv[options->script]);
  if (script) return run_script(L, argv, options->script);
  if (options->execute || options->version) return LUA_OK;
  if (!isatty(STDIN_FILENO)) return call_loaded(L, luaL_loadfile(L, NULL), 0);
  puts(NSLUA_VERSION);
  return run_prompt(L, "nslua.repl", NULL);
}

/* main in protected mode: argc, argv and the options arrive as light userdata; returns whether all succeeded. */
static int protected_main(lua_State *L) {
  int argc = (int)lua_tointeger(L, 1);
  char **argv = lua_touserdata(L, 2);
  const Options *options = lua_touserdata(L, 3);
  luaL_checkversion(L);
  lua_pushboolean(L, options->no_environment);
  if (options->no_environment) lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  luaL_openlibs(L);
  set_paths(L);
  lua_getglobal(L, "os");
  lua_pushcfunction(L, os_exit);
  lua_setfield(L, -2, "exit");
  nsi_stop_open(L);
  set_arg(L, argv, argc, options->script);
  lua_gc(L, LUA_GCGEN, 0, 0);
  lua_pushboolean(L, interpreter_run(L, argv, argc, options) == LUA_OK);
  return 1;
}

/* ---- warnings ---- */

/* The warnings that are shown: only nslua's own until warn "@on" or -W; none after warn "@off". */
typedef struct Warnings {
  enum { SHOW_OWN, SHOW_ALL, SHOW_NONE } show;
  bool going_on, shown; /* going_on: a warning is incomplete; shown: its parts so far were printed */
} Warnings;

static bool begins_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* Prints Lua's warnings as lua does ("Lua warning: ..."), the module's as "nslua: ...". */
static void hear_warning(void *context, const char *message, int more) {
  Warnings *w = context;
  if (!w->going_on && !more && message[0] == '@') {
    if (strcmp(message, "@on") == 0) w->show = SHOW_ALL;
    if (strcmp(message, "@off") == 0) w->show = SHOW_NONE;
    return;
  }
  if (!w->going_on) {
    bool own = begins_with(message, "nslua: ");
    w->shown = w->show == SHOW_ALL || (w->show == SHOW_OWN && own);
    if (w->shown) fflush(stdout);
    if (w->shown && !own) fputs("Lua warning: ", stderr);
  }
  if (w->shown) fputs(message, stderr);
  if (w->shown && !more) fputc('\n', stderr);
  w->going_on = more != 0;
}

static int reject(const char *option) {
  bool known = strcmp(option, "-e") == 0 || strcmp(option, "-l") == 0;
  fprintf(stderr, known ? "nslua: '%s' needs an argument\n" : "nslua: unrecognized option '%s'\n", option);
  print_help(stderr);
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  Options options = interpreter_read_options(argv, argc);
  if (options.bad) return reject(options.bad);
  if (options.help) print_help(stdout);
  if (options.version) puts(NSLUA_VERSION);
  if (options.leave) return EXIT_SUCCESS;
  lua_State *L = luaL_newstate();
  if (!L) return interpreter_complain("cannot create a state: not enough memory"), EXIT_FAILURE;
  Warnings warnings = {SHOW_OWN, false, false};
  lua_setwarnf(L, hear_warning, &warnings);
  lua_pushcfunction(L, protected_main);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  lua_pushlightuserdata(L, &options);
  bool good = lua_pcall(L, 3, 1, 0) == LUA_OK;
  if (!good) interpreter_complain(lua_tostring(L, -1));
  good = good && lua_toboolean(L, -1);
  nsi_stop_close();
  lua_close(L);
  if (fflush(stdout) == 0 && !ferror(stdout)) return good ? EXIT_SUCCESS : EXIT_FAILURE;
  return interpreter_complain("cannot write to standard output"), EXIT_FAILURE;
}
