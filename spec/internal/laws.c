/*
** laws.c
** For the specs alone: the tables of the laws, unchanged.
*/
#include "internal.h"
#include "bind/model/model.h"

/* law_classes(): a list of {name, bytes, arguments, fields, goes_with, unilateral, joint}. */
static int law_classes(lua_State *L) {
  static const char *const sorts[] = {"first_order", "velocities", "positions", NULL};
  lua_newtable(L);
  for (int i = 0; i < NS_LAW_CLASSES; i++) {
    const NsLawClass *class = ns_law_classes[i];
    lua_newtable(L);
    nsl_internal_give(L, 0, "name$ bytes: unilateral? joint?", class->name, (int)class->bytes, class->unilateral, class->joint);
    nsl_internal_push_bits(L, class->goes_with, sorts), lua_setfield(L, -2, "goes_with");
    nsl_internal_push_fields(L, class->fields), lua_setfield(L, -2, "fields");
    nsl_set_texts(L, "arguments", class->arguments);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* law_table(law [, theta]): a law's class: {needs, constrained, groups = {{dim, lower, upper, mu}}, restitution = {}}. */
static int law_table(lua_State *L) {
  static const char *const needs[] = {"equation", "unilateral", "impact",  "box",      "sorts",    "polyhedron", "cone_2d",
                                      "cone_3d",  "mean",       "rolling", "reaction", "exchange", "viscous",    NULL};
  const NsLaw *law = nsl_check_law(L, 1)->law;
  double theta = luaL_optnumber(L, 2, 1);
  lua_newtable(L);
  nsl_internal_push_bits(L, ns_law_needs(law), needs), lua_setfield(L, -2, "needs");
  double *restitution = lua_newuserdatauv(L, (size_t)(law->size + 1) * sizeof *restitution, 0);
  for (int i = 0; i < law->size; i++) restitution[i] = ns_law_restitution(law, i, theta);
  lua_insert(L, -2);
  nsl_internal_give(L, law->size, "constrained: restitution~", ns_law_constrained(law), restitution);
  nsl_push_law_groups(L, law);
  lua_setfield(L, -2, "groups");
  return 1;
}

/* law_clone(law) */
static int law_clone(lua_State *L) {
  nsl_clone_law(L, 1);
  return 1;
}

void nsl_internal_laws(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"law_classes", law_classes}, {"law_table", law_table}, {"law_clone", law_clone}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
