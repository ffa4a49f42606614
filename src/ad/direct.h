/*
** direct.h
** Calls of native code without the layers of a callback: an NsFunction that has one path alone, in native code.
*/
#pragma once

#include <math.h>

#include "ad/paths.h"
#include "base/function.h"

/*
** Where the inputs of a compiled function come from: the time, then vectors of NsFunction's args. The owner of the function keeps it up to
** date. A direct call is an attempt: when there is no native code, or a number is not finite, the function itself must be called.
*/
typedef struct NsDirect {
  NsPaths *fn; /* NULL: there is none now */
  bool timed;
  int inputs;               /* number of vectors that are not empty */
  int of[NS_FUNCTION_ARGS]; /* their numbers in args */
  int count[NS_FUNCTION_ARGS];
  int outputs;
  int argument[2]; /* the argument numbers in fn for the Jacobians by args[0] and args[1]; -1: no such argument */
  bool own[2];     /* these Jacobians are derivatives of the function, not callbacks of a script */
} NsDirect;

/* The path of native code; NULL: there is none. */
static inline NsPath *ns_direct_path(const NsDirect *d) {
  NsPath *path = d && d->fn ? d->fn->alone : NULL;
  return path && path->native && *path->open && !path->pending && path->outputs == d->outputs ? path : NULL;
}

/* Writes the inputs; false: an argument is not given. */
static inline bool ns_direct_load(const NsDirect *d, double t, const double *const *args) {
  double *in = d->fn->in;
  if (d->timed) *in++ = t;
  for (int a = 0; a < d->inputs; a++) {
    const double *from = args[d->of[a]];
    int n = d->count[a];
    if (!from) return false;
    for (; n >= 2; n -= 2, in += 2, from += 2) memcpy(in, from, 2 * sizeof *in);
    if (n) *in++ = *from;
  }
  if (d->fn->touched) ns_paths_clear_last(d->fn);
  return true;
}

/* out = the value. */
static inline bool ns_direct_value(const NsDirect *d, double t, const double *const *args, double *out) {
  NsPath *path = ns_direct_path(d);
  double nothing = 0; /* NaN when a number is not finite */
  if (!path || !ns_direct_load(d, t, args)) return false;
  path->count++;
  path->native(d->fn->in, out);
  for (int i = 0; i < d->outputs; i++) nothing += out[i] * 0;
  return nothing == 0;
}

/* Whether a Jacobian is 0, or the same at all points and known. */
static inline bool ns_direct_still(const NsDirect *d, const NsPath *path, int by) {
  int arg = d->argument[by];
  return arg < 0 || !d->fn->moves[arg] || (d->fn->constant[arg] && path->jac_known);
}

/* jac (`entries` numbers) = the Jacobian by args[by], which `path` has. */
static inline bool ns_direct_copy(const NsDirect *d, const NsPath *path, int by, int entries, double *jac) {
  int arg = d->argument[by];
  double nothing = 0, more = 0; /* NaN when a number is not finite */
  if (arg < 0 || !d->fn->moves[arg]) {
    for (int i = 0; i < entries; i++) jac[i] = 0;
    return true;
  }
  const double *from = path->jac + (size_t)d->fn->offset[arg] * (size_t)d->outputs;
  for (; entries >= 2; entries -= 2, from += 2, jac += 2) {
    memcpy(jac, from, 2 * sizeof *jac);
    nothing += from[0] * 0, more += from[1] * 0;
  }
  if (entries) *jac = *from, nothing += *from * 0;
  return nothing + more == 0;
}

/* jac (`entries` numbers) = the Jacobian by args[by]; all of it is written. */
static inline bool ns_direct_jacobian(const NsDirect *d, double t, const double *const *args, int by, int entries,
                                      double *jac) {
  NsPath *path = ns_direct_path(d);
  if (!path || !path->native_jacobian || !d->own[by]) return false;
  if (!ns_direct_still(d, path, by)) {
    if (!ns_direct_load(d, t, args)) return false;
    ns_path_find_jacobian(path, d->fn->in);
  }
  return ns_direct_copy(d, path, by, entries, jac);
}

/* The same for both Jacobians, by args[0] (x_entries numbers) and by args[1]. */
static inline bool ns_direct_jacobians(const NsDirect *d, double t, const double *const *args, int x_entries, double *by_x,
                                       int lambda_entries, double *by_lambda) {
  NsPath *path = ns_direct_path(d);
  if (!path || !path->native_jacobian || !d->own[0] || !d->own[1]) return false;
  if (!ns_direct_still(d, path, 0) || !ns_direct_still(d, path, 1)) {
    if (!ns_direct_load(d, t, args)) return false;
    ns_path_find_jacobian(path, d->fn->in);
  }
  return ns_direct_copy(d, path, 0, x_entries, by_x) && ns_direct_copy(d, path, 1, lambda_entries, by_lambda);
}

/* The value of an NsFunction, directly where that is possible. */
static inline int ns_function_value(const NsFunction *f, double t, const double *const *args, double *out) {
  return ns_direct_value(f->direct, t, args, out) ? 0 : f->value(f->context, t, args, out);
}
