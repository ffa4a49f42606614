/*
** event_equations.c
** The problem of the next mode (event_modes.c): its units, its matrix, and the equations of one mode.
*/
#include <math.h>
#include <string.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_modes.h"

#include "integrators/motion/event_joint.h"
#include "linalg/qr.h"

/*
** Least bound of a frictional force, as a fraction of the largest bound, in the shares of dependent rows. 1e-3: the weights of
** the least squares, its square roots, then differ by a factor of 32 at most.
*/
static const double LEAST_SHARE = 1e-3;

/*
** Least size of a row's acceleration, as a fraction of `even`: the acceleration of this row that has the kinetic energy of the
** largest one. A row below it has terms that are only rounding, and decides nothing. 1e-5: the square root of 1e-10 (FEASIBLE),
** because energies are squares of accelerations.
*/
static const double NOISE = 1e-5;

/*
** Largest residual of an equation of dependent rows, as a fraction of its terms. Equations that contradict each other
** keep terms of the size of the data. 1e-7: equations that agree are off by 1e-14 at most on the specs; data may have 8 digits.
*/
static const double CONTRADICTS = 1e-7;

NsModes *ns_ed_modes_new(NsArena *arena, int m) {
  NsModes *s = ns_arena_take(arena, 1, sizeof *s);
  if (!s) return NULL;
  s->units = ns_arena_take(arena, (size_t)m, sizeof *s->units);
  NS_ARENA_VECTORS(arena, m, &s->q, &s->terms, &s->z, &s->w, &s->size, &s->rhs, &s->unit, &s->part, &s->share, &s->change,
                   &s->answer);
  s->turned = ns_arena_doubles(arena, 2 * m);
  s->W = ns_arena_matrix(arena, m, m);
  s->A = ns_arena_matrix(arena, m, m);
  NS_ARENA_INTS(arena, m, &s->unknown, &s->rows, &s->owner);
  for (int i = 0; i < NS_ED_SOLUTIONS; i++) {
    Solution *solution = &s->solutions[i];
    solution->option = ns_arena_take(arena, (size_t)m, sizeof *solution->option);
    solution->d = ns_arena_take(arena, (size_t)m, sizeof *solution->d);
    NS_ARENA_VECTORS(arena, m, &solution->z, &solution->w);
  }
  return arena->failed ? NULL : s;
}

/* ---- the units ---- */

static void unit_may(Unit *unit, Option option) {
  unit->options[unit->count++] = option;
}

/* The direction in which friction at rest would slip: where it slipped until now, or against the force at its bound. */
static bool expected_direction(const NsEventDriven *ed, int friction, double *d) {
  const NsMotionEvent *event = &ed->event;
  const Friction *was = &event->was[friction];
  const double *lambda = ed->mode->multiplier + friction;
  double size = ns_motion_length(lambda[0], lambda[1]);
  if (was->stick_slip == FRICTION_SLIP && event->hit != friction) {
    d[0] = was->d[0], d[1] = was->d[1];
    return true;
  }
  if (was->stick_slip != FRICTION_STICK || event->hit != friction || !(size > 0)) return false;
  d[0] = -lambda[0] / size, d[1] = -lambda[1] / size;
  return true;
}

static void relay_options(const NsMotionMode *mode, Unit *unit) {
  const Friction *friction = &mode->rows[unit->friction].friction;
  bool fixed = friction->lower == friction->upper && !friction->varies;
  if (unit->moving) unit_may(unit, OPTION_ALONG);
  if (unit->moving) return;
  if (!fixed) unit_may(unit, OPTION_STICK);
  if (isfinite(friction->lower)) unit_may(unit, OPTION_PLUS);
  if (isfinite(friction->upper) && !fixed) unit_may(unit, OPTION_MINUS);
}

static void friction_options(const NsEventDriven *ed, Unit *unit) {
  unit_may(unit, unit->moving ? OPTION_ALONG : OPTION_STICK);
  if (!unit->moving && unit->width == 1) unit_may(unit, OPTION_PLUS), unit_may(unit, OPTION_MINUS);
  if (!unit->moving && unit->width == 2 && expected_direction(ed, unit->friction, unit->d)) unit_may(unit, OPTION_ALONG);
}

