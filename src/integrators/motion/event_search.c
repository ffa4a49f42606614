/*
** event_search.c
** Finds events within a step: the first root of each row's guard, as a polynomial, for certain.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_search.h"

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_kink.h"
#include "integrators/motion/motion_guard.h"

enum {
  MAX_POLISH = 6,    /* Newton iterations for the time of an event */
  HALVINGS = 20,     /* limit of halvings of a piece whose guard is no polynomial; a kink is located to 1e-6 of the piece */
  MAX_HALVED = 5000, /* limit of halvings in a step (45,000 evaluations), for a guard that is 0 up to noise */
  PIECE = 5,         /* length of a piece in resolutions: its nodes are closer than one resolution */
  DENSE_ROWS = 7     /* of dop853.h */
};

/* A guard's polynomial is trusted when its slopes differ from the known rates by at most this part. Chosen by experience. */
static const double TRUSTED = 1e-3;

/* The part of the way to the end of sliding in space that a step goes; the sliding velocity becomes a quarter. */
static const double APPROACH = 0.75;

/*
** From a root of a guard's polynomial on, the guard is looked at after these parts of the step: the first, the factor from one to the
** next, and the last.
*/
static const double LOOK_FIRST = 1e-12, LOOK_GROWTH = 4, LOOK_LAST = 1e-3;

/* A guard jumps when it changes by more than this part of its scale from one number for the time to the next. */
static const double JUMP = 1e-6;

static double event_search_step_length(const NsEventDriven *ed) {
  const NsStepperState *step = &ed->run.stepper->state;
  return step->t - step->t_old;
}

/* Turns the polynomial b (degree *n) of a row into one that is positive until the event. */
static void take_guard(const NsEventDriven *ed, int row, const NsGuardPiece *piece, double noise, int *n, double *b) {
  const NsMotionGuard *guard = ns_motion_guard(ed, row);
  if (guard->polynomial) guard->polynomial(ed, row, piece, noise, n, b);
}

/* ---- guards that are known along the step ---- */

/* The first root of y of an open contact whose y is linear in the coordinates; its polynomial comes from the dense output. */
static NsStatus straight_root(NsEventDriven *ed, int row, double *x, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  const double *q = step->y_old, *v = q + ed->Nq;
  double F[DENSE_ROWS], b[NS_BERNSTEIN_SIZE], noise = 0;
  int n = DENSE_ROWS;
  NsStatus status = NS_OK;
  if (ed->mode->rows[row].level < 0) status = ns_motion_outputs(ed->motion, 1, &row, step->t, step->y, step->y + ed->Nq, err);
  if (ed->mode->rows[row].level < 0) noise = ns_ed_rounding(ed, row);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 1, &row, step->t_old, q, v, err);
  if (status != NS_OK) return status;
  noise = fmax(noise, ns_ed_rounding(ed, row));
  for (int f = 0; f < DENSE_ROWS; f++) F[f] = ns_motion_straight_part(ed->motion, row, ed->run.stepper->rows[f]);
  ns_bernstein_of_dense(ed->now->y[row], DENSE_ROWS, F, b);
  NsGuardPiece whole = {0, 1, event_search_step_length(ed)};
  take_guard(ed, row, &whole, noise, &n, b);
  if (!ns_bernstein_first(n, b, x)) *x = INFINITY;
  return NS_OK;
}

/* ---- guards that are known at points ---- */

/* Takes the value of the guard of a row, just evaluated, and its noise, at node j. */
static void take_value(NsEventDriven *ed, int row, int j) {
  const NsMotionSearch *search = &ed->search;
  const NsMotionGuard *guard = ns_motion_guard(ed, row);
  double noise = guard->noise(ed, row);
  search->value[j][row] = guard->value(ed, row);
  search->noise[row] = j == 0 ? noise : fmax(search->noise[row], noise);
}

