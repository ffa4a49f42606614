/*
** scene.c
** Scenes of contacts that come and go, for the managers of nslua.contact: the hidden table contact_support.
*/
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bind/array/vector.h"
#include "bind/call/callback.h"
#include "bind/lua/open.h"
#include "bind/model/ds.h"
#include "bind/model/model.h"
#include "bind/model/solid.h"
#include "contact/scene.h"

/* The table at user value 1 has what the scene reads: the gaps' vectors by their slots, and the shapes' vectors and solids below 0. */
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

/* Whether the coordinates of all bodies can be read. */
static bool scene_is_alive(const NsScene *scene) {
  for (int i = 0; scene && i < ns_scene_shapes(scene); i++) {
    const NslVector *q = ns_scene_shape(scene, i)->owner;
    if (q && nsl_is_closed(&q->head)) return false;
  }
  return scene != NULL;
}

/* An NsSceneFrame. The contact is copied: relations keep the frame of a step. */
static bool scene_frame(const void *follower, const double *q, double *point, double *normal, double *gap) {
  NsContact contact = *(const NsContact *)follower;
  if (ns_contact_shape(&contact)->gap(&contact, q, gap) != 0) return false;
  memcpy(point, contact.frame.pc1, sizeof contact.frame.pc1), memcpy(normal, contact.frame.nc, sizeof contact.frame.nc);
  return true;
}

/* Pushes a scene that has none of the engine yet. */
static NslScene *scene_push(lua_State *L) {
  NslScene *self = nsl_new(L, &scene_type, sizeof *self, 1);
  lua_newtable(L);
  lua_setiuservalue(L, -2, 1);
  return self;
}

/* scene(space, reach). */
static int bind_scene_new(lua_State *L) {
  int space = (int)luaL_checkinteger(L, 1);
  double reach = luaL_checknumber(L, 2);
  NslScene *self = scene_push(L);
  nsl_check_status(L, ns_scene_new(&self->scene, space, reach), "scene");
  return ns_scene_ask(self->scene, scene_frame), 1;
}

/* Keeps the value at idx as long as the scene, under a key; the value that had it goes. */
static void scene_keep(lua_State *L, int idx, lua_Integer key) {
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, key);
  lua_pop(L, 1);
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
    balls[k] = (NsSceneBall){.at = {numbers[0], numbers[1], numbers[2]}, .radius = numbers[3]};
  }
  return balls;
}

/* What of a solid touches half-spaces: its corners, or its two rims and, of the prism's corners on them, every sixth one. */
static void scene_solid_balls(lua_State *L, NsSceneShape *shape, const NsSolid *solid) {
  const NsSolidRing *ring = &solid->ring;
  int rims = ring->R > 0 ? 2 : 0, every = ring->R > 0 ? 6 : 1;
  shape->nballs = rims + solid->nvertices / every;
  shape->balls = lua_newuserdatauv(L, (size_t)shape->nballs * sizeof *shape->balls, 0);
  for (int i = 0; i < shape->nballs; i++) {
    NsSceneBall *ball = &shape->balls[i];
    int corner = every * (i - rims), end = i < rims ? i : corner / NS_SOLID_SIDES;
    *ball = (NsSceneBall){.radius = solid->radius, .ring = i < rims ? ring->R : 0};
    memcpy(ball->at, i < rims ? ring->ends[i] : solid->vertices + 3 * (ptrdiff_t)corner, sizeof ball->at);
    if (rims > 0) memcpy(ball->axis, ring->axes[end], sizeof ball->axis);
  }
}

