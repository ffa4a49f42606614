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

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bernstein.h"

/* Laws that the scheme takes: rows with bounds. */
static const unsigned fesd_laws = NS_NEEDS_EQUATION | NS_NEEDS_UNILATERAL | NS_NEEDS_BOX | NS_NEEDS_SORTS;

/* After a failure the number of elements is doubled so many times. */
enum { MAX_DOUBLINGS = 6 };

/* Largest residual of an accepted step in its complementarity conditions, each divided by its size. */
static const double ACCEPTED = 1e-9;

static NsStatus fesd_accepts(const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (ns_law_needs(inter->law) & ~fesd_laws)
      return ns_fail(err, NS_EARG, "FESDOSI: interaction '%s' has a %s; it takes laws with bounds for each row", inter->name,
                     ns_law_name(inter->law));
  }
  return NS_OK;
}

/* ---- making ---- */

static NsStatus fesd_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  NsFesd *w = ns_scheme_take(sizeof *w, integrator->class, integrator, nsds);
  if (!w) return NS_ENOMEM;
  NsArena *arena = &w->base.arena;
  ns_equations_take(&w->eq, arena, nsds);
  w->clock = plan->clock;
  w->base.linear = true;
  int N = w->N = w->eq.n, m = w->m = w->eq.m;
  w->F = ns_arena_doubles(arena, N);
  w->M = ns_arena_matrix(arena, N, N);
  double **rows[] = {&w->lower, &w->upper, &w->lambda, &w->y, &w->y_size, &w->lambda_size, &w->q};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = ns_arena_doubles(arena, m);
  w->x = ns_arena_doubles(arena, N);
  w->step = ns_arena_doubles(arena, N);
  w->values = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE, N + 2 * (ptrdiff_t)m);
  w->W = ns_arena_matrix(arena, N, N);
  w->X = ns_arena_matrix(arena, N, m);
  w->Wd = ns_arena_matrix(arena, m, m);
  w->mode = ns_arena_ints(arena, m);
  w->before = ns_arena_ints(arena, m);
  w->tie = ns_arena_take(arena, (size_t)m, sizeof *w->tie);
  return ns_scheme_hand_over(out, &w->base);
}

