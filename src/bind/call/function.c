/*
** function.c
** Makes NsFunctions of the engine from callbacks: the values, and Jacobians by callback, dual numbers or differences.
*/
#include "ad/jet_passes.h"
#include "base/text.h"
#include "bind/call/function.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "bind/diff/ad.h"
#include "bind/call/callback.h"
#include "bind/diff/trace_jets.h"

static void function_copy(double *to, const double *from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

static bool function_same_point(const NslFunction *f, const NslPoint *at) {
  const NslCallee *c = f->callee;
  bool same_z = c->nz == 0 || !at->z || (f->z && memcmp(f->z, at->z, (size_t)c->nz * sizeof *f->z) == 0);
  return same_z && f->t == at->t && (c->n == 0 || memcmp(f->x, at->x, (size_t)c->n * sizeof *f->x) == 0) &&
         (c->m == 0 || !at->lambda || memcmp(f->lambda, at->lambda, (size_t)c->m * sizeof *f->lambda) == 0);
}

static int function_evaluate(NslFunction *f, const NslPoint *at, double *out) {
  NslCallee *callee = f->callee;
  f->plain_known = f->jacobians_known = false;
  int failed = nsl_callback_call(callee, f->value, at, out);
  if (failed) return failed;
  if (callee->callbacks[f->value].slot->cols != '1') return 0;
  f->t = at->t;
  function_copy(f->x, at->x, callee->n);
  if (at->lambda) function_copy(f->lambda, at->lambda, callee->m);
  if (at->z && f->z) function_copy(f->z, at->z, callee->nz);
  function_copy(f->plain, out, nsl_callback_entries(&callee->callbacks[f->value]));
  f->plain_known = true;
  return 0;
}

static NslPoint point_of(double t, const double *const *args) {
  return (NslPoint){t, args[0], args[1], args[2]};
}

/*
** The plain value. A compiled callback needs no memory of the point, because its Jacobians are computed apart from the value.
*/
static int function_value(void *context, double t, const double *const *args, double *out) {
  NslFunction *f = context;
  NslPoint at = point_of(t, args);
  if (nsl_has_trace(&f->callee->callbacks[f->value])) return nsl_callback_call(f->callee, f->value, &at, out);
  return function_evaluate(f, &at, out);
}

/*
** A call of a callback with dual numbers at a point (z NULL: the object's own), with a Jacobian (or NULL) by x, by lambda and by z. Pushes
** the object (2), the function (3) and z (4).
*/
static NslDualCall function_gather(lua_State *L, const NslCallback *cb, const NslPoint *at, double *const *jacobian,
                                   NslDualArg *args) {
  NslCallee *callee = cb->callee;
  int nargs = 0;
  nsl_push_object(L, callee);
  lua_getiuservalue(L, 2, nsl_function_place((int)(cb - callee->callbacks)));
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

/* The same for f at its last point, where its value is known. */
static NslDualCall function_dual_call(lua_State *L, const NslFunction *f, double *const *jacobian, NslDualArg *args) {
  const NslCallback *cb = &f->callee->callbacks[f->value];
  const NslPoint at = {f->t, f->x, f->lambda, NULL};
  NslDualCall call = function_gather(L, cb, &at, jacobian, args);
  call.plain = call.rows > 0 ? f->low : f->plain;
  return call;
}

/* Runs inside lua_pcall: the Jacobians of f by dual numbers at its last point. Argument: f as a light userdata. */
static int function_run_duals(lua_State *L) {
  const NslFunction *f = lua_touserdata(L, 1);
  NslDualArg args[NS_FUNCTION_ARGS];
  NslDualCall call = function_dual_call(L, f, f->jacobian, args);
  nsl_dual_run(L, &call);
  return 0;
}

static int raise_memory(lua_State *L) {
  return luaL_error(L, "not enough memory");
}

/* Allocates the Jacobians at their first use. */
static int take_jacobians(NslFunction *f) {
  NslCallee *callee = f->callee;
  int rows = nsl_callback_entries(&callee->callbacks[f->value]);
  if (f->jacobian[0]) return 0;
  f->jacobian[0] = ns_arena_matrix(&callee->arena, rows, callee->n + callee->m);
  f->jacobian[1] = f->jacobian[0] ? f->jacobian[0] + (ptrdiff_t)rows * callee->n : NULL;
  if (f->jacobian[0]) return 0;
  callee->arena.failed = false;
  return nsl_callback_protected(&callee->callbacks[f->value], raise_memory, NULL);
}

/*
** Number of Jacobians by dual numbers in a run before a trace of the callback gives them: to make one takes about as long (11, measured on
** the clutch). Each trace that could not be made, or whose values were not the callback's, multiplies the number.
*/
enum { TRACED_AFTER = 12, PATIENCE = 8 };

/* With so many inputs for each output a tape takes reverse mode (ns_tape_jacobian), whose last bits are others. */
enum { FORWARD = 16 };

/*
** Whether x and lambda are adjacent inputs of a trace, on which its values depend: one sweep, which is as long as one for x, gives both
** Jacobians.
*/
static bool one_sweep(const NslCallee *callee, const int *argument, const NsPaths *fn) {
  int first = argument[0];
  return first >= 0 && argument[1] == first + 1 && fn->size[first + 1] == callee->m && fn->moves[first] &&
         fn->moves[first + 1] && callee->n + callee->m <= FORWARD * fn->outputs;
}

/*
** The Jacobians of f at its last point by a trace of its plain callback: the same bits as by dual numbers, without a call and without
** garbage. The value there must be the trace's, to the last bit. False: not available.
*/
static bool differentiate_by_trace(NslFunction *f) {
  NslCallee *callee = f->callee;
  const NslCallback *cb = &callee->callbacks[f->value];
  const int sizes[] = {callee->n, callee->m};
  if (f->run != callee->host->runs) f->run = callee->host->runs, f->passes = 0;
  if (f->wait == 0) f->wait = TRACED_AFTER;
  if (++f->passes <= f->wait) return false;
  NslPoint at = {f->t, f->x, f->lambda, NULL};
  NslTrace *trace = nsl_callback_shadow(callee, f->value, &at, f->plain);
  bool good = trace && !ns_paths_is_loose(&trace->fn);
  if (!good) f->wait = f->wait < LONG_MAX / PATIENCE ? f->wait * PATIENCE : LONG_MAX, f->passes = 0;
  if (good && one_sweep(callee, cb->direct.argument, &trace->fn))
    return ns_paths_jacobian_of(&trace->fn, trace->fn.offset[cb->direct.argument[0]], callee->n + callee->m, f->jacobian[0]);
  for (int by = 0; by < 2 && good; by++)
    if (cb->direct.argument[by] >= 0)
      good = sizes[by] <= FORWARD * trace->fn.outputs &&
             ns_paths_jacobian(&trace->fn, cb->direct.argument[by], f->jacobian[by]);
  return good;
}

static int differentiate(NslFunction *f) {
  if (take_jacobians(f) != 0) return -1;
  if ((f->jacobians_known = differentiate_by_trace(f))) return 0;
  int failed = nsl_callback_protected(&f->callee->callbacks[f->value], function_run_duals, f);
  f->jacobians_known = !failed;
  return failed;
}

/* Raises that a native callback needs a native Jacobian. Argument: the missing slot. */
static int raise_missing(lua_State *L) {
  const NsSlot *slot = lua_touserdata(L, 1);
  return luaL_error(L, "%s is missing: a native callback has no exact derivatives of its own", slot->name);
}

static int report_missing(NslFunction *f, int slot) {
  return nsl_callback_protected(&f->callee->callbacks[f->value], raise_missing, (void *)f->callee->callbacks[slot].slot);
}

/* ---- compiled callbacks ---- */

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

static int refuse_derivative(NslCallback *cb, int arg, int cols, const double *jac) {
  int rows = cb->entries, k = 0;
  while (k < rows * cols && isfinite(jac[k])) k++;
  if (k == rows * cols) return 0;
  BadDerivative bad = {cb, k % rows, k / rows, nsl_trace_label(cb->trace->args, arg), jac[k]};
  return nsl_callback_protected(cb, raise_derivative, &bad);
}

/* Whether the trace shows that the value of a compiled callback does not depend on an argument. */
static bool stays(const NslFunction *f, int by) {
  const NslCallback *cb = &f->callee->callbacks[f->value];
  return cb->trace && cb->direct.argument[by] >= 0 && !cb->trace->fn.moves[cb->direct.argument[by]];
}

static int function_plain_jacobian(NslFunction *f, int by, const NslPoint *at, double *jac);

/* jac = the exact Jacobian of a compiled callback, from its trace; of one that has become plain, as of a plain one. */
static int function_compiled_jacobian(NslFunction *f, int by, const NslPoint *at, double *jac) {
  NslCallee *callee = f->callee;
  NslCallback *cb = &callee->callbacks[f->value];
  NslTrace *trace = cb->trace;
  int arg = cb->direct.argument[by];
  if (!trace || arg < 0 || !ns_paths_jacobian_known(&trace->fn, arg)) trace = nsl_callback_trace(callee, f->value, at);
  if (!trace) return nsl_has_trace(cb) ? -1 : function_plain_jacobian(f, by, at, jac);
  arg = cb->direct.argument[by];
  if (arg < 0) return 0;
  int cols = nsl_trace_size(&trace->args[arg]);
  if (trace->fn.outputs == 0) memset(jac, 0, (size_t)(cb->entries * cols) * sizeof *jac);
  else if (!ns_paths_jacobian(&trace->fn, arg, jac)) {
    if (!trace->fn.failed) return refuse_derivative(cb, arg, cols, jac);
    int failed = nsl_callback_attempt(cb, nsl_raise_of_trace, trace);
    return failed ? failed : function_plain_jacobian(f, by, at, jac);
  }
  return 0;
}

/* The derivatives of a compiled callback along a line. Positive when one is not finite. */
static int compiled_along(NslFunction *f, const NslPoint *at, double tdot, const double *w, double *first, double *second) {
  NslCallback *cb = &f->callee->callbacks[f->value];
  NslTrace *trace = nsl_callback_trace(f->callee, f->value, at);
  if (!trace) return -1;
  int n = cb->entries;
  if (trace->fn.outputs == 0) {
    memset(first, 0, (size_t)n * sizeof *first);
    if (second) memset(second, 0, (size_t)n * sizeof *second);
    return 0;
  }
  int arg = cb->direct.argument[0];
  return !ns_paths_along(&trace->fn, nsl_callback_argument(cb, 't'), tdot, arg < 0 ? 0 : arg, arg < 0 ? NULL : w, first,
                         second);
}

static int function_exact(NslFunction *f, int by, const NslPoint *at, double *jac) {
  NslCallee *callee = f->callee;
  if (nsl_has_trace(&callee->callbacks[f->value])) return function_compiled_jacobian(f, by, at, jac);
  int rows = nsl_callback_entries(&callee->callbacks[f->value]);
  if (!f->plain_known || !function_same_point(f, at)) {
    int failed = function_evaluate(f, at, jac);
    if (failed) return failed;
  }
  if (!f->jacobians_known && differentiate(f) != 0) return -1;
  function_copy(jac, f->jacobian[by], rows * (by == 0 ? callee->n : callee->m));
  return 0;
}

/* Allocates the workspace for one value. */
static int take_low(NslFunction *f) {
  NslCallee *callee = f->callee;
  if (!f->low) f->low = ns_arena_doubles(&callee->arena, nsl_callback_entries(&callee->callbacks[f->value]));
  if (f->low) return 0;
  callee->arena.failed = false;
  return nsl_callback_protected(&callee->callbacks[f->value], raise_memory, NULL);
}

static bool function_is_matrix(const NslFunction *f) {
  return f->callee->callbacks[f->value].slot->cols != '1';
}

static int evaluate_matrix(NslFunction *f, const NslPoint *at) {
  if (take_low(f) != 0) return -1;
  int failed = nsl_callback_call(f->callee, f->value, at, f->low);
  if (failed) return failed;
  f->plain_known = f->jacobians_known = false;
  f->t = at->t;
  function_copy(f->x, at->x, f->callee->n);
  return 0;
}

/* A line through the last point of f, and the derivatives along it. */
typedef struct Line {
  NslFunction *f;
  double tdot, *first, *second;
  const double *w;
} Line;

/* Runs inside lua_pcall. Argument: the line as a light userdata. */
static int run_along(lua_State *L) {
  Line *line = lua_touserdata(L, 1);
  NslFunction *f = line->f;
  const char *letters = f->callee->callbacks[f->value].slot->args;
  NslDualArg args[NS_FUNCTION_ARGS];
  const double *directions[NS_FUNCTION_ARGS] = {NULL};
  NslDualCall call = function_dual_call(L, f, f->jacobian, args);
  for (int a = 0; a < call.nargs; a++)
    if (letters[a] == 'x') directions[a] = line->w;
  call.tdot = line->tdot;
  call.directions = directions;
  call.first = line->first;
  call.second = line->second;
  nsl_dual_run(L, &call);
  return 0;
}

static void forget_error(const NslFunction *f) {
  (void)nsl_callback_forget(&f->callee->callbacks[f->value]);
}

/* The `along` of a function. An error of the callback is forgotten, because the caller can do without these derivatives. */
static int function_along(void *context, double t, const double *const *args, double tdot, const double *w, double *first,
                          double *second) {
  NslFunction *f = context;
  NslPoint at = point_of(t, args);
  Line line = {f, tdot, first, second, w};
  bool compiled = nsl_has_trace(&f->callee->callbacks[f->value]);
  int failed = compiled ? compiled_along(f, &at, tdot, w, first, second) : 0;
  if (!compiled && function_is_matrix(f)) failed = evaluate_matrix(f, &at);
  else if (!compiled && (!f->plain_known || !function_same_point(f, &at))) failed = function_evaluate(f, &at, first);
  if (!compiled && !failed) failed = nsl_callback_protected(&f->callee->callbacks[f->value], run_along, &line);
  if (failed) forget_error(f);
  return failed;
}

/* ---- higher derivatives ---- */

/* A request for derivatives at the last point of f, or of its trace; w NULL: for `bowl`, else for `twist`. */
typedef struct JetJob {
  lua_State *L;
  NslFunction *f;
  NslTrace *trace;
  const NslDualCall *call; /* without a trace */
  double tdot;
  const double *w;
  double *second, *slope, *rate, *bend;
} JetJob;

static void function_find_jets(void *context, double tdot, NsJet jet, const double *seed, double *all) {
  const JetJob *job = context;
  NslTrace *trace = job->trace;
  const NslCallback *cb = &job->f->callee->callbacks[job->f->value];
  if (trace) {
    int time = nsl_callback_argument(cb, 't'), input = time < 0 ? -1 : (int)(ns_paths_input(&trace->fn, time) - trace->fn.in);
    int first = (int)(ns_paths_input(&trace->fn, cb->direct.argument[0]) - trace->fn.in);
    nsl_trace_jets(job->L, trace, input, tdot, first, job->f->callee->n, jet, seed, all);
    return;
  }
  NslDualCall call = *job->call;
  call.tdot = tdot, call.jet = jet, call.seed = seed, call.all = all;
  nsl_dual_run(job->L, &call);
}

/* Runs inside lua_pcall. Argument: the job as a light userdata. */
static int run_jets(lua_State *L) {
  JetJob *job = lua_touserdata(L, 1);
  NslFunction *f = job->f;
  int n = f->callee->n, rows = nsl_callback_entries(&f->callee->callbacks[f->value]);
  ptrdiff_t most = ns_jet_most(n);
  NslDualArg args[NS_FUNCTION_ARGS];
  NslDualCall call = function_dual_call(L, f, f->jacobian, args);
  job->L = L, job->call = &call;
  NsJetPasses passes = {.n = n, .rows = rows, .tdot = job->tdot, .find = function_find_jets, .context = job};
  passes.seed = lua_newuserdatauv(L, (size_t)(most * n + 1) * sizeof(double), 0);
  passes.all = lua_newuserdatauv(L, (size_t)(most * rows + 1) * sizeof(double), 0);
  if (job->w) ns_jets_twist(&passes, job->w, NULL, NULL, job->slope, job->rate, job->bend);
  else ns_jets_bowl(&passes, NULL, job->second);
  return 0;
}

static void clear_jets(const JetJob *job, size_t entries, size_t n) {
  double *of[] = {job->slope, job->rate, job->bend};
  if (!job->w) memset(job->second, 0, entries * n * n * sizeof *job->second);
  for (int i = 0; i < 3; i++)
    if (of[i]) memset(of[i], 0, entries * n * sizeof *of[i]);
}

/* An error of the callback is forgotten, because the caller can do without these derivatives. */
static int function_jets(JetJob *job, double t, const double *const *args) {
  NslFunction *f = job->f;
  NslCallback *cb = &f->callee->callbacks[f->value];
  NslPoint at = point_of(t, args);
  int failed = 0;
  job->trace = nsl_has_trace(cb) ? nsl_callback_trace(f->callee, f->value, &at)
                                 : nsl_callback_shadow(f->callee, f->value, &at, NULL);
  if (nsl_has_trace(cb) && !job->trace) return forget_error(f), 1;
  if (job->trace && (job->trace->fn.outputs == 0 || cb->direct.argument[0] < 0))
    return clear_jets(job, (size_t)nsl_callback_entries(cb), (size_t)f->callee->n), 0;
  if (!job->trace && function_is_matrix(f)) failed = evaluate_matrix(f, &at);
  else if (!job->trace && (!f->plain_known || !function_same_point(f, &at)))
    failed = take_low(f) != 0 || function_evaluate(f, &at, f->low);
  if (!failed) failed = nsl_callback_protected(cb, run_jets, job);
  if (failed) forget_error(f);
  return failed;
}

/* The `bowl` and the `twist` of a function. */
static int function_bowl(void *context, double t, const double *const *args, double *second) {
  JetJob job = {.f = context, .second = second};
  return function_jets(&job, t, args);
}

static int function_twist(void *context, double t, const double *const *args, double tdot, const double *w, double *slope,
                          double *rate, double *bend) {
  JetJob job = {.f = context, .tdot = tdot, .w = w, .slope = slope, .rate = rate, .bend = bend};
  return function_jets(&job, t, args);
}

/* The `ignores` of a function: its trace tells. */
static bool function_ignores(void *context, double t, const double *const *args, int by) {
  NslFunction *f = context;
  const NslCallback *cb = &f->callee->callbacks[f->value];
  NslPoint at = point_of(t, args);
  const NslTrace *trace = nsl_has_trace(cb) ? nsl_callback_trace(f->callee, f->value, &at)
                                            : nsl_callback_shadow(f->callee, f->value, &at, NULL);
  if (!trace && nsl_has_trace(cb)) forget_error(f);
  if (!trace) return false;
  int arg = by == 2 ? nsl_callback_argument(cb, 'z') : cb->direct.argument[by];
  return trace->fn.outputs == 0 || arg < 0 || !trace->fn.moves[arg];
}

/* A request for the derivative of a matrix by x, with its output. */
typedef struct MatrixJob {
  NslFunction *f;
  double *out;
} MatrixJob;

/* Runs inside lua_pcall. Argument: the job as a light userdata. */
static int run_matrix(lua_State *L) {
  MatrixJob *job = lua_touserdata(L, 1);
  double *const jacobian[] = {job->out, NULL, NULL};
  NslDualArg args[NS_FUNCTION_ARGS];
  NslDualCall call = function_dual_call(L, job->f, jacobian, args);
  nsl_dual_run(L, &call);
  return 0;
}

/*
** out = the derivative of a matrix by x, by dual numbers. Positive when the callback does not accept them: the error is
** forgotten, and they are not tried again until the callback changes.
*/
static int differentiate_matrix(NslFunction *f, const NslPoint *at, double *out) {
  NslCallee *callee = f->callee;
  MatrixJob job = {f, out};
  if (f->no_duals) return 1;
  int failed = evaluate_matrix(f, at);
  if (failed) return failed < 0 ? failed : 1;
  if (nsl_callback_protected(&callee->callbacks[f->value], run_matrix, &job) == 0) return 0;
  forget_error(f);
  f->no_duals = true;
  return 1;
}

/* ---- exact derivatives ---- */

/* A request for the derivative of a callback by z at a point, with its value there and its output. */
typedef struct ParameterJob {
  NslCallback *cb;
  const NslPoint *at;
  const double *plain;
  double *out;
} ParameterJob;

/* Runs inside lua_pcall. Argument: the job as a light userdata. */
static int run_parameters(lua_State *L) {
  const ParameterJob *job = lua_touserdata(L, 1);
  double *const jacobian[] = {NULL, NULL, job->out};
  NslDualArg args[NS_FUNCTION_ARGS];
  NslDualCall call = function_gather(L, job->cb, job->at, jacobian, args);
  call.plain = job->plain;
  nsl_dual_run(L, &call);
  return 0;
}

/* jac = the derivative of a callback by z. `room`: workspace for its value. Positive: not available. */
static int differentiate_by_z(NslCallback *cb, const NslPoint *at, double *room, double *jac) {
  NslCallee *callee = cb->callee;
  if (!strchr(cb->slot->args, 'z') || callee->nz == 0) return 0;
  if (cb->backing == NSL_LIBRARY || cb->inexact || !at->z) return 1;
  if (nsl_has_trace(cb)) {
    NslTrace *trace = nsl_callback_trace(callee, (int)(cb - callee->callbacks), at);
    int arg = trace ? nsl_callback_argument(cb, 'z') : -1;
    if (!trace) return nsl_callback_forget(cb);
    return arg < 0 || trace->fn.outputs == 0 ? 0 : !ns_paths_jacobian(&trace->fn, arg, jac);
  }
  NslTrace *shadow = nsl_callback_shadow(callee, (int)(cb - callee->callbacks), at, NULL);
  if (shadow && ns_paths_jacobian(&shadow->fn, nsl_callback_argument(cb, 'z'), jac)) return 0;
  ParameterJob job = {cb, at, room, jac};
  if (nsl_callback_call(callee, (int)(cb - callee->callbacks), at, room) != 0) return nsl_callback_forget(cb);
  if (nsl_callback_protected(cb, run_parameters, &job) == 0) return 0;
  cb->inexact = true;
  return nsl_callback_forget(cb);
}

/* The `exact` of a function. */
static int function_exactly(void *context, double t, const double *const *args, int by, double *jac) {
  NslFunction *f = context;
  NslPoint at = point_of(t, args);
  NslCallback *cb = &f->callee->callbacks[f->value];
  if (by == 2) {
    if (take_low(f) != 0) return nsl_callback_forget(cb);
    f->plain_known = f->jacobians_known = false;
    return differentiate_by_z(cb, &at, f->low, jac);
  }
  if (f->by[by] == -1) return 0;
  if (nsl_has_trace(cb) && stays(f, by)) return 0;
  if (cb->inexact) return 1;
  NslTrace *shadow = nsl_callback_shadow(f->callee, f->value, &at, NULL);
  if (shadow && cb->direct.argument[by] < 0) return 0;
  if (shadow && ns_paths_jacobian(&shadow->fn, cb->direct.argument[by], jac)) return 0;
  if (function_is_matrix(f) && !nsl_has_trace(cb)) return by == 0 ? differentiate_matrix(f, &at, jac) != 0 : 1;
  if (function_exact(f, by, &at, jac) == 0) return 0;
  if (!nsl_has_trace(cb)) cb->inexact = true;
  return nsl_callback_forget(cb);
}

/* Central differences of f, column by column. */
static int differentiate_by_differences(NslFunction *f, int by, const NslPoint *at, double *out) {
  NslCallee *callee = f->callee;
  int rows = nsl_callback_entries(&callee->callbacks[f->value]), cols = by == 0 ? callee->n : callee->m;
  const double *base = by == 0 ? at->x : at->lambda;
  double *moved = by == 0 ? f->x : f->lambda;
  if (take_low(f) != 0) return -1;
  double *low = f->low;
  for (int j = 0; j < cols; j++) {
    double step = 6e-6 * fmax(fabs(base[j]), 1);
    NslPoint there = *at;
    function_copy(moved, base, cols);
    *(by == 0 ? &there.x : &there.lambda) = moved;
    moved[j] = base[j] - step;
    if (nsl_callback_call(callee, f->value, &there, low) != 0) return -1;
    moved[j] = base[j] + step;
    if (nsl_callback_call(callee, f->value, &there, out + (size_t)j * (size_t)rows) != 0) return -1;
    for (int i = 0; i < rows; i++) out[i + j * rows] = (out[i + j * rows] - low[i]) / (2 * step);
  }
  f->plain_known = f->jacobians_known = false;
  return 0;
}

static int function_plain_jacobian(NslFunction *f, int by, const NslPoint *at, double *jac) {
  bool matrix = function_is_matrix(f), library = f->callee->callbacks[f->value].backing == NSL_LIBRARY;
  if (matrix && by == 0 && !library) {
    int failed = differentiate_matrix(f, at, jac);
    if (failed <= 0) return failed;
  }
  if (matrix) return differentiate_by_differences(f, by, at, jac);
  if (library) return f->by[by] >= 0 ? report_missing(f, f->by[by]) : 0;
  return function_exact(f, by, at, jac);
}

static int function_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  NslFunction *f = context;
  NslPoint at = point_of(t, args);
  int slot = f->by[by];
  if (slot == -1) return 0;
  if (slot >= 0 && f->callee->callbacks[slot].backing != NSL_ABSENT) return nsl_callback_call(f->callee, slot, &at, jac);
  if (nsl_has_trace(&f->callee->callbacks[f->value])) return stays(f, by) ? 0 : function_compiled_jacobian(f, by, &at, jac);
  return function_plain_jacobian(f, by, &at, jac);
}

NsFunction nsl_function(NslCallee *callee, int which, int value, int by_x, int by_lambda) {
  NslFunction *f = &callee->functions[which];
  f->callee = callee;
  f->value = value;
  f->by[0] = by_x;
  f->by[1] = by_lambda;
  NslCallback *cb = &callee->callbacks[value];
  if (cb->backing == NSL_ABSENT) return (NsFunction){0};
  bool smooth = cb->backing != NSL_LIBRARY;
  NsFunction function = {.value = function_value, .jacobian = function_jacobian, .context = f};
  if (!smooth) return function;
  for (int by = 0; by < 2; by++) cb->direct.own[by] = f->by[by] < 0 || callee->callbacks[f->by[by]].backing == NSL_ABSENT;
  function.direct = &cb->direct;
  function.along = function_along, function.exact = function_exactly;
  function.bowl = function_bowl, function.twist = function_twist, function.ignores = function_ignores;
  return function;
}

static int coefficient_value(void *context, double t, const double *const *args, double *out) {
  NslCallback *cb = context;
  NslPoint at = {t, NULL, NULL, args[0]};
  return nsl_callback_call(cb->callee, (int)(cb - cb->callee->callbacks), &at, out);
}

/* The `exact` of a coefficient, whose only argument is z. */
static int coefficient_exactly(void *context, double t, const double *const *args, int by, double *jac) {
  NslCallback *cb = context;
  NslPoint at = {t, NULL, NULL, args[0]};
  double *room = by == 0 ? ns_alloc((size_t)cb->entries + 1, sizeof *room) : NULL;
  int failed = room ? differentiate_by_z(cb, &at, room, jac) : 1;
  ns_free(room);
  return failed;
}

NsFunction nsl_coefficient_function(NslCallee *callee, int slot) {
  if (callee->callbacks[slot].backing == NSL_ABSENT) return (NsFunction){0};
  return (NsFunction){.value = coefficient_value, .context = &callee->callbacks[slot], .exact = coefficient_exactly};
}

int nsl_exact_jacobian(NslCallee *callee, int which, int by, double t, const double *const *args, double *out, bool *is_exact) {
  NslFunction *f = &callee->functions[which];
  NslPoint at = point_of(t, args);
  const NslCallback *cb = &callee->callbacks[f->value];
  *is_exact = nsl_has_trace(cb) || (cb->backing != NSL_LIBRARY && cb->slot->cols == '1');
  if (*is_exact) {
    int failed = function_exact(f, by, &at, out);
    if (!failed || !nsl_forget_error(callee->host->L, "does not propagate derivatives")) return failed;
    *is_exact = false;
  }
  return differentiate_by_differences(f, by, &at, out);
}
