/*
** process.c
** process_support for the Lua side: runs programs without a shell, and formats columns of numbers as their input.
*/
#include <math.h>
#include <string.h>

#include "bind/lua/sigint.h"
#include "bind/lua/open.h"
#include "bind/array/vector.h"
#include "io/file.h"
#include "io/number.h"
#include "io/process.h"
#include "io/scratch.h"

typedef struct Output {
  NslHead head;
  NsProcessOutput output;
} Output;

static const NslType output_type = {.name = "process output"};

static int output_gc(lua_State *L) {
  Output *self = lua_touserdata(L, 1);
  ns_process_output_free(&self->output);
  return 0;
}

/* The table of strings at idx as a NULL-terminated array, anchored in a userdata that is pushed. */
static const char **argument_list(lua_State *L, int idx) {
  lua_Integer count = luaL_len(L, idx);
  luaL_argcheck(L, count >= 1, idx, "expected a program");
  const char **argv = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *argv, 0);
  for (lua_Integer i = 0; i < count; i++) {
    size_t size;
    if (lua_rawgeti(L, idx, i + 1) != LUA_TSTRING) luaL_error(L, "run: argument %I: expected a string", i + 1);
    argv[i] = lua_tolstring(L, -1, &size);
    if (strlen(argv[i]) != size) luaL_error(L, "run: argument %I: it holds a zero byte", i + 1);
    lua_pop(L, 1); /* the table keeps it */
  }
  argv[count] = NULL;
  return argv;
}

static void bind_process_push_result(lua_State *L, const NsProcessOutput *output) {
  lua_createtable(L, 0, 4);
  lua_pushlstring(L, output->out ? output->out : "", output->out_size), lua_setfield(L, -2, "out");
  lua_pushlstring(L, output->err ? output->err : "", output->err_size), lua_setfield(L, -2, "err");
  nsl_set_integer(L, "status", output->status);
  if (output->signal) nsl_set_integer(L, "signal", output->signal);
}

/*
** run({program, argument, ...} [, input]): returns {out, err, status, signal}; or nil, a message and whether the program is
** missing. Raises "interrupted" after a SIGINT.
*/
static int bind_process_run(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  size_t size;
  const char *input = luaL_optlstring(L, 2, "", &size);
  const char **argv = argument_list(L, 1);
  Output *self = nsl_new(L, &output_type, sizeof *self, 0);
  NsError err = {NS_OK, ""};
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_process_run(argv, input, size, &self->output, &err);
  bool interrupted = nsl_guard_end(&guard, L);
  if (interrupted || status == NS_EINTR) return luaL_error(L, "interrupted");
  if (status == NS_ENOMEM) return nsl_raise(L, &err);
  if (status == NS_OK) {
    bind_process_push_result(L, &self->output);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, err.text);
  lua_pushboolean(L, self->output.missing);
  return 3;
}

/* rows({column, ...}): the columns, vectors of the same length, as lines of text; numbers that are not finite become NaN. */
static int rows(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  int count = (int)luaL_len(L, 1);
  nsl_need_stack(L, count + 4);
  for (int j = 1; j <= count; j++) lua_rawgeti(L, 1, j);
  NslVector **columns = lua_newuserdatauv(L, (size_t)count * sizeof *columns + 1, 0);
  for (int j = 0; j < count; j++) {
    columns[j] = nsl_to_vector(L, 2 + j, j == 0 ? -1 : columns[0]->n, "rows", "column");
  }
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; count > 0 && i < columns[0]->n; i++) {
    for (int j = 0; j < count; j++) {
      double x = columns[j]->data[i * columns[j]->stride];
      char *at = luaL_prepbuffsize(&b, NS_NUMBER_TEXT + 1);
      size_t length = isfinite(x) ? ns_number_format(at, x) : (memcpy(at, "NaN", 3), 3);
      at[length] = j + 1 < count ? ' ' : '\n';
      luaL_addsize(&b, length + 1);
    }
  }
  luaL_pushresult(&b);
  return 1;
}

/* range(v [, positive]): the least and largest finite element of v (positive: of those above 0); nothing when there is none. */
static int range(lua_State *L) {
  bool positive = lua_toboolean(L, 2);
  const NslVector *v = nsl_to_vector(L, 1, -1, "range", "column");
  double least = INFINITY, largest = -INFINITY;
  for (int i = 0; i < v->n; i++) {
    double x = v->data[i * v->stride];
    if (!isfinite(x) || (positive && x <= 0)) continue;
    least = fmin(least, x);
    largest = fmax(largest, x);
  }
  if (least > largest) return 0;
  lua_pushnumber(L, least);
  lua_pushnumber(L, largest);
  return 2;
}

/* save(path, bytes): writes a file; it appears whole or not at all. */
static int bind_process_save(lua_State *L) {
  const char *path = nsl_path(L, 1, "save", "file");
  size_t size;
  const char *bytes = luaL_checklstring(L, 2, &size);
  NsError err = {NS_OK, ""};
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, &err);
  if (status == NS_OK) {
    ns_file_write(file, bytes, size);
    status = ns_file_commit(file, &err);
  }
  return status == NS_OK ? 0 : nsl_raise(L, &err);
}

/* check(path): raises what save would raise when the file cannot be written; changes nothing. */
static int save_check(lua_State *L) {
  NsError err = {NS_OK, ""};
  NsFile *file;
  NsStatus status = ns_file_open(&file, nsl_path(L, 1, "save", "file"), &err);
  if (status != NS_OK) return nsl_raise(L, &err);
  ns_file_abort(file);
  return 0;
}

/* ---- private directories ---- */

typedef struct Scratch {
  NslHead head;
  NsScratch scratch;
} Scratch;

static const NslType scratch_type = {.name = "scratch directory"};

static int scratch_gc(lua_State *L) {
  Scratch *self = lua_touserdata(L, 1);
  ns_scratch_remove(&self->scratch);
  return 0;
}

static int scratch_path(lua_State *L) {
  const Scratch *self = luaL_checkudata(L, 1, scratch_type.name);
  return lua_pushstring(L, self->scratch.path), 1;
}

/* scratch(): a new directory that only this user can read; its tostring is its path. Closing it removes it with its files. */
static int scratch_open(lua_State *L) {
  NsError err = {NS_OK, ""};
  Scratch *self = nsl_new(L, &scratch_type, sizeof *self, 0);
  if (ns_scratch_new(&self->scratch, &err) != NS_OK) return nsl_raise(L, &err);
  return 1;
}

void nsl_open_process(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"run", bind_process_run}, {"rows", rows}, {"range", range}, {"save", bind_process_save}, {"check", save_check},
      {"scratch", scratch_open}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", output_gc}, {NULL, NULL}};
  static const luaL_Reg scratch_meta[] = {
      {"__gc", scratch_gc}, {"__close", scratch_gc}, {"__tostring", scratch_path}, {NULL, NULL}};
  nsl_register_type(L, &output_type, meta, NULL);
  nsl_register_type(L, &scratch_type, scratch_meta, NULL);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "process_support");
}