/*
** shape(scene, q, balls, around, half, solid): its number, from 1. q: nil for a part of the world. With a solid, balls and around may be nil: they are
** found from it; a mesh may stand in its place.
*/
static int bind_scene_shape(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  lua_settop(L, 6);
  const NslVector *q = lua_isnil(L, 2) ? NULL : nsl_check_vector(L, 2);
  const NslSolid *solid = nsl_test_solid(L, 6);
  const NslMesh *mesh = nsl_test_mesh(L, 6);
  NsSceneShape shape = {.q = q ? q->data : NULL, .n = q ? q->n : 0, .owner = q, .mesh = mesh ? mesh->mesh : NULL};
  shape.around = luaL_optnumber(L, 4, 0), shape.half = luaL_optnumber(L, 5, 0);
  if (solid) {
    shape.solid = &solid->solid;
    shape.around = luaL_optnumber(L, 4, solid->solid.around);
    memcpy(shape.centre, solid->solid.centre, sizeof shape.centre);
  }
  if (lua_istable(L, 3)) {
    shape.balls = scene_balls(L, 3, &shape.nballs);
  } else if (solid) {
    scene_solid_balls(L, &shape, &solid->solid);
  }
  nsl_check_status(L, ns_scene_add(scene, &shape), "scene");
  int number = ns_scene_shapes(scene);
  scene_keep(L, 2, -2 * number), scene_keep(L, 6, -2 * number - 1);
  return lua_pushinteger(L, number), 1;
}

/*
** copy(scene, places): a scene with the same contacts in the same slots, none of which is linked. places: by the numbers of the shapes, the coordinates of
** the bodies that have them there; false of the world.
*/
static int bind_scene_copy(lua_State *L) {
  NsScene *from = bind_scene_check(L);
  int n = ns_scene_shapes(from);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_settop(L, 2);
  NsSceneShape *shapes = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *shapes, 0);
  lua_getiuservalue(L, 1, 1);
  NslScene *self = scene_push(L);
  lua_replace(L, 1);
  for (int i = 0; i < n; i++, lua_settop(L, 4)) {
    shapes[i] = *ns_scene_shape(from, i);
    if (lua_rawgeti(L, 2, i + 1) == LUA_TUSERDATA) {
      const NslVector *q = nsl_check_vector(L, 5);
      luaL_argcheck(L, q->n == shapes[i].n, 2, "coordinates of another body");
      shapes[i].q = q->data, shapes[i].owner = q;
      scene_keep(L, 5, -2 * (lua_Integer)(i + 1));
    }
    lua_rawgeti(L, 4, -2 * (lua_Integer)(i + 1) - 1);
    scene_keep(L, 6, -2 * (lua_Integer)(i + 1) - 1);
  }
  nsl_check_status(L, ns_scene_copy(&self->scene, from, shapes), "scene");
  return lua_settop(L, 1), 1;
}

/* The shape whose number, from 1, is at index 2; from 0. */
static int scene_check_shape(lua_State *L, const NsScene *scene) {
  lua_Integer shape = luaL_checkinteger(L, 2);
  luaL_argcheck(L, shape >= 1 && shape <= ns_scene_shapes(scene), 2, "no shape");
  return (int)shape - 1;
}

/* lead(scene, shape, way): see ns_scene_lead. */
static int bind_scene_lead(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  int shape = scene_check_shape(L, scene);
  return ns_scene_lead(scene, shape, luaL_checknumber(L, 3)), 0;
}

/* leads(scene, shape [, way]): by how much a shape leads; sets it. */
static int bind_scene_leads(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  int shape = scene_check_shape(L, scene);
  if (!lua_isnoneornil(L, 3)) ns_scene_set_lead(scene, shape, luaL_checknumber(L, 3));
  return lua_pushnumber(L, ns_scene_shape(scene, shape)->lead), 1;
}

/* reach(scene, reach): contacts with a gap up to it are near. */
static int bind_scene_reach(lua_State *L) {
  return ns_scene_set_reach(bind_scene_check(L), luaL_checknumber(L, 2)), 0;
}

/* mark(scene, shape): a text that differs for shapes that do. */
static int bind_scene_mark(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, ns_scene_mark(scene, scene_check_shape(L, scene)));
  return lua_pushstring(L, text), 1;
}

/* half(scene, point, normal), lists of 3. */
static int bind_scene_half(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  NsSceneHalf half;
  nsl_table_numbers(L, 2, 3, half.point, 1, "half", "point");
  nsl_table_numbers(L, 3, 3, half.normal, 1, "half", "normal");
  nsl_check_status(L, ns_scene_add_half(scene, &half), "scene");
  return 0;
}

