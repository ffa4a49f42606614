/*
** tape_native.c
** Native code for a path of a trace; the same source is compiled once.
*/
#include "bind/diff/tape_native.h"

#include <math.h>
#include <string.h>

#include "ad/tape_source.h"
#include "base/memory.h"
#include "io/compiler.h"

enum { MOST_LIBRARIES = 256 };

static const char library_key = 0;

static const NslType code_type = {.name = "nslua.code"};

/* Native code: an open library, or one in the making (running). */
typedef struct Code {
  NslHead head;
  NsLibrary *library;
  NsCompilation *running;
  const char *compiler;
  bool open;
} Code;

static int code_gc(lua_State *L) {
  Code *code = lua_touserdata(L, 1);
  ns_compiler_stop(code->running);
  ns_library_close(code->library);
  code->running = NULL;
  code->library = NULL;
  code->open = false;
  return 0;
}

/* Pushes the table of compiled code, source to code; it is emptied when it is full. */
static void push_libraries(lua_State *L) {
  bool there = lua_rawgetp(L, LUA_REGISTRYINDEX, &library_key) == LUA_TTABLE;
  if (there) {
    lua_rawgeti(L, -1, 0);
    there = lua_tointeger(L, -1) < MOST_LIBRARIES;
    lua_pop(L, 1);
  }
  if (there) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &library_key);
}

/* Stores the code on top of the stack in the table at `libraries`. */
static void keep_code(lua_State *L, int libraries, int source, const char *program) {
  lua_pushfstring(L, "%s\n%s", program ? program : "", lua_tostring(L, source));
  lua_pushvalue(L, -2);
  lua_rawset(L, libraries);
  lua_rawgeti(L, libraries, 0);
  lua_pushinteger(L, lua_tointeger(L, -1) + 1);
  lua_rawseti(L, libraries, 0);
  lua_pop(L, 1);
}

/* Compiles the source at `source`, or begins to, and pushes the code, also stored in the table at `libraries`; NULL and err on failure. */
static Code *tape_native_build(lua_State *L, int libraries, int source, const char *program, bool later, NsError *err) {
  Code *code = nsl_new(L, &code_type, sizeof *code, 1);
  if (program) program = lua_pushstring(L, program), lua_setiuservalue(L, -2, 1);
  if (later) {
    code->running = ns_compiler_start(lua_tostring(L, source));
    if (!code->running) return (void)ns_fail(err, NS_ENOMEM, "not enough memory"), NULL;
  } else if (ns_compiler_build(&code->library, lua_tostring(L, source), program, &code->compiler, err) != NS_OK) {
    return NULL;
  }
  code->open = !later;
  keep_code(L, libraries, source, program);
  return code;
}

static int tape_native_push_text(lua_State *L) {
  return lua_pushstring(L, lua_touserdata(L, 1)), 1;
}

/* Pushes the C source as a string; with jacobian NULL the source of the vjp. NS_ESIZE: the tape is too long, and nothing is pushed. */
static NsStatus push_source(lua_State *L, const NslPath *path, bool *jacobian, NsError *err) {
  char *source;
  NsStatus status = jacobian ? ns_tape_source(path->way.tape, &source, jacobian) : ns_tape_vjp_source(path->way.tape, &source);
  if (status == NS_ESIZE)
    return ns_fail(err, status, "%d operations are too many for native code", ns_tape_view(path->way.tape).steps);
  if (status != NS_OK) nsl_raise_status(L, status, "compile");
  lua_pushcfunction(L, tape_native_push_text);
  lua_pushlightuserdata(L, source);
  int code = lua_pcall(L, 1, 1, 0); /* the source is freed even when there is no memory for the string */
  ns_free(source);
  if (code != LUA_OK) lua_error(L);
  return NS_OK;
}

/* Pushes the code for the source on top of the stack, compiled now, before or later; NULL and err on failure. */
static Code *push_code(lua_State *L, const char *program, bool later, NsError *err) {
  int source = lua_gettop(L), libraries = source + 1;
  push_libraries(L);
  lua_pushfstring(L, "%s\n%s", program ? program : "", lua_tostring(L, source));
  (void)lua_rawget(L, libraries);
  Code *code = lua_touserdata(L, -1);
  return code && (code->open || later) ? code : tape_native_build(L, libraries, source, program, later, err);
}

