/*
** event_modes.c
** The choice of the next mode where friction or relays act: which contacts are active, what sticks, what slips.
** The accelerations y'' = W lambda + q of the closed rows obey, for each of these units:
**   a joint            y'' = 0;
**   a contact          it opens: lambda_n = 0, y'' >= 0; or it is active: y'' = 0, lambda_n > 0;
**   its friction       where u = 0: it sticks, u' = 0 with |lambda_t| <= mu lambda_n; or it slips, lambda_t = -mu lambda_n d with
**                      u' along d. Where u is not 0 it slips along d = u / |u|;
**   rolling friction   the same with its own u, lambda and mu, apart from the friction of the slip;
**   a relay            where u = 0: it sticks, u' = 0 with lambda in its bounds; or lambda is at a bound and u' has its sign.
** All modes are tried when there are at most MOST_MODES; so no solution and several solutions (Painleve) are found. Else, and
** where constraints are dependent, the one-step solver finds one solution; of the modes with this motion the one that goes on best is taken.
** Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996, chapters 5 and 6; Genot and Brogliato, New results
** on Painleve paradoxes, Eur. J. Mech. A/Solids 18, 1999.
*/
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "integrators/motion/event_modes.h"

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_joint.h"

enum {
  MOST_MODES = 4096, /* modes that are tried: 0.1 s for 6 contacts with friction in the plane */
  MOST_DOUBTS = 256, /* modes with the motion of the one-step solver's answer that are tried: of 4 contacts in doubt */
  MOST_TRIED = 40    /* largest number of rows of which all modes are tried */
};

/* An inequality of a mode may fail by this part of its terms. Chosen by experience: located events have 1e-13. */
static const double FEASIBLE = 1e-10;

/* A force that makes less than this part of the terms of its own acceleration, those of other forces too, is rounding: 64 spacings. */
static const double ROUNDED = 64 * DBL_EPSILON;

/* Accelerations that differ by less than this part of their terms are the same motion. */
static const double SAME = 1e-7;

/* ---- the inequalities of a mode ---- */

static double row_width(const NsModes *s, int k) {
  double own = s->W[k + (size_t)k * (size_t)s->n];
  return own > 0 ? FEASIBLE * s->size[k] / own : 0;
}

static double tangential(const Unit *unit, const double *x) {
  return unit->width == 1 ? fabs(x[0]) : ns_motion_length(x[0], x[1]);
}

/* Whether friction that begins to slip along d accelerates along d. */
static bool starts_along(const NsModes *s, const Unit *unit, int k) {
  const double *d = ns_ed_option_direction(unit), *a = s->w + k;
  double allowed = FEASIBLE * s->size[k];
  if (unit->width == 1) return d[0] * a[0] >= -allowed;
  double along = d[0] * a[0] + d[1] * a[1], across = fabs(d[0] * a[1] - d[1] * a[0]);
  allowed = SAME * fmax(s->size[k], s->size[k + 1]);
  return along >= -allowed && across <= allowed;
}

static bool friction_holds(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  const Friction *friction = &ed->mode->rows[unit->friction].friction;
  int k = unit->first;
  if (unit->moving) return true;
  if (unit->option != OPTION_STICK) return starts_along(s, unit, k);
  if (unit->normal < 0) {
    double force = s->z[k] * s->unit[k], off = row_width(s, k) * s->unit[k];
    if (friction->reactions > 0) return fabs(force) <= ns_ed_joint_most(ed, s, unit) + off;
    return force >= friction->lower - off && force <= friction->upper + off;
  }
  return tangential(unit, s->z + k) <= ns_ed_unit_bound(ed, s, unit) * (1 + FEASIBLE) + row_width(s, k);
}

static bool unit_holds(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  int k = unit->k;
  if (unit->option == OPTION_OPEN) return !unit->contact || s->w[k] >= -FEASIBLE * s->size[k];
  double own = s->W[k + (size_t)k * (size_t)s->n];
  if (unit->contact && (!ns_motion_carries(ed->now, unit->row, ed->event.pressing[k],
                                           ed->problem.W[k + (size_t)k * (size_t)s->n], s->z[k] * s->unit[k]) ||
                        s->z[k] * own <= ROUNDED * s->size[k]))
    return false;
  return unit->friction < 0 || friction_holds(ed, s, unit);
}

