/*
** bracket.c
** Brent's method: inverse quadratic interpolation and secant steps; bisection when they converge slowly.
*/
#include "ode/bracket.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MAX_STEPS = 200 };

/* b: the best point; c: the point on the other side of the root; a: the previous b; d, e: the last step and the one before. */
typedef struct Bracket {
  double a, fa, b, fb, c, fc, d, e;
} Bracket;

static void bracket_bisect(Bracket *s, double half) {
  s->d = s->e = half;
}

/* Chooses the next step: interpolation when it is short enough, otherwise bisection. */
static void choose_step(Bracket *s, double half, double least) {
  if (fabs(s->e) < least || fabs(s->fa) <= fabs(s->fb)) {
    bracket_bisect(s, half);
    return;
  }
  double r = s->fb / s->fa, p, q;
  if (s->a == s->c) {
    p = 2 * half * r;
    q = 1 - r;
  } else {
    double u = s->fa / s->fc, w = s->fb / s->fc;
    p = r * (2 * half * u * (u - w) - (s->b - s->a) * (w - 1));
    q = (u - 1) * (w - 1) * (r - 1);
  }
  if (p > 0) q = -q;
  p = fabs(p);
  if (2 * p < fmin(3 * half * q - fabs(least * q), fabs(s->e * q))) {
    s->e = s->d;
    s->d = p / q;
  } else {
    bracket_bisect(s, half);
  }
}

/* Restores the order: c on the other side of the root, b the better of the two. */
static void bracket_arrange(Bracket *s) {
  if ((s->fb > 0) == (s->fc > 0)) {
    s->c = s->a;
    s->fc = s->fa;
    s->d = s->e = s->b - s->a;
  }
  if (fabs(s->fc) < fabs(s->fb)) {
    s->a = s->b, s->fa = s->fb;
    s->b = s->c, s->fb = s->fc;
    s->c = s->a, s->fc = s->fa;
  }
}

NsStatus ns_bracket_root(NsScalarFunction f, void *context, double a, double fa, double b, double fb, double *root,
                         NsError *err) {
  if (isnan(fa) || isnan(fb)) return ns_fail(err, NS_ENAN, "a root is sought of a function that is nan");
  if (fb == 0) return *root = b, NS_OK;
  if (fa == 0) return *root = a, NS_OK;
  if ((fa > 0) == (fb > 0)) return ns_fail(err, NS_EARG, "a root is sought between values of the same sign");
  bool up = fb > 0;
  Bracket s = {a, fa, b, fb, a, fa, b - a, b - a};
  for (int i = 0; i < MAX_STEPS; i++) {
    bracket_arrange(&s);
    double least = 2 * DBL_EPSILON * fabs(s.b), half = (s.c - s.b) / 2;
    if (fabs(half) <= least || s.fb == 0) break;
    choose_step(&s, half, least);
    s.a = s.b;
    s.fa = s.fb;
    s.b += fabs(s.d) > least ? s.d : copysign(least, half);
    NsStatus status = f(context, s.b, &s.fb, err);
    if (status != NS_OK) return status;
    if (isnan(s.fb)) return ns_fail(err, NS_ENAN, "a root is sought of a function that is nan (at %.10g)", s.b);
  }
  *root = s.fb == 0 || (s.fb > 0) == up ? s.b : s.c;
  return NS_OK;
}
