/*
** equations.c
** Stacks the equations of all systems and interactions.
*/
#include "integrators/fesd/equations.h"

#include <string.h>

void ns_equations_take(NsEquations *eq, NsArena *arena, NsNsds *nsds) {
  int most = 0;
  *eq = (NsEquations){.nsds = nsds};
  eq->offset = ns_arena_ints(arena, nsds->nds);
  eq->row = ns_arena_ints(arena, nsds->ninteractions);
  if (arena->failed) return;
  for (int d = 0; d < nsds->nds; d++) {
    eq->offset[d] = eq->N;
    eq->N += nsds->ds[d]->n;
  }
  for (int e = 0; e < nsds->ninteractions; e++) {
    const NsInteraction *inter = nsds->interactions[e];
    eq->row[e] = eq->m;
    eq->m += inter->m;
    if (inter->nx > most) most = inter->nx;
    if (inter->m > most) most = inter->m;
  }
  if (eq->N > most) most = eq->N;
  eq->F = ns_arena_doubles(arena, eq->N);
  eq->r = ns_arena_doubles(arena, eq->N);
  eq->y = ns_arena_doubles(arena, eq->m);
  eq->M = ns_arena_matrix(arena, eq->N, eq->N);
  eq->Fx = ns_arena_matrix(arena, eq->N, eq->N);
  eq->Fl = ns_arena_matrix(arena, eq->N, eq->m);
  eq->hx = ns_arena_matrix(arena, eq->m, eq->N);
  eq->hl = ns_arena_matrix(arena, eq->m, eq->m);
  eq->x = ns_arena_doubles(arena, most);
  eq->out = ns_arena_doubles(arena, most);
  eq->J = ns_arena_matrix(arena, most, most);
}

/* to (leading dimension ld) += block (rows x cols, packed with leading dimension lb). */
static void add_block(double *to, int ld, int rows, int cols, const double *block, int lb) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) to[i + (size_t)j * (size_t)ld] += block[i + (size_t)j * (size_t)lb];
}

static NsStatus evaluate_system(NsEquations *eq, int d, double t, const double *x, bool slopes, NsError *err) {
  NsFirstOrderDs *ds = (NsFirstOrderDs *)eq->nsds->ds[d];
  int n = ds->base.n, at = eq->offset[d];
  double *corner = eq->M + at + (size_t)at * (size_t)eq->N;
  NsStatus status = ns_ds_update(&ds->base, t, err);
  if (status == NS_OK) status = ns_first_order_f(ds, t, x + at, eq->F + at, err);
  if (status != NS_OK || !slopes) return status;
  ns_coef_add_to(&ds->M, 1, corner, eq->N);
  for (int i = 0; i < n && !ns_coef_given(&ds->M); i++) corner[i + (size_t)i * (size_t)eq->N] = 1;
  status = ns_first_order_jacobian(ds, t, x + at, eq->J, err);
  if (status == NS_OK) add_block(eq->Fx + at + (size_t)at * (size_t)eq->N, eq->N, n, n, eq->J, n);
  return status;
}

/* Adds a matrix whose rows (by_row) or columns are the coordinates of an interaction; the other side begins at `other`. */
static void scatter_block(const NsEquations *eq, const NsInteraction *inter, double *to, int ld, bool by_row, int other,
                          int others) {
  int lb = by_row ? inter->nx : others;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p]->n, p++) {
    int n = inter->ds[p]->n, o = eq->offset[inter->ds[p]->node];
    if (by_row) add_block(to + o + (size_t)other * (size_t)ld, ld, n, others, eq->J + at, lb);
    else add_block(to + other + (size_t)o * (size_t)ld, ld, others, n, eq->J + (size_t)at * (size_t)lb, lb);
  }
}