/* Writes the slots, from 1, into the table at idx, and pushes their number. */
static int scene_write_slots(lua_State *L, int idx, const int *found, int count) {
  for (int k = 0; k < count; k++) {
    lua_pushinteger(L, found[k] + 1);
    lua_rawseti(L, idx, k + 1);
  }
  return lua_pushinteger(L, count), 1;
}

/* search(scene, list [, reach]): the number of contacts that are near and not linked, and of searches; nil and the number of a shape that is nowhere. */
static int bind_scene_search(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  const int *found;
  int nfound, bad = 0;
  for (int i = 0; i < ns_scene_shapes(scene); i++)
    if (ns_scene_shape(scene, i)->owner) nsl_vector_alive(L, ns_scene_shape(scene, i)->owner);
  if (!lua_isnoneornil(L, 3)) ns_scene_set_reach(scene, luaL_checknumber(L, 3));
  NsStatus status = ns_scene_search(scene, &found, &nfound, &bad);
  if (status == NS_ENAN) return lua_pushnil(L), lua_pushinteger(L, bad + 1), 2;
  nsl_check_status(L, status, "scene");
  return scene_write_slots(L, 2, found, nfound), lua_pushinteger(L, ns_scene_searches(scene)), 2;
}

/* met(scene, list): writes the numbers of shapes, two and two, that overlap without a contact, the second below 0 for a half-space: see ns_scene_met. */
static int bind_scene_met(lua_State *L) {
  const int *found;
  int nfound = 0, bad = 0;
  NsScene *scene = bind_scene_check(L);
  NsStatus status = scene_is_alive(scene) ? ns_scene_met(scene, &found, &nfound, &bad) : NS_ENAN;
  if (status == NS_ENAN) nfound = 0; /* the next search tells */
  else nsl_check_status(L, status, "scene");
  for (int k = 0; k < nfound; k++) {
    lua_pushinteger(L, found[k] < 0 ? found[k] : found[k] + 1);
    lua_rawseti(L, 2, k + 1);
  }
  return lua_pushinteger(L, nfound), 1;
}

/* far(scene, most, list): the number of linked contacts whose gap is above `most`. */
static int bind_scene_far(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  const int *found;
  int nfound;
  for (int slot = 0; slot < ns_scene_slots(scene); slot++) {
    const NsSceneContact *c = ns_scene_contact(scene, slot);
    if (c->linked) nsl_vector_alive(L, c->owner);
  }
  nsl_check_status(L, ns_scene_far(scene, luaL_checknumber(L, 2), &found, &nfound), "scene");
  return scene_write_slots(L, 3, found, nfound);
}

/* lost(scene, list): the number of linked contacts with features that the last search has not found any more. */
static int bind_scene_lost(lua_State *L) {
  const int *found;
  int nfound;
  nsl_check_status(L, ns_scene_lost(bind_scene_check(L), &found, &nfound), "scene");
  return scene_write_slots(L, 2, found, nfound);
}

static NsSceneContact *bind_scene_slot(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  lua_Integer slot = luaL_checkinteger(L, 2);
  if (slot < 1 || slot > ns_scene_slots(scene)) luaL_error(L, "scene: there is no slot %I", (LUAI_UACINT)slot);
  return ns_scene_contact(scene, (int)slot - 1);
}

/* origin(scene, slot): the contact as bytes. */
static int bind_scene_origin(lua_State *L) {
  NsSceneOrigin origin;
  (void)bind_scene_slot(L);
  ns_scene_origin(bind_scene_check(L), (int)lua_tointeger(L, 2) - 1, &origin);
  return lua_pushlstring(L, (const char *)&origin, sizeof origin), 1;
}

/* recall(scene, bytes): the slot of the contact; nil: the scene can have no such contact. */
static int bind_scene_recall(lua_State *L) {
  NsScene *scene = bind_scene_check(L);
  NsSceneOrigin origin;
  size_t size;
  int slot = -1;
  const char *bytes = luaL_checklstring(L, 2, &size);
  if (size != sizeof origin) return lua_pushnil(L), 1;
  memcpy(&origin, bytes, size);
  NsStatus status = ns_scene_recall(scene, &origin, &slot);
  if (status == NS_EARG) return lua_pushnil(L), 1;
  nsl_check_status(L, status, "scene");
  return lua_pushinteger(L, slot + 1), 1;
}

