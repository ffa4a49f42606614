/*
** sensitivity_difference.c
** Derivatives by parameters: differences of maps in the fixed mode and guards.
*/
#include <math.h>
#include <string.h>

#include "integrators/sensitivity.h"
#include "model/difference.h"
#include "ode/saltation.h"

/* The first displacement of a difference, as a part of the sizes of what is displaced; it is divided by 3 and then halved. */
static const double FIRST_PART = 1.0 / 32;

/* The size of a state is at least this part of what it moves in a step of the grid (2^-8: a start at 1e-15 instead of 0 has no size). */
static const double MOVED_PART = 1.0 / 256;

/* After a failure of the map a difference is tried again with displacements that are smaller by this factor. */
static const double SMALLER = 1.0 / 1024;
enum { DIFFERENCE_TRIALS = 3 };

/*
** Guards that reach 0 at one time belong to one event when the derivatives of their times by each parameter are equal: when they
** differ by at most this part of the sum of their absolute values. 1e-6: differences give these derivatives to 1e-9 or better.
*/
static const double SAME_EVENT = 1e-6;

/* ---- differences ---- */

/* Gives `count` copies of a number its value, as versions that they have never had. */
static void set_copies(NsParameterCopy *copies, int count, double value, uint64_t away) {
  for (int k = 0; k < count; k++) {
    NsParameterCopy *copy = &copies[k];
    *copy->number = value;
    if (copy->version) *copy->version += away - copy->away;
    copy->away = away;
  }
}

static void restore_copies(NsParameterCopy *copies, int count, double value) {
  for (int k = 0; k < count; k++) {
    NsParameterCopy *copy = &copies[k];
    if (copy->away == 0) continue;
    *copy->number = value;
    if (copy->version) *copy->version -= copy->away;
    copy->away = 0;
  }
}

/* Whether a difference displaces the copies of a number in all islands. */
static bool displaces_all(const NsParameter *parameter) {
  return !parameter->own || ns_parameter_aside(parameter);
}

void ns_sensitivity_set(NsSensitivity *s, const NsParameter *parameter, double value, uint64_t seen) {
  bool begins = *parameter->number == 0;
  *parameter->number = value;
  uint64_t away = (UINT64_C(1) << 40) + ++s->changes;
  if (parameter->version) *parameter->version = seen + away;
  if (displaces_all(parameter)) set_copies(parameter->copies, parameter->ncopies, value, away);
  else set_copies(parameter->own, parameter->nown, value, away);
  for (int k = 0; k < parameter->nmoves; k++) {
    NsParameterMove *move = &parameter->moves[k];
    if (begins) move->at = *move->of.number, move->seen = move->of.version ? *move->of.version : 0;
    ns_sensitivity_set(s, &move->of, move->at + move->weight * value, move->seen);
  }
}

void ns_sensitivity_restore(const NsParameter *parameter, double value, uint64_t seen) {
  bool moved = *parameter->number != value;
  *parameter->number = value;
  if (parameter->version) *parameter->version = seen;
  restore_copies(parameter->own, parameter->nown, value);
  if (displaces_all(parameter)) restore_copies(parameter->copies, parameter->ncopies, value);
  for (int k = 0; k < parameter->nmoves && moved; k++)
    ns_sensitivity_restore(&parameter->moves[k].of, parameter->moves[k].at, parameter->moves[k].seen);
}

void ns_sensitivity_doubt(NsSensitivity *s, bool *known) {
  for (int j = 0; j < s->p; j++) {
    if (!ns_parameter_aside(&s->parameters[j])) continue;
    s->acts[j] = s->driven = true;
    known[j] = false;
  }
}

/* What a sample of a difference needs: the map at (t + e dt, u + e du) with the parameter increased by e. */
typedef struct Along {
  NsSensitivity *s;
  const NsLinearisation *lin;
  NsLinearisationMap map;
  int k;
  double t, dt;
  const double *u, *du;
  const NsParameter *parameter;
  double value;
  uint64_t seen;
} Along;

