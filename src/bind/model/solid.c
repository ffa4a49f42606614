/*
** solid.c
** Solids and meshes for scenes of contacts: in the hidden table contact_support.
*/
#include "bind/model/solid.h"

#include "bind/array/vector.h"
#include "bind/lua/open.h"
#include "contact/mesh.h"

static const NslType solid_type = {"contact solid", NULL, NULL}, mesh_type = {"contact mesh", NULL, NULL};

NslSolid *nsl_test_solid(lua_State *L, int idx) {
  return nsl_test(L, idx, &solid_type);
}

NslMesh *nsl_test_mesh(lua_State *L, int idx) {
  return nsl_test(L, idx, &mesh_type);
}

static int solid_gc(lua_State *L) {
  NslSolid *self = lua_touserdata(L, 1);
  ns_arena_release(&self->solid.arena);
  self->head.closed = true, self->head.type = NULL;
  return 0;
}

static int mesh_gc(lua_State *L) {
  NslMesh *self = lua_touserdata(L, 1);
  ns_mesh_free(self->mesh);
  self->mesh = NULL;
  self->head.closed = true, self->head.type = NULL;
  return 0;
}

/* Reads a list of lists of 3 numbers as new memory on the stack. */
static double *solid_read_points(lua_State *L, int idx, const char *who, int *count) {
  *count = (int)lua_rawlen(L, idx);
  double *points = lua_newuserdatauv(L, 3 * (size_t)(*count + 1) * sizeof *points, 0);
  for (int i = 0; i < *count; i++) {
    lua_rawgeti(L, idx, i + 1);
    if (lua_type(L, -1) != LUA_TTABLE) {
      lua_pushfstring(L, "points[%d]", i + 1);
      nsl_bad(L, who, lua_tostring(L, -1), "three numbers", lua_gettop(L) - 1);
    }
    nsl_table_numbers(L, -1, 3, points + 3 * (ptrdiff_t)i, 1, who, "point");
    lua_pop(L, 1);
  }
  return points;
}

/* solid(number of the class, numbers, points): the numbers are checked. */
static int solid_new(lua_State *L) {
  const NsSolidClass *class = ns_solid_classes[luaL_checkinteger(L, 1) - 1];
  double numbers[NS_SOLID_NUMBERS] = {0};
  int npoints = 0;
  NsError err = {NS_OK, ""};
  luaL_checktype(L, 2, LUA_TTABLE);
  nsl_table_numbers(L, 2, (int)lua_rawlen(L, 2), numbers, 1, class->name, "number");
  const double *points = class->points ? solid_read_points(L, 3, class->name, &npoints) : NULL;
  NslSolid *self = nsl_new(L, &solid_type, sizeof *self, 0);
  NsStatus status = class->make(&self->solid, numbers, npoints, points, &err);
  if (status == NS_EARG) return nsl_raise(L, &err);
  nsl_check_status(L, status, class->name);
  return 1;
}

/* polygon(points, rounding): a solid of the plane; points { x, y, 0 }. */
static int solid_polygon(lua_State *L) {
  int npoints = 0;
  NsError err = {NS_OK, ""};
  const double *points = solid_read_points(L, 1, "polygon", &npoints);
  NslSolid *self = nsl_new(L, &solid_type, sizeof *self, 0);
  NsStatus status = ns_solid_make_polygon(&self->solid, npoints, points, luaL_checknumber(L, 2), &err);
  if (status == NS_EARG) return nsl_raise(L, &err);
  nsl_check_status(L, status, "polygon");
  return 1;
}

/* move(solid, q): the solid at the place and with the quaternion of q, 7 numbers. */
static int solid_move(lua_State *L) {
  const NslSolid *from = nsl_check(L, 1, &solid_type);
  double q[7];
  nsl_table_numbers(L, 2, 7, q, 1, "placed", "q");
  NsPose pose = ns_pose(q, 7, 0);
  NslSolid *self = nsl_new(L, &solid_type, sizeof *self, 0);
  nsl_check_status(L, ns_solid_move(&self->solid, &from->solid, &pose), "placed");
  return 1;
}

