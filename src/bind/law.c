/*
** law.c
** ComplementarityConditionNSL, EqualityConditionNSL, RelayNSL, MixedComplementarityConditionNSL, NormalConeNSL,
** NewtonImpactNSL and NewtonImpactFrictionNSL.
*/
#include <math.h>

#include "bind/model.h"
#include "solvers/polyhedron.h"

enum { KINDS = NS_LAW_FRICTION + 1 };

static const NslType types[KINDS] = {
#define X(code, name) [code] = {name, NULL},
    NS_LAW_LIST(X)
#undef X
};

NslLaw *nsl_check_law(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || head->type < types || head->type >= types + KINDS)
    return nsl_wrong_type(L, idx, "nonsmooth law", "law"), NULL;
  if (head->closed) luaL_error(L, "%s is closed", head->type->name);
  return (NslLaw *)head;
}

static NslLaw *new_law(lua_State *L, NsLawKind kind, int size, int equalities, double lb, double ub) {
  NslLaw *self = nsl_new(L, &types[kind], sizeof *self, 0);
  if (ns_law_new(&self->law, kind, size, equalities, lb, ub) != NS_OK) luaL_error(L, "not enough memory");
  return self;
}

static int size_argument(lua_State *L, int idx, const char *who, const char *what, lua_Integer least) {
  lua_Integer size = nsl_integer(L, idx, who, what);
  if (size < least || size > 1 << 28)
    luaL_error(L, "%s: %s: expected %d..%d, got %I", who, what, (int)least, 1 << 28, size);
  return (int)size;
}

static int new_complementarity(lua_State *L) {
  nsl_at_most(L, 1, types[NS_LAW_COMPLEMENTARITY].name);
  new_law(L, NS_LAW_COMPLEMENTARITY, size_argument(L, 1, types[NS_LAW_COMPLEMENTARITY].name, "size", 1), 0, 0, 0);
  return 1;
}

static int new_equality(lua_State *L) {
  nsl_at_most(L, 1, types[NS_LAW_EQUALITY].name);
  new_law(L, NS_LAW_EQUALITY, size_argument(L, 1, types[NS_LAW_EQUALITY].name, "size", 1), 0, 0, 0);
  return 1;
}

/* (complementary, equalities): the size is their sum, as in Siconos; the equations come first. */
static int new_mixed(lua_State *L) {
  const char *who = types[NS_LAW_MIXED].name;
  nsl_at_most(L, 2, who);
  int complementary = size_argument(L, 1, who, "size", 0), equalities = size_argument(L, 2, who, "equalities", 0);
  if (complementary + equalities == 0) luaL_error(L, "%s: expected at least one component", who);
  new_law(L, NS_LAW_MIXED, complementary + equalities, equalities, 0, 0);
  return 1;
}

static double restitution(lua_State *L, int idx, const char *who, const char *what) {
  double value = nsl_finite(L, idx, who, what);
  if (value < -1 || value > 1) nsl_error(L, "%s: %s: expected a number in [-1, 1], got %f", who, what, value);
  return value;
}

static double friction(lua_State *L, int idx, const char *who) {
  double mu = nsl_finite(L, idx, who, "mu");
  if (mu < 0) nsl_error(L, "%s: mu: expected 0 or more, got %f", who, mu);
  return mu;
}

static void new_impact_law(lua_State *L, NsLawKind kind, int size, double en, double et, double mu) {
  NslLaw *self = nsl_new(L, &types[kind], sizeof *self, 0);
  if (ns_law_new_impact(&self->law, kind, size, en, et, mu) != NS_OK) luaL_error(L, "not enough memory");
}

/* NewtonImpactNSL(e) or NewtonImpactNSL(size, e). */
static int new_impact(lua_State *L) {
  const char *who = types[NS_LAW_IMPACT].name;
  nsl_at_most(L, 2, who);
  int size = lua_gettop(L) == 2 ? size_argument(L, 1, who, "size", 1) : 1;
  new_impact_law(L, NS_LAW_IMPACT, size, restitution(L, lua_gettop(L) == 2 ? 2 : 1, who, "e"), 0, 0);
  return 1;
}

/* NewtonImpactFrictionNSL(en, et, mu, dim) with dim 2 or 3. */
static int new_friction(lua_State *L) {
  const char *who = types[NS_LAW_FRICTION].name;
  nsl_at_most(L, 4, who);
  double en = restitution(L, 1, who, "en"), et = restitution(L, 2, who, "et"), mu = friction(L, 3, who);
  lua_Integer dim = nsl_integer(L, 4, who, "dim");
  if (dim != 2 && dim != 3) luaL_error(L, "%s: dim: expected 2 or 3, got %I", who, dim);
  new_impact_law(L, NS_LAW_FRICTION, (int)dim, en, et, mu);
  return 1;
}

