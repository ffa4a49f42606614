/*
** sensitivities.c
** The parameters of a run's derivatives, and the derivatives in a solution.
*/
#include "bind/simulation/sensitivities.h"

#include <math.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/lua/reads.h"
#include "bind/model/ds.h"
#include "bind/numerics/answer.h"

static const char who[] = "run: sensitivities";

static void parameters_check(lua_State *L, NsStatus status, const NsError *err) {
  if (status != NS_OK) nsl_raise(L, err);
}

/* The object at idx, which must belong to the model of the simulation. */
static NsParameterOwner owner_at(lua_State *L, const NsNsds *nsds, int idx) {
  const NslHead *head = nsl_head(L, idx);
  NsParameterOwner o = {0};
  if (head && nsl_is_ds(head->type)) o = ns_parameter_system(nsl_check_ds(L, idx)->ds);
  else if (head && nsl_is_relation(head->type)) o = ns_parameter_relation(nsds, nsl_check_relation(L, idx)->relation);
  else if (head && nsl_is_law(head->type)) o = ns_parameter_law(nsds, nsl_check_law(L, idx)->law);
  else nsl_bad(L, who, "parameter", "{system, relation or law, field}", idx);
  NsParameter probe = {.owner = o.object};
  if (!ns_parameter_of(&probe, nsds)) luaL_error(L, "%s: the %s is not in the model of this simulation", who, head->type->name);
  return o;
}

void nsl_add_field_parameter(lua_State *L, NsParameterList *list, int idx) {
  long long index[2];
  const long long *given[2] = {NULL, NULL};
  NsError err = {NS_OK, ""};
  lua_rawgeti(L, idx, 1);
  NsParameterOwner o = owner_at(L, list->nsds, lua_gettop(L));
  if (lua_rawgeti(L, idx, 2) != LUA_TSTRING) nsl_bad(L, who, "parameter", "{object, name of a field}", -1);
  const char *name = lua_tostring(L, -1);
  for (int k = 0; k < 2; k++)
    if (lua_rawgeti(L, idx, 3 + k) != LUA_TNIL) index[k] = nsl_integer(L, -1, who, name), given[k] = &index[k];
  parameters_check(L, ns_parameters_add_field(list, &o, name, given, &err), &err);
}

/* {together = {{object, field [, i [, j]]}, ...}, weights = {...}, name = "R1"} at idx: one parameter. */
static void add_together(lua_State *L, NsParameterList *list, int idx) {
  NsParameterList numbers = {.arena = list->arena, .nsds = list->nsds, .who = who};
  NsError err = {NS_OK, ""};
  if (lua_getfield(L, idx, "together") != LUA_TTABLE || lua_rawlen(L, -1) == 0)
    nsl_bad(L, who, "together", "a list of numbers", -1);
  int together = lua_gettop(L), count = (int)lua_rawlen(L, together);
  for (int k = 1; k <= count; k++, lua_settop(L, together)) {
    if (lua_rawgeti(L, together, k) != LUA_TTABLE) nsl_bad(L, who, "together", "{object, field, i, j}", -1);
    nsl_add_field_parameter(L, &numbers, together + 1);
  }
  lua_getfield(L, idx, "name");
  const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "together";
  lua_getfield(L, idx, "weights");
  double *weights = ns_arena_doubles(list->arena, numbers.count);
  if (!weights) luaL_error(L, "not enough memory");
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != numbers.count)
    luaL_error(L, "%s: %s: weights: expected a list of %d numbers", who, name, numbers.count);
  for (int k = 0; k < numbers.count; k++, lua_pop(L, 1)) {
    lua_rawgeti(L, -1, k + 1);
    weights[k] = nsl_finite(L, -1, who, "weights");
  }
  parameters_check(L, ns_parameters_add_together(list, &numbers, weights, name, &err), &err);
}

