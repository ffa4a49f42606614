/*
** sensitivities.c
** The parameters of a run's derivatives, and the derivatives in a solution.
*/
#include "bind/simulation/sensitivities.h"

#include <math.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/model/ds.h"

/* The parameters that are being read. Stack: NAMES is their list of names; the memory of `of` is at `memory`. */
typedef struct Parameters {
  NsParameter *of;
  int count, room, names, memory;
  const NsNsds *nsds;
} Parameters;

static const char who[] = "run: sensitivities";

/* Adds a parameter, whose name is on top and is popped. */
static void add_parameter(lua_State *L, Parameters *list, NsParameter parameter) {
  if (list->count == list->room) {
    int room = 2 * list->room + 16;
    NsParameter *more = lua_newuserdatauv(L, (size_t)room * sizeof *more, 1);
    if (list->count > 0) memcpy(more, list->of, (size_t)list->count * sizeof *more);
    lua_getiuservalue(L, list->memory, 1);
    lua_setiuservalue(L, -2, 1);
    lua_replace(L, list->memory);
    list->of = more, list->room = room;
  }
  if (parameter.number && !isfinite(*parameter.number))
    nsl_error(L, "%s: %s is not finite: it has no derivative", who, lua_tostring(L, -1));
  list->of[list->count++] = parameter;
  lua_rawseti(L, list->names, list->count);
}

/* The size of a number of a field: its own, the size of the largest number of the field, or 1. */
static double parameter_unit(const double *number, const double *all, int count) {
  double size = fabs(*number);
  int exponent;
  for (int i = 0; i < count && !(size > 0); i++)
    for (int k = 0; k < count; k++)
      if (isfinite(all[k])) size = fmax(size, fabs(all[k]));
  if (!(size > 0)) return 1;
  (void)frexp(size, &exponent);
  return ldexp(1, exponent);
}

/* The initial values of a system; first: the number of the first one in the name, after `stem`. */
static void add_initial_states(lua_State *L, Parameters *list, const NsDs *ds, int from, int count, int first,
                               const char *stem) {
  for (int i = 0; i < count; i++) {
    lua_pushfstring(L, "%s[%d]", stem, first + i);
    add_parameter(L, list, (NsParameter){.owner = ds, .state = from + i, .unit = 1});
  }
}

static void add_x0(lua_State *L, Parameters *list) {
  for (int d = 0, first = 1; d < list->nsds->nds; first += list->nsds->ds[d++]->n)
    add_initial_states(L, list, list->nsds->ds[d], 0, list->nsds->ds[d]->n, first, "x0");
}

static void add_vector_z(lua_State *L, Parameters *list, double *z, int nz, const char *stem) {
  for (int i = 0; i < nz; i++) {
    lua_pushfstring(L, "%s[%d]", stem, i + 1);
    add_parameter(L, list, (NsParameter){.number = z + i, .unit = parameter_unit(z + i, z, nz)});
  }
}

/* Calls add_vector_z for a vector that is not among the parameters from `first` on. several: whether there is another one. */
static void add_own_z(lua_State *L, Parameters *list, int first, double *z, int nz, const char *name, bool several) {
  if (!z || nz == 0) return;
  for (int k = first; k < list->count; k++)
    if (list->of[k].number == z) return;
  if (several) lua_pushfstring(L, "%s.z", name);
  else lua_pushliteral(L, "z");
  add_vector_z(L, list, z, nz, lua_tostring(L, -1));
  lua_pop(L, 1);
}

/* The number of different vectors z of the graph, up to 2. */
static int count_z(const NsNsds *nsds) {
  const double *one = NULL;
  int count = 0;
  for (int d = 0; d < nsds->nds; d++) {
    const double *z = nsds->ds[d]->z;
    if (z && z != one) count++, one = z;
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    const double *z = nsds->interactions[i]->relation->z;
    if (z && z != one) count++, one = z;
  }
  return count;
}

static const char *name_of_relation(const NsNsds *nsds, const NsRelation *relation) {
  for (int i = 0; i < nsds->ninteractions && !relation->name[0]; i++)
    if (nsds->interactions[i]->relation == relation) return nsds->interactions[i]->name;
  return relation->name;
}

