/*
** check.c
** simu:check(): compares given Jacobians with exact ones; finds callbacks that give nothing, and wrong mass matrices.
*/
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bind/call/callback.h"
#include "bind/call/function.h"
#include "bind/simulation/simulation.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

enum { POINTS = 3, MOST_ENTRIES = 20 };

/* What is compared: one Jacobian of one callee at some points or, with cols = 0, the derivative of a vector by time. */
typedef struct Audit {
  lua_State *L;
  int lines; /* stack index of the list of complaints */
  NslCallee *callee;
  int which, by;
  const char *label; /* "Jacgx" */
  int rows, cols;
  double *given, *exact;
} Audit;

/*
** Whether two exact values of entry (i, j) agree up to rounding: relative difference <= AGREED, or difference times |x_j| <=
** ROUNDINGS roundings of the row's largest other term |J_ik x_k|. x: the point; NULL: no columns. Both bounds: chosen by
** experience on the specs.
*/
#define AGREED 1e-9
enum { ROUNDINGS = 64 };

static bool check_agree(const Audit *a, const double *x, int i, int j) {
  double given = a->given[i + j * a->rows], exact = a->exact[i + j * a->rows], apart = fabs(given - exact), row = 0;
  if (apart <= AGREED * fmax(fabs(given), fabs(exact))) return true;
  for (int k = 0; x && k < a->cols; k++) {
    double size = fmax(fabs(a->given[i + k * a->rows]), fabs(a->exact[i + k * a->rows]));
    if (k != j) row = fmax(row, size * fabs(x[k]));
  }
  return x && x[j] != 0 && apart * fabs(x[j]) <= ROUNDINGS * DBL_EPSILON * row;
}

/* The same when one of the values comes from differences: to 1e-4 of the largest entry, or of 1. */
static bool agree_roughly(const Audit *a, int i, int j) {
  double scale = 1;
  for (int k = 0, count = a->rows * (a->cols > 0 ? a->cols : 1); k < count; k++) scale = fmax(scale, fabs(a->exact[k]));
  return fabs(a->given[i + j * a->rows] - a->exact[i + j * a->rows]) <= 1e-4 * scale;
}

/* Finds the entry (i, j) with the largest difference among those that disagree; false when all agree. */
static bool worst_entry(const Audit *a, const double *x, bool exact, int *row, int *col) {
  double most = 0;
  for (int j = 0, cols = a->cols > 0 ? a->cols : 1; j < cols; j++)
    for (int i = 0; i < a->rows; i++) {
      double difference = fabs(a->given[i + j * a->rows] - a->exact[i + j * a->rows]);
      if (difference <= most || (exact ? check_agree(a, x, i, j) : agree_roughly(a, i, j))) continue;
      most = difference;
      *row = i;
      *col = j;
    }
  return most > 0;
}

static void check_complain(const Audit *a, double t, int i, int j) {
  lua_State *L = a->L;
  int at = i + j * a->rows;
  char line[256], entry[64];
  if (a->cols > 0) snprintf(entry, sizeof entry, "%s[%d][%d]", a->label, i + 1, j + 1);
  else snprintf(entry, sizeof entry, "%s[%d]", a->label, i + 1);
  ns_print(line, sizeof line, "%s: given %.10g, exact %.10g (t=%g)", entry, a->given[at], a->exact[at], t);
  lua_pushfstring(L, "%s %s", nsl_callee_title(L, a->callee), line);
  lua_rawseti(L, a->lines, (lua_Integer)lua_rawlen(L, a->lines) + 1);
  lua_pop(L, 1);
}

/*
** Appends complaints about the entries of `given` that disagree with the entries of `exact` (computed exactly, or by differences).
** Each wrong entry is told once: it is corrected in the copy, and the next one is searched. x: as for check_agree.
*/
static void tell_differences(const Audit *a, const double *x, double t, bool exact) {
  int i, j;
  for (int n = 0; n < MOST_ENTRIES && worst_entry(a, x, exact, &i, &j); n++) {
    check_complain(a, t, i, j);
    a->given[i + j * a->rows] = a->exact[i + j * a->rows];
  }
}