/* Evaluates row `row` (-1: all rows that are not straight) at node j of a piece, on the dense output. */
static NsStatus take_node(NsEventDriven *ed, int row, const NsGuardPiece *piece, int j, NsError *err) {
  const NsMotionSearch *search = &ed->search;
  const NsStepperState *step = &ed->run.stepper->state;
  double x = piece->from + piece->width * ns_bernstein_node(j), t = step->t_old + x * piece->length;
  if (j == NS_BERNSTEIN_DEGREE && piece->from + piece->width == 1) t = step->t;
  ns_hybrid_at(&ed->run, t, ed->run.sample);
  const double *q = ed->run.sample, *v = q + ed->Nq;
  *ed->run.clock = t;
  bool active = row < 0 ? ed->mode->nacting > 0 : ns_motion_watched(ed->mode, row) != GUARD_GAP;
  const int *outputs = row < 0 ? search->curved : &row;
  int n = row < 0 ? search->ncurved : !active, first = row < 0 ? 0 : row, last = row < 0 ? ed->m : row;
  NsStatus status = active ? ns_ed_accelerate(ed, t, q, v, err) : NS_OK;
  for (int i = first; i <= last && active && status == NS_OK; i++)
    if (ns_motion_watched(ed->mode, i) != GUARD_NONE && ns_motion_watched(ed->mode, i) != GUARD_GAP) take_value(ed, i, j);
  if (status == NS_OK && n > 0) status = ns_motion_outputs(ed->motion, n, outputs, t, q, v, err);
  for (int k = 0; k < n && status == NS_OK; k++) {
    take_value(ed, outputs[k], j);
    search->rate[j][outputs[k]] = ed->now->u[outputs[k]];
  }
  return status;
}

static NsStatus take_nodes(NsEventDriven *ed, int row, const NsGuardPiece *piece, NsError *err) {
  NsStatus status = NS_OK;
  for (int j = 0; j < NS_BERNSTEIN_SIZE && status == NS_OK; j++) status = take_node(ed, row, piece, j, err);
  return status;
}

/* The polynomial of a row's guard on a piece, its error, and whether the error is only rounding. */
typedef struct Guard {
  int n;
  double b[NS_BERNSTEIN_SIZE], error;
  bool exact;
} Guard;

/*
** Fits the polynomial through the nodes. Its error is the interpolation error or, when the rates are known, 0.1 times the
** largest difference of slope and rate, if that is larger. 0.1: nodes are 0.1 to 0.2 of the piece apart. This detects
** oscillations between nodes.
*/
static Guard fit_guard(const NsEventDriven *ed, int row, const NsGuardPiece *piece) {
  const NsMotionSearch *search = &ed->search;
  Guard guard = {.n = NS_BERNSTEIN_DEGREE};
  bool open = ns_motion_watched(ed->mode, row) == GUARD_GAP;
  double v[NS_BERNSTEIN_SIZE], length = piece->width * piece->length, most = 0, fastest = 0, apart = 0;
  for (int j = 0; j < NS_BERNSTEIN_SIZE; j++) {
    v[j] = search->value[j][row];
    most = fmax(most, fabs(v[j]));
  }
  guard.error = ns_bernstein_interpolate(v, guard.b);
  for (int j = 0; j < NS_BERNSTEIN_SIZE && open; j++) {
    double rate = search->rate[j][row] * length;
    fastest = fmax(fastest, fabs(rate));
    apart = fmax(apart, fabs(rate - ns_bernstein_slope(guard.n, guard.b, ns_bernstein_node(j))));
  }
  double noise = search->noise[row] + 16 * DBL_EPSILON * most;
  guard.exact = guard.error <= 4 * noise && apart <= TRUSTED * fastest + 64 * noise;
  guard.error = fmax(guard.error, 0.1 * apart);
  take_guard(ed, row, piece, noise, &guard.n, guard.b);
  for (int k = guard.n; k < NS_BERNSTEIN_DEGREE; k++)
    guard.error *= NS_BERNSTEIN_DEGREE * NS_BERNSTEIN_DEGREE; /* error of the slope at 0 */
  return guard;
}

static bool guard_is_positive(const Guard *guard) {
  for (int k = 0; k <= guard->n; k++)
    if (!(guard->b[k] > NS_BERNSTEIN_SAFETY * guard->error)) return false;
  return true;
}