static Unit modes_unit(NsEventDriven *ed, int k) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionEvent *event = &ed->event;
  int row = event->closed[k];
  const Row *r = &mode->rows[row];
  Unit unit = {.k = k, .row = row, .friction = -1, .first = k, .normal = r->unilateral ? k : -1, .contact = r->unilateral};
  if (r->friction.width > 0) unit.friction = row;
  if (r->unilateral && k + 1 < event->nclosed && event->closed[k + 1] == row + 1 &&
      mode->rows[row + 1].friction.normal == row && mode->rows[row + 1].friction.width > 0)
    unit.friction = row + 1;
  if (unit.friction >= 0) {
    const Friction *friction = &mode->rows[unit.friction].friction;
    unit.width = friction->width;
    unit.first = k + (unit.contact ? 1 : 0);
    for (int n = k; n >= 0 && friction->normal >= 0 && unit.normal < 0; n--)
      if (event->closed[n] == friction->normal) unit.normal = n, unit.row = friction->normal;
    unit.moving = !event->resting[unit.friction];
    double speed = ns_ed_sliding_speed(ed, unit.friction);
    for (int i = 0; i < unit.width && unit.moving; i++) unit.d[i] = ed->now->u[unit.friction + i] / speed;
    ns_ed_take_friction(ed, unit.friction, unit.moving ? speed : 0);
  }
  if (unit.friction < 0) unit_may(&unit, OPTION_STICK);
  else if (unit.normal >= 0) friction_options(ed, &unit);
  else relay_options(mode, &unit);
  if (unit.contact) unit_may(&unit, OPTION_OPEN);
  return unit;
}

/* Units of a row and of its whole unit: powers of two in which the diagonal of W is nearly constant. Exact. */
static void modes_scale(NsEventDriven *ed, NsModes *s) {
  int first = 0, exponent;
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    double own = ed->problem.W[unit->k + (size_t)unit->k * (size_t)s->n];
    exponent = first;
    if (own > 0 && isfinite(own)) (void)frexp(own, &exponent);
    if (u == 0) first = exponent;
    int rows = u + 1 < s->nunits ? s->units[u + 1].k : s->n, apart = exponent - first;
    for (int k = unit->k; k < rows; k++) s->unit[k] = ldexp(1, -(apart - (apart & 1)) / 2);
  }
}

/* Takes the problem of the rows ed->event.closed: W, q, units. */
void ns_ed_modes_take(NsEventDriven *ed, NsModes *s) {
  const NsMotionEvent *event = &ed->event;
  int n = s->n = event->nclosed;
  size_t rows = (size_t)n;
  s->nunits = 0;
  for (int k = 0; k < n;) {
    Unit unit = modes_unit(ed, k);
    int end = unit.friction >= 0 ? unit.first + unit.width : k + 1;
    s->units[s->nunits] = unit;
    while (k < end) s->owner[k++] = s->nunits;
    s->nunits++;
  }
  ns_motion_delassus(ed->motion, n, event->closed, ed->problem.W);
  modes_scale(ed, s);
  for (int k = 0; k < n; k++) {
    int row = event->closed[k];
    double terms = fabs(ed->now->bias[row]);
    for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
    s->q[k] = s->unit[k] * ns_motion_output_acceleration(ed->motion, row, ed->now->a_free);
    s->terms[k] = s->unit[k] * terms;
    for (int i = 0; i < n; i++)
      s->W[(size_t)i + (size_t)k * rows] = s->unit[i] * s->unit[k] * ed->problem.W[(size_t)i + (size_t)k * rows];
  }
}

/* ---- the equations of a mode ---- */

/* The force of a relay at a bound, in the units of the problem. */
double ns_ed_relay_force(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  const Friction *friction = &ed->mode->rows[unit->friction].friction;
  return (ns_ed_option_direction(unit)[0] > 0 ? friction->lower : friction->upper) / s->unit[unit->k];
}