static void fesd_destroy(NsScheme *scheme) {
  NsFesd *w = (NsFesd *)scheme;
  for (int i = 0; i < w->room; i++) {
    ns_free(w->elements[i]->mode);
    ns_free(w->elements[i]);
  }
  ns_free(w->elements);
  ns_lu_free(w->lu);
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

static void fesd_take_memory(NsFesd *w) {
  for (int d = 0; d < w->base.nsds->nds; d++) {
    const NsDs *ds = w->base.nsds->ds[d];
    memcpy(w->x + w->eq.nodes[d].x, ds->x_k, (size_t)ds->n * sizeof(double));
  }
  for (int e = 0; e < w->base.nsds->ninteractions; e++) {
    const NsInteraction *inter = w->base.nsds->interactions[e];
    size_t bytes = (size_t)inter->m * sizeof(double);
    memcpy(w->lambda + w->eq.edges[e].row, inter->lambda_k, bytes);
    memcpy(w->lower + w->eq.edges[e].row, inter->law->lower, bytes);
    memcpy(w->upper + w->eq.edges[e].row, inter->law->upper, bytes);
    ns_law_project(inter->law, w->lambda + w->eq.edges[e].row);
  }
}

/* The complementarity of lambda at one node with y at another: the larger of the two conditions, each by its size. */
static double cross_residual(const NsFesd *w, const NsFesdElement *e, int row, size_t of_lambda, size_t of_y) {
  size_t l = of_lambda * (size_t)w->m + (size_t)row, k = of_y * (size_t)w->m + (size_t)row;
  double below = (e->lambda[l] - w->lower[row]) / e->lambda_size[l], above = (w->upper[row] - e->lambda[l]) / e->lambda_size[l];
  double y = e->y_size[k] < NS_FESD_FADED ? 0 : e->y[k] / e->y_size[k];
  double violation = fmax(fmin(fmax(below, 0), fmax(y, 0)), fmin(fmax(above, 0), fmax(-y, 0)));
  return fmax(violation, fmax(-below, -above));
}

/* The largest residual of the complementarity conditions of all elements, those between different nodes included. */
static double fesd_residual(const NsFesd *w) {
  double worst = 0;
  for (int i = 0; i < w->count; i++)
    for (int a = 0; a < w->m; a++) {
      const NsFesdElement *e = w->elements[i];
      size_t end = (size_t)w->tableau.s + 1, first = (size_t)ns_fesd_first_node(w, e->mode[a]);
      if (!(w->lower[a] < w->upper[a])) continue;
      for (size_t l = first; l <= end; l++)
        for (size_t k = first; k <= end; k++) worst = fmax(worst, cross_residual(w, e, a, l, k));
    }
  return worst;
}

/* A method that is not stiffly accurate does not determine algebraic states at the end of an element. NS_EARG. */
static NsStatus fesd_check_mass(NsFesd *w, NsError *err) {
  if (w->tableau.stiff) return NS_OK;
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
  bool first = w->first;
  for (int doublings = 0; doublings <= MAX_DOUBLINGS; doublings++) {
    NsError *to = doublings == 0 ? err : &again;
    w->log->count = events;
    w->first = first;
    fesd_take_memory(w);
    NsStatus now = ns_fesd_step(w, w->options.elements << doublings, to);
    if (now == NS_OK) return NS_OK;
    if (doublings == 0) status = now;
    if (ns_fesd_worth_retrying(now)) continue;
    if (err) *err = *to;
    return now;
  }
  return status;
}

/* A time within this part of a step from t0 counts as t0, as on the time grid. */
static const double AT_START = 1e-9;

static NsStatus fesd_drive(NsScheme *scheme, const NsStep *step, const NsDrive *drive, NsError *err) {
  NsFesd *w = (NsFesd *)scheme;
  NsStatus status = fesd_take_options(w, err);
  if (status != NS_OK) return status;
  w->t_k = step->t_k;
  w->t_end = step->t;
  w->h = step->t - step->t_k;
  w->solver = drive->solver;
  w->log = drive->log;
  w->first = fabs(step->t_k - scheme->nsds->t0) <= AT_START * w->h;
  status = fesd_check_mass(w, err);
  if (status == NS_OK) status = drive_in_elements(w, err);
  if (status != NS_OK) return status;
  double residual = fesd_residual(w);
  if (!(residual <= ACCEPTED))
    return ns_fail(err, NS_ENOCONV, "FESDOSI: the step violates its complementarity conditions by %.3g of their terms",
                   residual);
  if (drive->trace) status = ns_fesd_trace(w, drive->trace, err);
  return status == NS_OK ? ns_fesd_equations(w, w->t_end, w->x, w->lambda, false, err) : status;
}

static NsStatus fesd_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  NsFesd *w = (NsFesd *)scheme;
  (void)account, (void)err;
  for (int d = 0; d < scheme->nsds->nds; d++) {
    NsDs *ds = scheme->nsds->ds[d];
    size_t bytes = (size_t)ds->n * sizeof(double);
    memcpy(ds->x, w->x + w->eq.nodes[d].x, bytes);
    memcpy(ds->r, w->eq.r + w->eq.nodes[d].x, bytes);
    ds->x_version++;
    ds->moved = true;
  }
  for (int e = 0; e < scheme->nsds->ninteractions; e++) {
    NsInteraction *inter = scheme->nsds->interactions[e];
    size_t bytes = (size_t)inter->m * sizeof(double);
    memcpy(inter->lambda, w->lambda + w->eq.edges[e].row, bytes);
    memcpy(inter->y, w->eq.y + w->eq.edges[e].row, bytes);
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

static const NsField fesd_fields[] = {NS_FIELD_A_WORD("scheme", NsFesdOptions, scheme, fesd_schemes, FESD_SET),
                                      NS_FIELD_A_COUNT("stages", NsFesdOptions, stages, 1, NS_TABLEAU_STAGES, FESD_SET),
                                      NS_FIELD_A_COUNT("elements", NsFesdOptions, elements, 1, 1024, FESD_SET), NS_FIELD_END};

static const char *const fesd_arguments[] = {"scheme?", "stages?", "elements?", NULL};

static const NsFesdOptions fesd_defaults = {.scheme = NS_TABLEAU_RADAU_IIA, .stages = 3, .elements = 2};

static const char *fesd_words(const NsIntegrator *integrator) {
  (void)integrator;
  return ": {scheme}, {stages} stages, {elements} elements";
}

const char ns_scheme_fesd_text[] = "FESDOSI";

const NsSchemeClass ns_scheme_fesd = {.name = ns_scheme_fesd_text,
                                      .bytes = sizeof(NsFesdOptions),
                                      .defaults = &fesd_defaults.base,
                                      .fields = fesd_fields,
                                      .arguments = fesd_arguments,
                                      .check = fesd_check,
                                      .words = fesd_words,
                                      .family = NS_FIRST_ORDER,
                                      .accepts = fesd_accepts,
                                      .create = fesd_create,
                                      .destroy = fesd_destroy,
                                      .commit = fesd_commit,
                                      .drive = fesd_drive};
