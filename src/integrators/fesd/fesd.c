/*
** fesd.c
** FESDOSI: implicit Runge-Kutta methods of full order through switches, by finite elements with switch detection. A step of the
** grid is divided into finite elements, whose lengths are unknowns; in each of them every row keeps its mode, so that switches
** fall on boundaries of elements, and elements without a switch between them have equal lengths.
**   M x' = f + g(t, x, lambda),  y = h(t, x, lambda),  -y in the normal cone of [lower, upper] at lambda.
** Nurkanovic, Sperl, Albrecht and Diehl, Numer. Math. 156, 2024; Nurkanovic, Pozharskiy, Frey and Diehl, Finite elements with
** switch detection for numerical optimal control of nonsmooth dynamical systems with set-valued step functions, Nonlinear
** Analysis: Hybrid Systems 54, 2024.
*/
#include "integrators/fesd/fesd.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bernstein.h"

/* Laws that the scheme takes: rows with bounds. */
static const unsigned fesd_laws = NS_NEEDS_EQUATION | NS_NEEDS_UNILATERAL | NS_NEEDS_BOX | NS_NEEDS_SORTS;

/* After a failure the number of elements is doubled so many times. */
enum { MAX_DOUBLINGS = 6 };

/*
** All attempts after the first one solve at most RETRY_FACTOR times as many elements as the first, plus RETRY_SOLVES, so that a
** step that can not succeed ends soon: 8192 elements take less than a second with few states. The message tells of the first one.
*/
enum { RETRY_FACTOR = 8, RETRY_SOLVES = 8192 };

/* Largest residual of an accepted step in its complementarity conditions, each divided by its size. */
static const double ACCEPTED = 1e-9;

static NsStatus fesd_accepts(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (ns_relation_family(inter->relation) != NS_FIRST_ORDER) continue;
    if (ns_law_needs(inter->law) & ~fesd_laws)
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s' has a %s; it takes laws with bounds for each row", inter->name,
                     ns_law_name(inter->law));
  }
  return NS_OK;
}

/* Mechanics: joints, and contacts with restitution. */
static NsStatus fesd_accepts_mechanics(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (ns_relation_family(inter->relation) != NS_MECHANICS) continue;
    if (ns_law_needs(inter->law) & ~(unsigned)(NS_NEEDS_EQUATION | NS_NEEDS_IMPACT))
      return ns_fail(err, NS_EARG,
                     "FESDOSI: interaction '%s' has a %s; in mechanics it takes NewtonImpactNSL and EqualityConditionNSL",
                     inter->name, ns_law_name(inter->law));
    if (ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s' has a %s, which gives forces, not contacts", inter->name,
                     ns_relation_class_name(inter->relation));
  }
  return ns_mechanical_unbound(nsds->ds, nsds->nds, "FESDOSI", err);
}

/* ---- making ---- */

/* The workspace of the test of signs. */
static void take_dense(NsFesd *w) {
  NsFesdDense *c = &w->dense;
  double **states[] = {&c->x, &c->s, &c->rate, &c->error};
  double **laws[] = {&c->y, &c->lambda, &c->lower, &c->upper};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    *states[i] = ns_arena_matrix(&w->base.arena, NS_BERNSTEIN_SIZE, w->N);
  NS_ARENA_VECTORS(&w->base.arena, w->m, &c->y_error, &c->lambda_error, &c->lambda_terms);
  for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) *laws[i] = ns_arena_matrix(&w->base.arena, NS_BERNSTEIN_SIZE, w->m);
  NS_ARENA_VECTORS(&w->base.arena, w->N, &c->moved, &c->carried);
}

/* Whether something may depend on time in mechanics. */
static bool is_driven_motion(const NsFesd *w) {
  const NsNsds *nsds = w->base.nsds;
  bool driven = ns_motion_driven(w->motion, 0, NULL);
  for (int i = 0; i < nsds->ninteractions; i++) driven = driven || nsds->interactions[i]->relation->class->timed;
  return driven;
}