/* Sets the native functions of the path at index `at` from the code on top of the stack. */
static NsStatus link_code(lua_State *L, NslPath *path, int at, const Code *code, bool jacobian, NsError *err) {
  NsSymbol value, by_inputs = NULL;
  NsStatus status = ns_library_symbol(code->library, "tape_value", &value, err);
  if (status == NS_OK && jacobian) status = ns_library_symbol(code->library, "tape_jacobian", &by_inputs, err);
  if (status != NS_OK) return status;
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, at, NSL_PATH_LIBRARY);
  if (by_inputs) nsl_path_take_jacobian(L, path, at);
  path->way.open = &code->open;
  path->way.native = (NsTapeValue *)value;
  path->way.native_jacobian = (NsTapeJacobian *)by_inputs;
  path->compiler = code->compiler;
  return NS_OK;
}

/* The path at index `at` stays without native code. */
static void stay_without(lua_State *L, NslPath *path, int at, const char *reason) {
  path->reason = lua_pushstring(L, reason);
  lua_setiuservalue(L, at, NSL_PATH_REASON);
}

void nsl_path_make_native(lua_State *L, NslPath *path, int at, const char *program, NslCodeWay way) {
  int top = lua_gettop(L);
  bool jacobian;
  NsError err = {NS_OK, ""};
  nsl_need_stack(L, 16);
  NsStatus status = push_source(L, path, &jacobian, &err);
  if (status == NS_OK) {
    const Code *code = push_code(L, program, way == NSL_CODE_LATER, &err);
    path->way.pending = code && !code->open;
    path->later_jacobian = jacobian;
    if (path->way.pending) lua_setiuservalue(L, at, NSL_PATH_LIBRARY);
    else status = code ? link_code(L, path, at, code, jacobian, &err) : err.status;
  }
  if (status == NS_ENOMEM) nsl_raise_status(L, status, "compile");
  if (path->way.pending) stay_without(L, path, at, "a compiler is at work");
  if (status != NS_OK) stay_without(L, path, at, err.text);
  if (status != NS_OK && way == NSL_CODE_MUST) luaL_error(L, "compile: %s", err.text);
  lua_settop(L, top);
}

void nsl_path_adopt(lua_State *L, NslPath *path, int at, const double *in) {
  int top = lua_gettop(L);
  NsError err = {NS_OK, ""};
  nsl_need_stack(L, 16);
  lua_getiuservalue(L, at, NSL_PATH_LIBRARY);
  Code *code = lua_touserdata(L, -1);
  if (code->running && !ns_compiler_ended(code->running)) {
    lua_settop(L, top);
    return;
  }
  path->way.pending = false;
  if (code->running) {
    code->open = ns_compiler_take(code->running, &code->library, &code->compiler, &err) == NS_OK;
    ns_compiler_stop(code->running);
    code->running = NULL;
  }
  NsStatus status = code->open ? link_code(L, path, at, code, path->later_jacobian, &err) : NS_EIO;
  if (status != NS_OK) stay_without(L, path, at, err.text[0] ? err.text : "the compiler failed");
  else path->reason = NULL;
  double *room = lua_newuserdatauv(L, ns_path_compare_room(&path->way) * sizeof *room, 0);
  if (path->way.native && !ns_path_native_agrees(&path->way, in, room)) {
    path->way.native = NULL;
    path->way.native_jacobian = NULL;
    path->compiler = NULL;
    stay_without(L, path, at, "its values differ");
  }
  lua_settop(L, top);
}

void nsl_path_make_vjp(lua_State *L, NslPath *path, int at) {
  int top = lua_gettop(L);
  NsError err = {NS_OK, ""};
  NsSymbol vjp = NULL;
  if (path->vjp_tried || !path->way.native || !path->way.tape) return;
  nsl_need_stack(L, 16);
  path->vjp_tried = true;
  const Code *code = push_source(L, path, NULL, &err) == NS_OK ? push_code(L, NULL, false, &err) : NULL;
  if (code && ns_library_symbol(code->library, "tape_vjp", &vjp, &err) == NS_OK) {
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, at, NSL_PATH_VJP);
    path->way.native_vjp = (NsTapeVjp *)vjp;
  }
  lua_settop(L, top);
}

void nsl_open_native(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", code_gc}, {NULL, NULL}};
  nsl_register_type(L, &code_type, meta, NULL);
}
