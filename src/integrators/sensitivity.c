/*
** sensitivity.c
** Derivatives by parameters: differences of frozen maps, the time of an event, its reset.
*/
#include "integrators/sensitivity.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/difference.h"

/* The first displacement of a difference, as a part of the sizes of what is displaced; it is divided by 3 and then halved. */
static const double FIRST_PART = 1.0 / 32;

/* The size of a state is at least this part of what it moves in a step of the grid (2^-8: a start at 1e-15 instead of 0 has no size). */
static const double MOVED_PART = 1.0 / 256;

/* After a failure of the map a difference is tried again with displacements that are smaller by this factor. */
static const double SMALLER = 1.0 / 1024;
enum { DIFFERENCE_TRIALS = 3 };

/*
** An event grazes when the rate of its guard is below this part of the sum of its terms at the sizes of the rates so far. 1e-7: the
** guard then falls 1e-14 of its range below 0, less than the accuracy of an event; the last of infinitely many bounces has 1e-6.
*/
static const double GRAZING = 1e-7;

/* Guards that reach 0 at one time belong to one event when the derivatives of their times differ by less than this part. */
static const double SAME_EVENT = 1e-6;

/* ---- making ---- */

static bool in_vector(const double *number, const double *z, int nz) {
  return number && z && number >= z && number < z + nz;
}

bool ns_parameter_of(const NsParameter *parameter, const NsNsds *graph) {
  for (int d = 0; d < graph->nds; d++)
    if (parameter->owner == graph->ds[d] || in_vector(parameter->number, graph->ds[d]->z, graph->ds[d]->nz)) return true;
  for (int i = 0; i < graph->ninteractions; i++) {
    const NsInteraction *inter = graph->interactions[i];
    if (parameter->owner == inter->law || parameter->owner == inter->relation) return true;
    if (in_vector(parameter->number, inter->relation->z, inter->relation->nz)) return true;
  }
  return false;
}

NsStatus ns_sensitivity_new(NsSensitivity **out, const NsNsds *graph, const NsParameter *parameters, int p,
                            const NsSensitivityOptions *options) {
  NsSensitivity *s = *out = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  NsArena *arena = &s->arena;
  for (int d = 0; d < graph->nds; d++) s->nx += graph->ds[d]->n;
  s->parameters = parameters;
  s->options = options;
  s->p = p;
  int n = s->n = s->nx;
  s->acts = ns_arena_take(arena, (size_t)p, sizeof *s->acts);
  double **matrices[] = {&s->S_k, &s->S, &s->X, &s->X_before, &s->before, &s->most, &s->P_most, &s->Pt, &s->slope, &s->dense};
  for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) *matrices[i] = ns_arena_matrix(arena, n, p);
  double **vectors[] = {&s->f, &s->rate_most, &s->u, &s->direction, &s->value, &s->size, &s->step, &s->far, &s->kept};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(arena, n);
  s->dt = ns_arena_doubles(arena, p);
  s->parameter_step = ns_arena_doubles(arena, p);
  s->least = ns_arena_doubles(arena, p);
  s->xdot = ns_arena_doubles(arena, n);
  s->room = ns_arena_matrix(arena, NS_DIFFERENCE_ROOM, n + 1);
  s->J = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE * (ptrdiff_t)n, n);
  s->P = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE * (ptrdiff_t)n, p);
  s->nodes = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE * (ptrdiff_t)n, p);
  for (int j = 0; j < p && !arena->failed; j++) {
    s->acts[j] = parameters[j].number && ns_parameter_of(&parameters[j], graph);
    s->driven = s->driven || s->acts[j];
  }
  if (!arena->failed) return NS_OK;
  ns_sensitivity_free(s);
  *out = NULL;
  return NS_ENOMEM;
}