/* The workspace of the data that depend on time. */
static void take_data(NsFesd *w) {
  NsFesdData *d = &w->data;
  NsArena *arena = &w->base.arena;
  d->driven = w->motion ? is_driven_motion(w) : w->eq.driven;
  d->piece = d->driven ? (w->base.nsds->T - w->base.nsds->t0) / NS_FESD_PIECES : INFINITY;
  int width = d->width = w->N + 4 * w->m;
  NS_ARENA_VECTORS(arena, w->N, &d->x, &d->rate, &d->terms);
  NS_ARENA_VECTORS(arena, width, &d->now, &d->noise);
  d->lambda = ns_arena_doubles(arena, w->m);
  d->shown = ns_arena_matrix(arena, 5, width);
  d->apart = ns_arena_matrix(arena, 4, width);
  d->varies = d->apart + width;
  d->size = d->varies + width;
  d->most = d->size + width;
}

/* First order: the matrices of the stacked equations. */
static void take_equations(NsFesd *w, NsNsds *nsds) {
  NsFesdPoint *point = &w->point;
  NsFesdFlow *flow = &w->flow;
  NsEquations *eq = &w->eq;
  ns_equations_take(eq, &w->base.arena, nsds);
  w->N = point->N = eq->n;
  w->m = point->m = eq->m;
  point->A = eq->A;
  point->B = eq->B;
  point->C = eq->C;
  point->D = eq->D;
  point->hold = point->gap = eq->y;
  flow->mode = ns_arena_take(&w->base.arena, (size_t)w->m, sizeof *flow->mode);
  flow->open = ns_arena_take(&w->base.arena, (size_t)w->m, sizeof *flow->open);
  flow->s = ns_arena_doubles(&w->base.arena, w->N);
  if (ns_flow_new(&flow->of, nsds) != NS_OK) w->base.arena.failed = true;
}

/* Mechanics. */
static NsStatus take_motion(NsFesd *w, NsNsds *nsds) {
  NsFesdPoint *point = &w->point;
  NsFesdImpact *impact = &w->impact;
  NsFesdSlopes *slopes = &w->slopes;
  NsArena *arena = &w->base.arena;
  NsStatus status = ns_motion_new(&w->motion, nsds);
  if (status != NS_OK) return status;
  w->now = ns_motion_view(w->motion);
  int m = w->m = point->m = w->now->m, N = w->N = point->N = w->now->Nq + w->now->Nv;
  NS_ARENA_VECTORS(arena, m, &impact->q, &impact->P, &impact->z, &impact->u_before, &w->rows.reach, &slopes->u);
  NS_ARENA_VECTORS(arena, N, &slopes->moved, &slopes->change, &slopes->F);
  NS_ARENA_VECTORS(arena, w->now->Nv, &impact->impulse, &impact->v_before);
  impact->rests = ns_arena_take(arena, (size_t)m, sizeof *impact->rests);
  point->A = ns_arena_matrix(arena, N, N);
  point->B = ns_arena_matrix(arena, N, m);
  point->C = ns_arena_matrix(arena, m, N);
  point->D = ns_arena_matrix(arena, m, m);
  impact->W = ns_arena_matrix(arena, m, m);
  NS_ARENA_INTS(arena, m, &impact->all, &impact->closed, &impact->interaction);
  impact->groups = ns_arena_take(arena, (size_t)m, sizeof *impact->groups);
  point->hold = w->now->u;
  point->gap = w->now->y;
  for (int a = 0; a < m && !arena->failed; a++) impact->all[a] = a;
  return NS_OK;
}

