/*
** event_search.c
** Finds events within a step: the first root of each row's guard, as a polynomial, for certain.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/event_driven/event_search.h"

#include "integrators/event_driven/event_active.h"
#include "integrators/event_driven/event_pole.h"

enum {
  MAX_POLISH = 6,    /* Newton iterations for the time of an event */
  HALVINGS = 20,     /* limit of halvings of a piece whose guard is no polynomial; a kink is located to 1e-6 of the piece */
  MAX_HALVED = 5000, /* limit of halvings in a step (45,000 evaluations), for a guard that is 0 up to noise */
  PIECE = 5,         /* length of a piece in resolutions: its nodes are closer than one resolution */
  DENSE_ROWS = 7     /* of dop853.h */
};

/* A guard's polynomial is trusted when its slopes differ from the known rates by at most this part. Chosen by experience. */
static const double TRUSTED = 1e-3;

/* Newton on t ends when |y - level| is this part of the rounding of y (8 spacings of its terms): half a spacing. */
static const double ROUNDED = 0x1p-4;

/* The part of the way to the end of sliding in space that a step goes; the sliding velocity becomes a quarter. */
static const double APPROACH = 0.75;

/* A part of the step; from and width are parts of the step's length. */
typedef struct Piece {
  double from, width;
} Piece;

static double event_search_step_length(const NsEventDriven *ed) {
  const NsStepperState *step = &ed->rk->base.state;
  return step->t - step->t_old;
}

/* ---- guards ---- */

/* Whether a row has left the contact at the start of this step: then the root of y at the start is no event. */
static bool leaves(const NsEventDriven *ed, int row) {
  return ed->mode->rows[row].state == ROW_DEPARTING && ed->mode->rows[row].t0 == ed->rk->base.state.t_old;
}

/*
** The guard of friction that slips, from the polynomial of its velocity along d. When it began at the start of the piece, the
** root there is removed: velocity over time or, where the acceleration was 0, too, up to rounding, over the square of the time. A velocity
** that stays below the one that counts as 0 has no event: other friction keeps it there.
*/
static void take_sliding(const NsEventDriven *ed, int row, Piece piece, int *n, double *b) {
  const Friction *friction = &ed->mode->rows[row].friction;
  double most = 0;
  for (int k = 0; k <= *n; k++) most = fmax(most, fabs(b[k]));
  if (most <= ed->mode->slow[row]) {
    for (int k = 0; k <= *n; k++) b[k] = 1;
    return;
  }
  if (piece.from != 0 || friction->since != ed->rk->base.state.t_old) return;
  double start = friction->pull * piece.width * event_search_step_length(ed) / *n;
  bool pulled = start > 16 * DBL_EPSILON * most;
  b[0] = 0;
  b[1] = pulled ? start : 0;
  ns_bernstein_divide((*n)--, b);
  if (pulled) return;
  ns_bernstein_divide((*n)--, b);
}

/*
** Turns the polynomial b (degree *n) of a row into its guard, which is positive until the event. Active contact: lambda. Open
** contact: y - level. Contact that leaves at the start of the piece: (y - y(0)) / x, with the known slope at 0. When such a
** piece is so short that y stays within 2 * noise, the guard gets a slack of noise / 2 after the start; this is less than a
** bounce of a contact that does not rest.
*/
static void take_guard(const NsEventDriven *ed, int row, Piece piece, double noise, int *n, double *b) {
  const Row *r = &ed->mode->rows[row];
  NsGuardKind kind = ns_motion_guard_kind(ed->mode, row);
  if (kind == GUARD_SLIP) take_sliding(ed, row, piece, n, b);
  for (int k = 0; k <= *n && kind == GUARD_STICK; k++) b[k] -= r->friction.level;
  if (kind != GUARD_GAP) return;
  if (piece.from == 0 && leaves(ed, row)) {
    double way = r->u0 * piece.width * event_search_step_length(ed);
    for (int k = 1; k <= *n && way <= 2 * noise; k++) b[k] += 0.5 * noise;
    if (way > 2 * noise) b[1] = b[0] + way / *n;
    ns_bernstein_divide((*n)--, b);
    return;
  }
  double level = r->state == ROW_DEPARTING ? r->y0 - 0.5 * noise : r->level < 0 ? fmin(r->level, -noise) : 0;
  for (int k = 0; k <= *n; k++) b[k] -= level;
}