/* Raises when the law's bounds are no intervals. */
static void check_bounds(lua_State *L, const NsLaw *law) {
  NsError err = {NS_OK, ""};
  if (ns_law_check(law, &err) != NS_OK) nsl_raise(L, &err);
}

/* A number for all components, or a vector. Infinite bounds are allowed. */
static void read_bounds(lua_State *L, int idx, NsLaw *law, double *to, const char *what) {
  if (lua_type(L, idx) == LUA_TNUMBER) {
    for (int i = 0; i < law->size; i++) to[i] = lua_tonumber(L, idx);
    return;
  }
  NslVector *v = nsl_to_vector(L, idx, law->size, ns_law_name(law->kind), what);
  nsl_vector_read(v, to);
}

/* RelayNSL(size [, lb = -1 [, ub = 1]]). */
static int new_relay(lua_State *L) {
  int given = lua_gettop(L);
  nsl_at_most(L, 3, types[NS_LAW_RELAY].name);
  lua_settop(L, 3);
  NslLaw *self = new_law(L, NS_LAW_RELAY, size_argument(L, 1, types[NS_LAW_RELAY].name, "size", 1), 0, -1, 1);
  if (given >= 2) read_bounds(L, 2, self->law, self->law->lower, "lb");
  if (given >= 3) read_bounds(L, 3, self->law, self->law->upper, "ub");
  check_bounds(L, self->law);
  return 1;
}

/* Owns the workspace while the point of the polyhedron is looked for. */
typedef struct Nearest {
  NslHead head;
  NsPolyhedron *work;
} Nearest;

static const NslType nearest_type = {.name = "nslua.law.nearest"};

static int nearest_gc(lua_State *L) {
  Nearest *self = lua_touserdata(L, 1);
  ns_polyhedron_free(self->work);
  self->work = NULL;
  return 0;
}

/* Pushes and returns the point of {H z >= K} nearest to 0: its variational inequality with M = 1. */
static const double *push_nearest(lua_State *L, int n, int rows, const double *H, const double *K) {
  const char *who = types[NS_LAW_NORMAL_CONE].name;
  NslVector *z = nsl_push_vector(L, n, NULL), *w = nsl_push_vector(L, n, NULL), *q = nsl_push_vector(L, n, NULL);
  NslMatrix *M = nsl_push_matrix(L, n, n, NULL);
  Nearest *self = nsl_new(L, &nearest_type, sizeof *self, 0);
  NsSolverInfo info;
  for (int i = 0; i < n; i++) M->data[i + (ptrdiff_t)i * M->ld] = 1;
  bool inside = true;
  for (int r = 0; r < rows; r++) inside = inside && K[r] <= 0;
  if (inside) return lua_pop(L, 4), z->data; /* 0 itself */
  NsStatus status = ns_polyhedron_new(&self->work, n, rows);
  if (status != NS_OK) nsl_raise_status(L, status, who);
  NsAvi avi = {n, rows, M->data, q->data, H, K, NULL, NULL};
  status = ns_polyhedron_solve(self->work, &avi, NULL, z->data, w->data, NULL, &info);
  if (status == NS_ENOSOL || status == NS_ERAY)
    luaL_error(L, "%s: no lambda has H lambda >= K: the set is empty", who);
  if (status != NS_OK)
    luaL_error(L, "%s: no lambda with H lambda >= K was found (%s)", who, ns_status_message(status));
  lua_pop(L, 4);
  return z->data;
}

/* NormalConeNSL(size, H, K): -y in the normal cone of {lambda: H lambda >= K} at lambda. */
static int new_normal_cone(lua_State *L) {
  const char *who = types[NS_LAW_NORMAL_CONE].name;
  nsl_at_most(L, 3, who);
  lua_settop(L, 3);
  int size = size_argument(L, 1, who, "size", 1);
  NslMatrix *H = nsl_to_finite_matrix(L, 2, -1, size, who, "H");
  NslVector *K = nsl_to_finite_vector(L, 3, H->rows, who, "K");
  double *h = nsl_push_matrix(L, H->rows, size, NULL)->data, *k = nsl_push_vector(L, H->rows, NULL)->data;
  nsl_matrix_read(H, h);
  nsl_vector_read(K, k);
  const double *inside = push_nearest(L, size, H->rows, h, k);
  NslLaw *self = nsl_new(L, &types[NS_LAW_NORMAL_CONE], sizeof *self, 0);
  if (ns_law_new_cone(&self->law, size, H->rows, h, k, inside) != NS_OK) luaL_error(L, "not enough memory");
  return 1;
}

