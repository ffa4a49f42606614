/*
** ds.c
** What all dynamical systems share: state views, parameters, names, closing.
*/
#include "bind/model/ds.h"

#include <string.h>

/* One for each class, in the order of ns_ds_classes. */
static const NslType types[NS_DS_CLASSES] = {
#define X(name) {ns_ds_##name##_text, NULL, NULL},
    NS_DS_LIST(X)
#undef X
};

bool nsl_is_ds(const NslType *type) {
  return type >= types && type < types + NS_DS_CLASSES;
}

bool nsl_is_first_order(const NslType *type) {
  return nsl_is_ds(type) && ns_ds_classes[type - types]->family == NS_FIRST_ORDER;
}

NslDs *nsl_check_ds(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || !nsl_is_ds(head->type)) return nsl_wrong_type(L, idx, "dynamical system", "ds"), NULL;
  NslDs *self = (NslDs *)head;
  if (nsl_is_shut(head)) luaL_error(L, "%s is closed", nsl_callee_title(L, &self->callee));
  return self;
}

NslDs *nsl_check_mechanical(lua_State *L, int idx) {
  NslDs *self = nsl_check_ds(L, idx);
  if (ns_ds_family(self->ds) != NS_MECHANICS) luaL_argerror(L, idx, "mechanical dynamical system expected");
  return self;
}

NslDs *nsl_check_idle_mechanical(lua_State *L, const char *what) {
  NslDs *self = nsl_check_mechanical(L, 1);
  nsl_callee_idle(L, &self->callee, what);
  return self;
}

NslDs *nsl_check_idle_ds(lua_State *L, const char *what) {
  NslDs *self = nsl_check_ds(L, 1);
  nsl_callee_idle(L, &self->callee, what);
  return self;
}

/* ---- making ---- */

void *nsl_ds_object(NslCallee *callee) {
  return ((NslDs *)callee)->ds;
}

uint64_t *nsl_ds_version(NslCallee *callee) {
  return &((NslDs *)callee)->ds->x_version;
}

NslDs *nsl_push_ds(lua_State *L, const NsDsClass *class, const NslCalleeFamily *family, size_t bytes) {
  static const char unnamed[] = "";
  int i = 0;
  while (ns_ds_classes[i] != class) i++;
  NslDs *self = nsl_new(L, &types[i], bytes, nsl_callee_uservalues(&class->model));
  self->callee.head.stepped = true;
  nsl_callee_init(L, -1, &self->callee, family, &class->model, unnamed);
  return self;
}

void nsl_ds_start(lua_State *L, NslDs *self, NsDs *ds, int n, int m) {
  self->ds = ds;
  self->callee.name = ds->name;
  nsl_callee_size(L, -1, n, m, 0);
}

/* Calls the constructor of the family (upvalue 1) for the class (upvalue 2). */
static int construct_ds(lua_State *L) {
  const NslDsFamily *family = lua_touserdata(L, lua_upvalueindex(1));
  return family->construct(L, lua_touserdata(L, lua_upvalueindex(2)));
}

bool nsl_ds_linked(const NslDs *self) {
  const NsNsds *nsds = self->callee.nsds;
  for (int i = 0; nsds && i < nsds->ninteractions; i++)
    for (int p = 0; p < nsds->interactions[i]->nds; p++)
      if (nsds->interactions[i]->ds[p] == self->ds) return true;
  return false;
}

void nsl_set_ds_z(lua_State *L, int idx, int value, bool shared) {
  NslDs *self = lua_touserdata(L, idx);
  NsNsds *nsds = (NsNsds *)self->callee.nsds;
  int before = self->ds->nz;
  nsl_set_z(L, idx, &self->ds->z, &self->ds->nz, value, nsl_ds_linked(self), shared);
  nsl_callee_size(L, idx, self->callee.n, self->callee.m, self->ds->nz);
  if (nsds && self->ds->nz != before) nsds->version++; /* the size of the saved state has changed */
}

void nsl_clone_ds(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  const NslDs *from = nsl_check_ds(L, idx);
  NslDs *to = nsl_push_ds(L, from->ds->class, from->callee.family, lua_rawlen(L, idx));
  NsDs *ds;
  if (ns_ds_like(&ds, from->ds) != NS_OK) luaL_error(L, "not enough memory");
  nsl_ds_start(L, to, ds, from->callee.n, from->callee.m);
  nsl_clone_fields(L, idx, -1);
  if (from->callee.family->clone) from->callee.family->clone(L, idx, lua_gettop(L));
}

/* ---- views and accessors ---- */

int nsl_ds_view(lua_State *L, double *data, int n, const char *label, uint64_t *version) {
  nsl_push_vector_view(L, 1, data, n, 1, label, version);
  return 1;
}

int nsl_ds_assign(lua_State *L, const NslDs *self, double *to, int n, const char *what) {
  NslVector *v = nsl_to_finite_vector(L, 2, n, self->callee.head.type->name, what);
  nsl_vector_read(v, to);
  return 0;
}

static int ds_reset(lua_State *L) {
  ns_ds_reset(nsl_check_idle_ds(L, "resetToInitialState")->ds);
  return 0;
}