/* The first root of y of an open contact whose y is linear in the coordinates; its polynomial comes from the dense output. */
static NsStatus straight_root(NsEventDriven *ed, int row, double *x, NsError *err) {
  const NsStepperState *step = &ed->rk->base.state;
  const double *q = step->y_old, *v = q + ed->Nq;
  double F[DENSE_ROWS], b[NS_BERNSTEIN_SIZE], noise = 0;
  int n = DENSE_ROWS;
  NsStatus status = NS_OK;
  if (ed->mode->rows[row].level < 0) status = ns_motion_outputs(ed->motion, 1, &row, step->t, step->y, step->y + ed->Nq, err);
  if (ed->mode->rows[row].level < 0) noise = ns_ed_rounding(ed, row);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 1, &row, step->t_old, q, v, err);
  if (status != NS_OK) return status;
  noise = fmax(noise, ns_ed_rounding(ed, row));
  for (int f = 0; f < DENSE_ROWS; f++) F[f] = ns_motion_straight_part(ed->motion, row, ed->rk->F[f]);
  ns_bernstein_of_dense(ed->now->y[row], DENSE_ROWS, F, b);
  take_guard(ed, row, (Piece){0, 1}, noise, &n, b);
  if (!ns_bernstein_first(n, b, x)) *x = INFINITY;
  return NS_OK;
}

/* ---- guards that are known at points ---- */

/* The noise of the k-th force, just computed: the rounding of its terms. */
static double force_noise(const NsEventDriven *ed, int k) {
  const NsMotionMode *mode = ed->mode;
  int row = mode->active[k];
  double own = ed->W[k + (size_t)k * (size_t)mode->nactive], terms = fabs(ed->now->bias[row]);
  for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
  return 4 * DBL_EPSILON * (own > 0 ? terms / own : fabs(mode->lambda[k]));
}

static void keep_noise(NsEventDriven *ed, int row, int j, double noise) {
  ed->search.noise[row] = j == 0 ? noise : fmax(ed->search.noise[row], noise);
}

/* The noise of the force of an active row, just computed. */
static double noise_of(const NsEventDriven *ed, int row) {
  for (int k = 0; k < ed->mode->nactive; k++)
    if (ed->mode->active[k] == row) return force_noise(ed, k);
  return 0;
}

/* Takes the guard of friction that begins in the row, at node j; the accelerations have been computed there. */
static void take_friction(NsEventDriven *ed, int row, int j) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionSearch *search = &ed->search;
  const Friction *friction = &mode->rows[row].friction;
  double scale, noise = 0;
  NsGuardKind kind = ns_motion_guard_kind(ed->mode, row);
  if (kind == GUARD_SLIP) {
    search->value[j][row] = ns_ed_sliding_along(ed, row);
    for (int i = 0; i < friction->width; i++) noise = fmax(noise, 4 * DBL_EPSILON * ed->now->u_terms[row + i]);
  }
  if (kind == GUARD_STICK) {
    search->value[j][row] = ns_motion_stick_guard(ed->mode, row, &scale);
    bool both = isfinite(friction->lower) && isfinite(friction->upper);
    double reach = friction->normal >= 0 ? 2 * friction->mu * mode->multiplier[friction->normal]
                   : both                ? friction->upper - friction->lower
                                         : 1;
    for (int i = 0; i < friction->width; i++) noise += reach * noise_of(ed, row + i);
    if (friction->normal >= 0) noise += reach * friction->mu * noise_of(ed, friction->normal);
  }
  if (kind == GUARD_ONSET) {
    search->value[j][row] = ns_ed_onset_guard(ed, row - 1);
    noise = noise_of(ed, mode->rows[row - 1].friction.normal);
  }
  if (kind == GUARD_SLIP || kind == GUARD_STICK || kind == GUARD_ONSET) keep_noise(ed, row, j, noise);
}

