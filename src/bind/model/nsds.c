/*
** nsds.c
** NonSmoothDynamicalSystem: inserting and linking; the graph keeps everything in it alive.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/array/field.h"
#include "bind/model/ds.h"
#include "bind/model/made_for.h"
#include "bind/model/model.h"
#include "bind/model/relink.h"
#include "model/contact.h"

static const NslType nsds_type = {.name = "NonSmoothDynamicalSystem"};

NslNsds *nsl_check_nsds(lua_State *L, int idx) {
  return nsl_check(L, idx, &nsds_type);
}

static NslHead *check_nsds_head(lua_State *L, int idx) {
  return &nsl_check_nsds(L, idx)->head;
}

static void *nsds_of_head(NslHead *head) {
  return ((NslNsds *)head)->nsds;
}

static NslNsds *bind_nsds_check_idle(lua_State *L, const char *what) {
  NslNsds *self = nsl_check_nsds(L, 1);
  if (self->nsds->busy) luaL_error(L, "%s: a step is being computed (called from inside a callback?)", what);
  if (self->nsds->acting && strcmp(what, "insertDynamicalSystem") == 0)
    luaL_error(L, "%s: an action of an event can not add a system", what);
  if (self->nsds->observed) luaL_error(L, "%s: a row of a run is being recorded (called from inside observe?)", what);
  return self;
}

/* NonSmoothDynamicalSystem(t0, T). */
static int new_nsds(lua_State *L) {
  nsl_at_most(L, 2, nsds_type.name);
  double t0 = nsl_finite(L, 1, nsds_type.name, "t0"), T = nsl_finite(L, 2, nsds_type.name, "T");
  if (!(T > t0)) nsl_error(L, "%s: T: expected a time after t0 = %f, got %f", nsds_type.name, t0, T);
  NslNsds *self = nsl_new(L, &nsds_type, sizeof *self, 1);
  lua_createtable(L, 0, 2);
  lua_newtable(L);
  lua_setfield(L, -2, "ds");
  lua_newtable(L);
  lua_setfield(L, -2, "interactions");
  lua_setiuservalue(L, -2, 1);
  if (ns_nsds_new(&self->nsds, t0, T) != NS_OK) luaL_error(L, "not enough memory");
  return 1;
}

/* Appends the value at idx to the anchor list `key` of the graph at 1, and pops what it pushed. */
static void bind_nsds_keep(lua_State *L, const char *key, int idx) {
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, key);
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 2);
}

/* Removes the last anchored value: the engine refused it. */
static void bind_nsds_drop(lua_State *L, const char *key) {
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, key);
  lua_pushnil(L);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2));
  lua_pop(L, 2);
}

static int nsds_insert(lua_State *L) {
  NslNsds *self = bind_nsds_check_idle(L, "insertDynamicalSystem");
  NslDs *ds = nsl_check_ds(L, 2);
  NsError err = {NS_OK, ""};
  nsl_find_methods(L, 2);
  bind_nsds_keep(L, "ds", 2);
  if (ns_nsds_insert(self->nsds, ds->ds, &err) != NS_OK) {
    bind_nsds_drop(L, "ds");
    return nsl_raise(L, &err);
  }
  ds->callee.nsds = self->nsds;
  nsl_anchor(L, 2, "nsds", 1);
  return 0;
}

/* Sets the sizes of a relation's callbacks, which linking determines. */
static void size_relation(lua_State *L, int relation, const NslInteraction *inter, NsDs *const *ds, int n) {
  NslRelation *r = lua_touserdata(L, relation);
  int nx = 0, nz = 0;
  for (int i = 0; i < n; i++) nx += ds[i]->nx, nz += ds[i]->nz;
  if (r->relation->m < 0) nsl_callee_size(L, relation, nx, inter->interaction->m, r->relation->z ? r->relation->nz : nz);
}

/* Takes the systems from the stack, from index 3 on. Returns their number. */
static int linked_systems(lua_State *L, NsDs **ds) {
  int n = lua_gettop(L) - 2;
  while (n > 1 && lua_isnil(L, 2 + n)) n--;
  if (n > NS_INTERACTION_SYSTEMS)
    luaL_error(L, "link: an interaction links at most %d dynamical systems, got %d", NS_INTERACTION_SYSTEMS, n);
  for (int i = 0; i < n || i < 1; i++) ds[i] = nsl_check_ds(L, 3 + i)->ds;
  return n;
}

