/*
** check.c
** simu:check(): given Jacobians against exact ones, entry by entry.
*/
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind/simulation.h"

enum { POINTS = 3, MOST_ENTRIES = 20 };

/* What is compared: one Jacobian of one callee at some points. */
typedef struct Audit {
  lua_State *L;
  int lines;          /* stack index of the list of complaints */
  NslCallee *callee;
  int which, by;
  const char *label;  /* "Jacgx" */
  int rows, cols;
  double *given, *exact;
} Audit;

/* The entry (i, j) that differs most; false when all agree. */
static bool worst_entry(const Audit *a, double tolerance, int *row, int *col) {
  double most = 0, scale = 1;
  for (int i = 0; i < a->rows * a->cols; i++) scale = fmax(scale, fabs(a->exact[i]));
  for (int j = 0; j < a->cols; j++)
    for (int i = 0; i < a->rows; i++) {
      double difference = fabs(a->given[i + j * a->rows] - a->exact[i + j * a->rows]);
      if (difference <= most || difference <= tolerance * scale) continue;
      most = difference;
      *row = i;
      *col = j;
    }
  return most > 0;
}

static void complain(const Audit *a, double t, int i, int j) {
  lua_State *L = a->L;
  int at = i + j * a->rows;
  char line[256];
  snprintf(line, sizeof line, "%s[%d][%d]: given %.10g, exact %.10g (t=%g)", a->label, i + 1, j + 1, a->given[at], a->exact[at], t);
  lua_pushfstring(L, "%s %s", nsl_callee_title(L, a->callee), line);
  lua_rawseti(L, a->lines, (lua_Integer)lua_rawlen(L, a->lines) + 1);
  lua_pop(L, 1);
}

/* Compares at one point; each wrong entry is told once (it is made right in the copy, and the next one is looked for). */
static NsStatus compare(const Audit *a, double t, const double *const *args) {
  bool exact;
  int i, j;
  if (nsl_exact_jacobian(a->callee, a->which, a->by, t, args, a->exact, &exact) != 0) return NS_ECALLBACK;
  for (int n = 0; n < MOST_ENTRIES && worst_entry(a, exact ? 1e-9 : 1e-4, &i, &j); n++) {
    complain(a, t, i, j);
    a->given[i + j * a->rows] = a->exact[i + j * a->rows];
  }
  return NS_OK;
}

/* The trial points: the state itself, and others where a term that vanishes there shows. */
static void move(double *to, const double *from, int n, int trial) {
  for (int i = 0; i < n; i++) {
    double fraction = fmod(0.618034 * (i + 1) * trial, 1.0);
    to[i] = from[i] + trial * (0.25 + fraction) * fmax(0.5, 0.1 * fabs(from[i]));
  }
}

static bool given(const NslCallee *callee, const char *name, const NsCoef *coef) {
  int slot = nsl_slot(callee, name);
  return (coef && ns_coef_given(coef)) || (slot >= 0 && callee->callbacks[slot].backing != NSL_ABSENT);
}

typedef NsStatus (*RelationJacobian)(const NsRelation *, const NsRelationPoint *, double *, NsError *);

static const struct {
  const char *callback, *label;
  int which, by;
  RelationJacobian evaluate;
} relation_jacobians[] = {
    {"computeJachx", "Jachx", 0, NS_BY_X, ns_relation_C},
    {"computeJachlambda", "Jachlambda", 0, NS_BY_LAMBDA, ns_relation_D},
    {"computeJacglambda", "Jacglambda", 1, NS_BY_LAMBDA, ns_relation_B},
    {"computeJacgx", "Jacgx", 1, NS_BY_X, ns_relation_K},
};

/* Doubles that live as long as the call: a userdata left on the stack. */
static double *scratch(lua_State *L, size_t n) {
  return lua_newuserdatauv(L, (n ? n : 1) * sizeof(double), 0);
}