/* Evaluates row `row` (-1: all rows that are not straight) at node j of a piece, on the dense output. */
static NsStatus take_node(NsEventDriven *ed, int row, Piece piece, int j, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionSearch *search = &ed->search;
  const NsStepperState *step = &ed->rk->base.state;
  double x = piece.from + piece.width * ns_bernstein_node(j), t = step->t_old + x * event_search_step_length(ed);
  if (j == NS_BERNSTEIN_DEGREE && piece.from + piece.width == 1) t = step->t;
  ns_rk_at(ed->rk, t, ed->sample);
  const double *q = ed->sample, *v = q + ed->Nq;
  *ed->clock = t;
  bool active = row < 0 ? mode->nacting > 0 : ns_motion_guard_kind(ed->mode, row) != GUARD_GAP;
  const int *outputs = row < 0 ? search->curved : &row;
  int n = row < 0 ? search->ncurved : !active;
  NsStatus status = active ? ns_ed_accelerate(ed, t, q, v, err) : NS_OK;
  for (int k = 0; k < mode->nacting && active && ed->has_friction && status == NS_OK; k++)
    if (row < 0 || mode->acting[k] == row) take_friction(ed, mode->acting[k], j);
  if (status == NS_OK && (row < 0 || row == ed->m) && ns_motion_guard_kind(ed->mode, ed->m) == GUARD_POLE) {
    search->value[j][ed->m] = ns_ed_pole_guard(ed);
    keep_noise(ed, ed->m, j, 16 * DBL_EPSILON * mode->nactive);
  }
  for (int k = 0; k < mode->nactive && active && status == NS_OK; k++) {
    if ((row >= 0 && mode->active[k] != row) || ns_motion_guard_kind(ed->mode, mode->active[k]) != GUARD_FORCE) continue;
    search->value[j][mode->active[k]] = mode->lambda[k];
    keep_noise(ed, mode->active[k], j, force_noise(ed, k));
  }
  if (status == NS_OK && n > 0) status = ns_motion_outputs(ed->motion, n, outputs, t, q, v, err);
  for (int k = 0; k < n && status == NS_OK; k++) {
    int i = outputs[k];
    search->value[j][i] = ed->now->y[i];
    search->rate[j][i] = ed->now->u[i];
    keep_noise(ed, i, j, ns_ed_rounding(ed, i));
  }
  return status;
}