/* link(interaction, ds [, ds2, ...]). */
static int nsds_link(lua_State *L) {
  NslNsds *self = bind_nsds_check_idle(L, "link");
  NslInteraction *inter = nsl_check_interaction(L, 2);
  NsDs *ds[NS_INTERACTION_SYSTEMS];
  int n = linked_systems(L, ds);
  NsError err = {NS_OK, ""};
  const int at = 3 + NS_INTERACTION_SYSTEMS; /* of the relation; the systems stay below it, so that none is collected */
  lua_settop(L, at - 1);
  lua_getiuservalue(L, 2, 2);
  NslRelation *relation = lua_touserdata(L, at);
  if (nsl_is_closed(&relation->callee.head)) luaL_error(L, "link: %s is closed", nsl_callee_title(L, &relation->callee));
  if (!inter->interaction->owner && relation->callee.nsds && relation->callee.nsds != self->nsds)
    luaL_error(L, "link: %s is already linked in another NonSmoothDynamicalSystem", nsl_callee_title(L, &relation->callee));
  nsl_check_made_for(L, self->nsds, at, inter->interaction->law, 3, n);
  nsl_find_methods(L, at);
  if (!inter->interaction->owner) size_relation(L, at, inter, ds, n);
  bind_nsds_keep(L, "interactions", 2);
  NslEdge edge = nsl_enter(relation->callee.host, L, NULL, NULL);
  NsStatus status = ns_nsds_link(self->nsds, inter->interaction, ds, n, &err);
  nsl_leave(relation->callee.host, edge);
  if (status != NS_OK) {
    bind_nsds_drop(L, "interactions");
    return nsl_raise_step(L, &err);
  }
  relation->callee.nsds = self->nsds;
  nsl_anchor(L, at, "nsds", 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 2, 3);
  return 0;
}

/* Takes what is no longer linked off the list of the graph's interactions. */
static void nsds_drop_unlinked(lua_State *L, const NsNsds *nsds) {
  lua_Integer kept = 0;
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "interactions");
  lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    if (((NslInteraction *)lua_touserdata(L, -1))->interaction->owner == nsds) lua_rawseti(L, -2, ++kept);
    else lua_pop(L, 1);
  }
  for (; count > kept; count--) lua_pushnil(L), lua_rawseti(L, -2, count);
  lua_pop(L, 2);
}

/* Pushes the interactions of the list at index 2 as an array. */
static NsInteraction **push_interactions(lua_State *L, int *count) {
  *count = (int)lua_rawlen(L, 2);
  NsInteraction **list = lua_newuserdatauv(L, (size_t)(*count + 1) * sizeof(NsInteraction *), 0);
  for (int k = 0; k < *count; k++, lua_pop(L, 1)) lua_rawgeti(L, 2, k + 1), list[k] = nsl_check_interaction(L, -1)->interaction;
  return list;
}

/* unlink(nsds, list): all at once, in the time that one takes. */
static int graph_unlink(lua_State *L) {
  const NslNsds *self = bind_nsds_check_idle(L, "unlink");
  NsError err = {NS_OK, ""};
  int count;
  NsInteraction **list = push_interactions(L, &count);
  if (ns_nsds_unlink(self->nsds, count, list, &err) != NS_OK) return nsl_raise(L, &err);
  nsds_drop_unlinked(L, self->nsds);
  for (int k = 0; k < count; k++, lua_pop(L, 1)) lua_rawgeti(L, 2, k + 1), lua_pushnil(L), lua_setiuservalue(L, -2, 3);
  return 0;
}

/* unlink(interaction): only between two steps; the interaction keeps its y and lambda and may be linked again. */
static int nsds_unlink(lua_State *L) {
  (void)bind_nsds_check_idle(L, "unlink"), (void)nsl_check_interaction(L, 2);
  lua_settop(L, 2);
  lua_createtable(L, 1, 0);
  lua_insert(L, 2);
  lua_rawseti(L, 2, 1);
  return graph_unlink(L);
}