/* Pushes the options of a relation in space that has the touch's features, but its name. */
static void scene_push_touch(lua_State *L, const NsTouch *t, const char *shape) {
  const struct {
    const char *name;
    const double *value;
  } points[] = {{"corner", t->corner}, {"along", t->along}, {"point", t->point}, {"normal", t->normal}, {"side", t->side}};
  const NsTouchForm *form = &ns_touch_forms[t->kind];
  lua_createtable(L, 0, 8);
  nsl_set_string(L, "shape", shape);
  nsl_set_number(L, form->face ? "R" : "R1", t->R1);
  if (!form->face) nsl_set_number(L, "R2", t->R2);
  if (t->L1 > 0) nsl_set_number(L, "L1", t->L1), nsl_set_number(L, "L2", t->L2);
  for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
    const double *x = points[k].value;
    if (k != 0 && k != 2 && x[0] == 0 && x[1] == 0 && x[2] == 0) continue; /* the kind has no such direction */
    nsl_push_list(L, 3, x, 1);
    lua_setfield(L, -2, points[k].name);
  }
}

/* Sets the outline of a shape in the table on the top of the stack, around the corner or (corner = NULL) around the side of the touch. */
static void scene_push_outline(lua_State *L, const NsSceneShape *shape, const NsSceneContact *c, const double *corner,
                               const char *key) {
  const NsTouch *t = c->touch;
  double away[3];
  NsOutline outline;
  for (int k = 0; k < 3; k++) away[k] = t->swapped ? t->n[k] : -t->n[k]; /* from a mesh, the first of both solids */
  if (shape->mesh) ns_mesh_outline(shape->mesh, c->triangle, corner, corner ? away : t->normal, &outline);
  else ns_solid_outline(shape->solid, corner, corner ? NULL : t->normal, &outline);
  nsl_push_list(L, 2 * outline.n, outline.points, 1);
  nsl_set_number(L, "n", outline.n);
  nsl_set_number(L, "at", outline.at + 1);
  nsl_set_number(L, "R", shape->mesh ? 0 : shape->solid->radius);
  if (shape->mesh) nsl_set_string(L, "chain", "polyline");
  lua_setfield(L, -2, key);
}

/* A side that goes on in another shape is alone, so that it has no ends. */
static void scene_push_flat(lua_State *L, const NsSolid *solid, const NsTouch *t) {
  NsOutline outline;
  ns_solid_outline(solid, NULL, t->normal, &outline);
  nsl_push_list(L, 4, outline.points + 2 * (ptrdiff_t)outline.at, 1);
  nsl_set_number(L, "n", 2), nsl_set_number(L, "at", 1), nsl_set_number(L, "R", 0);
  lua_setfield(L, -2, "foreign");
}

/* Pushes the outlines of both shapes of a touch in the plane. */
static void scene_push_outlines(lua_State *L, const NsScene *scene, const NsSceneContact *c, const char *shape) {
  int second = c->mirrored ? c->first : c->second, face = (int)(c->part >> 20 & 0xfffff);
  const NsSceneShape *one = ns_scene_shape(scene, c->mirrored ? c->second : c->first);
  const NsSceneShape *other = ns_scene_shape(scene, second);
  lua_createtable(L, 0, 3);
  nsl_set_string(L, "shape", shape);
  scene_push_outline(L, one, c, c->touch->corner, "own");
  bool flat = ns_touch_forms[c->touch->kind].face && ns_scene_is_flat(scene, second, face);
  if (flat) scene_push_flat(L, other->solid, c->touch);
  else scene_push_outline(L, other, c, ns_touch_forms[c->touch->kind].face ? NULL : c->touch->point, "foreign");
}