/* Finds the first root *x (INFINITY: none) of a row in a piece with evaluated nodes; halves the piece if it must. */
static NsStatus piece_root(NsEventDriven *ed, int row, const NsGuardPiece *piece, int halvings, double *x, NsError *err) {
  Guard guard = fit_guard(ed, row, piece);
  *x = INFINITY;
  if (guard_is_positive(&guard)) return NS_OK;
  if (guard.exact || halvings == 0 || ed->search.halved >= MAX_HALVED) {
    if (ns_bernstein_first(guard.n, guard.b, x)) *x = piece->from + *x * piece->width;
    /*
    ** Of a force that jumps below 0 as the step begins, the time is found to rounding, behind the jump: before it nothing would happen,
    ** again and again.
    */
    double least = 8 * DBL_EPSILON * fabs(ed->run.stepper->state.t_old), wide = piece->width * piece->length;
    bool stands = halvings == 0 && ns_motion_guard(ed, row)->forces && *x * piece->length <= least;
    if (stands && wide <= least && guard.b[guard.n] < 0) *x = piece->from + piece->width;
    if (!stands || guard.exact || wide <= least) return NS_OK;
    *x = INFINITY;
  }
  NsStatus status = NS_OK;
  ed->search.halved++;
  for (int half = 0; half < 2 && status == NS_OK && *x == INFINITY; half++) {
    NsGuardPiece part = {piece->from + half * piece->width / 2, piece->width / 2, piece->length};
    status = take_nodes(ed, row, &part, err);
    if (status == NS_OK) status = piece_root(ed, row, &part, halvings > 0 ? halvings - 1 : 0, x, err);
  }
  return status;
}

/* ---- the first event ---- */

static void keep_first(int i, double x, int *row, double *first) {
  if (x < *first) *first = x, *row = i;
}

/* The first root before *first of the rows that are not straight; the pieces follow from the resolution. */
static NsStatus curved_root(NsEventDriven *ed, int *row, double *first, NsError *err) {
  double parts = ed->search.ncurved > 0 ? ceil(event_search_step_length(ed) / (PIECE * ns_ed_resolution(ed))) : 1, x;
  NsStatus status = NS_OK;
  if (!(parts >= 1)) parts = 1;
  for (double k = 0; k < parts && k / parts < *first && status == NS_OK; k++) {
    NsGuardPiece piece = {k / parts, k + 1 == parts ? 1 - k / parts : 1 / parts, event_search_step_length(ed)};
    status = take_nodes(ed, -1, &piece, err);
    for (int i = 0; i <= ed->m && status == NS_OK; i++) {
      NsGuardKind kind = ns_motion_watched(ed->mode, i);
      if (kind == GUARD_NONE || (kind == GUARD_GAP && ed->mode->rows[i].straight)) continue;
      status = piece_root(ed, i, &piece, HALVINGS, &x, err);
      keep_first(i, x, row, first);
    }
  }
  return status;
}

/* The first root of all rows in the step, in units of its length. When there is none: *first > 1 and *row = -1. */
static NsStatus first_root(NsEventDriven *ed, int *row, double *first, NsError *err) {
  NsMotionSearch *search = &ed->search;
  NsStatus status = NS_OK;
  bool active = false;
  *first = INFINITY;
  search->ncurved = search->halved = 0;
  for (int i = 0; i <= ed->m && status == NS_OK; i++) {
    NsGuardKind kind = ns_motion_watched(ed->mode, i);
    double x = INFINITY;
    if (kind == GUARD_NONE) continue;
    if (kind != GUARD_GAP) active = true;
    else if (ed->mode->rows[i].straight) status = straight_root(ed, i, &x, err);
    else search->curved[search->ncurved++] = i;
    if (status == NS_OK) keep_first(i, x, row, first);
  }
  if (status != NS_OK || (!active && search->ncurved == 0)) return status;
  return curved_root(ed, row, first, err);
}

/* Repeats the step up to t. Where the guard tells its distance, Newton's method on t moves it to its event. */
static NsStatus event_search_go_to(NsEventDriven *ed, int row, double t, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  double end = step->t, off, rate, rounding;
  const NsMotionGuard *guard = ns_motion_guard(ed, row);
  for (int k = 0;; k++) {
    if (t <= step->t_old) t = nextafter(step->t_old, INFINITY);
    NsStatus status = ns_rk_retake(ed->run.stepper, t, err);
    if (status != NS_OK || !guard->distance || k == MAX_POLISH) return status;
    status = guard->distance(ed, row, &off, &rate, &rounding, err);
    if (status != NS_OK) return status;
    double next = t - off / rate;
    if (!(rate < 0) || fabs(off) <= rounding || !(next <= end) || !(next > step->t_old) || next == t) return NS_OK;
    t = next;
  }
}

