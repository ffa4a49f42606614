/*
** boundary.c
** BoundaryCondition, FixedBC and HarmonicBC, and their use in mechanical systems.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/diff/compile.h"
#include "bind/call/function.h"
#include "bind/model/mechanical_ds.h"

/* The velocities are those in `values`, which is anchored, unless a callback or the harmonic motion gives them. */
typedef struct NslBoundary {
  NslCallee callee;
  NsBoundary *boundary;
  NslVector *values;
} NslBoundary;

/* One for each class, in the order of ns_boundary_classes. */
static const NslType types[NS_BOUNDARY_CLASSES] = {
#define X(name) {ns_boundary_##name##_text, NULL, NULL},
    NS_BOUNDARY_LIST(X)
#undef X
};

static NsSource source_of(const NslVector *v) {
  return (NsSource){v->data, v->stride, 0, v->version, nsl_is_live(v)};
}

static NsStatus bind_boundary_bind(NslCallee *callee) {
  NslBoundary *self = (NslBoundary *)callee;
  if (!self->boundary || !self->values) return NS_OK;
  NsFunction function = nsl_coefficient_function(callee, 0);
  if (function.value) return ns_boundary_set_function(self->boundary, function);
  return ns_boundary_set_values(self->boundary, source_of(self->values));
}

/* The boundary condition at idx, open or closed; NULL when it is something else. */
static NslBoundary *bind_boundary_test(lua_State *L, int idx) {
  return (NslBoundary *)nsl_test_family(L, idx, types, NS_BOUNDARY_CLASSES);
}

static NslBoundary *bind_boundary_check(lua_State *L, int idx) {
  NslBoundary *self = bind_boundary_test(L, idx);
  if (!self) nsl_wrong_type(L, idx, "boundary condition", "bc");
  else if (self->callee.head.closed) luaL_error(L, "%s is closed", nsl_callee_title(L, &self->callee));
  return self;
}

static NslCallee *check_boundary_callee(lua_State *L, int idx) {
  return &bind_boundary_check(L, idx)->callee;
}

static void *boundary_object(NslCallee *callee) {
  return ((NslBoundary *)callee)->boundary;
}

static const NslCalleeFamily family = {.check = check_boundary_callee,
                                       .object = boundary_object,
                                       .bind = bind_boundary_bind,
                                       .no_callback = "%s: a %s has no callbacks"};

/* ---- making ---- */

/*
** Pushes the indices at 1 (a number or a list, counted from 1) as a block of *n integers counted from 0, after checking them.
*/
static const int *bind_boundary_push_indices(lua_State *L, const char *who, int *n) {
  if (lua_isinteger(L, 1)) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, 1);
    lua_rawseti(L, -2, 1);
    lua_replace(L, 1);
  }
  if (!lua_istable(L, 1) || lua_rawlen(L, 1) == 0) nsl_bad(L, who, "indices", "a list of integers", 1);
  *n = (int)lua_rawlen(L, 1);
  int *index = lua_newuserdatauv(L, (size_t)*n * sizeof *index, 0);
  for (int i = 0; i < *n; i++) {
    lua_rawgeti(L, 1, i + 1);
    const char *what = lua_pushfstring(L, "indices[%d]", i + 1);
    lua_Integer k = nsl_integer(L, -2, who, what);
    if (k < 1 || k > 1 << 30) luaL_error(L, "%s: %s: indices count from 1, got %I", who, what, k);
    for (int j = 0; j < i; j++)
      if (index[j] == k - 1) luaL_error(L, "%s: %s: %I is indices[%d] already", who, what, k, j + 1);
    index[i] = (int)k - 1;
    lua_pop(L, 2);
  }
  return index;
}

/* Pushes a boundary condition for the indices at 1. */
static NslBoundary *push_new(lua_State *L, const NsModelClass *class, int n, const int *index) {
  int i = 0;
  while (ns_boundary_classes[i] != class) i++;
  NslBoundary *self = nsl_new(L, &types[i], sizeof *self, nsl_callee_uservalues(class));
  nsl_callee_init(L, -1, &self->callee, &family, class, "");
  if (ns_boundary_new(&self->boundary, class, n, index) != NS_OK) luaL_error(L, "not enough memory");
  self->callee.name = self->boundary->name;
  nsl_callee_size(L, -1, n, n, 0);
  return self;
}

/* Makes the vector on top, which is popped, the velocities of the object at idx. */
static void take_values(lua_State *L, int idx) {
  NslBoundary *self = lua_touserdata(L, idx);
  nsl_anchor(L, idx, "values", -1);
  self->values = nsl_test_vector(L, -1);
  lua_pop(L, 1);
  if (bind_boundary_bind(&self->callee) != NS_OK) luaL_error(L, "not enough memory");
}