/* mesh(points, triangles): lists of 3 numbers; triangles count points from 1. */
static int mesh_new(lua_State *L) {
  int npoints, ntriangles;
  NsError err = {NS_OK, ""};
  const double *points = solid_read_points(L, 1, "mesh", &npoints), *corners = solid_read_points(L, 2, "mesh", &ntriangles);
  int *triangles = lua_newuserdatauv(L, 3 * (size_t)(ntriangles + 1) * sizeof *triangles, 0);
  for (int i = 0; i < 3 * ntriangles; i++) {
    bool good = corners[i] >= 1 && corners[i] <= npoints && corners[i] == (int)corners[i];
    if (!good)
      return nsl_error(L, "mesh: triangle %d: expected numbers of points, from 1 to %d, got %f", i / 3 + 1, npoints,
                       corners[i]);
    triangles[i] = (int)corners[i] - 1;
  }
  NslMesh *self = nsl_new(L, &mesh_type, sizeof *self, 0);
  NsStatus status = ns_mesh_new(&self->mesh, npoints, points, ntriangles, triangles, &err);
  if (status == NS_EARG) return nsl_raise(L, &err);
  nsl_check_status(L, status, "mesh");
  return 1;
}

/* polyline(points, closed): a mesh of the plane; points { x, y, 0 }. */
static int mesh_polyline(lua_State *L) {
  int npoints;
  NsError err = {NS_OK, ""};
  const double *points = solid_read_points(L, 1, "polyline", &npoints);
  NslMesh *self = nsl_new(L, &mesh_type, sizeof *self, 0);
  nsl_check_status(L, ns_mesh_new_polyline(&self->mesh, npoints, points, lua_toboolean(L, 2), &err), "polyline");
  return 1;
}