/*
** contact(scene, slot): the shapes, from 1, the second below 0 for a half-space; the number of the contact, from 1, or a text that names its features;
** the options of their relation, in the plane its outlines, or nil.
*/
static int bind_scene_contact(lua_State *L) {
  const NsScene *scene = bind_scene_check(L);
  const NsSceneContact *c = bind_scene_slot(L);
  lua_pushinteger(L, c->first + 1);
  lua_pushinteger(L, c->second < 0 ? c->second : c->second + 1);
  if (!c->touch) return lua_pushinteger(L, (lua_Integer)c->part + 1), 3;
  int a = (int)(c->part >> 40 & 0xfffff), b = (int)(c->part >> 20 & 0xfffff), border = (int)(c->part & 0x7ffff);
  const char *name = c->mirrored ? ns_touch_forms[c->touch->kind].mirrored : ns_touch_forms[c->touch->kind].name;
  lua_pushfstring(L, "%s %d %d %d %d", name, c->triangle + 1, a + 1, b + 1, border + 1);
  if (ns_scene_space(scene) == 2) scene_push_outlines(L, scene, c, name);
  else scene_push_touch(L, c->touch, name);
  return 4;
}

/* Notes what follows a surface beyond the features of the contact, if it does. */
static void scene_follow(NsSceneContact *c, const NsContact *contact) {
  c->follower = c->touch && contact && (contact->surface.solid || contact->surface.mesh) ? contact : NULL;
}

/* follow(scene, slot, relation): the relation of a touch of a ball or a capsule follows the surface of the other shape, where there is one. */
static int bind_scene_follow(lua_State *L) {
  const NsScene *scene = bind_scene_check(L);
  const NsSceneContact *c = bind_scene_slot(L);
  NsContact *contact = nsl_check_relation(L, 3)->relation->contact;
  if (!c->touch || !contact) return 0;
  int one = c->mirrored ? c->second : c->first, other = c->mirrored ? c->first : c->second;
  const NsSceneShape *own = ns_scene_shape(scene, one), *shape = ns_scene_shape(scene, other);
  if (ns_scene_is_flush(scene, one) || ns_scene_is_flush(scene, other)) return 0; /* a face keeps its plane: it goes on */
  NsTouch touch = *c->touch;
  touch.triangle = c->triangle, touch.id = c->part;
  contact->surface = ns_surface_of(&touch, own->solid, shape->solid, shape->mesh), contact->last.known = false;
  scene_follow(bind_scene_slot(L), contact);
  lua_getiuservalue(L, 1, 1);
  lua_createtable(L, 2, 0);
  lua_rawgeti(L, -2, -2 * (one + 1) - 1), lua_rawseti(L, -2, 1);
  lua_rawgeti(L, -2, -2 * (other + 1) - 1), lua_rawseti(L, -2, 2);
  return nsl_relation_keep(L, 3), 0;
}

/* apart(scene, slot): for how many searches the contact has not been linked. */
static int bind_scene_apart(lua_State *L) {
  (void)bind_scene_slot(L);
  return lua_pushinteger(L, ns_scene_apart(bind_scene_check(L), (int)lua_tointeger(L, 2) - 1)), 1;
}

/*
** link(scene, slot, y [, relation]): the contact is linked; y: the vector whose first number is its gap; relation: of a clone, which follows what that of
** the original does. unlink(scene, slot).
*/
static int bind_scene_link(lua_State *L) {
  NsSceneContact *c = bind_scene_slot(L);
  const NslVector *y = nsl_check_vector(L, 3);
  if (!lua_isnoneornil(L, 4)) scene_follow(c, nsl_check_relation(L, 4)->relation->contact);
  scene_keep(L, 3, lua_tointeger(L, 2));
  c->gap = y->data, c->owner = y, c->linked = true;
  return 0;
}

static int bind_scene_unlink(lua_State *L) {
  (void)bind_scene_slot(L);
  ns_scene_unlink(bind_scene_check(L), (int)lua_tointeger(L, 2) - 1);
  lua_settop(L, 2), lua_pushnil(L);
  scene_keep(L, 3, lua_tointeger(L, 2));
  return 0;
}