static NsStatus check_compare(const Audit *a, double t, const double *const *args) {
  bool exact;
  if (nsl_exact_jacobian(a->callee, a->which, a->by, t, args, a->exact, &exact) != 0) return NS_ECALLBACK;
  tell_differences(a, args[a->by == NS_BY_X ? 0 : 1], t, exact);
  return NS_OK;
}

/* The trial points: the state (trial 0), then points elsewhere, which show terms that vanish at the state. */
static void check_move(double *to, const double *from, int n, int trial) {
  for (int i = 0; i < n; i++) {
    double fraction = fmod(0.618034 * (i + 1) * trial, 1.0);
    to[i] = from[i] + trial * (0.25 + fraction) * fmax(0.5, 0.1 * fabs(from[i]));
  }
}

static bool given(const NslCallee *callee, const char *name, const NsCoef *coef) {
  int slot = nsl_slot(callee, name);
  return (coef && ns_coef_given(coef)) || (slot >= 0 && callee->callbacks[slot].backing != NSL_ABSENT);
}

/* Allocates n doubles for the duration of the call: a userdata left on the stack. */
static double *scratch(lua_State *L, size_t n) {
  return lua_newuserdatauv(L, (n ? n : 1) * sizeof(double), 0);
}

/* ---- callbacks that give nothing ---- */

static bool is_jacobian(const NsSlot *slot) {
  return strncmp(slot->name, "computeJac", 10) == 0;
}

static void complain_silent(lua_State *L, int lines, const NslCallback *cb) {
  const char *label = cb->slot->label, *at = cb->slot->cols == '1' ? "[1]" : "[1][1]";
  lua_pushfstring(L, "%s %s: writes nothing into %s (an assignment %s = ... rebinds the local; write %s%s = ...)",
                  nsl_callee_title(L, cb->callee), cb->slot->name, label, label, label, at);
  lua_rawseti(L, lines, (lua_Integer)lua_rawlen(L, lines) + 1);
  lua_pop(L, 1);
}

/* Where callbacks are tried: the state at t, or other points between t and T. */
typedef struct Probe {
  double t, T;
  const double *x, *lambda, *z;
  double *moved_x, *moved_lambda;
} Probe;

/*
** Whether the callback of a slot gives nothing, neither at the state nor at two other points (tried only when it gave nothing
** at the state). A failure at the state is returned.
*/
static NsStatus is_silent(NslCallee *callee, int slot, const Probe *probe, double *out, bool *silent) {
  bool of_rate = strchr(callee->callbacks[slot].slot->args, 'v') != NULL; /* the rate may have any value: take the state */
  NslPoint at = {probe->t, probe->x, of_rate ? probe->x : probe->lambda, probe->z};
  int failed = nsl_callback_call(callee, slot, &at, out);
  *silent = !failed && callee->callbacks[slot].silent;
  if (failed) return NS_ECALLBACK;
  for (int trial = 1; trial < POINTS && *silent; trial++) {
    check_move(probe->moved_x, probe->x, callee->n, trial);
    check_move(probe->moved_lambda, probe->lambda, callee->m, trial);
    double t = probe->t + (probe->T - probe->t) * trial / (POINTS - 1);
    at = (NslPoint){t, probe->moved_x, of_rate ? probe->moved_x : probe->moved_lambda, probe->z};
    *silent = nsl_callback_call(callee, slot, &at, out) == 0 && callee->callbacks[slot].silent;
  }
  return NS_OK;
}