static void clone_cone(lua_State *L, const NsLaw *from) {
  NslLaw *self = nsl_new(L, &types[NS_LAW_NORMAL_CONE], sizeof *self, 0);
  if (ns_law_new_cone(&self->law, from->size, from->rows, from->H, from->K, from->inside) != NS_OK)
    luaL_error(L, "not enough memory");
}

static const NsLaw *check_cone(lua_State *L, const char *what) {
  const NslLaw *self = nsl_check_law(L, 1);
  if (self->law->kind != NS_LAW_NORMAL_CONE) luaL_error(L, "%s: a %s has no polyhedron", what, self->head.type->name);
  return self->law;
}

/* Copies of the polyhedron's rows. */
static int law_H(lua_State *L) {
  const NsLaw *law = check_cone(L, "H");
  nsl_matrix_write(nsl_push_matrix(L, law->rows, law->size, "H"), law->H);
  return 1;
}

static int law_K(lua_State *L) {
  const NsLaw *law = check_cone(L, "K");
  nsl_vector_write(nsl_push_vector(L, law->rows, "K"), law->K);
  return 1;
}

void nsl_clone_law(lua_State *L, int idx) {
  const NsLaw *from = nsl_check_law(L, idx)->law;
  if (from->kind == NS_LAW_NORMAL_CONE) {
    clone_cone(L, from);
    return;
  }
  if (from->kind >= NS_LAW_IMPACT) {
    new_impact_law(L, from->kind, from->size, from->en, from->et, from->mu);
    return;
  }
  NsLaw *to = new_law(L, from->kind, from->size, from->equalities, 0, 0)->law;
  for (int i = 0; i < from->size; i++) {
    to->lower[i] = from->lower[i];
    to->upper[i] = from->upper[i];
  }
}

static NslLaw *check_relay(lua_State *L, const char *what) {
  NslLaw *self = nsl_check_law(L, 1);
  if (self->law->kind != NS_LAW_RELAY) luaL_error(L, "%s: a %s has fixed bounds", what, self->head.type->name);
  return self;
}

/* A live view of a relay's bounds; the bounds of the other laws are fixed, so that theirs is read-only. */
static int bounds_view(lua_State *L, NslLaw *self, double *bounds, const char *label) {
  NslVector *v = nsl_push_vector_view(L, 1, bounds, self->law->size, 1, label, NULL);
  v->readonly = self->law->kind != NS_LAW_RELAY;
  return 1;
}

static int law_lb(lua_State *L) {
  NslLaw *self = nsl_check_law(L, 1);
  return bounds_view(L, self, self->law->lower, "lb");
}

static int law_ub(lua_State *L) {
  NslLaw *self = nsl_check_law(L, 1);
  return bounds_view(L, self, self->law->upper, "ub");
}

/* setLb(value), setLb(vector) or setLb(i, value). Crossed bounds are refused, and nothing is changed. */
static int set_bounds(lua_State *L, const char *what, bool upper) {
  NslLaw *self = check_relay(L, what);
  NsLaw *law = self->law;
  double *to = upper ? law->upper : law->lower;
  lua_settop(L, 3);
  NslVector *wanted = nsl_push_vector(L, law->size, what);
  for (int i = 0; i < law->size; i++) wanted->data[i] = to[i];
  if (!lua_isnil(L, 3)) {
    lua_Integer i = nsl_integer(L, 2, what, "component");
    if (i < 1 || i > law->size) luaL_error(L, "%s: component: expected 1..%d, got %I", what, law->size, i);
    if (lua_type(L, 3) != LUA_TNUMBER) nsl_bad(L, what, "bound", "a number", 3);
    wanted->data[i - 1] = lua_tonumber(L, 3);
  } else {
    read_bounds(L, 2, law, wanted->data, upper ? "ub" : "lb");
  }
  NsLaw trial = *law;
  *(upper ? &trial.upper : &trial.lower) = wanted->data;
  check_bounds(L, &trial);
  nsl_vector_read(wanted, to);
  return 0;
}

static int law_set_lb(lua_State *L) { return set_bounds(L, "setLb", false); }
static int law_set_ub(lua_State *L) { return set_bounds(L, "setUb", true); }

/* The impact law at 1; friction: with friction. */
static NsLaw *check_impact(lua_State *L, const char *what, bool with_friction) {
  NslLaw *self = nsl_check_law(L, 1);
  NsLawKind kind = self->law->kind;
  if (kind != NS_LAW_FRICTION && (with_friction || kind != NS_LAW_IMPACT))
    luaL_error(L, "%s: a %s has no %s", what, self->head.type->name, with_friction ? "friction" : "restitution");
  return self->law;
}

static int get_en(lua_State *L, const char *what) {
  lua_pushnumber(L, check_impact(L, what, false)->en);
  return 1;
}

static int law_e(lua_State *L) { return get_en(L, "e"); }
static int law_en(lua_State *L) { return get_en(L, "en"); }