static bool mode_holds(const NsEventDriven *ed, const NsModes *s) {
  for (int u = 0; u < s->nunits; u++)
    if (!unit_holds(ed, s, &s->units[u])) return false;
  return true;
}

/* The part of their terms by which the equations and inequalities of a unit of contacts or joints fail. */
static double unit_off(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  int k = unit->k, width = unit->option == OPTION_STICK ? unit->width : 0;
  double off = 0, own = s->W[k + (size_t)k * (size_t)s->n];
  if (ns_ed_unit_rolls(unit) && width == 0) return 0;
  if (unit->option == OPTION_OPEN) return s->size[k] > 0 ? -s->w[k] / s->size[k] : 0;
  if (unit->normal < 0 && unit->friction >= 0) return 0;
  for (int i = k; i < (width > 0 ? unit->first + width : k + 1); i++)
    if (s->size[i] > 0) off = fmax(off, fabs(s->w[i]) / s->size[i]);
  double most = width > 0 ? tangential(unit, s->z + unit->first) - ns_ed_unit_bound(ed, s, unit) : -s->z[k];
  return s->size[k] > 0 ? fmax(off, most * own / s->size[k]) : off;
}

/* Whether friction that sticks is clearly below its bound: then it does not begin to slip. */
static bool friction_has_room(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  if (unit->normal < 0) return false;
  return tangential(unit, s->z + unit->first) < ns_ed_unit_bound(ed, s, unit) * (1 - SAME);
}

/* ---- all modes ---- */

/*
** How well a mode goes on from the one before the event, among modes with the same motion: what has reached its bound slips,
** other friction keeps to stick or to slip, and what is free to choose sticks.
*/
static int mode_score(const NsEventDriven *ed, const NsModes *s) {
  int score = 0;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (unit->option == OPTION_STICK) score++;
    if (unit->friction < 0 || unit->moving || unit->option == OPTION_OPEN) continue;
    const Friction *was = &ed->event.was[unit->friction];
    bool hit = ed->event.hit == unit->friction, slips = ns_ed_unit_slips(unit);
    const double *d = ns_ed_option_direction(unit);
    double along = slips ? -(d[0] * ed->mode->multiplier[unit->friction] +
                             (unit->width == 2 ? d[1] * ed->mode->multiplier[unit->friction + 1] : 0))
                         : 0;
    if (hit && was->stick_slip == FRICTION_STICK && unit->option == OPTION_STICK && friction_has_room(ed, s, unit))
      score += 2000;
    if (hit && was->stick_slip == FRICTION_STICK && slips) score += unit->normal >= 0 && !(along > 0) ? 0 : 1000;
    if (!hit && was->stick_slip == FRICTION_SLIP && slips && d[0] * was->d[0] + d[1] * was->d[1] > 0) score += 10;
  }
  return score;
}

/* The number of units that keep y = 0; the number of those that open, or slip with u > 0; of those with u < 0. */
static int solution_count(const NsModes *s, const Solution *solution, NsAmbiguity rule) {
  int count = 0;
  for (int u = 0; u < s->nunits; u++) {
    Option option = (Option)solution->option[u];
    bool down = option == OPTION_MINUS || (option == OPTION_ALONG && solution->d[u][0] < 0);
    bool up = option == OPTION_OPEN || (!down && (option == OPTION_PLUS || option == OPTION_ALONG));
    if (rule == NS_AMBIGUITY_UP) count += up;
    else if (rule == NS_AMBIGUITY_DOWN) count += down;
    else count += (rule == NS_AMBIGUITY_LEAVE ? -1 : 1) * ((option != OPTION_OPEN) + (option == OPTION_STICK));
  }
  return count;
}

static bool same_motion(const NsModes *s, const Solution *solution) {
  for (int k = 0; k < s->n; k++)
    if (fabs(solution->w[k] - s->w[k]) > SAME * s->size[k]) return false;
  return true;
}

static void solution_keep(const NsEventDriven *ed, const NsModes *s, Solution *solution, int score) {
  solution->off = 0;
  for (int u = 0; u < s->nunits; u++) {
    solution->option[u] = (signed char)s->units[u].option;
    solution->off = fmax(solution->off, unit_off(ed, s, &s->units[u]));
    for (int i = 0; i < 2; i++) solution->d[u][i] = s->units[u].d[i];
  }
  memcpy(solution->z, s->z, (size_t)s->n * sizeof *s->z);
  memcpy(solution->w, s->w, (size_t)s->n * sizeof *s->w);
  solution->score = score;
}

