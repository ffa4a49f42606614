/*
** event_vjp.c
** Derivatives by parameters in closed form. In a mode with the active rows h the motion is
**   M a = F + H' lambda,   0 = H_h a,
** where lambda has the forces that the mode gives, too: -mu d lambda_n of friction that slips, the bound of a relay that slips.
** With G = H_h' - mu H_t' d (the force per unit of an active multiplier) the weights of these equations are kappa and nu:
**   (H_h M^-1 G)' kappa = -force - G' M^-T mu,   nu = M^-T (mu + H_h' kappa).
** A number that changes M, F and H then changes mu . a + force . lambda_h by
**   nu . (dF + dH' lambda - dM a) + kappa . dH_h a.
*/
#include "integrators/motion/event_vjp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/motion/event_active.h"
#include "linalg/dense.h"
#include "model/vjp.h"

/* What a number of a law changes: the derivatives of the coefficient of friction, and of the restitution of each row. */
typedef struct LawSlope {
  double mu, *restitution;
} LawSlope;

struct NsMotionVjp {
  NsModelDerivative model;
  NsArena arena;
  NsEventDriven *ed;
  LawSlope *slope;                   /* p */
  NsLu *lu;                          /* of order m */
  double *W;                         /* m x m */
  double *nu, *kappa, *force, *part; /* Nv, m, m: of all rows; m + Nv: workspace */
  double *weight;                    /* m */
};

/* ---- places ---- */

static NsInteraction *edge_of_vjp(const NsMotionVjp *vjp, int e) {
  return vjp->model.nsds->interactions[e];
}

/* The next interaction with the relation or law of a place; -1: none. */
static int next_of_place(const NsMotionVjp *vjp, const NsParameterPlace *at, int e) {
  return ns_parameter_next(vjp->model.nsds, at, e);
}

/* Whether a number of a relation is one of its outputs, which are C q + e in all interactions that have it. */
static bool place_of_output(const NsMotionVjp *vjp, const NsParameterPlace *at) {
  bool linear = at->kind == NS_NUMBER_C || at->kind == NS_NUMBER_e;
  for (int e = at->first; e >= 0 && linear; e = next_of_place(vjp, at, e)) {
    const NsInteraction *inter = edge_of_vjp(vjp, e);
    linear = ns_relation_linear(inter->relation) && !ns_relation_holds_at_position(inter->relation) &&
             !ns_interaction_turns(inter) && !inter->law->class->viscous;
  }
  return linear;
}

/* The coefficient of friction of a law (row < 0; of one that depends on the slip: 0), or the restitution of a row, with its number increased by `more`. */
static double law_value(const NsLaw *law, int row, double *number, double more) {
  double at = *number;
  *number = at + more;
  double value = row >= 0 ? ns_law_restitution(law, row, 1) : ns_law_slides(law) ? 0 : ns_law_group(law, 0, false).mu[0];
  *number = at;
  return value;
}

/* *slope = the derivative of law_value by the number; false: it is not affine in it. */
static bool law_slope(const NsLaw *law, int row, const NsParameter *parameter, double *slope) {
  int exponent;
  (void)frexp(parameter->unit, &exponent);
  double step = ldexp(1, exponent), *number = parameter->number;
  double far[2] = {law_value(law, row, number, -step), law_value(law, row, number, step)};
  double near[2] = {law_value(law, row, number, -step / 2), law_value(law, row, number, step / 2)};
  double half = (near[1] - near[0]) / step;
  *slope = (far[1] - far[0]) / (2 * step);
  return fabs(*slope - half) <= 64 * DBL_EPSILON * (fabs(far[0]) + fabs(far[1])) / step;
}