/* The time of a root; x: in units of the step. */
static double root_time(const NsEventDriven *ed, double x) {
  const NsStepperState *step = &ed->run.stepper->state;
  return fmin(step->t_old + x * event_search_step_length(ed), step->t);
}

/*
** In space the directions of friction turn at any rate where sliding ends, and det A with them: a pole that is found where a contact has
** nearly stopped within the step is none before a step has come nearer to the stop. *row: the pole, which becomes the friction of this
** contact.
*/
static NsStatus pole_or_stop(NsEventDriven *ed, double x, int *row, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  double t = root_time(ed, x);
  if (ns_motion_watched(mode, *row) != GUARD_POLE) return NS_OK;
  ns_hybrid_at(&ed->run, t, ed->run.sample);
  *ed->run.clock = t;
  NsStatus status = ns_motion_outputs(ed->motion, mode->nacting, mode->acting, t, ed->run.sample, ed->run.sample + ed->Nq, err);
  for (int i = 0; i < ed->m && status == NS_OK; i++)
    if (ns_motion_watched(mode, i) == GUARD_SLIP && mode->rows[i].friction.width == 2 && !mode->rows[i].friction.stops &&
        ns_ed_sliding_along(ed, i) < (1 - APPROACH) * mode->slid[i])
      *row = i;
  return status;
}

/*
** In space the direction of friction, u / |u|, is not defined where sliding ends, and a step must not end there: steps go
** APPROACH of the way, until u is nearly 0. The last one keeps its direction. *row: -1 when this step is one of them.
*/
static NsStatus approach_stop(NsEventDriven *ed, double x, int *row, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  const NsStepperState *step = &ed->run.stepper->state;
  Friction *friction = &mode->rows[*row].friction;
  if (ns_motion_watched(ed->mode, *row) != GUARD_SLIP || friction->width != 2 || friction->stops) return NS_OK;
  double t = step->t_old + APPROACH * fmin(x, 1) * event_search_step_length(ed);
  if (!(t > step->t_old)) return NS_OK;
  friction->stops = mode->slid[*row] <= NS_NEARLY_STOPPED * mode->reach[*row];
  *row = -1;
  return ns_rk_retake(ed->run.stepper, t, err);
}

/* ---- bounds that move ---- */

/* The guard of friction that sticks, whose bounds may have kinks and jump, on the dense output. */
typedef struct MovingGuard {
  NsEventDriven *ed;
  int row;
  double scale; /* of the last value */
} MovingGuard;

/* *value at t is below 0 where the guard is, by more than rounding: slip that begins there has an acceleration. */
static NsStatus moving_guard_value(MovingGuard *guard, double t, double *value, NsError *err) {
  NsEventDriven *ed = guard->ed;
  ns_hybrid_at(&ed->run, t, ed->run.sample);
  *ed->run.clock = t;
  NsStatus status = ns_ed_accelerate(ed, t, ed->run.sample, ed->run.sample + ed->Nq, err);
  *value = ns_motion_stick_guard(ed->mode, guard->row, &guard->scale);
  *value += NS_ROUNDING_OF_FORCES * guard->scale - ed->mode->rows[guard->row].friction.level;
  return status;
}

/*
** Looks from the root x of a guard's polynomial on, with growing steps, for a time *b at which the guard is below 0; also a little after
** the step, for a guard that is 0 at its end. *found: there is one; else the guard only touches 0, as far as can be seen.
*/
static NsStatus look_beyond(MovingGuard *guard, double x, double *b, bool *found, NsError *err) {
  const NsStepperState *step = &guard->ed->run.stepper->state;
  double h = event_search_step_length(guard->ed), start = step->t_old + x * h, value;
  double last = fmin(step->t + LOOK_LAST * h, guard->ed->run.t_data);
  NsStatus status = NS_OK;
  *found = false;
  for (double way = 0; status == NS_OK && !*found; way = way > 0 ? LOOK_GROWTH * way : LOOK_FIRST) {
    *b = fmin(start + way * h, last);
    status = moving_guard_value(guard, *b, &value, err);
    *found = status == NS_OK && value < 0;
    if (way > LOOK_LAST || *b == last) break;
  }
  return status;
}

