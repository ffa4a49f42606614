/*
** sensitivity.c
** Derivatives by parameters: the time of an event, its reset.
*/
#include "integrators/sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/sensitivity_tape.h"
#include "linalg/dense.h"
#include "model/difference.h"
#include "ode/saltation.h"

/* ---- making ---- */

/* The parameters of an island: those of the run, or its own, where numbers that act have copies in other islands. */
static const NsParameter *island_parameters(NsSensitivity *s, const NsNsds *graph, const NsParameter *parameters, int p) {
  bool copies = false;
  for (int j = 0; j < p && !s->arena.failed; j++) copies = copies || (s->acts[j] && parameters[j].ncopies > 1);
  NsParameter *own = copies ? ns_arena_take(&s->arena, (size_t)p, sizeof *own) : NULL;
  for (int j = 0; j < p && own; j++) {
    own[j] = parameters[j];
    if (s->acts[j]) (void)ns_parameter_own(&s->arena, &own[j], graph); /* a failure stays in the arena */
  }
  return own ? own : parameters;
}

NsStatus ns_sensitivity_new(NsSensitivity **out, const NsNsds *graph, const NsParameter *parameters, int p,
                            const NsSensitivityOptions *options) {
  NsSensitivity *s = *out = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  NsArena *arena = &s->arena;
  for (int d = 0; d < graph->nds; d++) s->nx += graph->ds[d]->n;
  s->options = options;
  s->p = p;
  int n = s->n = s->nx;
  s->acts = ns_arena_take(arena, (size_t)p, sizeof *s->acts);
  double **matrices[] = {&s->S_k,  &s->S,         &s->X,         &s->X_before,      &s->before,
                         &s->most, &s->diff.most, &s->columns.P, &s->columns.slope, &s->columns.dense};
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) *matrices[i] = ns_arena_matrix(arena, n, p);
  NS_ARENA_VECTORS(arena, n, &s->f, &s->rate_most, &s->diff.u, &s->direction, &s->value, &s->size, &s->diff.part, &s->diff.far,
                   &s->diff.kept);
  s->known = ns_arena_take(arena, (size_t)p, sizeof *s->known);
  NS_ARENA_VECTORS(arena, p, &s->dt, &s->diff.parameter_part, &s->least);
  s->xdot = ns_arena_doubles(arena, n);
  s->diff.room = ns_arena_matrix(arena, NS_DIFFERENCE_ROOM, n + 1);
  s->piece.J = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE * (ptrdiff_t)n, n);
  s->piece.P = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE * (ptrdiff_t)n, p);
  s->nodes = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE * (ptrdiff_t)n, p);
  for (int j = 0; j < p && !arena->failed; j++) {
    s->acts[j] = parameters[j].number && ns_parameter_of(&parameters[j], graph);
    s->driven = s->driven || s->acts[j];
  }
  s->parameters = island_parameters(s, graph, parameters, p);
  if (!arena->failed && (!options->adjoint || ns_run_tape_new(s) == NS_OK)) return NS_OK;
  ns_sensitivity_free(s);
  *out = NULL;
  return NS_ENOMEM;
}

void ns_sensitivity_free(NsSensitivity *s) {
  if (!s) return;
  if (s->free_lin) s->free_lin(s->lin);
  ns_variational_free(s->equations.variational);
  ns_run_tape_free(s->tape);
  ns_arena_release(&s->arena);
  ns_free(s);
}

void ns_sensitivity_initial(NsSensitivity *s, const NsNsds *graph) {
  memset(s->X, 0, (size_t)s->nx * (size_t)s->p * sizeof *s->X);
  for (int j = 0; j < s->p; j++) {
    const NsParameter *parameter = &s->parameters[j];
    for (int d = 0, first = 0; d < graph->nds && !parameter->number; first += graph->ds[d++]->n)
      if (parameter->owner == graph->ds[d]) s->X[first + parameter->state + (ptrdiff_t)j * s->nx] = 1;
  }
}

void ns_sensitivity_show(const NsSensitivityOptions *options, int p, int rows, const double *X, double *out) {
  int places = options->places, shown = p - places;
  if (out != X) memcpy(out, X, (size_t)rows * (size_t)shown * sizeof *out);
  if (places == 0 || shown == 0 || rows == 0) return;
  ns_dense_gemm(rows, shown, places, 1, X + (ptrdiff_t)rows * shown, rows, options->held, places, 1, out, rows);
}

void ns_sensitivity_begin(NsSensitivity *s, double t) {
  size_t bytes = (size_t)s->n * (size_t)s->p * sizeof *s->S;
  bool again = s->begun && t != s->t; /* the interval is computed again */
  if (s->tape) ns_run_tape_begin(s->tape, again);
  else if (s->begun) memcpy(again ? s->S : s->S_k, again ? s->S_k : s->S, bytes);
  s->t = s->t_k = t;
}

/* ---- the time of an event ---- */

/* dt[j] for one guard. *grazes: its rate is nearly 0; then dt is NaN where it does not stay at 0. */
static NsStatus guard_time(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u, double *dt,
                           bool *grazes, NsError *err) {
  NsGuardSlope slope;
  double *by_p = s->least;
  NsStatus status = ns_sensitivity_guard(s, lin, guard, t, u, &slope, by_p, err);
  *grazes = slope.grazes;
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double change = by_p[j];
    for (int i = 0; i < s->n; i++) change += s->value[i] * s->S[i + (ptrdiff_t)j * s->n];
    dt[j] = *grazes ? NAN : -change / slope.rate;
  }
  return status;
}

