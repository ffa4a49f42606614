/*
** function.c
** Makes NsFunctions of the engine from callbacks: what ad/derived.h asks of their owner.
*/
#include "bind/call/function.h"

#include <string.h>

#include "ad/jet_passes.h"
#include "base/memory.h"
#include "base/text.h"
#include "bind/call/callback.h"
#include "bind/diff/ad.h"
#include "bind/diff/trace_jets.h"

/* ---- passes with dual numbers ---- */

/*
** A call of a callback with dual numbers at a point (z NULL: the object's own), with a Jacobian (or NULL) by x, by lambda and by z. Pushes
** the object (2), the function (3) and z (4).
*/
static NslDualCall function_gather(lua_State *L, const NslCallback *cb, const NsPoint *at, double *const *jacobian,
                                   NslDualArg *args) {
  NslCallee *callee = cb->callee;
  int nargs = 0;
  nsl_push_object(L, callee);
  lua_getiuservalue(L, 2, cb->place);
  lua_getiuservalue(L, 2, NSL_PLACE_Z);
  for (const char *a = cb->slot->args; *a; a++, nargs++) {
    const char *name = nsl_argument_name(callee, *a);
    if (*a == 'x') args[nargs] = (NslDualArg){name, 0, callee->n, at->x, jacobian[0]};
    else if (*a == 'l') args[nargs] = (NslDualArg){name, 0, callee->m, at->lambda, jacobian[1]};
    else if (at->z) args[nargs] = (NslDualArg){"z", 0, callee->nz, at->z, jacobian[2]};
    else args[nargs] = (NslDualArg){"z", 4, 0, NULL, NULL};
  }
  return (NslDualCall){.function = 3,
                       .self = cb->backing == NSL_METHOD ? 2 : 0,
                       .has_time = !nsl_timeless(cb->slot),
                       .t = at->t,
                       .nargs = nargs,
                       .args = args,
                       .outlabel = cb->slot->label,
                       .nout = nsl_callback_entries(cb),
                       .rows = cb->slot->cols != '1' ? nsl_dimension(callee, cb->slot->rows) : 0};
}

/* A pass of a callback; L and call: where it runs, and what it calls. */
typedef struct PassJob {
  lua_State *L;
  const NslCallback *cb;
  const NsPass *pass;
  const NslDualCall *call;
  bool not_finite; /* the pass has failed as a derivative is not finite */
} PassJob;

static void function_find_jets(void *context, double tdot, NsJet jet, const double *seed, double *all) {
  const PassJob *job = context;
  const NslCallback *cb = job->cb;
  NsPaths *paths = job->pass->paths;
  if (paths) {
    int time = nsl_callback_argument(cb, 't'), input = time < 0 ? -1 : paths->offset[time];
    NslTrace *trace = nsl_has_trace(cb) ? cb->trace : cb->shadow.trace;
    nsl_trace_jets(job->L, trace, input, tdot, paths->offset[cb->direct.argument[0]], cb->callee->n, jet, seed, all);
    return;
  }
  NslDualCall call = *job->call;
  call.tdot = tdot, call.jet = jet, call.seed = seed, call.all = all;
  nsl_dual_run(job->L, &call);
}

/* A pass of the kinds BOWL and TWIST. */
static void run_jets(PassJob *job) {
  lua_State *L = job->L;
  const NsPass *p = job->pass;
  int n = job->cb->callee->n, rows = job->cb->entries;
  ptrdiff_t most = ns_jet_most(n);
  NsJetPasses passes = {.n = n, .rows = rows, .tdot = p->tdot, .find = function_find_jets, .context = job};
  passes.seed = lua_newuserdatauv(L, (size_t)(most * n + 1) * sizeof(double), 0);
  passes.all = lua_newuserdatauv(L, (size_t)(most * rows + 1) * sizeof(double), 0);
  if (p->kind == NS_PASS_TWIST) ns_jets_twist(&passes, p->w, NULL, NULL, p->slope, p->rate, p->bend);
  else ns_jets_bowl(&passes, NULL, p->second);
}

