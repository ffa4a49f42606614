/*
** ivp_sensitivity.c
** Forward sensitivities beside a run: linear equations along its dense output, saltation at its events.
*/
#include "ode/ivp_sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "ode/control.h"

/* ---- events ---- */

void ns_saltation_take(NsSaltation *s, NsArena *arena, int n, int p) {
  *s = (NsSaltation){.gy = ns_arena_doubles(arena, n)};
  NS_ARENA_VECTORS(arena, n, &s->k, &s->before, &s->after, &s->rate_before, &s->rate_after, &s->again);
  s->gp = ns_arena_doubles(arena, p);
  s->Ry = ns_arena_matrix(arena, n, n);
  s->Rp = ns_arena_matrix(arena, n, p);
}

/* Whether the event changes the state by more than what a touch leaves open; size (n): of the states. */
static bool saltation_moves(const NsSaltation *s, const NsOdeProblem *problem, const double *size) {
  for (int i = 0; i < problem->n; i++)
    if (fabs(s->after[i] - s->before[i]) > 10 * ns_crossing_part(problem->rtol) * size[i]) return true;
  return false;
}

static bool saltation_wanders(const NsSaltation *s, int n, int p) {
  for (int i = 0; i < n; i++)
    if (s->gy[i] != 0) return true;
  for (int j = 0; j < p; j++)
    if (s->gp[j] != 0) return true;
  return false;
}

static NsStatus saltation_corner(const NsSaltationCorner *corner, int event, double t, NsError *err) {
  const NsIvpOptions *run = corner->run;
  char text[NS_EVENT_TEXT], other[NS_EVENT_TEXT];
  ns_event_text(&run->events, event, text);
  if (corner->count > 0) {
    ns_event_text(&run->events, corner->first, other);
    return ns_fail(
        err, NS_ENOSOL,
        "sensitivities: %s and %s happen at the same time (t=%.10g): there is no derivative (on_grazing = 'one-sided' "
        "takes the side on which they happen in this order)",
        other, text, t);
  }
  if (t != run->t0) return NS_OK;
  return ns_fail(err, NS_ENOSOL,
                 "sensitivities: %s happens at the start (t=%.10g): there is no derivative (on_grazing = 'one-sided' takes the "
                 "side on which it happens)",
                 text, t);
}

NsStatus ns_saltation_meet(NsSaltation *s, NsSaltationCorner *corner, const NsOdeProblem *problem, const NsIvpDerivatives *d,
                           int event, double t, const double *before, const double *pace, NsError *err) {
  int n = problem->n;
  double gt = 0;
  long count = 0;
  s->event = event;
  s->t = t;
  memcpy(s->before, before, (size_t)n * sizeof *before);
  memset(s->gy, 0, (size_t)n * sizeof *s->gy);
  memset(s->gp, 0, (size_t)d->p * sizeof *s->gp);
  NsStatus status = ns_ode_rate(problem, t, before, s->rate_before, &count, err);
  if (status == NS_OK) status = d->event(d->context, event, t, before, &gt, s->gy, s->gp, err);
  s->crossing = ns_crossing(n, gt, s->gy, s->rate_before, pace);
  s->still = ns_crossing_grazes(s->crossing, ns_crossing_part(problem->rtol));
  corner->wanders = corner->wanders || (status == NS_OK && saltation_wanders(s, n, d->p));
  if (status == NS_OK && corner->wanders && !corner->one_sided) status = saltation_corner(corner, event, t, err);
  if (corner->count++ == 0) corner->first = event;
  return status;
}