static NsStatus fesd_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  NsFesd *w = ns_scheme_take(sizeof *w, ns_scheme_form(integrator->class, ns_ds_family(nsds->ds[0])), integrator, nsds);
  NsFesdPoint *point = &w->point;
  NsFesdGuess *guess = &w->guess;
  NsFesdNode *end = &w->end;
  if (!w) return NS_ENOMEM;
  NsArena *arena = &w->base.arena;
  w->clock = plan->clock;
  w->base.linear = true;
  if (ns_ds_family(nsds->ds[0]) == NS_FIRST_ORDER) take_equations(w, nsds);
  else if (take_motion(w, nsds) != NS_OK) arena->failed = true;
  int N = w->N, m = w->m;
  take_dense(w);
  take_data(w);
  point->F = ns_arena_doubles(arena, N);
  point->M = ns_arena_matrix(arena, N, N);
  for (int i = 0; w->motion && point->M && i < N; i++) point->M[i + (size_t)i * (size_t)N] = 1;
  NS_ARENA_VECTORS(arena, m, &end->lower, &end->upper, &end->lambda, &end->y, &end->y_size, &end->lambda_size, &guess->q,
                   &guess->lower, &guess->upper, &point->hold_size, &w->rows.clear);
  NS_ARENA_VECTORS(arena, N, &end->x, &guess->step, &w->newton.kept);
  w->values = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE, N + 2 * (ptrdiff_t)m);
  guess->W = ns_arena_matrix(arena, N, N);
  guess->X = ns_arena_matrix(arena, N, m);
  guess->Wd = ns_arena_matrix(arena, m, m);
  NS_ARENA_INTS(arena, m, &w->rows.mode, &w->rows.before);
  w->rows.fixed = ns_arena_take(arena, (size_t)m, sizeof *w->rows.fixed);
  w->rows.ended = ns_arena_take(arena, (size_t)m, sizeof *w->rows.ended);
  w->rows.tie = ns_arena_take(arena, (size_t)m, sizeof *w->rows.tie);
  return ns_scheme_hand_over(out, &w->base);
}

static void fesd_destroy(NsScheme *scheme) {
  NsFesd *w = (NsFesd *)scheme;
  for (int i = 0; i < w->room; i++) {
    ns_free(w->elements[i]->mode);
    ns_free(w->elements[i]);
  }
  ns_free(w->elements);
  ns_lu_free(w->newton.lu);
  ns_flow_free(w->flow.of);
  ns_motion_free(w->motion);
}

/* ---- a step ---- */

static NsStatus fesd_check(const NsIntegrator *integrator, NsError *err) {
  const NsFesdOptions *o = (const NsFesdOptions *)integrator;
  NsTableau t;
  if (ns_tableau_make(&t, (NsTableauKind)o->scheme, o->stages) == NS_OK) return NS_OK;
  return ns_fail(err, NS_EARG, "FESDOSI: lobatto needs 2 stages or more");
}

