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
#include "integrators/event_driven/event_vjp.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/event_driven/event_active.h"
#include "linalg/dense.h"

/* What a parameter is, and what it changes. */
typedef struct MotionPlace {
  NsParameterPlace in;
  double mu;           /* a law: d (coefficient of friction) / d number */
  double *restitution; /* a law: that of the restitution of each row */
  bool shown, ignored; /* a z: relations get it, too; their callbacks ignored it at the last point */
} MotionPlace;

struct NsMotionVjp {
  NsArena arena;
  NsEventDriven *ed;
  int p;
  const NsParameter *parameters;     /* p, borrowed */
  MotionPlace *place;                /* p */
  int *q, *v;                        /* by system: indices of its first coordinate and velocity */
  int *row;                          /* by interaction: its first row */
  NsLu *lu;                          /* of order m */
  double *W;                         /* m x m */
  double *nu, *kappa, *force, *part; /* Nv, m, m: of all rows; m + Nv: workspace */
  double *weight;                    /* m */
  double **by_z;                     /* by system: nv x nz, the derivative of F - M a by z; NULL: no parameter is in its z */
  bool *by_z_known;                  /* by system: at the last point */
  double *room;                      /* of the largest system: nv nv nz */
  double *x;                         /* of the largest interaction */
};

/* ---- places ---- */

static NsInteraction *edge_of_vjp(const NsMotionVjp *vjp, int e) {
  return vjp->ed->base.nsds->interactions[e];
}

/* The next interaction with the relation or law of a place; -1: none. */
static int next_of_place(const NsMotionVjp *vjp, const MotionPlace *at, int e) {
  return ns_parameter_next(vjp->ed->base.nsds, &at->in, e);
}

/* Whether y = C q + e, between Lagrangian systems. */
static bool edge_is_linear(const NsInteraction *inter) {
  return ns_relation_linear(inter->relation) && !ns_relation_holds_at_position(inter->relation) && !ns_interaction_turns(inter);
}

/* Whether a number of a relation is one of its outputs, which are linear in all interactions that have it. */
static bool place_of_output(const NsMotionVjp *vjp, const MotionPlace *place) {
  bool linear = place->in.kind == NS_NUMBER_C || place->in.kind == NS_NUMBER_e;
  for (int e = place->in.first; e >= 0 && linear; e = next_of_place(vjp, place, e))
    linear = edge_is_linear(edge_of_vjp(vjp, e));
  return linear;
}