/* The name of the system or interaction on top. */
static const char *name_on_top(lua_State *L, bool ds) {
  return ds ? ((NslDs *)lua_touserdata(L, -1))->ds->name : ((NslInteraction *)lua_touserdata(L, -1))->interaction->name;
}

/* Raises that no element of the list at `list` has the name at `name`, and tells the names of the first ones. */
static int raise_unknown(lua_State *L, int list, int name, bool ds) {
  enum { SHOWN = 6 };
  lua_Integer count = (lua_Integer)lua_rawlen(L, list);
  const char *known = lua_pushstring(L, count > SHOWN ? ", ..." : count == 0 ? "none" : "");
  for (lua_Integer i = count < SHOWN ? count : SHOWN; i >= 1; i--) {
    lua_rawgeti(L, list, i);
    const char *text = name_on_top(L, ds);
    known = lua_pushfstring(L, "%s%s%s", text, i == count || i == SHOWN ? "" : ", ", known);
  }
  return luaL_error(L, "%s: no %s is called '%s' (known: %s)", ds ? "dynamicalSystem" : "interaction",
                    ds ? "dynamical system" : "interaction", lua_tostring(L, name), known);
}

/* dynamicalSystem and (1) interaction: pushes an element of a list by its number (from 1) or its name. */
static int nsds_pick(lua_State *L) {
  bool ds = nsl_which(L) == 0;
  const char *key = ds ? "ds" : "interactions", *what = ds ? "dynamicalSystem" : "interaction";
  nsl_check_nsds(L, 1);
  lua_settop(L, 2);
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, 3, key);
  lua_Integer count = (lua_Integer)lua_rawlen(L, 4);
  if (lua_type(L, 2) == LUA_TSTRING) {
    for (lua_Integer i = 1; i <= count; i++, lua_pop(L, 1)) {
      lua_rawgeti(L, 4, i);
      if (strcmp(name_on_top(L, ds), lua_tostring(L, 2)) == 0) return 1;
    }
    return raise_unknown(L, 4, 2, ds);
  }
  lua_Integer i = nsl_integer(L, 2, what, "number");
  if (i < 1 || i > count) luaL_error(L, "%s: expected a number in 1..%I, got %I", what, count, i);
  lua_rawgeti(L, 4, i);
  return 1;
}

/* Clears the references to a closed graph in objects that still exist: finalizers run in any order. */
static void bind_nsds_let_go(lua_State *L) {
  if (lua_getiuservalue(L, 1, 1) != LUA_TTABLE) return;
  lua_getfield(L, -1, "ds");
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
    NslDs *ds = lua_touserdata(L, -1);
    ds->callee.nsds = NULL;
    if (ds->ds) ds->ds->owner = NULL;
  }
  lua_getfield(L, 2, "interactions");
  for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 2)) {
    NslInteraction *inter = lua_touserdata(L, -1);
    if (inter->interaction) inter->interaction->owner = NULL;
    lua_getiuservalue(L, -1, 2);
    ((NslRelation *)lua_touserdata(L, -1))->callee.nsds = NULL;
  }
}

bool nsl_each_callee(lua_State *L, int idx, int graph, NslCalleeVisit *f, void *context) {
  static const char *const names[] = {"ds", "interactions"};
  int lists = lua_gettop(L) + 2, list = lists + 1;
  bool goes_on = true;
  lua_getiuservalue(L, idx, graph);
  lua_getiuservalue(L, -1, 1);
  for (int k = 0; k < 2; k++, lua_settop(L, lists)) {
    lua_getfield(L, lists, names[k]);
    for (lua_Integer i = 1; goes_on && lua_rawgeti(L, list, i) != LUA_TNIL; i++, lua_settop(L, list)) {
      const NslInteraction *inter = k > 0 ? lua_touserdata(L, -1) : NULL;
      if (inter) lua_getiuservalue(L, -1, 2);
      goes_on = f(L, lua_gettop(L), inter ? inter->interaction : NULL, context);
    }
  }
  lua_settop(L, lists - 2);
  return goes_on;
}

static int nsds_gc(lua_State *L) {
  NslNsds *self = lua_touserdata(L, 1);
  self->head.closed = true;
  bind_nsds_let_go(L);
  ns_nsds_free(self->nsds);
  self->nsds = NULL;
  return 0;
}