/* ---- links within steps ---- */

/* Links the contacts of a graph within steps, or minds them between steps. User value 1: a list of its scenes, of which there are n, and behind them the function that links. */
typedef struct NslLinker {
  NsLinker linker;
  NsMinder minder;
  NslHost *host;
  int n;
  NslScene *scenes[];
} NslLinker;

/* The system of a shape; NULL: it is a part of the world. */
static const NsDs *linker_body(const NsSceneShape *shape) {
  const NslVector *owner = shape->owner;
  const NslHead *body = owner ? owner->head.owner : NULL;
  return body && nsl_is_ds(body->type) ? ((const NslDs *)body)->ds : NULL;
}

static void linker_among(void *context, int which) {
  const NslLinker *self = context;
  for (int k = 0; k < self->n; k++)
    if (self->scenes[k]->scene) ns_scene_among(self->scenes[k]->scene, which);
}

static void linker_homes(void *context, const int *home) {
  const NslLinker *self = context;
  for (int k = 0; k < self->n; k++) {
    NsScene *scene = self->scenes[k]->scene;
    for (int i = 0; scene && i < ns_scene_shapes(scene); i++) {
      const NsDs *ds = linker_body(ns_scene_shape(scene, i));
      if (ds && ds->owner) ns_scene_set_home(scene, i, home[ds->index]);
    }
  }
}

static void linker_start(void *context) {
  const NslLinker *self = context;
  for (int k = 0; k < self->n; k++)
    if (self->scenes[k]->scene) ns_scene_start(self->scenes[k]->scene);
}

static double linker_way(void *context, double parts) {
  const NslLinker *self = context;
  double most = 0;
  for (int k = 0; k < self->n; k++)
    if (self->scenes[k]->scene) most = fmax(most, ns_scene_way(self->scenes[k]->scene, parts));
  return most;
}

static void linker_forget(void *context) {
  const NslLinker *self = context;
  for (int k = 0; k < self->n; k++)
    if (self->scenes[k]->scene) ns_scene_forget_pairs(self->scenes[k]->scene);
}

/* Fails for a shape that has no finite place, or one so far from the others that its size is lost in rounding. */
static NsStatus linker_far(const NsScene *scene, int shape, NsError *err) {
  const NsSceneShape *bad = ns_scene_shape(scene, shape);
  const NsDs *ds = linker_body(bad);
  const char *name = ds ? ds->name : "a body";
  return ns_fail(err, NS_ENAN, "contacts: '%s': expected a finite place near the others, got (%g, %g, %g)", name, bad->q[0],
                 bad->q[1], bad->q[2]);
}

static NsStatus linker_look(void *context, bool *changed, double *stride, NsError *err) {
  const NslLinker *self = context;
  int bad = -1;
  bool any = false;
  NsStatus status = NS_OK;
  for (int k = 0; k < self->n && (stride || !any) && status == NS_OK; k++) {
    const NslScene *scene = self->scenes[k];
    if (scene->scene) status = ns_scene_look(scene->scene, changed, stride, &bad), any = any || *changed;
    if (status == NS_ENAN && bad >= 0 && ns_scene_shape(scene->scene, bad)->n > 0) return linker_far(scene->scene, bad, err);
  }
  *changed = any;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "contacts: %s", ns_status_message(status));
}

/* The call of the function at a time. */
typedef struct LinkerCall {
  const NslLinker *self;
  double t;
} LinkerCall;

static void linker_push(lua_State *L, void *argument) {
  const LinkerCall *call = argument;
  nsl_push_object(L, call->self);
  lua_getiuservalue(L, -1, 1);
  lua_rawgeti(L, -1, call->self->n + 1);
}

static int linker_call(lua_State *L) {
  linker_push(L, lua_touserdata(L, 1));
  lua_call(L, 0, 0);
  return 0;
}

static void linker_word(const void *argument, char *text, size_t size) {
  const LinkerCall *call = argument;
  ns_print(text, size, "contacts within a step: t=%.10g", call->t);
}

static void minder_word(const void *argument, char *text, size_t size) {
  (void)argument;
  ns_print(text, size, "contacts between steps");
}

