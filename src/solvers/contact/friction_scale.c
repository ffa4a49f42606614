/*
** friction_scale.c
** Symmetric scaling of the blocks of a friction problem, in integers.
*/
#include "solvers/contact/friction_scale.h"

#include <math.h>

#include "solvers/balance.h"
#include "solvers/residual.h"

void ns_friction_scaled_take(NsFrictionScaled *s, NsArena *arena, const NsFriction *p, int nc, const int *contact,
                             const int *place) {
  const NsBlock *W = p->W;
  int count = 0, dim = p->dim;
  for (int i = 0; i < nc; i++) count += W->rowptr[contact[i] + 1] - W->rowptr[contact[i]];
  *s = (NsFrictionScaled){.contact = contact, .W = {.dim = dim, .nb = nc}};
  s->W.rowptr = ns_arena_ints(arena, nc + 1);
  s->W.diag = ns_arena_ints(arena, nc);
  s->W.col = ns_arena_ints(arena, count);
  s->W.value = ns_arena_matrix(arena, count, dim * dim);
  s->source = ns_arena_ints(arena, count);
  s->unit_u = ns_arena_ints(arena, nc);
  s->unit_r = ns_arena_ints(arena, nc);
  s->mu = ns_arena_doubles(arena, nc);
  s->q = ns_arena_matrix(arena, nc, dim);
  if (arena->failed) return;
  for (int i = 0, at = 0; i < nc; i++) {
    for (int b = W->rowptr[contact[i]]; b < W->rowptr[contact[i] + 1]; b++, at++) {
      if (W->col[b] == contact[i]) s->W.diag[i] = at;
      s->W.col[at] = place[W->col[b]];
      s->source[at] = b;
    }
    s->W.rowptr[i + 1] = at;
  }
}

/* The exponent of the largest row sum of a block; NS_NO_EXPONENT for zeros. */
static int block_exponent(int dim, const double *W) {
  double most = 0;
  for (int k = 0; k < dim; k++) {
    double sum = 0;
    for (int j = 0; j < dim; j++) sum += fabs(W[k + j * dim]);
    most = ns_larger(most, sum);
  }
  return most > 0 ? ns_binary_exponent(most) : NS_NO_EXPONENT;
}

static int floor_half(int x) {
  return x >= 0 ? x / 2 : -((1 - x) / 2);
}

static const double *given_block(const NsFrictionScaled *s, const NsFriction *p, int b) {
  return p->W->value + (size_t)s->source[b] * (size_t)(p->dim * p->dim);
}

/* s with W_ij 2^(s_i + s_j) near 2^first for contacts with a block of their own, into unit_r; returns `first`. */
static int symmetric_exponents(NsFrictionScaled *s, const NsFriction *p) {
  int first = NS_NO_EXPONENT;
  for (int i = 0; i < s->W.nb; i++) {
    int e = block_exponent(p->dim, given_block(s, p, s->W.diag[i]));
    if (first == NS_NO_EXPONENT) first = e;
    s->unit_r[i] = e == NS_NO_EXPONENT ? e : -floor_half(e - first);
  }
  return first == NS_NO_EXPONENT ? 0 : first;
}

/* Those of contacts without a block of their own, from the first neighbour that has one. */
static void follow_neighbours(NsFrictionScaled *s, const NsFriction *p, int first) {
  for (int i = 0; i < s->W.nb; i++) {
    if (s->unit_r[i] != NS_NO_EXPONENT) continue;
    int found = 0;
    for (int b = s->W.rowptr[i]; b < s->W.rowptr[i + 1]; b++) {
      int j = s->W.col[b], e = block_exponent(p->dim, given_block(s, p, b));
      if (j == i || e == NS_NO_EXPONENT || s->unit_r[j] == NS_NO_EXPONENT) continue;
      found = first - e - s->unit_r[j];
      break;
    }
    s->unit_r[i] = found;
  }
}

/* Turns exponents s into the units of u and r, so that the largest q is 1/2 .. 1. */
static void take_contact_units(NsFrictionScaled *s, const NsFriction *p, int first) {
  int most = NS_NO_EXPONENT, dim = p->dim;
  for (int i = 0; i < s->W.nb; i++)
    for (int k = 0; k < dim; k++) most = ns_larger_exponent(most, p->q[s->contact[i] * dim + k], s->unit_r[i]);
  int whole = most == NS_NO_EXPONENT ? 0 : -most;
  for (int i = 0; i < s->W.nb; i++) {
    int own = s->unit_r[i];
    s->unit_u[i] = own + whole;
    s->unit_r[i] = whole + first - own;
  }
}

void ns_friction_scale_values(NsFrictionScaled *s, const NsFriction *p) {
  int dim = p->dim, first = symmetric_exponents(s, p);
  follow_neighbours(s, p, first);
  take_contact_units(s, p, first);
  for (int i = 0; i < s->W.nb; i++) {
    s->mu[i] = p->mu[s->contact[i]];
    for (int k = 0; k < dim; k++) s->q[i * dim + k] = ns_times_power(p->q[s->contact[i] * dim + k], s->unit_u[i]);
    for (int b = s->W.rowptr[i]; b < s->W.rowptr[i + 1]; b++) {
      const double *from = given_block(s, p, b);
      double *to = s->W.value + (size_t)b * (size_t)(dim * dim);
      int e = s->unit_u[i] - s->unit_r[s->W.col[b]];
      for (int k = 0; k < dim * dim; k++) to[k] = ns_times_power(from[k], e);
    }
  }
  s->problem = (NsFriction){dim, s->W.nb, s->mu, &s->W, s->q};
}

void ns_friction_gather_force(const NsFrictionScaled *s, const double *r, double *to) {
  int dim = s->W.dim;
  for (int i = 0; i < s->W.nb; i++)
    for (int k = 0; k < dim; k++) to[i * dim + k] = ns_times_power(r[s->contact[i] * dim + k], s->unit_r[i]);
}

void ns_friction_scatter(const NsFrictionScaled *s, const double *scaled_r, const double *scaled_u, double *r, double *u) {
  int dim = s->W.dim;
  for (int i = 0; i < s->W.nb; i++)
    for (int k = 0; k < dim; k++) {
      r[s->contact[i] * dim + k] = ns_times_power(scaled_r[i * dim + k], -s->unit_r[i]);
      u[s->contact[i] * dim + k] = ns_times_power(scaled_u[i * dim + k], -s->unit_u[i]);
    }
}