/* corners(solid): the list of its corners { x, y, z, rounding }. mass(solid): volume, centre, inertia with its six entries. */
static int solid_corners(lua_State *L) {
  const NsSolid *s = &((NslSolid *)nsl_check(L, 1, &solid_type))->solid;
  lua_createtable(L, s->nvertices, 0);
  for (int i = 0; i < s->nvertices; i++) {
    nsl_push_list(L, 3, s->vertices + 3 * (ptrdiff_t)i, 1);
    lua_pushnumber(L, s->radius);
    lua_rawseti(L, -2, 4);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int solid_mass(lua_State *L) {
  double centre[3], inertia[6];
  lua_pushnumber(L, ns_solid_mass(&((NslSolid *)nsl_check(L, 1, &solid_type))->solid, centre, inertia));
  nsl_push_list(L, 3, centre, 1);
  nsl_push_list(L, 6, inertia, 1);
  return 3;
}

/* Appends the list of `count` numbers of corners, from 1, to the list on top. */
static void solid_append_corners(lua_State *L, int count, const int *corners) {
  lua_createtable(L, count, 0);
  for (int k = 0; k < count; k++) {
    lua_pushinteger(L, corners[k] + 1);
    lua_rawseti(L, -2, k + 1);
  }
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* surface(solid): the lists of its edges, and of its faces, each a list of numbers of corners, counterclockwise from outside. */
static int solid_surface(lua_State *L) {
  const NsSolid *s = &((NslSolid *)nsl_check(L, 1, &solid_type))->solid;
  lua_newtable(L);
  for (int i = 0; i < s->nedges; i++) solid_append_corners(L, 2, (const int[]){s->edges[i].from, s->edges[i].to});
  lua_newtable(L);
  for (int i = 0; i < s->nfaces; i++) solid_append_corners(L, s->faces[i].count, s->loop + s->faces[i].first);
  return 2;
}

/* rims(solid): of a cylinder, { centre, axis out of the solid, R } of its two rims; nil of others. */
static int solid_rims(lua_State *L) {
  const NsSolidRing *ring = &((NslSolid *)nsl_check(L, 1, &solid_type))->solid.ring;
  if (!(ring->R > 0)) return 0;
  lua_createtable(L, 2, 0);
  for (int end = 0; end < 2; end++) {
    lua_createtable(L, 3, 0);
    nsl_push_list(L, 3, ring->ends[end], 1);
    lua_rawseti(L, -2, 1);
    nsl_push_list(L, 3, ring->axes[end], 1);
    lua_rawseti(L, -2, 2);
    lua_pushnumber(L, ring->R);
    lua_rawseti(L, -2, 3);
    lua_rawseti(L, -2, end + 1);
  }
  return 1;
}

/* counts(solid): corners, edges, faces. */
static int solid_counts(lua_State *L) {
  const NsSolid *s = &((NslSolid *)nsl_check(L, 1, &solid_type))->solid;
  lua_pushinteger(L, s->nvertices);
  lua_pushinteger(L, s->nedges);
  lua_pushinteger(L, s->nfaces);
  return 3;
}

/* distance(a, b): the distance of two solids, or a solid and a mesh, the point of a, the point of b, the normal. */
static int solid_distance(lua_State *L) {
  const NslMesh *first = nsl_test_mesh(L, 1), *second = nsl_test_mesh(L, 2);
  const NsSolid *a = first ? NULL : &((NslSolid *)nsl_check(L, 1, &solid_type))->solid;
  const NsSolid *b = second ? NULL : &((NslSolid *)nsl_check(L, 2, &solid_type))->solid;
  NsNearest near;
  NsStatus status = first    ? ns_mesh_nearest(first->mesh, b, true, &near)
                    : second ? ns_mesh_nearest(second->mesh, a, false, &near)
                             : ns_solid_nearest(a, b, &near);
  nsl_check_status(L, status, "distance");
  lua_pushnumber(L, near.d);
  nsl_push_list(L, 3, near.pa, 1);
  nsl_push_list(L, 3, near.pb, 1);
  nsl_push_list(L, 3, near.n, 1);
  return 4;
}

/* solids: the list of the classes. */
static void solid_push_classes(lua_State *L) {
  lua_newtable(L);
  for (int i = 0; ns_solid_classes[i]; i++) {
    const NsSolidClass *class = ns_solid_classes[i];
    lua_createtable(L, 0, 5);
    nsl_set_string(L, "name", class->name);
    nsl_set_string(L, "corner", class->corner);
    nsl_set_boolean(L, "points", class->points);
    nsl_set_boolean(L, "rounding", class->rounding);
    lua_newtable(L);
    for (int k = 0; k < NS_SOLID_NUMBERS && class->numbers[k]; k++) {
      lua_pushstring(L, class->numbers[k]);
      lua_rawseti(L, -2, k + 1);
    }
    lua_setfield(L, -2, "numbers");
    lua_rawseti(L, -2, i + 1);
  }
}

void nsl_open_solid(lua_State *L) {
  static const luaL_Reg solid_meta[] = {{"__gc", solid_gc}, {NULL, NULL}}, mesh_meta[] = {{"__gc", mesh_gc}, {NULL, NULL}};
  static const luaL_Reg none[] = {{NULL, NULL}};
  static const luaL_Reg functions[] = {{"solid", solid_new},       {"polygon", solid_polygon}, {"polyline", mesh_polyline},
                                       {"move", solid_move},       {"mesh", mesh_new},         {"corners", solid_corners},
                                       {"mass", solid_mass},       {"counts", solid_counts},   {"distance", solid_distance},
                                       {"surface", solid_surface}, {"rims", solid_rims},       {NULL, NULL}};
  nsl_register_type(L, &solid_type, solid_meta, none);
  nsl_register_type(L, &mesh_type, mesh_meta, none);
  lua_getfield(L, -1, "contact_support");
  luaL_setfuncs(L, functions, 0);
  solid_push_classes(L);
  lua_setfield(L, -2, "solids");
  lua_pop(L, 1);
}