static void add_z(lua_State *L, Parameters *list) {
  const NsNsds *nsds = list->nsds;
  bool several = count_z(nsds) > 1;
  int before = list->count;
  for (int d = 0; d < nsds->nds; d++) add_own_z(L, list, before, nsds->ds[d]->z, nsds->ds[d]->nz, nsds->ds[d]->name, several);
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsRelation *relation = nsds->interactions[i]->relation;
    add_own_z(L, list, before, relation->z, relation->nz, name_of_relation(nsds, relation), several);
  }
  if (list->count == before) luaL_error(L, "%s: z: no system and no relation has parameters z", who);
}

/* ---- fields of objects ---- */

/* An object of the model as its field table sees it. */
typedef struct Object {
  const NsField *fields;
  void *object;
  const void *owner;
  const char *name;
  const NsDs *ds; /* NULL: it is no system */
  bool law;
} Object;

/* The object at idx, which must belong to the model of the simulation. */
static Object object_at(lua_State *L, const Parameters *list, int idx) {
  const NslHead *head = nsl_head(L, idx);
  Object o = {0};
  if (head && nsl_is_ds(head->type)) {
    NsDs *ds = nsl_check_ds(L, idx)->ds;
    o = (Object){.fields = ds->class->model.fields, .object = ds, .owner = ds, .name = ds->name, .ds = ds};
  } else if (head && nsl_is_relation(head->type)) {
    NsRelation *relation = nsl_check_relation(L, idx)->relation;
    o = (Object){.fields = relation->class->model.fields, .object = relation, .owner = relation};
    o.name = name_of_relation(list->nsds, relation);
  } else if (head && nsl_is_law(head->type)) {
    NsLaw *law = nsl_check_law(L, idx)->law;
    o = (Object){.fields = law->class->fields, .object = law, .owner = law, .law = true};
    for (int i = list->nsds->ninteractions - 1; i >= 0; i--)
      if (list->nsds->interactions[i]->law == law) o.name = list->nsds->interactions[i]->name;
  } else {
    nsl_bad(L, who, "parameter", "{system, relation or law, field}", idx);
  }
  NsParameter probe = {.owner = o.owner};
  if (!ns_parameter_of(&probe, list->nsds))
    luaL_error(L, "%s: the %s is not in the model of this simulation", who, head->type->name);
  return o;
}

static bool is_parameter_field(const Object *o, const NsField *field) {
  if (field->type == NS_FIELD_COEF) return true;
  if (o->ds) return false;
  if (field->type == NS_FIELD_NUMBER) return true;
  if (field->type == NS_FIELD_POINT) return !(field->flags & NS_FIELD_STATE);
  return o->law && (field->type == NS_FIELD_VECTOR || field->type == NS_FIELD_MATRIX) && !(field->flags & NS_FIELD_HIDDEN);
}

/* The optional index at field `at` of the table at idx, from 1 to `most`; 0: it is absent. */
static int optional_index(lua_State *L, int idx, int at, int most, const char *field) {
  if (lua_rawgeti(L, idx, at) == LUA_TNIL) return lua_pop(L, 1), 0;
  lua_Integer i = nsl_integer(L, -1, who, field);
  if (i < 1 || i > most) luaL_error(L, "%s: %s: index %I: expected 1..%d", who, field, i, most);
  lua_pop(L, 1);
  return (int)i;
}

/* The numbers of the field at idx; *version: of the coefficient. */
static double *field_numbers(lua_State *L, const Object *o, const NsField *field, int *rows, int *cols, uint64_t **version) {
  double *data = ns_field_place(field, o->object);
  *rows = *cols = 1;
  *version = NULL;
  if (o->law && ns_law_field_varies(o->object, field))
    luaL_error(L, "%s: %s of '%s' is a function of %s; a parameter is a number", who, field->name, o->name,
               ns_law_slides(o->object) ? "the slip" : "time");
  if (field->type == NS_FIELD_NUMBER) return data;
  if (field->type == NS_FIELD_POINT) return *rows = 3, data;
  if (field->type != NS_FIELD_COEF) {
    *rows = ns_field_rows(field, o->object);
    *cols = field->type == NS_FIELD_MATRIX ? ns_field_cols(field, o->object) : 1;
    return *(double **)(void *)data;
  }
  NsCoef *coef = ns_field_place(field, o->object);
  if (!ns_coef_given(coef)) luaL_error(L, "%s: '%s' has no %s", who, o->name, field->name);
  if (coef->sparse) luaL_error(L, "%s: %s of '%s' is sparse; give it as a dense matrix", who, field->name, o->name);
  if (ns_coef_varies(coef))
    luaL_error(L, "%s: %s of '%s' is a function of time; let it depend on z and ask for z", who, field->name, o->name);
  if (coef->source.live) luaL_error(L, "%s: %s of '%s' shows the state of another object", who, field->name, o->name);
  *version = &coef->version;
  *rows = coef->rows, *cols = coef->cols > 0 ? coef->cols : 1;
  return coef->value;
}

