/*
** step_modes.c
** The modes of the rows of a step, their equations, and switches.
*/
#include "integrators/step_modes.h"

#include <math.h>

#include "base/text.h"
#include "integrators/scheme.h"

/*
** A number below this part of its terms is 0. 2^-30, about 1e-9: steps solve their equations to 1e-10 of the terms, and a
** displacement by rounding does not change the modes of the others.
*/
static const double NOTHING = 0x1p-30;

/* A contact whose velocity before a step is below this part of its terms was closed: 1e-6, as in ns_mj_tolerance. */
static const double RESTS = 1e-6;

/* ---- rows ---- */

/* A group of rows with one law: `dim` rows from `row` of all on, row `i` of its interaction. */
typedef struct RowGroup {
  const NsInteraction *inter;
  int row, i;
  NsLawGroup law;
} RowGroup;

typedef void (*RowVisitor)(void *context, const RowGroup *group);

static void each_group(const NsStepRows *rows, RowVisitor visit, void *context) {
  const NsNsds *graph = rows->graph;
  for (int e = 0, first = 0; e < graph->ninteractions; first += graph->interactions[e++]->m) {
    const NsInteraction *inter = graph->interactions[e];
    for (int i = 0; i < inter->m;) {
      RowGroup group = {inter, first + i, i, ns_interaction_group(inter, i, rows->open[first + i], rows->part)};
      visit(context, &group);
      i += group.law.dim;
    }
  }
}

/* Whether rows are contacts, with velocities that jump when they are hit. */
static bool step_is_contact(const NsInteraction *inter) {
  return ns_law_unilateral(inter->law) && ns_ds_family(inter->ds[0]) == NS_MECHANICS &&
         !ns_relation_holds_at_position(inter->relation);
}

bool ns_step_slides(const NsStepRows *rows) {
  bool slides = false;
  for (int e = 0, row = 0; e < rows->graph->ninteractions; row += rows->graph->interactions[e++]->m)
    slides = slides || (ns_law_slides(rows->graph->interactions[e]->law) && rows->mode[row + 1] != NS_STEP_ACTIVE &&
                        rows->mode[row + 1] != NS_STEP_OPEN);
  return slides;
}

bool ns_step_has_contacts(const NsNsds *graph) {
  for (int e = 0; e < graph->ninteractions; e++)
    if (step_is_contact(graph->interactions[e])) return true;
  return false;
}

/* "'name'" or "row 2 of 'name'". */
static const char *row_name(const RowGroup *group, int k, char *text, size_t size) {
  if (group->inter->m == 1) ns_print(text, size, "'%s'", group->inter->name);
  else ns_print(text, size, "row %d of '%s'", group->i + k + 1, group->inter->name);
  return text;
}

/* The friction of a disc of a contact with the velocities y. */
static NsLawFriction friction_of_disc(const RowGroup *group, int disc, const double *y) {
  if (disc > 0 || !ns_law_slides(group->inter->law)) return (NsLawFriction){.mu = group->law.mu[disc]};
  return ns_law_friction_at(group->inter->law, ns_law_disc_width(&group->law) == 1 ? fabs(y[1]) : hypot(y[1], y[2]), NULL);
}

/* ---- modes ---- */

typedef struct Finding {
  const NsStepRows *rows;
  double t;
  NsStatus status;
  NsError *err;
} Finding;

static void find_weak(Finding *f, const RowGroup *group, int k) {
  char name[2 * NS_NAME_SIZE];
  if (f->status != NS_OK || f->rows->one_sided) return;
  f->status = ns_fail(
      f->err, NS_EARG,
      "sensitivities: %s is weakly active in the step to t=%.10g: y is 0, and lambda is at a bound without need; "
      "there is no derivative, to no side",
      row_name(group, k, name, sizeof name), f->t);
}

/* The size of lambda in a row: the largest so far, or a bound. */
static double step_lambda_size(const NsStepRows *rows, int row, const NsLawGroup *law) {
  double size = rows->lambda_most[row];
  if (isfinite(law->lower)) size = fmax(size, fabs(law->lower));
  if (isfinite(law->upper)) size = fmax(size, fabs(law->upper));
  return size;
}

/* The mode of a row with bounds. */
static void find_bounded(Finding *f, const RowGroup *group) {
  const NsStepRows *rows = f->rows;
  int r = group->row;
  double lower = group->law.lower, upper = group->law.upper, near = NOTHING * step_lambda_size(rows, r, &group->law);
  bool at_lower = rows->lambda[r] - lower <= near, at_upper = upper - rows->lambda[r] <= near;
  NsStepMode mode = at_lower ? NS_STEP_LOWER : at_upper ? NS_STEP_UPPER : NS_STEP_ACTIVE;
  if (mode != NS_STEP_ACTIVE && lower < upper && fabs(rows->y[r]) <= NOTHING * rows->y_terms[r]) find_weak(f, group, 0);
  if (mode == NS_STEP_LOWER && step_is_contact(group->inter)) mode = NS_STEP_OPEN;
  rows->mode[r] = mode;
}

