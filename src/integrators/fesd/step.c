/*
** step.c
** A step of the grid by finite elements with switch detection. From each switch on, elements of equal length go towards the end
** of the step. When a row violates its law at a node, the elements up to there get the common length at which the row is exactly
** at its bound at the end of the last one: a switch falls on the boundary of an element. Then the next modes are chosen.
** Nurkanovic, Sperl, Albrecht and Diehl, Finite elements with switch detection for direct optimal control of nonsmooth systems,
** Numer. Math. 156, 2024.
*/
#include <float.h>
#include <math.h>

#include "integrators/fesd/fesd.h"

enum { MOST_ELEMENTS = 2048 }; /* limit in a step of the grid */

/* Switches that follow each other within this part of a step (2^-40 = 1e-12) are an accumulation. */
static const double ACCUMULATION = 0x1p-40;
enum { MOST_PASSES = 8 };

/* An accumulation that ends within this many spacings of time is passed. */
enum { ACCUMULATED = 64 };

/*
** Where no modes can be chosen, or a switch is not found, an accumulation is passed if its rest is below this part of the time of the
** last events; as in EventDriven.
*/
static const double NEAR_END = 1e-5;

/* ---- moving on ---- */

/* Accepts elements[count]: the state is its end, in mechanics put on the constraints. */
static NsStatus accept_element(NsFesd *w, NsError *err) {
  const NsFesdFlow *flow = &w->flow;
  const NsFesdElement *e = w->elements[w->count++];
  w->t = e->t + e->h;
  ns_fesd_copy_node(w, ns_fesd_node(w, e, w->tableau.s + 1), w->end);
  if (w->motion) return ns_fesd_project(w, err);
  if (flow->begun) {
    ns_flow_gather(flow->of, w->end.x, flow->s);
    ns_flow_note(flow->of, flow->s, w->end.lambda);
  }
  return NS_OK;
}

/* The state at the start of elements[from], which are dropped. */
static void return_to(NsFesd *w, int from) {
  const NsFesdElement *e = w->elements[from];
  w->count = from;
  w->t = e->t;
  ns_fesd_copy_node(w, ns_fesd_node(w, e, 0), w->end);
}

/* Solves one element of length h from the present state, without accepting it. */
static NsStatus solve_next_element(NsFesd *w, double h, NsError *err) {
  if (w->count == MOST_ELEMENTS)
    return ns_fail(err, NS_EMAXITER, "FESDOSI: more than %d finite elements in a step (t=%.10g)", MOST_ELEMENTS, w->t);
  NsFesdElement *e = ns_fesd_next(w);
  if (!e) return ns_fail(err, NS_ENOMEM, "not enough memory");
  e->h = h;
  return ns_fesd_solve(w, e, err);
}

/* ---- locating a switch ---- */

/* The place in [0, 1] at which a guard, negative at `node`, reaches 0: by the polynomial through the nodes before it. */
static double guess_place(const NsFesd *w, const NsFesdElement *e, NsFesdGuard guard, int node) {
  double place[NS_FESD_NODES], value[NS_FESD_NODES], weight[NS_FESD_NODES];
  int n = 0, begin = e->mode[guard.row] == MODE_ACTIVE ? 1 : 0;
  for (int k = begin; k <= w->tableau.s + 1; k++) {
    bool twice = k > begin && w->node[k] == w->node[k - 1];
    if (twice) continue;
    place[n] = w->node[k];
    value[n++] = ns_fesd_guard(w, e, guard, k);
  }
  double a = node > begin ? w->node[node - 1] : 0, b = w->node[node];
  for (int i = 0; i < 40; i++) {
    double x = (a + b) / 2, p = 0;
    ns_tableau_weights(n, place, x, weight);
    for (int k = 0; k < n; k++) p += weight[k] * value[k];
    if (p < 0) b = x;
    else a = x;
  }
  return (a + b) / 2;
}

/* The first violation in an element: *node, *place and *guard. False: there is none. */
static bool first_violation(const NsFesd *w, const NsFesdElement *e, NsFesdGuard *guard, int *node, double *place) {
  bool any = false;
  for (int a = 0; a < w->m; a++)
    for (int k = ns_fesd_first_node(w); k <= w->tableau.s + 1; k++) {
      NsFesdGuard here;
      if (!ns_fesd_violated(w, e, a, k, &here)) continue;
      double at = guess_place(w, e, here, k);
      if (!any || at < *place) *guard = here, *node = k, *place = at;
      any = true;
      break;
    }
  return any;
}