/* Runs inside lua_pcall. Argument: the PassJob as a light userdata. */
static int function_run_pass(lua_State *L) {
  PassJob *job = lua_touserdata(L, 1);
  const NsPass *p = job->pass;
  const char *letters = job->cb->slot->args;
  NslDualArg args[NS_FUNCTION_ARGS];
  const double *directions[NS_FUNCTION_ARGS] = {NULL};
  NslDualCall call = function_gather(L, job->cb, &p->at, p->jacobian, args);
  call.plain = p->plain;
  call.not_finite = &job->not_finite;
  job->L = L, job->call = &call;
  if (p->kind == NS_PASS_BOWL || p->kind == NS_PASS_TWIST) return run_jets(job), 0;
  for (int a = 0; a < call.nargs; a++)
    if (letters[a] == 'x') directions[a] = p->w;
  if (p->kind == NS_PASS_LINE)
    call.tdot = p->tdot, call.directions = directions, call.first = p->first, call.second = p->second;
  nsl_dual_run(L, &call);
  return 0;
}

/* Positive when a derivative is not finite: there may be one elsewhere. */
static int function_pass(void *callback, const NsPass *pass) {
  PassJob job = {.cb = callback, .pass = pass};
  int failed = nsl_callback_protected(callback, function_run_pass, &job);
  return failed && job.not_finite ? 1 : failed;
}

/* ---- errors ---- */

static int raise_memory(lua_State *L) {
  return luaL_error(L, "not enough memory");
}

static int function_no_memory(void *callback) {
  return nsl_callback_protected(callback, raise_memory, NULL);
}

/* Raises that a native callback needs a native Jacobian. Argument: the missing slot. */
static int raise_missing(lua_State *L) {
  const NsSlot *slot = lua_touserdata(L, 1);
  return luaL_error(L, "%s is missing: a native callback has no exact derivatives of its own", slot->name);
}

static int function_missing(void *callback, int slot) {
  const NslCallback *cb = callback;
  return nsl_callback_protected(cb, raise_missing, (void *)cb->callee->callbacks[slot].slot);
}

/* A derivative that is not finite. */
typedef struct BadDerivative {
  const NslCallback *cb;
  int row, col; /* from 0 */
  const char *by;
  double value;
} BadDerivative;

/* Raises "r[1]: the derivative by x[2] is nan". */
static int raise_derivative(lua_State *L) {
  const BadDerivative *bad = lua_touserdata(L, 1);
  const NsSlot *slot = bad->cb->slot;
  int rows = nsl_dimension(bad->cb->callee, slot->rows);
  if (slot->cols == '1') lua_pushfstring(L, "%s[%d]", slot->label, bad->row + 1);
  else lua_pushfstring(L, "%s[%d][%d]", slot->label, bad->row % rows + 1, bad->row / rows + 1);
  lua_pushfstring(L, "%s: the derivative by %s[%d] is %s", lua_tostring(L, -1), bad->by, bad->col + 1,
                  ns_word_of_number(bad->value));
  return lua_error(L);
}

/* Keeps the error. Positive, as function_pass. */
static int function_refuse(void *callback, int argument, int at, double value) {
  const NslCallback *cb = callback;
  BadDerivative bad = {cb, at % cb->entries, at / cb->entries, nsl_trace_label(cb->trace->args, argument), value};
  (void)nsl_callback_protected(cb, raise_derivative, &bad);
  return 1;
}

static int function_raise_paths(void *callback) {
  NslCallback *cb = callback;
  return nsl_callback_attempt(cb, nsl_raise_of_trace, cb->trace);
}

static int function_forget(const void *callback) {
  return nsl_callback_forget(callback);
}

/* ---- values and traces ---- */

static bool function_compiled(const void *callback) {
  return nsl_has_trace(callback);
}

static int function_call(void *callback, const NsPoint *at, double *out) {
  return nsl_callback_call(callback, at, out);
}

static NsPaths *function_trace(void *callback, const NsPoint *at) {
  NslTrace *trace = nsl_callback_trace(callback, at);
  return trace ? &trace->fn : NULL;
}

static NsPaths *function_shadow(void *callback, const NsPoint *at, const double *plain) {
  NslTrace *trace = nsl_callback_shadow(callback, at, plain);
  return trace ? &trace->fn : NULL;
}

