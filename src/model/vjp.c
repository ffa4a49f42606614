/*
** vjp.c
** The model's derivatives by its numbers. Each kind of number changes entries of F and Y by products of coordinates, rates and
** multipliers; what becomes of a change, a term of a product (vjp) or an entry of a column (jvp), is told in one place.
*/
#include "model/vjp.h"

#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

/* The derivatives by the z of a system or an interaction, column-major. */
typedef struct NsModelByZ {
  bool taken, known; /* known: at the last look; mechanics, an interaction: its relation ignores z */
  double *f;         /* n x nz, or nv x nz: of F of a system */
  double *h, *g;     /* m x nz, nx x nz: of an interaction of first order */
} NsModelByZ;

/* What becomes of the changes by a number: terms of `sum`, or entries of F and Y. */
typedef struct ModelChange {
  const NsModelWeights *weights; /* NULL: F and Y */
  double sum, *F, *Y;
} ModelChange;

static void vjp_entry(ModelChange *change, const double *weights, double *entries, int i, double by) {
  if (!change->weights) entries[i] += by;
  else if (weights) change->sum += weights[i] * by;
}

static void vjp_force(ModelChange *change, int i, double by) {
  vjp_entry(change, change->weights ? change->weights->force : NULL, change->F, i, by);
}

static void vjp_input(ModelChange *change, int i, double by) {
  vjp_entry(change, change->weights ? change->weights->input : NULL, change->F, i, by);
}

static void vjp_output(ModelChange *change, int i, double by) {
  vjp_entry(change, change->weights ? change->weights->output : NULL, change->Y, i, by);
}

/* A column of changes of F or Y from entry i on. */
static void vjp_column(ModelChange *change, bool of_output, int i, int count, const double *column) {
  double before = change->sum;
  bool apart = change->weights && change->weights->apart;
  if (apart) change->sum = 0;
  for (int k = 0; k < count; k++)
    if (of_output) vjp_output(change, i + k, column[k]);
    else vjp_force(change, i + k, column[k]);
  if (apart) change->sum = before + change->sum;
}

/* ---- making ---- */

static bool is_mechanics(const NsInteraction *inter) {
  return ns_relation_family(inter->relation) == NS_MECHANICS;
}

/* Whether a number is in the z that an interaction computes with, or in the z of its systems, of which it has a copy. */
static bool interaction_gets(const NsInteraction *inter, const double *number) {
  bool gets = ns_number_in(number, inter->z, inter->nz);
  for (int k = 0; k < inter->nds && !inter->relation->z; k++)
    gets = gets || ns_number_in(number, inter->ds[k]->z, inter->ds[k]->nz);
  return gets;
}

/* The vectors in the order of the graph, and the systems of the interactions. */
static void model_lay_out(NsModelDerivative *m) {
  const NsNsds *nsds = m->nsds;
  for (int d = 0, x = 0, v = 0; d < nsds->nds; x += nsds->ds[d]->nx, v += nsds->ds[d++]->nr) m->x[d] = x, m->v[d] = v;
  for (int e = 0, row = 0; e < nsds->ninteractions; row += nsds->interactions[e++]->m) {
    m->row[e] = row;
    for (int k = 0; k < nsds->interactions[e]->nds; k++)
      for (int d = 0; d < nsds->nds; d++)
        if (nsds->ds[d] == nsds->interactions[e]->ds[k]) m->part[e][k] = d;
  }
}

NsStatus ns_model_derivative_take(NsModelDerivative *m, NsArena *arena, const NsNsds *nsds, const NsParameter *parameters,
                                  int p) {
  *m = (NsModelDerivative){.nsds = nsds, .p = p, .parameters = parameters, .arena = arena};
  size_t systems = (size_t)nsds->nds, interactions = (size_t)nsds->ninteractions;
  m->place = ns_arena_take(arena, (size_t)p, sizeof *m->place);
  NS_ARENA_INTS(arena, nsds->nds, &m->x, &m->v);
  m->row = ns_arena_ints(arena, nsds->ninteractions);
  m->part = ns_arena_take(arena, interactions, sizeof *m->part);
  m->of_system = ns_arena_take(arena, systems, sizeof *m->of_system);
  m->of_interaction = ns_arena_take(arena, interactions, sizeof *m->of_interaction);
  if (!arena->failed) model_lay_out(m);
  for (int j = 0; j < p && !arena->failed; j++) m->place[j] = ns_parameter_place(nsds, &parameters[j]);
  return arena->failed ? NS_ENOMEM : NS_OK;
}