/* Calls the function where bodies may have met: never where it links contacts itself as they come near. */
static NsStatus minder_stepped(void *context, bool drives, NsError *err) {
  LinkerCall call = {context, NAN};
  bool any = false;
  for (int k = 0; k < call.self->n; k++) {
    NsScene *scene = call.self->scenes[k]->scene;
    bool links = scene && drives && ns_scene_space(scene) == 3 && ns_scene_searches(scene) > 0;
    if (!links && scene_is_alive(scene) && ns_scene_strayed(scene)) any = true;
  }
  if (!any) return NS_OK;
  NslWorded worded = {minder_word, linker_call, linker_push, &call};
  return nsl_call_worded(call.self->host->L, &worded) ? NS_OK : ns_fail(err, NS_ECALLBACK, "contacts between steps failed");
}

static NsStatus linker_link(void *context, double t, NsError *err) {
  LinkerCall call = {context, t};
  NslWorded worded = {linker_word, linker_call, linker_push, &call};
  return nsl_call_worded(call.self->host->L, &worded) ? NS_OK : ns_fail(err, NS_ECALLBACK, "contacts within a step failed");
}

/* Pushes what calls the function at index 3 for the scenes of the list at index 2, and keeps it under a key of the graph at index 1. */
static NslLinker *linker_new(lua_State *L, const char *key) {
  luaL_checktype(L, 2, LUA_TTABLE), luaL_checktype(L, 3, LUA_TFUNCTION);
  lua_settop(L, 3);
  int n = (int)lua_rawlen(L, 2);
  NslLinker *self = lua_newuserdatauv(L, sizeof *self + (size_t)n * sizeof(NslScene *), 1);
  *self = (NslLinker){
      .linker = {self, linker_homes, linker_among, linker_start, linker_way, linker_forget, linker_look, linker_link},
      .minder = {self, minder_stepped},
      .host = nsl_host(L),
      .n = n};
  lua_createtable(L, n + 1, 0);
  for (int k = 1; k <= n; k++) {
    lua_rawgeti(L, 2, k);
    self->scenes[k - 1] = nsl_check(L, -1, &scene_type);
    lua_rawseti(L, 5, k);
  }
  lua_pushvalue(L, 3), lua_rawseti(L, 5, n + 1);
  lua_setiuservalue(L, 4, 1);
  nsl_remember_object(L, 4);
  lua_getiuservalue(L, 1, 1);
  lua_pushvalue(L, 4), lua_setfield(L, -2, key);
  return self;
}

/* watch(nsds, scenes, f): f() links the contacts of the scenes within the steps of simulations that go from event to event. */
static int bind_scene_watch(lua_State *L) {
  NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  return nsds->linker = &linker_new(L, "linker")->linker, 0;
}

/* mind(nsds, scenes, f): f() is called after steps in which bodies of the scenes may have met without a contact. */
static int bind_scene_mind(lua_State *L) {
  NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  return nsds->minder = &linker_new(L, "minder")->minder, 0;
}

void nsl_open_scene(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_scene_gc}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg functions[] = {{"scene", bind_scene_new},     {"shape", bind_scene_shape},
                                       {"half", bind_scene_half},     {"lead", bind_scene_lead},
                                       {"leads", bind_scene_leads},   {"reach", bind_scene_reach},
                                       {"mark", bind_scene_mark},     {"origin", bind_scene_origin},
                                       {"recall", bind_scene_recall}, {"search", bind_scene_search},
                                       {"met", bind_scene_met},       {"far", bind_scene_far},
                                       {"watch", bind_scene_watch},   {"mind", bind_scene_mind},
                                       {"lost", bind_scene_lost},     {"contact", bind_scene_contact},
                                       {"apart", bind_scene_apart},   {"link", bind_scene_link},
                                       {"unlink", bind_scene_unlink}, {"follow", bind_scene_follow},
                                       {"copy", bind_scene_copy},     {NULL, NULL}};
  nsl_register_type(L, &scene_type, meta, none);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "contact_support");
}