/* Solves `count` elements of length h from elements[from] on. *value: the guard at the end; *size: its size there. */
static NsStatus solve_elements(NsFesd *w, int from, int count, double h, NsFesdGuard guard, double *value, double *size,
                               NsError *err) {
  return_to(w, from);
  for (int i = 0; i < count; i++) {
    NsStatus status = solve_next_element(w, h, err);
    if (status != NS_OK) return status;
    if (i + 1 < count) status = accept_element(w, err);
    if (status != NS_OK) return status;
  }
  const NsFesdElement *e = w->elements[w->count];
  size_t at = (size_t)(w->tableau.s + 1) * (size_t)w->m + (size_t)guard.row;
  *value = ns_fesd_guard(w, e, guard, w->tableau.s + 1);
  *size = e->mode[guard.row] == MODE_ACTIVE ? e->lambda_size[at] : e->y_size[at];
  return NS_OK;
}

typedef struct Search {
  int from, count; /* the elements */
  bool fresh;      /* they begin where modes were chosen: rows are clear there */
  NsFesdGuard guard;
  double low, high; /* lengths of an element: the guard is 0 or more at `low`, negative at `high` */
  double guess;
  double jump; /* 0, or the time from the end of the elements to where the guard has jumped below 0 */
} Search;

/* Trials of a length: secants need 4 to 10; after SECANTS of them the bracket is halved, where rounding of times hides the root. */
enum { SECANTS = 24, MAX_TRIALS = 80 };

/* A guard that is not this close to 0, as a part of its size, next to a change of its sign jumps there. */
static const double JUMPS = 1e-9;

/* The bracket is as short as times allow, and `value` and `size` are those at its last length: where the guard jumps, ends before it. */
static NsStatus end_before_jump(NsFesd *w, Search *s, double low, double high, double value, double size, NsError *err) {
  if (fabs(value) <= JUMPS * size || !(low > 0)) return NS_OK;
  s->jump = s->count * (high - low) + 2 * DBL_EPSILON * fabs(w->t + high);
  return solve_elements(w, s->from, s->count, low, s->guard, &value, &size, err);
}

/*
** Finds the common length at which the guard is 0 at the end of the last element, or jumps below 0 after it: secants within the
** bracket, and bisection when they do not halve it. The elements stay solved, the last one not accepted.
*/
static NsStatus find_length(NsFesd *w, Search *s, NsError *err) {
  double low = s->low, high = s->high, f_low = NAN, f_high = NAN, h = s->guess, value, size, last = NAN, f_last = NAN;
  double width = high - low;
  for (int i = 0; i < MAX_TRIALS; i++) {
    NsStatus status = solve_elements(w, s->from, s->count, h, s->guard, &value, &size, err);
    if (status != NS_OK) return status;
    if (fabs(value) <= 2 * DBL_EPSILON * size) return NS_OK;
    if (value < 0) high = h, f_high = value;
    else low = h, f_low = value;
    double end = i < SECANTS ? 0 : fabs(w->elements[w->count]->t) + h; /* times next to each other differ by its spacing */
    bool narrow = !(high - low > 2 * DBL_EPSILON * fmax(high, end / s->count));
    if (narrow) return end_before_jump(w, s, low, high, value, size, err);
    double next = NAN;
    if (!isnan(f_last) && value != f_last) next = h - value * (h - last) / (value - f_last);
    if (!(next > low && next < high) && !isnan(f_low) && !isnan(f_high)) next = low + (high - low) * (f_low / (f_low - f_high));
    if (i % 4 == 3) {
      if (!(high - low <= width / 2) || !(next > low && next < high)) next = low + (high - low) / 2;
      width = high - low;
    }
    if (isnan(f_last)) { /* the first secant: a nearby point on the other side of the root */
      double nudge = fmax(0x1p-20 * h, fabs(value) / size * h);
      next = value < 0 ? h - nudge : h + nudge;
    }
    if (i >= SECANTS || !(next > low && next < high)) next = low + (high - low) / 2;
    last = h;
    f_last = value;
    h = next;
    if (h == last) return end_before_jump(w, s, low, high, value, size, err);
  }
  return ns_fail(err, NS_ENOCONV, "FESDOSI: a switch near t=%.10g could not be located", w->t);
}