/* Appends complaints about the callee's Lua callbacks, other than Jacobians, that give nothing. */
static NsStatus check_values(lua_State *L, int lines, NslCallee *callee, const Probe *probe) {
  NsStatus status = NS_OK;
  for (int slot = 0; slot < callee->kind->nslots && status == NS_OK; slot++) {
    const NslCallback *cb = &callee->callbacks[slot];
    int entries = nsl_callback_entries(cb);
    bool silent;
    if (is_jacobian(cb->slot) || entries == 0 || cb->backing == NSL_ABSENT || cb->backing == NSL_LIBRARY) continue;
    double *out = scratch(L, (size_t)entries);
    status = is_silent(callee, slot, probe, out, &silent);
    lua_pop(L, 1);
    if (status == NS_OK && silent) complain_silent(L, lines, cb);
  }
  return status;
}

/* ---- Jacobians ---- */

typedef NsStatus (*RelationJacobian)(const NsRelation *, const NsRelationPoint *, double *, NsError *);

static const struct {
  const char *callback;
  int which, by;
  RelationJacobian evaluate;
} relation_jacobians[] = {
    {"computeJachx", 0, NS_BY_X, ns_relation_C},
    {"computeJachlambda", 0, NS_BY_LAMBDA, ns_relation_D},
    {"computeJacglambda", 1, NS_BY_LAMBDA, ns_relation_B},
    {"computeJacgx", 1, NS_BY_X, ns_relation_K},
};

/* The name of callback c; in mechanics the Jacobian by x is the one by q. */
static const char *relation_callback(const NslRelation *handle, int c) {
  bool by_q = c == 0 && ns_relation_family(handle->relation) == NS_MECHANICS;
  return by_q ? "computeJachq" : relation_jacobians[c].callback;
}

/* Compares hDot with the derivative of h by time, at later times too. x, given and exact are workspace. */
static NsStatus check_rate(const Audit *audit, const NsInteraction *inter, const Probe *probe, NsError *err) {
  const NsRelation *rel = inter->relation;
  double *room = scratch(audit->L, NS_DIFFERENCE_ROOM * (size_t)rel->m);
  NsStatus status = NS_OK;
  lua_Integer before = (lua_Integer)lua_rawlen(audit->L, audit->lines);
  for (int trial = 0; trial < POINTS && (lua_Integer)lua_rawlen(audit->L, audit->lines) == before; trial++) {
    bool exact;
    check_move(probe->moved_x, probe->x, rel->nx, trial);
    NsRelationPoint at = {probe->t + (probe->T - probe->t) * trial / (POINTS - 1), probe->moved_x, probe->lambda, probe->z,
                          false};
    memset(audit->given, 0, (size_t)rel->m * sizeof *audit->given);
    memset(audit->exact, 0, (size_t)rel->m * sizeof *audit->exact);
    status = ns_relation_add_rate(rel, &at, room, audit->given, err);
    if (status == NS_OK) status = ns_relation_add_rate_of_h(rel, &at, room, audit->exact, &exact, err);
    if (status != NS_OK) break;
    tell_differences(audit, NULL, at.t, exact);
  }
  lua_pop(audit->L, 1);
  return status;
}