/*
** {places = keys, held = D} of lua/nslua/dynamics/sampled_slope.lua: behind the parameters that are shown, the initial values of places where D
** has more columns, and then, not shown, the places themselves. A shown parameter that is a place acts by its first value alone.
*/
static void add_places(lua_State *L, NsParameterList *list, NsTimeStepping *ts, int option, NsRunSensitivities *asked) {
  int keys = lua_gettop(L) + 1;
  NsError err = {NS_OK, ""};
  asked->p = list->count;
  if (lua_getfield(L, option, "places") != LUA_TTABLE) {
    lua_pop(L, 1);
    return;
  }
  int count = asked->options.places = (int)lua_rawlen(L, keys);
  for (int j = 0; j < list->count; j++)
    if (list->of[j].nmoves > 0) luaL_error(L, "%s: %s: numbers do not move together where clocks act", who, list->name[j]);
  lua_getfield(L, option, "held");
  const NslMatrix *held = nsl_check_matrix(L, -1);
  for (int j = list->count; j < held->cols; j++)
    parameters_check(L, ns_parameters_add(list, (NsParameter){.unit = 1}, &err, "place[%d]", j + 1), &err);
  asked->p = list->count;
  asked->options.held = ns_arena_matrix(list->arena, count, asked->p);
  if (!asked->options.held) luaL_error(L, "not enough memory");
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, keys, i + 1);
    NsParameter place = nsl_place_parameter(L, ts, lua_tointeger(L, -1));
    lua_pop(L, 1);
    place.unit = ns_parameter_unit(place.number, place.number, 1);
    for (int j = 0; j < asked->p; j++) {
      double *slope = &asked->options.held[i + (ptrdiff_t)j * count];
      *slope = j < held->cols ? held->data[i + (ptrdiff_t)j * held->ld] : 0;
      if (list->of[j].number == place.number) list->of[j] = (NsParameter){.unit = list->of[j].unit}, *slope = 1;
    }
    parameters_check(L, ns_parameters_add(list, place, &err, "place"), &err);
  }
  lua_settop(L, keys - 1);
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
  NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  asked->options = (NsSensitivityOptions){.rtol = NAN};
  read_keys(L, option, &asked->options);
  lua_newtable(L);
  int names = lua_gettop(L), count = (int)lua_rawlen(L, option);
  NslCall *memory = nsl_new_call(L, who, 0);
  NsParameterList list = {.arena = &memory->arena, .nsds = ts->nsds, .who = who};
  NsError err = {NS_OK, ""};
  if (count == 0) luaL_error(L, "%s: expected a list of parameters, got an empty one", who);
  for (int i = 1; i <= count; i++, lua_settop(L, names + 1)) {
    int type = lua_rawgeti(L, option, i);
    const char *word = type == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    if (word && strcmp(word, "x0") == 0) parameters_check(L, ns_parameters_add_x0(&list, &err), &err);
    else if (word && strcmp(word, "z") == 0) parameters_check(L, ns_parameters_add_z(&list, &err), &err);
    else if (type == LUA_TTABLE && lua_getfield(L, -1, "together") != LUA_TNIL) add_together(L, &list, names + 2);
    else if (type == LUA_TTABLE) nsl_add_field_parameter(L, &list, names + 2);
    else if (word) luaL_error(L, "%s: unknown parameter '%s' (expected \"x0\", \"z\" or {object, field})", who, word);
    else nsl_bad(L, who, "parameter", "\"x0\", \"z\" or {object, field}", -1);
  }
  add_places(L, &list, ts, option, asked);
  for (int i = 0; i < asked->p; i++) lua_pushstring(L, list.name[i]), lua_rawseti(L, names, i + 1);
  asked->parameters = list.of;
}

/* ---- parameters that functions read by themselves ---- */

/* Replaces a view on top of the stack by the object whose memory it shows. */
static void take_shown(lua_State *L) {
  while (nsl_head(L, -1) && nsl_head(L, -1)->owner) {
    if (lua_getiuservalue(L, -1, 1) == LUA_TTABLE) lua_rawgeti(L, -1, 1), lua_remove(L, -2);
    lua_remove(L, -2);
  }
}

/* Watches the vectors and matrices that the callee at idx shares with the script. */
static void watch_shared(lua_State *L, int reads, int idx) {
  lua_getiuservalue(L, idx, NSL_FIELDS);
  int fields = lua_gettop(L), value = fields + 2;
  for (lua_pushnil(L); lua_next(L, fields); lua_settop(L, fields + 1)) {
    const NslVector *v = nsl_test_vector(L, value);
    const NslMatrix *m = v ? NULL : nsl_test_matrix(L, value);
    take_shown(L);
    if (v) nsl_reads_watch_numbers(L, reads, value, v->data, v->n > 0 ? (v->n - 1) * v->stride + 1 : 0);
    if (m) nsl_reads_watch_numbers(L, reads, value, m->data, m->cols > 0 ? (m->cols - 1) * (ptrdiff_t)m->ld + m->rows : 0);
  }
  lua_settop(L, fields - 1);
}

/* Of nsl_each_callee: watches a system, or a relation and its law; context: the stack index of the record. */
static bool watch_numbers_of(lua_State *L, int idx, NsInteraction *inter, void *context) {
  int reads = *(const int *)context, top = lua_gettop(L);
  if (inter) {
    const NsRelation *relation = inter->relation;
    nsl_reads_watch_owner(L, reads, idx, relation);
    nsl_reads_watch_numbers(L, reads, idx, relation->z, relation->z ? relation->nz : 0);
    lua_getiuservalue(L, idx - 1, 1);
    nsl_reads_watch_owner(L, reads, top + 1, inter->law);
  } else {
    const NsDs *ds = ((const NslDs *)lua_touserdata(L, idx))->ds;
    nsl_reads_watch_owner(L, reads, idx, ds);
    nsl_reads_watch_numbers(L, reads, idx, ds->z, ds->z ? ds->nz : 0);
    nsl_reads_watch_numbers(L, reads, idx, ds->x0, ds->n);
  }
  lua_settop(L, top);
  watch_shared(L, reads, idx);
  return true;
}

void nsl_watch_parameters(lua_State *L, const NsRunSensitivities *asked) {
  int reads = lua_gettop(L) + 1;
  if (lua_getiuservalue(L, 1, NSL_TS_READS) == LUA_TUSERDATA) nsl_reads_end(L, reads);
  lua_settop(L, reads - 1);
  if (!asked->parameters) return;
  nsl_push_reads(L, (NsParameter *)asked->parameters, asked->p + asked->options.places);
  lua_pushvalue(L, reads);
  lua_setiuservalue(L, 1, NSL_TS_READS);
  nsl_each_callee(L, 1, NSL_TS_NSDS, watch_numbers_of, &reads);
  lua_settop(L, reads - 1);
}

NsStatus nsl_read_initial(const NsRunSensitivities *asked, NsError *err) {
  for (int j = 0; asked->parameters && j < asked->p; j++) {
    const NsParameter *parameter = &asked->parameters[j];
    if (parameter->number || !parameter->owner || !*parameter->read_aside) continue;
    return ns_fail(err, NS_EARG,
                   "%s: a callback reads an initial value of '%s', a parameter, by itself; let it read a number of z, whose "
                   "derivatives add to those by the initial value",
                   who, ((const NsDs *)parameter->owner)->name);
  }
  return NS_OK;
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