NsStatus ns_saltation_jump(NsSaltation *s, const NsOdeProblem *problem, const NsEvents *events, const NsIvpDerivatives *d,
                           const double *after, const double *size, bool one_sided, NsError *err) {
  int n = problem->n;
  long count = 0;
  char text[NS_EVENT_TEXT];
  memcpy(s->after, after, (size_t)n * sizeof *after);
  memset(s->Ry, 0, (size_t)n * (size_t)n * sizeof *s->Ry);
  memset(s->Rp, 0, (size_t)n * (size_t)d->p * sizeof *s->Rp);
  memset(s->k, 0, (size_t)n * sizeof *s->k);
  ns_event_text(events, s->event, text);
  if (s->still && (!one_sided || saltation_moves(s, problem, size)))
    return ns_fail(
        err, NS_ENOSOL, "sensitivities: the solution only touches %s (t=%.10g): there is no derivative%s", text, s->t,
        one_sided ? " on the side where the event happens" : " (on_grazing = 'one-sided' takes the side without it)");
  NsStatus status = ns_ode_rate(problem, s->t, after, s->rate_after, &count, err);
  if (status == NS_OK) status = d->reset(d->context, s->event, s->t, s->before, after, s->k, s->Ry, s->Rp, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < n; i++) s->k[i] -= s->rate_after[i];
  ns_dense_gemv(false, n, n, 1, s->Ry, n, s->rate_before, 1, 1, s->k, 1);
  for (int i = 0; i < n; i++) s->again[i] = s->rate_after[i];
  status = ns_ode_rate(problem, s->t, after, s->rate_after, &count, err);
  if (status != NS_OK || memcmp(s->again, s->rate_after, (size_t)n * sizeof *s->again) == 0) return status;
  return ns_fail(
      err, NS_ENOSOL,
      "sensitivities: %s: each call of apply changes f (t=%.10g): it is called twice, so it may set a variable, but not "
      "toggle or count",
      text, s->t);
}

/* dt (p) = the derivatives of the event's time with the S (n x p) before it; then S becomes that after it. room: n. */
static void saltation_apply(const NsSaltation *s, int n, int p, double *S, double *dt, double *room) {
  ns_crossing_times(s->crossing, s->still, n, p, s->gy, s->gp, S, dt);
  for (int j = 0; j < p && !s->still; j++) {
    double *column = S + (ptrdiff_t)j * n;
    memcpy(room, s->Rp + (ptrdiff_t)j * n, (size_t)n * sizeof *room);
    ns_dense_gemv(false, n, n, 1, s->Ry, n, column, 1, 1, room, 1);
    for (int i = 0; i < n; i++) column[i] = room[i] + s->k[i] * dt[j];
  }
}

/* ---- the run ---- */

typedef struct NsIvpForward {
  NsIvpSensitivity result;
  NsArena arena;
  NsOdeProblem problem;
  NsIvpOptions run;
  NsIvpSensitivityOptions options;
  NsIvpDerivatives derivatives;
  NsVariational *variational;
  const NsIvp *ivp;
  NsSaltation saltation;
  double *S, *row;             /* n x p: at the present time; of a point */
  double *size, *pace, *y;     /* n */
  double *gy, *dt, *room, *yd; /* n, p, n, n */
  long knot;                   /* the number of knots seen */
  long step;                   /* of the run: where the last terms were */
  long *root;                  /* events: the number of roots seen */
  NsSaltationCorner corner;
  bool whole; /* no step of S crosses an end of a step of the run */
  bool started;
} NsIvpForward;

static NsStatus forward_append(NsIvpRows *rows, const double *row) {
  if (rows->count == rows->capacity) {
    long capacity = rows->capacity + rows->capacity / 2 + 16;
    double *more = ns_resize(rows->row, (size_t)capacity, (size_t)(rows->width > 0 ? rows->width : 1) * sizeof *more);
    if (!more) return NS_ENOMEM;
    rows->row = more;
    rows->capacity = capacity;
  }
  if (rows->width > 0) memcpy(rows->row + (ptrdiff_t)rows->count * rows->width, row, (size_t)rows->width * sizeof *row);
  rows->count++;
  return NS_OK;
}