/* Fills the slopes of the law of parameter j. False: it is not affine in the number. */
static bool place_law_slopes(NsMotionVjp *vjp, int j) {
  const NsParameter *parameter = &vjp->model.parameters[j];
  const NsLaw *law = edge_of_vjp(vjp, vjp->model.place[j].first)->law;
  LawSlope *slope = &vjp->slope[j];
  slope->restitution = ns_arena_doubles(&vjp->arena, law->size);
  bool good = !vjp->arena.failed && law_slope(law, -1, parameter, &slope->mu);
  for (int i = 0; i < law->size && good; i++) good = law_slope(law, i, parameter, &slope->restitution[i]);
  return good;
}

/* Whether parameter j has closed forms; z: of one Lagrangian system, whose forces and mass take it. */
static bool place_is_good(NsMotionVjp *vjp, int j) {
  const NsParameterPlace *at = &vjp->model.place[j];
  if (ns_number_of_relation(at->kind)) return place_of_output(vjp, at);
  if (ns_number_of_law(at->kind)) return place_law_slopes(vjp, j);
  if (at->kind != NS_NUMBER_Z) return true;
  return at->systems == 1 && !ns_mechanical_turns((const NsMechanicalDs *)vjp->model.nsds->ds[at->system]);
}

/* ---- making ---- */