/* Takes the present mode as a solution; of modes with the same motion, the one with the best score stays. */
static void solution_add(const NsEventDriven *ed, NsModes *s) {
  int score = mode_score(ed, s);
  for (int i = 0; i < s->kept; i++)
    if (same_motion(s, &s->solutions[i])) {
      if (score > s->solutions[i].score) solution_keep(ed, s, &s->solutions[i], score);
      return;
    }
  if (s->kept < NS_ED_SOLUTIONS) solution_keep(ed, s, &s->solutions[s->kept++], score);
}

/* The number of modes that the units' options make. */
static double count_modes(const NsModes *s) {
  double all = 1;
  for (int u = 0; u < s->nunits; u++) all *= s->units[u].count;
  return all;
}

/* Rolling friction is open where its contact is. False: the mode is a copy of another one, or has it open alone. */
static bool open_with_contact(NsModes *s) {
  for (int u = 0; u < s->nunits; u++) {
    Unit *unit = &s->units[u];
    if (!ns_ed_unit_rolls(unit)) continue;
    bool open = s->units[s->owner[unit->normal]].option == OPTION_OPEN;
    if (open ? unit->option != unit->options[0] : unit->option == OPTION_OPEN) return false;
    if (open) unit->option = OPTION_OPEN;
  }
  return true;
}

/* Takes the modes number 0 to all - 1 that hold; with `found` those alone that have the motion of the first solution. */
static void try_mode_numbers(const NsEventDriven *ed, NsModes *s, int all, bool found) {
  for (int number = 0; number < all; number++) {
    for (int u = 0, rest = number; u < s->nunits; rest /= s->units[u].count, u++)
      s->units[u].option = s->units[u].options[rest % s->units[u].count];
    if (open_with_contact(s) && ns_ed_mode_solve(ed, s) && mode_holds(ed, s) && !(found && !same_motion(s, &s->solutions[0])))
      solution_add(ed, s);
  }
}

/* Tries all modes; false: there are too many. */
static bool try_all_modes(const NsEventDriven *ed, NsModes *s) {
  double all = count_modes(s);
  s->kept = 0;
  if (!(all <= MOST_MODES) || s->n > MOST_TRIED) return false;
  try_mode_numbers(ed, s, (int)all, false);
  return true;
}

/* ---- the one-step solver ---- */

/* Forms the problem of the normals, of friction and of relays with u = 0, in ed->problem.W, ed->problem.q and ed->problem.groups: its rows. */
static int form_problem(NsEventDriven *ed, NsModes *s) {
  NsMotionProblem *problem = &ed->problem;
  int n = 0;
  problem->ngroups = 0;
  for (int u = 0; u < s->nunits; u++) {
    Unit *unit = &s->units[u];
    const Friction *friction = unit->friction >= 0 ? &ed->mode->rows[unit->friction].friction : NULL;
    unit->option = unit->moving ? OPTION_ALONG : OPTION_STICK;
    if (unit->moving && !unit->contact) continue;
    if (ns_ed_unit_rolls(unit)) {
      ns_motion_group_disc(&problem->groups[problem->ngroups - 1], unit->width, ns_ed_unit_mu(ed, s, unit));
      for (int i = 0; i < unit->width; i++) s->unknown[n++] = unit->first + i;
      continue;
    }
    NsMixedGroup group = ns_mixed_row(unit->contact ? 0 : -INFINITY, INFINITY);
    if (friction && !unit->contact)
      group.lower = friction->lower / s->unit[unit->k], group.upper = friction->upper / s->unit[unit->k];
    if (friction && unit->contact && !unit->moving) ns_motion_group_disc(&group, unit->width, friction->mu);
    problem->groups[problem->ngroups++] = group;
    for (int i = 0; i < group.dim; i++) s->unknown[n++] = unit->k + i;
  }
  memset(s->z, 0, (size_t)s->n * sizeof *s->z);
  for (int u = 0; u < s->nunits; u++)
    if (s->units[u].moving && s->units[u].normal < 0) s->z[s->units[u].k] = ns_ed_relay_force(ed, s, &s->units[u]);
  ns_ed_mode_outputs(s);
  for (int a = 0; a < n; a++) {
    problem->q[a] = s->w[s->unknown[a]];
    s->rows[a] = ed->event.closed[s->unknown[a]];
  }
  for (int b = 0; b < n; b++)
    for (int a = 0; a < n; a++) problem->W[a + (size_t)b * (size_t)n] = ns_ed_effective(ed, s, s->unknown[a], s->unknown[b]);
  return n;
}