/* Memory for the z of a system and of an interaction. */
static ptrdiff_t take_system_z(NsModelDerivative *m, int d) {
  const NsDs *ds = m->nsds->ds[d];
  ptrdiff_t n = ds->nr;
  m->of_system[d] = (NsModelByZ){.taken = true, .f = ns_arena_matrix(m->arena, n, ds->nz)};
  return n * n * ds->nz;
}

static void take_interaction_z(NsModelDerivative *m, int e) {
  const NsInteraction *inter = m->nsds->interactions[e];
  NsModelByZ *by = &m->of_interaction[e];
  by->taken = true;
  if (is_mechanics(inter)) return;
  by->h = ns_arena_matrix(m->arena, inter->m, inter->nz);
  by->g = ns_arena_matrix(m->arena, inter->nx, inter->nz);
}

NsStatus ns_model_take_z(NsModelDerivative *m) {
  const NsNsds *nsds = m->nsds;
  ptrdiff_t room = 0, nx = 0, rows = 0;
  for (int j = 0; j < m->p; j++) {
    const double *number = m->place[j].number;
    if (m->place[j].kind != NS_NUMBER_Z) continue;
    m->has_z = true;
    for (int d = 0; d < nsds->nds; d++) {
      if (m->of_system[d].taken || !ns_number_in(number, nsds->ds[d]->z, nsds->ds[d]->nz)) continue;
      ptrdiff_t need = take_system_z(m, d);
      if (need > room) room = need;
    }
    for (int e = 0; e < nsds->ninteractions; e++)
      if (!m->of_interaction[e].taken && interaction_gets(nsds->interactions[e], number)) take_interaction_z(m, e);
  }
  for (int e = 0; e < nsds->ninteractions && m->has_z; e++) {
    if (nsds->interactions[e]->nx > nx) nx = nsds->interactions[e]->nx;
    if (nsds->interactions[e]->m > rows) rows = nsds->interactions[e]->m;
  }
  m->room = ns_arena_doubles(m->arena, room);
  m->argument = ns_arena_doubles(m->arena, nx);
  m->zeros = ns_arena_doubles(m->arena, rows);
  return m->arena->failed ? NS_ENOMEM : NS_OK;
}

/* ---- derivatives by z ---- */

static bool vjp_varies(const NsCoef *const *coefs, int count) {
  for (int i = 0; i < count; i++)
    if (ns_coef_varies(coefs[i])) return true;
  return false;
}

/* jac (rows x nz) = the exact Jacobian of a callback (absent: 0) by z. False: it has none here. */
static bool vjp_exact(const NsFunction *f, const NsRelationPoint *at, int rows, int nz, double *jac) {
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  return ns_exact_jacobian(f, at->t, args, NS_ARG_Z, (size_t)rows * (size_t)nz * sizeof *jac, jac) || !f->value;
}

static bool first_order_by_z(const NsFirstOrderDs *ds, double t, const double *x, double *f) {
  const NsCoef *coefs[] = {&ds->M, &ds->A, &ds->b};
  NsRelationPoint at = {.t = t, .x = x, .z = ds->base.z};
  return !vjp_varies(coefs, ds->f.value ? 1 : 3) && vjp_exact(&ds->f, &at, ds->base.n, ds->base.nz, f);
}

void ns_model_look_at_system(NsModelDerivative *m, int d, const NsModelPoint *at) {
  const NsDs *ds = m->nsds->ds[d];
  NsModelByZ *by = &m->of_system[d];
  if (!by->taken) return;
  if (ns_ds_family(ds) == NS_FIRST_ORDER)
    by->known = first_order_by_z((const NsFirstOrderDs *)ds, at->t, at->x + m->x[d], by->f);
  else
    by->known = ns_mechanical_exact_parameters((const NsMechanicalDs *)ds, at->t, at->x + m->x[d], at->v + m->v[d],
                                               at->rate + m->v[d], m->room, by->f);
}

int ns_model_coordinate(const NsModelDerivative *m, int e, int i, int *v) {
  int own, k = ns_interaction_part(m->nsds->interactions[e], i, &own);
  *v = m->v[m->part[e][k]] + own;
  return m->x[m->part[e][k]] + own;
}

/* The coordinates of an interaction. */
static const double *gather(const NsModelDerivative *m, int e, const double *x) {
  for (int i = 0, v; i < m->nsds->interactions[e]->nx; i++) m->argument[i] = x[ns_model_coordinate(m, e, i, &v)];
  return m->argument;
}

/* Whether y = C q + e, with numbers. */
static bool is_straight(const NsInteraction *inter) {
  const NsRelation *r = inter->relation;
  const NsCoef *coefs[] = {&r->C, &r->e};
  bool linear = ns_relation_linear(r) && !ns_relation_holds_at_position(r) && !ns_interaction_turns(inter);
  return linear && !vjp_varies(coefs, 2) && !ns_coef_given(&r->F);
}