NsStatus ns_motion_vjp_new(NsMotionVjp **out, NsEventDriven *ed, const NsParameter *parameters, int p) {
  NsMotionVjp *vjp = *out = ns_alloc(1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  NsArena *arena = &vjp->arena;
  vjp->ed = ed;
  vjp->slope = ns_arena_take(arena, (size_t)p, sizeof *vjp->slope);
  NS_ARENA_VECTORS(arena, ed->m, &vjp->kappa, &vjp->force, &vjp->weight);
  vjp->nu = ns_arena_doubles(arena, ed->Nv);
  vjp->part = ns_arena_doubles(arena, ed->m + ed->Nv);
  vjp->W = ns_arena_matrix(arena, ed->m, ed->m);
  NsStatus status = ns_model_derivative_take(&vjp->model, arena, ed->run.base.nsds, parameters, p);
  for (int j = 0; j < p && status == NS_OK; j++)
    if (!place_is_good(vjp, j)) vjp->model.place[j].kind = NS_NUMBER_UNKNOWN;
  if (status == NS_OK) status = ns_model_take_z(&vjp->model);
  if (status == NS_OK && ns_lu_new(&vjp->lu, ed->m) == NS_OK) return NS_OK;
  ns_motion_vjp_free(vjp);
  *out = NULL;
  return NS_ENOMEM;
}

void ns_motion_vjp_free(NsMotionVjp *vjp) {
  if (!vjp) return;
  ns_lu_free(vjp->lu);
  ns_arena_release(&vjp->arena);
  ns_free(vjp);
}

/* ---- forces ---- */

void ns_motion_vjp_nothing(const NsMotionVjp *vjp, double *out, bool *known) {
  memset(out, 0, (size_t)vjp->model.p * sizeof *out);
  memset(known, 0, (size_t)vjp->model.p * sizeof *known);
}

/* The velocity (its index) that belongs to state j of interaction e. */
static int velocity_of(const NsMotionVjp *vjp, int e, int j) {
  int v;
  (void)ns_model_coordinate(&vjp->model, e, j, &v);
  return v;
}

/* The point of the states u; lambda: the forces of the rows. */
static NsModelPoint motion_point(const NsMotionVjp *vjp, double t, const double *u) {
  const NsEventDriven *ed = vjp->ed;
  return (NsModelPoint){.t = t, .x = u, .v = u + ed->Nq, .rate = ed->acceleration, .lambda = vjp->force, .one = 1};
}

/* Whether the direction of some friction depends on the forces. */
static bool some_in_onset(const NsMotionMode *mode) {
  for (int k = 0; k < mode->nacting; k++)
    if (ns_motion_friction_is(mode, mode->acting[k], FRICTION_SLIP) && mode->rows[mode->acting[k]].friction.onset) return true;
  return false;
}

/* Fills nu and kappa. False: there are none. */
static bool take_weights(NsMotionVjp *vjp, const NsMotionWeights *w) {
  const NsEventDriven *ed = vjp->ed;
  const NsMotionMode *mode = ed->mode;
  int n = mode->nactive, m = ed->m, Nv = ed->Nv;
  memset(vjp->kappa, 0, (size_t)m * sizeof *vjp->kappa);
  for (int i = 0; i < Nv; i++) vjp->nu[i] = w->mu ? w->mu[i] : 0;
  ns_motion_delassus(ed->motion, n, mode->active, vjp->W);
  ns_lu_set_order(vjp->lu, n);
  if (n > 0 && ns_lu_factor_fair(vjp->lu, vjp->W, n) != NS_OK) return false;
  for (int k = 0; k < n; k++) {
    const double *X = ed->now->X + (ptrdiff_t)mode->active[k] * Nv;
    vjp->part[k] = -ns_dense_dot(Nv, X, 1, vjp->nu, 1) - (w->force ? w->force[mode->active[k]] : 0);
  }
  if (n > 0) ns_lu_solve_transposed(vjp->lu, 1, vjp->part, n);
  for (int k = 0; k < n; k++) {
    const double *H = ed->now->H + mode->active[k];
    vjp->kappa[mode->active[k]] = vjp->part[k];
    for (int i = 0; i < Nv; i++) vjp->nu[i] += vjp->part[k] * H[(ptrdiff_t)i * m];
  }
  ns_motion_divide(ed->motion, true, vjp->nu);
  return true;
}

static bool edge_slips_in_space(const NsMotionVjp *vjp, int e) {
  const NsEventDriven *ed = vjp->ed;
  for (int i = vjp->model.row[e]; i < vjp->model.row[e] + edge_of_vjp(vjp, e)->m; i++)
    if (ns_motion_friction_is(ed->mode, i, FRICTION_SLIP) && ed->mode->rows[i].friction.width == 2) return true;
  return false;
}

/*
** What becomes of the changes by a number: they are stored in push (Nv) and off (m), the right sides of M a = F + H' lambda and of
** H_h a = 0; or, with push = NULL, summed with the weights of these equations.
*/
typedef struct MotionChange {
  double *push, *off;
  double sum;
} MotionChange;

/* A force of the row changes. */
static void change_row(const NsMotionVjp *vjp, int row, double by, MotionChange *change) {
  const NsEventDriven *ed = vjp->ed;
  if (!change->push) change->sum += by * ns_motion_speed(ed->motion, row, vjp->nu);
  for (int i = 0; i < ed->Nv && change->push; i++) change->push[i] += by * ed->now->H[row + (ptrdiff_t)i * ed->m];
}

/* By the coefficient of friction, which the number changes by d_mu, of the friction that begins in a row, which slips. */
static bool change_of_friction(const NsMotionVjp *vjp, int row, double d_mu, MotionChange *change) {
  const Friction *friction = &vjp->ed->mode->rows[row].friction;
  double normal = vjp->force[friction->normal];
  if (normal == 0) return true;
  if (friction->width == 1) change_row(vjp, row, -d_mu * friction->d[0] * normal, change);
  for (int k = 0; k < 2 && friction->width == 2 && friction->mu > 0; k++)
    change_row(vjp, row + k, d_mu * vjp->force[row + k] / friction->mu, change);
  return friction->width == 1 || friction->mu > 0;
}

static bool place_is_bound(const NsParameterPlace *at, bool upper, int row) {
  return at->kind == (upper ? NS_NUMBER_UPPER : NS_NUMBER_LOWER) && at->i == row;
}

/* The derivative of the coefficient of friction that begins in a row, at a speed of the slip, by the number of parameter j. */
static double friction_by_number(const NsMotionVjp *vjp, int j, int row, double speed) {
  const NsLaw *law = ns_ed_law(vjp->ed, row);
  if (!ns_law_slides(law)) return vjp->slope[j].mu;
  return ns_law_friction_at(law, speed, vjp->model.parameters[j].number).by_number;
}

static bool change_of_law(const NsMotionVjp *vjp, int j, MotionChange *change) {
  const NsEventDriven *ed = vjp->ed;
  const NsParameterPlace *at = &vjp->model.place[j];
  for (int e = at->first; e >= 0; e = next_of_place(vjp, at, e))
    for (int i = 0; i < edge_of_vjp(vjp, e)->m; i++) {
      int row = vjp->model.row[e] + i;
      const Friction *friction = &ed->mode->rows[row].friction;
      if (!ns_motion_friction_is(ed->mode, row, FRICTION_SLIP)) continue;
      if (friction->normal < 0 && place_is_bound(at, !(friction->d[0] > 0), i)) change_row(vjp, row, 1, change);
      double mu = friction_by_number(vjp, j, row, ns_ed_sliding_speed(ed, row));
      if (friction->normal >= 0 && mu != 0 && !change_of_friction(vjp, row, mu, change)) return false;
    }
  return true;
}

/* Whether closed forms know parameter j, as far as its kind and the relations tell. */
static bool place_known(const NsMotionVjp *vjp, int j) {
  NsNumber kind = vjp->model.place[j].kind;
  return kind != NS_NUMBER_UNKNOWN && (kind != NS_NUMBER_Z || ns_model_outputs_ignore(&vjp->model, j));
}

/* Whether closed forms know the number of a relation, C or e: friction that slips in space has another one. */
static bool relation_known(const NsMotionVjp *vjp, const NsParameterPlace *at) {
  bool known = true;
  for (int e = at->first; at->kind == NS_NUMBER_C && e >= 0; e = next_of_place(vjp, at, e))
    known = known && !edge_slips_in_space(vjp, e);
  return known;
}

/* The changes by parameter j. False: they are not known. */
static bool change_of_parameter(const NsMotionVjp *vjp, const NsModelPoint *point, int j, MotionChange *change) {
  const NsModelDerivative *model = &vjp->model;
  const NsParameterPlace *at = &model->place[j];
  NsModelWeights weights = {.force = vjp->nu, .output = vjp->kappa};
  if (ns_number_of_law(at->kind)) return change_of_law(vjp, j, change);
  if (!relation_known(vjp, at)) return false;
  if (change->push) return ns_model_jvp(model, point, j, change->push, change->off);
  return ns_model_vjp(model, point, &weights, j, &change->sum);
}

void ns_motion_vjp_look(NsMotionVjp *vjp, double t, const double *u) {
  NsModelPoint at = motion_point(vjp, t, u);
  for (int e = 0; e < vjp->model.nsds->ninteractions && vjp->model.has_z; e++)
    ns_model_look_at_interaction(&vjp->model, e, &at);
}

void ns_motion_vjp_begin(NsMotionVjp *vjp, double t, const double *u) {
  NsModelPoint at = motion_point(vjp, t, u);
  ns_ed_forces(vjp->ed, vjp->force);
  ns_model_look(&vjp->model, &at);
}

bool ns_motion_vjp_source(NsMotionVjp *vjp, int j, double t, const double *u, double *push, double *off) {
  MotionChange change = {.push = push, .off = off};
  NsModelPoint at = motion_point(vjp, t, u);
  bool known = !some_in_onset(vjp->ed->mode) && change_of_parameter(vjp, &at, j, &change);
  for (int i = 0; i < vjp->ed->m; i++) off[i] = 0 - off[i];
  return known;
}

void ns_motion_vjp(NsMotionVjp *vjp, double t, const double *u, const NsMotionWeights *weights, double *out, bool *known) {
  NsModelPoint at = motion_point(vjp, t, u);
  ns_motion_vjp_nothing(vjp, out, known);
  ns_motion_vjp_begin(vjp, t, u);
  if (some_in_onset(vjp->ed->mode) || !take_weights(vjp, weights)) return;
  for (int j = 0; j < vjp->model.p; j++) {
    MotionChange change = {.push = NULL};
    known[j] = change_of_parameter(vjp, &at, j, &change);
    out[j] = known[j] ? change.sum : 0;
  }
}

/* ---- guards ---- */

/* The outputs of rows from `row` on with `width` weights; rate: their velocities, of which e is no part. */
static void vjp_outputs(NsMotionVjp *vjp, double t, int row, int width, const double *weights, bool rate, const double *u,
                        double *out, bool *known) {
  ns_motion_vjp_nothing(vjp, out, known);
  ns_motion_vjp_look(vjp, t, u);
  for (int j = 0; j < vjp->model.p; j++) {
    const NsParameterPlace *at = &vjp->model.place[j];
    known[j] = place_known(vjp, j);
    if (at->kind != NS_NUMBER_C && (rate || at->kind != NS_NUMBER_e)) continue;
    for (int e = at->first, v; e >= 0; e = next_of_place(vjp, at, e)) {
      int k = vjp->model.row[e] + at->i - row;
      if (k < 0 || k >= width) continue;
      int q = at->kind == NS_NUMBER_C ? ns_model_coordinate(&vjp->model, e, at->j, &v) : 0;
      out[j] = weights[k] * (at->kind != NS_NUMBER_C ? 1 : u[rate ? vjp->ed->Nq + v : q]);
    }
  }
}

void ns_motion_vjp_output(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  static const double one = 1;
  vjp_outputs(vjp, t, row, 1, &one, false, u, out, known);
}

void ns_motion_vjp_sliding(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  const Friction *friction = &vjp->ed->mode->rows[row].friction;
  vjp_outputs(vjp, t, row, friction->width, friction->d, true, u, out, known);
}

NsForceSlope ns_motion_force_weights(const NsEventDriven *ed, int row, double *weight) {
  const NsMotionMode *mode = ed->mode;
  const Friction *friction = &mode->rows[row].friction;
  const double *force = mode->multiplier + row;
  NsForceSlope slope = {0, 0, 0};
  if (!ns_motion_friction_is(mode, row, FRICTION_STICK)) {
    weight[row] = 1;
  } else if (friction->normal >= 0) {
    double normal = mode->multiplier[friction->normal];
    weight[friction->normal] = 2 * friction->mu * friction->mu * normal;
    for (int i = 0; i < friction->width; i++) weight[row + i] = -2 * force[i];
    slope.mu = 2 * friction->mu * normal * normal;
  } else {
    bool least = isfinite(friction->lower), greatest = isfinite(friction->upper);
    double below = greatest ? friction->upper - force[0] : 1, above = least ? force[0] - friction->lower : 1;
    if (least) slope.lower = -below;
    if (greatest) slope.upper = above;
    weight[row] = -slope.lower - slope.upper;
  }
  return slope;
}

void ns_motion_vjp_force(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  NsForceSlope slope = ns_motion_force_weights(vjp->ed, row, vjp->weight);
  NsMotionWeights weights = {.force = vjp->weight};
  ns_motion_vjp(vjp, t, u, &weights, out, known);
  memset(vjp->weight, 0, (size_t)vjp->ed->m * sizeof *vjp->weight);
  int e = ns_motion_interaction(vjp->ed->motion, row);
  const void *law = edge_of_vjp(vjp, e)->law;
  for (int j = 0; j < vjp->model.p; j++) {
    const NsParameterPlace *at = &vjp->model.place[j];
    if (!known[j] || !ns_number_of_law(at->kind) || edge_of_vjp(vjp, at->first)->law != law) continue;
    if (slope.mu != 0) out[j] += friction_by_number(vjp, j, row, 0) * slope.mu;
    if (place_is_bound(at, false, row - vjp->model.row[e])) out[j] += slope.lower;
    if (place_is_bound(at, true, row - vjp->model.row[e])) out[j] += slope.upper;
  }
}

/* ---- impulses ---- */

/* The position of a row among the rows of an impulse; -1: it is none of them. */
static int place_in_impulse(const NsMotionImpulse *impulse, int row) {
  for (int k = 0; k < impulse->n; k++)
    if (impulse->rows[k] == row) return k;
  return -1;
}

static double impulse_bounce(const NsMotionVjp *vjp, const NsMotionImpulse *impulse, int k) {
  return 1 + (impulse->bounces[k] ? vjp->ed->mode->rows[impulse->rows[k]].restitution : 0);
}

/* push and off (0 on entry) by a number of the mass, of C or of a law. */
static void impulse_change(const NsMotionVjp *vjp, const NsMotionImpulse *impulse, int j, const double *v, const double *change,
                           double *push, double *off) {
  const NsEventDriven *ed = vjp->ed;
  const NsParameterPlace *at = &vjp->model.place[j];
  const LawSlope *slope = &vjp->slope[j];
  int start = at->kind == NS_NUMBER_MASS ? vjp->model.v[at->system] : 0;
  if (at->kind == NS_NUMBER_MASS) push[start + at->i] = -change[start + at->j];
  for (int e = at->first; at->kind == NS_NUMBER_C && e >= 0; e = next_of_place(vjp, at, e)) {
    int k = place_in_impulse(impulse, vjp->model.row[e] + at->i), i = velocity_of(vjp, e, at->j);
    if (k < 0) continue;
    push[i] += impulse->z[k];
    if (impulse->kind[k] == IMPULSE_EQUATION) off[impulse->rows[k]] += change[i] + impulse_bounce(vjp, impulse, k) * v[i];
  }
  for (int k = 0; ns_number_of_law(at->kind) && k < impulse->n; k++) {
    int row = impulse->rows[k], e = ns_motion_interaction(ed->motion, row);
    if (edge_of_vjp(vjp, e)->law != edge_of_vjp(vjp, at->first)->law) continue;
    if (impulse->kind[k] == IMPULSE_SLIP) off[row] = (impulse->slide[k] > 0 ? -slope->mu : slope->mu) * impulse->z[k - 1];
    else if (impulse->bounces[k]) off[row] = slope->restitution[row - vjp->model.row[e]] * ed->now->u[row];
  }
}

static bool z_in_mass(const NsMotionVjp *vjp, int j) {
  const NsParameterPlace *at = &vjp->model.place[j];
  if (at->kind != NS_NUMBER_Z) return false;
  return !ns_mechanical_constant_mass((const NsMechanicalDs *)vjp->model.nsds->ds[at->system]);
}

bool ns_motion_vjp_impulse(const NsMotionVjp *vjp, const NsMotionImpulse *impulse, int j, const double *v, const double *change,
                           double *push, double *off, bool *acts) {
  NsNumber kind = vjp->model.place[j].kind;
  *acts = kind == NS_NUMBER_MASS || kind == NS_NUMBER_C || ns_number_of_law(kind);
  if (*acts) impulse_change(vjp, impulse, j, v, change, push, off);
  return place_known(vjp, j) && !z_in_mass(vjp, j);
}

void ns_motion_vjp_rest(NsMotionVjp *vjp, double *out, bool *known) {
  size_t size = (size_t)(vjp->ed->Nq + vjp->ed->Nv);
  memset(out, 0, size * (size_t)vjp->model.p * sizeof *out);
  for (int j = 0; j < vjp->model.p; j++) {
    NsNumber kind = vjp->model.place[j].kind;
    known[j] = kind == NS_NUMBER_STIFFNESS || kind == NS_NUMBER_DAMPING || kind == NS_NUMBER_FEXT || ns_number_of_law(kind) ||
               (kind == NS_NUMBER_Z && place_known(vjp, j) && !z_in_mass(vjp, j));
  }
}
