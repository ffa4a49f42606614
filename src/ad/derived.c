/*
** derived.c
** Which way gives the derivatives of a callback, and the memory of the last point.
*/
#include "ad/derived.h"

#include <limits.h>

static void derived_copy(double *to, const double *from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

void ns_derived_reset(NsDerived *f) {
  f->plain_known = f->jacobians_known = f->no_duals = false;
}

/* Allocates the memory of a point at its first use. */
static int derived_take_point(NsDerived *f) {
  if (f->plain) return 0;
  f->x = ns_arena_doubles(f->arena, f->n);
  f->lambda = ns_arena_doubles(f->arena, f->m);
  f->z = ns_arena_doubles(f->arena, f->nz);
  f->plain = ns_arena_doubles(f->arena, f->n > f->m ? f->n : f->m);
  if (!f->arena->failed) return 0;
  f->arena->failed = false;
  f->plain = NULL;
  return f->owner->no_memory(f->callback);
}

void ns_derived_size(NsDerived *f, NsArena *arena, int n, int m, int nz) {
  f->arena = arena;
  f->n = n, f->m = m, f->nz = nz;
  f->x = f->lambda = f->z = f->plain = NULL;
  f->jacobian[0] = f->jacobian[1] = f->low = NULL;
  ns_derived_reset(f);
}

static bool derived_same_point(const NsDerived *f, const NsPoint *at) {
  bool same_z = f->nz == 0 || !at->z || (f->z && memcmp(f->z, at->z, (size_t)f->nz * sizeof *f->z) == 0);
  return same_z && f->t == at->t && (f->n == 0 || memcmp(f->x, at->x, (size_t)f->n * sizeof *f->x) == 0) &&
         (f->m == 0 || !at->lambda || memcmp(f->lambda, at->lambda, (size_t)f->m * sizeof *f->lambda) == 0);
}

static bool derived_compiled(const NsDerived *f) {
  return f->owner->compiled(f->callback);
}

static int derived_forget(const NsDerived *f) {
  return f->owner->forget(f->callback);
}

static int derived_evaluate(NsDerived *f, const NsPoint *at, double *out) {
  f->plain_known = f->jacobians_known = false;
  int failed = f->owner->call(f->callback, at, out);
  if (failed) return failed;
  if (f->matrix) return 0;
  if (derived_take_point(f) != 0) return -1;
  f->t = at->t;
  derived_copy(f->x, at->x, f->n);
  if (at->lambda) derived_copy(f->lambda, at->lambda, f->m);
  if (at->z && f->z) derived_copy(f->z, at->z, f->nz);
  derived_copy(f->plain, out, f->entries);
  f->plain_known = true;
  return 0;
}

static NsPoint derived_point(double t, const double *const *args) {
  return (NsPoint){t, args[0], args[1], args[2]};
}

/* A compiled callback needs no memory of the point, because its Jacobians are computed apart from the value. */
static int derived_value(void *context, double t, const double *const *args, double *out) {
  NsDerived *f = context;
  NsPoint at = derived_point(t, args);
  return derived_compiled(f) ? f->owner->call(f->callback, &at, out) : derived_evaluate(f, &at, out);
}

/* A pass at the last point, where the value is known. */
static NsPass pass_of(const NsDerived *f, NsPassKind kind) {
  return (NsPass){.kind = kind,
                  .at = {f->t, f->x, f->lambda, NULL},
                  .plain = f->matrix ? f->low : f->plain,
                  .jacobian = {f->jacobian[0], f->jacobian[1], NULL}};
}

/* Allocates the Jacobians at their first use. */
static int take_jacobians(NsDerived *f) {
  if (f->jacobian[0]) return 0;
  f->jacobian[0] = ns_arena_matrix(f->arena, f->entries, f->n + f->m);
  f->jacobian[1] = f->jacobian[0] ? f->jacobian[0] + (ptrdiff_t)f->entries * f->n : NULL;
  if (f->jacobian[0]) return 0;
  f->arena->failed = false;
  return f->owner->no_memory(f->callback);
}

/*
** Number of Jacobians by dual numbers in a run before a trace of the callback gives them: to make one takes about as long (11, measured on
** the clutch). Each trace that could not be made, or whose values were not the callback's, multiplies the number. A run after one with
** MANY times as many Jacobians will be as long: it begins with the trace.
*/
enum { TRACED_AFTER = 12, PATIENCE = 8, MANY = 4 };

/* With so many inputs for each output a tape takes reverse mode (ns_tape_jacobian), whose last bits are others. */
enum { FORWARD = 16 };

/*
** Whether x and lambda are adjacent inputs of a trace, on which its values depend: one sweep, which is as long as one for x, gives both
** Jacobians.
*/
static bool one_sweep(const NsDerived *f, const NsPaths *fn) {
  int first = f->direct->argument[0];
  return first >= 0 && f->direct->argument[1] == first + 1 && fn->size[first + 1] == f->m && fn->moves[first] &&
         fn->moves[first + 1] && f->n + f->m <= FORWARD * fn->outputs;
}

/*
** The Jacobians of f at its last point by a trace of its plain callback: the same bits as by dual numbers, without a call and without
** garbage. The value there must be the trace's, to the last bit. False: not available.
*/
static bool differentiate_by_trace(NsDerived *f) {
  const int *argument = f->direct->argument, sizes[] = {f->n, f->m};
  if (f->run != *f->runs) f->run = *f->runs, f->passes = f->passes / MANY > f->wait ? f->wait : 0;
  if (f->wait == 0) f->wait = TRACED_AFTER;
  if (++f->passes <= f->wait) return false;
  NsPoint at = {f->t, f->x, f->lambda, NULL};
  NsPaths *fn = f->owner->shadow(f->callback, &at, f->plain);
  bool good = fn && !ns_paths_is_loose(fn);
  if (!good) f->wait = f->wait < LONG_MAX / PATIENCE ? f->wait * PATIENCE : LONG_MAX, f->passes = 0;
  if (good && one_sweep(f, fn)) return ns_paths_jacobian_of(fn, fn->offset[argument[0]], f->n + f->m, f->jacobian[0]);
  for (int by = 0; by < 2 && good; by++)
    if (argument[by] >= 0) good = sizes[by] <= FORWARD * fn->outputs && ns_paths_jacobian(fn, argument[by], f->jacobian[by]);
  return good;
}

static int differentiate(NsDerived *f) {
  if (take_jacobians(f) != 0) return -1;
  if ((f->jacobians_known = differentiate_by_trace(f))) return 0;
  NsPass pass = pass_of(f, NS_PASS_JACOBIANS);
  int failed = f->owner->pass(f->callback, &pass);
  f->jacobians_known = !failed;
  return failed;
}

/* ---- compiled callbacks ---- */

/* Whether the trace shows that the value of a compiled callback does not depend on an argument. */
static bool stays(const NsDerived *f, int by) {
  const NsPaths *fn = f->direct->fn;
  int arg = f->direct->argument[by];
  return fn && arg >= 0 && !fn->moves[arg];
}

static int plain_jacobian(NsDerived *f, int by, const NsPoint *at, double *jac);

/* jac = the exact Jacobian of a compiled callback, from its trace; of one that has become plain, as of a plain one. */
static int compiled_jacobian(NsDerived *f, int by, const NsPoint *at, double *jac) {
  NsPaths *fn = f->direct->fn;
  int arg = f->direct->argument[by], k = 0;
  if (!fn || arg < 0 || !ns_paths_jacobian_known(fn, arg)) fn = f->owner->trace(f->callback, at);
  if (!fn) return derived_compiled(f) ? -1 : plain_jacobian(f, by, at, jac);
  arg = f->direct->argument[by];
  if (arg < 0) return 0;
  int count = f->entries * fn->size[arg];
  if (fn->outputs == 0) return memset(jac, 0, (size_t)count * sizeof *jac), 0;
  if (ns_paths_jacobian(fn, arg, jac)) return 0;
  if (fn->failed) {
    int failed = f->owner->raise_paths(f->callback);
    return failed ? failed : plain_jacobian(f, by, at, jac);
  }
  while (k < count && isfinite(jac[k])) k++;
  return k < count ? f->owner->refuse(f->callback, arg, k, jac[k]) : 0;
}

/* The derivatives of a compiled callback along a line. Positive when one is not finite. */
static int compiled_along(NsDerived *f, const NsPoint *at, double tdot, const double *w, double *first, double *second) {
  NsPaths *fn = f->owner->trace(f->callback, at);
  if (!fn) return -1;
  if (fn->outputs == 0) {
    memset(first, 0, (size_t)f->entries * sizeof *first);
    if (second) memset(second, 0, (size_t)f->entries * sizeof *second);
    return 0;
  }
  int arg = f->direct->argument[0];
  return !ns_paths_along(fn, f->time, tdot, arg < 0 ? 0 : arg, arg < 0 ? NULL : w, first, second);
}

int ns_derived_exactly(NsDerived *f, int by, const NsPoint *at, double *jac) {
  if (derived_compiled(f)) return compiled_jacobian(f, by, at, jac);
  if (!f->plain_known || !derived_same_point(f, at)) {
    int failed = derived_evaluate(f, at, jac);
    if (failed) return failed;
  }
  int failed = f->jacobians_known ? 0 : differentiate(f);
  if (failed < 0) return failed;
  derived_copy(jac, f->jacobian[by], f->entries * (by == 0 ? f->n : f->m));
  return failed;
}

/* Allocates the workspace for one value. */
static int take_low(NsDerived *f) {
  if (!f->low) f->low = ns_arena_doubles(f->arena, f->entries);
  if (f->low) return 0;
  f->arena->failed = false;
  return f->owner->no_memory(f->callback);
}

static int evaluate_matrix(NsDerived *f, const NsPoint *at) {
  if (take_low(f) != 0 || derived_take_point(f) != 0) return -1;
  int failed = f->owner->call(f->callback, at, f->low);
  if (failed) return failed;
  f->plain_known = f->jacobians_known = false;
  f->t = at->t;
  derived_copy(f->x, at->x, f->n);
  return 0;
}

/* Makes the point the last one, where the value of a plain callback is known. room: for the value of a vector. */
static int derived_reach(NsDerived *f, const NsPoint *at, double *room) {
  if (f->matrix) return evaluate_matrix(f, at);
  if (f->plain_known && derived_same_point(f, at)) return 0;
  if (!room && take_low(f) != 0) return -1;
  return derived_evaluate(f, at, room ? room : f->low);
}

/* An error of the callback is forgotten, because the caller can do without these derivatives. */
static int derived_along(void *context, double t, const double *const *args, double tdot, const double *w, double *first,
                         double *second) {
  NsDerived *f = context;
  NsPoint at = derived_point(t, args);
  bool compiled = derived_compiled(f);
  int failed = compiled ? compiled_along(f, &at, tdot, w, first, second) : derived_reach(f, &at, first);
  if (!compiled && !failed) {
    NsPass pass = pass_of(f, NS_PASS_LINE);
    pass.tdot = tdot, pass.w = w, pass.first = first, pass.second = second;
    failed = f->owner->pass(f->callback, &pass);
  }
  if (failed) derived_forget(f);
  return failed;
}

/* ---- higher derivatives ---- */

static void clear_pass(const NsDerived *f, const NsPass *pass) {
  size_t n = (size_t)f->n, entries = (size_t)f->entries;
  double *of[] = {pass->slope, pass->rate, pass->bend};
  if (pass->kind == NS_PASS_BOWL) memset(pass->second, 0, entries * n * n * sizeof *pass->second);
  for (int i = 0; i < 3; i++)
    if (of[i]) memset(of[i], 0, entries * n * sizeof *of[i]);
}

/* The trace of a callback, compiled or plain, with its inputs set. */
static NsPaths *derived_paths(NsDerived *f, const NsPoint *at) {
  return derived_compiled(f) ? f->owner->trace(f->callback, at) : f->owner->shadow(f->callback, at, NULL);
}

/* `of` has the kind, the line and the places. An error of the callback is forgotten, as for `along`. */
static int derived_pass(NsDerived *f, double t, const double *const *args, const NsPass *of) {
  NsPoint at = derived_point(t, args);
  NsPaths *paths = derived_paths(f, &at);
  int failed = 0;
  if (!paths && derived_compiled(f)) return derived_forget(f);
  if (paths && (paths->outputs == 0 || f->direct->argument[0] < 0)) return clear_pass(f, of), 0;
  if (!paths) failed = derived_reach(f, &at, NULL);
  if (!failed) {
    NsPass pass = pass_of(f, of->kind);
    pass.paths = paths, pass.tdot = of->tdot, pass.w = of->w;
    pass.second = of->second, pass.slope = of->slope, pass.rate = of->rate, pass.bend = of->bend;
    failed = f->owner->pass(f->callback, &pass);
  }
  if (failed) derived_forget(f);
  return failed;
}

static int derived_bowl(void *context, double t, const double *const *args, double *second) {
  return derived_pass(context, t, args, &(NsPass){.kind = NS_PASS_BOWL, .second = second});
}

static int derived_twist(void *context, double t, const double *const *args, double tdot, const double *w, double *slope,
                         double *rate, double *bend) {
  NsPass of = {.kind = NS_PASS_TWIST, .tdot = tdot, .w = w, .slope = slope, .rate = rate, .bend = bend};
  return derived_pass(context, t, args, &of);
}

/* The trace tells. */
static bool derived_ignores(void *context, double t, const double *const *args, int by) {
  NsDerived *f = context;
  NsPoint at = derived_point(t, args);
  const NsPaths *paths = derived_paths(f, &at);
  if (!paths && derived_compiled(f)) derived_forget(f);
  if (!paths) return false;
  int arg = by == 2 ? f->parameters : f->direct->argument[by];
  return paths->outputs == 0 || arg < 0 || !paths->moves[arg];
}

/* ---- exact derivatives ---- */

/*
** out = the derivative of a matrix by x, by dual numbers. Positive when the callback does not accept them: the error is
** forgotten, and they are not tried again until the callback changes.
*/
static int differentiate_matrix(NsDerived *f, const NsPoint *at, double *out) {
  if (f->no_duals) return 1;
  int failed = evaluate_matrix(f, at);
  if (failed) return failed < 0 ? failed : 1;
  NsPass pass = pass_of(f, NS_PASS_JACOBIANS);
  pass.jacobian[0] = out, pass.jacobian[1] = NULL;
  if (f->owner->pass(f->callback, &pass) == 0) return 0;
  f->no_duals = true;
  return derived_forget(f);
}

static int derived_exact(void *context, double t, const double *const *args, int by, double *jac) {
  NsDerived *f = context;
  NsPoint at = derived_point(t, args);
  bool compiled = derived_compiled(f);
  if (by == 2) {
    if (take_low(f) != 0) return derived_forget(f);
    f->plain_known = f->jacobians_known = false;
    return f->owner->by_z(f->callback, &at, f->low, jac);
  }
  if (f->by[by] == -1) return 0;
  if (compiled && stays(f, by)) return 0;
  if (*f->inexact) return 1;
  NsPaths *shadow = f->owner->shadow(f->callback, &at, NULL);
  if (shadow && f->direct->argument[by] < 0) return 0;
  if (shadow && ns_paths_jacobian(shadow, f->direct->argument[by], jac)) return 0;
  if (f->matrix && !compiled) return by == 0 ? differentiate_matrix(f, &at, jac) != 0 : 1;
  if (ns_derived_exactly(f, by, &at, jac) == 0) return 0;
  if (!derived_compiled(f)) *f->inexact = true;
  return derived_forget(f);
}

int ns_derived_differences(NsDerived *f, int by, const NsPoint *at, double *out) {
  int rows = f->entries, cols = by == 0 ? f->n : f->m;
  const double *base = by == 0 ? at->x : at->lambda;
  if (take_low(f) != 0 || derived_take_point(f) != 0) return -1;
  double *low = f->low, *moved = by == 0 ? f->x : f->lambda;
  for (int j = 0; j < cols; j++) {
    double step = 6e-6 * fmax(fabs(base[j]), 1);
    NsPoint there = *at;
    derived_copy(moved, base, cols);
    *(by == 0 ? &there.x : &there.lambda) = moved;
    moved[j] = base[j] - step;
    if (f->owner->call(f->callback, &there, low) != 0) return -1;
    moved[j] = base[j] + step;
    if (f->owner->call(f->callback, &there, out + (size_t)j * (size_t)rows) != 0) return -1;
    for (int i = 0; i < rows; i++) out[i + j * rows] = (out[i + j * rows] - low[i]) / (2 * step);
  }
  f->plain_known = f->jacobians_known = false;
  return 0;
}

static int plain_jacobian(NsDerived *f, int by, const NsPoint *at, double *jac) {
  if (f->matrix && by == 0 && !f->native) {
    int failed = differentiate_matrix(f, at, jac);
    if (failed <= 0) return failed;
  }
  if (f->matrix) return ns_derived_differences(f, by, at, jac);
  if (f->native) return f->by[by] >= 0 ? f->owner->missing(f->callback, f->by[by]) : 0;
  return ns_derived_exactly(f, by, at, jac);
}

static int derived_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  NsDerived *f = context;
  NsPoint at = derived_point(t, args);
  if (f->by[by] == -1) return 0;
  if (f->given[by]) return f->owner->call(f->given[by], &at, jac);
  if (derived_compiled(f)) return stays(f, by) ? 0 : compiled_jacobian(f, by, &at, jac);
  return plain_jacobian(f, by, &at, jac);
}

NsFunction ns_derived_function(NsDerived *f) {
  NsFunction function = {.value = derived_value, .jacobian = derived_jacobian, .context = f};
  if (f->native) return function;
  function.direct = f->direct;
  function.along = derived_along, function.exact = derived_exact;
  function.bowl = derived_bowl, function.twist = derived_twist, function.ignores = derived_ignores;
  return function;
}
