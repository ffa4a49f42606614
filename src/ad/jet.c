/*
** jet.c
** The terms with second and third derivatives in an operation on jets.
*/
#include "ad/jet.h"

int ns_jet_size(NsJet jet) {
  int m = jet.variables;
  switch (jet.kind) {
    case NS_JET_SLOPES: return m;
    case NS_JET_LINE: return 2;
    case NS_JET_TWIST: return 2 + 3 * m;
    case NS_JET_BOWL: break;
  }
  return m + m * (m + 1) / 2;
}

int ns_jet_pair(NsJet jet, int i, int j) {
  return jet.variables + j * (j + 1) / 2 + i;
}

NsJet ns_jet_of(NsJetKind kind, int size) {
  NsJet jet = {kind, size};
  if (kind == NS_JET_LINE) jet.variables = 0;
  if (kind == NS_JET_TWIST) jet.variables = (size - 2) / 3;
  if (kind == NS_JET_BOWL)
    for (jet.variables = 0; ns_jet_size(jet) < size;) jet.variables++;
  return jet;
}

/* c a b; 0 if a factor is 0, even if another is infinite or nan. */
static double term(double c, double a, double b) {
  return c == 0 || a == 0 || b == 0 ? 0 : c * a * b;
}

/* The second derivative in the directions (ax, ay) and (bx, by). */
static double jet_second(const NsCurve *c, double ax, double ay, double bx, double by) {
  return term(c->xx, ax, bx) + term(c->xy, ax, by) + term(c->xy, ay, bx) + term(c->yy, ay, by);
}

/* The third derivative in the directions (ax, ay), (bx, by) and (bx, by). */
static double third(const NsTwist *t, double ax, double ay, double bx, double by) {
  double by_x = term(t->xxx, bx, bx) + 2 * term(t->xxy, bx, by) + term(t->xyy, by, by);
  double by_y = term(t->xxy, bx, bx) + 2 * term(t->xyy, bx, by) + term(t->yyy, by, by);
  return term(by_x, ax, 1) + term(by_y, ay, 1);
}

static const double nothing[3];

static void add_twist(int m, double *out, NsBend bend, double vx, double vy, const double *x, const double *y) {
  const double *lx = x ? x : nothing, *ly = y ? y : nothing;
  NsCurve c = bend(vx, vy);
  NsTwist t = {0, 0, 0, 0};
  if (lx[0] != 0 || ly[0] != 0) t = ns_curve_twist(bend, vx, vy);
  out[1] += jet_second(&c, lx[0], ly[0], lx[0], ly[0]);
  for (int k = 2; k < 2 + 3 * m; k += 3) {
    const double *a = x ? x + k : nothing, *b = y ? y + k : nothing;
    out[k + 1] += jet_second(&c, a[0], b[0], lx[0], ly[0]);
    out[k + 2] += third(&t, a[0], b[0], lx[0], ly[0]) + 2 * jet_second(&c, a[1], b[1], lx[0], ly[0]) +
                  jet_second(&c, a[0], b[0], lx[1], ly[1]);
  }
}

static void add_bowl(int m, double *out, NsBend bend, double vx, double vy, const double *x, const double *y) {
  NsCurve c = bend(vx, vy);
  double *to = out + m;
  for (int j = 0; j < m; j++)
    for (int i = 0; i <= j; i++) *to++ += jet_second(&c, x ? x[i] : 0, y ? y[i] : 0, x ? x[j] : 0, y ? y[j] : 0);
}

void ns_jet_add(NsJet jet, double *out, NsBend bend, double vx, double vy, const double *x, const double *y) {
  if (!bend || (!x && !y)) return;
  switch (jet.kind) {
    case NS_JET_SLOPES: break;
    case NS_JET_LINE: ns_jet_bend(out, bend, vx, vy, x, y); break;
    case NS_JET_TWIST: add_twist(jet.variables, out, bend, vx, vy, x, y); break;
    case NS_JET_BOWL: add_bowl(jet.variables, out, bend, vx, vy, x, y); break;
  }
}
