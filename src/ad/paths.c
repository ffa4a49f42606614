/*
** paths.c
** The paths of a function: finding one, its values and derivatives.
*/
#include "ad/paths.h"

#include <math.h>
#include <string.h>

/* ---- the paths ---- */

void ns_paths_argument(NsPaths *fn, int size) {
  fn->offset[fn->nargs] = fn->inputs;
  fn->size[fn->nargs++] = size;
  fn->inputs += size;
}

size_t ns_paths_room(const NsPaths *fn) {
  return 3 * (size_t)fn->inputs;
}

void ns_paths_arrays(NsPaths *fn, double *room) {
  fn->in = room;
  fn->direction = fn->in + fn->inputs;
  fn->known_in = fn->direction + fn->inputs;
}

void ns_path_measure(NsPath *path) {
  NsTapeView view = ns_tape_view(path->tape);
  path->outputs = view.outputs;
  path->guards = view.guards;
  path->guard = view.guard;
}

size_t ns_path_compare_room(const NsPath *path) {
  return 2 * ((size_t)path->outputs + (size_t)path->guards + (size_t)path->outputs * (size_t)path->inputs) + 1;
}

bool ns_path_native_agrees(const NsPath *path, const double *in, double *room) {
  size_t count = ns_path_compare_room(path) / 2, values = (size_t)path->outputs + (size_t)path->guards;
  double *other = room + count;
  memset(room, 0, 2 * count * sizeof *room);
  ns_tape_value(path->tape, in, room);
  if (path->guards > 0) ns_tape_guards(path->tape, room + path->outputs);
  path->native(in, other);
  if (path->native_jacobian) {
    ns_tape_jacobian(path->tape, in, 0, path->inputs, room + values);
    path->native_jacobian(in, other + values);
  }
  for (size_t i = 0; i < count; i++) /* a native nan: see paths_slopes */
    if (isfinite(room[i]) && memcmp(&room[i], &other[i], sizeof *room) != 0 && (i < values || isfinite(other[i]))) return false;
  return true;
}

/* Sets what the outputs of all paths depend on. A path with guards is one of several. */
static void paths_learn(NsPaths *fn, const NsPath *path) {
  for (int a = 0; a < fn->nargs; a++) {
    int first = fn->offset[a], count = fn->size[a];
    fn->moves[a] = count > 0 && (path->guards > 0 || ns_tape_depends(path->tape, first, count));
    fn->constant[a] = path->guards == 0 && ns_tape_constant_slopes(path->tape, first, count);
  }
}

void ns_paths_add(NsPaths *fn, NsPath *path) {
  paths_learn(fn, path);
  fn->outputs = path->outputs;
  fn->list[fn->paths++] = fn->path = path;
  fn->alone = path->guards == 0 ? path : NULL;
  fn->known = false;
}

void ns_paths_cut(NsPaths *fn, int count) {
  fn->paths = count;
  fn->path = count > 0 ? fn->list[count - 1] : NULL;
  fn->alone = NULL; /* a path alone is the first one */
  fn->known = false;
}

/* ---- values ---- */

double *ns_paths_input(NsPaths *fn, int arg) {
  return fn->in + fn->offset[arg];
}

void ns_paths_clear_last(NsPaths *fn) {
  int last = fn->nargs - 1;
  memset(ns_paths_input(fn, last), 0, (size_t)fn->size[last] * sizeof *fn->in);
  fn->touched = false;
}

/* The values and, behind them, the guards of a path at `in`. */
static inline void path_evaluate(NsPath *path, const double *in, double *out) {
  if (path->native && *path->open) {
    path->native(in, out);
  } else if (path->tape) {
    ns_tape_value(path->tape, in, out);
    if (path->guards > 0) ns_tape_guards(path->tape, out + path->outputs);
  } else {
    for (int i = 0; i < path->outputs + path->guards; i++) out[i] = NAN;
  }
}

/* The first guard from number `from` on that does not hold at the last evaluation of the path; -1: all hold. */
static int path_leaves(const NsPath *path, int from) {
  for (int i = from; i < path->guards; i++)
    if (!ns_tape_guard_holds(&path->guard[i], path->out[path->outputs + i])) return i;
  return -1;
}