static NsStatus fesd_take_options(NsFesd *w, NsError *err) {
  w->options = *(const NsFesdOptions *)w->base.integrator;
  NsStatus status = fesd_check(w->base.integrator, err);
  if (status != NS_OK) return status;
  ns_tableau_make(&w->tableau, (NsTableauKind)w->options.scheme, w->options.stages);
  return ns_fesd_prepare(w) == NS_OK ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* lambda of an interaction, put into the set of its law. Where bounds have jumped over it, its row was active: it stays within them. */
static void take_lambda(NsFesd *w, const NsInteraction *inter, int row) {
  const NsFesdNode *end = &w->end;
  memcpy(end->lambda + row, inter->lambda_k, (size_t)inter->m * sizeof(double));
  ns_law_project(inter->law, end->lambda + row);
  for (int i = 0, a = row; i < inter->m && !w->first && !w->motion; i++, a++)
    if (end->lambda[a] != inter->lambda_k[i])
      end->lambda[a] = nextafter(end->lambda[a], end->lambda[a] == end->lower[a] ? end->upper[a] : end->lower[a]);
}

static NsStatus fesd_take_memory(NsFesd *w, NsError *err) {
  const NsFesdNode *end = &w->end;
  const NsNsds *nsds = w->base.nsds;
  for (int d = 0; d < nsds->nds && !w->motion; d++)
    memcpy(end->x + w->eq.nodes[d].x, nsds->ds[d]->x_k, (size_t)nsds->ds[d]->n * sizeof(double));
  if (w->motion) {
    ns_motion_gather(w->motion, end->x, end->x + w->now->Nq);
    memset(w->impact.impulse, 0, (size_t)w->now->Nv * sizeof *w->impact.impulse);
    w->impact.energy = 0;
  }
  NsStatus status = ns_fesd_bounds(w, w->t_k, end->lower, end->upper, err);
  for (int e = 0, row = 0; e < nsds->ninteractions; row += nsds->interactions[e++]->m) {
    const NsInteraction *inter = nsds->interactions[e];
    for (int a = row; a < row + inter->m; a++) w->rows.fixed[a] = end->lower[a] == end->upper[a] && !ns_law_varies(inter->law);
    take_lambda(w, inter, row);
    if (w->motion) memcpy(w->rows.reach + row, inter->reach_k, (size_t)inter->m * sizeof(double));
  }
  return status;
}

/* The complementarity of lambda at one node with y at another: the larger of the two conditions, each by its size. */
static double cross_residual(const NsFesd *w, const NsFesdElement *e, int row, size_t of_lambda, size_t of_y) {
  size_t l = of_lambda * (size_t)w->m + (size_t)row, k = of_y * (size_t)w->m + (size_t)row;
  double below = (e->lambda[l] - e->lower[l]) / e->lambda_size[l], above = (e->upper[l] - e->lambda[l]) / e->lambda_size[l];
  bool holds = w->motion && e->mode[row] == MODE_ACTIVE; /* u = 0, and y is put back to 0 */
  double y = holds || e->y_size[k] < NS_FESD_FADED ? 0 : e->y[k] / e->y_size[k];
  double violation = fmax(fmin(fmax(below, 0), fmax(y, 0)), fmin(fmax(above, 0), fmax(-y, 0)));
  return fmax(violation, fmax(-below, -above));
}

/* The largest residual of the complementarity conditions of all elements, those between different nodes included. */
static double fesd_residual(const NsFesd *w) {
  double worst = 0;
  for (int i = 0; i < w->count; i++)
    for (int a = 0; a < w->m; a++) {
      const NsFesdElement *e = w->elements[i];
      size_t end = (size_t)w->tableau.s + 1, first = (size_t)ns_fesd_first_node(w);
      if (w->rows.fixed[a]) continue;
      for (size_t l = first; l <= end; l++)
        for (size_t k = first; k <= end; k++) worst = fmax(worst, cross_residual(w, e, a, l, k));
    }
  return worst;
}

/* A method that is not stiffly accurate does not determine algebraic states at the end of an element. NS_EARG. */
static NsStatus check_regular_mass(NsFesd *w, NsError *err) {
  if (w->tableau.stiff || w->motion) return NS_OK;
  NsStatus status = ns_equations_update(&w->eq, w->t_k, err);
  if (status == NS_OK) status = ns_equations_split_mass(&w->eq, err);
  for (int d = 0; d < w->eq.nnodes && status == NS_OK; d++)
    if (w->eq.nodes[d].na > 0)
      status = ns_fail(err, NS_EARG, "FESDOSI: dynamical system '%s': M is singular; gauss needs a regular M, use radau_iia",
                       ns_ds_name(&w->eq.nodes[d].ds->base));
  return status;
}

static NsStatus drive_in_elements(NsFesd *w, NsError *err) {
  long events = w->log->count;
  NsStatus status = NS_OK;
  NsError again = {NS_OK, ""};
  w->solves = 0;
  w->most_solves = LONG_MAX;
  for (int doublings = 0; doublings <= MAX_DOUBLINGS && w->solves <= w->most_solves; doublings++) {
    NsError *to = doublings == 0 ? err : &again;
    w->log->count = events;
    NsStatus now = fesd_take_memory(w, to);
    if (now == NS_OK) now = ns_fesd_step(w, w->options.elements << doublings, to);
    if (now == NS_OK) return NS_OK;
    if (doublings == 0) status = now, w->most_solves = (RETRY_FACTOR + 1) * w->solves + RETRY_SOLVES;
    if (ns_fesd_worth_retrying(now) && !w->ambiguous) continue;
    if (err) *err = *to;
    return now;
  }
  return status;
}

/* A time within this part of a step from t0 counts as t0, as on the time grid. */
static const double AT_START = 1e-9;

/* Mechanics: kinetic and potential energy at the present state. */
static NsStatus fesd_energy(NsFesd *w, double t, double *kinetic, double *potential, NsError *err) {
  *w->clock = t;
  return ns_motion_energy(w->motion, t, w->end.x, w->end.x + w->now->Nq, kinetic, potential, err);
}

/* Adds the works of a step. What they do not explain is numerical, where the inertia does not vary. */
static NsStatus add_fesd_works(NsFesd *w, double kinetic, double potential, NsEnergyAccount *account, NsError *err) {
  double kinetic_after, potential_after;
  NsFesdWorks works;
  NsStatus status = fesd_energy(w, w->t_end, &kinetic_after, &potential_after, err);
  if (status == NS_OK) status = ns_fesd_works(w, &works, err);
  if (status != NS_OK) return status;
  double impacts = w->impact.energy + works.multipliers, rest = kinetic_after - kinetic - works.forces - impacts;
  bool inertia = ns_motion_varying_mass(w->motion);
  account->impacts += impacts;
  account->damping += works.damping;
  account->forces += works.forces - works.damping + potential_after - potential + (inertia ? rest : 0);
  account->numerical += inertia ? 0 : rest;
  return NS_OK;
}

static NsStatus fesd_drive(NsScheme *scheme, const NsStep *step, const NsDrive *drive, NsError *err) {
  NsFesd *w = (NsFesd *)scheme;
  NsStatus status = fesd_take_options(w, err);
  if (status != NS_OK) return status;
  w->t_k = step->t_k;
  w->t_end = step->t;
  w->h = step->t - step->t_k;
  w->solver = drive->solver;
  w->log = drive->log;
  w->flow.begun = w->ambiguous = false;
  w->first = fabs(step->t_k - scheme->nsds->t0) <= AT_START * w->h;
  status = check_regular_mass(w, err);
  NsEnergyAccount *account = w->motion ? drive->account : NULL;
  double kinetic = 0, potential = 0;
  if (status == NS_OK) status = fesd_take_memory(w, err);
  if (status == NS_OK && account) status = fesd_energy(w, w->t_k, &kinetic, &potential, err);
  if (status == NS_OK) status = drive_in_elements(w, err);
  if (status == NS_OK && account) status = add_fesd_works(w, kinetic, potential, account, err);
  if (status != NS_OK) return status;
  double residual = fesd_residual(w);
  if (!(residual <= ACCEPTED))
    return ns_fail(err, NS_ENOCONV, "FESDOSI: the step violates its complementarity conditions by %.3g of their terms",
                   residual);
  if (drive->sink) status = ns_fesd_dense(w, drive->sink, err);
  return status == NS_OK ? ns_fesd_equations(w, w->t_end, w->end.x, w->end.lambda, false, err) : status;
}

/* Mechanics: u is in the view of the last evaluation, r are impulses. */
static void write_mechanics(NsFesd *w) {
  const NsNsds *nsds = w->base.nsds;
  ns_motion_scatter(w->motion, w->end.x, w->end.x + w->now->Nq);
  for (int d = 0, at = 0; d < nsds->nds; at += nsds->ds[d++]->nr)
    memcpy(nsds->ds[d]->r, w->impact.impulse + at, (size_t)nsds->ds[d]->nr * sizeof(double));
  for (int e = 0, row = 0; e < nsds->ninteractions; row += nsds->interactions[e++]->m) {
    NsInteraction *inter = nsds->interactions[e];
    memcpy(inter->ydot, w->now->u + row, (size_t)inter->m * sizeof(double));
    memcpy(inter->reach, w->rows.reach + row, (size_t)inter->m * sizeof(double));
  }
}

static void write_first_order(NsFesd *w) {
  for (int d = 0; d < w->base.nsds->nds; d++) {
    NsDs *ds = w->base.nsds->ds[d];
    size_t bytes = (size_t)ds->n * sizeof(double);
    memcpy(ds->x, w->end.x + w->eq.nodes[d].x, bytes);
    memcpy(ds->r, w->eq.r + w->eq.nodes[d].x, bytes);
    ds->x_version++;
    ds->moved = true;
  }
}

static NsStatus fesd_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsFesd *w = (NsFesd *)scheme;
  (void)account, (void)err; /* the step has added its works */
  if (w->motion) write_mechanics(w);
  else write_first_order(w);
  if (!w->motion && w->flow.begun) ns_flow_keep_sizes(w->flow.of);
  for (int e = 0, row = 0; e < scheme->nsds->ninteractions; row += scheme->nsds->interactions[e++]->m) {
    NsInteraction *inter = scheme->nsds->interactions[e];
    size_t bytes = (size_t)inter->m * sizeof(double);
    memcpy(inter->lambda, w->end.lambda + row, bytes);
    memcpy(inter->y, w->point.gap + row, bytes);
  }
  return NS_OK;
}