int nsl_ds_close(lua_State *L) {
  NslDs *self = nsl_check_idle_ds(L, "close");
  self->callee.head.closed = self->ds->closed = true;
  return 0;
}

int nsl_ds_gc(lua_State *L) {
  NslDs *self = lua_touserdata(L, 1);
  lua_getiuservalue(L, 1, NSL_FIELDS);
  if (lua_istable(L, -1) && lua_getfield(L, -1, "anchor nsds") == LUA_TUSERDATA) nsl_head(L, -1)->closed = true;
  nsl_callee_release(&self->callee);
  ns_ds_free(self->ds);
  self->ds = NULL;
  return 0;
}

int nsl_ds_tostring(lua_State *L, int count, const char *one, const char *many) {
  NslDs *self = lua_touserdata(L, 1);
  if (nsl_is_closed(&self->callee.head)) return lua_pushfstring(L, "%s (closed)", self->callee.head.type->name), 1;
  lua_pushfstring(L, self->ds->name[0] ? "%s '%s'" : "%s", self->callee.head.type->name, self->ds->name);
  lua_pushfstring(L, " with %d %s", count, count == 1 ? one : many);
  lua_concat(L, 2);
  return 1;
}

/* ---- names of the states ---- */

static bool is_numbered(const char *name, const char *stem) {
  size_t length = strlen(stem);
  if (strncmp(name, stem, length) != 0) return false;
  return name[length] && strspn(name + length, "0123456789") == strlen(name + length);
}

const char *nsl_meaning_in_solution(const char *name) {
  static const char *const fields[] = {"t", "iterations", "status", "message", "stats"};
  static const char *const solution_methods[] = {"save", "column",  "names",     "display", "close",
                                                 "plot", "animate", "animate3d", "html"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(name, fields[i]) == 0) return "a field of solutions";
  for (size_t i = 0; i < sizeof solution_methods / sizeof *solution_methods; i++)
    if (strcmp(name, solution_methods[i]) == 0) return "a method of solutions";
  if (name[0] == '\0') return "no name of a column";
  bool column = strcmp(name, "newton_iterations") == 0 || is_numbered(name, "lambda") || is_numbered(name, "y");
  return column ? "a column of solutions" : NULL;
}

/* Refuses the name on top, number i of those in the list at 3, when it clashes. */
static void check_state_name(lua_State *L, int i) {
  const char *name = lua_tostring(L, -1), *meaning = nsl_meaning_in_solution(name);
  if (strlen(name) != lua_rawlen(L, -1)) luaL_error(L, "setNames: names[%d]: '%s...' has a byte of 0 in it", i, name);
  if (meaning) luaL_error(L, "setNames: names[%d]: '%s' is %s; choose another, such as '%s_%d'", i, name, meaning, name, i);
  for (int j = 1; j < i; j++) {
    lua_rawgeti(L, 3, j);
    if (lua_rawequal(L, -1, -2)) luaL_error(L, "setNames: names[%d]: '%s' is names[%d] already", i, name, j);
    lua_pop(L, 1);
  }
}

/* setNames{"c", "w1", ...}: sets the names of the states in a solution. */
static int ds_set_names(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  lua_settop(L, 2);
  if (!lua_istable(L, 2) || (int)lua_rawlen(L, 2) != self->ds->n) {
    const char *expected = lua_pushfstring(L, "a table of %d strings", self->ds->n);
    nsl_bad(L, "setNames", "names", expected, 2);
  }
  lua_createtable(L, self->ds->n, 0);
  for (int i = 1; i <= self->ds->n; i++) {
    if (lua_rawgeti(L, 2, i) != LUA_TSTRING) {
      const char *what = lua_pushfstring(L, "names[%d]", i);
      nsl_bad(L, "setNames", what, "a string", -2);
    }
    check_state_name(L, i);
    lua_rawseti(L, 3, i);
  }
  nsl_anchor(L, 1, "names", 3);
  return 0;
}

void nsl_open_ds_family(lua_State *L, NsFamily which, const NslDsFamily *family) {
  static const luaL_Reg common[] = {
      {"resetToInitialState", ds_reset}, {"setNames", ds_set_names}, {"close", nsl_ds_close}, {NULL, NULL}};
  lua_newtable(L);
  int methods = lua_gettop(L);
  for (int i = 0; i < NS_DS_CLASSES; i++)
    if (ns_ds_classes[i]->family == which) nsl_add_class_methods(L, family->callee, &ns_ds_classes[i]->model);
  luaL_setfuncs(L, common, 0);
  family->add_methods(L);
  for (int i = 0; i < NS_DS_CLASSES; i++) {
    const NsDsClass *class = ns_ds_classes[i];
    if (class->family != which) continue;
    lua_pushvalue(L, methods - 1);
    nsl_copy_methods(L, methods, family->callee, &class->model);
    if (!class->turns && family->of_rotation) nsl_drop_methods(L, family->of_rotation);
    nsl_register_callee_type(L, &types[i], &class->model, family->meta);
    lua_pushlightuserdata(L, (void *)(size_t)family);
    lua_pushlightuserdata(L, (void *)(size_t) class);
    lua_pushcclosure(L, construct_ds, 2);
    lua_setfield(L, -2, class->model.name);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}
