/*
** files_hdf5.c
** The C part of loading and saving .h5 files.
*/
#include "bind/file/files_hdf5.h"
#include "bind/lua/open.h"

#include <lauxlib.h>
#include <string.h>

#include "bind/file/files.h"
#include "bind/lua/optional_module.h"
#include "bind/lua/sigint.h"
#include "bind/array/matrix.h"
#include "bind/lua/object.h"
#include "bind/array/vector.h"

/* The form of the HDF5 file (NS_HDF5_PLAIN, ...) that an ending stands for: .h5, .hdf5, .nc, .mat; NULL for others. */
static const char *hdf5_form(const char *path) {
  static const struct {
    const char *ending, *form;
  } forms[] = {{".h5", NS_HDF5_PLAIN}, {".hdf5", NS_HDF5_PLAIN}, {".nc", NS_HDF5_NETCDF}, {".mat", NS_HDF5_MATLAB}};
  const char *ending = strrchr(path, '.');
  if (!ending || ending == path) return NULL;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(ending, forms[i].ending) == 0) return forms[i].form;
  return NULL;
}

bool nsl_is_hdf5(const char *path) {
  const char *form = hdf5_form(path);
  return form && strcmp(form, NS_HDF5_PLAIN) == 0;
}

/* ---- the module ---- */

const NsHdf5 *nsl_hdf5(lua_State *L, const char *who, const char *path) {
  static const NslOptional module = {"nslua.hdf5", ": .h5, .nc and .mat files are read and written by the module", "HDF5",
                                     "libhdf5-dev"};
  int top = lua_gettop(L);
  nsl_need_stack(L, 10);
  nsl_push_optional(L, &module, who, lua_pushfstring(L, "'%s'", path), ".npz holds the same");
  lua_getfield(L, -1, "functions");
  const NsHdf5 *hdf5 = lua_touserdata(L, -1);
  if (!hdf5) luaL_error(L, "%s: '%s': nslua.hdf5 is another module", who, path);
  lua_settop(L, top);
  return hdf5;
}

/* ---- load ---- */

/* What was read, before it is in Lua; freed with the userdata. */
typedef struct Loaded {
  NslHead head;
  const NsHdf5 *hdf5;
  NsHdf5Contents contents;
} Loaded;

static const NslType loaded_type = {.name = "HDF5 contents"};

static int loaded_gc(lua_State *L) {
  Loaded *self = lua_touserdata(L, 1);
  if (self->hdf5) self->hdf5->clear(&self->contents);
  return 0;
}

static Loaded *push_loaded(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", loaded_gc}, {NULL, NULL}};
  if (luaL_getmetatable(L, loaded_type.name) == LUA_TNIL) nsl_register_type(L, &loaded_type, meta, NULL);
  lua_pop(L, 1);
  return nsl_new(L, &loaded_type, sizeof(Loaded), 0);
}

static void h5_files_push_numbers(lua_State *L, const NsHdf5Item *item) {
  size_t count = (size_t)item->rows * (item->cols < 0 ? 1 : (size_t)item->cols);
  double *to = item->cols < 0 ? nsl_push_vector(L, item->rows, NULL)->data
                              : nsl_push_matrix(L, item->rows, item->cols, NULL)->data;
  if (count > 0) memcpy(to, item->data, count * sizeof *to);
}

/* Pushes { name = number or text }. */
static void push_attributes(lua_State *L, const NsHdf5Contents *contents) {
  lua_createtable(L, 0, contents->nattributes);
  for (int i = 0; i < contents->nattributes; i++) {
    const NsHdf5Attribute *a = &contents->attributes[i];
    if (a->text) lua_pushstring(L, a->text);
    else if (a->whole) lua_pushinteger(L, a->integer);
    else lua_pushnumber(L, a->number);
    lua_setfield(L, -2, a->name);
  }
}

/* load_h5(path): names, arrays, { attributes, unread }; unread[name] is the reason why an array was not read. */
static int files_load_h5(lua_State *L) {
  const char *path = nsl_path(L, 1, "load", "file");
  const NsHdf5 *hdf5 = nsl_hdf5(L, "load", path);
  Loaded *self = push_loaded(L);
  NsError err = {NS_OK, ""};
  NslGuard guard;
  self->hdf5 = hdf5;
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_h5_load(hdf5, path, &self->contents, &err);
  nsl_guard_end(&guard, L);
  if (status != NS_OK) return nsl_raise(L, &err);
  lua_newtable(L);
  lua_newtable(L);
  lua_newtable(L);
  push_attributes(L, &self->contents);
  lua_setfield(L, -2, "attributes");
  lua_newtable(L);
  int unread = lua_gettop(L), extras = unread - 1, arrays = unread - 2, names = unread - 3;
  lua_Integer count = 0;
  for (int i = 0; i < self->contents.count; i++) {
    const NsHdf5Item *item = &self->contents.items[i];
    if (item->unread) {
      lua_pushstring(L, item->unread);
      lua_setfield(L, unread, item->name);
      continue;
    }
    h5_files_push_numbers(L, item);
    lua_rawseti(L, arrays, ++count);
    lua_pushstring(L, item->name);
    lua_rawseti(L, names, count);
  }
  lua_setfield(L, extras, "unread");
  hdf5->clear(&self->contents);
  return 3;
}

/* ---- save ---- */

/* The attributes in the table at idx (nil: none), in a userdata that is pushed; the table keeps the texts alive. */
static NsHdf5Attribute *h5_files_read_attributes(lua_State *L, int idx, int *count) {
  int most = 0;
  *count = 0;
  if (!lua_istable(L, idx)) return NULL;
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) most++;
  NsHdf5Attribute *list = lua_newuserdatauv(L, (size_t)most * sizeof *list + 1, 0);
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    bool text = lua_type(L, -1) == LUA_TSTRING;
    if (lua_type(L, -2) != LUA_TSTRING || (!text && lua_type(L, -1) != LUA_TNUMBER)) continue;
    list[(*count)++] = (NsHdf5Attribute){lua_tostring(L, -2), text ? lua_tostring(L, -1) : NULL, lua_isinteger(L, -1),
                                         text ? 0 : lua_tointeger(L, -1), text ? 0 : lua_tonumber(L, -1)};
  }
  return list;
}

/* save_h5(path, names, arrays [, attributes]): in the form of the ending. */
static int files_save_h5(lua_State *L) {
  const char *path = nsl_path(L, 1, "save", "file"), *form = hdf5_form(path);
  lua_settop(L, 4);
  const NsHdf5 *hdf5 = nsl_hdf5(L, "save", path);
  int count, nattributes;
  NsError err = {NS_OK, ""};
  NsHdf5Attribute *attributes = h5_files_read_attributes(L, 4, &nattributes);
  NslNamed *list = nsl_named_arrays(L, &count, "");
  NsHdf5Array *arrays = lua_newuserdatauv(L, (size_t)count * sizeof *arrays + 1, 0);
  for (int i = 0; i < count; i++) arrays[i] = (NsHdf5Array){list[i].name, list[i].rows, list[i].cols, list[i].data};
  if (ns_h5_save(hdf5, path, form ? form : NS_HDF5_PLAIN, arrays, count, attributes, nattributes, &err) != NS_OK)
    return nsl_raise(L, &err);
  return 0;
}

void nsl_open_files_hdf5(lua_State *L) {
  static const luaL_Reg functions[] = {{"load_h5", files_load_h5}, {"save_h5", files_save_h5}, {NULL, NULL}};
  lua_getfield(L, -1, "file_support");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
