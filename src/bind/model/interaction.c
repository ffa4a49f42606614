/*
** interaction.c
** Interaction: a law and a relation, with live y and lambda.
*/
#include "bind/lua/open.h"
#include "bind/model/model.h"

enum { LAW = 1, RELATION, GRAPH, USERVALUES = GRAPH };

static const NslType interaction_type = {.name = "Interaction"};

bool nsl_is_interaction(const NslType *type) {
  return type == &interaction_type;
}

NslInteraction *nsl_check_interaction(lua_State *L, int idx) {
  return nsl_check(L, idx, &interaction_type);
}

/* Interaction(law, relation [, name]). */
static int new_interaction(lua_State *L) {
  nsl_at_most(L, 3, "Interaction");
  NslLaw *law = nsl_check_law(L, 1);
  NslRelation *relation = nsl_check_relation(L, 2);
  lua_settop(L, 3);
  NslInteraction *self = nsl_new(L, &interaction_type, sizeof *self, USERVALUES);
  self->head.stepped = true;
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 4, LAW);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, 4, RELATION);
  if (ns_interaction_new(&self->interaction, law->law, relation->relation) != NS_OK) luaL_error(L, "not enough memory");
  if (!lua_isnil(L, 3)) nsl_set_name(L, self->interaction->name, 3, "Interaction");
  return 1;
}

/*
** The level at 2, by default the lowest. First order: 0. Mechanical: y has 0 and 1 (velocity); lambda has 1 (impulse), or 0
** (force) when the relation holds at position level (compliant contacts).
*/
static int check_level(lua_State *L, const NsInteraction *inter, const char *what, bool multiplier) {
  bool mechanical = ns_relation_family(inter->relation) == NS_MECHANICS;
  bool impulses = mechanical && !ns_relation_holds_at_position(inter->relation);
  int least = multiplier && impulses ? 1 : 0, most = mechanical && (!multiplier || impulses) ? 1 : 0;
  if (lua_isnoneornil(L, 2)) return least;
  lua_Integer level = nsl_integer(L, 2, what, "level");
  if (level < least || level > most) {
    if (!mechanical) luaL_error(L, "%s: level: a first-order interaction has level 0 only, got %I", what, level);
    luaL_error(L, "%s: level: expected %s, got %I", what, least == most ? (least ? "1" : "0") : "0 or 1", level);
  }
  return (int)level;
}

/* y([level]): the outputs; on level 1 their velocities. */
static int interaction_y(lua_State *L) {
  NsInteraction *inter = nsl_check_interaction(L, 1)->interaction;
  int level = check_level(L, inter, "y", false);
  nsl_push_vector_view(L, 1, level == 0 ? inter->y : inter->ydot, inter->m, 1, "y", NULL);
  return 1;
}

static int interaction_lambda(lua_State *L) {
  NsInteraction *inter = nsl_check_interaction(L, 1)->interaction;
  (void)check_level(L, inter, "lambda", true);
  nsl_push_vector_view(L, 1, inter->lambda, inter->m, 1, "lambda", NULL);
  return 1;
}

static int interaction_law(lua_State *L) {
  nsl_check_interaction(L, 1);
  return lua_getiuservalue(L, 1, LAW), 1;
}

static int interaction_relation(lua_State *L) {
  nsl_check_interaction(L, 1);
  return lua_getiuservalue(L, 1, RELATION), 1;
}

static int interaction_size(lua_State *L) {
  return lua_pushinteger(L, nsl_check_interaction(L, 1)->interaction->m), 1;
}

static int interaction_name(lua_State *L) {
  return lua_pushstring(L, nsl_check_interaction(L, 1)->interaction->name), 1;
}

static int interaction_set_name(lua_State *L) {
  return nsl_set_name(L, nsl_check_interaction(L, 1)->interaction->name, 2, "setName");
}

static int interaction_close(lua_State *L) {
  NslInteraction *self = nsl_check_interaction(L, 1);
  const NsNsds *nsds = self->interaction->owner;
  if (nsds && nsds->busy)
    luaL_error(L, "close: interaction '%s' is being used by the step that is computed (called from inside a callback?)",
               self->interaction->name);
  self->head.closed = self->interaction->closed = true;
  return 0;
}

/* The graph of an interaction is closed with it, as with a system. */
static int interaction_gc(lua_State *L) {
  NslInteraction *self = lua_touserdata(L, 1);
  self->head.closed = true;
  lua_getiuservalue(L, 1, GRAPH);
  NslHead *graph = nsl_head(L, -1);
  if (graph) graph->closed = true;
  ns_interaction_free(self->interaction);
  self->interaction = NULL;
  return 0;
}

static int interaction_tostring(lua_State *L) {
  NslInteraction *self = lua_touserdata(L, 1);
  const NsInteraction *inter = self->interaction;
  if (self->head.closed) return lua_pushliteral(L, "Interaction (closed)"), 1;
  lua_getiuservalue(L, 1, GRAPH);
  const NslHead *graph = nsl_head(L, -1);
  lua_pushfstring(L, inter->name[0] ? "Interaction '%s'" : "Interaction", inter->name);
  if (graph && graph->closed) return 1;
  lua_pushfstring(L, ": %s, %s, %s", ns_law_name(inter->law), ns_relation_class_name(inter->relation),
                  inter->owner ? "linked with" : "not linked");
  for (int i = 0; i < inter->nds; i++) lua_pushfstring(L, "%s'%s'", i ? " and " : " ", inter->ds[i]->name);
  lua_concat(L, 2 + inter->nds);
  return 1;
}

static int interaction_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"y", interaction_y}, {"lambda", interaction_lambda}, {NULL, NULL}};
  nsl_check_interaction(L, 1);
  return nsl_display_object(L, fields);
}

static const luaL_Reg methods[] = {{"display", interaction_display},
                                   {"y", interaction_y},
                                   {"lambda_", interaction_lambda},
                                   {"lambda", interaction_lambda},
                                   {"nonSmoothLaw", interaction_law},
                                   {"relation", interaction_relation},
                                   {"dimension", interaction_size},
                                   {"name", interaction_name},
                                   {"setName", interaction_set_name},
                                   {"close", interaction_close},
                                   {NULL, NULL}};

static const luaL_Reg meta[] = {
    {"__gc", interaction_gc}, {"__close", interaction_close}, {"__tostring", interaction_tostring}, {NULL, NULL}};

void nsl_open_interaction(lua_State *L) {
  static const luaL_Reg functions[] = {{"Interaction", new_interaction}, {NULL, NULL}};
  nsl_register_type(L, &interaction_type, meta, methods);
  luaL_setfuncs(L, functions, 0);
}