/* Lists the unknowns of the mode, rows of the problem: their number. Sets z of relays at a bound; all others are 0. */
int ns_ed_mode_unknowns(const NsEventDriven *ed, NsModes *s) {
  int count = 0;
  memset(s->z, 0, (size_t)s->n * sizeof *s->z);
  for (int u = 0; u < s->nunits; u++) {
    const Unit *unit = &s->units[u];
    if (unit->option == OPTION_OPEN) continue;
    const Friction *friction = unit->friction >= 0 ? &ed->mode->rows[unit->friction].friction : NULL;
    if (ns_ed_unit_slips(unit) && friction->reactions > 0)
      s->z[unit->k] = -ns_ed_option_direction(unit)[0] * friction->own / s->unit[unit->k];
    else if (ns_ed_unit_slips(unit) && unit->normal < 0) s->z[unit->k] = ns_ed_relay_force(ed, s, unit);
    else if (!ns_ed_unit_rolls(unit)) s->unknown[count++] = unit->k;
    for (int i = 0; i < unit->width && unit->normal >= 0 && unit->option == OPTION_STICK; i++)
      s->unknown[count++] = unit->first + i;
  }
  return count;
}

/* The unit of a row of the problem. */
static const Unit *unit_of(const NsModes *s, int k) {
  return &s->units[s->owner[k]];
}

double ns_ed_unit_mu(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  return ed->mode->rows[unit->friction].friction.mu * (s->unit[unit->normal] / s->unit[unit->first]);
}

double ns_ed_unit_bound(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  return ns_ed_unit_mu(ed, s, unit) * s->z[unit->normal];
}

void ns_ed_unit_slip(const NsEventDriven *ed, NsModes *s, const Unit *unit) {
  if (unit->normal < 0 || !ns_ed_unit_slips(unit)) return;
  const double *d = ns_ed_option_direction(unit);
  double mu = ns_ed_unit_mu(ed, s, unit);
  for (int j = 0; j < unit->width; j++) s->z[unit->first + j] = -mu * d[j] * s->z[unit->normal];
}

/* The element of W in row i for the unknown k, together with the friction that it brings along. */
double ns_ed_effective(const NsEventDriven *ed, const NsModes *s, int i, int k) {
  size_t n = (size_t)s->n;
  const Unit *unit = unit_of(s, k);
  double sum = s->W[(size_t)i + (size_t)k * n];
  if (ed->has_reactions && unit->friction < 0) return sum + ns_ed_joint_effective(ed, s, i, k);
  for (int u = s->owner[k]; u < s->nunits && s->units[u].normal == k; u++) {
    if (!ns_ed_unit_slips(&s->units[u])) continue;
    const double *d = ns_ed_option_direction(&s->units[u]);
    double mu = ns_ed_unit_mu(ed, s, &s->units[u]);
    for (int j = 0; j < s->units[u].width; j++) sum -= mu * d[j] * s->W[(size_t)i + (size_t)(s->units[u].first + j) * n];
  }
  return sum;
}

/* The bound mu lambda_n of the a-th unknown, for multipliers x of the unknowns; -1 when it is not friction of a contact. */
static double friction_bound(const NsEventDriven *ed, const NsModes *s, int count, const double *x, int a) {
  const Unit *unit = unit_of(s, s->unknown[a]);
  if (unit->normal < 0 || s->unknown[a] == unit->normal) return -1;
  for (int b = a - 1; b >= 0 && b < count; b--)
    if (s->unknown[b] == unit->normal) return ns_ed_unit_mu(ed, s, unit) * fmax(0, x[b]);
  return -1;
}

double ns_ed_friction_share(double bound, double most) {
  return sqrt(fmax(bound / most, LEAST_SHARE));
}

/*
** The shares of the unknowns in the forces of dependent rows: friction that sticks in proportion to its bound, so that none
** reaches its bound before the others do (the least sum of x_k^2 / share_k^2 has x_k in proportion to share_k^2). x: the solution
** of least norm.
*/
static void find_shares(const NsEventDriven *ed, NsModes *s, int count, const double *x) {
  double most = 0;
  for (int a = 0; a < count; a++) s->share[a] = 1, most = fmax(most, friction_bound(ed, s, count, x, a));
  for (int a = 0; a < count && most > 0; a++) {
    double bound = friction_bound(ed, s, count, x, a);
    if (bound >= 0) s->share[a] = ns_ed_friction_share(bound, most);
  }
}

/* Least squares A x = rhs with the least norm of x_k / share_k. */
static bool solve_shared_equations(NsModes *s, int count, double *x) {
  int rank;
  for (int b = 0; b < count; b++)
    for (int a = 0; a < count; a++) s->A[a + (size_t)b * (size_t)count] *= s->share[b];
  bool good = ns_lstsq(count, count, 1, s->A, count, s->rhs, count, NS_MOTION_DEPENDENT, x, &rank, NULL) == NS_OK;
  for (int b = 0; b < count; b++) {
    x[b] *= s->share[b];
    for (int a = 0; a < count; a++) s->A[a + (size_t)b * (size_t)count] /= s->share[b];
  }
  return good;
}