/* Initial values by name: x0, and of mechanics q0 and velocity0. Whether the field is one. */
static bool add_initial_field(lua_State *L, Parameters *list, const Object *o, const char *field, int idx) {
  bool mechanics = o->ds && ns_ds_family(o->ds) == NS_MECHANICS;
  int from = 0, count = o->ds ? o->ds->n : 0;
  if (!o->ds) return false;
  if (mechanics && strcmp(field, "q0") == 0) count = o->ds->nx;
  else if (mechanics && strcmp(field, "velocity0") == 0) from = o->ds->nx, count -= from;
  else if (strcmp(field, "x0") != 0) return false;
  int only = optional_index(L, idx, 3, count, field);
  lua_pushfstring(L, "%s.%s", o->name, field);
  if (only > 0) add_initial_states(L, list, o->ds, from + only - 1, 1, only, lua_tostring(L, -1));
  else add_initial_states(L, list, o->ds, from, count, 1, lua_tostring(L, -1));
  lua_pop(L, 1);
  return true;
}

/* z of a system or a relation. Whether the field is that. */
static bool add_z_field(lua_State *L, Parameters *list, const Object *o, const char *field, int idx) {
  if (o->law || strcmp(field, "z") != 0) return false;
  const NsRelation *relation = o->object;
  double *z = o->ds ? o->ds->z : relation->z;
  int nz = o->ds ? o->ds->nz : relation->nz;
  if (!z) luaL_error(L, "%s: '%s' has no z", who, o->name);
  int only = optional_index(L, idx, 3, nz, field);
  lua_pushfstring(L, "%s.z", o->name);
  for (int i = 0; i < nz; i++) {
    if (only > 0 && i != only - 1) continue;
    lua_pushfstring(L, "%s[%d]", lua_tostring(L, -1), i + 1);
    add_parameter(L, list, (NsParameter){.number = z + i, .unit = parameter_unit(z + i, z, nz)});
  }
  lua_pop(L, 1);
  return true;
}

/* {object, field [, i [, j]]} at idx. */
static void add_field_parameter(lua_State *L, Parameters *list, int idx) {
  lua_rawgeti(L, idx, 1);
  Object o = object_at(L, list, lua_gettop(L));
  if (lua_rawgeti(L, idx, 2) != LUA_TSTRING) nsl_bad(L, who, "parameter", "{object, name of a field}", -1);
  const char *name = lua_tostring(L, -1);
  if (add_initial_field(L, list, &o, name, idx) || add_z_field(L, list, &o, name, idx)) return;
  const NsField *field = ns_field_find(o.fields, name);
  if (!field || !is_parameter_field(&o, field))
    luaL_error(L, "%s: '%s' has no number '%s' that may be a parameter", who, o.name, name);
  int rows, cols;
  uint64_t *version;
  double *data = field_numbers(L, &o, field, &rows, &cols, &version);
  bool matrix = field->cols > 0;
  if (!data) luaL_error(L, "%s: '%s' has no %s", who, o.name, name);
  int row = optional_index(L, idx, 3, rows, name), col = optional_index(L, idx, 4, cols, name);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      if ((row > 0 && i != row - 1) || (col > 0 && j != col - 1)) continue;
      if (matrix) lua_pushfstring(L, "%s.%s[%d][%d]", o.name, name, i + 1, j + 1);
      else if (field->type != NS_FIELD_NUMBER) lua_pushfstring(L, "%s.%s[%d]", o.name, name, i + 1);
      else lua_pushfstring(L, "%s.%s", o.name, name);
      double *number = data + i + (ptrdiff_t)j * rows;
      add_parameter(
          L, list,
          (NsParameter){
              .number = number, .version = version, .owner = o.owner, .unit = parameter_unit(number, data, rows * cols)});
    }
}

