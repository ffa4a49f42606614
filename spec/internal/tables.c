/*
** tables.c
** For the specs alone: reads and changes every field of the objects of a simulation.
*/
#include <math.h>

#include "internal.h"
#include "bind/simulation/simulation.h"
#include "integrators/euler_moreau/euler_moreau.h"
#include "model/mechanical_ds.h"

/* One object of a simulation with its table of fields. */
typedef struct Part {
  const char *kind;
  const NsField *fields;
  void *object;
} Part;

/* Calls visit for each part until it returns true. Returns whether it did. */
static bool walk_parts(NsTimeStepping *ts, bool (*visit)(void *context, const Part *part), void *context) {
  const Part own[] = {{"simulation", ns_ts_fields, ts},
                      {"Newton's method", ns_newton_fields, &ts->newton},
                      {"adaptive stepping", ns_adaptive_fields, &ts->adaptive},
                      {"projection", ns_projection_fields, &ts->projection},
                      {"grid", ns_time_grid_fields, ts->grid},
                      {"integrator", ts->integrator->class->fields, ts->integrator},
                      {"one-step problem", ns_osnsp_fields, ts->problem}};
  bool done = false;
  for (size_t i = 0; i < sizeof own / sizeof *own && !done; i++) done = visit(context, &own[i]);
  for (int i = 0; i < ts->nsds->nds && !done; i++) {
    NsDs *ds = ts->nsds->ds[i];
    NsBoundary *boundary = ns_ds_family(ds) == NS_MECHANICS ? ((NsMechanicalDs *)ds)->boundary : NULL;
    done = visit(context, &(Part){ns_ds_class_name(ds), ds->class->model.fields, ds});
    if (boundary && !done) done = visit(context, &(Part){boundary->class->name, boundary->class->fields, boundary});
  }
  for (int i = 0; i < ts->nsds->ninteractions && !done; i++) {
    NsInteraction *inter = ts->nsds->interactions[i];
    const Part parts[] = {{"interaction", ns_interaction_fields, inter},
                          {ns_law_name(inter->law), inter->law->class->fields, inter->law},
                          {ns_relation_class_name(inter->relation), inter->relation->class->model.fields, inter->relation}};
    for (int k = 0; k < 3 && !done; k++) done = visit(context, &parts[k]);
  }
  return done;
}

static bool push_part(void *context, const Part *part) {
  lua_State *L = context;
  lua_newtable(L);
  nsl_set_string(L, "kind", part->kind);
  nsl_internal_push_fields(L, part->fields), lua_setfield(L, -2, "fields");
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  return false;
}

/* parts(simulation): a list of {kind, fields}. */
static int parts_of_simulation(lua_State *L) {
  NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  lua_newtable(L);
  walk_parts(ts, push_part, L);
  return 1;
}

typedef struct Search {
  lua_Integer left;
  Part found;
} Search;

static bool take_part_of_simulation(void *context, const Part *part) {
  Search *search = context;
  search->found = *part;
  return --search->left == 0;
}

/* The field number at 3 of the part number at 2 (both from 1) of the simulation at 1. */
static const NsField *check_field_of(lua_State *L, void **object) {
  Search search = {.left = luaL_checkinteger(L, 2)};
  if (!walk_parts(nsl_check_simulation(L, 1)->ts, take_part_of_simulation, &search)) luaL_argerror(L, 2, "no such part");
  const NsField *fields = search.found.fields;
  *object = search.found.object;
  return fields + luaL_checkinteger(L, 3) - 1;
}

/* peek(simulation, part, field): the bytes of a field; nil for an array that does not exist. */
static int peek(lua_State *L) {
  void *object;
  size_t bytes;
  const NsField *field = check_field_of(L, &object);
  const char *data = ns_field_data(field, object, &bytes);
  if (data) lua_pushlstring(L, data, bytes);
  else lua_pushnil(L);
  return 1;
}

static int other_value(void *context, double t, const double *const *args, double *out) {
  (void)context, (void)t, (void)args, (void)out;
  return 0;
}

static bool change_coef(const NsField *field, const void *object, NsCoef *coef) {
  int rows = ns_coef_given(coef) ? coef->rows : ns_field_rows(field, object);
  int cols = ns_coef_given(coef) ? coef->cols : field->cols ? ns_field_cols(field, object) : 1;
  double other = coef->value ? *coef->value + 1 : 1;
  return rows > 0 && cols > 0 && ns_coef_set(coef, rows, cols, (NsSource){&other, 0, 0, NULL, false}) == NS_OK;
}

/* Changes the data to another value; false when there is nothing to change. */
static bool change_data(const NsField *field, void *data, size_t bytes) {
  static const NsMethod other = {.name = "another"};
  double *x = data;
  if (!data || bytes == 0) return false;
  switch (field->type) {
    case NS_FIELD_COUNT:
    case NS_FIELD_INDICES: ++*(int *)data; break;
    case NS_FIELD_LONG: ++*(long *)data; break;
    case NS_FIELD_FLAG: *(bool *)data = !*(bool *)data; break;
    case NS_FIELD_WORD: *(int *)data = field->words[*(int *)data + 1] ? *(int *)data + 1 : 0; break;
    case NS_FIELD_TEXT: ++*(char *)data; break;
    case NS_FIELD_METHOD: *(const NsMethod **)data = &other; break;
    default: *x = isfinite(*x) ? *x + 1 : 1; break;
  }
  return true;
}

/* poke(simulation, part, field): changes a field without any notice. Returns whether there was something to change. */
static int poke(lua_State *L) {
  void *object;
  size_t bytes;
  const NsField *field = check_field_of(L, &object);
  void *data = ns_field_data(field, object, &bytes);
  bool changed;
  if (field->type == NS_FIELD_COEF) {
    changed = change_coef(field, object, data);
  } else if (field->type == NS_FIELD_CALLBACK) {
    NsFunction *function = data;
    function->value = function->value ? NULL : other_value;
    changed = true;
  } else {
    changed = change_data(field, data, bytes);
  }
  return lua_pushboolean(L, changed), 1;
}

/* general_form(on): whether workspaces of EulerMoreauOSI made from now on have the general form alone. */
static int general_form(lua_State *L) {
  ns_em_plain = lua_toboolean(L, 1);
  return 0;
}

void nsl_internal_tables(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"parts", parts_of_simulation}, {"peek", peek}, {"poke", poke}, {"general_form", general_form}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