static NsStatus check_relation(lua_State *L, int lines, NslRelation *handle, NsInteraction *inter, double t, double T,
                               NsError *err) {
  NsRelation *rel = handle->relation;
  const NsCoef *coefs[] = {&rel->C, &rel->D, &rel->B, &rel->K};
  int nx = rel->nx, m = rel->m, most = nx > m ? nx : m;
  double *state = scratch(L, (size_t)nx), *x = scratch(L, (size_t)nx), *lambda = scratch(L, (size_t)m);
  double *one = scratch(L, (size_t)most * (size_t)most), *other = scratch(L, (size_t)most * (size_t)most);
  for (int i = 0, at = 0; i < inter->nds; at += inter->ds[i++]->nx)
    memcpy(state + at, inter->ds[i]->x, (size_t)inter->ds[i]->nx * sizeof *x);
  NsStatus status = ns_interaction_update(inter, t, err);
  Probe probe = {t, T, state, inter->lambda, inter->z, x, lambda};
  if (status == NS_OK) status = check_values(L, lines, &handle->callee, &probe);
  for (int c = 0; c < 4 && status == NS_OK; c++) {
    int which = relation_jacobians[c].which, by = relation_jacobians[c].by;
    const NsFunction *f = which == 0 ? &rel->h : &rel->g;
    const char *callback = relation_callback(handle, c);
    if (!f->value || !given(&handle->callee, callback, coefs[c])) continue;
    Audit audit = {
        L,   lines, &handle->callee, which, by, callback + strlen("compute"), which == 0 ? m : nx, by == NS_BY_X ? nx : m,
        one, other};
    for (int trial = 0; trial < POINTS && status == NS_OK; trial++) {
      check_move(x, state, nx, trial);
      check_move(lambda, inter->lambda, m, trial);
      NsRelationPoint at = {t, x, lambda, inter->z, false};
      const double *args[NS_FUNCTION_ARGS] = {x, lambda, inter->z};
      lua_Integer before = (lua_Integer)lua_rawlen(L, lines);
      status = relation_jacobians[c].evaluate(rel, &at, one, err);
      if (status == NS_OK) status = check_compare(&audit, t, args);
      if ((lua_Integer)lua_rawlen(L, lines) > before) break;
    }
  }
  if (status == NS_OK && rel->hdot.value && rel->h.value) {
    Audit audit = {.L = L, .lines = lines, .callee = &handle->callee, .label = "hDot", .rows = m, .given = one, .exact = other};
    status = check_rate(&audit, inter, &probe, err);
  }
  lua_pop(L, 5);
  return status;
}

static const struct {
  const char *callback, *label;
  int which, by; /* function: 1 fInt, 2 fGyr or mInt */
} mechanical_jacobians[NS_FORCE_PARTS] = {
    [NS_FINT_BY_Q] = {"computeJacobianFIntq", "JacobianFIntq", 1, 0},
    [NS_FINT_BY_V] = {"computeJacobianFIntqDot", "JacobianFIntqDot", 1, 1},
    [NS_FGYR_BY_Q] = {"computeJacobianFGyrq", "JacobianFGyrq", 2, 0},
    [NS_FGYR_BY_V] = {"computeJacobianFGyrqDot", "JacobianFGyrqDot", 2, 1},
    [NS_MINT_BY_Q] = {"computeJacobianMIntq", "JacobianMIntq", 2, 0},
    [NS_MINT_BY_V] = {"computeJacobianMIntv", "JacobianMIntv", 2, 1},
};

static bool mechanical_given(const NslDs *handle, int i) {
  const NsMechanicalDs *ds = (const NsMechanicalDs *)handle->ds;
  const NsFunction *f = i < NS_FGYR_BY_Q ? &ds->fint_function : i < NS_MINT_BY_Q ? &ds->fgyr_function : &ds->mint_function;
  const NsCoef *coef = i < NS_FORCE_JACOBIANS ? &ds->force_jacobian[i] : NULL;
  return f->value && given(&handle->callee, mechanical_jacobians[i].callback, coef);
}

static bool ds_jacobian_given(const NslDs *handle) {
  const NsFirstOrderDs *ds = (const NsFirstOrderDs *)handle->ds;
  bool found = false;
  if (ns_ds_family(handle->ds) == NS_FIRST_ORDER)
    return ds->f.value && given(&handle->callee, "computeJacobianfx", &ds->jacobian_f);
  for (int i = 0; i < NS_FORCE_PARTS; i++) found = found || mechanical_given(handle, i);
  return found;
}

static NsStatus check_ds_values(lua_State *L, int lines, NslDs *handle, double t, double T, NsError *err) {
  const NsDs *ds = handle->ds;
  size_t n = (size_t)ds->n;
  Probe probe = {t, T, ds->x, ds->x + handle->callee.n, ds->z, scratch(L, n), scratch(L, n)};
  NsStatus status = ns_ds_update(handle->ds, t, err);
  if (status == NS_OK) status = check_values(L, lines, &handle->callee, &probe);
  lua_pop(L, 2);
  return status;
}