/* Adds K = dg/dx, whose rows and columns are coordinates of the interaction. */
static void scatter_K(const NsEquations *eq, const NsInteraction *inter) {
  int N = eq->N, nx = inter->nx;
  for (int q = 0, from = 0; q < inter->nds; from += inter->ds[q]->n, q++)
    for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p]->n, p++)
      add_block(eq->Fx + eq->offset[inter->ds[p]->node] + (size_t)eq->offset[inter->ds[q]->node] * (size_t)N, N,
                inter->ds[p]->n, inter->ds[q]->n, eq->J + at + (size_t)from * (size_t)nx, nx);
}

static NsStatus add_slopes(NsEquations *eq, int e, const NsRelationPoint *at, NsError *err) {
  const NsInteraction *inter = eq->nsds->interactions[e];
  const NsRelation *relation = inter->relation;
  int m = inter->m, row = eq->row[e];
  NsStatus status = ns_relation_B(relation, at, eq->J, err);
  if (status != NS_OK) return status;
  scatter_block(eq, inter, eq->Fl, eq->N, true, row, m);
  status = ns_relation_C(relation, at, eq->J, err);
  if (status != NS_OK) return status;
  scatter_block(eq, inter, eq->hx, eq->m, false, row, m);
  if (ns_relation_has_D(relation)) {
    status = ns_relation_D(relation, at, eq->J, err);
    if (status != NS_OK) return status;
    add_block(eq->hl + row + (size_t)row * (size_t)eq->m, eq->m, m, m, eq->J, m);
  }
  if (!ns_relation_has_K(relation)) return NS_OK;
  status = ns_relation_K(relation, at, eq->J, err);
  if (status == NS_OK) scatter_K(eq, inter);
  return status;
}

static NsStatus evaluate_interaction(NsEquations *eq, int e, double t, const double *x, const double *lambda, bool slopes,
                                     NsError *err) {
  NsInteraction *inter = eq->nsds->interactions[e];
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p]->n, p++)
    memcpy(eq->x + at, x + eq->offset[inter->ds[p]->node], (size_t)inter->ds[p]->n * sizeof *x);
  NsStatus status = ns_interaction_update(inter, t, err);
  NsRelationPoint at = {t, eq->x, lambda + eq->row[e], inter->z};
  if (status == NS_OK) status = ns_relation_output(inter->relation, &at, eq->y + eq->row[e], err);
  if (status == NS_OK) status = ns_relation_input(inter->relation, &at, eq->out, err);
  if (status != NS_OK) return status;
  for (int p = 0, from = 0; p < inter->nds; from += inter->ds[p]->n, p++)
    for (int i = 0; i < inter->ds[p]->n; i++) eq->r[eq->offset[inter->ds[p]->node] + i] += eq->out[from + i];
  return slopes ? add_slopes(eq, e, &at, err) : NS_OK;
}

NsStatus ns_equations_evaluate(NsEquations *eq, double t, const double *x, const double *lambda, bool slopes, NsError *err) {
  size_t N = (size_t)eq->N, m = (size_t)eq->m;
  NsStatus status = NS_OK;
  memset(eq->r, 0, N * sizeof *eq->r);
  if (slopes) {
    memset(eq->M, 0, N * N * sizeof *eq->M);
    memset(eq->Fx, 0, N * N * sizeof *eq->Fx);
    memset(eq->Fl, 0, N * m * sizeof *eq->Fl);
    memset(eq->hx, 0, m * N * sizeof *eq->hx);
    memset(eq->hl, 0, m * m * sizeof *eq->hl);
  }
  for (int d = 0; d < eq->nsds->nds && status == NS_OK; d++) status = evaluate_system(eq, d, t, x, slopes, err);
  for (int e = 0; e < eq->nsds->ninteractions && status == NS_OK; e++)
    status = evaluate_interaction(eq, e, t, x, lambda, slopes, err);
  for (size_t i = 0; i < N && status == NS_OK; i++) eq->F[i] += eq->r[i];
  return status;
}

int ns_equations_interaction(const NsEquations *eq, int row) {
  int e = 0;
  while (e + 1 < eq->nsds->ninteractions && eq->row[e + 1] <= row) e++;
  return e;
}