/* The coefficient of friction of a law (row < 0), or the restitution of a row, with its number increased by `more`. */
static double law_value(const NsLaw *law, int row, double *number, double more) {
  double at = *number;
  *number = at + more;
  double value = row < 0 ? ns_law_group(law, 0, false).mu : ns_law_restitution(law, row, 1);
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

/* Fills the slopes of a law. False: it is not affine in the number. */
static bool place_law_slopes(NsMotionVjp *vjp, const NsParameter *parameter, MotionPlace *place) {
  const NsLaw *law = edge_of_vjp(vjp, place->in.first)->law;
  place->restitution = ns_arena_doubles(&vjp->arena, law->size);
  bool good = !vjp->arena.failed && law_slope(law, -1, parameter, &place->mu);
  for (int i = 0; i < law->size && good; i++) good = law_slope(law, i, parameter, &place->restitution[i]);
  return good;
}

/* Whether a relation with this z may depend on it. */
static bool edge_takes_z(const NsInteraction *inter) {
  const NsRelation *r = inter->relation;
  return !edge_is_linear(inter) || ns_coef_varies(&r->C) || ns_coef_varies(&r->e) || ns_coef_given(&r->F);
}

/* Whether the callbacks of an interaction get a number of z. */
static bool edge_gets_z(const NsInteraction *inter, const double *number) {
  bool gets = ns_number_in(number, inter->z, inter->nz) || ns_number_in(number, inter->relation->z, inter->relation->nz);
  for (int k = 0; k < inter->nds && !inter->relation->z; k++)
    gets = gets || ns_number_in(number, inter->ds[k]->z, inter->ds[k]->nz);
  return gets && edge_takes_z(inter);
}

/* Whether a number of z is that of one system, whose forces and mass take it. */
static bool place_of_z(const NsMotionVjp *vjp, MotionPlace *place) {
  const NsNsds *nsds = vjp->ed->base.nsds;
  for (int e = 0; e < nsds->ninteractions; e++)
    place->shown = place->shown || edge_gets_z(edge_of_vjp(vjp, e), place->in.number);
  return place->in.systems == 1 && !ns_mechanical_turns((const NsMechanicalDs *)nsds->ds[place->in.system]);
}

static void find_motion_place(NsMotionVjp *vjp, const NsParameter *parameter, MotionPlace *place) {
  *place = (MotionPlace){.in = ns_parameter_place(vjp->ed->base.nsds, parameter)};
  bool good = true;
  if (place->in.kind == NS_NUMBER_Z) good = place_of_z(vjp, place);
  if (ns_number_of_relation(place->in.kind)) good = place_of_output(vjp, place);
  if (ns_number_of_law(place->in.kind)) good = place_law_slopes(vjp, parameter, place);
  if (!good) place->in.kind = NS_NUMBER_UNKNOWN;
}

/* ---- making ---- */

static void lay_out_vjp(NsMotionVjp *vjp) {
  const NsNsds *nsds = vjp->ed->base.nsds;
  const NsMotion *motion = vjp->ed->motion;
  for (int d = 0; d < nsds->nds; d++) vjp->q[d] = ns_motion_first_q(motion, d), vjp->v[d] = ns_motion_first_v(motion, d);
  for (int e = 0; e < nsds->ninteractions; e++) vjp->row[e] = ns_motion_first_row(motion, e);
}

/* Memory for the derivatives by the z of systems that have parameters in it. */
static void take_room_of_z(NsMotionVjp *vjp) {
  const NsNsds *nsds = vjp->ed->base.nsds;
  size_t most = 0;
  for (int j = 0; j < vjp->p; j++) {
    const MotionPlace *at = &vjp->place[j];
    if (at->in.kind != NS_NUMBER_Z || vjp->by_z[at->in.system]) continue;
    const NsMechanicalDs *ds = (const NsMechanicalDs *)nsds->ds[at->in.system];
    size_t size = (size_t)ds->nv * (size_t)ds->nv * (size_t)ds->base.nz;
    if (size > most) most = size;
    vjp->by_z[at->in.system] = ns_arena_matrix(&vjp->arena, ds->nv, ds->base.nz);
  }
  vjp->room = ns_arena_doubles(&vjp->arena, (ptrdiff_t)most);
  ptrdiff_t widest = 0;
  for (int e = 0; e < nsds->ninteractions; e++)
    if (edge_of_vjp(vjp, e)->nx > widest) widest = edge_of_vjp(vjp, e)->nx;
  vjp->x = ns_arena_doubles(&vjp->arena, widest);
}

NsStatus ns_motion_vjp_new(NsMotionVjp **out, NsEventDriven *ed, const NsParameter *parameters, int p) {
  NsMotionVjp *vjp = *out = ns_alloc(1, sizeof *vjp);
  if (!vjp) return NS_ENOMEM;
  NsArena *arena = &vjp->arena;
  vjp->ed = ed;
  vjp->p = p;
  vjp->parameters = parameters;
  vjp->place = ns_arena_take(arena, (size_t)p, sizeof *vjp->place);
  int **of_systems[] = {&vjp->q, &vjp->v};
  for (size_t i = 0; i < sizeof of_systems / sizeof *of_systems; i++) *of_systems[i] = ns_arena_ints(arena, ed->base.nsds->nds);
  vjp->row = ns_arena_ints(arena, ed->base.nsds->ninteractions);
  double **of_rows[] = {&vjp->kappa, &vjp->force, &vjp->weight};
  for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) *of_rows[i] = ns_arena_doubles(arena, ed->m);
  vjp->nu = ns_arena_doubles(arena, ed->Nv);
  vjp->part = ns_arena_doubles(arena, ed->m + ed->Nv);
  vjp->W = ns_arena_matrix(arena, ed->m, ed->m);
  vjp->by_z = ns_arena_take(arena, (size_t)ed->base.nsds->nds, sizeof *vjp->by_z);
  vjp->by_z_known = ns_arena_take(arena, (size_t)ed->base.nsds->nds, sizeof *vjp->by_z_known);
  if (!arena->failed) {
    lay_out_vjp(vjp);
    for (int j = 0; j < p; j++) find_motion_place(vjp, &parameters[j], &vjp->place[j]);
    take_room_of_z(vjp);
  }
  if (!arena->failed && ns_lu_new(&vjp->lu, ed->m) == NS_OK) return NS_OK;
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
  memset(out, 0, (size_t)vjp->p * sizeof *out);
  memset(known, 0, (size_t)vjp->p * sizeof *known);
}

