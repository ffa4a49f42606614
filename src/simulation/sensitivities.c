/*
** sensitivities.c
** Derivatives of a run's states by parameters.
*/
#include "simulation/sensitivities.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/step_tangent.h"
#include "model/difference.h"
#include "ode/saltation.h"

/* The default tolerance of S with an integrator whose own is smaller. */
static const double FINEST = 1e-10;

/* NS_EARG when the scheme of an island carries no derivatives. */
static NsStatus check_scheme(const NsSensitivity *s, const NsIsland *island, NsError *err) {
  const NsSchemeClass *class = island->scheme->class;
  if (class->senses) return NS_OK;
  if (class->tangent) return ns_step_tangent_check(s, island->scheme, err);
  return ns_fail(err, NS_EARG, "run: sensitivities: a %s carries no derivatives; use EventDriven with a %s", class->name,
                 ns_scheme_runge_kutta_text);
}

/* The tolerance of S that the options do not give. */
static double default_tolerance(const NsIntegrator *integrator) {
  const NsField *field = ns_field_find(integrator->class->fields, "rtol");
  return fmax(FINEST, field ? *(const double *)ns_field_place(field, integrator) : 0);
}

static NsStatus make_companion(NsSensitivities *s, int i, const NsIsland *island, const int *first_x, NsError *err) {
  const NsNsds *graph = island->graph;
  NsStatus status = ns_sensitivity_new(&s->of[i], graph, s->parameters, s->p, &s->options);
  s->place[i] = status == NS_OK ? ns_arena_ints(&s->arena, s->of[i]->nx) : NULL;
  if (!s->place[i]) return ns_fail(err, NS_ENOMEM, "not enough memory");
  status = check_scheme(s->of[i], island, err);
  if (status != NS_OK) return status;
  s->of[i]->log = &s->slopes;
  ns_sensitivity_initial(s->of[i], graph);
  for (int d = 0, at = 0; d < graph->nds; d++)
    for (int k = 0; k < graph->ds[d]->n; k++) s->place[i][at++] = first_x[graph->ds[d]->index] + k;
  return NS_OK;
}

NsStatus ns_sensitivities_new(NsSensitivities **out, const NsNsds *nsds, const NsIslands *islands,
                              const NsParameter *parameters, int p, const NsSensitivityOptions *options, NsError *err) {
  NsSensitivities *s = *out = ns_alloc(1, sizeof *s);
  if (!s) return ns_fail(err, NS_ENOMEM, "not enough memory");
  *s = (NsSensitivities){
      .options = *options, .p = p, .version = nsds->version, .values = nsds->values, .slopes = {.p = p}, .t0 = nsds->t0};
  if (isnan(options->rtol)) s->options.rtol = default_tolerance(islands->plan.integrator);
  int places = options->places, *first_x = ns_arena_ints(&s->arena, nsds->nds);
  for (int d = 0; d < nsds->nds && first_x; s->nx += nsds->ds[d++]->n) first_x[d] = s->nx;
  s->parameters = ns_arena_take(&s->arena, (size_t)p, sizeof *s->parameters);
  s->of = ns_arena_take(&s->arena, (size_t)islands->count, sizeof *s->of);
  s->place = ns_arena_take(&s->arena, (size_t)islands->count, sizeof *s->place);
  s->S = ns_arena_matrix(&s->arena, s->nx, p);
  s->options.held = ns_arena_matrix(&s->arena, places, p - places);
  NS_ARENA_VECTORS(&s->arena, places, &s->d_end, &s->d_now);
  s->workspace = ns_arena_doubles(&s->arena, (ptrdiff_t)p + 2 * (ptrdiff_t)s->nx + places);
  NsStatus status = s->arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
  for (int j = 0; j < p && status == NS_OK; j++) status = ns_parameter_copy(&s->arena, &s->parameters[j], &parameters[j]);
  if (status == NS_OK && places > 0)
    memcpy(s->options.held, options->held, (size_t)places * (size_t)(p - places) * sizeof(double));
  for (int i = 0; i < islands->count && status == NS_OK; i++) {
    s->count++;
    status = make_companion(s, i, &islands->of[i], first_x, err);
  }
  if (status == NS_OK) return ns_sensitivities_gather(s), NS_OK;
  ns_sensitivities_free(s);
  *out = NULL;
  return status;
}

void ns_sensitivity_mark_free(NsSensitivityMark *mark) {
  ns_snapshot_free(&mark->state);
  ns_free(mark->d);
}

void ns_sensitivities_free(NsSensitivities *s) {
  if (!s) return;
  for (int i = 0; i < s->count; i++) ns_sensitivity_free(s->of[i]);
  for (int i = 0; i < s->nmarks; i++) ns_sensitivity_mark_free(&s->marks[i]);
  ns_free(s->marks);
  ns_snapshot_free(&s->end);
  ns_free(s->slopes.dt);
  ns_arena_release(&s->instants);
  ns_arena_release(&s->arena);
  ns_free(s);
}

/* ---- events of the user ---- */

/* The line (t + e dt, x + e dx_i) along which g is differentiated, or that of a parameter, whose numbers `of` sets. */
typedef struct GuardLine {
  NsUserGuard g;
  void *context;
  double t, dt;
  double *x, at;
  int i; /* -1: no state */
  NsSensitivity *of;
  const NsParameter *parameter; /* NULL: none */
  uint64_t seen;
} GuardLine;

static NsStatus guard_sample(void *context, double e, double *value, NsError *err) {
  GuardLine *line = context;
  if (line->i >= 0) line->x[line->i] = line->at + e;
  if (line->parameter) ns_sensitivity_set(line->of, line->parameter, line->at + e, line->seen);
  return line->g(line->context, line->t + e * line->dt, line->x, value, err);
}