void ns_sensitivity_free(NsSensitivity *s) {
  if (!s) return;
  if (s->free_twin) s->free_twin(s->twin);
  ns_variational_free(s->variational);
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

void ns_sensitivity_begin(NsSensitivity *s, double t) {
  size_t bytes = (size_t)s->n * (size_t)s->p * sizeof *s->S;
  bool again = s->begun && t != s->t; /* the interval is computed again */
  if (s->begun) memcpy(again ? s->S : s->S_k, again ? s->S_k : s->S, bytes);
  s->t = s->t_k = t;
}

/* ---- differences ---- */

/* What a sample of a difference needs: the map at (t + e dt, u + e du) with the parameter increased by e. */
typedef struct Along {
  NsSensitivity *s;
  const NsFrozen *frozen;
  NsFrozenMap map;
  double t, dt;
  const double *u, *du;
  double *number, value;
  uint64_t *version, seen;
} Along;

/* Sets the number of a parameter, as a new version of its coefficient. */
static NsStatus along_write(Along *a, double value, double t, NsError *err) {
  *a->number = value;
  if (a->version) *a->version = a->seen + (UINT64_C(1) << 40) + ++a->s->changes;
  return a->frozen->reread(a->frozen->context, t, err);
}

static NsStatus along_sample(void *context, double e, double *values, NsError *err) {
  Along *a = context;
  NsSensitivity *s = a->s;
  double t = a->t + e * a->dt;
  for (int i = 0; i < s->n; i++) s->u[i] = a->u[i] + (a->du ? e * a->du[i] : 0);
  NsStatus status = a->number ? along_write(a, a->value + e, t, err) : NS_OK;
  return status == NS_OK ? a->map(a->frozen->context, t, s->u, values, err) : status;
}

/* The e at which the displacement is FIRST_PART of the sizes, which are at least a part of what the states move in a step of the grid. */
static double along_reach(const Along *a, int j) {
  const NsFrozen *frozen = a->frozen;
  double reach = INFINITY;
  if (a->dt != 0) reach = frozen->h / fabs(a->dt);
  for (int i = 0; i < frozen->n && a->du; i++) {
    double size = fmax(fmax(frozen->size[i], fabs(a->u[i])), MOVED_PART * frozen->h * a->s->rate_most[i]);
    if (a->du[i] != 0 && size > 0) reach = fmin(reach, size / fabs(a->du[i]));
  }
  if (a->number) reach = fmin(reach, a->s->parameters[j].unit);
  return isfinite(reach) ? FIRST_PART * reach : FIRST_PART;
}

NsStatus ns_sensitivity_along(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap map, int count, double t, const double *u,
                              double dt, const double *du, int j, double *out, NsError *err) {
  const NsParameter *parameter = j >= 0 && s->acts[j] ? &s->parameters[j] : NULL;
  Along a = {.s = s, .frozen = frozen, .map = map, .t = t, .dt = dt, .u = u, .du = du};
  bool still = dt == 0 && !parameter;
  for (int i = 0; i < frozen->n && still && du; i++) still = du[i] == 0;
  memset(out, 0, (size_t)count * sizeof *out);
  if (still) return NS_OK;
  if (parameter) {
    a.number = parameter->number, a.value = *parameter->number;
    a.version = parameter->version, a.seen = parameter->version ? *parameter->version : 0;
  }
  double reach = along_reach(&a, j);
  NsStatus status = NS_ENAN;
  for (int trial = 0; trial < DIFFERENCE_TRIALS && status != NS_OK; trial++, reach *= SMALLER) {
    NsWindow window = {-1e3 * reach, 1e3 * reach, reach};
    status = ns_difference(along_sample, &a, count, 0, window, s->room, out, err);
    if (status == NS_ENOMEM || status == NS_ECALLBACK || status == NS_EINTR) break;
  }
  if (!parameter) return status;
  *a.number = a.value;
  if (a.version) *a.version = a.seen;
  NsStatus back = frozen->reread(frozen->context, t, status == NS_OK ? err : NULL);
  return status == NS_OK ? back : status;
}

/* ---- the time of an event ---- */

/* The derivatives of a guard: by u in s->value, by t, along the motion; scale: the sum of terms at the sizes of the rates so far. */
typedef struct GuardSlope {
  double t, rate, scale;
} GuardSlope;

static NsStatus guard_slope(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap guard, double t, const double *u,
                            GuardSlope *slope, NsError *err) {
  NsStatus status = ns_sensitivity_along(s, frozen, guard, 1, t, u, 1, NULL, -1, &slope->t, err);
  slope->rate = slope->t;
  slope->scale = fabs(slope->t);
  memset(s->direction, 0, (size_t)s->n * sizeof *s->direction);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    s->direction[i] = 1;
    status = ns_sensitivity_along(s, frozen, guard, 1, t, u, 0, s->direction, -1, &s->value[i], err);
    s->direction[i] = 0;
    slope->rate += s->value[i] * s->f[i];
    slope->scale += fabs(s->value[i]) * fmax(s->rate_most[i], fabs(s->f[i]));
  }
  return status;
}