/* Compares one Jacobian of a system, number i of a mechanical one; x holds the trial points. */
static NsStatus check_ds_jacobian(const Audit *audit, NslDs *handle, int i, double t, double *x, double *room, NsError *err) {
  const NsDs *ds = handle->ds;
  NsStatus status = NS_OK;
  for (int trial = 0; trial < POINTS && status == NS_OK; trial++) {
    const double *args[NS_FUNCTION_ARGS] = {x, x + handle->callee.n, ds->z};
    lua_Integer before = (lua_Integer)lua_rawlen(audit->L, audit->lines);
    check_move(x, ds->x, ds->n, trial);
    if (ns_ds_family(ds) == NS_FIRST_ORDER)
      status = ns_first_order_jacobian((const NsFirstOrderDs *)ds, t, x, false, audit->given, err);
    else status = ns_mechanical_force_jacobian((const NsMechanicalDs *)ds, i, t, x, args[1], room, audit->given, err);
    if (status == NS_OK) status = check_compare(audit, t, args);
    if ((lua_Integer)lua_rawlen(audit->L, audit->lines) > before) break;
  }
  return status;
}

/* ---- mass matrices ---- */

/* A mass matrix: a constant sparse one, or nv x nv numbers. */
typedef struct Mass {
  lua_State *L;
  int lines, n, complaints;
  NslCallee *callee;
  const NsSparse *sparse; /* NULL: dense */
  const double *dense;
} Mass;

static double mass_entry(const Mass *M, int i, int j) {
  return M->sparse ? ns_sparse_get(M->sparse, i, j) : M->dense[i + (size_t)j * (size_t)M->n];
}

__attribute__((format(printf, 2, 3))) static void complain_mass(Mass *M, const char *format, ...) {
  char line[256];
  va_list args;
  if (M->complaints++ >= MOST_ENTRIES) return;
  va_start(args, format);
  ns_vprint(line, sizeof line, format, args);
  va_end(args);
  lua_pushfstring(M->L, "%s %s", nsl_callee_title(M->L, M->callee), line);
  lua_rawseti(M->L, M->lines, (lua_Integer)lua_rawlen(M->L, M->lines) + 1);
  lua_pop(M->L, 1);
}

static void check_diagonal(Mass *M, double t) {
  for (int i = 0; i < M->n; i++) {
    double m = mass_entry(M, i, i);
    if (!(m > 0)) complain_mass(M, "mass[%d][%d]: expected a positive number, got %.10g (t=%g)", i + 1, i + 1, m, t);
  }
}

/* Compares an element with its mirror image, relative to the scale of both rows. */
static void check_opposite(Mass *M, double t, int i, int j) {
  double a = mass_entry(M, i, j), b = mass_entry(M, j, i);
  double scale = fmax(fmax(fabs(a), fabs(b)), sqrt(fabs(mass_entry(M, i, i) * mass_entry(M, j, j))));
  if (fabs(a - b) > 1e-9 * scale)
    complain_mass(M, "mass[%d][%d]: expected %.10g as in mass[%d][%d] (a mass matrix is symmetric), got %.10g (t=%g)", i + 1,
                  j + 1, b, j + 1, i + 1, a, t);
}

/* Checks the symmetry. Each pair is told once, at the element above the diagonal. */
static void check_symmetry(Mass *M, double t) {
  const NsSparse *A = M->sparse;
  for (int j = 0; j < M->n; j++) {
    for (int i = 0; !A && i < j; i++) check_opposite(M, t, i, j);
    for (int k = A ? A->colptr[j] : 0; A && k < A->colptr[j + 1]; k++) {
      int i = A->row[k];
      if (i < j) check_opposite(M, t, i, j);
      else if (i > j && ns_sparse_get(A, j, i) == 0) check_opposite(M, t, j, i);
    }
  }
}