/* The modes of a contact with friction, disc by disc. */
static void find_contact(Finding *f, const RowGroup *group) {
  const NsStepRows *rows = f->rows;
  int r = group->row;
  const double *y = rows->y + r, *l = rows->lambda + r;
  bool closed = l[0] > NOTHING * rows->lambda_most[r];
  if (!closed && fabs(y[0]) <= NOTHING * rows->y_terms[r]) find_weak(f, group, 0);
  rows->mode[r] = closed ? NS_STEP_ACTIVE : NS_STEP_OPEN;
  for (int disc = 0; disc < group->law.discs; disc++) {
    bool still = true;
    int from = ns_law_disc_first(&group->law, disc), width = ns_law_disc_rows(&group->law, disc);
    double tangent = 0, most = friction_of_disc(group, disc, y).mu * l[0];
    for (int k = from; k < from + width; k++) {
      tangent = hypot(tangent, l[k]);
      still = still && fabs(y[k]) <= NOTHING * rows->y_terms[r + k];
    }
    bool slips = tangent >= (1 - NOTHING) * most;
    if (closed && slips && still && most > 0) find_weak(f, group, from);
    for (int k = from; k < from + width; k++) {
      NsStepMode slip = width > 1 ? NS_STEP_SLIPS : y[k] < 0 ? NS_STEP_UPPER : NS_STEP_LOWER;
      rows->mode[r + k] = !closed || most == 0 ? NS_STEP_OPEN : slips ? slip : NS_STEP_ACTIVE;
    }
  }
}

static void find_group(void *context, const RowGroup *group) {
  Finding *f = context;
  if (f->rows->open[group->row]) f->rows->mode[group->row] = NS_STEP_OPEN;
  else if (group->law.discs > 0) find_contact(f, group);
  else find_bounded(f, group);
}

NsStatus ns_step_modes(const NsStepRows *rows, double t, NsError *err) {
  Finding f = {rows, t, NS_OK, err};
  each_group(rows, find_group, &f);
  return f.status;
}

/* ---- equations ---- */

typedef struct Equations {
  const NsStepRows *rows;
  const double *y, *lambda; /* or their changes */
  double *out;
} Equations;

/* The unit vector along the slip of a disc of two rows, and |y|. */
static double slip_direction(const double *y, double unit[2]) {
  double speed = hypot(y[0], y[1]);
  for (int k = 0; k < 2; k++) unit[k] = speed > 0 ? y[k] / speed : 0;
  return speed;
}

/* The multiplier of row k of a group in its mode: a bound, of a contact a part of its normal force. */
static double bound_in_mode(const RowGroup *group, int k, NsStepMode mode, const double *y, const double *l) {
  if (group->law.discs == 0) return mode == NS_STEP_LOWER ? group->law.lower : mode == NS_STEP_UPPER ? group->law.upper : 0;
  if (k == 0) return 0;
  int disc = ns_law_disc_of(&group->law, k), from = ns_law_disc_first(&group->law, disc);
  double unit[2], most = friction_of_disc(group, disc, y).mu * l[0];
  if (mode != NS_STEP_SLIPS) return mode == NS_STEP_LOWER ? -most : mode == NS_STEP_UPPER ? most : 0;
  (void)slip_direction(y + from, unit);
  return -most * unit[k - from];
}

static void equations_of(void *context, const RowGroup *group) {
  Equations *q = context;
  int r = group->row;
  const double *y = q->y + r, *l = q->lambda + r;
  for (int k = 0; k < group->law.dim; k++) {
    NsStepMode mode = q->rows->mode[r + k];
    q->out[r + k] = mode == NS_STEP_ACTIVE ? y[k] : l[k] - bound_in_mode(group, k, mode, y, l);
  }
}

void ns_step_law_rows(const NsStepRows *rows, const double *y, const double *lambda, double *out) {
  Equations q = {rows, y, lambda, out};
  each_group(rows, equations_of, &q);
}

/* The change of bound_in_mode. */
static double bound_change(const Equations *q, const RowGroup *group, int k, NsStepMode mode) {
  if (group->law.discs == 0 || k == 0) return 0;
  int r = group->row, disc = ns_law_disc_of(&group->law, k), from = ns_law_disc_first(&group->law, disc);
  const double *dy = q->y + r + from, *y = q->rows->y + r;
  NsLawFriction at = friction_of_disc(group, disc, y);
  double unit[2], mu = at.mu, change = mu * q->lambda[r], faster = at.slope * q->rows->lambda[r];
  if (ns_law_disc_rows(&group->law, disc) == 1) change += faster * (y[from] < 0 ? -dy[0] : dy[0]);
  if (mode != NS_STEP_SLIPS) return mode == NS_STEP_LOWER ? -change : mode == NS_STEP_UPPER ? change : 0;
  double speed = slip_direction(y + from, unit), along = unit[0] * dy[0] + unit[1] * dy[1];
  int i = k - from;
  change += faster * along;
  double turn = speed > 0 ? mu * q->rows->lambda[r] * (dy[i] - along * unit[i]) / speed : 0;
  return -change * unit[i] - turn;
}