/*
** {places = keys, held = D} of lua/nslua/dynamics/sampled_slope.lua: behind the parameters that are shown, the initial values of places where D
** has more columns, and then, not shown, the places themselves. A shown parameter that is a place acts by its first value alone.
*/
static void add_places(lua_State *L, Parameters *list, NsTimeStepping *ts, int option, NsRunSensitivities *asked) {
  int names = lua_gettop(L) + 1;
  if (lua_getfield(L, option, "places") != LUA_TTABLE) {
    lua_pop(L, 1);
    return;
  }
  int count = asked->options.places = (int)lua_rawlen(L, names);
  lua_getfield(L, option, "held");
  const NslMatrix *held = nsl_check_matrix(L, -1);
  for (int j = list->count; j < held->cols; j++)
    lua_pushfstring(L, "place[%d]", j + 1), add_parameter(L, list, (NsParameter){.unit = 1});
  asked->p = list->count;
  asked->options.held = lua_newuserdatauv(L, (size_t)(count * asked->p) * sizeof(double) + 1, 0);
  lua_setiuservalue(L, list->memory, 1);
  memset(asked->options.held, 0, (size_t)(count * asked->p) * sizeof(double));
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, names, i + 1);
    NsParameter place = nsl_place_parameter(L, ts, lua_tointeger(L, -1));
    lua_pop(L, 1);
    place.unit = parameter_unit(place.number, place.number, 1);
    for (int j = 0; j < asked->p; j++) {
      double *slope = &asked->options.held[i + (ptrdiff_t)j * count];
      *slope = j < held->cols ? held->data[i + (ptrdiff_t)j * held->ld] : 0;
      if (list->of[j].number == place.number) list->of[j] = (NsParameter){.unit = list->of[j].unit}, *slope = 1;
    }
    lua_pushliteral(L, "place");
    add_parameter(L, list, place);
    lua_pushnil(L);
    lua_rawseti(L, list->names, list->count);
  }
  lua_settop(L, names - 1);
}

/* ---- the option ---- */

static void read_keys(lua_State *L, int option, NsSensitivityOptions *options) {
  for (lua_pushnil(L); lua_next(L, option); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    const char *key = lua_tostring(L, -2);
    if (strcmp(key, "rtol") == 0) {
      options->rtol = nsl_finite(L, -1, who, "rtol");
      if (!(options->rtol >= 1e-14 && options->rtol <= 0.1))
        nsl_error(L, "%s: rtol: expected a number in [1e-14, 0.1], got %f", who, options->rtol);
    } else if (strcmp(key, "adjoint") == 0) { /* of gradient.lua */
      options->adjoint = lua_toboolean(L, -1) != 0;
    } else if (strcmp(key, "places") == 0 || strcmp(key, "held") == 0) { /* see add_places */
      continue;
    } else if (strcmp(key, "memory") == 0 && lua_type(L, -1) == LUA_TNUMBER) { /* of gradient.lua */
      options->memory = lua_tonumber(L, -1);
    } else if (strcmp(key, "on_grazing") == 0) {
      const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
      options->one_sided = strcmp(word, "one-sided") == 0;
      if (!options->one_sided && strcmp(word, "error") != 0)
        luaL_error(L, "%s: on_grazing: expected \"error\" or \"one-sided\", got %s", who,
                   *word ? lua_pushfstring(L, "'%s'", word) : nsl_describe(L, -1));
    } else {
      luaL_error(L, "%s: unknown key '%s' (known: rtol, on_grazing, and a list of parameters)", who, key);
    }
  }
}

void nsl_prepare_sensitivities(lua_State *L) {
  const NsUserEvents *user = &nsl_check_simulation(L, 1)->ts->user;
  bool acts = false;
  for (int e = 0; e < user->count; e++) acts = acts || (user->of[e].acts && ns_user_event_ticks(&user->of[e]));
  if (!acts || !lua_istable(L, -1)) return;
  lua_getglobal(L, "require");
  lua_pushliteral(L, "nslua.dynamics.sampled_slope");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "prepare");
  lua_pushvalue(L, 1);
  lua_pushvalue(L, -4);
  lua_call(L, 2, 1);
  lua_replace(L, -3);
  lua_pop(L, 1);
}