/* Lowers `low` until the guard is positive there. */
static NsStatus bracket_length(NsFesd *w, Search *s, NsError *err) {
  for (int i = 0; i < 12; i++) {
    double value, size;
    NsStatus status = solve_elements(w, s->from, s->count, s->low, s->guard, &value, &size, err);
    if (status != NS_OK) return status;
    if (value >= 0) return NS_OK;
    s->high = s->low;
    s->low *= 0.5;
    if (s->guess >= s->high) s->guess = (s->low + s->high) / 2;
  }
  return ns_fail(err, NS_ENOCONV, "FESDOSI: a switch near t=%.10g could not be bracketed", w->t);
}

/*
** A violation of s->guard was found at `node` of the last of s->count elements of length h. Computes the elements again, such that
** they end at the switch, and accepts them. A row that is violated before is the one that switches: s->guard.
*/
static NsStatus end_at_switch(NsFesd *w, Search *s, double h, int node, double place, NsError *err) {
  NsFesdGuard guard = s->guard;
  for (int tries = 0; tries <= w->m + 2; tries++) {
    double n = s->count, good = node > 1 ? w->node[node - 1] : 0;
    *s = (Search){s->from, s->count, s->fresh, guard, (n - 1 + good) / n * h, h, (n - 1 + place) / n * h, 0};
    if (s->fresh && s->count == 1) s->low = fmax(s->low, fmin(w->rows.clear[guard.row], h / 2));
    if (!(s->guess > s->low && s->guess < s->high)) s->guess = (s->low + s->high) / 2;
    NsStatus status = s->low > 0 ? bracket_length(w, s, err) : NS_OK;
    if (status == NS_OK) status = find_length(w, s, err);
    if (status == NS_OK) status = accept_element(w, err);
    if (status != NS_OK) return status;
    int k = s->from;
    while (k < w->count && !first_violation(w, w->elements[k], &guard, &node, &place)) k++;
    if (k == w->count) return NS_OK;
    h = w->elements[k]->h;
    s->count = k - s->from + 1;
  }
  return ns_fail(
      err, NS_ENOCONV,
      "FESDOSI: the first switch after t=%.10g could not be found: an element of length %.3g has too many switches; take "
      "a smaller h",
      w->elements[s->from]->t, h);
}

/* ---- segments ---- */

/*
** A segment: `count` places from `begun` on, h apart; the last one is the end of the step. Plain elements go from place to place.
** Where the signs along an element are not certain, it is made shorter, and the next ones grow again up to the next place.
*/
typedef struct Segment {
  double begun, h;
  int count, done; /* places; those that are reached */
  bool plain;      /* the elements from `from` on are plain */
  int first, from; /* indices of elements; first: of the segment */
  double length;   /* not plain: of the next element, at most */
  int pieces;      /* in so many pieces the signs of the elements from `from` on are tested */
} Segment;

/* Elements are not made shorter than this part of a step; then the signs at the nodes decide. 2^-40: as ACCUMULATION. */
static const double SHORTEST = 0x1p-40;

/* The same where a switch is not found, and something depends on time; then it is an error. */
static const double UNRESOLVED = 0x1p-16;

/* A place within this part of h is reached: much more than the rounding of times, and too short for an element of its own. */
static const double REACHED = 0x1p-20;

/* Continues at w->t with elements that are not plain. */
static void shorten_elements(const NsFesd *w, Segment *s, double length) {
  int done = (int)floor((w->t - s->begun) / s->h + REACHED);
  s->done = done < s->count ? done : s->count - 1;
  s->plain = false;
  s->length = length;
}

/* The length of the next element; *last: it ends at the next place. */
static double next_length(const NsFesd *w, const Segment *s, bool *last) {
  double place = s->done + 1 == s->count ? w->t_end : s->begun + (s->done + 1) * s->h;
  *last = s->plain || s->length >= place - w->t;
  return s->plain ? s->h : *last ? place - w->t : s->length;
}

/* Accepts elements[count] of this length. */
static NsStatus accept_in_segment(NsFesd *w, Segment *s, double length, bool last, NsError *err) {
  NsStatus status = accept_element(w, err);
  if (!last) return s->length = 2 * length, status;
  s->done++;
  if (!s->plain) s->from = w->count, s->pieces = 1;
  s->plain = true;
  return status;
}

/* The first element from `from` on whose signs are not certain, and the place at which to end it; w->count: there is none. */
static NsStatus first_uncertain(NsFesd *w, int from, int pieces, NsFesdGuard reached, int *uncertain, double *cut,
                                NsError *err) {
  const NsFesdGuard none = {-1, MODE_LOWER};
  for (*uncertain = from; *uncertain < w->count; ++*uncertain) {
    const NsFesdElement *e = w->elements[*uncertain];
    NsStatus status = ns_fesd_signs(w, e, *uncertain + 1 == w->count ? reached : none, pieces, cut, err);
    if (status != NS_OK) return status;
    if (*cut < 1 && e->h > SHORTEST * w->h) return NS_OK;
  }
  return NS_OK;
}

