/*
** check.c
** simu:check(): compares given Jacobians with exact ones; finds callbacks that give nothing, and wrong mass matrices.
*/
#include <stdio.h>
#include <string.h>

#include "bind/call/callback.h"
#include "bind/call/function.h"
#include "bind/simulation/simulation.h"
#include "model/audit.h"

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
static NsStatus is_silent(NslCallback *cb, const Probe *probe, double *out, bool *silent) {
  bool of_rate = strchr(cb->slot->args, 'v') != NULL; /* the rate may have any value: take the state */
  NsPoint at = {probe->t, probe->x, of_rate ? probe->x : probe->lambda, probe->z};
  int failed = nsl_callback_call(cb, &at, out);
  *silent = !failed && cb->silent;
  if (failed) return NS_ECALLBACK;
  for (int trial = 1; trial < NS_AUDIT_POINTS && *silent; trial++) {
    ns_audit_move(probe->moved_x, probe->x, cb->callee->n, trial);
    ns_audit_move(probe->moved_lambda, probe->lambda, cb->callee->m, trial);
    double t = probe->t + (probe->T - probe->t) * trial / (NS_AUDIT_POINTS - 1);
    at = (NsPoint){t, probe->moved_x, of_rate ? probe->moved_x : probe->moved_lambda, probe->z};
    *silent = nsl_callback_call(cb, &at, out) == 0 && cb->silent;
  }
  return NS_OK;
}

/* Appends complaints about the callee's Lua callbacks, other than Jacobians, that give nothing. */
static NsStatus check_values(lua_State *L, int lines, NslCallee *callee, const Probe *probe) {
  NsStatus status = NS_OK;
  for (int slot = 0; slot < callee->kind->nslots && status == NS_OK; slot++) {
    NslCallback *cb = &callee->callbacks[slot];
    int entries = nsl_callback_entries(cb);
    bool silent;
    if (is_jacobian(cb->slot) || entries == 0 || cb->backing == NSL_ABSENT || cb->backing == NSL_LIBRARY) continue;
    double *out = scratch(L, (size_t)entries);
    status = is_silent(cb, probe, out, &silent);
    lua_pop(L, 1);
    if (status == NS_OK && silent) complain_silent(L, lines, cb);
  }
  return status;
}

/* ---- Jacobians and masses ---- */

static bool callback_given(void *callee, const char *name) {
  int slot = nsl_slot(callee, name);
  return slot >= 0 && ((const NslCallee *)callee)->callbacks[slot].backing != NSL_ABSENT;
}

static int exact_jacobian(void *callee, int which, int by, double t, const double *const *args, double *jac, bool *exact) {
  return nsl_exact_jacobian(callee, which, by, t, args, jac, exact);
}

static NsAudit audit_of(NslCallee *callee, double t, double T) {
  return (NsAudit){.t = t, .T = T, .given = callback_given, .exact = exact_jacobian, .context = callee};
}

/* Appends each line of the audit's text, with the title of its object, to the list at `lines`. Raises only when memory runs out. */
static int append_complaints(lua_State *L) {
  const NsAudit *audit = lua_touserdata(L, 2);
  for (const char *line = audit->text, *end; line && *line; line = end + 1) {
    end = strchr(line, '\n');
    lua_pushlstring(L, line, (size_t)(end - line));
    lua_pushfstring(L, "%s %s", nsl_callee_title(L, audit->context), lua_tostring(L, -1));
    lua_rawseti(L, 1, (lua_Integer)lua_rawlen(L, 1) + 1);
    lua_settop(L, 2);
  }
  return 0;
}

static void take_complaints(lua_State *L, int lines, NsAudit *audit) {
  lua_pushcfunction(L, append_complaints);
  lua_pushvalue(L, lines);
  lua_pushlightuserdata(L, audit);
  int outcome = lua_pcall(L, 2, 0, 0);
  ns_audit_clear(audit);
  if (outcome != LUA_OK) lua_error(L);
}

/* A check of a simulation: the list of complaints is at `lines`; from t to T. */
typedef struct Check {
  int lines;
  double t, T;
  NsStatus status;
  NsError *err;
} Check;

static bool check_callee(lua_State *L, int idx, NsInteraction *inter, void *context) {
  Check *c = context;
  NslCallee *callee = lua_touserdata(L, idx);
  NsDs *ds = inter ? NULL : ((NslDs *)callee)->ds;
  NsAudit audit = audit_of(callee, c->t, c->T);
  Probe probe = {.t = c->t, .T = c->T};
  double *state = inter ? scratch(L, (size_t)inter->relation->nx) : NULL;
  probe.moved_x = scratch(L, (size_t)(callee->n + callee->m)), probe.moved_lambda = probe.moved_x + callee->n;
  for (int i = 0, at = 0; inter && i < inter->nds; at += inter->ds[i++]->nx)
    memcpy(state + at, inter->ds[i]->x, (size_t)inter->ds[i]->nx * sizeof *state);
  if (inter) probe.x = state, probe.lambda = inter->lambda, probe.z = inter->z;
  else probe.x = ds->x, probe.lambda = ds->x + ds->nx, probe.z = ds->z;
  c->status = inter ? ns_interaction_update(inter, c->t, c->err) : ns_ds_update(ds, c->t, c->err);
  if (c->status == NS_OK) c->status = check_values(L, c->lines, callee, &probe);
  if (c->status == NS_OK) c->status = inter ? ns_audit_relation(&audit, inter, c->err) : ns_audit_system(&audit, ds, c->err);
  take_complaints(L, c->lines, &audit);
  return c->status == NS_OK;
}

/* Whether no Jacobian was given for a callback of a system or relation. */
static bool gives_no_jacobian(lua_State *L, int idx, NsInteraction *inter, void *context) {
  NslCallee *callee = lua_touserdata(L, idx);
  NsAudit audit = audit_of(callee, 0, 0);
  (void)context;
  return !(inter ? ns_audit_relation_given(&audit, inter->relation) : ns_audit_system_given(&audit, ((NslDs *)callee)->ds));
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
  if (failure == NS_FAILED_LENGTH) {
    check_append(err, " (a smaller h, or setMaxSubsteps(n))");
    return;
  }
  if (failure == NS_FAILED_NEWTON)
    check_append(err, " (a smaller h, setMaxSubsteps(n) or, for a switch inside a callback, a law may help)");
  if (!nsl_each_callee(L, simulation, NSL_TS_NSDS, gives_no_jacobian, NULL))
    check_append(err, "; simu:check() compares the given Jacobians with the exact ones");
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
  Check check = {2, ns_ts_time(self->ts), self->ts->nsds->T, NS_OK, &err};
  nsl_each_callee(L, 1, NSL_TS_NSDS, check_callee, &check);
  NsStatus status = check.status;
  NsError unheard = {NS_OK, ""}; /* the first step reports why an output fails */
  const NsInteraction *inter = NULL;
  int row = 0;
  if (status == NS_OK && ns_ts_may_keep_penetration(self->ts) &&
      ns_nsds_update_output(self->ts->nsds, ns_ts_time(self->ts), 0, &unheard) == NS_OK)
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