void ns_ivp_sizes(const NsIvp *ivp, long first, const NsOdeProblem *problem, double *size, double *pace) {
  int n = ivp->n;
  for (int i = 0; i < n; i++) pace[i] = 0;
  for (long k = first; k < ivp->knots.count; k++) {
    const double *y = ivp->knots.y + (ptrdiff_t)k * n;
    double h = k > 0 ? fabs(ivp->knots.t[k] - ivp->knots.t[k - 1]) : 0;
    for (int i = 0; i < n; i++) {
      size[i] = fmax(size[i], fabs(y[i]) + problem->atol[i] / problem->rtol);
      if (h > 0) pace[i] = fmax(pace[i], fabs(y[i] - y[i - n]) / h);
    }
  }
}

static NsStatus forward_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  NsIvpForward *f = context;
  (void)E;
  ns_ivp_at_near(f->ivp, t, NS_IVP_AFTER, &f->step, f->y);
  return f->derivatives.terms(f->derivatives.context, t, f->y, J, P, err);
}

/* Whether a is at or before b in the direction of the run. */
static bool forward_reached(const NsIvpForward *f, double a, double b) {
  return f->run.tf < f->run.t0 ? a >= b : a <= b;
}

/* The derivatives of the time of a root of an event that does not act. */
static NsStatus forward_root(NsIvpForward *f, int event, double t, const double *y, const double *S, NsError *err) {
  int n = f->problem.n, p = f->derivatives.p;
  double gt = 0;
  long count = 0;
  memset(f->gy, 0, (size_t)n * sizeof *f->gy);
  memset(f->dt, 0, (size_t)p * sizeof *f->dt);
  NsStatus status = f->derivatives.event(f->derivatives.context, event, t, y, &gt, f->gy, f->dt, err);
  if (status == NS_OK) status = ns_ode_rate(&f->problem, t, y, f->yd, &count, err);
  if (status != NS_OK) return status;
  NsCrossing crossing = ns_crossing(n, gt, f->gy, f->yd, f->pace);
  ns_crossing_times(crossing, ns_crossing_grazes(crossing, NS_GRAZING), n, p, f->gy, f->dt, S, f->dt);
  return forward_append(&f->result.dt[event], f->dt);
}

/* The rows of the points and the roots up to the time of the linear equations. `start`: they have just been started. */
static NsStatus forward_rows(NsIvpForward *f, bool start, NsError *err) {
  const NsIvpPoints *points = &f->ivp->points;
  const NsVariationalState *at = ns_variational_state(f->variational);
  NsStatus status = NS_OK;
  while (status == NS_OK && f->result.S.count < points->count && forward_reached(f, points->t[f->result.S.count], at->t)) {
    double t = points->t[f->result.S.count];
    if (start || t == at->t) memcpy(f->row, at->y, (size_t)f->result.S.width * sizeof *f->row);
    else status = ns_variational_at(f->variational, t, f->row, err);
    if (status == NS_OK) status = forward_append(&f->result.S, f->row);
  }
  for (int e = 0; e < f->result.events && status == NS_OK; e++) {
    const NsIvpPoints *found = &f->ivp->found[e];
    if (f->run.events.acts && f->run.events.acts[e]) continue;
    while (status == NS_OK && f->root[e] < found->count && forward_reached(f, found->t[f->root[e]], at->t)) {
      long k = f->root[e]++;
      if (start || found->t[k] == at->t) memcpy(f->row, at->y, (size_t)f->result.S.width * sizeof *f->row);
      else status = ns_variational_at(f->variational, found->t[k], f->row, err);
      if (status == NS_OK) status = forward_root(f, e, found->t[k], found->y + (ptrdiff_t)k * f->problem.n, f->row, err);
    }
  }
  return status;
}

/* A failure of the linear equations is no end of the run. */
static NsStatus forward_explain(NsStatus status, NsError *err) {
  if (status == NS_OK || status == NS_ECALLBACK || status == NS_EINTR || status == NS_ENOMEM || status == NS_ENOSOL)
    return status;
  NsError why = *err;
  return ns_fail(err, NS_ENOSOL, "sensitivities: %.200s", why.text);
}