void ns_model_look_at_interaction(NsModelDerivative *m, int e, const NsModelPoint *at) {
  const NsInteraction *inter = m->nsds->interactions[e];
  const NsRelation *r = inter->relation;
  const NsCoef *of_h[] = {&r->C, &r->D, &r->e, &r->F}, *of_g[] = {&r->B, &r->K};
  NsModelByZ *by = &m->of_interaction[e];
  if (!by->taken) return;
  NsRelationPoint here = {.t = at->t, .x = gather(m, e, at->x), .z = inter->z};
  if (is_mechanics(inter)) { /* outputs of mechanics do not depend on lambda here: any will do */
    here.lambda = m->zeros;
    by->known = is_straight(inter) || ns_relation_ignores_z(r, &here);
    return;
  }
  here.lambda = at->lambda + m->row[e];
  by->known = !(!r->h.value && vjp_varies(of_h, 4)) && !(!r->g.value && vjp_varies(of_g, 2)) &&
              vjp_exact(&r->h, &here, inter->m, inter->nz, by->h);
  if (by->known && !r->h.value) ns_coef_add_to(&r->F, 1, by->h, inter->m);
  if (!by->known) return;
  here.x = gather(m, e, at->x_input ? at->x_input : at->x);
  by->known = vjp_exact(&r->g, &here, inter->nx, inter->nz, by->g);
}

void ns_model_look(NsModelDerivative *m, const NsModelPoint *at) {
  for (int d = 0; d < m->nsds->nds; d++) ns_model_look_at_system(m, d, at);
  for (int e = 0; e < m->nsds->ninteractions; e++) ns_model_look_at_interaction(m, e, at);
}

static bool vjp_of_system_z(const NsModelDerivative *m, int d, const double *number, ModelChange *change) {
  const NsDs *ds = m->nsds->ds[d];
  const NsModelByZ *by = &m->of_system[d];
  int n = ds->nr;
  if (!ns_number_in(number, ds->z, ds->nz)) return true;
  if (!by->known) return false;
  vjp_column(change, false, m->v[d], n, by->f + (number - ds->z) * n);
  return true;
}

/* Whether rows of an interaction hold by y', whose derivative by z is not known when y depends on z. */
static bool vjp_slides_on_z(const NsModelDerivative *m, int e, const bool *by_rate) {
  const NsInteraction *inter = m->nsds->interactions[e];
  bool slides = false;
  for (int i = 0; i < inter->m; i++) slides = slides || (by_rate && by_rate[m->row[e] + i]);
  return slides && (inter->relation->h.value || ns_coef_given(&inter->relation->F));
}

static bool vjp_of_interaction_z(const NsModelDerivative *m, int e, const bool *by_rate, const double *number,
                                 ModelChange *change) {
  const NsInteraction *inter = m->nsds->interactions[e];
  const NsModelByZ *by = &m->of_interaction[e];
  if (!interaction_gets(inter, number)) return true;
  if (!by->known || is_mechanics(inter)) return by->known;
  if (!ns_number_in(number, inter->z, inter->nz) || vjp_slides_on_z(m, e, by_rate))
    return false; /* a copy; see vjp_slides_on_z */
  ptrdiff_t column = number - inter->z;
  vjp_column(change, true, m->row[e], inter->m, by->h + column * inter->m);
  for (int i = 0, v; i < inter->nx; i++) {
    (void)ns_model_coordinate(m, e, i, &v);
    vjp_input(change, v, by->g[i + column * inter->nx]);
  }
  return true;
}

bool ns_model_outputs_ignore(const NsModelDerivative *m, int j) {
  bool ignore = true;
  for (int e = 0; e < m->nsds->ninteractions && ignore; e++)
    ignore = !interaction_gets(m->nsds->interactions[e], m->place[j].number) || m->of_interaction[e].known;
  return ignore;
}

/* ---- all numbers ---- */

static void vjp_system(const NsModelDerivative *m, const NsParameterPlace *in, const NsModelPoint *at, ModelChange *change) {
  int row = m->v[in->system] + in->i, x = m->x[in->system] + in->j, v = m->v[in->system] + in->j;
  switch (in->kind) {
    case NS_NUMBER_A: vjp_force(change, row, at->x[x]); break;
    case NS_NUMBER_MASS: vjp_force(change, row, -at->rate[v]); break;
    case NS_NUMBER_STIFFNESS: vjp_force(change, row, -at->x[x]); break;
    case NS_NUMBER_DAMPING: vjp_force(change, row, -at->v[v]); break;
    default: vjp_force(change, row, at->one); break; /* b, fExt */
  }
}

