/*
** terms.c
** The terms of a model's equations at a point: values and Jacobians of systems and relations.
*/
#include "model/terms.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

/* The block (rows x cols) added to a matrix with `all` rows, where row i is at r + i and column j at place[j], or c + j. */
static void add_term_block(double *to, int all, int r, int c, const int *place, int rows, int cols, const double *block) {
  for (ptrdiff_t j = 0; j < cols; j++)
    for (ptrdiff_t i = 0; i < rows; i++) to[r + i + (place ? place[j] : c + j) * (ptrdiff_t)all] += block[i + j * rows];
}

/* The first coordinate and equation of the system number `index` among the systems of its family. */
static void term_place(const NsTerms *at, int index, int *q, int *v) {
  *q = *v = 0;
  for (int i = 0; i < index; i++) {
    const NsDs *other = at->nsds->ds[i];
    if (ns_ds_family(other) == at->family) *q += other->nx, *v += other->n - (other->n > other->nx ? other->nx : 0);
  }
}

void ns_terms_measure(NsTerms *at) {
  term_place(at, at->nsds->nds, &at->nq, &at->nv);
  at->m = 0;
  for (int i = 0; i < at->nsds->ninteractions; i++)
    if (ns_ds_family(at->nsds->interactions[i]->ds[0]) == at->family) at->m += at->nsds->interactions[i]->m;
}

static const double *states_of(const NsTerms *at, const NsDs *ds) {
  const double *x = at->x;
  for (int i = 0; i < ds->index; i++) x += at->nsds->ds[i]->n;
  return x;
}

static NsStatus terms_memory(const NsArena *arena, NsError *err) {
  return arena->failed ? ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM)) : NS_OK;
}

/* M x' = f: f, M, A = df/dx. */
static NsStatus first_order_terms_at(const NsTerms *at, NsFirstOrderDs *ds, int q, NsArena *arena, NsError *err) {
  int n = ds->base.n;
  double *M = ns_arena_matrix(arena, n, n), *A = ns_arena_matrix(arena, n, n);
  if (terms_memory(arena, err) != NS_OK) return NS_ENOMEM;
  NsStatus status = ns_first_order_terms(ds, at->t, states_of(at, &ds->base), at->f + q, M, A, err);
  add_term_block(at->M, at->nv, q, q, NULL, n, n, M);
  add_term_block(at->A, at->nv, q, q, NULL, n, n, A);
  return status;
}

/* M v' = f: f, M, A = df/dq, V = df/dv, at the velocities of x. */
static NsStatus mechanical_terms_at(const NsTerms *at, NsMechanicalDs *ds, int q, int v, NsArena *arena, NsError *err) {
  int nq = ds->nq, nv = ds->nv;
  const double *x = states_of(at, &ds->base);
  double *M = ns_arena_matrix(arena, nv, nv), *V = ns_arena_matrix(arena, nv, nv);
  double *A = ns_arena_matrix(arena, nv, nq), *room = ns_arena_matrix(arena, nv, nq);
  NsStatus status = terms_memory(arena, err);
  if (status == NS_OK) status = ns_ds_update(&ds->base, at->t, err);
  if (status == NS_OK) status = ns_mechanical_forces(ds, at->t, x, x + nq, at->f + v, err);
  if (status == NS_OK) status = ns_mechanical_mass(ds, at->t, x, M, err);
  if (status == NS_OK) status = ns_mechanical_force_jacobians(ds, at->t, x, x + nq, room, A, V, err);
  if (status != NS_OK) return status;
  add_term_block(at->M, at->nv, v, v, NULL, nv, nv, M);
  add_term_block(at->V, at->nv, v, v, NULL, nv, nv, V);
  add_term_block(at->A, at->nv, v, q, NULL, nv, nq, A);
  return NS_OK;
}

/*
** The step of differences of C by a coordinate, as a part of its size: of order 4, whose truncation (2^-10)^4 = 1e-12 and rounding
** 2^-52 / 2^-10 are about as large. Differences below the part ROUNDING of (C / step) are rounding and count as 0.
*/
static const double STEP = 0x1p-10, ROUNDING = 0x1p-44;

/* A size of coordinate k of an interaction: its own, 1 for an angle, else the largest |y| / |C_k|, or 1 when all of these are 0. */
static double coordinate_size(const NsTerms *at, const NsInteraction *inter, int row, int k, int place, double x) {
  int own, d = ns_interaction_part(inter, k, &own);
  double size = ns_mechanical_turns((const NsMechanicalDs *)inter->ds[d]) && own >= 3 ? 1 : fabs(x);
  for (int i = row; i < row + inter->m && x == 0; i++) {
    double slope = fabs(at->C[i + (ptrdiff_t)place * at->m]);
    if (slope > 0) size = fmax(size, fabs(at->y[i]) / slope);
  }
  return size > 0 ? size : 1;
}

