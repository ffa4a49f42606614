/*
** relink.c
** The clone of a model: views, shared parameters and fields.
*/
#include "bind/model/relink.h"

#include <string.h>

#include "bind/model/ds.h"
#include "bind/model/made_for.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/diff/math_slots.h"
#include "model/counterpart.h"

/* Stack indices of tables. clones: clone by object; vectors: clone by address of a plain vector of parameters. */
typedef struct Maps {
  int clones, vectors;
} Maps;

static bool is_callee(const NslType *type) {
  return nsl_is_ds(type) || nsl_is_relation(type);
}

/* ---- where a number of the original is in the clone ---- */

/* Visits the arrays of an object that can have views: those with the flag LIVE or STATE. */
static void walk_arrays(const void *object, NsVisitor visitor, void *context) {
  const NslHead *head = object;
  if (head->type->visit) {
    head->type->visit(head, visitor, context);
    return;
  }
  if (nsl_is_interaction(head->type)) {
    ns_interaction_visit(((const NslInteraction *)head)->interaction, visitor, context);
    return;
  }
  NsDs *ds = ((const NslDs *)head)->ds;
  ns_fields_walk(ds->class->model.fields, ds, NS_FIELD_LIVE | NS_FIELD_STATE, visitor, context);
}

/* ---- views ---- */

/* Pushes the clone of an object, nil when it has none. */
static NslHead *push_clone_of(lua_State *L, Maps maps, const NslHead *object) {
  for (lua_pushnil(L); lua_next(L, maps.clones); lua_pop(L, 1)) {
    if (lua_touserdata(L, -2) != (const void *)object) continue;
    lua_remove(L, -2);
    return lua_touserdata(L, -1);
  }
  lua_pushnil(L);
  return NULL;
}

/*
** Pushes the clone's counterpart of the live view at stack index `view`: a view of the clone of the object that it shows or,
** when that object is not part of the model, the view itself. `callee` and `what` are for the message.
*/
static void push_relinked(lua_State *L, Maps maps, const NslCallee *callee, const char *what, int view) {
  const NslVector *v = nsl_test_vector(L, view);
  NslHead *clone = push_clone_of(L, maps, v->head.owner);
  int at = lua_gettop(L);
  double *data = clone ? ns_counterpart(walk_arrays, v->head.owner, clone, v->data) : NULL;
  if (clone && !data)
    luaL_error(L, "clone: %s: %s is a view of %s of a %s, of which a clone has none: copy it, or set it in the clone",
               callee ? nsl_callee_title(L, callee) : "event", what, v->label ? v->label : "a vector",
               v->head.owner->type->name);
  bool state = clone && v->version != &v->own_version && nsl_is_ds(clone->type);
  if (clone) nsl_push_vector_view(L, at, data, v->n, v->stride, v->label, state ? &((NslDs *)clone)->ds->x_version : NULL);
  else lua_pushvalue(L, view);
  lua_replace(L, at);
}

/* ---- parameters ---- */

/* Makes the vector on top of the stack, which is popped, the shared parameters of the callee at idx. */
static void share_parameters(lua_State *L, int idx) {
  NslHead *head = lua_touserdata(L, idx);
  NslRelation *relation = (NslRelation *)head;
  int value = lua_gettop(L);
  if (nsl_is_ds(head->type)) nsl_set_ds_z(L, idx, value, true);
  else nsl_set_z(L, idx, &relation->relation->z, &relation->relation->nz, value, true, true);
  lua_settop(L, value - 1);
}

static const NslVector *push_parameters(lua_State *L, int idx) {
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_getfield(L, -1, "anchor z");
  lua_remove(L, -2);
  return nsl_test_vector(L, -1);
}

/* The vector that a plain one is a slice of, or itself. */
static const NslVector *whole_of(const NslVector *v) {
  return v->head.owner && v->head.owner->type == &nsl_vector_type ? (const NslVector *)v->head.owner : v;
}

/*
** Pushes the clone of a plain vector (each is cloned once), or a view of it: n numbers from the one that corresponds to `data`.
*/
static void push_plain_clone(lua_State *L, Maps maps, const NslVector *v, const double *data, int n) {
  const NslVector *whole = whole_of(v);
  if (lua_rawgetp(L, maps.vectors, whole) == LUA_TNIL) {
    lua_pop(L, 1);
    nsl_vector_read(whole, nsl_push_vector(L, whole->n, "z")->data);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, maps.vectors, whole);
  }
  NslVector *clone = lua_touserdata(L, -1);
  nsl_push_vector_view(L, -1, clone->data + (data - whole->data), n, 1, "z", clone->version);
  lua_remove(L, -2);
}