/* Sets the number of a parameter, as a new version of its coefficient. */
static NsStatus along_write(Along *a, double value, double t, NsError *err) {
  ns_sensitivity_set(a->s, a->parameter, value, a->seen);
  return a->lin->reread(a->lin->context, t, err);
}

static NsStatus along_sample(void *context, double e, double *values, NsError *err) {
  Along *a = context;
  NsSensitivity *s = a->s;
  double t = a->t + e * a->dt;
  for (int i = 0; i < s->n; i++) s->diff.u[i] = a->u[i] + (a->du ? e * a->du[i] : 0);
  NsStatus status = a->parameter ? along_write(a, a->value + e, t, err) : NS_OK;
  return status == NS_OK ? a->map(a->lin->context, a->k, t, s->diff.u, values, err) : status;
}

/* The e at which the displacement is FIRST_PART of the sizes, which are at least a part of what the states move in a step of the grid. */
static double along_reach(const Along *a) {
  const NsLinearisation *lin = a->lin;
  double reach = INFINITY;
  if (a->dt != 0) reach = lin->h / fabs(a->dt);
  for (int i = 0; i < lin->n && a->du; i++) {
    double size = fmax(fmax(lin->size[i], fabs(a->u[i])), MOVED_PART * lin->h * a->s->rate_most[i]);
    if (a->du[i] != 0 && size > 0) reach = fmin(reach, size / fabs(a->du[i]));
  }
  if (a->parameter) reach = fmin(reach, a->parameter->unit);
  return isfinite(reach) ? FIRST_PART * reach : FIRST_PART;
}

/* Whether a displacement of the parameter alone leaves all values as they are, to the last bit: most parameters of a model do. */
static bool along_unchanged(Along *a, int count, double reach) {
  double *base = a->s->diff.room, *moved = base + count;
  size_t bytes = (size_t)count * sizeof *base;
  return along_sample(a, 0, base, NULL) == NS_OK && along_sample(a, reach, moved, NULL) == NS_OK &&
         memcmp(base, moved, bytes) == 0 && along_sample(a, -reach / 3, moved, NULL) == NS_OK &&
         memcmp(base, moved, bytes) == 0;
}

NsStatus ns_sensitivity_along(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, int k, int count, double t,
                              const double *u, double dt, const double *du, int j, double *out, NsError *err) {
  const NsParameter *parameter = j >= 0 && s->acts[j] ? &s->parameters[j] : NULL;
  Along a = {.s = s, .lin = lin, .map = map, .k = k, .t = t, .dt = dt, .u = u, .du = du};
  bool still = dt == 0;
  for (int i = 0; i < lin->n && still && du; i++) still = du[i] == 0;
  memset(out, 0, (size_t)count * sizeof *out);
  if (still && !parameter) return NS_OK;
  if (parameter) a.parameter = parameter, a.value = *parameter->number, a.seen = parameter->version ? *parameter->version : 0;
  double reach = along_reach(&a);
  NsStatus status = still && along_unchanged(&a, count, reach) ? NS_OK : NS_ENAN;
  for (int trial = 0; trial < DIFFERENCE_TRIALS && status != NS_OK; trial++, reach *= SMALLER) {
    NsWindow window = {-1e3 * reach, 1e3 * reach, reach};
    status = ns_difference(along_sample, &a, count, 0, window, s->diff.room, out, err);
    if (status == NS_ENOMEM || status == NS_ECALLBACK || status == NS_EINTR) break;
  }
  if (!parameter) return status;
  ns_sensitivity_restore(parameter, a.value, a.seen);
  NsStatus back = lin->reread(lin->context, t, status == NS_OK ? err : NULL);
  return status == NS_OK ? back : status;
}

NsStatus ns_sensitivity_change(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, int k, int count, double t,
                               const double *u, int j, double part, double *change, NsError *err) {
  const double *S = s->S + (ptrdiff_t)j * s->n;
  double term[2], most[2] = {0, 0};
  NsStatus status = ns_sensitivity_along(s, lin, map, k, count, t, u, 0, S, j, change, err);
  memset(s->direction, 0, (size_t)s->n * sizeof *s->direction);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    if (S[i] == 0) continue;
    s->direction[i] = S[i];
    status = ns_sensitivity_along(s, lin, map, k, count, t, u, 0, s->direction, -1, term, err);
    s->direction[i] = 0;
    for (int c = 0; c < count; c++) most[c] += fabs(term[c]);
  }
  for (int c = 0; c < count; c++)
    if (fabs(change[c]) <= part * most[c]) change[c] = 0;
  return status;
}