static int law_et(lua_State *L) {
  lua_pushnumber(L, check_impact(L, "et", true)->et);
  return 1;
}

static int law_mu(lua_State *L) {
  lua_pushnumber(L, check_impact(L, "mu", true)->mu);
  return 1;
}

static int set_en(lua_State *L, const char *who, const char *what) {
  NsLaw *law = check_impact(L, who, false);
  law->en = restitution(L, 2, who, what);
  return 0;
}

static int law_set_e(lua_State *L) { return set_en(L, "setE", "e"); }
static int law_set_en(lua_State *L) { return set_en(L, "setEn", "en"); }

static int law_set_et(lua_State *L) {
  NsLaw *law = check_impact(L, "setEt", true);
  law->et = restitution(L, 2, "setEt", "et");
  return 0;
}

static int law_set_mu(lua_State *L) {
  NsLaw *law = check_impact(L, "setMu", true);
  law->mu = friction(L, 2, "setMu");
  return 0;
}

static int law_size(lua_State *L) {
  lua_pushinteger(L, nsl_check_law(L, 1)->law->size);
  return 1;
}

static int law_equalities(lua_State *L) {
  const NsLaw *law = nsl_check_law(L, 1)->law;
  lua_pushinteger(L, law->kind == NS_LAW_EQUALITY ? law->size : law->equalities);
  return 1;
}

static int law_close(lua_State *L) {
  NslLaw *self = nsl_check_law(L, 1);
  self->head.closed = self->law->closed = true;
  return 0;
}

static int law_gc(lua_State *L) {
  NslLaw *self = lua_touserdata(L, 1);
  self->head.closed = true;
  ns_law_free(self->law);
  self->law = NULL;
  return 0;
}

static int law_tostring(lua_State *L) {
  NslLaw *self = lua_touserdata(L, 1);
  const NsLaw *law = self->law;
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", self->head.type->name), 1;
  lua_pushfstring(L, "%s of size %d", self->head.type->name, law->size);
  if (law->kind == NS_LAW_RELAY && law->size == 1) nsl_pushf(L, " on [%f, %f]", law->lower[0], law->upper[0]);
  else if (law->kind == NS_LAW_NORMAL_CONE) lua_pushfstring(L, ", %d row%s", law->rows, law->rows == 1 ? "" : "s");
  else if (law->kind == NS_LAW_MIXED) lua_pushfstring(L, ", the first %d equations", law->equalities);
  else if (law->kind == NS_LAW_IMPACT) nsl_pushf(L, ", e = %f", law->en);
  else if (law->kind == NS_LAW_FRICTION) nsl_pushf(L, ", en = %f, et = %f, mu = %f", law->en, law->et, law->mu);
  else lua_pushliteral(L, "");
  lua_concat(L, 2);
  return 1;
}

static int law_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"lb", law_lb}, {"ub", law_ub}, {NULL, NULL}};
  nsl_check_law(L, 1);
  return nsl_display_object(L, fields);
}

static const luaL_Reg methods[] = {{"display", law_display},
                                   {"lb", law_lb},
                                   {"ub", law_ub},
                                   {"setLb", law_set_lb},
                                   {"setUb", law_set_ub},
                                   {"size", law_size},
                                   {"equalities", law_equalities},
                                   {"close", law_close},
                                   {"H", law_H},
                                   {"K", law_K},
                                   {"e", law_e},
                                   {"en", law_en},
                                   {"et", law_et},
                                   {"mu", law_mu},
                                   {"setE", law_set_e},
                                   {"setEn", law_set_en},
                                   {"setEt", law_set_et},
                                   {"setMu", law_set_mu},
                                   {NULL, NULL}};

static const luaL_Reg meta[] = {{"__gc", law_gc}, {"__close", law_close}, {"__tostring", law_tostring}, {NULL, NULL}};

void nsl_open_law(lua_State *L) {
  static const luaL_Reg functions[] = {{"ComplementarityConditionNSL", new_complementarity},
                                       {"EqualityConditionNSL", new_equality},
                                       {"RelayNSL", new_relay},
                                       {"MixedComplementarityConditionNSL", new_mixed},
                                       {"NormalConeNSL", new_normal_cone},
                                       {"NewtonImpactNSL", new_impact},
                                       {"NewtonImpactFrictionNSL", new_friction},
                                       {NULL, NULL}};
  static const luaL_Reg nearest_meta[] = {{"__gc", nearest_gc}, {NULL, NULL}};
  nsl_register_type(L, &nearest_type, nearest_meta, NULL);
  for (int i = 0; i < KINDS; i++) nsl_register_type(L, &types[i], meta, methods);
  luaL_setfuncs(L, functions, 0);
}