/* ---- the class ---- */

static const char *const fesd_schemes[] = {
#define X(code, text) text,
    NS_TABLEAU_LIST(X)
#undef X
        NULL};

enum { FESD_SET = NS_FIELD_SETTER | NS_FIELD_CONSTANT | NS_FIELD_SHOWN };

static const NsField fesd_fields[] = {
    NS_FIELD_A_WORD("scheme", NsFesdOptions, scheme, fesd_schemes, FESD_SET),
    NS_FIELD_A_COUNT("stages", NsFesdOptions, stages, 1, NS_TABLEAU_STAGES, FESD_SET),
    NS_FIELD_A_COUNT("elements", NsFesdOptions, elements, 1, 1024, FESD_SET),
    NS_FIELD_A_WORD("ambiguity", NsFesdOptions, ambiguity, ns_ambiguity_words, NS_FIELD_SETTER | NS_FIELD_CONSTANT),
    NS_FIELD_END};

static const char *const fesd_arguments[] = {"scheme?", "stages?", "elements?", NULL};

static const NsFesdOptions fesd_defaults = {.scheme = NS_TABLEAU_RADAU_IIA, .stages = 3, .elements = 2};

static const char *fesd_words(const NsIntegrator *integrator) {
  (void)integrator;
  return ": {scheme}, {stages} stages, {elements} elements";
}