/* Reads the option of a unit off the solver's answer s->z, s->w, whose accuracy is `bound`. */
static void read_unit(const NsEventDriven *ed, NsModes *s, Unit *unit, double bound) {
  int k = unit->k, first = unit->first;
  double own = s->W[k + (size_t)k * (size_t)s->n];
  if (unit->contact && !(s->z[k] * own > 1e-9 * s->size[k])) unit->option = OPTION_OPEN;
  if (ns_ed_unit_rolls(unit) && s->units[s->owner[unit->normal]].option == OPTION_OPEN) unit->option = OPTION_OPEN;
  if (unit->friction < 0 || unit->moving || unit->option == OPTION_OPEN) return;
  double speed = tangential(unit, s->w + first);
  bool moves = speed > bound * fmax(s->size[first], unit->width == 2 ? s->size[first + 1] : 0);
  bool bounded = unit->normal < 0 || tangential(unit, s->z + first) >= ns_ed_unit_bound(ed, s, unit) * (1 - bound);
  if (!moves || !bounded) return;
  if (unit->width == 1) unit->option = s->w[first] > 0 ? OPTION_PLUS : OPTION_MINUS;
  if (unit->width == 1) return;
  unit->option = OPTION_ALONG;
  for (int i = 0; i < 2; i++) unit->d[i] = s->w[first + i] / speed;
}

/* What the solver's answer says of friction near its bound is sure to this part of it: the accuracy of the answer, with a margin of 1e3. */
static const double SURE = 1e-7;

/*
** Reads the mode off the solver's answer. A mode that does not hold by more than rounding is read once more as exactly as the answer is at best.
*/
static bool read_modes(const NsEventDriven *ed, NsModes *s) {
  static const double best = 1e-9;
  memcpy(s->answer, s->z, (size_t)s->n * sizeof *s->z);
  for (int pass = 0; pass < 3; pass++) {
    memcpy(s->z, s->answer, (size_t)s->n * sizeof *s->z);
    ns_ed_mode_outputs(s);
    for (int u = 0; u < s->nunits; u++) s->units[u].option = s->units[u].moving ? OPTION_ALONG : OPTION_STICK;
    for (int u = 0; u < s->nunits; u++) read_unit(ed, s, &s->units[u], pass == 1 ? best : SURE);
    if (ns_ed_turn_directions(ed, s) && (pass == 2 || mode_holds(ed, s))) return true;
  }
  return false;
}

/* Whether the answer leaves no doubt of the option of a unit: what carries nothing, or is at its bound, may do something else next. */
static bool unit_is_sure(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  int k = unit->k, first = unit->first;
  if (unit->row == ed->event.hit || (unit->friction >= 0 && unit->friction == ed->event.hit)) return false;
  if (unit->option == OPTION_OPEN) return s->w[k] > SURE * s->size[k];
  if (unit->contact && !(s->z[k] * s->W[k + (size_t)k * (size_t)s->n] > SURE * s->size[k])) return false;
  if (unit->friction < 0 || unit->moving) return true;
  const Friction *friction = &ed->mode->rows[unit->friction].friction;
  double off = SURE * s->size[k] / s->W[k + (size_t)k * (size_t)s->n], force = s->z[k];
  if (unit->option != OPTION_STICK) return tangential(unit, s->w + first) > SURE * s->size[first];
  if (unit->normal >= 0) return tangential(unit, s->z + first) < ns_ed_unit_bound(ed, s, unit) * (1 - SURE);
  return force > friction->lower / s->unit[k] + off && force < friction->upper / s->unit[k] - off;
}

/* Makes the option that is read the first one of a unit, and the only one where the others are not to be tried. */
static void keep_option(Unit *unit, bool only) {
  int at = 0;
  while (at < unit->count && unit->options[at] != unit->option) at++;
  if (at == unit->count) unit->options[unit->count++] = unit->option;
  unit->options[at] = unit->options[0];
  unit->options[0] = unit->option;
  if (only) unit->count = 1;
}