/* jac = the derivative of a callback by z. `room`: workspace for its value. Positive: not available. */
static int function_by_z(void *callback, const NsPoint *at, double *room, double *jac) {
  NslCallback *cb = callback;
  if (!strchr(cb->slot->args, 'z') || cb->callee->nz == 0) return 0;
  if (cb->backing == NSL_LIBRARY || cb->inexact || !at->z) return 1;
  if (nsl_has_trace(cb)) {
    NsPaths *paths = function_trace(cb, at);
    int arg = paths ? nsl_callback_argument(cb, 'z') : -1;
    if (!paths) return nsl_callback_forget(cb);
    return arg < 0 || paths->outputs == 0 ? 0 : !ns_paths_jacobian(paths, arg, jac);
  }
  NsPaths *shadow = function_shadow(cb, at, NULL);
  if (shadow && ns_paths_jacobian(shadow, nsl_callback_argument(cb, 'z'), jac)) return 0;
  NsPass pass = {.at = *at, .plain = room, .jacobian = {NULL, NULL, jac}};
  if (function_call(cb, at, room) != 0) return nsl_callback_forget(cb);
  if (function_pass(cb, &pass) == 0) return 0;
  cb->inexact = true;
  return nsl_callback_forget(cb);
}

static const NsDerivedOwner function_owner = {.call = function_call,
                                              .compiled = function_compiled,
                                              .trace = function_trace,
                                              .shadow = function_shadow,
                                              .pass = function_pass,
                                              .by_z = function_by_z,
                                              .forget = function_forget,
                                              .raise_paths = function_raise_paths,
                                              .refuse = function_refuse,
                                              .missing = function_missing,
                                              .no_memory = function_no_memory};

NsFunction nsl_function(NslCallee *callee, int which, int value, int by_x, int by_lambda) {
  NsDerived *f = &callee->functions[which];
  NslCallback *cb = &callee->callbacks[value];
  const int by[] = {by_x, by_lambda};
  f->owner = &function_owner, f->callback = cb, f->direct = &cb->direct, f->inexact = &cb->inexact;
  f->runs = &callee->host->runs;
  f->entries = cb->entries, f->matrix = cb->slot->cols != '1', f->native = cb->backing == NSL_LIBRARY;
  f->time = nsl_callback_argument(cb, 't');
  f->parameters = strchr(cb->slot->args, 'z') ? nsl_callback_argument(cb, 'z') : -1;
  if (cb->backing == NSL_ABSENT) return (NsFunction){0};
  for (int k = 0; k < 2; k++) {
    bool given = by[k] >= 0 && callee->callbacks[by[k]].backing != NSL_ABSENT;
    f->by[k] = by[k], f->given[k] = given ? &callee->callbacks[by[k]] : NULL;
    if (!f->native) cb->direct.own[k] = !given;
  }
  return ns_derived_function(f);
}

static int coefficient_value(void *context, double t, const double *const *args, double *out) {
  NslCallback *cb = context;
  NsPoint at = {t, NULL, NULL, args[0]};
  return function_call(cb, &at, out);
}

/* The `exact` of a coefficient, whose only argument is z. */
static int coefficient_exactly(void *context, double t, const double *const *args, int by, double *jac) {
  NslCallback *cb = context;
  NsPoint at = {t, NULL, NULL, args[0]};
  double *room = by == 0 ? ns_alloc((size_t)cb->entries + 1, sizeof *room) : NULL;
  int failed = room ? function_by_z(cb, &at, room, jac) : 1;
  ns_free(room);
  return failed;
}

NsFunction nsl_coefficient_function(NslCallee *callee, int slot) {
  if (callee->callbacks[slot].backing == NSL_ABSENT) return (NsFunction){0};
  return (NsFunction){.value = coefficient_value, .context = &callee->callbacks[slot], .exact = coefficient_exactly};
}

int nsl_exact_jacobian(NslCallee *callee, int which, int by, double t, const double *const *args, double *out, bool *is_exact) {
  NsDerived *f = &callee->functions[which];
  NsPoint at = {t, args[0], args[1], args[2]};
  *is_exact = function_compiled(f->callback) || (!f->native && !f->matrix);
  if (*is_exact) {
    int failed = ns_derived_exactly(f, by, &at, out);
    if (!failed || !nsl_forget_error(callee->host->L, "does not propagate derivatives")) return failed;
    *is_exact = false;
  }
  return ns_derived_differences(f, by, &at, out);
}