static NsStatus take_nodes(NsEventDriven *ed, int row, Piece piece, NsError *err) {
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
static Guard fit_guard(const NsEventDriven *ed, int row, Piece piece) {
  const NsMotionSearch *search = &ed->search;
  Guard guard = {.n = NS_BERNSTEIN_DEGREE};
  bool open = ns_motion_guard_kind(ed->mode, row) == GUARD_GAP;
  double v[NS_BERNSTEIN_SIZE], length = piece.width * event_search_step_length(ed), most = 0, fastest = 0, apart = 0;
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
static NsStatus piece_root(NsEventDriven *ed, int row, Piece piece, int halvings, double *x, NsError *err) {
  Guard guard = fit_guard(ed, row, piece);
  *x = INFINITY;
  if (guard_is_positive(&guard)) return NS_OK;
  if (guard.exact || halvings == 0 || ed->search.halved >= MAX_HALVED) {
    if (ns_bernstein_first(guard.n, guard.b, x)) *x = piece.from + *x * piece.width;
    return NS_OK;
  }
  NsStatus status = NS_OK;
  ed->search.halved++;
  for (int half = 0; half < 2 && status == NS_OK && *x == INFINITY; half++) {
    Piece part = {piece.from + half * piece.width / 2, piece.width / 2};
    status = take_nodes(ed, row, part, err);
    if (status == NS_OK) status = piece_root(ed, row, part, halvings - 1, x, err);
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
    Piece piece = {k / parts, k + 1 == parts ? 1 - k / parts : 1 / parts};
    status = take_nodes(ed, -1, piece, err);
    for (int i = 0; i <= ed->m && status == NS_OK; i++) {
      NsGuardKind kind = ns_motion_guard_kind(ed->mode, i);
      if (kind == GUARD_NONE || (kind == GUARD_GAP && ed->mode->rows[i].straight)) continue;
      status = piece_root(ed, i, piece, HALVINGS, &x, err);
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
    NsGuardKind kind = ns_motion_guard_kind(ed->mode, i);
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

/* How far a gap or a sliding velocity is from its event at the end of the step, its rate, and its rounding error. */
static NsStatus measure_distance(NsEventDriven *ed, int row, double *off, double *rate, double *rounding, NsError *err) {
  const NsStepperState *step = &ed->rk->base.state;
  const double *q = step->y, *v = q + ed->Nq;
  const Row *r = &ed->mode->rows[row];
  if (ns_motion_guard_kind(ed->mode, row) == GUARD_GAP) {
    NsStatus status = ns_motion_outputs(ed->motion, 1, &row, step->t, q, v, err);
    *off = ed->now->y[row] - (r->state == ROW_DEPARTING ? r->y0 : r->level);
    *rate = ed->now->u[row];
    *rounding = ROUNDED * ed->now->rounding[row];
    return status;
  }
  NsStatus status = ns_ed_accelerate(ed, step->t, q, v, err);
  *off = ns_ed_sliding_along(ed, row);
  *rate = 0;
  for (int i = 0; i < r->friction.width && status == NS_OK; i++)
    *rate += r->friction.d[i] * ns_motion_output_acceleration(ed->motion, row + i, ed->acceleration);
  *rounding = DBL_EPSILON * fabs(step->t * *rate);
  return status;
}

/* Repeats the step up to t. For a gap and for a sliding velocity Newton's method on t moves it to its event. */
static NsStatus event_search_go_to(NsEventDriven *ed, int row, double t, NsError *err) {
  const NsStepperState *step = &ed->rk->base.state;
  double end = step->t, off, rate, rounding;
  NsGuardKind kind = ns_motion_guard_kind(ed->mode, row);
  for (int k = 0;; k++) {
    if (t <= step->t_old) t = nextafter(step->t_old, INFINITY);
    NsStatus status = ns_rk_retake(&ed->rk->base, t, err);
    if (status != NS_OK || (kind != GUARD_GAP && kind != GUARD_SLIP) || k == MAX_POLISH) return status;
    status = measure_distance(ed, row, &off, &rate, &rounding, err);
    if (status != NS_OK) return status;
    double next = t - off / rate;
    if (!(rate < 0) || fabs(off) <= rounding || !(next <= end) || !(next > step->t_old) || next == t) return NS_OK;
    t = next;
  }
}

/*
** In space the direction of friction, u / |u|, is not defined where sliding ends, and a step must not end there: steps go
** APPROACH of the way, until u is nearly 0. The last one keeps its direction. *row: -1 when this step is one of them.
*/
static NsStatus approach_stop(NsEventDriven *ed, double x, int *row, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  const NsStepperState *step = &ed->rk->base.state;
  Friction *friction = &mode->rows[*row].friction;
  if (ns_motion_guard_kind(ed->mode, *row) != GUARD_SLIP || friction->width != 2 || friction->stops) return NS_OK;
  double t = step->t_old + APPROACH * fmin(x, 1) * event_search_step_length(ed);
  if (!(t > step->t_old)) return NS_OK;
  friction->stops = mode->slid[*row] <= NS_NEARLY_STOPPED * mode->reach[*row];
  *row = -1;
  return ns_rk_retake(&ed->rk->base, t, err);
}

NsStatus ns_ed_search(NsEventDriven *ed, int *row, NsError *err) {
  const NsStepperState *step = &ed->rk->base.state;
  double x;
  bool any = false;
  *row = -1;
  for (int i = 0; i <= ed->m; i++) any = any || ns_motion_guard_kind(ed->mode, i) != GUARD_NONE;
  if (!any) return NS_OK;
  ns_ed_measure_drift(ed, event_search_step_length(ed));
  NsStatus status = ns_rk_interpolate(&ed->rk->base, err);
  if (status == NS_OK) status = first_root(ed, row, &x, err);
  if (status == NS_OK && *row >= 0) status = approach_stop(ed, x, row, err);
  if (status != NS_OK || *row < 0) return status;
  return event_search_go_to(ed, *row, fmin(step->t_old + x * event_search_step_length(ed), step->t), err);
}
