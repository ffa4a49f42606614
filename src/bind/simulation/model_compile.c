/*
** model_compile.c
** compile_support = { callback, try, watch, digest, is_view, exact } for nslua.compile, which compiles the callbacks of a whole model; when it
** has to look again.
*/
#include "bind/lua/open.h"

#include <string.h>

#include "bind/call/callback.h"
#include "bind/diff/compile.h"
#include "bind/diff/digest.h"
#include "bind/diff/tape.h"
#include "bind/model/ds.h"
#include "bind/simulation/simulation.h"

/* The system, relation or boundary condition at 1, which may also be a law, or a simulation with its events. */
static NslCallee *compile_callee(lua_State *L) {
  return lua_touserdata(L, 1);
}

/*
** callback(object, slot, interaction): "relation 'clutch' computeh"; its function; "Lua", "library" or "compiled"; of a method the fields of the
** object. Only the name where there is no callback, nothing where there is no slot.
*/
static int compile_callback(lua_State *L) {
  const NslType *type = nsl_head(L, 1)->type;
  if (nsl_is_law(type)) return nsl_law_callback(L);
  if (nsl_is_simulation(type)) return nsl_event_callback(L);
  NslCallee *callee = compile_callee(L);
  lua_Integer slot = luaL_checkinteger(L, 2) - 1;
  if (slot >= callee->kind->nslots) return 0;
  NslCallback *cb = &callee->callbacks[slot];
  cb->stays = true;
  lua_pushfstring(L, "%s %s", nsl_callee_title(L, callee), cb->slot->name);
  if (cb->backing == NSL_ABSENT) return 1;
  lua_getiuservalue(L, 1, cb->place);
  lua_pushstring(L, cb->backing == NSL_LIBRARY ? "library" : nsl_has_trace(cb) ? "compiled" : "Lua");
  if (nsl_is_method(cb)) lua_getiuservalue(L, 1, NSL_FIELDS);
  else lua_pushnil(L);
  return 4;
}

/* x of an interaction: the states of its systems, one after the other. */
static const double *compile_gather(lua_State *L, const NsInteraction *inter) {
  int n = inter->relation->nx;
  double *x = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *x, 0);
  for (int i = 0, at = 0; i < inter->nds; at += inter->ds[i++]->nx)
    memcpy(x + at, inter->ds[i]->x, (size_t)inter->ds[i]->nx * sizeof *x);
  return x;
}

/* A callback and the point at which it is tried. */
typedef struct CallbackTry {
  NslCallee *callee;
  int slot;
  NsPoint at;
} CallbackTry;

/* The last argument: a CallbackTry. */
static int try_callback(lua_State *L) {
  const CallbackTry *way = lua_touserdata(L, -1);
  if (!nsl_callback_try(L, &way->callee->callbacks[way->slot], &way->at)) return lua_error(L);
  return 0;
}

/*
** try(object, slot, function, t, interaction or nil): calls the compiled function in place of the callback, at the present state.
** Returns the compiler, or "tape"; or nil and why it can't be compiled. A plain function is put into its place again.
*/
static int compile_try(lua_State *L) {
  const NslType *type = nsl_head(L, 1)->type;
  if (nsl_is_law(type)) return nsl_law_try(L);
  if (nsl_is_simulation(type)) return nsl_event_try(L);
  NslCallee *callee = compile_callee(L);
  int slot = (int)luaL_checkinteger(L, 2) - 1;
  NslCallback *cb = &callee->callbacks[slot];
  nsl_replace_function(L, 1, slot, 3);
  if (!nsl_has_trace(cb)) return 0;
  const NslInteraction *inter = lua_touserdata(L, 5);
  const NsDs *ds = nsl_is_ds(callee->head.type) ? ((NslDs *)callee)->ds : NULL;
  CallbackTry way = {callee, slot, {luaL_checknumber(L, 4), NULL, NULL, NULL}};
  NsPoint *at = &way.at;
  if (ds) at->x = ds->x, at->lambda = ds->x + callee->n, at->z = ds->z;
  if (inter)
    at->x = compile_gather(L, inter->interaction), at->lambda = inter->interaction->lambda, at->z = inter->interaction->z;
  if (strchr(cb->slot->args, 'v')) at->lambda = at->x;
  lua_pushlightuserdata(L, &way);
  return nsl_push_attempt(L, try_callback, &cb->trace);
}

/* digest(list): see nsl_digest_list. */
static int compile_digest(lua_State *L) {
  return lua_pushinteger(L, (lua_Integer)nsl_digest_list(L, 1)), 1;
}

/* is_view(object): whether it shows numbers of another object. */
static int compile_is_view(lua_State *L) {
  const NslHead *head = nsl_head(L, 1);
  return lua_pushboolean(L, head && head->owner), 1;
}

/* watch(simulation, list): what compiled callbacks read besides their arguments; see nsl_digest_list. */
static int compile_watch(lua_State *L) {
  NslTimeStepping *self = lua_touserdata(L, 1);
  lua_settop(L, 2);
  self->compile = true;
  self->compiled_version = self->ts->nsds->version;
  self->compiled_digest = nsl_digest_list(L, 2);
  nsl_see_events(L);
  lua_setiuservalue(L, 1, NSL_TS_COMPILED);
  return 0;
}

/* Whether all plain callbacks of a system or relation, and the functions of its law, have been looked at. */
static bool callee_seen(lua_State *L, int idx, NsInteraction *inter, void *context) {
  const NslCallee *callee = lua_touserdata(L, idx);
  bool seen = !inter || !inter->law->time.context || nsl_law_seen(inter->law->time.context);
  (void)context;
  for (int k = 0; k < callee->kind->nslots; k++) {
    const NslCallback *cb = &callee->callbacks[k];
    seen = seen && (cb->stays || (cb->backing != NSL_LUA && cb->backing != NSL_METHOD));
  }
  return seen;
}

/* Whether the graph has not changed since it was compiled, or has no callbacks that are new. */
static bool model_seen(lua_State *L, int idx, NslTimeStepping *self) {
  if (self->events_seen != self->ts->user.count) return false;
  bool seen = self->compiled_version == self->ts->nsds->version || nsl_each_callee(L, idx, NSL_TS_NSDS, callee_seen, NULL);
  if (seen) self->compiled_version = self->ts->nsds->version;
  return seen;
}

void nsl_compile_again(lua_State *L, int idx) {
  NslTimeStepping *self = lua_touserdata(L, idx);
  if (!self->compile || self->ts->nsds->acting) return;
  bool known = lua_getiuservalue(L, idx, NSL_TS_COMPILED) == LUA_TTABLE &&
               self->compiled_digest == nsl_digest_list(L, lua_gettop(L)) && model_seen(L, idx, self);
  lua_pop(L, 1);
  if (known || !nsl_push_hook(L, "compile")) return;
  self->compile = false; /* the hook sets it again, by watch */
  lua_pushvalue(L, idx);
  lua_call(L, 1, 0);
}

void nsl_open_model_compile(lua_State *L) {
  static const luaL_Reg functions[] = {{"callback", compile_callback},
                                       {"try", compile_try},
                                       {"watch", compile_watch},
                                       {"digest", compile_digest},
                                       {"is_view", compile_is_view},
                                       {"exact", nsl_compiled_exact},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "compile_support");
}