static NsStatus forward_reach(NsIvpCompanion *companion, const NsIvp *ivp, double t, NsError *err) {
  NsIvpForward *f = (NsIvpForward *)companion;
  f->ivp = ivp;
  f->corner.count = 0;
  f->corner.wanders = false;
  long first = f->knot > 0 ? f->knot : 0;
  ns_ivp_sizes(ivp, first, &f->problem, f->size, f->pace);
  bool start = !f->started;
  double h = start && ivp->knots.count > 1 ? fabs(ivp->knots.t[1] - ivp->knots.t[0]) : 0;
  if (start) ns_variational_start(f->variational, f->run.t0, f->options.S0, h);
  f->started = true;
  f->knot = ivp->knots.count;
  NsStatus status = forward_rows(f, true, err);
  const NsVariationalState *at = ns_variational_state(f->variational);
  while (status == NS_OK && at->t != t) {
    if (at->steps > 10000000) return ns_fail(err, NS_ENOSOL, "sensitivities: too many steps (t=%.10g)", at->t);
    double end = f->whole ? ns_ivp_step_end(ivp, at->t, t, &f->step) : t;
    status = ns_variational_step(f->variational, end, err);
    if (status == NS_OK) status = forward_rows(f, false, err);
  }
  for (int e = 0; e < f->result.events && status == NS_OK; e++) { /* roots within rounding behind t */
    const NsIvpPoints *found = &ivp->found[e];
    bool acts = f->run.events.acts && f->run.events.acts[e];
    for (; !acts && status == NS_OK && f->root[e] < found->count; f->root[e]++)
      status = forward_root(f, e, found->t[f->root[e]], found->y + (ptrdiff_t)f->root[e] * f->problem.n, at->y, err);
  }
  memcpy(f->S, at->y, (size_t)f->result.S.width * sizeof *f->S);
  f->result.steps = at->steps;
  f->result.evaluations = at->evaluations;
  return forward_explain(status, err);
}

static NsStatus forward_meet(NsIvpCompanion *companion, int event, double t, const double *before, NsError *err) {
  NsIvpForward *f = (NsIvpForward *)companion;
  NsStatus status = ns_saltation_meet(&f->saltation, &f->corner, &f->problem, &f->derivatives, event, t, before, f->pace, err);
  return forward_explain(status, err);
}

static NsStatus forward_jump(NsIvpCompanion *companion, int event, double t, const double *before, const double *after,
                             NsError *err) {
  NsIvpForward *f = (NsIvpForward *)companion;
  (void)t, (void)before;
  NsStatus status = ns_saltation_jump(&f->saltation, &f->problem, &f->run.events, &f->derivatives, after, f->size,
                                      f->options.one_sided, err);
  if (status != NS_OK) return forward_explain(status, err);
  saltation_apply(&f->saltation, f->problem.n, f->derivatives.p, f->S, f->dt, f->room);
  return forward_append(&f->result.dt[event], f->dt);
}

static NsStatus forward_leave(NsIvpCompanion *companion, const NsIvp *ivp, double t, NsError *err) {
  NsIvpForward *f = (NsIvpForward *)companion;
  NsIvpRows *S = &f->result.S;
  const NsIvpPoints *points = &ivp->points;
  (void)err;
  ns_variational_jump(f->variational, f->S);
  if (f->run.t_eval && points->count > 0 && points->t[points->count - 1] == t && S->count == points->count)
    memcpy(S->row + (ptrdiff_t)(S->count - 1) * S->width, f->S, (size_t)S->width * sizeof *f->S);
  return NS_OK;
}

/* ---- making ---- */

