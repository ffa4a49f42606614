/*
** scalar.c
** Finds a sign change outwards from a point, and narrows it.
*/
#include "solvers/box/scalar.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/*
** DOUBLINGS: of the step outwards, to 2^100 times the first. RETREATS: halvings of a step to a point where f has no value.
** NARROWINGS: of the interval, by interpolation or bisection.
*/
enum { DOUBLINGS = 100, RETREATS = 30, NARROWINGS = 400 };

/* first_step: first step over the size of the start or the distance of the bounds. 1e-3: small, to find near roots first. */
static const double first_step = 1e-3;

typedef struct Point {
  double z, f;
} Point;

typedef enum Found { FOUND_NOTHING, FOUND_BOUND, FOUND_SIGN, FOUND_STOP } Found;

/* Moves *a outwards while f keeps its sign, to the bound or to *b of the other sign; halves the step where f has no value. */
static Found scalar_search(const NsScalarProblem *p, bool up, Point *a, Point *b) {
  double bound = up ? p->upper : p->lower;
  double step = first_step * fmin(1 + fabs(a->z), p->upper - p->lower);
  for (int k = 0, retreats = 0; k < DOUBLINGS && retreats < RETREATS; k++) {
    if (a->z == bound) return FOUND_BOUND;
    b->z = up ? fmin(a->z + step, bound) : fmax(a->z - step, bound);
    int code = p->value(p->context, b->z, &b->f);
    if (code < 0) return FOUND_STOP;
    if (code > 0) {
      step /= 4;
      retreats++;
      continue;
    }
    if ((b->f > 0) != (a->f > 0)) return FOUND_SIGN;
    *a = *b;
    step *= 2;
  }
  return FOUND_NOTHING;
}

/* The next point between a (the newest) and b, as a fraction of the interval; c: the point before. */
static double next_part(Point a, Point b, Point c) {
  double xi = (a.z - b.z) / (c.z - b.z), phi = (a.f - b.f) / (c.f - b.f);
  if (!(phi * phi < xi && (1 - phi) * (1 - phi) < 1 - xi)) return 0.5;
  double t = a.f / (b.f - a.f) * (c.f / (b.f - c.f)) + (c.z - a.z) / (b.z - a.z) * (a.f / (c.f - a.f)) * (b.f / (c.f - b.f));
  return isfinite(t) ? t : 0.5;
}

/* Narrows [a, b], which contains a sign change; *z = the end with the smaller |f|. */
static NsStatus narrow(const NsScalarProblem *p, Point a, Point b, double *z) {
  double t = 0.5;
  for (int k = 0; k < NARROWINGS; k++) {
    Point m = {a.z + t * (b.z - a.z), 0}, c;
    int code = p->value(p->context, m.z, &m.f);
    if (code) return code < 0 ? NS_ECALLBACK : NS_ENOCONV;
    bool same = (m.f > 0) == (a.f > 0);
    c = same ? a : b;
    if (!same) b = a;
    a = m;
    *z = fabs(a.f) < fabs(b.f) ? a.z : b.z;
    double least = (2 * DBL_EPSILON * fabs(*z) + DBL_MIN) / fabs(b.z - a.z);
    if (a.f == 0 || b.f == 0 || least > 0.5) break;
    t = fmin(fmax(next_part(a, b, c), least), 1 - least);
  }
  return NS_OK;
}

NsStatus ns_scalar_solve(const NsScalarProblem *p, double z0, double *z) {
  Point start = {z0, 0}, a, b;
  *z = z0;
  int code = p->value(p->context, z0, &start.f);
  if (code) return code < 0 ? NS_ECALLBACK : NS_ENOCONV;
  if (start.f == 0) return NS_OK;
  a = start;
  Found found = scalar_search(p, start.f < 0, &a, &b);
  *z = a.z;
  if (found == FOUND_BOUND) return NS_OK;
  if (found == FOUND_NOTHING) {
    a = start;
    found = scalar_search(p, start.f > 0, &a, &b);
  }
  if (found == FOUND_STOP) return NS_ECALLBACK;
  return found == FOUND_SIGN ? narrow(p, a, b, z) : NS_ENOCONV;
}