/* BoundaryCondition(indices [, values or a function of time]). */
static int new_general(lua_State *L) {
  const char *who = ns_boundary_general_text;
  int n;
  nsl_at_most(L, 2, who);
  lua_settop(L, 2);
  const int *index = bind_boundary_push_indices(L, who, &n);
  bool given = !lua_isnil(L, 2) && !nsl_is_callback(L, 2);
  if (given && nsl_test_vector(L, 2)) nsl_to_finite_vector(L, 2, n, who, "values"), lua_pushvalue(L, 2);
  else if (given) nsl_push_flat(L, 2, n, who, "values");
  else nsl_push_vector(L, n, "values");
  push_new(L, &ns_boundary_general, n, index);
  lua_pushvalue(L, 4);
  take_values(L, 5);
  if (nsl_is_callback(L, 2)) nsl_set_function(L, 5, 0, 2);
  return 1;
}

/* FixedBC(indices): velocities 0. */
static int new_fixed(lua_State *L) {
  int n;
  nsl_at_most(L, 1, ns_boundary_fixed_text);
  lua_settop(L, 1);
  const int *index = bind_boundary_push_indices(L, ns_boundary_fixed_text, &n);
  push_new(L, &ns_boundary_fixed, n, index);
  return 1;
}

/* HarmonicBC(indices, a, b, omega, phi): a + b cos(omega t + phi), each a number for all or a vector. */
static int new_harmonic(lua_State *L) {
  static const char *const names[] = {"a", "b", "omega", "phi"};
  const char *who = ns_boundary_harmonic_text;
  int n;
  nsl_at_most(L, 5, who);
  lua_settop(L, 5);
  const int *index = bind_boundary_push_indices(L, who, &n);
  double *all = lua_newuserdatauv(L, 4 * (size_t)n * sizeof *all, 0);
  for (int p = 0; p < 4; p++) {
    double *to = all + (ptrdiff_t)p * n;
    bool one = lua_type(L, 2 + p) == LUA_TNUMBER;
    double value = one ? nsl_finite(L, 2 + p, who, names[p]) : 0;
    for (int i = 0; one && i < n; i++) to[i] = value;
    if (!one) memcpy(to, nsl_push_flat(L, 2 + p, n, who, names[p])->data, (size_t)n * sizeof *to);
  }
  NslBoundary *self = push_new(L, &ns_boundary_harmonic, n, index);
  if (ns_boundary_set_harmonic(self->boundary, all) != NS_OK) luaL_error(L, "not enough memory");
  return 1;
}

/* Pushes a clone of the boundary condition at idx: numbers of its own, the same callback. */
static void push_clone(lua_State *L, int idx) {
  const NslBoundary *from = bind_boundary_test(L, idx);
  NslBoundary *to = push_new(L, from->callee.kind, from->boundary->n, from->boundary->index);
  int copy = lua_gettop(L);
  nsl_clone_fields(L, idx, copy);
  if (from->values) {
    nsl_vector_read(from->values, nsl_push_vector(L, from->boundary->n, "values")->data);
    take_values(L, copy);
  }
  if (from->boundary->harmonic && ns_boundary_set_harmonic(to->boundary, from->boundary->harmonic) != NS_OK)
    luaL_error(L, "not enough memory");
}

/* Systems that still use it keep the engine's part, with its last velocities. */
static int boundary_gc(lua_State *L) {
  NslBoundary *self = lua_touserdata(L, 1);
  ns_boundary_freeze(self->boundary);
  ns_boundary_free(self->boundary);
  self->boundary = NULL;
  nsl_callee_release(&self->callee);
  return 0;
}

static int boundary_tostring(lua_State *L) {
  const NslBoundary *self = lua_touserdata(L, 1);
  int n = self->boundary ? self->boundary->n : 0;
  return lua_pushfstring(L, "%s of %d velocit%s", self->callee.head.type->name, n, n == 1 ? "y" : "ies"), 1;
}

/* ---- methods ---- */

static int boundary_indices(lua_State *L) {
  const NsBoundary *b = bind_boundary_check(L, 1)->boundary;
  lua_createtable(L, b->n, 0);
  for (int i = 0; i < b->n; i++) {
    lua_pushinteger(L, b->index[i] + 1);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* prescribedVelocity(): a live vector when the velocities are constant; otherwise a copy of those computed last. */
static int boundary_velocity(lua_State *L) {
  NslBoundary *self = bind_boundary_check(L, 1);
  const NsBoundary *b = self->boundary;
  if (self->values && !ns_coef_varies(&b->velocity)) {
    lua_getiuservalue(L, 1, NSL_FIELDS);
    lua_getfield(L, -1, "anchor values");
    return 1;
  }
  memcpy(nsl_push_vector(L, b->n, NULL)->data, b->velocity.value, (size_t)b->n * sizeof(double));
  return 1;
}

/* computePrescribedVelocity(time): the velocities at a time, as a new vector; the velocities of a step under way stay. */
static int boundary_compute(lua_State *L) {
  NslBoundary *self = bind_boundary_check(L, 1);
  NsError err = {NS_OK, ""};
  nsl_at_most(L, 2, ns_boundary_general.slots[0].name);
  double t = nsl_finite(L, 2, ns_boundary_general.slots[0].name, "time");
  double *now = self->boundary->velocity.value;
  size_t bytes = (size_t)self->boundary->n * sizeof *now;
  NslVector *kept = nsl_push_vector(L, self->boundary->n, NULL), *out = nsl_push_vector(L, self->boundary->n, NULL);
  memcpy(kept->data, now, bytes);
  NslEdge edge = nsl_enter(self->callee.host, L, NULL, NULL);
  NsStatus status = ns_boundary_update(self->boundary, self->boundary->name[0] ? self->boundary->name : "?", t, &err);
  nsl_leave(self->callee.host, edge);
  memcpy(out->data, now, bytes);
  memcpy(now, kept->data, bytes);
  return status == NS_OK ? 1 : nsl_raise_step(L, &err);
}

static int boundary_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"indices", boundary_indices}, {"velocity", boundary_velocity}, {NULL, NULL}};
  bind_boundary_check(L, 1);
  return nsl_display_object(L, fields);
}