/* Checks the mass. The diagonal is checked at the state only: the system may never reach the other points. */
static NsStatus check_mass(lua_State *L, int lines, NslDs *handle, double t, NsError *err) {
  const NsMechanicalDs *ds = (const NsMechanicalDs *)handle->ds;
  Mass M = {.L = L, .lines = lines, .n = ds->nv, .callee = &handle->callee, .sparse = ds->mass.sparse};
  bool varies = ds->mass_function.value != NULL;
  if (!varies && !ns_coef_given(&ds->mass)) return NS_OK;
  size_t n = (size_t)ds->nv;
  double *q = scratch(L, (size_t)ds->nq), *dense = scratch(L, M.sparse ? 0 : n * n);
  M.dense = dense;
  NsStatus status = M.sparse ? NS_OK : ns_mechanical_mass(ds, t, ds->q, dense, err);
  if (status == NS_OK) check_diagonal(&M, t);
  if (status == NS_OK) check_symmetry(&M, t);
  for (int trial = 1; status == NS_OK && varies && trial < POINTS && M.complaints == 0; trial++) {
    NsError unheard;
    check_move(q, ds->q, ds->nq, trial);
    if (ns_mechanical_mass(ds, t, q, dense, &unheard) == NS_OK) check_symmetry(&M, t);
  }
  lua_pop(L, 2);
  return status;
}

static NsStatus check_ds(lua_State *L, int lines, NslDs *handle, double t, double T, NsError *err) {
  const NsDs *ds = handle->ds;
  NsStatus status = check_ds_values(L, lines, handle, t, T, err);
  if (status == NS_OK && ns_ds_family(ds) == NS_MECHANICS) status = check_mass(L, lines, handle, t, err);
  if (status != NS_OK || !ds_jacobian_given(handle)) return status;
  size_t n = (size_t)ds->n;
  double *x = scratch(L, n), *one = scratch(L, n * n), *other = scratch(L, n * n), *room = scratch(L, n * n);
  Audit audit = {L, lines, &handle->callee, 0, NS_BY_X, "Jacobianfx", ds->n, ds->n, one, other};
  if (ns_ds_family(ds) == NS_FIRST_ORDER) status = check_ds_jacobian(&audit, handle, 0, t, x, room, err);
  for (int i = 0; ns_ds_family(ds) == NS_MECHANICS && i < NS_FORCE_PARTS && status == NS_OK; i++) {
    if (!mechanical_given(handle, i)) continue;
    audit.which = mechanical_jacobians[i].which;
    audit.by = mechanical_jacobians[i].by;
    audit.label = mechanical_jacobians[i].label;
    audit.rows = i < NS_MINT_BY_Q ? handle->callee.m : 3;
    audit.cols = audit.by == 0 ? handle->callee.n : handle->callee.m;
    status = check_ds_jacobian(&audit, handle, i, t, x, room, err);
  }
  lua_pop(L, 4);
  return status;
}

/* Checks the graph of the simulation at 1; appends complaints to the list at `lines`. */
static NsStatus check_all(lua_State *L, int lines, double t, double T, NsError *err) {
  NsStatus status = NS_OK;
  lua_getiuservalue(L, 1, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "ds");
  for (lua_Integer i = 1; status == NS_OK && lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 1))
    status = check_ds(L, lines, lua_touserdata(L, -1), t, T, err);
  lua_settop(L, lines);
  lua_getiuservalue(L, 1, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "interactions");
  for (lua_Integer i = 1; status == NS_OK && lua_rawgeti(L, -1, i) != LUA_TNIL; i++, lua_pop(L, 2)) {
    NslInteraction *inter = lua_touserdata(L, -1);
    lua_getiuservalue(L, -1, 2);
    status = check_relation(L, lines, lua_touserdata(L, -1), inter->interaction, t, T, err);
  }
  lua_settop(L, lines);
  return status;
}