/* Sets the parameters of a clone when they are a plain vector, which other objects may share. */
static void relink_plain(lua_State *L, Maps maps, int from, int to) {
  const NslVector *v = push_parameters(L, from);
  if (v && !nsl_is_live(v) && v->n > 0) {
    push_plain_clone(L, maps, v, v->data, v->n);
    share_parameters(L, to);
  }
  lua_pop(L, 1);
}

/* Sets the parameters of a clone when they are a view: of a state, or of the parameters of another object, b:z(). */
static void relink_view(lua_State *L, Maps maps, int from, int to) {
  const NslVector *v = push_parameters(L, from), *of = NULL;
  int view = lua_gettop(L);
  if (v && nsl_is_live(v) && nsl_is_ds(v->head.owner->type) && v->data == ((const NslDs *)v->head.owner)->ds->z) {
    lua_getiuservalue(L, view, 1); /* { the owner, its parameters } */
    if (lua_istable(L, -1)) lua_rawgeti(L, -1, 2), of = nsl_test_vector(L, -1);
  }
  if (of && !nsl_is_live(of)) push_plain_clone(L, maps, of, v->data, v->n);
  else if (v && nsl_is_live(v)) push_relinked(L, maps, lua_touserdata(L, from), "z", view);
  if (v && nsl_is_live(v)) share_parameters(L, to);
  lua_settop(L, view - 1);
}

/*
** Pushes the vector or matrix of the clone that corresponds to the plain one at stack index `value`, which the objects of the model share as z
** or as a coefficient; false: none shares it.
*/
static bool push_shared_clone(lua_State *L, int map, int value) {
  int top = lua_gettop(L);
  const NslVector *v = nsl_test_vector(L, value);
  const NslMatrix *m = nsl_test_matrix(L, value);
  const double *data = v ? v->data : m->data;
  const uint64_t *version = v ? v->version : m->version;
  bool found = false;
  for (lua_pushnil(L); !found && lua_next(L, map); lua_settop(L, found ? top + 3 : top + 1)) {
    NslHead *from = lua_touserdata(L, top + 1), *to = lua_touserdata(L, top + 2);
    if (!to || !is_callee(from->type) || !is_callee(to->type)) continue;
    NslCallee *original = (NslCallee *)from, *clone = (NslCallee *)to;
    const void *object = original->family->object(original);
    size_t bytes;
    for (const NsField *field = original->kind->fields; field->name && !found; field++) {
      const NsCoef *coef = field->type == NS_FIELD_COEF ? ns_field_place(field, object) : NULL;
      bool z = v && ns_field_is_array(field) && strcmp(field->name, "z") == 0;
      if (z && ns_field_data(field, object, &bytes) == data) {
        nsl_push_z(L, top + 2, ns_field_data(field, clone->family->object(clone), &bytes), v->n);
        found = true;
      } else if (coef && coef->source.data == data && coef->source.version == version) {
        if (v) nsl_push_vector_copy(L, v);
        else nsl_push_matrix_copy(L, m);
        nsl_set_coefficient(L, top + 2, field->name, top + 3, true);
        found = true;
      }
    }
  }
  if (found) lua_replace(L, top + 1);
  lua_settop(L, found ? top + 1 : top);
  return found;
}

bool nsl_push_relinked(lua_State *L, int map, int value) {
  Maps maps = {map, 0};
  const NslVector *v = nsl_test_vector(L, value);
  if (!v) {
    lua_pushvalue(L, value);
    if ((nsl_head(L, value) || lua_istable(L, value)) && lua_rawget(L, map) != LUA_TNIL) return true;
    lua_pop(L, 1);
    const NslMatrix *m = nsl_test_matrix(L, value);
    return m && !m->head.owner && push_shared_clone(L, map, value);
  }
  if (!nsl_is_live(v) && !(v->head.owner && v->head.owner->type->visit)) return push_shared_clone(L, map, value);
  NslHead *clone = push_clone_of(L, maps, v->head.owner);
  lua_pop(L, 1);
  if (!clone) return false;
  push_relinked(L, maps, NULL, "a vector of an action", value);
  return true;
}