/* Whether the output of a row counts by its rate. */
static bool row_by_rate(const NsModelDerivative *m, int e, int row, const NsModelPoint *at) {
  return (is_mechanics(m->nsds->interactions[e]) && !at->positions) || (at->by_rate && at->by_rate[row]);
}

static bool vjp_relation(const NsModelDerivative *m, const NsParameterPlace *in, int e, const NsModelPoint *at,
                         ModelChange *change) {
  bool mechanics = is_mechanics(m->nsds->interactions[e]);
  int row = m->row[e] + in->i, force, v;
  const double *x_input = at->x_input ? at->x_input : at->x;
  switch (in->kind) {
    case NS_NUMBER_C: {
      int x = ns_model_coordinate(m, e, in->j, &v);
      if (mechanics) vjp_force(change, v, at->lambda[row]);
      vjp_output(change, row, row_by_rate(m, e, row, at) ? at->rate[v] : at->x[x]);
      return true;
    }
    case NS_NUMBER_D: vjp_output(change, row, at->lambda[m->row[e] + in->j]); return !row_by_rate(m, e, row, at);
    case NS_NUMBER_e:
      if (!row_by_rate(m, e, row, at)) vjp_output(change, row, 1);
      return true;
    case NS_NUMBER_B:
      (void)ns_model_coordinate(m, e, in->i, &force);
      vjp_input(change, force, at->lambda[m->row[e] + in->j]);
      return !mechanics;
    default: /* K */
      (void)ns_model_coordinate(m, e, in->i, &force);
      vjp_input(change, force, x_input[ns_model_coordinate(m, e, in->j, &v)]);
      return !mechanics;
  }
}

static bool vjp_z(const NsModelDerivative *m, const double *number, const NsModelPoint *at, ModelChange *change) {
  bool known = true;
  for (int d = 0; d < m->nsds->nds && known; d++) known = vjp_of_system_z(m, d, number, change);
  for (int e = 0; e < m->nsds->ninteractions && known; e++) known = vjp_of_interaction_z(m, e, at->by_rate, number, change);
  return known;
}

/* The bounds have weights alone. */
static bool vjp_bound(const NsModelDerivative *m, const NsParameterPlace *in, ModelChange *change) {
  const double *weights = in->kind == NS_NUMBER_LOWER ? change->weights->lower : change->weights->upper;
  for (int e = in->first; e >= 0 && weights; e = ns_parameter_next(m->nsds, in, e)) change->sum += weights[m->row[e] + in->i];
  return true;
}

static bool vjp_number(const NsModelDerivative *m, const NsModelPoint *at, int j, ModelChange *change) {
  const NsParameterPlace *in = &m->place[j];
  bool known = true;
  if (in->kind == NS_NUMBER_Z) return vjp_z(m, in->number, at, change);
  if (ns_number_of_system(in->kind)) return vjp_system(m, in, at, change), true;
  if (in->kind == NS_NUMBER_LOWER || in->kind == NS_NUMBER_UPPER) return change->weights && vjp_bound(m, in, change);
  if (!ns_number_of_relation(in->kind)) return false;
  for (int e = in->first; e >= 0 && known; e = ns_parameter_next(m->nsds, in, e)) known = vjp_relation(m, in, e, at, change);
  return known;
}

bool ns_model_vjp(const NsModelDerivative *m, const NsModelPoint *at, const NsModelWeights *weights, int j, double *sum) {
  ModelChange change = {.weights = weights, .sum = *sum};
  bool known = vjp_number(m, at, j, &change);
  return *sum = change.sum, known;
}

bool ns_model_jvp(const NsModelDerivative *m, const NsModelPoint *at, int j, double *F, double *Y) {
  ModelChange change = {.F = F, .Y = Y};
  return vjp_number(m, at, j, &change);
}

bool ns_model_vjp_system_z(const NsModelDerivative *m, int d, const NsModelWeights *weights, int j, double *sum) {
  ModelChange change = {.weights = weights, .sum = *sum};
  bool known = vjp_of_system_z(m, d, m->place[j].number, &change);
  return *sum = change.sum, known;
}

bool ns_model_vjp_interaction_z(const NsModelDerivative *m, int e, const NsModelPoint *at, const NsModelWeights *weights, int j,
                                double *sum) {
  ModelChange change = {.weights = weights, .sum = *sum};
  bool known = vjp_of_interaction_z(m, e, at->by_rate, m->place[j].number, &change);
  return *sum = change.sum, known;
}