static int nsds_close(lua_State *L) {
  bind_nsds_check_idle(L, "close")->head.closed = true;
  return 0;
}

static int nsds_tostring(lua_State *L) {
  NslNsds *self = lua_touserdata(L, 1);
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", nsds_type.name), 1;
  nsl_pushf(L, "%s on [%f, %f]: %d dynamical system%s, %d interaction%s", nsds_type.name, self->nsds->t0, self->nsds->T,
            self->nsds->nds, self->nsds->nds == 1 ? "" : "s", self->nsds->ninteractions,
            self->nsds->ninteractions == 1 ? "" : "s");
  return 1;
}

/* Prints the graph, then each system and interaction on a line. */
static int nsds_display(lua_State *L) {
  static const char *const lists[] = {"ds", "interactions"};
  nsl_check_nsds(L, 1);
  lua_settop(L, 1);
  luaL_tolstring(L, 1, NULL);
  lua_getiuservalue(L, 1, 1);
  for (int l = 0; l < 2; l++) {
    lua_getfield(L, 3, lists[l]);
    for (lua_Integer i = 1; lua_rawgeti(L, 4, i) != LUA_TNIL; i++, lua_pop(L, 1)) {
      lua_pushvalue(L, 2);
      lua_pushfstring(L, "\n  %s", luaL_tolstring(L, 5, NULL));
      lua_remove(L, -2);
      lua_concat(L, 2);
      lua_replace(L, 2);
    }
    lua_settop(L, 3);
  }
  lua_settop(L, 2);
  return nsl_display(L, 2);
}

/* version(nsds): numbers that grow with each change of the graph, and with each return to the initial states. */
static int graph_version(lua_State *L) {
  const NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  return lua_pushinteger(L, (lua_Integer)nsds->version), lua_pushinteger(L, (lua_Integer)nsds->resets), 2;
}

/* held(ds): whether an interaction is linked to the system. */
static int graph_held(lua_State *L) {
  return lua_pushboolean(L, nsl_ds_linked(nsl_check_ds(L, 1))), 1;
}

/* clear(interaction): takes away what is left from when it was linked. */
static int graph_clear(lua_State *L) {
  return ns_interaction_reset(nsl_check_interaction(L, 1)->interaction), 0;
}

/* Sets the bytes at idx, if there are any, and pushes those that are there. */
static int push_origin(lua_State *L, NsOrigin *origin, int idx) {
  size_t size;
  const char *bytes = luaL_optlstring(L, idx, NULL, &size);
  if (bytes && ns_origin_set(origin, bytes, size) != NS_OK) luaL_error(L, "not enough memory");
  return lua_pushlstring(L, origin->bytes ? origin->bytes : "", origin->size), 1;
}

/* origin(interaction [, bytes]), origins(nsds [, bytes]): what a checkpoint keeps, see NsOrigin. */
static int graph_origin(lua_State *L) {
  return push_origin(L, &nsl_check_interaction(L, 1)->interaction->origin, 2);
}
static int graph_origins(lua_State *L) {
  return push_origin(L, &nsl_check_nsds(L, 1)->nsds->origin, 2);
}

/* arrange(nsds, list): the order of the interactions, all of which are in the list. */
static int graph_arrange(lua_State *L) {
  const NslNsds *self = bind_nsds_check_idle(L, "arrange");
  NsError err = {NS_OK, ""};
  int count;
  NsInteraction **list = push_interactions(L, &count);
  if (ns_nsds_arrange(self->nsds, count, list, &err) != NS_OK) return nsl_raise(L, &err);
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, 2);
  lua_setfield(L, -2, "interactions");
  return 0;
}

/* linked(nsds, interaction): whether the interaction is linked in this graph. */
static int graph_linked(lua_State *L) {
  const NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  return lua_pushboolean(L, nsl_check_interaction(L, 2)->interaction->owner == nsds), 1;
}