void nsl_read_sensitivities(lua_State *L, int option, NsRunSensitivities *asked) {
  option = lua_absindex(L, option);
  if (!lua_istable(L, option)) luaL_error(L, "%s: expected a list of parameters, got %s", who, nsl_describe(L, option));
  Parameters list = {.nsds = nsl_check_simulation(L, 1)->ts->nsds};
  asked->options = (NsSensitivityOptions){.rtol = NAN};
  read_keys(L, option, &asked->options);
  lua_newtable(L);
  list.names = lua_gettop(L);
  list.of = lua_newuserdatauv(L, sizeof *list.of, 1); /* its user value: the memory of options.held */
  list.memory = lua_gettop(L);
  int count = (int)lua_rawlen(L, option);
  if (count == 0) luaL_error(L, "%s: expected a list of parameters, got an empty one", who);
  for (int i = 1; i <= count; i++, lua_settop(L, list.memory)) {
    int type = lua_rawgeti(L, option, i);
    const char *word = type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (word && strcmp(word, "x0") == 0) add_x0(L, &list);
    else if (word && strcmp(word, "z") == 0) add_z(L, &list);
    else if (type == LUA_TTABLE) add_field_parameter(L, &list, lua_gettop(L));
    else if (word) luaL_error(L, "%s: unknown parameter '%s' (expected \"x0\", \"z\" or {object, field})", who, word);
    else nsl_bad(L, who, "parameter", "\"x0\", \"z\" or {object, field}", -1);
  }
  asked->p = list.count;
  add_places(L, &list, nsl_check_simulation(L, 1)->ts, option, asked);
  asked->parameters = list.of;
}

/* ---- the derivatives in a solution ---- */

NsSensitivities *nsl_check_recorded(lua_State *L) {
  NsTimeStepping *ts = nsl_idle_simulation(L, 1, "gradient")->ts;
  if (!ts->tape) luaL_error(L, "gradient: the simulation was run again, or changed, by a function of the cost");
  return ts->tape;
}

int nsl_push_sensitivity_rows(lua_State *L, const NsSolution *s) {
  lua_createtable(L, (int)s->rows, 0);
  for (long k = 0; k < s->rows; k++) {
    nsl_push_matrix_view(L, 1, s->S + (size_t)k * (size_t)(s->nx * s->np), s->nx, s->np, s->nx > 0 ? s->nx : 1, NULL, NULL);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* Pushes the matrix (rows x states) of parameter j. */
static void push_parameter(lua_State *L, const NsSolution *s, int j) {
  NslMatrix *m = nsl_push_matrix(L, s->rows, s->nx, NULL);
  for (long k = 0; k < s->rows; k++)
    for (int i = 0; i < s->nx; i++)
      m->data[k + (ptrdiff_t)i * m->ld] = s->S[(size_t)k * (size_t)(s->nx * s->np) + (size_t)(i + j * s->nx)];
}

int nsl_push_sensitivity(lua_State *L, const NsSolution *s, int names, int which) {
  if (lua_type(L, which) == LUA_TNUMBER) {
    lua_Integer j = nsl_integer(L, which, "sensitivity", "number");
    if (j < 1 || j > s->np) luaL_error(L, "sensitivity: expected 1..%d, got %I", s->np, j);
    return push_parameter(L, s, (int)j - 1), 1;
  }
  if (lua_type(L, which) != LUA_TSTRING) nsl_bad(L, "sensitivity", "parameter", "a name or a number", which);
  size_t length;
  const char *wanted = lua_tolstring(L, which, &length);
  lua_newtable(L);
  int found = lua_gettop(L), count = 0;
  for (int j = 0; j < s->np; j++) {
    lua_rawgeti(L, names, j + 1);
    const char *name = lua_tostring(L, -1);
    bool whole = strcmp(name, wanted) == 0, element = strncmp(name, wanted, length) == 0 && name[length] == '[';
    lua_pop(L, 1);
    if (whole) return push_parameter(L, s, j), 1;
    if (!element) continue;
    push_parameter(L, s, j);
    lua_rawseti(L, found, ++count);
  }
  if (count == 0) luaL_error(L, "sensitivity: the run has no parameter '%s'", wanted);
  return 1;
}