/* A function of the script in a clone: upvalue 1, called with the places of upvalue 2 (nsl_swap_pack). */
static int relink_call(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (nsl_swap_call(L, lua_tothread(L, lua_upvalueindex(2)), lua_gettop(L) - 1, 1) != LUA_OK) return lua_error(L);
  return 1;
}

int nsl_relinked_function(lua_State *L) {
  lua_settop(L, 2);
  if (lua_tocfunction(L, 1) == relink_call) {
    lua_getupvalue(L, 1, 1), lua_getupvalue(L, 1, 2);
    nsl_swap_renew(L, lua_tothread(L, 4), 2, nsl_push_relinked);
    lua_remove(L, 4);
  } else {
    nsl_swap_find_objects(L, 2, nsl_push_relinked, 1, 1);
    if (nsl_swap_count(L, 3) == 0) return lua_settop(L, 1), 1;
    nsl_swap_pack(L, 3);
    lua_pushvalue(L, 1);
    lua_replace(L, 3);
  }
  lua_pushcclosure(L, relink_call, 2);
  return 1;
}

/* ---- fields and coefficients ---- */

/* Pushes the clone's counterpart of the value on top; when the value stays as it is, returns false and pushes nothing. */
static bool push_replacement(lua_State *L, Maps maps, const NslCallee *callee, const char *name) {
  int value = lua_gettop(L);
  const NslVector *v = nsl_test_vector(L, value);
  lua_pushvalue(L, value);
  if (v ? nsl_is_live(v) : nsl_head(L, value) && lua_rawget(L, maps.clones) != LUA_TNIL) {
    if (!v) return true;
    lua_settop(L, value);
    push_relinked(L, maps, callee, name, value);
    return true;
  }
  lua_settop(L, value);
  return false;
}

/* Relinks one field of the clone at `to`: its name is at `key`, its value on top. */
static void relink_field(lua_State *L, Maps maps, int to, int fields, int key) {
  static const char anchor[] = "anchor ";
  const char *name = lua_type(L, key) == LUA_TSTRING ? lua_tostring(L, key) : "a field";
  bool anchored = strncmp(name, anchor, sizeof anchor - 1) == 0;
  int value = lua_gettop(L);
  if (anchored && strcmp(name, "anchor z") == 0) return;
  if (anchored && !nsl_test_vector(L, value)) return;
  if (!push_replacement(L, maps, lua_touserdata(L, to), anchored ? name + sizeof anchor - 1 : name)) return;
  if (anchored) {
    nsl_set_coefficient(L, to, name + sizeof anchor - 1, value + 1, true);
  } else {
    lua_pushvalue(L, key);
    lua_pushvalue(L, value + 1);
    lua_rawset(L, fields);
  }
  lua_settop(L, value);
}

/* Relinks all fields. Lists the names first, because setting a coefficient writes into the table of fields. */
static void relink_fields(lua_State *L, Maps maps, int to) {
  int top = lua_gettop(L), fields = top + 1, names = top + 2, count = 0;
  lua_getiuservalue(L, to, NSL_FIELDS);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, fields); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_rawseti(L, names, ++count);
  }
  for (int i = 1; i <= count; i++) {
    lua_rawgeti(L, names, i);
    lua_pushvalue(L, -1);
    lua_rawget(L, fields);
    relink_field(L, maps, to, fields, names + 1);
    lua_settop(L, names);
  }
  lua_settop(L, top);
}

/* Calls f for every system and relation of the map. */
static void for_each(lua_State *L, Maps maps, void (*f)(lua_State *, Maps, int, int)) {
  for (lua_pushnil(L); lua_next(L, maps.clones); lua_pop(L, 1)) {
    int to = lua_gettop(L);
    const NslHead *head = lua_touserdata(L, to);
    if (is_callee(head->type)) f(L, maps, to - 1, to);
    lua_settop(L, to);
  }
}

static void relink_all_fields(lua_State *L, Maps maps, int from, int to) {
  nsl_relink_made_for(L, maps.clones, from, to);
  relink_fields(L, maps, to);
}

void nsl_relink(lua_State *L, int map) {
  nsl_need_stack(L, 24);
  int top = lua_gettop(L);
  Maps maps = {lua_absindex(L, map), top + 1};
  lua_newtable(L);
  for_each(L, maps, relink_plain);
  for_each(L, maps, relink_view);
  for_each(L, maps, relink_all_fields);
  lua_settop(L, top);
}