/* ---- systems ---- */

/* Pushes the boundary condition of the system at idx; nil when there is none. */
static void push_of(lua_State *L, int idx) {
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_getfield(L, -1, "anchor boundaryConditions");
  lua_remove(L, -2);
}

void nsl_find_boundary_methods(lua_State *L, int idx) {
  push_of(L, idx);
  NslBoundary *self = bind_boundary_test(L, -1);
  if (self && !nsl_is_closed(&self->callee.head)) nsl_find_methods(L, -1);
  lua_pop(L, 1);
}

/* Sets the boundary condition (nil: none) of the system at idx from stack index `value`. */
static void give(lua_State *L, int idx, int value) {
  NslDs *ds = lua_touserdata(L, idx);
  NslBoundary *boundary = bind_boundary_test(L, value);
  nsl_anchor(L, idx, "boundaryConditions", value);
  ns_mechanical_set_boundary(nsl_mechanical(ds), boundary ? boundary->boundary : NULL);
  if (ds->callee.nsds) ((NsNsds *)ds->callee.nsds)->version++;
}

void nsl_clone_boundary(lua_State *L, int from, int to) {
  push_of(L, from);
  if (bind_boundary_test(L, -1)) {
    push_clone(L, lua_gettop(L));
    give(L, to, lua_gettop(L));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* setBoundaryConditions(bc), or (nil). */
static int ds_set_boundary(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "setBoundaryConditions");
  lua_settop(L, 2);
  const NslBoundary *boundary = lua_isnil(L, 2) ? NULL : bind_boundary_check(L, 2);
  int nv = nsl_mechanical(self)->nv, last = boundary ? ns_boundary_last(boundary->boundary) + 1 : 0;
  if (last > nv)
    luaL_error(L, "setBoundaryConditions: index %d is outside 1..%d, the velocities of %s", last, nv,
               nsl_callee_title(L, &self->callee));
  give(L, 1, 2);
  return 0;
}

static int ds_boundary(lua_State *L) {
  nsl_check_mechanical(L, 1);
  push_of(L, 1);
  return 1;
}

/* reactionToBoundaryConditions(): the impulses of the last step that enforced the velocities, in the order of the indices. */
static int ds_reaction(lua_State *L) {
  const NslDs *self = nsl_check_mechanical(L, 1);
  if (!nsl_mechanical(self)->boundary) return lua_pushnil(L), 1;
  return nsl_ds_view(L, self->ds->reaction, self->ds->nreaction, "reaction", NULL);
}

/* setReactionToBoundaryConditions(values): copies the values; the next step overwrites them. */
static int ds_set_reaction(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "setReactionToBoundaryConditions");
  if (!nsl_mechanical(self)->boundary)
    return luaL_error(L, "%s: setReactionToBoundaryConditions: there are no boundary conditions", self->callee.head.type->name);
  return nsl_ds_assign(L, self, self->ds->reaction, self->ds->nreaction, "reaction");
}

const luaL_Reg nsl_mechanical_boundary_methods[] = {{"setBoundaryConditions", ds_set_boundary},
                                                    {"boundaryConditions", ds_boundary},
                                                    {"reactionToBoundaryConditions", ds_reaction},
                                                    {"setReactionToBoundaryConditions", ds_set_reaction},
                                                    {NULL, NULL}};

void nsl_open_boundary(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", boundary_gc}, {"__tostring", boundary_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"velocityIndices", boundary_indices},
                                     {"prescribedVelocity", boundary_velocity},
                                     {"computePrescribedVelocity", boundary_compute},
                                     {"display", boundary_display},
                                     {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"BoundaryCondition", new_general}, {"FixedBC", new_fixed}, {"HarmonicBC", new_harmonic}, {NULL, NULL}};
  for (int i = 0; i < NS_BOUNDARY_CLASSES; i++) {
    lua_newtable(L);
    nsl_add_class_methods(L, &family, &ns_boundary_general); /* the only class with the callback */
    luaL_setfuncs(L, methods, 0);
    nsl_register_callee_type(L, &types[i], ns_boundary_classes[i], meta);
  }
  luaL_setfuncs(L, functions, 0);
}