static void step_change_of(void *context, const RowGroup *group) {
  Equations *q = context;
  int r = group->row;
  for (int k = 0; k < group->law.dim; k++) {
    NsStepMode mode = q->rows->mode[r + k];
    q->out[r + k] = mode == NS_STEP_ACTIVE ? q->y[r + k] : q->lambda[r + k] - bound_change(q, group, k, mode);
  }
}

void ns_step_law_change(const NsStepRows *rows, const double *dy, const double *dlambda, double *out) {
  Equations q = {rows, dy, dlambda, out};
  each_group(rows, step_change_of, &q);
}

/* ---- switches ---- */

static NsStatus tell_switch(const RowGroup *group, int k, const char *what, double t, NsError *err) {
  char name[2 * NS_NAME_SIZE];
  return ns_fail(err, NS_EARG,
                 "sensitivities: %s %s in the step to t=%.10g: derivatives of time-stepping runs are wrong there; use "
                 "EventDriven with a %s",
                 row_name(group, k, name, sizeof name), what, t, ns_scheme_runge_kutta_text);
}

typedef struct Switches {
  const NsStepRows *rows;
  const NsStepMode *before;
  const double *start;
  bool *touches;
  bool first;
  double t;
  int undecided;
  NsStatus status;
  NsError *err;
} Switches;

static void compare_modes(void *context, const RowGroup *group) {
  Switches *s = context;
  for (int k = 0; k < group->law.dim && s->status == NS_OK; k++)
    if (s->rows->mode[group->row + k] != s->before[group->row + k]) s->status = tell_switch(group, k, "switches", s->t, s->err);
}

NsStatus ns_step_same_modes(const NsStepRows *rows, const NsStepMode *before, double t, NsError *err) {
  Switches s = {.rows = rows, .before = before, .t = t, .err = err};
  each_group(rows, compare_modes, &s);
  return s.status;
}

/* Whether a disc, whose first row is `row`, turns around in its slip: the direction at the start against that at the end. */
static bool slip_turns(const NsStepRows *rows, const double *start, int row) {
  return rows->y[row] * start[row] + rows->y[row + 1] * start[row + 1] < 0;
}

static void check_steady(void *context, const RowGroup *group) {
  Switches *s = context;
  for (int k = 0; k < group->law.dim && s->status == NS_OK; k++) {
    int r = group->row + k;
    NsStepMode mode = s->rows->mode[r];
    double y = s->start[r], terms = s->rows->y_terms[r];
    bool normal = step_is_contact(group->inter) && k == 0;
    bool zero = fabs(y) <= NOTHING * terms, moves = fabs(y) > RESTS * terms;
    bool equation = group->law.discs == 0 && isinf(group->law.lower) && isinf(group->law.upper);
    if (mode == NS_STEP_ACTIVE && normal && moves) s->status = tell_switch(group, k, "is hit", s->t, s->err);
    else if (mode == NS_STEP_SLIPS && (k - 1) % ns_law_disc_width(&group->law) == 0 && slip_turns(s->rows, s->start, r))
      s->status = tell_switch(group, k, "switches", s->t, s->err);
    if (!s->first || s->status != NS_OK || mode == NS_STEP_OPEN) continue;
    bool wrong = (mode == NS_STEP_LOWER && y < 0) || (mode == NS_STEP_UPPER && y > 0);
    bool reached = mode == NS_STEP_ACTIVE && moves && !equation && !ns_relation_has_D(group->inter->relation);
    if (reached || (wrong && !zero)) s->status = tell_switch(group, k, "switches", s->t, s->err);
    s->touches[r] = zero && mode != NS_STEP_ACTIVE && (group->law.discs > 0 || group->law.lower < group->law.upper);
  }
}

NsStatus ns_step_steady(const NsStepRows *rows, const double *start, bool first, double t, bool *touches, NsError *err) {
  Switches s = {.rows = rows, .start = start, .touches = touches, .first = first, .t = t, .err = err};
  each_group(rows, check_steady, &s);
  return s.status;
}

static void name_undecided(void *context, const RowGroup *group) {
  Switches *s = context;
  char name[2 * NS_NAME_SIZE];
  int k = s->undecided - group->row;
  if (k < 0 || k >= group->law.dim) return;
  s->status = ns_fail(s->err, NS_EARG,
                      "sensitivities: the run starts at t=%.10g where %s switches, and a parameter decides on which side; "
                      "on_grazing = \"one-sided\" takes the side that the run goes",
                      s->t, row_name(group, k, name, sizeof name));
}

NsStatus ns_step_undecided(const NsStepRows *rows, int row, double t, NsError *err) {
  Switches s = {.rows = rows, .t = t, .undecided = row, .err = err};
  each_group(rows, name_undecided, &s);
  return s.status;
}
