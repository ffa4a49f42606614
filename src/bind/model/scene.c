/*
** scene.c
** Scenes of contacts that come and go, for the managers of nslua.contact: the hidden table contact_support.
*/
#include "bind/array/vector.h"
#include "bind/lua/open.h"
#include "contact/scene.h"

/* The vectors that the scene reads are in the list at user value 1. */
typedef struct NslScene {
  NslHead head;
  NsScene *scene;
} NslScene;

static const NslType scene_type = {"contact scene", NULL, NULL};

static NsScene *bind_scene_check(lua_State *L) {
  return ((NslScene *)nsl_check(L, 1, &scene_type))->scene;
}

static int bind_scene_gc(lua_State *L) {
  NslScene *self = lua_touserdata(L, 1);
  ns_scene_free(self->scene);
  self->scene = NULL;
  self->head.closed = true, self->head.type = NULL;
  return 0;
}

/* scene(space, reach). */
static int bind_scene_new(lua_State *L) {
  int space = (int)luaL_checkinteger(L, 1);
  NslScene *self = nsl_new(L, &scene_type, sizeof *self, 1);
  nsl_check_status(L, ns_scene_new(&self->scene, space, luaL_checknumber(L, 2)), "scene");
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/* Keeps the vector at idx as long as the scene. */
static const NslVector *scene_keep(lua_State *L, int idx) {
  const NslVector *v = nsl_check_vector(L, idx);
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
  return v;
}

/* Reads the list at idx of balls { x, y, z, R }. */
static NsSceneBall *scene_balls(lua_State *L, int idx, int *count) {
  *count = (int)lua_rawlen(L, idx);
  NsSceneBall *balls = lua_newuserdatauv(L, (size_t)(*count + 1) * sizeof *balls, 0);
  for (int k = 0; k < *count; k++) {
    double numbers[4];
    lua_rawgeti(L, idx, k + 1);
    nsl_table_numbers(L, -1, 4, numbers, 1, "scene", "ball");
    lua_pop(L, 1);
    balls[k] = (NsSceneBall){{numbers[0], numbers[1], numbers[2]}, numbers[3]};
  }
  return balls;
}

/* scene:shape(q, balls, around, half): its number, from 1. */
static int bind_scene_shape(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  luaL_checktype(L, 3, LUA_TTABLE);
  const NslVector *q = scene_keep(L, 2);
  NsSceneShape shape = {.q = q->data, .n = q->n, .around = luaL_checknumber(L, 4), .half = luaL_checknumber(L, 5), .owner = q};
  shape.balls = scene_balls(L, 3, &shape.nballs);
  nsl_check_status(L, ns_scene_add(scene, &shape), "scene");
  return lua_pushinteger(L, ns_scene_shapes(scene)), 1;
}

/* scene:half(point, normal), lists of 3. */
static int bind_scene_half(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  NsSceneHalf half;
  nsl_table_numbers(L, 2, 3, half.point, 1, "half", "point");
  nsl_table_numbers(L, 3, 3, half.normal, 1, "half", "normal");
  nsl_check_status(L, ns_scene_add_half(scene, &half), "scene");
  return 0;
}

/* Writes the slots, from 1, into the table at idx, with `stride` entries for each; returns their number. */
static int scene_write_slots(lua_State *L, int idx, const int *found, int count, int stride) {
  for (int k = 0; k < count; k++) {
    lua_pushinteger(L, found[k] + 1);
    lua_rawseti(L, idx, (lua_Integer)k * stride + 1);
  }
  return lua_pushinteger(L, count), 1;
}

/* scene:search(list): the number of contacts that are near and not linked; nil and the number of a shape that is nowhere. */
static int bind_scene_search(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  const int *found;
  int nfound, bad = 0;
  for (int i = 0; i < ns_scene_shapes(scene); i++) nsl_vector_alive(L, ns_scene_shape(scene, i)->owner);
  NsStatus status = ns_scene_search(scene, &found, &nfound, &bad);
  if (status == NS_ENAN) return lua_pushnil(L), lua_pushinteger(L, bad + 1), 2;
  nsl_check_status(L, status, "scene");
  return scene_write_slots(L, 2, found, nfound, 1);
}

/* scene:far(most, list): the number of linked contacts whose gap is above `most`. */
static int bind_scene_far(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  const int *found;
  int nfound;
  for (int slot = 0; slot < ns_scene_slots(scene); slot++) {
    const NsSceneContact *c = ns_scene_contact(scene, slot);
    if (c->linked) nsl_vector_alive(L, c->owner);
  }
  nsl_check_status(L, ns_scene_far(scene, luaL_checknumber(L, 2), &found, &nfound), "scene");
  return scene_write_slots(L, 3, found, nfound, 1);
}

static NsSceneContact *scene_slot(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  lua_Integer slot = luaL_checkinteger(L, 2);
  if (slot < 1 || slot > ns_scene_slots(scene)) luaL_error(L, "scene: there is no slot %I", (LUAI_UACINT)slot);
  return ns_scene_contact(scene, (int)slot - 1);
}

/* scene:contact(slot): the shapes, from 1, the second below 0 for a half-space; the number of the contact, from 1. */
static int bind_scene_contact(lua_State *L) {
  const NsSceneContact *c = scene_slot(L);
  lua_pushinteger(L, c->first + 1);
  lua_pushinteger(L, c->second < 0 ? c->second : c->second + 1);
  lua_pushinteger(L, c->part + 1);
  return 3;
}

/* scene:link(slot, y): the contact is linked; y: the vector whose first number is its gap. scene:unlink(slot). */
static int bind_scene_link(lua_State *L) {
  NsSceneContact *c = scene_slot(L);
  const NslVector *y = c->owner ? nsl_check_vector(L, 3) : scene_keep(L, 3);
  c->gap = y->data, c->owner = y, c->linked = true;
  return 0;
}

static int bind_scene_unlink(lua_State *L) {
  return scene_slot(L)->linked = false, 0;
}

void nsl_open_scene(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_scene_gc}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"shape", bind_scene_shape},     {"half", bind_scene_half}, {"search", bind_scene_search}, {"far", bind_scene_far},
      {"contact", bind_scene_contact}, {"link", bind_scene_link}, {"unlink", bind_scene_unlink}, {NULL, NULL}};
  nsl_register_type(L, &scene_type, meta, methods);
  lua_newtable(L);
  nsl_set_cfunction(L, "scene", bind_scene_new);
  lua_setfield(L, -2, "contact_support");
}