/* Whether a guard is below 0 at the start of elements[count], by less than what is told at the end of the element before. */
static bool begins_broken(const NsFesd *w, const Segment *s, NsFesdGuard guard) {
  return w->count > s->first && !(s->plain && s->from < w->count) && ns_fesd_guard(w, w->elements[w->count], guard, 0) < 0;
}

/* Lengthens the last element by the time in which a guard jumps: it ends after that, and bounds and outputs are those there. */
static NsStatus pass_jump(NsFesd *w, double jump, NsError *err) {
  NsFesdElement *e = w->elements[w->count - 1];
  e->h += jump;
  w->t = e->t + e->h;
  return ns_fesd_measure(w, e->h, err);
}

/* Goes with the present modes to the end of the step, in `count` elements or more, or to a switch (*reached; row -1: none). */
static NsStatus go_segment(NsFesd *w, int count, double h, NsFesdGuard *reached, NsError *err) {
  Segment s = {w->t, h, count, 0, true, w->count, w->count, h, 1};
  const NsFesdGuard none = {-1, MODE_LOWER};
  bool solved = w->solved;
  while (s.done < s.count) {
    NsFesdGuard guard;
    int node, uncertain;
    bool last, resolved;
    double place, cut, length = next_length(w, &s, &last);
    NsStatus status = solved ? NS_OK : solve_next_element(w, length, err);
    if (status == NS_OK) status = ns_fesd_resolve(w, w->elements[w->count], &resolved, err);
    if (status != NS_OK) return status;
    solved = false;
    if (!resolved && length > SHORTEST * w->h) {
      shorten_elements(w, &s, length / 2);
      continue;
    }
    int pieces = resolved ? w->elements[w->count]->pieces : 1;
    s.pieces = s.plain && s.pieces > pieces ? s.pieces : pieces;
    if (!first_violation(w, w->elements[w->count], &guard, &node, &place)) {
      status = ns_fesd_signs(w, w->elements[w->count], none, pieces, &cut, err);
      if (status != NS_OK) return status;
      if (cut < 1 && length > SHORTEST * w->h) shorten_elements(w, &s, cut * length);
      else status = accept_in_segment(w, &s, length, last, err);
      if (status != NS_OK) return status;
      continue;
    }
    int from = s.plain ? s.from : w->count;
    if (begins_broken(w, &s, guard)) { /* the element before ends at the switch, or after it by rounding */
      from = w->count - 1;
      return_to(w, from);
      length = w->elements[from]->h;
      node = w->tableau.s + 1;
      place = 1;
    }
    Search search = {.from = from, .count = w->count - from + 1, .fresh = from == s.first, .guard = guard};
    status = end_at_switch(w, &search, length, node, place, err);
    *reached = search.guard;
    if (status == NS_ENOCONV && w->data.driven && length > UNRESOLVED * w->h) { /* the nodes may not show the guard in time */
      *reached = none;
      return_to(w, from);
      shorten_elements(w, &s, length / 2);
      continue;
    }
    if (status == NS_OK) status = first_uncertain(w, from, s.pieces, search.jump > 0 ? none : *reached, &uncertain, &cut, err);
    if (status != NS_OK) return status;
    if (uncertain == w->count) return search.jump > 0 ? pass_jump(w, search.jump, err) : NS_OK;
    *reached = none;
    length = w->elements[uncertain]->h;
    return_to(w, uncertain);
    shorten_elements(w, &s, cut * length);
  }
  w->t = w->t_end;
  return NS_OK;
}

/* ---- the step ---- */

/* Whether the last switches accumulate: *rest, *cycle; and whether that is to be passed: at once, or since the step has failed. */
static bool is_accumulation(const NsFesd *w, bool failed, double *rest, int *cycle) {
  if (w->motion || !ns_event_marks_accumulate(&w->marks, rest, cycle)) return false;
  double spacing = DBL_EPSILON * fmax(fabs(w->t), w->h);
  if (failed) return *rest <= NEAR_END * (w->t - w->marks.mark[0].t);
  return *rest <= fmax(ACCUMULATED * spacing, ACCUMULATION * w->h);
}

