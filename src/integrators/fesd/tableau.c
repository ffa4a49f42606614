/*
** tableau.c
** Nodes and coefficients of Radau IIA, Gauss and Lobatto IIIC.
*/
#include "integrators/fesd/tableau.h"

#include <math.h>

#define S NS_TABLEAU_STAGES

/* The numbers are computed in long double, so that their errors are below the rounding to double where that is wider. */
typedef long double Wide;

/* ---- nodes ---- */

/* Legendre polynomials P_n and P_{n-1} at x, and P_n' (not at x = -1 and 1). */
static Wide legendre(int n, Wide x, Wide *before, Wide *slope) {
  Wide p = 1, q = 0;
  for (int k = 1; k <= n; k++) {
    Wide r = ((2 * k - 1) * x * p - (k - 1) * q) / k;
    q = p;
    p = r;
  }
  *before = q;
  *slope = n * (q - x * p) / (1 - x * x);
  return p;
}

/*
** The polynomial on (-1, 1) whose roots are the inner nodes: P_s (Gauss), P_s - P_{s-1} (Radau, besides 1), P'_{s-1} (Lobatto,
** besides -1 and 1).
*/
static Wide node_polynomial(NsTableauKind kind, int s, Wide x) {
  Wide before, slope, p = legendre(s, x, &before, &slope);
  if (kind == NS_TABLEAU_GAUSS) return p;
  if (kind == NS_TABLEAU_RADAU_IIA) return (p - before) / (x - 1);
  legendre(s - 1, x, &before, &slope);
  return slope;
}

/* The root of the polynomial between a and b, where its signs differ: bisection to the spacing of numbers. */
static Wide node_between(NsTableauKind kind, int s, Wide a, Wide b) {
  bool rising = node_polynomial(kind, s, a) < 0;
  for (int i = 0; i < 80; i++) {
    Wide x = (a + b) / 2, p = node_polynomial(kind, s, x);
    if ((p < 0) == rising) a = x;
    else b = x;
  }
  return (a + b) / 2;
}

/* Finds `count` roots in (-1, 1) by the changes of sign on a fine grid (the roots are at least 0.3 apart). */
static void inner_nodes(NsTableauKind kind, int s, int count, Wide *c) {
  enum { PARTS = 97 };
  const Wide edge = 1 - 1e-9L;
  int found = 0;
  Wide a = -edge;
  for (int k = 1; k <= PARTS && found < count; k++) {
    Wide b = -edge + 2 * edge * k / PARTS;
    if ((node_polynomial(kind, s, a) < 0) != (node_polynomial(kind, s, b) < 0))
      c[found++] = (1 + node_between(kind, s, a, b)) / 2;
    a = b;
  }
}

static void find_nodes(NsTableauKind kind, int s, Wide *c) {
  bool lobatto = kind == NS_TABLEAU_LOBATTO_IIIC;
  int inner = kind == NS_TABLEAU_GAUSS ? s : lobatto ? s - 2 : s - 1;
  if (lobatto) c[0] = 0;
  inner_nodes(kind, s, inner, c + (lobatto ? 1 : 0));
  if (kind != NS_TABLEAU_GAUSS) c[s - 1] = 1;
}

/* ---- coefficients ---- */

/* w (n) with sum_j w_j node_j^(k-1) = to^k / k for k = 1 .. n: the integral from 0 to `to` of polynomials of degree below n. */
static void quadrature(int n, const Wide *node, Wide to, Wide *w) {
  for (int j = 0; j < n; j++) {
    Wide p[S + 1] = {1}, scale = 1, sum = 0, power = to;
    int degree = 0;
    for (int k = 0; k < n; k++) { /* p = product over k of (x - node_k): the Lagrange polynomial of node j, times scale */
      if (k == j) continue;
      for (int i = ++degree; i > 0; i--) p[i] = p[i - 1] - node[k] * p[i];
      p[0] *= -node[k];
      scale *= node[j] - node[k];
    }
    for (int i = 0; i < n; i++, power *= to) sum += p[i] * power / (i + 1);
    w[j] = sum / scale;
  }
}

