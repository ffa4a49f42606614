/*
** expm.c
** Scaling and squaring with Pade approximants.
*/
#include "linalg/expm.h"

#include <cblas.h>
#include <math.h>

#include "base/arena.h"
#include "linalg/lu.h"
#include "linalg/norm.h"
#include "linalg/work.h"

enum { LAST = 13 };

/* Workspace: the scaled A, its even powers, and U, V of the approximant (V - U)^-1 (V + U). */
typedef struct Expm {
  int n;
  size_t size; /* n * n */
  double *A, *power[5], *U, *V, *T;
  double b[LAST + 1];
} Expm;

/* Degrees of the approximant, and for each the largest 1-norm of A with an error at rounding level (Higham 2005, table 2.3). */
static const struct {
  int degree;
  double norm;
} choice[] = {
    {3, 1.495585217958292e-2},
    {5, 2.539398330063230e-1},
    {7, 9.504178996162932e-1},
    {9, 2.097847961257068},
};

/* The same norm for degree 13. */
static const double norm13 = 5.371920351148152;

static void expm_multiply(const Expm *p, const double *X, const double *Y, double *Z) {
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, p->n, p->n, p->n, 1, X, p->n, Y, p->n, 0, Z, p->n);
}

static void expm_add(const Expm *p, double f, const double *X, double *Y) {
  for (size_t i = 0; i < p->size; i++) Y[i] += f * X[i];
}

static void clear(const Expm *p, double *X) {
  memset(X, 0, p->size * sizeof *X);
}

/* Numerator coefficients of the diagonal Pade approximant of exp; b[0] = 1. */
static void coefficients(double *b, int degree) {
  b[0] = 1;
  for (int k = 0; k < degree; k++) b[k + 1] = b[k] * (degree - k) / ((2.0 * degree - k) * (k + 1));
}

/* power[k] = A^(2k) for k up to `last`. */
static void powers(Expm *p, int last) {
  ns_set_identity(p->n, p->n, p->power[0], p->n);
  expm_multiply(p, p->A, p->A, p->power[1]);
  for (int k = 2; k <= last; k++) expm_multiply(p, p->power[k - 1], p->power[1], p->power[k]);
}

static void pade_small(Expm *p, int degree) {
  coefficients(p->b, degree);
  powers(p, degree / 2);
  clear(p, p->T);
  clear(p, p->V);
  for (int k = 0; 2 * k < degree; k++) {
    expm_add(p, p->b[2 * k + 1], p->power[k], p->T);
    expm_add(p, p->b[2 * k], p->power[k], p->V);
  }
  expm_multiply(p, p->A, p->T, p->U);
}

/* Even (or odd) part of degree 13: out = A^6 (c6 A^6 + c4 A^4 + c2 A^2) + d6 A^6 + d4 A^4 + d2 A^2 + d0 I; b points at d0. */
static void half13(Expm *p, const double *b, double *out) {
  clear(p, p->T);
  for (int k = 1; k <= 3; k++) expm_add(p, b[6 + 2 * k], p->power[k], p->T);
  expm_multiply(p, p->power[3], p->T, out);
  for (int k = 0; k <= 3; k++) expm_add(p, b[2 * k], p->power[k], out);
}

static void pade13(Expm *p) {
  coefficients(p->b, LAST);
  powers(p, 3);
  half13(p, p->b + 1, p->V);
  expm_multiply(p, p->A, p->V, p->U);
  half13(p, p->b, p->V);
}

/* E = (V - U)^-1 (V + U). */
static NsStatus quotient(Expm *p, double *E) {
  NsLu *lu;
  NsStatus status = ns_lu_new(&lu, p->n);
  if (status) return status;
  for (size_t i = 0; i < p->size; i++) {
    E[i] = p->V[i] + p->U[i];
    p->V[i] -= p->U[i];
  }
  status = ns_lu_factor(lu, p->V, p->n);
  if (!status) ns_lu_solve(lu, p->n, E, p->n);
  ns_lu_free(lu);
  return status;
}

static NsStatus expm_in(Expm *p, double norm, double *E) {
  int squarings = 0, small = 0;
  while (small < 4 && norm > choice[small].norm) small++;
  if (small < 4) {
    pade_small(p, choice[small].degree);
  } else {
    if (norm > norm13) frexp(norm / norm13, &squarings);
    for (size_t i = 0; i < p->size; i++) p->A[i] = ldexp(p->A[i], -squarings);
    pade13(p);
  }
  NsStatus status = quotient(p, E);
  for (int k = 0; k < squarings && !status; k++) {
    expm_multiply(p, E, E, p->T);
    memcpy(E, p->T, p->size * sizeof *E);
  }
  if (status) return status;
  return ns_is_finite(p->n, p->n, E, p->n) ? NS_OK : NS_ETOOLARGE;
}

NsStatus ns_expm(int n, const double *A, int lda, double *E) {
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  double norm;
  NsStatus status = ns_norm(NS_NORM_1, n, n, A, lda, &norm);
  if (status) return status;
  if (isinf(norm)) return NS_ETOOLARGE;
  NsArena arena = {0};
  Expm p = {.n = n, .size = (size_t)n * (size_t)n};
  p.A = ns_arena_matrix(&arena, n, n);
  for (int k = 0; k < 5; k++) p.power[k] = ns_arena_matrix(&arena, n, n);
  p.U = ns_arena_matrix(&arena, n, n);
  p.V = ns_arena_matrix(&arena, n, n);
  p.T = ns_arena_matrix(&arena, n, n);
  status = NS_ENOMEM;
  if (!arena.failed) {
    ns_copy(n, n, A, lda, p.A, n);
    status = expm_in(&p, norm, E);
  }
  ns_arena_release(&arena);
  return status;
}
