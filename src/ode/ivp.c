/*
** ivp.c
** The loop over the steps, and the record of the points.
*/
#include "ode/ivp.h"

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
  if (ivp->found) return NS_OK;
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
  for (int e = 0; e < ivp->events && ivp->found; e++) free_points(&ivp->found[e]);
  ns_free(ivp->found);
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

void ns_ivp_at(const NsIvp *ivp, double t, double *y) {
  if (ivp->segments == 0) {
    memcpy(y, ivp->knots.y, (size_t)ivp->n * sizeof *y);
    return;
  }
  long k = segment_of(ivp, t);
  double from = ivp->knots.t[k];
  ns_dense_at(ivp->n, ivp->rows, ivp->knots.y + (ptrdiff_t)k * ivp->n, ivp->segment + (ptrdiff_t)k * ivp->rows * ivp->n,
              (t - from) / (ivp->ends[k] - from), y);
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
  const double *segment; /* polynomial of the last step; NULL: not made */
  double *y;             /* n */
  long next;             /* index of the next time in t_eval */
  bool done;
} Run;

static NsStatus ivp_make(Run *run, const NsOdeProblem *problem) {
  NsStatus status = run->method->create(&run->stepper, problem);
  run->y = ns_alloc((size_t)run->ivp->n, sizeof *run->y);
  if (status == NS_OK && !run->y) status = NS_ENOMEM;
  if (status == NS_OK && run->ivp->events > 0) status = ns_event_search_new(&run->search, run->ivp->n, &run->options->events);
  return status;
}

static void unmake(Run *run) {
  run->method->destroy(run->stepper);
  ns_event_search_free(run->search);
  ns_free(run->y);
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

/* Records the roots of the events in the step; if one is terminal, sets *stop and *t = its time. */
static NsStatus find_events(Run *run, bool *stop, double *t, NsError *err) {
  NsIvp *ivp = run->ivp;
  const NsStepperState *at = &run->stepper->state;
  NsEventRoots found;
  NsDenseCourse dense = {ivp->n, ivp->rows, at->t_old, at->t, at->y_old, run->segment};
  NsCourse course = ns_dense_course(&dense);
  NsStatus status = ns_event_search_along(run->search, &course, &found, err);
  for (long i = 0; i < found.count && status == NS_OK; i++) {
    const NsEventRoot *root = &found.roots[i];
    ns_dense_at(ivp->n, ivp->rows, at->y_old, run->segment, (root->t - at->t_old) / (at->t - at->t_old), run->y);
    status = append_point(&ivp->found[root->event], ivp->n, root->t, run->y);
  }
  *stop = found.end >= 0;
  if (*stop) *t = found.roots[found.end].t, ivp->end_event = found.roots[found.end].event;
  return status;
}

/* One step: stepping, events, recording. */
static NsStatus ivp_advance(Run *run, NsError *err) {
  const NsIvpOptions *o = run->options;
  NsIvp *ivp = run->ivp;
  bool stop = false;
  run->stepper->h_limit = o->h_most;
  NsStatus status = run->method->step(run->stepper, err);
  if (status != NS_OK) return status;
  double t = run->stepper->state.t;
  bool wanted = o->t_eval && run->next < o->evals && reached(run, o->t_eval[run->next], t);
  if (o->dense || run->search || wanted) status = make_segment(run, err);
  if (status == NS_OK && run->search) status = find_events(run, &stop, &t, err);
  if (status == NS_OK) status = ivp_record(run, stop ? t : run->stepper->state.t);
  if (stop) ivp->end = NS_IVP_EVENT;
  run->done = stop || run->stepper->state.t == o->tf;
  return status;
}

/* Ends the integration without an error status: the points computed so far are valid. */
static NsStatus ivp_conclude(NsIvp *ivp, NsStatus status, const NsError *err) {
  if (status == NS_OK) return NS_OK;
  ivp->end = NS_IVP_FAILED;
  ivp->why = *err;
  return status == NS_ENOCONV || status == NS_ENAN || status == NS_EMAXITER ? NS_OK : status;
}

NsStatus ns_ivp_run(NsIvp *ivp, const NsStepperClass *method, const NsOdeProblem *problem, const NsIvpOptions *options,
                    NsError *err) {
  Run run = {.ivp = ivp, .method = method, .options = options};
  NsStatus status = ivp_make(&run, problem);
  if (status == NS_OK) status = ivp_begin(&run, err);
  while (status == NS_OK && !run.done) {
    if (ns_interrupted()) status = ns_fail(err, NS_EINTR, "interrupted (t=%.10g)", run.stepper->state.t);
    else if (run.stepper->state.steps >= options->steps_most)
      status = ns_fail(err, NS_EMAXITER, "%ld steps were not enough (t=%.10g)", run.stepper->state.steps, run.stepper->state.t);
    else status = ivp_advance(&run, err);
  }
  if (run.stepper) ivp->counts = run.stepper->state;
  ivp->counts.y_old = ivp->counts.y = NULL;
  unmake(&run);
  if (status == NS_ENOMEM) ns_fail(err, status, "not enough memory");
  return ivp_conclude(ivp, status, err);
}