NsStatus ns_sensitivity_map_terms(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t,
                                  const double *u, double *A, double *B, bool *exact, NsError *err) {
  NsStatus status = NS_OK;
  *exact = false;
  memset(s->known, 0, (size_t)s->p * sizeof *s->known);
  if (lin->reset) status = lin->reset(lin->context, map, t, u, A, exact, err);
  if (status == NS_OK && lin->vjp_map) status = lin->vjp_map(lin->context, map, t, u, B, s->known, err);
  return ns_sensitivity_doubt(s, s->known), status;
}

/* ---- guards ---- */

NsStatus ns_sensitivity_slope(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u,
                              NsGuardSlope *slope, NsError *err) {
  bool still = false, exact = false;
  NsStatus status = lin->slope ? lin->slope(lin->context, guard, t, u, s->value, &still, &exact, err) : NS_OK;
  slope->t = 0;
  if (status == NS_OK && !(exact && still))
    status = ns_sensitivity_along(s, lin, lin->guard, guard, 1, t, u, 1, NULL, -1, &slope->t, err);
  memset(s->direction, 0, (size_t)s->n * sizeof *s->direction);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    s->direction[i] = 1;
    if (!exact) status = ns_sensitivity_along(s, lin, lin->guard, guard, 1, t, u, 0, s->direction, -1, &s->value[i], err);
    s->direction[i] = 0;
  }
  NsCrossing crossing = ns_crossing(s->n, slope->t, s->value, s->f, s->rate_most);
  slope->rate = crossing.rate, slope->scale = crossing.size;
  slope->grazes = ns_crossing_grazes(crossing, NS_GRAZING);
  return status;
}

NsStatus ns_sensitivity_guard(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u,
                              NsGuardSlope *slope, double *by_p, NsError *err) {
  NsStatus status = ns_sensitivity_slope(s, lin, guard, t, u, slope, err);
  memset(by_p, 0, (size_t)s->p * sizeof *by_p);
  memset(s->known, 0, (size_t)s->p * sizeof *s->known);
  if (status == NS_OK && lin->vjp_guard) status = lin->vjp_guard(lin->context, guard, t, u, by_p, s->known, err);
  ns_sensitivity_doubt(s, s->known);
  for (int j = 0; j < s->p && status == NS_OK; j++)
    if (s->acts[j] && !s->known[j])
      status = ns_sensitivity_along(s, lin, lin->guard, guard, 1, t, u, 0, NULL, j, &by_p[j], err);
  return status;
}

bool ns_sensitivity_one_event(int n, const double *a, const double *b) {
  for (int j = 0; j < n; j++)
    if (!(fabs(a[j] - b[j]) <= SAME_EVENT * (fabs(a[j]) + fabs(b[j])))) return false;
  return true;
}

NsStatus ns_sensitivity_note(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err) {
  NsStatus status = lin->rate(lin->context, t, u, s->value, err);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    s->rate_most[i] = fmax(s->rate_most[i], fabs(s->value[i]));
    s->size[i] = fmax(lin->size[i], fabs(u[i]));
  }
  return status;
}

NsStatus ns_sensitivity_grazes(double t, const char *name, NsError *err) {
  return ns_fail(err, NS_EARG,
                 "sensitivities: the event of '%s' at t=%.10g grazes: its time has no derivative there; "
                 "on_grazing = \"one-sided\" takes the derivatives of the side that the run goes",
                 name, t);
}

NsStatus ns_sensitivity_order(double t, const char *a, const char *b, NsError *err) {
  return ns_fail(err, NS_EARG,
                 "sensitivities: the events of '%s' and '%s' at t=%.10g are simultaneous, and their order depends on the "
                 "parameters; on_grazing = \"one-sided\" takes the derivatives of the order that the run has",
                 a, b, t);
}