/* A path that has the guards of `path` before number k with their values, and number k with its value at the last evaluation; or NULL. */
static NsPath *path_beside(const NsPaths *fn, const NsPath *path, int k) {
  for (int i = 0; i < fn->paths; i++) {
    NsPath *p = fn->list[i];
    int j = 0;
    if (p->guards <= k || !ns_tape_guard_holds(&p->guard[k], path->out[path->outputs + k])) continue;
    while (j < k && ns_tape_guard_holds(&p->guard[j], path->guard[j].value)) j++;
    if (j == k) return p;
  }
  return NULL;
}

/* The path at `in`, evaluated there; NULL: it is not known. Paths with the same guards before one begin with the same operations. */
static NsPath *paths_find(NsPaths *fn, const double *in) {
  NsPath *path = fn->path;
  int k = -1;
  fn->known = false;
  if (!path) return NULL;
  do {
    path_evaluate(path, in, path->out);
    k = path_leaves(path, k + 1);
    if (k >= 0) path = path_beside(fn, path, k);
  } while (k >= 0 && path);
  if (!path) return NULL;
  memcpy(fn->known_in, in, (size_t)fn->inputs * sizeof *in);
  fn->known = true;
  fn->failed = false;
  return fn->path = path;
}

NsPath *ns_paths_at(NsPaths *fn, const double *in) {
  NsPath *path = fn->path;
  if (fn->alone) return path;
  if (path && fn->known && memcmp(fn->known_in, in, (size_t)fn->inputs * sizeof *in) == 0) return path;
  path = paths_find(fn, in);
  if (path || fn->closed) return path;
  return fn->grow(fn, in) ? paths_find(fn, in) : NULL;
}

bool ns_paths_knows(NsPaths *fn, const double *in) {
  return fn->alone || paths_find(fn, in);
}

/* The path at `in`; most functions have one alone. */
static inline NsPath *paths_take(NsPaths *fn, const double *in) {
  return fn->alone ? fn->alone : ns_paths_at(fn, in);
}

/* Evaluations between two questions to the compiler: that costs as much as a few of them. */
enum { PATIENCE = 256 };

static inline void path_count(NsPaths *fn, NsPath *path, const double *in) {
  path->count++;
  if (path->pending && path->count % PATIENCE == 0 && !fn->closed) fn->adopt(fn, path, in);
}

bool ns_paths_value_at(NsPaths *fn, const double *in, double *out) {
  NsPath *path = paths_take(fn, in);
  if (!path) {
    for (int i = 0; i < fn->outputs; i++) out[i] = NAN;
    return false;
  }
  path_count(fn, path, in);
  if (path == fn->alone) path_evaluate(path, in, out);
  else memcpy(out, path->out, (size_t)path->outputs * sizeof *out);
  return true;
}

bool ns_paths_value(NsPaths *fn, double *out) {
  if (out) return ns_paths_value_at(fn, fn->in, out);
  NsPath *path = paths_take(fn, fn->in);
  if (!path) return false;
  path_count(fn, path, fn->in);
  if (path == fn->alone) path_evaluate(path, fn->in, path->out);
  fn->out = path->out;
  return true;
}

bool ns_paths_agrees(NsPaths *fn, const double *plain) {
  bool same = true;
  if (!ns_paths_value(fn, NULL)) return false;
  for (int i = 0; i < fn->outputs; i++) same = same && (fn->out[i] == plain[i] || (isnan(fn->out[i]) && isnan(plain[i])));
  if (same) return true;
  double *slack = fn->direction; /* all 0 between evaluations; it has room for as many numbers as there are inputs */
  if (fn->outputs > fn->inputs) return false;
  ns_tape_slack(fn->path->tape, fn->in, slack);
  same = true;
  for (int i = 0; i < fn->outputs; i++) same = same && fabs(fn->out[i] - plain[i]) <= slack[i];
  memset(slack, 0, (size_t)fn->outputs * sizeof *slack);
  return same;
}

static bool all_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return false;
  return true;
}

void ns_path_find_jacobian(NsPath *path, const double *in) {
  size_t bytes = (size_t)path->inputs * sizeof *in;
  if (path->jac_known && memcmp(path->jac_in, in, bytes) == 0) return;
  path->native_jacobian(in, path->jac);
  memcpy(path->jac_in, in, bytes);
  path->jac_known = true;
}

bool ns_paths_jacobian_known(const NsPaths *fn, int arg) {
  return !fn->moves[arg] || (fn->constant[arg] && fn->path->jac_known);
}