static bool relation_jacobian_given(const NslRelation *handle) {
  const NsRelation *rel = handle->relation;
  const NsCoef *coefs[] = {&rel->C, &rel->D, &rel->B, &rel->K};
  for (int c = 0; c < 4; c++)
    if ((relation_jacobians[c].which == 0 ? &rel->h : &rel->g)->value &&
        given(&handle->callee, relation_callback(handle, c), coefs[c]))
      return true;
  return rel->hdot.value && rel->h.value;
}

/* Whether a Jacobian was given for some callback of the simulation's graph. */
static bool jacobian_given(lua_State *L, int simulation) {
  int top = lua_gettop(L);
  bool found = false;
  lua_getiuservalue(L, simulation, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, top + 2, "ds");
  for (lua_Integer i = 1; !found && lua_rawgeti(L, top + 3, i) != LUA_TNIL; i++, lua_settop(L, top + 3))
    found = ds_jacobian_given(lua_touserdata(L, -1));
  lua_settop(L, top + 2);
  lua_getfield(L, top + 2, "interactions");
  for (lua_Integer i = 1; !found && lua_rawgeti(L, top + 3, i) != LUA_TNIL; i++, lua_settop(L, top + 3)) {
    lua_getiuservalue(L, -1, 2);
    found = relation_jacobian_given(lua_touserdata(L, -1));
  }
  lua_settop(L, top);
  return found;
}

static void check_append(NsError *err, const char *text) {
  size_t used = strlen(err->text);
  snprintf(err->text + used, sizeof err->text - used, "%s", text);
}

void nsl_advise(lua_State *L, int simulation, NsError *err) {
  NslTimeStepping *self = lua_touserdata(L, simulation);
  NsFailure failure = self->ts->failure;
  self->ts->failure = NS_FAILED_ELSEWHERE;
  if (err->status == NS_OK || err->status == NS_ECALLBACK || err->status == NS_ERETRY || err->status == NS_ENOMEM ||
      failure == NS_FAILED_ELSEWHERE)
    return;
  if (failure == NS_FAILED_NEWTON)
    check_append(err, " (a smaller h, setMaxSubsteps(n) or, for a switch inside a callback, a law may help)");
  if (jacobian_given(L, simulation)) check_append(err, "; simu:check() compares the given Jacobians with the exact ones");
}

/*
** Least depth of a gap below 0, relative to its terms, that check() complains about (1e-9): positions typed with ten digits, or
** computed with sines and roots, are exact to 1e-10 or better.
*/
static const double overlap_part = 1e-9;

/* check() -> true, or false and the complaints, one a line. */
int nsl_simulation_check(lua_State *L) {
  NslTimeStepping *self = nsl_ready_simulation(L, 1, "check");
  NsError err = {NS_OK, ""};
  lua_settop(L, 1);
  lua_newtable(L);
  NslEdge edge = nsl_enter(self->host, L, NULL, self->ts->nsds);
  NsStatus status = check_all(L, 2, ns_ts_time(self->ts), self->ts->nsds->T, &err);
  NsError unheard = {NS_OK, ""}; /* the first step reports why an output fails */
  const NsInteraction *inter = NULL;
  int row = 0;
  if (status == NS_OK && ns_ts_may_keep_penetration(self->ts) &&
      ns_nsds_update_output(self->ts->nsds, ns_ts_time(self->ts), &unheard) == NS_OK)
    inter = ns_ts_penetrating(self->ts, overlap_part, &row);
  nsl_leave(self->host, edge);
  if (status == NS_ECALLBACK) err.status = status;
  if (status != NS_OK) return nsl_raise_step(L, &err);
  if (inter) {
    nsl_push_penetration(L, self->ts, inter, row);
    lua_rawseti(L, 2, (lua_Integer)lua_rawlen(L, 2) + 1);
  }
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