/* The derivative of g by state i, or by t (i = -1); size: the size of the state, or the length of the step of the grid. */
static NsStatus guard_derivative(GuardLine *line, int i, double size, double *slope, NsError *err) {
  double room[NS_DIFFERENCE_ROOM], reach = size > 0 ? size / 32 : 1.0 / 32;
  NsWindow window = {-1e3 * reach, 1e3 * reach, reach};
  line->i = i;
  line->dt = i < 0 && !line->parameter;
  if (i >= 0) line->at = line->x[i];
  *slope = 0;
  NsStatus status = ns_difference(guard_sample, line, 1, 0, window, room, slope, err);
  if (i >= 0) line->x[i] = line->at;
  return status;
}

NsStatus ns_sensitivities_guard(const NsSensitivities *s, NsUserGuard g, void *context, double t, double *x, double *slopes,
                                NsError *err) {
  GuardLine line = {.g = g, .context = context, .t = t, .x = x, .of = s->count > 0 ? s->of[0] : NULL};
  NsStatus status = NS_OK;
  memset(slopes, 0, (size_t)s->p * sizeof *slopes);
  for (int j = 0; j < s->p && line.of && status == NS_OK; j++) {
    const NsParameter *parameter = line.parameter = &s->parameters[j];
    if (!ns_parameter_aside(parameter)) continue;
    double at = line.at = *parameter->number;
    line.seen = parameter->version ? *parameter->version : 0;
    status = guard_derivative(&line, -1, parameter->unit, &slopes[j], err);
    ns_sensitivity_restore(parameter, at, line.seen);
  }
  ns_sensitivity_show(&s->options, s->p, 1, slopes, slopes);
  memset(slopes + s->p - s->options.places, 0, (size_t)s->options.places * sizeof *slopes);
  return status;
}

/* xdot (nx) of all systems. */
static void gather_rates(const NsSensitivities *s, double *xdot) {
  for (int i = 0; i < s->count; i++)
    for (int k = 0; k < s->of[i]->nx; k++) xdot[s->place[i][k]] = s->of[i]->xdot[k];
}

NsStatus ns_sensitivities_event(NsSensitivities *s, NsUserGuard g, void *context, double t, const double *x, double h,
                                NsError *err) {
  size_t nx = (size_t)s->nx;
  double *room = ns_alloc(3 * nx, sizeof *room), *dt = ns_event_slopes_add(&s->slopes), gt = 0;
  if (!room || !dt) return ns_free(room), ns_fail(err, NS_ENOMEM, "not enough memory");
  GuardLine line = {.g = g, .context = context, .t = t, .x = room};
  double *xdot = room + nx, *gx = xdot + nx;
  const double *S = ns_sensitivities_gather(s);
  memcpy(line.x, x, nx * sizeof *x);
  gather_rates(s, xdot);
  NsStatus status = ns_sensitivities_guard(s, g, context, t, line.x, dt, err);
  if (status == NS_OK) status = guard_derivative(&line, -1, h, &gt, err);
  for (int i = 0; i < s->nx && status == NS_OK; i++)
    status = guard_derivative(&line, i, fmax(fabs(x[i]), h * fabs(xdot[i])), &gx[i], err);
  NsCrossing crossing = ns_crossing(s->nx, gt, gx, xdot, xdot);
  ns_crossing_times(crossing, ns_crossing_grazes(crossing, NS_GRAZING), s->nx, s->p - s->options.places, gx, dt, S, dt);
  ns_free(room);
  return status;
}

/* The rows of the events' times since the last instant become rows of the shown parameters. */
static void show_slopes(NsSensitivities *s) {
  for (; s->carried < s->slopes.count; s->carried++) {
    double *row = s->slopes.dt + (size_t)s->carried * (size_t)s->p;
    ns_sensitivity_show(&s->options, s->p, 1, row, row);
  }
}

void ns_sensitivities_carry(NsSensitivities *s, const double *held) {
  int places = s->options.places, shown = s->p - places;
  show_slopes(s);
  for (int i = 0; i < s->count; i++) {
    NsSensitivity *one = s->of[i];
    double *all[] = {one->X, one->begun ? one->S : NULL, one->columns.memory[0], one->columns.memory[1]};
    int rows[] = {one->nx, one->n, one->columns.memory_rows[0], one->columns.memory_rows[1]};
    for (int k = 0; k < 4; k++) {
      if (!all[k]) continue;
      ns_sensitivity_show(&s->options, s->p, rows[k], all[k], all[k]);
      memset(all[k] + (ptrdiff_t)rows[k] * shown, 0, (size_t)rows[k] * (size_t)places * sizeof **all);
    }
  }
  if (held) memcpy(s->options.held, held, (size_t)places * (size_t)shown * sizeof *held);
}

void ns_sensitivities_end(NsSensitivities *s) {
  int shown = s->p - s->options.places;
  show_slopes(s);
  for (long k = 1; k < s->slopes.count && s->options.places > 0; k++)
    memmove(s->slopes.dt + (size_t)k * (size_t)shown, s->slopes.dt + (size_t)k * (size_t)s->p, (size_t)shown * sizeof(double));
  s->slopes.p = shown;
}

const double *ns_sensitivities_gather(NsSensitivities *s) {
  int shown = s->p - s->options.places;
  for (int i = 0; i < s->count; i++) {
    const NsSensitivity *one = s->of[i];
    ns_sensitivity_show(&s->options, s->p, one->nx, one->X, one->columns.slope);
    for (int j = 0; j < shown; j++)
      for (int k = 0; k < one->nx; k++)
        s->S[s->place[i][k] + (ptrdiff_t)j * s->nx] = one->columns.slope[k + (ptrdiff_t)j * one->nx];
  }
  return s->S;
}