/*
** *b, where the guard is below 0, becomes the first time at which it is, by bisection: the guard may jump there, or be 0 before.
** *jumps: it jumps.
*/
static NsStatus first_below(MovingGuard *guard, double *b, bool *jumps, NsError *err) {
  const NsStepperState *step = &guard->ed->run.stepper->state;
  double h = event_search_step_length(guard->ed), a = *b, value = -1, above;
  NsStatus status = NS_OK;
  for (double way = LOOK_FIRST; status == NS_OK && value < 0 && a > step->t_old; way *= LOOK_GROWTH) {
    *b = a;
    a = fmax(a - way * h, step->t_old);
    status = moving_guard_value(guard, a, &value, err);
  }
  if (value < 0) *b = a;
  above = value;
  for (double t = a + (*b - a) / 2; status == NS_OK && t > a && t < *b; t = a + (*b - a) / 2) {
    status = moving_guard_value(guard, t, &value, err);
    if (value >= 0) above = value;
    *(value < 0 ? b : &a) = t;
  }
  if (status == NS_OK) status = moving_guard_value(guard, *b, &value, err);
  *jumps = above - value > JUMP * guard->scale;
  return status;
}

/* A guard that only touches 0 gets a slack, of its rounding where it is largest; the slack grows when that is not enough. */
static NsStatus add_slack(MovingGuard *guard, NsError *err) {
  const NsStepperState *step = &guard->ed->run.stepper->state;
  double *slack = &guard->ed->search.slack[guard->row], most = guard->scale, value;
  NsStatus status = moving_guard_value(guard, step->t_old, &value, err);
  most = fmax(most, guard->scale);
  if (status == NS_OK) status = moving_guard_value(guard, step->t, &value, err);
  *slack = fmax(fmax(16 * *slack, 4 * NS_ROUNDING_OF_FORCES * fmax(most, guard->scale)), DBL_MIN);
  return status;
}

/*
** The first event where bounds move. Polynomials find the kink or the jump of a bound to a part of the step only; the root that
** they tell is located on the guard itself, at *t. Where the guard only touches 0 the search is made once more.
*/
static NsStatus first_moving_root(NsEventDriven *ed, int *row, double *x, double *t, NsError *err) {
  double end = ed->run.stepper->state.t, at_end;
  memset(ed->search.slack, 0, (size_t)ed->m * sizeof *ed->search.slack);
  for (;;) {
    bool crosses = false;
    NsStatus status = first_root(ed, row, x, err);
    *t = root_time(ed, *x);
    if (status != NS_OK || *row < 0 || ns_motion_watched(ed->mode, *row) != GUARD_STICK) return status;
    MovingGuard guard = {ed, *row, 0};
    status = look_beyond(&guard, *x, t, &crosses, err);
    if (status == NS_OK && crosses) status = first_below(&guard, t, &ed->search.jumps, err);
    if (status == NS_OK && crosses && *t > end) {
      status = moving_guard_value(&guard, end, &at_end, err);
      crosses = at_end <= 2 * NS_ROUNDING_OF_FORCES * guard.scale;
      *t = end;
    }
    if (status == NS_OK && !crosses) status = add_slack(&guard, err);
    if (status != NS_OK || crosses) return status;
    *row = -1;
  }
}

NsStatus ns_ed_search(NsEventDriven *ed, int *row, NsError *err) {
  double x = 0, t = 0;
  bool any = false;
  *row = -1;
  ed->search.jumps = false;
  for (int i = 0; i <= ed->m; i++) any = any || ns_motion_watched(ed->mode, i) != GUARD_NONE;
  if (!any) return NS_OK;
  NsStatus status = ns_ed_find_kink(ed, row, err);
  if (status != NS_OK || *row >= 0) return status;
  ns_ed_measure_drift(ed, event_search_step_length(ed));
  status = ns_hybrid_interpolate(&ed->run, ed, err);
  if (status == NS_OK) status = ed->mode->moving ? first_moving_root(ed, row, &x, &t, err) : first_root(ed, row, &x, err);
  if (!ed->mode->moving) t = root_time(ed, x);
  if (status == NS_OK && *row >= 0) status = pole_or_stop(ed, x, row, err);
  if (status == NS_OK && *row >= 0) status = approach_stop(ed, x, row, err);
  if (status != NS_OK || *row < 0) return status;
  bool turns = false;
  if (ns_motion_watched(ed->mode, *row) == GUARD_GAP) status = ns_ed_turns_at_kink(ed, *row, t, &turns, err);
  return status == NS_OK && !turns ? event_search_go_to(ed, *row, t, err) : status;
}