const char ns_scheme_fesd_text[] = "FESDOSI";

static const NsSchemeClass fesd_first_order = {.name = ns_scheme_fesd_text,
                                               .family = NS_FIRST_ORDER,
                                               .accepts = fesd_accepts,
                                               .create = fesd_create,
                                               .destroy = fesd_destroy,
                                               .commit = fesd_commit,
                                               .drive = fesd_drive};

static const NsSchemeClass fesd_mechanics = {.name = ns_scheme_fesd_text,
                                             .family = NS_MECHANICS,
                                             .accepts = fesd_accepts_mechanics,
                                             .create = fesd_create,
                                             .destroy = fesd_destroy,
                                             .commit = fesd_commit,
                                             .drive = fesd_drive};

static const NsSchemeClass *const fesd_forms[NS_FAMILIES] = {
    [NS_FIRST_ORDER] = &fesd_first_order, [NS_MECHANICS] = &fesd_mechanics};

const NsSchemeClass ns_scheme_fesd = {.name = ns_scheme_fesd_text,
                                      .bytes = sizeof(NsFesdOptions),
                                      .defaults = &fesd_defaults.base,
                                      .fields = fesd_fields,
                                      .arguments = fesd_arguments,
                                      .check = fesd_check,
                                      .words = fesd_words,
                                      .forms = fesd_forms};