NsStatus ns_ivp_sensitivity_new(NsIvpSensitivity **out, const NsStepperClass *method, const NsOdeProblem *problem,
                                const NsIvpOptions *run, const NsIvpSensitivityOptions *options) {
  *out = NULL;
  NsIvpForward *f = ns_alloc(1, sizeof *f);
  if (!f) return NS_ENOMEM;
  int n = problem->n, p = options->derivatives->p;
  f->problem = *problem;
  f->run = *run;
  f->options = *options;
  f->corner = (NsSaltationCorner){.run = &f->run, .one_sided = options->one_sided};
  f->derivatives = *options->derivatives;
  f->result = (NsIvpSensitivity){.n = n, .p = p, .events = run->events.count, .forward = f};
  f->result.companion = (NsIvpCompanion){forward_reach, forward_meet, forward_jump, forward_leave};
  f->result.S.width = n * p;
  f->result.dt = ns_arena_take(&f->arena, (size_t)run->events.count, sizeof *f->result.dt);
  f->root = ns_arena_take(&f->arena, (size_t)run->events.count, sizeof *f->root);
  for (int e = 0; f->result.dt && e < run->events.count; e++) f->result.dt[e].width = p;
  f->S = ns_arena_matrix(&f->arena, n, p);
  f->row = ns_arena_matrix(&f->arena, n, p);
  NS_ARENA_VECTORS(&f->arena, n, &f->size, &f->pace, &f->y, &f->gy, &f->room, &f->yd);
  f->dt = ns_arena_doubles(&f->arena, p);
  ns_saltation_take(&f->saltation, &f->arena, n, p);
  NsVariationalProblem linear = {.n = n, .p = p, .terms = forward_terms, .context = f, .forced = options->forced};
  linear.adaptive = method->implicit;
  f->whole = method->rough;
  linear.rtol = fmax(options->rtol > 0 ? options->rtol : problem->rtol, 1e-13);
  linear.size = f->size;
  NsStatus status = f->arena.failed ? NS_ENOMEM : ns_variational_new(&f->variational, &linear);
  if (status != NS_OK) ns_ivp_sensitivity_free(&f->result);
  else *out = &f->result;
  return status;
}

void ns_ivp_sensitivity_free(NsIvpSensitivity *sensitivity) {
  if (!sensitivity) return;
  NsIvpForward *f = sensitivity->forward;
  ns_free(sensitivity->S.row);
  for (int e = 0; sensitivity->dt && e < sensitivity->events; e++) ns_free(sensitivity->dt[e].row);
  ns_variational_free(f->variational);
  ns_arena_release(&f->arena);
  ns_free(f);
}

/* ---- the request ---- */

static bool parse_index(const char **text, long *index) {
  char *end;
  if (**text != '[') return false;
  *index = strtol(*text + 1, &end, 10);
  if (*index < 1 || *end != ']' || end == *text + 1) return false;
  *text = end + 1;
  return true;
}

bool ns_ivp_parse_name(const char *text, NsIvpName *name) {
  *name = (NsIvpName){.args = strncmp(text, "args", 4) == 0};
  if (!name->args && strncmp(text, "y0", 2) != 0) return false;
  text += name->args ? 4 : 2;
  if (parse_index(&text, &name->i) && name->args) parse_index(&text, &name->k);
  return *text == '\0';
}

bool ns_ivp_jacobian_differs(const NsOdeProblem *problem, int n, const double *y, const double *given, const double *exact,
                             int *row, int *col) {
  for (int i = 0; i < n; i++) {
    double terms = 0;
    for (int j = 0; j < n; j++) terms += fabs(exact[i + (ptrdiff_t)j * n]) * (fabs(y[j]) + problem->atol[j] / problem->rtol);
    for (int j = 0; j < n; j++) {
      double a = given[i + (ptrdiff_t)j * n], b = exact[i + (ptrdiff_t)j * n],
             size = fabs(y[j]) + problem->atol[j] / problem->rtol;
      if (fabs(a - b) > 1e-6 * fabs(b) && fabs(a - b) * size > 1e-6 * terms) return *row = i, *col = j, true;
    }
  }
  return false;
}
