/*
** ivp.c
** The loop over the steps, and the record of the points.
*/
#include "ode/ivp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "ode/control.h"

NsStatus ns_ivp_new(NsIvp **out, int n, int rows, int events) {
  NsIvp *ivp = *out = ns_alloc(1, sizeof *ivp);
  if (!ivp) return NS_ENOMEM;
  ivp->n = n;
  ivp->rows = rows;
  ivp->events = events;
  ivp->found = ns_alloc((size_t)events, sizeof *ivp->found);
  ivp->found_after = ns_alloc((size_t)events, sizeof *ivp->found_after);
  if (ivp->found && ivp->found_after) return NS_OK;
  ns_ivp_free(ivp);
  *out = NULL;
  return NS_ENOMEM;
}

static void free_points(NsIvpPoints *points) {
  ns_free(points->t);
  ns_free(points->y);
}

void ns_ivp_free(NsIvp *ivp) {
  if (!ivp) return;
  free_points(&ivp->points);
  free_points(&ivp->knots);
  free_points(&ivp->before);
  free_points(&ivp->after);
  for (int e = 0; e < ivp->events && ivp->found; e++) free_points(&ivp->found[e]);
  for (int e = 0; e < ivp->events && ivp->found_after; e++) free_points(&ivp->found_after[e]);
  ns_free(ivp->found);
  ns_free(ivp->found_after);
  ns_free(ivp->segment);
  ns_free(ivp->ends);
  ns_free(ivp);
}

/* Appends a point; NS_ENOMEM. */
static NsStatus append_point(NsIvpPoints *points, int n, double t, const double *y) {
  if (points->count == points->capacity) {
    long capacity = points->capacity + points->capacity / 2 + 16;
    double *ts = ns_resize(points->t, (size_t)capacity, sizeof *ts);
    if (ts) points->t = ts;
    double *ys = ts ? ns_resize(points->y, (size_t)capacity, (size_t)(n > 0 ? n : 1) * sizeof *ys) : NULL;
    if (!ys) return NS_ENOMEM;
    points->y = ys;
    points->capacity = capacity;
  }
  points->t[points->count] = t;
  memcpy(points->y + (ptrdiff_t)points->count * n, y, (size_t)n * sizeof *y);
  points->count++;
  return NS_OK;
}

/* ---- dense output ---- */