/* second (m x nx) = dC/dx_k by differences with the step h. room: nx + 2 m nx. */
static NsStatus second_by_differences(const NsRelation *rel, const NsRelationPoint *point, int k, double h, double *room,
                                      double *second, NsError *err) {
  static const double weights[4][2] = {{-2, 1}, {-1, -8}, {1, 8}, {2, -1}};
  ptrdiff_t nx = rel->nx, entries = rel->m * nx;
  double *x = room, *C = x + nx, *most = C + entries;
  NsRelationPoint there = *point;
  NsStatus status = NS_OK;
  there.x = memcpy(x, point->x, (size_t)nx * sizeof *x);
  memset(second, 0, (size_t)entries * sizeof *second);
  memset(most, 0, (size_t)entries * sizeof *most);
  for (int s = 0; s < 4 && status == NS_OK; s++) {
    x[k] = point->x[k] + weights[s][0] * h;
    status = ns_relation_C(rel, &there, C, err);
    for (ptrdiff_t i = 0; i < entries && status == NS_OK; i++) {
      second[i] += weights[s][1] / (12 * h) * C[i];
      most[i] = fmax(most[i], fabs(C[i]));
    }
  }
  for (ptrdiff_t i = 0; i < entries; i++)
    if (fabs(second[i]) <= ROUNDING * most[i] / h) second[i] = 0;
  return status;
}

/* Mechanics: rate = dy/dt at fixed q; G = d(C' lambda)/dq where C depends on q, exact where the relation knows it. place: of the coordinates. */
static NsStatus curvature_terms(NsTerms *at, const NsInteraction *inter, const NsRelationPoint *point, int row,
                                const int *place, NsArena *arena, NsError *err) {
  const NsRelation *rel = inter->relation;
  ptrdiff_t m = rel->m, nx = rel->nx;
  double *room = ns_arena_doubles(arena, (ptrdiff_t)ns_relation_curvature_room(rel) + NS_DIFFERENCE_ROOM * m + 2 * m * nx + nx);
  double *second = ns_arena_doubles(arena, m * nx * nx), *still = ns_arena_doubles(arena, (2 * m + 1) * nx);
  NsStatus status = terms_memory(arena, err);
  if (status == NS_OK) status = ns_relation_add_rate(rel, point, room, at->rate + row, err);
  if (status != NS_OK) return status;
  NsRelationCurvature curvature = {second, still + nx, still + nx + m * nx};
  bool exact = ns_relation_curvature(rel, point, still, room, &curvature);
  for (int k = 0; k < nx && !exact && status == NS_OK; k++) {
    double h = STEP * coordinate_size(at, inter, row, k, place[k], point->x[k]);
    status = second_by_differences(rel, point, k, h, room, second + k * m * nx, err);
  }
  for (ptrdiff_t k = 0; k < nx * nx && status == NS_OK; k++)
    for (ptrdiff_t i = 0; i < m; i++)
      at->G[place[k % nx] + place[k / nx] * (ptrdiff_t)at->nq] += point->lambda[i] * second[i + k * m];
  return status;
}

/* First order: r, which is added to f, B = dr/dlambda, K = dr/dx, which is added to A. */
static NsStatus input_terms(const NsTerms *at, const NsRelation *rel, const NsRelationPoint *point, int row, const int *place,
                            NsArena *arena, NsError *err) {
  int m = rel->m, nx = rel->nx;
  double *r = ns_arena_doubles(arena, nx), *B = ns_arena_matrix(arena, nx, m), *K = ns_arena_matrix(arena, nx, nx);
  NsStatus status = terms_memory(arena, err);
  if (status == NS_OK) status = ns_relation_input(rel, point, r, err);
  if (status == NS_OK) status = ns_relation_B(rel, point, B, err);
  if (status == NS_OK && ns_relation_has_K(rel)) status = ns_relation_K(rel, point, K, err);
  for (ptrdiff_t i = 0; i < nx && status == NS_OK; i++) {
    at->f[place[i]] += r[i];
    for (int j = 0; j < m; j++) at->B[place[i] + (row + j) * (ptrdiff_t)at->nv] += B[i + (ptrdiff_t)j * nx];
    for (int j = 0; j < nx; j++) at->A[place[i] + place[j] * (ptrdiff_t)at->nv] += K[i + (ptrdiff_t)j * nx];
  }
  return status;
}

/* y, C = dy/dx, D = dy/dlambda. */
static NsStatus output_terms(const NsTerms *at, const NsRelation *rel, const NsRelationPoint *point, int row, const int *place,
                             NsArena *arena, NsError *err) {
  int m = rel->m, nx = rel->nx;
  double *C = ns_arena_matrix(arena, m, nx), *D = ns_arena_matrix(arena, m, m);
  NsStatus status = terms_memory(arena, err);
  if (status == NS_OK) status = ns_relation_output(rel, point, at->y + row, err);
  if (status == NS_OK) status = ns_relation_C(rel, point, C, err);
  if (status == NS_OK && ns_relation_has_D(rel)) status = ns_relation_D(rel, point, D, err);
  if (status != NS_OK) return status;
  add_term_block(at->C, at->m, row, 0, place, m, nx, C);
  add_term_block(at->D, at->m, row, row, NULL, m, m, D);
  return NS_OK;
}