/* The path at fn->in for derivatives of `entries` numbers; NULL: there is none, and the numbers are nan. */
static inline NsPath *path_of_slopes(NsPaths *fn, double *slopes, size_t entries) {
  NsPath *path = paths_take(fn, fn->in);
  if (path && path->tape) return path;
  for (size_t i = 0; i < entries; i++) slopes[i] = NAN;
  return NULL;
}

bool ns_paths_is_loose(const NsPaths *fn) {
  NsTapeView view = ns_tape_view(fn->path->tape);
  for (int i = 0; i < view.steps; i++)
    if (view.step[i].loose) return true;
  return false;
}

/*
** The derivatives by `count` inputs; constant: they are the same everywhere. Native code does not skip zero partials; where that matters an
** entry is not finite, and the tape is evaluated instead.
*/
static inline bool paths_slopes(NsPaths *fn, int first, int count, bool constant, double *jac) {
  size_t entries = (size_t)fn->outputs * (size_t)count;
  NsPath *path = path_of_slopes(fn, jac, entries);
  if (!path) return false;
  if (path->native_jacobian && *path->open) {
    if (!constant || !path->jac_known) ns_path_find_jacobian(path, fn->in);
    memcpy(jac, path->jac + (size_t)first * (size_t)fn->outputs, entries * sizeof *jac);
    if (all_finite(jac, entries)) return true;
  }
  ns_tape_jacobian(path->tape, fn->in, first, count, jac);
  return all_finite(jac, entries);
}

bool ns_paths_jacobian(NsPaths *fn, int arg, double *jac) {
  int count = fn->size[arg];
  size_t entries = (size_t)fn->outputs * (size_t)count;
  if (entries == 0) return true;
  if (!fn->moves[arg] && fn->path) return memset(jac, 0, entries * sizeof *jac), true;
  return paths_slopes(fn, fn->offset[arg], count, fn->constant[arg], jac);
}

bool ns_paths_jacobian_of(NsPaths *fn, int first, int count, double *jac) {
  return fn->outputs * count == 0 || paths_slopes(fn, first, count, false, jac);
}

bool ns_paths_vjp(NsPaths *fn, const double *in, const double *weight, double *bar) {
  const NsPath *path = paths_take(fn, in);
  if (!path) return false;
  if (path->native_vjp && *path->open) {
    path->native_vjp(in, weight, bar);
    if (all_finite(bar, (size_t)fn->inputs)) return true;
  }
  return path->tape && ns_tape_vjp(path->tape, in, weight, bar) && all_finite(bar, (size_t)fn->inputs);
}

bool ns_paths_along(NsPaths *fn, int time, double tdot, int arg, const double *w, double *first, double *second) {
  double *to = fn->direction + (ns_paths_input(fn, arg) - fn->in);
  size_t count = (size_t)fn->outputs;
  int n = fn->size[arg];
  const NsPath *path = path_of_slopes(fn, first, count);
  if (!path) return false;
  if (w && n > 0) memcpy(to, w, (size_t)n * sizeof *w);
  if (time >= 0) fn->direction[ns_paths_input(fn, time) - fn->in] = tdot;
  ns_tape_along(path->tape, fn->in, fn->direction, first, second);
  memset(fn->direction, 0, (size_t)fn->inputs * sizeof *fn->direction);
  return all_finite(first, count) && (!second || all_finite(second, count));
}

/* ---- higher derivatives ---- */

size_t ns_path_jet_room(const NsPath *path, NsJet jet) {
  NsTapeView view = ns_tape_view(path->tape);
  return (size_t)ns_jet_size(jet) * (size_t)(view.inputs + view.constants + view.steps);
}

ptrdiff_t ns_path_jets(const NsPath *path, const double *in, int time, double tdot, int first, int n, NsJet jet,
                       const double *seed, double *room, double *all) {
  NsTapeView view = ns_tape_view(path->tape);
  ptrdiff_t np = ns_jet_size(jet);
  size_t bytes = (size_t)np * sizeof(double);
  memset(room, 0, (size_t)view.inputs * bytes);
  if (time >= 0) room[np * time] = tdot;
  memcpy(room + np * first, seed, (size_t)n * bytes);
  ns_tape_jet(path->tape, jet, in, room);
  for (int i = 0; i < view.outputs; i++) memcpy(all + i * np, room + np * view.output[i], bytes);
  for (ptrdiff_t k = 0; k < np * view.outputs; k++)
    if (!isfinite(all[k])) return k;
  return -1;
}