static NsStatus check_relation(lua_State *L, int lines, NslRelation *handle, NsInteraction *inter, double t, NsError *err) {
  NsRelation *rel = handle->relation;
  const NsCoef *coefs[] = {&rel->C, &rel->D, &rel->B, &rel->K};
  int nx = rel->nx, m = rel->m, most = nx > m ? nx : m;
  double *state = scratch(L, (size_t)nx), *x = scratch(L, (size_t)nx), *lambda = scratch(L, (size_t)m);
  double *one = scratch(L, (size_t)most * (size_t)most), *other = scratch(L, (size_t)most * (size_t)most);
  for (int i = 0, at = 0; i < inter->nds; at += inter->ds[i++]->n) memcpy(state + at, inter->ds[i]->x, (size_t)inter->ds[i]->n * sizeof *x);
  NsStatus status = ns_interaction_update(inter, t, err);
  for (int c = 0; c < 4 && status == NS_OK; c++) {
    int which = relation_jacobians[c].which, by = relation_jacobians[c].by;
    const NsFunction *f = which == 0 ? &rel->h : &rel->g;
    if (!f->value || !given(&handle->callee, relation_jacobians[c].callback, coefs[c])) continue;
    Audit audit = {L, lines, &handle->callee, which, by, relation_jacobians[c].label, which == 0 ? m : nx, by == NS_BY_X ? nx : m, one, other};
    for (int trial = 0; trial < POINTS && status == NS_OK; trial++) {
      move(x, state, nx, trial);
      move(lambda, inter->lambda, m, trial);
      NsRelationPoint at = {t, x, lambda, inter->z};
      const double *args[NS_FUNCTION_ARGS] = {x, lambda, inter->z};
      lua_Integer before = (lua_Integer)lua_rawlen(L, lines);
      status = relation_jacobians[c].evaluate(rel, &at, one, err);
      if (status == NS_OK) status = compare(&audit, t, args);
      if ((lua_Integer)lua_rawlen(L, lines) > before) break;
    }
  }
  lua_pop(L, 5);
  return status;
}

static NsStatus check_ds(lua_State *L, int lines, NslDs *handle, double t, NsError *err) {
  NsFirstOrderDs *ds = handle->ds;
  if (!ds->f.value || !given(&handle->callee, "computeJacobianfx", &ds->jacobian_f)) return NS_OK;
  size_t n = (size_t)ds->n;
  double *x = scratch(L, n), *one = scratch(L, n * n), *other = scratch(L, n * n);
  Audit audit = {L, lines, &handle->callee, 0, NS_BY_X, "Jacobianfx", ds->n, ds->n, one, other};
  NsStatus status = ns_ds_update(ds, t, err);
  for (int trial = 0; trial < POINTS && status == NS_OK; trial++) {
    move(x, ds->x, ds->n, trial);
    const double *args[NS_FUNCTION_ARGS] = {x, NULL, ds->z};
    lua_Integer before = (lua_Integer)lua_rawlen(L, lines);
    status = ns_ds_jacobian(ds, t, x, one, err);
    if (status == NS_OK) status = compare(&audit, t, args);
    if ((lua_Integer)lua_rawlen(L, lines) > before) break;
  }
  lua_pop(L, 3);
  return status;
}

/* Goes over the graph of the simulation at 1; complaints go to the list at `lines`. */
static NsStatus check_all(lua_State *L, int lines, double t, NsError *err) {
  NsStatus status = NS_OK;
  lua_getiuservalue(L, 1, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "ds");
  for (lua_Integer i = 1; status == NS_OK && lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 1))
    status = check_ds(L, lines, lua_touserdata(L, -1), t, err);
  lua_settop(L, lines);
  lua_getiuservalue(L, 1, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "interactions");
  for (lua_Integer i = 1; status == NS_OK && lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 2)) {
    NslInteraction *inter = lua_touserdata(L, -1);
    lua_getiuservalue(L, -1, 2);
    status = check_relation(L, lines, lua_touserdata(L, -1), inter->interaction, t, err);
  }
  lua_settop(L, lines);
  return status;
}

/* check() -> true, or false and the complaints, one a line. */
int nsl_simulation_check(lua_State *L) {
  NslTimeStepping *self = nsl_ready_simulation(L, 1, "check");
  NsError err = {NS_OK, ""};
  lua_settop(L, 1);
  lua_newtable(L);
  NslEdge edge = nsl_enter(self->host, L, NULL);
  self->ts->nsds->busy = true;
  NsStatus status = check_all(L, 2, ns_ts_time(self->ts), &err);
  self->ts->nsds->busy = false;
  nsl_leave(self->host, edge);
  if (status == NS_ECALLBACK) err.status = status;
  if (status != NS_OK) return nsl_raise_step(L, &err);
  int count = (int)lua_rawlen(L, 2);
  lua_pushboolean(L, count == 0);
  if (count == 0) return 1;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 1; i <= count; i++) {
    lua_rawgeti(L, 2, i);
    luaL_addvalue(&b);
    if (i < count) luaL_addchar(&b, '\n');
  }
  luaL_pushresult(&b);
  return 2;
}