static NsStatus interaction_terms(NsTerms *at, NsInteraction *inter, const double *lambda, int row, NsArena *arena,
                                  NsError *err) {
  double *x = ns_arena_doubles(arena, inter->nx);
  int *place = ns_arena_ints(arena, inter->nx);
  if (terms_memory(arena, err) != NS_OK) return NS_ENOMEM;
  for (int i = 0, first = 0; i < inter->nds; first += inter->ds[i++]->nx) {
    int q, v;
    memcpy(x + first, states_of(at, inter->ds[i]), (size_t)inter->ds[i]->nx * sizeof *x);
    term_place(at, inter->ds[i]->index, &q, &v);
    for (int j = 0; j < inter->ds[i]->nx; j++) place[first + j] = q + j;
  }
  NsStatus status = ns_interaction_update_bounds(inter, at->t, err);
  if (status == NS_OK) status = ns_interaction_update(inter, at->t, err);
  NsRelationPoint point = {at->t, x, lambda, inter->z, false};
  if (status == NS_OK) status = output_terms(at, inter->relation, &point, row, place, arena, err);
  if (status != NS_OK) return status;
  return at->rate ? curvature_terms(at, inter, &point, row, place, arena, err)
                  : input_terms(at, inter->relation, &point, row, place, arena, err);
}

NsStatus ns_terms_fill(NsTerms *at, NsError *err) {
  NsStatus status = NS_OK;
  NsArena arena = {0};
  const double *lambda = at->lambda;
  for (int i = 0; i < at->nsds->nds && status == NS_OK; i++, ns_arena_release(&arena)) {
    NsDs *ds = at->nsds->ds[i];
    int q, v;
    if (ns_ds_family(ds) != at->family) continue;
    term_place(at, i, &q, &v);
    status = at->rate ? mechanical_terms_at(at, (NsMechanicalDs *)ds, q, v, &arena, err)
                      : first_order_terms_at(at, (NsFirstOrderDs *)ds, q, &arena, err);
  }
  for (int i = 0, row = 0; i < at->nsds->ninteractions && status == NS_OK; i++, ns_arena_release(&arena)) {
    NsInteraction *inter = at->nsds->interactions[i];
    bool own = ns_ds_family(inter->ds[0]) == at->family;
    if (own) status = interaction_terms(at, inter, lambda, row, &arena, err);
    lambda += inter->m, row += own ? inter->m : 0;
  }
  return status;
}

/* The derivatives in the graph's order: F as the states of all systems, Y by all rows. The vectors of the point are the states too. */
static bool terms_jvp(const NsTerms *at, const NsParameter *number, NsArena *arena, double *F, double *Y) {
  const NsNsds *nsds = at->nsds;
  NsModelDerivative model;
  bool taken = ns_model_derivative_take(&model, arena, nsds, number, 1) == NS_OK && ns_model_take_z(&model) == NS_OK;
  int n = 0;
  for (int i = 0; i < nsds->nds && taken; n += nsds->ds[i++]->n) {
    const NsDs *ds = nsds->ds[i];
    model.x[i] = n, model.v[i] = n + ds->n - ds->nr;
    taken = taken && ds->nx == ds->nr; /* no quaternions */
  }
  const double *rate = ns_arena_doubles(arena, n);
  if (!taken || arena->failed) return false;
  NsModelPoint point = {.t = at->t, .x = at->x, .v = at->x, .rate = rate, .lambda = at->lambda, .one = 1, .positions = true};
  ns_model_look(&model, &point);
  return ns_model_jvp(&model, &point, 0, F, Y);
}

bool ns_terms_by(const NsTerms *at, const NsParameter *number, double *f, double *y) {
  NsArena arena = {0};
  int n = 0, m = 0;
  for (int i = 0; i < at->nsds->nds; i++) n += at->nsds->ds[i]->n;
  for (int i = 0; i < at->nsds->ninteractions; i++) m += at->nsds->interactions[i]->m;
  double *F = ns_arena_doubles(&arena, n), *Y = ns_arena_doubles(&arena, m);
  bool known = !arena.failed && terms_jvp(at, number, &arena, F, Y);
  for (int i = 0; i < at->nsds->nds && known; F += at->nsds->ds[i++]->n) {
    const NsDs *ds = at->nsds->ds[i];
    for (int j = ds->n - ds->nr; j < ds->n && ns_ds_family(ds) == at->family; j++) *f++ = F[j];
  }
  for (int i = 0; i < at->nsds->ninteractions && known; Y += at->nsds->interactions[i++]->m) {
    const NsInteraction *inter = at->nsds->interactions[i];
    for (int j = 0; j < inter->m && ns_ds_family(inter->ds[0]) == at->family; j++) *y++ = Y[j];
  }
  ns_arena_release(&arena);
  return known;
}