/* dt[j] for one guard. *grazes: its rate is nearly 0; then dt is NaN where it does not stay at 0. */
static NsStatus guard_time(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap guard, double t, const double *u, double *dt,
                           bool *grazes, NsError *err) {
  GuardSlope slope;
  NsStatus status = guard_slope(s, frozen, guard, t, u, &slope, err);
  *grazes = !(fabs(slope.rate) > GRAZING * slope.scale);
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double change = 0;
    status = s->acts[j] ? ns_sensitivity_along(s, frozen, guard, 1, t, u, 0, NULL, j, &change, err) : NS_OK;
    for (int i = 0; i < s->n; i++) change += s->value[i] * s->S[i + (ptrdiff_t)j * s->n];
    dt[j] = *grazes ? NAN : -change / slope.rate;
  }
  return status;
}

/* Whether two guards have the same derivatives of their times. */
static bool same_times(const NsSensitivity *s, const double *a, const double *b) {
  for (int j = 0; j < s->p; j++)
    if (!(fabs(a[j] - b[j]) <= SAME_EVENT * (fabs(a[j]) + fabs(b[j])))) return false;
  return true;
}

/* S before an event, and the rates there. */
static NsStatus event_before(NsSensitivity *s, const NsFrozen *frozen, double t, const double *u, NsError *err) {
  memcpy(s->before, s->S, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  NsStatus status = frozen->rate(frozen->context, t, u, s->f, err);
  for (int i = 0; i < s->n && status == NS_OK; i++) s->rate_most[i] = fmax(s->rate_most[i], fabs(s->f[i]));
  return status;
}

/* Adds s->dt to the log. */
static NsStatus event_tell(NsSensitivity *s, NsError *err) {
  NsEventSlopes *log = s->log;
  if (log->count == log->capacity) {
    long capacity = 2 * log->capacity + 16;
    double *more = ns_resize(log->dt, (size_t)capacity * (size_t)log->p, sizeof *more);
    if (!more) return ns_fail(err, NS_ENOMEM, "not enough memory");
    log->dt = more, log->capacity = capacity;
  }
  memcpy(log->dt + (size_t)log->count++ * (size_t)log->p, s->dt, (size_t)s->p * sizeof *s->dt);
  s->told = log->count;
  return NS_OK;
}

NsStatus ns_sensitivity_grazes(double t, const char *name, NsError *err) {
  return ns_fail(err, NS_EARG,
                 "sensitivities: the event of '%s' at t=%.10g grazes: its time has no derivative there; "
                 "on_grazing = \"one-sided\" takes the derivatives of the side that the run goes",
                 name, t);
}

NsStatus ns_sensitivity_event(NsSensitivity *s, const NsFrozen *frozen, const NsFrozenGuard *guards, int count, double t,
                              const double *u, NsError *err) {
  bool grazes = false;
  double *other = s->slope;
  NsStatus status = event_before(s, frozen, t, u, err);
  for (int g = 0; g < count && status == NS_OK; g++) {
    guards[g].choose(frozen->context, guards[g].guard);
    status = guard_time(s, frozen, guards[g].value, t, u, g == 0 ? s->dt : other, &grazes, err);
    if (status != NS_OK || s->options->one_sided) break;
    if (grazes) return ns_sensitivity_grazes(t, guards[g].name, err);
    if (g > 0 && !same_times(s, s->dt, other))
      return ns_fail(err, NS_EARG,
                     "sensitivities: the events of '%s' and '%s' at t=%.10g are simultaneous, and their order depends on the "
                     "parameters; on_grazing = \"one-sided\" takes the derivatives of the order that the run has",
                     guards[0].name, guards[g].name, t);
  }
  return status == NS_OK ? event_tell(s, err) : status;
}

NsStatus ns_sensitivity_falls(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap guard, double t, const double *u,
                              bool *falls, NsError *err) {
  GuardSlope slope = {0};
  NsStatus status = event_before(s, frozen, t, u, err);
  if (status == NS_OK) status = guard_slope(s, frozen, guard, t, u, &slope, err);
  *falls = slope.rate < -GRAZING * slope.scale;
  return status;
}

NsStatus ns_sensitivity_restart(NsSensitivity *s, const NsFrozen *frozen, bool fixed, double t, const double *u, NsError *err) {
  NsStatus status = event_before(s, frozen, t, u, err);
  for (int j = 0; j < s->p; j++) s->dt[j] = fixed ? 0 : NAN;
  if (status == NS_OK) status = event_tell(s, err);
  memset(s->dt, 0, (size_t)s->p * sizeof *s->dt);
  return status;
}

/* ---- the reset ---- */

void ns_sensitivity_undo(NsSensitivity *s) {
  double *told = s->log->dt + (size_t)(s->told - 1) * (size_t)s->p;
  memcpy(s->S, s->before, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  for (int j = 0; j < s->p; j++) s->dt[j] = told[j] = NAN;
}

void ns_sensitivity_enter(NsSensitivity *s) {
  for (int j = 0; j < s->p; j++) {
    double dt = isnan(s->dt[j]) ? 0 : s->dt[j];
    for (int i = 0; i < s->n; i++) s->S[i + (ptrdiff_t)j * s->n] += s->f[i] * dt;
  }
}

NsStatus ns_sensitivity_map(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap map, double t, const double *u,
                            NsError *err) {
  NsStatus status = NS_OK;
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double *S = s->S + (ptrdiff_t)j * s->n, dt = isnan(s->dt[j]) ? 0 : s->dt[j];
    memcpy(s->direction, S, (size_t)s->n * sizeof *S);
    status = ns_sensitivity_along(s, frozen, map, s->n, t, u, dt, s->direction, j, S, err);
  }
  return status;
}

NsStatus ns_sensitivity_leave(NsSensitivity *s, const NsFrozen *frozen, double t, const double *u, NsError *err) {
  NsStatus status = frozen->rate(frozen->context, t, u, s->value, err);
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double dt = isnan(s->dt[j]) ? 0 : s->dt[j];
    for (int i = 0; i < s->n; i++) s->S[i + (ptrdiff_t)j * s->n] -= s->value[i] * dt;
  }
  return status;
}

NsStatus ns_sensitivity_reset(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap reset, double t, const double *u,
                              const double *u_after, NsError *err) {
  ns_sensitivity_enter(s);
  NsStatus status = ns_sensitivity_leave(s, frozen, t, u_after, err);
  if (!reset || status != NS_OK) return status;
  memcpy(s->S, s->before, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  memcpy(s->slope, s->value, (size_t)s->n * sizeof *s->slope); /* the rates after, before the maps change the mode */
  ns_sensitivity_enter(s);
  status = ns_sensitivity_map(s, frozen, reset, t, u, err);
  for (int j = 0; j < s->p && status == NS_OK; j++)
    for (int i = 0; i < s->n && !isnan(s->dt[j]); i++) s->S[i + (ptrdiff_t)j * s->n] -= s->slope[i] * s->dt[j];
  return status;
}
