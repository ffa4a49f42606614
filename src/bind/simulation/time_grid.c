/*
** time_grid.c
** TimeDiscretisation.
*/
#include "bind/lua/open.h"
#include "bind/array/field.h"
#include "bind/simulation/simulation.h"

static const NslType grid_type = {.name = "TimeDiscretisation"};

NslTimeGrid *nsl_check_time_grid(lua_State *L, int idx) {
  return nsl_check(L, idx, &grid_type);
}

/* TimeDiscretisation(t0, h), or TimeDiscretisation(points). */
static int new_grid(lua_State *L) {
  NsError err = {NS_OK, ""};
  NsStatus status;
  NslTimeGrid *self;
  if (lua_type(L, 1) == LUA_TNUMBER) {
    nsl_at_most(L, 2, grid_type.name);
    double t0 = nsl_finite(L, 1, grid_type.name, "t0"), h = nsl_finite(L, 2, grid_type.name, "h");
    self = nsl_new(L, &grid_type, sizeof *self, 0);
    status = ns_time_grid_new(&self->grid, t0, h, &err);
  } else {
    if (lua_gettop(L) != 1) luaL_error(L, "%s: expected (t0, h) or a vector of points", grid_type.name);
    const NslVector *flat = nsl_push_vector_copy(L, nsl_to_finite_vector(L, 1, -1, grid_type.name, "points"));
    self = nsl_new(L, &grid_type, sizeof *self, 0);
    status = ns_time_grid_new_points(&self->grid, flat->data, flat->n, &err);
  }
  return status == NS_OK ? 1 : nsl_raise(L, &err);
}

static NslHead *check_grid_head(lua_State *L, int idx) {
  return &nsl_check_time_grid(L, idx)->head;
}

static void *grid_of_head(NslHead *head) {
  return ((NslTimeGrid *)head)->grid;
}

static const NslFieldOwner grid_owner = {&grid_type, check_grid_head, grid_of_head, NULL, NULL, NULL};

/* h(k): the length of step k (from 1, the default). */
static int grid_h(lua_State *L) {
  NsTimeGrid *grid = nsl_check_time_grid(L, 1)->grid;
  lua_Integer k = lua_isnoneornil(L, 2) ? 1 : nsl_integer(L, 2, "h", "step");
  if (k < 1) luaL_error(L, "h: step: expected at least 1, got %I", k);
  if (grid->points && k >= grid->npoints) luaL_error(L, "h: step: expected 1..%I, got %I", (lua_Integer)grid->npoints - 1, k);
  return lua_pushnumber(L, ns_time_grid_step(grid, (long)k - 1)), 1;
}

/* at(k): t_k, where k counts from 0. */
static int grid_at(lua_State *L) {
  NsTimeGrid *grid = nsl_check_time_grid(L, 1)->grid;
  lua_Integer k = nsl_integer(L, 2, "at", "k");
  if (k < 0 || (grid->points && k >= grid->npoints)) luaL_error(L, "at: k: there is no t[%I]", k);
  return lua_pushnumber(L, ns_time_grid_at(grid, (long)k)), 1;
}

static int grid_close(lua_State *L) {
  nsl_check_time_grid(L, 1)->head.closed = true;
  return 0;
}

static int grid_gc(lua_State *L) {
  NslTimeGrid *self = lua_touserdata(L, 1);
  self->head.closed = true;
  ns_time_grid_free(self->grid);
  self->grid = NULL;
  return 0;
}

static int grid_tostring(lua_State *L) {
  NslTimeGrid *self = lua_touserdata(L, 1);
  if (self->head.closed) lua_pushfstring(L, "%s (closed)", grid_type.name);
  else if (self->grid->points)
    nsl_pushf(L, "%s with %I points from %f", grid_type.name, (lua_Integer)self->grid->npoints, self->grid->t0);
  else nsl_pushf(L, "%s from %f with step %f", grid_type.name, self->grid->t0, self->grid->h);
  return 1;
}

static int grid_display(lua_State *L) {
  return nsl_display_fields(L, &grid_owner, ns_time_grid_fields);
}

void nsl_open_time_grid(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"h", grid_h}, {"at", grid_at}, {"display", grid_display}, {"close", grid_close}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", grid_gc}, {"__close", grid_close}, {"__tostring", grid_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"TimeDiscretisation", new_grid}, {NULL, NULL}};
  nsl_register_type(L, &grid_type, meta, methods);
  nsl_add_field_methods(L, &grid_owner, ns_time_grid_fields);
  luaL_setfuncs(L, functions, 0);
}