/* Of the modes with the motion of the answer, takes the one that goes on best, as where all modes are tried. */
static void settle_doubts(const NsEventDriven *ed, NsModes *s) {
  for (int u = 0; u < s->nunits; u++) {
    Unit *unit = &s->units[u];
    if (!ns_ed_unit_rolls(unit) || unit->option != OPTION_OPEN) keep_option(unit, unit_is_sure(ed, s, unit));
    else if (s->units[s->owner[unit->normal]].count == 1) unit->count = 1;
  }
  for (int u = 0; u < s->nunits && count_modes(s) > MOST_DOUBTS; u++) {
    Unit *unit = &s->units[u];
    if (unit->row != ed->event.hit && (unit->friction < 0 || unit->friction != ed->event.hit)) unit->count = 1;
  }
  if (count_modes(s) <= MOST_DOUBTS) try_mode_numbers(ed, s, (int)count_modes(s), true);
}

/* One solution by the one-step solver. */
static NsStatus solve_modes(NsEventDriven *ed, NsModes *s, NsError *err) {
  bool again = true;
  for (int pass = 0; again; pass++) {
    int n = form_problem(ed, s);
    if (pass == NS_ED_JOINT_PASSES) return ns_ed_joint_fail(err);
    NsStatus status = ns_motion_problem_solve(&ed->problem, ed->motion, n, s->rows, "forces", err);
    if (status != NS_OK) return status;
    for (int a = 0; a < n; a++) s->z[s->unknown[a]] = ed->problem.z[a];
    again = ns_ed_joint_bounds_move(ed, s);
  }
  for (int u = 0; u < s->nunits; u++) ns_ed_unit_slip(ed, s, &s->units[u]);
  ns_ed_mode_outputs(s);
  if (!read_modes(ed, s)) return ns_fail(err, NS_ENOSOL, "%s: the forces have no accepted solution", ed->problem.who);
  s->kept = 0;
  solution_add(ed, s);
  settle_doubts(ed, s);
  return NS_OK;
}

/* ---- an impulse without collision ---- */

static bool modes_roll(const NsModes *s) {
  for (int u = 0; u < s->nunits; u++)
    if (ns_ed_unit_rolls(&s->units[u])) return true;
  return false;
}

/*
** Looks for an impulse that stops the sliding of the units with a flag in `stops`: their u becomes 0, normal and tangential; all
** other contacts have an impact without restitution. The impulse must be in the cone of friction, up to `slack` of it. ed->problem.z: by
** closed row. Contacts with rolling friction have none here.
*/
static bool impulse_stops(NsEventDriven *ed, NsModes *s, int only, double slack) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  NsMotionProblem *problem = &ed->problem;
  int n = s->n;
  if (modes_roll(s)) return false;
  problem->ngroups = 0;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    const Friction *friction = unit->friction >= 0 ? &mode->rows[unit->friction].friction : NULL;
    bool stops = unit->contact && unit->moving && (only < 0 || only == u);
    NsMixedGroup group = ns_mixed_row(unit->contact && !stops ? 0 : -INFINITY, INFINITY);
    if (friction && !unit->contact) group.lower = isfinite(friction->lower) ? 0 : -INFINITY;
    if (friction && !unit->contact) group.upper = isfinite(friction->upper) ? 0 : INFINITY;
    if (friction && unit->contact && !stops) group = ns_mixed_contact(ns_cone_find(1 + unit->width, 1), &friction->mu);
    problem->groups[problem->ngroups++] = group;
    for (int i = 0; i < unit->width && stops; i++) problem->groups[problem->ngroups++] = group;
  }
  for (int k = 0; k < n; k++) problem->q[k] = mode->rows[event->closed[k]].unilateral ? 0 : ed->now->u[event->closed[k]];
  ns_motion_delassus(ed->motion, n, event->closed, problem->W);
  if (ns_motion_problem_solve(&ed->problem, ed->motion, n, event->closed, "impulses", NULL) != NS_OK) return false;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (!unit->contact || !unit->moving || (only >= 0 && only != u)) continue;
    double normal = problem->z[unit->k];
    if (!(normal > 0) ||
        tangential(unit, problem->z + unit->k + 1) > mode->rows[unit->friction].friction.mu * normal * (1 + slack))
      return false;
  }
  return true;
}

static bool find_impulse(NsEventDriven *ed, NsModes *s, double slack) {
  int sliding = 0;
  for (int u = 0; u < s->nunits; u++) {
    if (!s->units[u].contact || !s->units[u].moving) continue;
    sliding++;
    if (impulse_stops(ed, s, u, slack)) return true;
  }
  return sliding > 1 && impulse_stops(ed, s, -1, slack);
}