/* X = A^-1 by Gauss-Jordan elimination with row exchanges; A (s x s) is destroyed. */
static void invert_stages(int s, Wide A[S][S], Wide X[S][S]) {
  for (int i = 0; i < s; i++)
    for (int j = 0; j < s; j++) X[i][j] = i == j;
  for (int k = 0; k < s; k++) {
    int best = k;
    for (int i = k + 1; i < s; i++)
      if (fabsl(A[i][k]) > fabsl(A[best][k])) best = i;
    for (int j = 0; j < s; j++) {
      Wide a = A[k][j], x = X[k][j];
      A[k][j] = A[best][j], A[best][j] = a;
      X[k][j] = X[best][j], X[best][j] = x;
    }
    Wide pivot = A[k][k];
    for (int j = 0; j < s; j++) A[k][j] /= pivot, X[k][j] /= pivot;
    for (int i = 0; i < s; i++) {
      Wide factor = A[i][k];
      for (int j = 0; i != k && j < s; j++) A[i][j] -= factor * A[k][j], X[i][j] -= factor * X[k][j];
    }
  }
}

/* Row i of A of Lobatto IIIC: a_i1 = b_1, and the other entries integrate polynomials of degree below s - 1. */
static void lobatto_row(int s, const Wide *c, const Wide *b, int i, Wide *row) {
  Wide rest[S], first = b[0];
  quadrature(s - 1, c + 1, c[i], rest);
  /* a_i1 = b_1 takes its part of each moment: subtract its interpolation by the other nodes. */
  row[0] = first;
  for (int j = 1; j < s; j++) {
    Wide l = 1; /* Lagrange polynomial of node j among c_2 .. c_s, at c_1 = 0 */
    for (int k = 1; k < s; k++)
      if (k != j) l *= (c[0] - c[k]) / (c[j] - c[k]);
    row[j] = rest[j - 1] - first * l;
  }
}

NsStatus ns_tableau_make(NsTableau *t, NsTableauKind kind, int s) {
  static const int short_of[NS_TABLEAU_KINDS] = {1, 0, 2};
  Wide c[S], b[S], A[S][S], W[S][S];
  if (s < 1 || s > S || (kind == NS_TABLEAU_LOBATTO_IIIC && s < 2)) return NS_EARG;
  *t = (NsTableau){.kind = kind, .s = s, .order = 2 * s - short_of[kind]};
  t->stiff = kind != NS_TABLEAU_GAUSS;
  t->early = kind == NS_TABLEAU_LOBATTO_IIIC;
  find_nodes(kind, s, c);
  quadrature(s, c, 1, b);
  for (int i = 0; i < s; i++) {
    if (kind == NS_TABLEAU_LOBATTO_IIIC) lobatto_row(s, c, b, i, A[i]);
    else quadrature(s, c, c[i], A[i]);
  }
  for (int i = 0; i < s; i++) {
    t->c[i] = (double)c[i];
    t->b[i] = (double)b[i];
    for (int j = 0; j < s; j++) t->A[i + j * S] = (double)A[i][j];
  }
  invert_stages(s, A, W);
  for (int j = 0; j < s; j++) {
    Wide d = 0;
    for (int i = 0; i < s; i++) t->W[i + j * S] = (double)W[i][j], d += b[i] * W[i][j];
    t->d[j] = t->stiff ? j == s - 1 : (double)d;
  }
  return NS_OK;
}

void ns_tableau_weights(int n, const double *node, double x, double *weight) {
  for (int j = 0; j < n; j++) {
    weight[j] = 1;
    for (int k = 0; k < n; k++)
      if (k != j) weight[j] *= (x - node[k]) / (node[j] - node[k]);
  }
}