/*
** Whether x is a solution of A x = rhs. A row whose terms are below NOISE beside the largest ones has only rounding: two
** rows of the same motion may differ there by as much as they are.
*/
static bool equations_agree(const NsModes *s, int count, const double *x) {
  double even = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < count; i++) {
      double off = -s->rhs[i], size = fabs(s->rhs[i]), own = sqrt(fabs(s->A[i + (size_t)i * (size_t)count]));
      for (int j = 0; j < count; j++) {
        double term = s->A[i + (size_t)j * (size_t)count] * x[j];
        off += term;
        size += fabs(term);
      }
      if (pass == 0 && own > 0) even = fmax(even, size / own);
      if (pass == 1 && fabs(off) > CONTRADICTS * fmax(size, NOISE * own * even)) return false;
    }
  return true;
}

/* Solves A x = rhs (count); when A is singular, with the shares of find_shares. False: there is no solution. */
bool ns_ed_solve_equations(const NsEventDriven *ed, NsModes *s, int count, double *x) {
  for (int a = 0; a < count; a++) s->share[a] = 1;
  if (count == 0) return true;
  NsLu *lu = NULL;
  if (ns_lu_new(&lu, count) != NS_OK) return false;
  NsStatus status = ns_lu_factor(lu, s->A, count);
  bool regular = status == NS_OK && !(count > 1 && ns_lu_rcond(lu) < NS_MOTION_DEPENDENT);
  if (regular) {
    memcpy(x, s->rhs, (size_t)count * sizeof *x);
    ns_lu_solve(lu, 1, x, count);
  }
  ns_lu_free(lu);
  if (regular) return true;
  if (!solve_shared_equations(s, count, x)) return false;
  find_shares(ed, s, count, x);
  if (!solve_shared_equations(s, count, x)) return false;
  return equations_agree(s, count, x);
}

/* y'' and the sums of its |terms| for the multipliers s->z. */
void ns_ed_mode_outputs(NsModes *s) {
  size_t n = (size_t)s->n;
  for (size_t i = 0; i < n; i++) {
    s->w[i] = s->q[i];
    s->size[i] = s->terms[i];
    for (size_t j = 0; j < n; j++) {
      double term = s->W[i + j * n] * s->z[j];
      s->w[i] += term;
      s->size[i] += fabs(term);
    }
  }
  double even = 0;
  for (size_t i = 0; i < n; i++)
    if (s->W[i + i * n] > 0) even = fmax(even, s->size[i] / sqrt(s->W[i + i * n]));
  for (size_t i = 0; i < n; i++) s->size[i] = fmax(s->size[i], NOISE * sqrt(fabs(s->W[i + i * n])) * even);
}

/* Solves the equations of the mode that the units' options say, with the present directions of reactions: s->z, s->w, s->size. */
static bool solve_mode_once(const NsEventDriven *ed, NsModes *s) {
  int count = ns_ed_mode_unknowns(ed, s);
  ns_ed_mode_outputs(s);
  for (int a = 0; a < count; a++) s->rhs[a] = -s->w[s->unknown[a]];
  for (int b = 0; b < count; b++)
    for (int a = 0; a < count; a++) s->A[a + (size_t)b * (size_t)count] = ns_ed_effective(ed, s, s->unknown[a], s->unknown[b]);
  if (!ns_ed_solve_equations(ed, s, count, s->part)) return false;
  for (int a = 0; a < count; a++) s->z[s->unknown[a]] = s->part[a];
  for (int u = 0; u < s->nunits; u++) ns_ed_unit_slip(ed, s, &s->units[u]);
  ns_ed_mode_outputs(s);
  return true;
}

bool ns_ed_mode_solve(const NsEventDriven *ed, NsModes *s) {
  for (int pass = 0; pass < NS_ED_JOINT_PASSES; pass++) {
    if (!solve_mode_once(ed, s)) return false;
    if (!ed->has_reactions) return true;
    bool again = ns_ed_joint_turn_mode(ed, s);
    ns_ed_mode_outputs(s);
    if (!again) return true;
  }
  return false;
}