/* ---- the decision ---- */

static const char *const option_words[] = {"sticks", "slips with u > 0", "slips with u < 0", "slips", "opens"};

/* Writes what a solution says of the units that differ between solutions. */
static void describe(const NsEventDriven *ed, const NsModes *s, const Solution *solution, size_t room, char *text) {
  size_t at = strlen(text);
  for (int u = 0, first = 1; u < s->nunits && at + 1 < room; u++) {
    bool differs = false;
    for (int i = 1; i < s->kept; i++) differs = differs || s->solutions[i].option[u] != s->solutions[0].option[u];
    if (!differs) continue;
    const char *word = option_words[solution->option[u]];
    if (s->units[u].friction < 0 && solution->option[u] == OPTION_STICK) word = "stays closed";
    int used = snprintf(text + at, room - at, "%s%s'%s' %s", first ? "" : ", ",
                        ns_ed_unit_rolls(&s->units[u]) ? "the rolling of " : "",
                        ns_motion_row_name(ed->motion, s->units[u].row), word);
    at += used > 0 ? (size_t)used : 0;
    first = 0;
  }
}

/* Whether a solution is the mode before: no contact opens, and what has stuck or slipped goes on. */
static bool mode_goes_on(const NsEventDriven *ed, const NsModes *s, const Solution *solution) {
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    Option option = (Option)solution->option[u];
    StickSlip now = option == OPTION_STICK ? FRICTION_STICK : FRICTION_SLIP;
    if (ed->mode->rows[unit->row].state != ROW_ACTIVE || option == OPTION_OPEN) return false;
    if (unit->friction >= 0 && ed->event.was[unit->friction].stick_slip != now) return false;
  }
  return true;
}

static int solution_open(const NsModes *s, const Solution *solution) {
  int count = 0;
  for (int u = 0; u < s->nunits; u++) count += solution->option[u] == OPTION_OPEN;
  return count;
}

/*
** More contacts than hold a body share its load in one way of many, and where they slide the motion depends on it. The solution in which the most
** contacts share it, if others differ from it by contacts alone that carry nothing and yet stay closed; else NULL.
*/
static const Solution *solution_that_shares(const NsModes *s) {
  const Solution *best = &s->solutions[0];
  for (int i = 1; i < s->kept; i++)
    if (solution_open(s, &s->solutions[i]) < solution_open(s, best)) best = &s->solutions[i];
  for (int i = 0; i < s->kept; i++) {
    const Solution *other = &s->solutions[i];
    if (other != best && solution_open(s, other) == solution_open(s, best)) return NULL;
    for (int u = 0; u < s->nunits; u++) {
      int k = s->units[u].normal >= 0 ? s->units[u].normal : s->units[u].k;
      bool carries_nothing = other->option[u] == OPTION_OPEN && fabs(other->w[k]) <= SAME * s->size[k];
      if (other->option[u] != best->option[u] && !carries_nothing) return NULL;
    }
  }
  return best;
}

/*
** A solution is exact when it holds up to this part of the terms: the rounding of forces that cancel. One of these is clearly another one
** when it is off by 10 times as much.
*/
static const double EXACT = NS_ROUNDING_OF_FORCES, CLEARLY = 10;

/*
** Where contacts nearly depend on each other, as on faces with a slight bend, modes hold up to the tolerance that are none. The solution
** that is exact where all others are clearly not; else NULL.
*/
static const Solution *exact_solution(const NsModes *s) {
  const Solution *exact = NULL;
  for (int i = 0; i < s->kept; i++) {
    const Solution *one = &s->solutions[i];
    if (one->off > CLEARLY * EXACT) continue;
    if (exact || one->off > EXACT) return NULL;
    exact = one;
  }
  return exact;
}

/*
** The solution that is the mode before, at the start of a step, where nothing has happened, or the only exact one, or the one in which
** contacts share what they carry; else NULL, and the error of several modes.
*/
static const Solution *only_solution(const NsEventDriven *ed, const NsModes *s, NsError *err) {
  char text[400] = "";
  for (int i = 0; i < s->kept && ed->event.hit < 0; i++)
    if (mode_goes_on(ed, s, &s->solutions[i])) return &s->solutions[i];
  const Solution *best = exact_solution(s);
  if (!best) best = solution_that_shares(s);
  if (best) return best;
  for (int i = 0; i < s->kept; i++) {
    describe(ed, s, &s->solutions[i], sizeof text, text);
    if (i + 1 < s->kept && strlen(text) + 3 < sizeof text) strcat(text, "; ");
  }
  (void)ns_fail(err, NS_ENOSOL, "%s: the next mode is not unique: %s", ed->problem.who, text);
  return NULL;
}