/* S before an event, and the rates there. */
static NsStatus event_before(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err) {
  if (!s->tape) memcpy(s->before, s->S, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  NsStatus status = lin->rate(lin->context, t, u, s->f, err);
  for (int i = 0; i < s->n && status == NS_OK; i++) s->rate_most[i] = fmax(s->rate_most[i], fabs(s->f[i]));
  return status;
}

double *ns_event_slopes_add(NsEventSlopes *log) {
  if (log->count == log->capacity) {
    long capacity = 2 * log->capacity + 16;
    double *more = ns_resize(log->dt, (size_t)capacity * (size_t)log->p, sizeof *more);
    if (!more) return NULL;
    log->dt = more, log->capacity = capacity;
  }
  return memset(log->dt + (size_t)log->count++ * (size_t)log->p, 0, (size_t)log->p * sizeof(double));
}

/* Adds s->dt to the log. */
static NsStatus event_tell(NsSensitivity *s, NsError *err) {
  double *row = ns_event_slopes_add(s->log);
  if (!row) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(row, s->dt, (size_t)s->p * sizeof *s->dt);
  s->told = s->log->count;
  return NS_OK;
}

NsStatus ns_sensitivity_event(NsSensitivity *s, const NsLinearisation *lin, const NsLinearisationGuard *guards, int count,
                              double t, const double *u, NsError *err) {
  bool grazes = false;
  double *other = s->columns.slope;
  NsStatus status = event_before(s, lin, t, u, err);
  if (status == NS_OK && s->tape) return ns_run_tape_event(s, lin, guards, count, t, u, err);
  for (int g = 0; g < count && status == NS_OK; g++) {
    status = guard_time(s, lin, guards[g].k, t, u, g == 0 ? s->dt : other, &grazes, err);
    if (status != NS_OK || s->options->one_sided) break;
    if (grazes) return ns_sensitivity_grazes(t, guards[g].name, err);
    if (g > 0 && !ns_sensitivity_one_event(s->p, s->dt, other))
      return ns_sensitivity_order(t, guards[0].name, guards[g].name, err);
  }
  return status == NS_OK ? event_tell(s, err) : status;
}

NsStatus ns_sensitivity_falls(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u, bool *falls,
                              NsError *err) {
  NsGuardSlope slope = {0};
  NsStatus status = event_before(s, lin, t, u, err);
  if (status == NS_OK) status = ns_sensitivity_slope(s, lin, guard, t, u, &slope, err);
  *falls = slope.rate < 0 && !slope.grazes;
  return status;
}

NsStatus ns_sensitivity_restart(NsSensitivity *s, const NsLinearisation *lin, bool fixed, double t, const double *u,
                                NsError *err) {
  NsStatus status = event_before(s, lin, t, u, err);
  if (s->tape) return ns_run_tape_restart(s, t), status;
  for (int j = 0; j < s->p; j++) s->dt[j] = fixed ? 0 : NAN;
  if (status == NS_OK) status = event_tell(s, err);
  memset(s->dt, 0, (size_t)s->p * sizeof *s->dt);
  return status;
}

NsStatus ns_sensitivity_same_event(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err) {
  NsStatus status = event_before(s, lin, t, u, err);
  if (status == NS_OK && s->tape) return ns_run_tape_refuse(s->tape, "events are simultaneous", err);
  return status == NS_OK ? event_tell(s, err) : status;
}

/* ---- the reset ---- */

void ns_sensitivity_undo(NsSensitivity *s) {
  if (s->tape) {
    ns_run_tape_undo(s);
    return;
  }
  double *told = s->log->dt + (size_t)(s->told - 1) * (size_t)s->p;
  memcpy(s->S, s->before, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  for (int j = 0; j < s->p; j++) s->dt[j] = told[j] = NAN;
}

void ns_sensitivity_enter(NsSensitivity *s) {
  if (s->tape) ns_run_tape_enter(s);
  else ns_crossing_move(s->n, s->p, 1, s->f, s->dt, s->S);
}

NsStatus ns_sensitivity_map(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t, const double *u,
                            NsError *err) {
  if (s->tape) return ns_run_tape_map(s, lin, map, t, u, err);
  bool exact;
  NsStatus status = ns_sensitivity_map_terms(s, lin, map, t, u, s->piece.J, s->columns.P, &exact, err);
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double *S = s->S + (ptrdiff_t)j * s->n, dt = isnan(s->dt[j]) ? 0 : s->dt[j];
    memcpy(s->direction, S, (size_t)s->n * sizeof *S);
    if (exact) ns_dense_gemv(false, s->n, s->n, 1, s->piece.J, s->n, s->direction, 1, 0, S, 1);
    else status = ns_sensitivity_along(s, lin, map, 0, s->n, t, u, dt, s->direction, s->known[j] ? -1 : j, S, err);
    if (status == NS_OK && exact && !s->known[j] && s->acts[j])
      status = ns_sensitivity_along(s, lin, map, 0, s->n, t, u, 0, NULL, j, s->value, err);
    for (int i = 0; i < s->n && status == NS_OK; i++) {
      if (s->known[j]) S[i] += s->columns.P[i + (ptrdiff_t)j * s->n];
      else if (exact && s->acts[j]) S[i] += s->value[i];
    }
  }
  return status;
}

NsStatus ns_sensitivity_leave(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err) {
  NsStatus status = lin->rate(lin->context, t, u, s->value, err);
  if (status == NS_OK && s->tape) return ns_run_tape_leave(s, s->value, err);
  if (status == NS_OK) ns_crossing_move(s->n, s->p, -1, s->value, s->dt, s->S);
  return status;
}