/* The index of the step that contains t. */
static long segment_of(const NsIvp *ivp, double t) {
  const double *knots = ivp->knots.t;
  bool backward = ivp->knots.count > 1 && knots[ivp->knots.count - 1] < knots[0];
  long low = 0, high = ivp->segments - 1;
  while (low < high) {
    long middle = (low + high + 1) / 2;
    if (backward ? t < knots[middle] : t > knots[middle]) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The same, beginning at step k. */
static long segment_near(const NsIvp *ivp, double t, long k) {
  const double *knots = ivp->knots.t;
  bool backward = ivp->knots.count > 1 && knots[ivp->knots.count - 1] < knots[0];
  for (int tries = 0; tries < 3 && k >= 0 && k < ivp->segments; tries++) {
    bool early = k > 0 && (backward ? t >= knots[k] : t <= knots[k]);
    bool late = k < ivp->segments - 1 && (backward ? t < knots[k + 1] : t > knots[k + 1]);
    if (!early && !late) return k;
    k += late ? 1 : -1;
  }
  return segment_of(ivp, t);
}

/* Copies the state at a restart at t, on one side of all events there. Returns false when there is none. */
static bool at_jump(const NsIvp *ivp, double t, NsIvpSide side, double *y) {
  const NsIvpPoints *from = side == NS_IVP_BEFORE ? &ivp->before : &ivp->after;
  bool backward = from->count > 1 && from->t[from->count - 1] < from->t[0], first = side == NS_IVP_BEFORE;
  long low = 0, high = from->count; /* the first restart at or after t; for the side after: the first one later than t */
  while (low < high) {
    long middle = (low + high) / 2;
    double ahead = backward ? t - from->t[middle] : from->t[middle] - t;
    if (first ? ahead >= 0 : ahead > 0) high = middle;
    else low = middle + 1;
  }
  long k = first ? low : low - 1;
  if (k < 0 || k >= from->count || from->t[k] != t) return false;
  memcpy(y, from->y + (ptrdiff_t)k * ivp->n, (size_t)ivp->n * sizeof *y);
  return true;
}

void ns_ivp_at_near(const NsIvp *ivp, double t, NsIvpSide side, long *step, double *y) {
  if (ivp->before.count > 0 && at_jump(ivp, t, side, y)) return;
  if (ivp->segments == 0) {
    memcpy(y, ivp->knots.y, (size_t)ivp->n * sizeof *y);
    return;
  }
  long k = *step = segment_near(ivp, t, *step);
  double from = ivp->knots.t[k];
  ns_dense_at(ivp->n, ivp->rows, ivp->knots.y + (ptrdiff_t)k * ivp->n, ivp->segment + (ptrdiff_t)k * ivp->rows * ivp->n,
              (t - from) / (ivp->ends[k] - from), y);
}

void ns_ivp_at(const NsIvp *ivp, double t, NsIvpSide side, double *y) {
  long step = -1;
  ns_ivp_at_near(ivp, t, side, &step, y);
}

double ns_ivp_step_end(const NsIvp *ivp, double t, double t_end, long *step) {
  const double *knots = ivp->knots.t;
  double sign = t_end < t ? -1 : 1;
  if (ivp->segments == 0) return t_end;
  long k = *step = segment_near(ivp, t, *step), last = ivp->knots.count - 1;
  bool against = sign * (knots[last] - knots[0]) < 0;
  if (against) k++;
  while (k >= 0 && k <= last && sign * (knots[k] - t) <= 0) k += against ? -1 : 1;
  return k >= 0 && k <= last && sign * (t_end - knots[k]) > 0 ? knots[k] : t_end;
}

/* Makes space for the polynomial of one more step. */
static NsStatus grow_segments(NsIvp *ivp) {
  if (ivp->segments < ivp->segments_room) return NS_OK;
  long room = ivp->segments_room + ivp->segments_room / 2 + 16;
  size_t one = (size_t)ivp->rows * (size_t)(ivp->n > 0 ? ivp->n : 1) * sizeof(double);
  double *segment = ns_resize(ivp->segment, (size_t)room, one);
  if (segment) ivp->segment = segment;
  double *ends = segment ? ns_resize(ivp->ends, (size_t)room, sizeof *ends) : NULL;
  if (!ends) return NS_ENOMEM;
  ivp->ends = ends;
  ivp->segments_room = room;
  return NS_OK;
}

/* ---- the run ---- */

typedef struct Run {
  NsIvp *ivp;
  const NsStepperClass *method;
  const NsIvpOptions *options;
  NsStepper *stepper;
  NsEventSearch *search;
  const double *segment;  /* polynomial of the last step; NULL: not made */
  double *y;              /* n */
  double *before, *after; /* n: the state at a stop, before the events there and after them */
  double *tolerance;      /* n: the error allowed in the states of the last step */
  long next;              /* index of the next time in t_eval */
  NsStepperState past;    /* counts up to the last restart */
  double t_start;         /* time of the last start or restart */
  double flight;          /* time between the last two restarts; 0: there were less */
  bool done;
} Run;

static NsStatus ivp_make(Run *run, const NsOdeProblem *problem) {
  NsStatus status = run->method->create(&run->stepper, problem);
  run->y = ns_alloc((size_t)run->ivp->n, sizeof *run->y);
  run->before = ns_alloc((size_t)run->ivp->n, sizeof *run->before);
  run->after = ns_alloc((size_t)run->ivp->n, sizeof *run->after);
  run->tolerance = ns_alloc((size_t)run->ivp->n, sizeof *run->tolerance);
  if (status == NS_OK && !(run->y && run->before && run->after && run->tolerance)) status = NS_ENOMEM;
  if (status == NS_OK && run->ivp->events > 0) status = ns_event_search_new(&run->search, run->ivp->n, &run->options->events);
  return status;
}

static void unmake(Run *run) {
  run->method->destroy(run->stepper);
  ns_event_search_free(run->search);
  ns_free(run->y);
  ns_free(run->before);
  ns_free(run->after);
  ns_free(run->tolerance);
}

/* Whether a is at or before b in the direction of integration. */
static bool reached(const Run *run, double a, double b) {
  return run->options->tf < run->options->t0 ? a >= b : a <= b;
}

/* Records the first point and evaluates the events there. */
static NsStatus ivp_begin(Run *run, NsError *err) {
  const NsIvpOptions *o = run->options;
  NsIvp *ivp = run->ivp;
  NsStatus status = NS_OK;
  if (!o->t_eval) status = append_point(&ivp->points, ivp->n, o->t0, o->y0);
  for (; o->t_eval && run->next < o->evals && o->t_eval[run->next] == o->t0 && status == NS_OK; run->next++)
    status = append_point(&ivp->points, ivp->n, o->t0, o->y0);
  if (status == NS_OK && o->dense) status = append_point(&ivp->knots, ivp->n, o->t0, o->y0);
  if (status == NS_OK && run->search) status = ns_event_search_start(run->search, o->t0, o->y0, err);
  run->method->start(run->stepper, o->t0, o->y0, o->tf, o->h_first);
  run->t_start = o->t0;
  run->done = o->t0 == o->tf;
  return status;
}

/* Makes the polynomial of the last step in the next free segment. */
static NsStatus make_segment(Run *run, NsError *err) {
  NsIvp *ivp = run->ivp;
  NsStatus status = run->method->interpolate(run->stepper, err);
  if (status == NS_OK) status = grow_segments(ivp);
  if (status != NS_OK) return status;
  double *to = ivp->segment + (ptrdiff_t)ivp->segments * ivp->rows * ivp->n;
  for (int r = 0; r < ivp->rows; r++, to += ivp->n) memcpy(to, run->stepper->rows[r], (size_t)ivp->n * sizeof *to);
  run->segment = ivp->segment + (ptrdiff_t)ivp->segments * ivp->rows * ivp->n;
  return NS_OK;
}

static void interpolated(const Run *run, double t, double *y) {
  const NsStepperState *at = &run->stepper->state;
  if (t == at->t) memcpy(y, at->y, (size_t)run->ivp->n * sizeof *y);
  else ns_dense_at(run->ivp->n, run->ivp->rows, at->y_old, run->segment, (t - at->t_old) / (at->t - at->t_old), y);
}

/* Records the points of the last step up to t. */
static NsStatus ivp_record(Run *run, double t) {
  NsIvp *ivp = run->ivp;
  const NsIvpOptions *o = run->options;
  NsStatus status = NS_OK;
  interpolated(run, t, run->y);
  if (!o->t_eval) status = append_point(&ivp->points, ivp->n, t, run->y);
  if (status == NS_OK && o->dense) {
    ivp->ends[ivp->segments++] = run->stepper->state.t;
    status = append_point(&ivp->knots, ivp->n, t, run->y);
  }
  for (; o->t_eval && run->next < o->evals && reached(run, o->t_eval[run->next], t) && status == NS_OK; run->next++) {
    interpolated(run, o->t_eval[run->next], run->y);
    status = append_point(&ivp->points, ivp->n, o->t_eval[run->next], run->y);
  }
  return status;
}

/* ---- events ---- */

/* Records an occurrence: the states before and after it. */
static NsStatus append_root(NsIvp *ivp, int event, double t, const double *before, const double *after) {
  NsStatus status = append_point(&ivp->found[event], ivp->n, t, before);
  return status == NS_OK ? append_point(&ivp->found_after[event], ivp->n, t, after) : status;
}

/* The dense output of a step. */
typedef struct StepDense {
  Run *run;
  NsDenseOutput dense;
} StepDense;

static NsStatus step_dense_at(void *context, double t, double *y, NsError *err) {
  const StepDense *c = context;
  return c->dense.at(c->dense.context, t, y, err);
}

static NsStatus step_dense_rate(void *context, double t, const double *y, double *ydot, NsError *err) {
  Run *run = ((StepDense *)context)->run;
  return ns_ode_rate(&run->stepper->problem, t, y, ydot, &run->past.evaluations, err);
}

/* The error that the norm of the step control allows in each state, when all of it is there. */
static const double *allowed_errors(Run *run) {
  const NsOdeProblem *problem = &run->stepper->problem;
  const NsStepperState *at = &run->stepper->state;
  for (int i = 0; i < problem->n; i++)
    run->tolerance[i] = sqrt(problem->n) * (problem->atol[i] + problem->rtol * fmax(fabs(at->y_old[i]), fabs(at->y[i])));
  return run->tolerance;
}

/* Finds the roots of the events in the step, and records those that do not act. */
static NsStatus find_events(Run *run, NsEventRoots *found, NsError *err) {
  NsIvp *ivp = run->ivp;
  const NsStepperState *at = &run->stepper->state;
  const bool *acts = run->options->events.acts;
  NsDenseRows rows = {ivp->n, ivp->rows, at->t_old, at->t, at->y_old, run->segment};
  StepDense step = {run, ns_dense_of_rows(&rows)};
  NsDenseOutput dense = {.t_old = at->t_old, .t = at->t, .at = step_dense_at, .context = &step};
  dense.rate = step_dense_rate;
  dense.rough = !run->method->one_step;
  dense.tolerance = allowed_errors(run);
  NsStatus status = ns_event_search_along(run->search, &dense, found, err);
  for (long i = 0; i < found->count && status == NS_OK; i++) {
    const NsEventRoot *root = &found->roots[i];
    if (acts && acts[root->event]) continue;
    ns_dense_at(ivp->n, ivp->rows, at->y_old, run->segment, (root->t - at->t_old) / (at->t - at->t_old), run->y);
    status = append_root(ivp, root->event, root->t, run->y, run->y);
  }
  return status;
}

static bool acts_at_stop(const Run *run, const NsEventRoots *found, int event) {
  const bool *acts = run->options->events.acts;
  if (!acts || !acts[event] || found->end < 0) return false;
  for (long i = found->end; i < found->count; i++)
    if (found->roots[i].event == event) return true;
  return false;
}

/* Whether any event acts at the stop. */
static bool jumps(const Run *run, const NsEventRoots *found) {
  for (int e = 0; e < run->options->events.count; e++)
    if (acts_at_stop(run, found, e)) return true;
  return false;
}

/* Applies the events that act at the stop to the state `after` (n), in their order, and records them. */
static NsStatus act(Run *run, const NsEventRoots *found, double t, double *after, NsError *err) {
  const NsIvpOptions *o = run->options;
  NsStatus status = NS_OK;
  for (int e = 0; e < o->events.count && status == NS_OK; e++) {
    if (!acts_at_stop(run, found, e)) continue;
    memcpy(run->y, after, (size_t)run->ivp->n * sizeof *after);
    if (o->companion) status = o->companion->meet(o->companion, e, t, run->y, err);
    if (status == NS_OK) status = o->apply(o->events.context, e, t, after, err);
    if (status == NS_OK) status = append_root(run->ivp, e, t, run->y, after);
    if (status == NS_OK && o->companion) status = o->companion->jump(o->companion, e, t, run->y, after, err);
  }
  return status;
}

/* Records the state after the events at t, beside that before. */
static NsStatus record_after(Run *run, double t, const double *before, const double *after) {
  NsIvp *ivp = run->ivp;
  NsIvpPoints *points = &ivp->points;
  size_t bytes = (size_t)ivp->n * sizeof *after;
  NsStatus status = append_point(&ivp->before, ivp->n, t, before);
  if (status == NS_OK) status = append_point(&ivp->after, ivp->n, t, after);
  if (status == NS_OK && !run->options->t_eval) status = append_point(points, ivp->n, t, after);
  if (run->options->t_eval && points->count > 0 && points->t[points->count - 1] == t)
    memcpy(points->y + (ptrdiff_t)(points->count - 1) * ivp->n, after, bytes);
  if (run->options->dense) memcpy(ivp->knots.y + (ptrdiff_t)(ivp->knots.count - 1) * ivp->n, after, bytes);
  return status;
}

static void add_counts(NsStepperState *to, const NsStepperState *of) {
  to->evaluations += of->evaluations;
  to->jacobians += of->jacobians;
  to->factorizations += of->factorizations;
  to->steps += of->steps;
  to->rejected += of->rejected;
}

/*
** Starts the last step again with a shorter length, since it skips an occurrence of the event. Near an accumulation of events
** this follows them, however long the steps are that the tolerances allow.
*/
static NsStatus retry_shorter(Run *run, int event, NsError *err) {
  enum { SHORTER = 16 };
  const NsStepperState *at = &run->stepper->state;
  double t = at->t_old, h = fabs(at->t - t) / SHORTER;
  if (h <= ns_event_search_least(t)) return ns_event_too_close(&run->options->events, event, t, err);
  memcpy(run->y, at->y_old, (size_t)run->ivp->n * sizeof *run->y);
  add_counts(&run->past, at);
  run->method->start(run->stepper, t, run->y, run->options->tf, h);
  return NS_OK;
}

/* Starts the integration again at (t, y). The first step is at most LEAP times as long as the way since the last restart. */
static NsStatus ivp_restart(Run *run, double t, const double *y, NsError *err) {
  enum { LEAP = 8 }; /* when events accumulate, steps get shorter with the flights, so that the search resolves them */
  static const double ROUNDED = 4096 *
                                DBL_EPSILON; /* part of a step below which a way is rounding of an event, and no flight */
  const NsStepperState *at = &run->stepper->state;
  double way = fabs(t - run->t_start), h = fmin(at->h_next, fabs(run->options->tf - t));
  if (way < ROUNDED * fabs(at->t - at->t_old)) way = 0;
  if (way > 0) run->flight = way, h = fmin(h, LEAP * way);
  add_counts(&run->past, at);
  run->method->start(run->stepper, t, y, run->options->tf, run->method->one_step ? h : 0);
  run->t_start = t;
  NsStatus status = ns_event_search_restart(run->search, t, y, y, err);
  if (memcmp(run->before, run->after, (size_t)run->ivp->n * sizeof *y) == 0) ns_event_search_kept(run->search);
  return status;
}

/* What follows from the roots at the stop of this step: the events there act, the run ends, or starts there again. */
static NsStatus pass_stop(Run *run, const NsEventRoots *found, NsError *err) {
  NsIvp *ivp = run->ivp;
  double t = found->roots[found->end].t;
  for (long i = found->end; i < found->count && ivp->end != NS_IVP_EVENT; i++)
    if (found->roots[i].last) {
      ivp->end = NS_IVP_EVENT;
      ivp->ended_event = found->roots[i].event;
      ns_event_text(&run->options->events, found->roots[i].event, ivp->ended_by);
    }
  run->done = ivp->end == NS_IVP_EVENT || t == run->options->tf;
  if (!jumps(run, found)) return NS_OK;
  NsIvpCompanion *companion = run->options->companion;
  NsStatus status = companion ? companion->reach(companion, ivp, t, err) : NS_OK;
  interpolated(run, t, run->before);
  memcpy(run->after, run->before, (size_t)ivp->n * sizeof *run->after);
  if (status == NS_OK) status = act(run, found, t, run->after, err);
  if (status == NS_OK) status = record_after(run, t, run->before, run->after);
  if (status == NS_OK && companion) status = companion->leave(companion, ivp, t, err);
  return status == NS_OK && !run->done ? ivp_restart(run, t, run->after, err) : status;
}

/*
** The longest step. A method that starts with a low order takes PARTS steps at least between two restarts: close to an
** accumulation the states are smaller than the tolerances, which then do not limit the steps.
*/
static double longest_step(const Run *run) {
  enum { PARTS = 8 };
  double most = run->options->h_most;
  if (run->method->one_step || run->flight == 0) return most;
  return fmin(most, fmax(run->flight, fabs(run->stepper->state.t - run->t_start)) / PARTS);
}

/* One step: stepping, events, recording. */
static NsStatus ivp_advance(Run *run, NsError *err) {
  const NsIvpOptions *o = run->options;
  const NsStepperState *at = &run->stepper->state;
  NsEventRoots found = NS_EVENT_ROOTS_NONE;
  run->stepper->h_limit = longest_step(run);
  NsStatus status = run->method->step(run->stepper, err);
  if (status != NS_OK) return status;
  bool wanted = o->t_eval && run->next < o->evals && reached(run, o->t_eval[run->next], at->t);
  if (o->dense || run->search || wanted) status = make_segment(run, err);
  if (status == NS_OK && run->search) status = find_events(run, &found, err);
  if (status == NS_OK && found.unresolved >= 0) return retry_shorter(run, found.unresolved, err);
  double t = status == NS_OK && found.end >= 0 ? found.roots[found.end].t : at->t;
  bool recorded = t == at->t_old && jumps(run, &found); /* the state before an event at the start of the step */
  run->done = at->t == o->tf;
  if (status == NS_OK && !recorded) status = ivp_record(run, t);
  return status == NS_OK && found.end >= 0 ? pass_stop(run, &found, err) : status;
}

/* Whether the integration ends without an error status: the points computed so far are valid. */
static bool ends_early(NsStatus status) {
  return status == NS_ENOCONV || status == NS_ENAN || status == NS_EMAXITER || status == NS_EARG;
}

/* The companion follows to the end of the record. */
static NsStatus let_companion_end(Run *run, NsStatus status, NsError *err) {
  NsIvpCompanion *companion = run->options->companion;
  const NsIvpPoints *knots = &run->ivp->knots;
  if (!companion || knots->count == 0 || (status != NS_OK && !ends_early(status))) return status;
  NsError own = {NS_OK, ""};
  NsStatus followed = companion->reach(companion, run->ivp, knots->t[knots->count - 1], &own);
  if (followed == NS_OK) return status;
  *err = own;
  return followed;
}

/* Ends the integration without an error status: the points computed so far are valid. */
static NsStatus ivp_conclude(NsIvp *ivp, NsStatus status, const NsError *err) {
  if (status == NS_OK) return NS_OK;
  ivp->end = NS_IVP_FAILED;
  ivp->why = *err;
  return ends_early(status) ? NS_OK : status;
}

NsStatus ns_ivp_run(NsIvp *ivp, const NsStepperClass *method, const NsOdeProblem *problem, const NsIvpOptions *options,
                    NsError *err) {
  Run run = {.ivp = ivp, .method = method, .options = options};
  NsStatus status = ivp_make(&run, problem);
  if (status == NS_OK) status = ivp_begin(&run, err);
  while (status == NS_OK && !run.done) {
    if (ns_interrupted()) status = ns_fail(err, NS_EINTR, "interrupted (t=%.10g)", run.stepper->state.t);
    else if (run.past.steps + run.stepper->state.steps >= options->steps_most)
      status = ns_fail(err, NS_EMAXITER, "%ld steps were not enough (t=%.10g)", options->steps_most, run.stepper->state.t);
    else status = ivp_advance(&run, err);
  }
  status = let_companion_end(&run, status, err);
  if (run.stepper) ivp->counts = run.stepper->state;
  add_counts(&ivp->counts, &run.past);
  ivp->counts.y_old = ivp->counts.y = NULL;
  unmake(&run);
  if (status == NS_ENOMEM) ns_fail(err, status, "not enough memory");
  return ivp_conclude(ivp, status, err);
}