/* The solution that is taken; NULL: several are possible, and the option says that this is an error. */
static const Solution *pick_solution(const NsEventDriven *ed, const NsModes *s, NsError *err) {
  const Solution *best = &s->solutions[0];
  if (s->kept == 1) return best;
  if (ed->run.options.ambiguity == NS_AMBIGUITY_ERROR) return only_solution(ed, s, err);
  for (int i = 1; i < s->kept; i++)
    if (solution_count(s, &s->solutions[i], (NsAmbiguity)ed->run.options.ambiguity) >
        solution_count(s, best, (NsAmbiguity)ed->run.options.ambiguity))
      best = &s->solutions[i];
  return best;
}

/*
** Whether slip in space is at its onset: it begins, or the step of the grid begins while it is so slow that friction would turn it into
** the direction of the forces in a small part of the step. along: the acceleration in its direction, size: the sum of its |terms|.
*/
static bool has_onset(const NsEventDriven *ed, const Unit *unit, double along, double size) {
  if (!unit->moving) return ns_ed_begins_onset(ed, along, size);
  double speed = ns_ed_sliding_speed(ed, unit->friction);
  return ns_ed_begins_onset(ed, fabs(along), size) && ns_ed_begins_onset(ed, speed / ed->mode->h, size);
}

/* Sets whether the friction of a unit sticks or slips. */
static void set_stick_slip(NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  Friction *friction = &ed->mode->rows[unit->friction].friction;
  int first = unit->first;
  friction->stick_slip = unit->option == OPTION_OPEN ? FRICTION_NONE : ns_ed_unit_slips(unit) ? FRICTION_SLIP : FRICTION_STICK;
  friction->level = 0;
  if (friction->stick_slip != FRICTION_SLIP) return;
  const double *d = ns_ed_option_direction(unit), *a = s->w + first;
  double along = 0, size = 0;
  for (int i = 0; i < unit->width; i++) {
    friction->d[i] = d[i];
    along += d[i] * a[i];
    size = fmax(size, s->size[first + i]);
  }
  friction->stops = false;
  friction->since = unit->moving ? NAN : ed->run.t;
  bool grown = ed->event.was[unit->friction].onset && ed->event.hit == unit->friction + 1;
  friction->onset = unit->width == 2 && !grown && !friction->tied && has_onset(ed, unit, along, size);
  friction->pull = along > 1e-9 * size ? along / s->unit[first] : 0;
}

static void hold_row(NsEventDriven *ed, const NsModes *s, int k) {
  NsMotionMode *mode = ed->mode;
  mode->lambda[mode->nactive] = s->z[k] * s->unit[k];
  mode->active[mode->nactive++] = ed->event.closed[k];
}

/*
** Whether friction at its bound, with u = 0, can not slip, because the rows that are active (`count` unknowns) keep u' = 0: its
** force along d moves nothing.
*/
static bool is_tied(const NsEventDriven *ed, NsModes *s, const Unit *unit, int count) {
  if (unit->normal < 0 || unit->moving || !ns_ed_unit_slips(unit)) return false;
  size_t n = (size_t)s->n, first = (size_t)unit->first;
  const double *d = ns_ed_option_direction(unit);
  double own = 0, left;
  for (int a = 0; a < count; a++) {
    s->rhs[a] = 0;
    for (size_t j = 0; j < (size_t)unit->width; j++) s->rhs[a] += d[j] * s->W[(size_t)s->unknown[a] + (first + j) * n];
  }
  for (size_t i = 0; i < (size_t)unit->width; i++)
    for (size_t j = 0; j < (size_t)unit->width; j++) own += d[i] * d[j] * s->W[first + i + (first + j) * n];
  if (!ns_ed_solve_equations(ed, s, count, s->part)) return false;
  left = own;
  for (int b = 0; b < count; b++)
    for (size_t i = 0; i < (size_t)unit->width; i++)
      left -= d[i] * ns_ed_effective(ed, s, (int)(first + i), s->unknown[b]) * s->part[b];
  return fabs(left) <= 1e-9 * own;
}