/* Goes on from a switch or the start: chooses modes, and goes to the next switch (*reached; row -1: none) or to the end. */
static NsStatus go_on(NsFesd *w, double length, bool keep, bool tell, NsFesdGuard *reached, NsError *err) {
  double rest = w->t_end - w->t;
  int count = (int)ceil(rest / length * (1 - 4 * DBL_EPSILON));
  if (count < 1) count = 1;
  NsStatus status = ns_fesd_choose(w, rest / count, keep, err);
  if (status == NS_OK && tell) status = ns_fesd_log_changes(w, err);
  w->anew = w->broken = false;
  for (int a = 0; a < w->m; a++) w->rows.ended[a] = false;
  return status == NS_OK ? go_segment(w, count, rest / count, reached, err) : status;
}

/* A switch was located: what accumulates there is passed. *passes: short ways between switches so far; *keep: see ns_fesd_choose. */
static NsStatus handle_switch(NsFesd *w, NsFesdGuard reached, double way, int *passes, bool *keep, NsError *err) {
  double rest;
  int cycle;
  bool output = w->rows.mode[reached.row] != MODE_ACTIVE;
  *keep = false;
  w->reached = reached.row;
  if (w->motion) return ns_fesd_impact(w, reached.row, err);
  ns_event_marks_add(&w->marks, w->t, reached.row, output);
  ns_fesd_mark_ties(w, reached);
  if (w->t >= w->t_end) return NS_OK;
  if (is_accumulation(w, false, &rest, &cycle) && ns_fesd_pass_accumulation(w, rest, cycle, err) == NS_OK) return NS_OK;
  if (way > ACCUMULATION * w->h) return NS_OK;
  if (++*passes > MOST_PASSES)
    return ns_fail(err, NS_ENOCONV, "FESDOSI: switches accumulate at t=%.10g, and implicit steps do not pass them", w->t);
  *keep = true;
  return ns_fesd_pass_by_euler(w, reached.row, err);
}

/* The largest distance of lambda of a row to a bound in the last element, from its first stage on. */
static double fesd_farthest(const NsFesd *w, int row, double bound) {
  const NsFesdElement *e = w->elements[w->count - 1];
  double most = 0;
  for (int k = 1; k <= w->tableau.s + 1; k++) most = fmax(most, fabs(e->lambda[(size_t)(k * w->m + row)] - bound));
  return most;
}

/*
** The next step knows the modes by the memories alone. lambda of a row that is active up to the end of the step, and comes to its bound
** there, is left within it by its rounding error: the row is still active for the next step, which tells whether it leaves.
*/
static void keep_active(NsFesd *w) {
  for (int a = 0; a < w->m && w->count > 0; a++) {
    double *lambda = &w->end.lambda[a], lower = w->end.lower[a], upper = w->end.upper[a],
           near = FESD_AT_BOUND * w->end.lambda_size[a];
    bool at_lower = fabs(*lambda - lower) <= near, at_upper = fabs(*lambda - upper) <= near;
    if (w->rows.mode[a] != MODE_ACTIVE || w->rows.fixed[a] || at_lower == at_upper) continue;
    if (fesd_farthest(w, a, at_lower ? lower : upper) <= near) continue;
    double rounding = 2 * DBL_EPSILON * w->end.lambda_size[a];
    *lambda = at_lower ? fmax(*lambda, lower + rounding) : fmin(*lambda, upper - rounding);
  }
}

NsStatus ns_fesd_step(NsFesd *w, int elements, NsError *err) {
  double length = w->h / elements, rest;
  int passes = 0, cycle;
  bool keep = true, tell = !w->first;
  w->count = w->marks.count = 0;
  w->t = w->t_k;
  w->reached = -1;
  for (int a = 0; a < w->m; a++) w->rows.ended[a] = false;
  NsStatus status = ns_fesd_measure(w, length, err);
  if (status == NS_OK) status = ns_fesd_begin_modes(w, err);
  while (status == NS_OK && w->t < w->t_end) {
    NsFesdGuard reached = {-1, MODE_LOWER};
    double begun = w->t;
    int from = w->count;
    status = go_on(w, length, keep, tell, &reached, err);
    if (status == NS_OK) tell = true;
    if (status == NS_OK && reached.row < 0) break;
    if (status == NS_OK) {
      status = handle_switch(w, reached, w->t - begun, &passes, &keep, err);
    } else if (ns_fesd_worth_retrying(status) && is_accumulation(w, true, &rest, &cycle)) {
      if (w->count > from) return_to(w, from);
      w->ambiguous = false;
      status = ns_fesd_pass_accumulation(w, rest, cycle, err);
    }
  }
  if (status == NS_OK && !w->motion) keep_active(w);
  return status;
}