/* The velocity (its index) that belongs to state j of interaction e. */
static int velocity_of(const NsMotionVjp *vjp, int e, int j) {
  int v;
  (void)ns_motion_coordinate_of(vjp->ed->motion, edge_of_vjp(vjp, e), j, &v);
  return v;
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

/* Whether friction of interaction e slips in space. */
static bool edge_slips_in_space(const NsMotionVjp *vjp, int e) {
  const NsEventDriven *ed = vjp->ed;
  for (int i = vjp->row[e]; i < vjp->row[e] + edge_of_vjp(vjp, e)->m; i++)
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

static void change_force(const NsMotionVjp *vjp, int v, double by, MotionChange *change) {
  if (change->push) change->push[v] += by;
  else change->sum += by * vjp->nu[v];
}

/* A force of the row changes. */
static void change_row(const NsMotionVjp *vjp, int row, double by, MotionChange *change) {
  const NsEventDriven *ed = vjp->ed;
  if (!change->push) change->sum += by * ns_motion_speed(ed->motion, row, vjp->nu);
  for (int i = 0; i < ed->Nv && change->push; i++) change->push[i] += by * ed->now->H[row + (ptrdiff_t)i * ed->m];
}

static void change_output(const NsMotionVjp *vjp, int row, double by, MotionChange *change) {
  if (change->push) change->off[row] += by;
  else change->sum -= by * vjp->kappa[row];
}

static bool change_of_relation(const NsMotionVjp *vjp, const MotionPlace *at, MotionChange *change) {
  const NsEventDriven *ed = vjp->ed;
  for (int e = at->in.first; e >= 0; e = next_of_place(vjp, at, e)) {
    int row = vjp->row[e] + at->in.i, v = velocity_of(vjp, e, at->in.j);
    if (edge_slips_in_space(vjp, e)) return false;
    change_force(vjp, v, vjp->force[row], change);
    change_output(vjp, row, -ed->acceleration[v], change);
  }
  return true;
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

static bool place_is_bound(const MotionPlace *at, bool upper, int row) {
  return at->in.kind == (upper ? NS_NUMBER_UPPER : NS_NUMBER_LOWER) && at->in.i == row;
}

static bool change_of_law(const NsMotionVjp *vjp, const MotionPlace *at, MotionChange *change) {
  const NsEventDriven *ed = vjp->ed;
  for (int e = at->in.first; e >= 0; e = next_of_place(vjp, at, e))
    for (int i = 0; i < edge_of_vjp(vjp, e)->m; i++) {
      int row = vjp->row[e] + i;
      const Friction *friction = &ed->mode->rows[row].friction;
      if (!ns_motion_friction_is(ed->mode, row, FRICTION_SLIP)) continue;
      if (friction->normal < 0 && place_is_bound(at, !(friction->d[0] > 0), i)) change_row(vjp, row, 1, change);
      if (friction->normal >= 0 && at->mu != 0 && !change_of_friction(vjp, row, at->mu, change)) return false;
    }
  return true;
}

/* Whether closed forms know a number, as far as its kind and the relations tell. */
static bool place_known(const MotionPlace *at) {
  return at->in.kind != NS_NUMBER_UNKNOWN && (!at->shown || at->ignored);
}

/* Whether the callbacks of all relations that get a number of z ignore it. */
static bool edges_ignore(const NsMotionVjp *vjp, const double *number, double t, const double *u) {
  const NsEventDriven *ed = vjp->ed;
  for (int e = 0; e < ed->base.nsds->ninteractions; e++) {
    const NsInteraction *inter = edge_of_vjp(vjp, e);
    if (!edge_gets_z(inter, number)) continue;
    for (int j = 0, q = 0; j < inter->nx; j++, q++) {
      if (j == 0 || (inter->nds > 1 && j == inter->ds[0]->nx)) q = vjp->q[inter->ds[j > 0]->node];
      vjp->x[j] = u[q];
    }
    NsRelationPoint there = {t, vjp->x, vjp->weight, inter->z, false};
    if (!ns_relation_ignores_z(inter->relation, &there)) return false;
  }
  return true;
}

/* place->ignored of all numbers of z. */
static void look_at_relations(NsMotionVjp *vjp, double t, const double *u) {
  for (int j = 0; j < vjp->p; j++)
    if (vjp->place[j].shown) vjp->place[j].ignored = edges_ignore(vjp, vjp->parameters[j].number, t, u);
}

static bool change_of_parameter(const NsMotionVjp *vjp, const MotionPlace *at, MotionChange *change) {
  const NsMechanicalDs *ds = (const NsMechanicalDs *)vjp->ed->base.nsds->ds[at->in.system];
  if (!vjp->by_z_known[at->in.system] || !place_known(at)) return false;
  for (int i = 0; i < ds->nv; i++)
    change_force(vjp, vjp->v[at->in.system] + i, vjp->by_z[at->in.system][i + (ptrdiff_t)at->in.j * ds->nv], change);
  return true;
}

/* The changes by a number. False: they are not known. */
static bool change_of_number(const NsMotionVjp *vjp, const MotionPlace *at, const double *u, MotionChange *change) {
  const NsEventDriven *ed = vjp->ed;
  int d = at->in.system > 0 ? at->in.system : 0, q = vjp->q[d], v = vjp->v[d];
  switch (at->in.kind) {
    case NS_NUMBER_UNKNOWN: return false;
    case NS_NUMBER_MASS: change_force(vjp, v + at->in.i, -ed->acceleration[v + at->in.j], change); return true;
    case NS_NUMBER_STIFFNESS: change_force(vjp, v + at->in.i, -u[q + at->in.j], change); return true;
    case NS_NUMBER_DAMPING: change_force(vjp, v + at->in.i, -u[ed->Nq + v + at->in.j], change); return true;
    case NS_NUMBER_FEXT: change_force(vjp, v + at->in.i, 1, change); return true;
    case NS_NUMBER_Z: return change_of_parameter(vjp, at, change);
    case NS_NUMBER_C: return change_of_relation(vjp, at, change);
    case NS_NUMBER_LOWER:
    case NS_NUMBER_UPPER:
    case NS_NUMBER_LAW: return change_of_law(vjp, at, change);
    default: return true;
  }
}

void ns_motion_vjp_begin(NsMotionVjp *vjp, double t, const double *u) {
  const NsEventDriven *ed = vjp->ed;
  ns_ed_forces(ed, vjp->force);
  look_at_relations(vjp, t, u);
  for (int d = 0; d < ed->base.nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)ed->base.nsds->ds[d];
    if (!vjp->by_z[d]) continue;
    vjp->by_z_known[d] = ns_mechanical_exact_parameters(ds, t, u + vjp->q[d], u + ed->Nq + vjp->v[d],
                                                        ed->acceleration + vjp->v[d], vjp->room, vjp->by_z[d]);
  }
}

bool ns_motion_vjp_source(NsMotionVjp *vjp, int j, const double *u, double *push, double *off) {
  MotionChange change = {.push = push, .off = off};
  return !some_in_onset(vjp->ed->mode) && change_of_number(vjp, &vjp->place[j], u, &change);
}

void ns_motion_vjp(NsMotionVjp *vjp, double t, const double *u, const NsMotionWeights *weights, double *out, bool *known) {
  ns_motion_vjp_nothing(vjp, out, known);
  ns_motion_vjp_begin(vjp, t, u);
  if (some_in_onset(vjp->ed->mode) || !take_weights(vjp, weights)) return;
  for (int j = 0; j < vjp->p; j++) {
    MotionChange change = {.push = NULL};
    known[j] = change_of_number(vjp, &vjp->place[j], u, &change);
    out[j] = known[j] ? change.sum : 0;
  }
}

/* ---- guards ---- */

void ns_motion_vjp_output(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  ns_motion_vjp_nothing(vjp, out, known);
  look_at_relations(vjp, t, u);
  for (int j = 0; j < vjp->p; j++) {
    const MotionPlace *at = &vjp->place[j];
    known[j] = place_known(at);
    if (at->in.kind != NS_NUMBER_C && at->in.kind != NS_NUMBER_e) continue;
    for (int e = at->in.first, v; e >= 0; e = next_of_place(vjp, at, e)) {
      if (vjp->row[e] + at->in.i != row) continue;
      if (at->in.kind == NS_NUMBER_C) out[j] = u[ns_motion_coordinate_of(vjp->ed->motion, edge_of_vjp(vjp, e), at->in.j, &v)];
      else out[j] = 1;
    }
  }
}

void ns_motion_vjp_sliding(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  const Friction *friction = &vjp->ed->mode->rows[row].friction;
  ns_motion_vjp_nothing(vjp, out, known);
  look_at_relations(vjp, t, u);
  for (int j = 0; j < vjp->p; j++) {
    const MotionPlace *at = &vjp->place[j];
    known[j] = place_known(at);
    if (at->in.kind != NS_NUMBER_C) continue;
    for (int e = at->in.first; e >= 0; e = next_of_place(vjp, at, e)) {
      int k = vjp->row[e] + at->in.i - row;
      if (k >= 0 && k < friction->width) out[j] = friction->d[k] * u[vjp->ed->Nq + velocity_of(vjp, e, at->in.j)];
    }
  }
}

/* The weights of one row are `weight`. */
static void vjp_weighted(NsMotionVjp *vjp, double t, const double *u, double *out, bool *known) {
  NsMotionWeights weights = {.force = vjp->weight};
  ns_motion_vjp(vjp, t, u, &weights, out, known);
  memset(vjp->weight, 0, (size_t)vjp->ed->m * sizeof *vjp->weight);
}

void ns_motion_vjp_force(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  vjp->weight[row] = 1;
  vjp_weighted(vjp, t, u, out, known);
}

NsStickSlope ns_motion_stick_weights(const NsEventDriven *ed, int row, double *weight) {
  const NsMotionMode *mode = ed->mode;
  const Friction *friction = &mode->rows[row].friction;
  const double *force = mode->multiplier + row;
  NsStickSlope slope = {0, 0, 0};
  if (friction->normal >= 0) {
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

void ns_motion_vjp_stick(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known) {
  NsStickSlope slope = ns_motion_stick_weights(vjp->ed, row, vjp->weight);
  vjp_weighted(vjp, t, u, out, known);
  int e = ns_motion_interaction(vjp->ed->motion, row);
  bool bounded = vjp->ed->mode->rows[row].friction.normal < 0;
  const void *law = edge_of_vjp(vjp, e)->law;
  for (int j = 0; j < vjp->p; j++) {
    const MotionPlace *at = &vjp->place[j];
    if (!known[j] || !ns_number_of_law(at->in.kind) || edge_of_vjp(vjp, at->in.first)->law != law) continue;
    out[j] += at->mu * slope.mu;
    if (bounded && place_is_bound(at, false, row - vjp->row[e])) out[j] += slope.lower;
    if (bounded && place_is_bound(at, true, row - vjp->row[e])) out[j] += slope.upper;
  }
}

/* ---- impulses ---- */

/* The position of a row among those of an impulse; -1: it is none of them. */
static int place_in_impulse(const NsMotionImpulse *impulse, int row) {
  for (int k = 0; k < impulse->n; k++)
    if (impulse->rows[k] == row) return k;
  return -1;
}

static double impulse_bounce(const NsMotionVjp *vjp, const NsMotionImpulse *impulse, int k) {
  return 1 + (impulse->bounces[k] ? vjp->ed->mode->rows[impulse->rows[k]].restitution : 0);
}

/* How a number changes M dv = H' z by `push` (Nv), and the equations of z, in the units of W, by `off` (n), at fixed z and dv. */
static void impulse_change(const NsMotionVjp *vjp, const NsMotionImpulse *impulse, const MotionPlace *at, const double *v,
                           const double *change, double *off, double *push) {
  const NsEventDriven *ed = vjp->ed;
  int start = at->in.kind == NS_NUMBER_MASS ? vjp->v[at->in.system] : 0;
  memset(push, 0, (size_t)ed->Nv * sizeof *push);
  memset(off, 0, (size_t)impulse->n * sizeof *off);
  if (at->in.kind == NS_NUMBER_MASS) push[start + at->in.i] = -change[start + at->in.j];
  for (int e = at->in.first; at->in.kind == NS_NUMBER_C && e >= 0; e = next_of_place(vjp, at, e)) {
    int k = place_in_impulse(impulse, vjp->row[e] + at->in.i), i = velocity_of(vjp, e, at->in.j);
    if (k < 0) continue;
    push[i] += impulse->z[k];
    off[k] += change[i] + impulse_bounce(vjp, impulse, k) * v[i];
  }
  for (int k = 0; ns_number_of_law(at->in.kind) && k < impulse->n; k++) {
    int row = impulse->rows[k], e = ns_motion_interaction(ed->motion, row);
    if (edge_of_vjp(vjp, e)->law != edge_of_vjp(vjp, at->in.first)->law) continue;
    if (impulse->kind[k] == IMPULSE_SLIP) off[k] = (impulse->slide[k] > 0 ? -at->mu : at->mu) * impulse->z[k - 1];
    else if (impulse->bounces[k]) off[k] = at->restitution[row - vjp->row[e]] * ed->now->u[row];
  }
}

/* Column (Nq + Nv) of one number. */
static void impulse_column(NsMotionVjp *vjp, const NsMotionImpulse *impulse, const MotionPlace *at, const double *u,
                           const double *change, double *column) {
  const NsEventDriven *ed = vjp->ed;
  int n = impulse->n;
  double *off = vjp->part, *push = vjp->nu;
  impulse_change(vjp, impulse, at, u + ed->Nq, change, off, push);
  ns_motion_divide(ed->motion, false, push);
  for (int k = 0; k < n; k++) {
    double own = impulse->W[k + (ptrdiff_t)k * n];
    bool equation = impulse->kind[k] == IMPULSE_EQUATION && own > 0;
    if (equation) off[k] = -(off[k] + ns_motion_speed(ed->motion, impulse->rows[k], push)) / own;
    else off[k] = impulse->kind[k] == IMPULSE_SLIP && own > 0 ? -off[k] : 0;
  }
  if (n > 0) ns_lu_solve(vjp->lu, 1, off, n);
  ns_motion_add_input(ed->motion, n, impulse->rows, off, push);
  memcpy(column + ed->Nq, push, (size_t)ed->Nv * sizeof *push);
}

/* Whether the parameter is a number of z that a mass may depend on. */
static bool z_in_mass(const NsMotionVjp *vjp, const MotionPlace *at) {
  if (at->in.kind != NS_NUMBER_Z) return false;
  return !ns_mechanical_constant_mass((const NsMechanicalDs *)vjp->ed->base.nsds->ds[at->in.system]);
}

void ns_motion_vjp_impulse(NsMotionVjp *vjp, double t, const NsMotionImpulse *impulse, const double *u, double *out,
                           bool *known) {
  const NsEventDriven *ed = vjp->ed;
  ptrdiff_t size = ed->Nq + ed->Nv;
  double *change = vjp->part + ed->m;
  look_at_relations(vjp, t, u);
  ns_motion_vjp_rest(vjp, out, known);
  ns_lu_set_order(vjp->lu, impulse->n);
  bool good = impulse->n == 0 ||
              (ns_lu_factor_fair(vjp->lu, impulse->A, impulse->n) == NS_OK && ns_lu_rcond(vjp->lu) > NS_MOTION_DEPENDENT);
  for (int k = 0; k < impulse->n; k++) good = good && impulse->kind[k] != IMPULSE_SLIP_IN_SPACE;
  memset(change, 0, (size_t)ed->Nv * sizeof *change);
  ns_motion_add_input(ed->motion, impulse->n, impulse->rows, impulse->z, change);
  for (int j = 0; j < vjp->p; j++) {
    NsNumber kind = vjp->place[j].in.kind;
    bool acts = kind == NS_NUMBER_MASS || kind == NS_NUMBER_C || ns_number_of_law(kind);
    known[j] = place_known(&vjp->place[j]) && (good || !acts) && !z_in_mass(vjp, &vjp->place[j]);
    if (acts && good) impulse_column(vjp, impulse, &vjp->place[j], u, change, out + j * size);
  }
}

void ns_motion_vjp_rest(NsMotionVjp *vjp, double *out, bool *known) {
  size_t size = (size_t)(vjp->ed->Nq + vjp->ed->Nv);
  memset(out, 0, size * (size_t)vjp->p * sizeof *out);
  for (int j = 0; j < vjp->p; j++) {
    NsNumber kind = vjp->place[j].in.kind;
    known[j] = kind == NS_NUMBER_STIFFNESS || kind == NS_NUMBER_DAMPING || kind == NS_NUMBER_FEXT || ns_number_of_law(kind) ||
               (kind == NS_NUMBER_Z && place_known(&vjp->place[j]) && !z_in_mass(vjp, &vjp->place[j]));
  }
}