/* Takes the mode: ed->mode->active, ed->mode->acting, ed->mode->lambda and what sticks and slips. */
static void take_mode(NsEventDriven *ed, NsModes *s, const Solution *solution) {
  NsMotionMode *mode = ed->mode;
  for (int u = 0; u < s->nunits; u++) {
    s->units[u].option = (Option)solution->option[u];
    for (int i = 0; i < 2; i++) s->units[u].d[i] = solution->d[u][i];
  }
  int count = ns_ed_mode_unknowns(ed, s);
  (void)ns_ed_mode_solve(ed, s); /* forms the equations */
  for (int u = 0; u < s->nunits; u++)
    if (s->units[u].friction >= 0) mode->rows[s->units[u].friction].friction.tied = is_tied(ed, s, &s->units[u], count);
  (void)ns_ed_mode_solve(ed, s); /* finds the shares again: the ties have replaced them */
  memcpy(s->z, solution->z, (size_t)s->n * sizeof *s->z);
  ns_ed_mode_outputs(s);
  for (int i = 0; i < ed->m; i++) {
    mode->rows[i].friction.stick_slip = FRICTION_NONE, mode->rows[i].friction.onset = false;
    mode->multiplier[i] = 0, mode->share[i] = 1;
  }
  for (int a = 0; a < count; a++) mode->share[ed->event.closed[s->unknown[a]]] = s->share[a] * s->unit[s->unknown[a]];
  mode->nactive = mode->nacting = 0;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (unit->friction >= 0) set_stick_slip(ed, s, unit);
    if (unit->option == OPTION_OPEN) continue;
    if (unit->contact || unit->friction < 0) hold_row(ed, s, unit->k);
    if (unit->contact || unit->friction < 0) mode->acting[mode->nacting++] = unit->row;
    for (int i = 0; i < unit->width; i++) mode->acting[mode->nacting++] = unit->friction + i;
  }
  mode->nplaces = mode->nactive;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (unit->friction < 0 || unit->option != OPTION_STICK) continue;
    for (int i = 0; i < unit->width; i++) hold_row(ed, s, unit->first + i);
  }
}

static NsStatus fail_without_forces(const NsEventDriven *ed, int row, NsError *err) {
  const NsModes *s = ed->modes;
  return ns_fail(
      err, NS_ENOSOL,
      "%s: Painleve: no forces of '%s'%s fit to the law of friction, and %s; TimeStepping goes on, or less friction",
      ed->problem.who, ns_motion_row_name(ed->motion, row), s->nunits > 1 + modes_roll(s) ? " and others" : "",
      modes_roll(s) ? "with rolling friction no impulse without collision is found" : "no impulse stops the sliding");
}

/* At the pole the impulse is at the bound of the cone. It may exceed it by this part; 1e-6: the pole is located to 1e-10. */
static const double POLE_SLACK = 1e-6;

NsStatus ns_ed_pass_pole(NsEventDriven *ed, int contact, NsError *err) {
  NsModes *s = ed->modes;
  ns_ed_modes_take(ed, s);
  for (int u = 0; u < s->nunits; u++)
    if (s->units[u].row == contact && s->units[u].moving && impulse_stops(ed, s, u, POLE_SLACK)) return NS_OK;
  return find_impulse(ed, s, POLE_SLACK) ? NS_OK : fail_without_forces(ed, contact, err);
}

NsStatus ns_ed_choose(NsEventDriven *ed, bool *impulse, NsError *err) {
  NsModes *s = ed->modes;
  NsStatus status = NS_OK;
  *impulse = false;
  ns_ed_modes_take(ed, s);
  for (int u = 0; u < s->nunits; u++)
    if (s->units[u].friction >= 0 && isnan(ed->mode->rows[s->units[u].friction].friction.mu))
      return ns_ed_no_friction(ed, s->units[u].friction, err);
  bool all = try_all_modes(ed, s);
  if (s->kept == 0) status = solve_modes(ed, s, err);
  if (status != NS_OK && status != NS_ENOMEM && status != NS_EINTR && find_impulse(ed, s, FEASIBLE)) {
    *impulse = true;
    return NS_OK;
  }
  if (status != NS_OK && all) return fail_without_forces(ed, ed->event.closed[0], err);
  if (status != NS_OK) return status;
  const Solution *solution = pick_solution(ed, s, err);
  if (!solution) return NS_ENOSOL;
  take_mode(ed, s, solution);
  return NS_OK;
}