/*
** touch(interaction): of a linked contact in space, the list of its point and of the vector of lambda on the first body, along the normal and the
** tangents, 6 numbers; nil where it has no ready-made shape, or no gap.
*/
static int graph_touch(lua_State *L) {
  const NsInteraction *inter = nsl_check_interaction(L, 1)->interaction;
  double q[2 * 7], gap, out[6], tangents[6];
  if (!inter->relation->contact || !inter->owner || inter->nx > 2 * 7) return lua_pushnil(L), 1;
  NsContact contact = *inter->relation->contact; /* a copy: relations are shared, and keep the frame of a step */
  for (int k = 0, n = 0; k < inter->nds; n += inter->ds[k]->nx, k++)
    memcpy(q + n, inter->ds[k]->x, (size_t)inter->ds[k]->nx * sizeof *q);
  if (ns_contact_in_plane(&contact) || !ns_contact_is_ready(&contact) ||
      ns_contact_shape(&contact)->gap(&contact, q, &gap) != 0)
    return lua_pushnil(L), 1;
  ns_contact_tangents(contact.frame.nc, tangents, tangents + 3);
  for (int i = 0; i < 3; i++) {
    out[i] = contact.frame.pc1[i], out[3 + i] = contact.frame.nc[i] * inter->lambda[0];
    for (int k = 1; k < 3 && k < inter->m; k++) out[3 + i] += tangents[3 * (k - 1) + i] * inter->lambda[k];
  }
  nsl_push_list(L, 6, out, 1);
  return 1;
}

/* is_contact(law): whether it is of a contact: of one row, or with friction along the others. */
static int graph_is_contact(lua_State *L) {
  const NsLaw *law = nsl_check_law(L, 1)->law;
  bool contact = ns_law_unilateral(law) && (law->class->goes_with & NS_WITH_VELOCITIES) &&
                 (law->class->joint || law->size == 1);
  return lua_pushboolean(L, contact), 1;
}

/* is_in_plane(law): whether its friction has one tangent. */
static int graph_is_in_plane(lua_State *L) {
  return lua_pushboolean(L, ns_law_in_plane(nsl_check_law(L, 1)->law)), 1;
}

/* clone(law): a law like this one. */
static int graph_clone(lua_State *L) {
  return nsl_clone_law(L, 1), 1;
}

/* now(nsds): the time of its states. */
static int graph_now(lua_State *L) {
  return lua_pushnumber(L, nsl_check_nsds(L, 1)->nsds->now), 1;
}

static const luaL_Reg methods[] = {{"display", nsds_display}, {"insertDynamicalSystem", nsds_insert},
                                   {"link", nsds_link},       {"unlink", nsds_unlink},
                                   {"close", nsds_close},     {NULL, NULL}};

static const luaL_Reg meta[] = {{"__gc", nsds_gc}, {"__close", nsds_close}, {"__tostring", nsds_tostring}, {NULL, NULL}};

void nsl_open_nsds(lua_State *L) {
  static const luaL_Reg functions[] = {{"NonSmoothDynamicalSystem", new_nsds}, {NULL, NULL}};
  static const luaL_Reg graph[] = {{"version", graph_version},
                                   {"linked", graph_linked},
                                   {"held", graph_held},
                                   {"made_for", nsl_made_for},
                                   {"clear", graph_clear},
                                   {"touch", graph_touch},
                                   {"unlink", graph_unlink},
                                   {"origin", graph_origin},
                                   {"origins", graph_origins},
                                   {"arrange", graph_arrange},
                                   {"clone", graph_clone},
                                   {"is_contact", graph_is_contact},
                                   {"is_in_plane", graph_is_in_plane},
                                   {"now", graph_now},
                                   {"relinked", nsl_relinked_function},
                                   {NULL, NULL}};
  static const NslVariant picks[] = {{"dynamicalSystem", nsds_pick, 0}, {"interaction", nsds_pick, 1}, {NULL, NULL, 0}};
  static const NslFieldOwner owner = {&nsds_type, check_nsds_head, nsds_of_head, NULL, NULL, NULL};
  nsl_register_type(L, &nsds_type, meta, methods);
  nsl_add_field_methods(L, &owner, ns_nsds_fields);
  luaL_getmetatable(L, nsds_type.name);
  lua_getfield(L, -1, "__index");
  nsl_set_variants(L, picks);
  lua_pop(L, 2);
  luaL_setfuncs(L, functions, 0);
  luaL_newlib(L, graph); /* hidden: for lua/nslua/contact.lua */
  lua_setfield(L, -2, "graph_support");
}
