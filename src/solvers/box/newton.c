/*
** newton.c
** Semismooth Newton; the two functions differ only in the value and derivatives of one component.
*/
#include "solvers/box/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "linalg/dense.h"
#include "solvers/box/box_search.h"
#include "solvers/residual.h"

typedef enum BoxFunction { NS_NEWTON_MIN, NS_NEWTON_FB } BoxFunction;

/* Vectors for problems of up to nmax variables. */
typedef struct BoxNewton {
  double *F, *d, *e, *w, *step, *w_step, *trial, *w_trial, *gradient, *z;
} BoxNewton;

/*
** MEMORY: number of last merit values whose largest is the reference of the line search (Grippo, Lampariello and Lucidi).
** HALVINGS: of a step, until 2^-40 of it is left.
*/
enum { MEMORY = 5, HALVINGS = 40 };

/* accuracy: largest |F| over the largest rho |q| at which Newton stops. 1e-12: the active set is then solved directly. */
static const double accuracy = 1e-12;

/* The value of one component's function and its derivatives with respect to z_i and w_i, both >= 0. */
typedef struct Component {
  double value, by_z, by_w;
} Component;

static Component natural(double z, double w, double l, double u, double rho) {
  double x = z - rho * w;
  if (x <= l) return (Component){z - l, 1, 0};
  if (x >= u) return (Component){z - u, 1, 0};
  return (Component){rho * w, 0, rho};
}

/* a + b - sqrt(a^2 + b^2); at the kink a = b = 0 the derivatives along the diagonal. */
static Component box_newton_fischer(double a, double b) {
  double r = hypot(a, b), c = 1 - 0.70710678118654752;
  if (r == 0) return (Component){0, c, c};
  return (Component){a > 0 || b > 0 ? (a > 0 && b > 0 ? 2 * a * b / (a + b + r) : a + b - r) : a + b - r, 1 - a / r, 1 - b / r};
}

static Component burmeister(double z, double w, double l, double u, double rho) {
  double y = rho * w;
  if (l == -INFINITY && u == INFINITY) return (Component){y, 0, rho};
  if (u == INFINITY) {
    Component c = box_newton_fischer(z - l, y);
    return (Component){c.value, c.by_z, c.by_w * rho};
  }
  Component up = box_newton_fischer(u - z, -y);
  Component inner = {-up.value, up.by_z, up.by_w * rho};
  if (l == -INFINITY) return inner;
  Component c = box_newton_fischer(z - l, inner.value);
  return (Component){c.value, c.by_z + c.by_w * inner.by_z, c.by_w * inner.by_w};
}

/* s->F = F at z, w, with d and e if wanted. Returns |F|^2 / 2; *largest: the max norm. */
static double box_newton_evaluate(BoxNewton *s, const NsBoxMap *map, BoxFunction function, const double *z, const double *w,
                                  bool derivatives, double *largest) {
  double sum = 0;
  *largest = 0;
  for (int i = 0; i < map->n; i++) {
    double l = map->lower[i], u = map->upper[i], rho = map->rho[i];
    Component c = function == NS_NEWTON_MIN || l == u ? natural(z[i], w[i], l, u, rho) : burmeister(z[i], w[i], l, u, rho);
    sum += c.value * c.value;
    *largest = ns_larger(*largest, fabs(c.value));
    if (!derivatives) continue;
    s->F[i] = c.value;
    s->d[i] = c.by_z;
    s->e[i] = c.by_w;
  }
  return sum / 2;
}

/* Factors diag(d) + diag(e) M; adds more and more to d while this is singular. */
static NsStatus box_newton_factor(BoxNewton *s, const NsBoxMap *map, double largest) {
  NsStatus status = map->factor(map->self, s->d, s->e);
  double added = 0, wanted = ns_smaller(1e-3, 1e-3 * largest) + 1e-12;
  for (int k = 0; k < 4 && status == NS_ESINGULAR; k++, wanted *= 100) {
    for (int i = 0; i < map->n; i++) s->d[i] += wanted - added;
    added = wanted;
    status = map->factor(map->self, s->d, s->e);
  }
  return status;
}

/* gradient = (diag(d) + M' diag(e)) F, with the derivatives before regularisation. */
static void compute_gradient(BoxNewton *s, const NsBoxMap *map) {
  for (int i = 0; i < map->n; i++) s->trial[i] = s->e[i] * s->F[i];
  map->product_transposed(map->self, s->trial, s->gradient);
  for (int i = 0; i < map->n; i++) s->gradient[i] += s->d[i] * s->F[i];
}

static double slope_along(const BoxNewton *s, int n) {
  double slope = 0;
  for (int i = 0; i < n; i++) slope += s->gradient[i] * s->step[i];
  return slope;
}

/* Moves z along the step as far as the Armijo rule allows. False: no length is allowed. */
static bool box_newton_search(BoxNewton *s, const NsBoxMap *map, BoxFunction function, double allowed, double slope,
                              double *z) {
  double t = 1, largest;
  int n = map->n;
  map->product(map->self, s->step, s->w_step);
  for (int k = 0; k < HALVINGS; k++, t /= 2) {
    for (int i = 0; i < n; i++) {
      s->trial[i] = z[i] + t * s->step[i];
      s->w_trial[i] = s->w[i] + t * s->w_step[i];
    }
    double merit = box_newton_evaluate(s, map, function, s->trial, s->w_trial, false, &largest);
    if (!(merit <= allowed + 1e-4 * t * slope)) continue;
    memcpy(z, s->trial, (size_t)n * sizeof *z);
    return true;
  }
  return false;
}

static double box_newton_largest_of(const double *x) {
  double most = x[0];
  for (int i = 1; i < MEMORY; i++) most = ns_larger(most, x[i]);
  return most;
}

/* One step from z with F, d, e in s: the Newton step, else steepest descent. */
static NsStatus box_newton_advance(BoxNewton *s, const NsBoxMap *map, BoxFunction function, double merit, double allowed,
                                   double largest, double *z) {
  int n = map->n;
  compute_gradient(s, map);
  NsStatus status = box_newton_factor(s, map, largest);
  if (status == NS_OK) {
    for (int i = 0; i < n; i++) s->step[i] = -s->F[i];
    map->solve(map->self, s->step);
    double slope = slope_along(s, n);
    if (ns_is_finite(n, 1, s->step, n) && slope < 0 && box_newton_search(s, map, function, allowed, slope, z)) return NS_OK;
  }
  for (int i = 0; i < n; i++) s->step[i] = -s->gradient[i];
  double slope = slope_along(s, n);
  if (!(slope < -1e-14 * merit)) return status ? status : NS_ENOCONV;
  for (int i = 0; i < n; i++) s->step[i] *= 2 * merit / -slope;
  return box_newton_search(s, map, function, merit, -2 * merit, z) ? NS_OK : NS_ENOCONV;
}

/*
** Solves F(z) = 0 from z (n), which becomes the last iterate. F_i is z_i - proj(z_i - rho_i w_i), or the Fischer-Burmeister
** function of z_i - l_i and rho_i w_i, nested for two bounds (Billups 1995). A step uses an element diag(d) + diag(e) M of the
** generalised Jacobian, regularised where it is singular, or the negative gradient where that step is no descent direction.
** The line search is Armijo's on |F|^2 / 2, relative to the largest of its last values. NS_OK: max norm |F| <= tolerance;
** NS_EMAXITER; NS_ENOCONV: no descent; NS_ESINGULAR; NS_ENAN; NS_EINTR. De Luca, Facchinei and Kanzow, A semismooth equation
** approach to the solution of nonlinear complementarity problems, Math. Program. 75, 1996; Grippo, Lampariello and Lucidi,
** SIAM J. Numer. Anal. 23, 1986.
*/
static NsStatus newton_solve(BoxNewton *s, const NsBoxMap *map, BoxFunction function, double tolerance, int max_iterations,
                             double *z, int *iterations) {
  double merits[MEMORY] = {0}, largest;
  for (*iterations = 0;; ++*iterations) {
    map->product(map->self, z, s->w);
    for (int i = 0; i < map->n; i++) s->w[i] += map->q[i];
    double merit = box_newton_evaluate(s, map, function, z, s->w, true, &largest);
    if (!(merit <= DBL_MAX)) return NS_ENAN;
    if (largest <= tolerance) return NS_OK;
    if (*iterations >= max_iterations) return NS_EMAXITER;
    if (ns_interrupted()) return NS_EINTR;
    merits[*iterations % MEMORY] = merit;
    NsStatus status = box_newton_advance(s, map, function, merit, box_newton_largest_of(merits), largest, z);
    if (status) return status;
  }
}

/* ---- the method ---- */

static NsStatus newton_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  BoxNewton *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  NS_ARENA_VECTORS(s->arena, s->nmax, &m->F, &m->d, &m->e, &m->w, &m->step, &m->w_step, &m->trial, &m->w_trial, &m->gradient,
                   &m->z);
  return NS_OK;
}

static NsOutcome newton_run(BoxNewton *m, NsBoxSearch *s, BoxFunction function, const char *name) {
  NsOutcome out = {NS_ENOCONV, false, 0, name};
  const NsBoxMap *map = s->map(s);
  double size = 0;
  s->start(s, m->z);
  for (int i = 0; i < map->n; i++) size = ns_larger(size, map->rho[i] * fabs(map->q[i]));
  out.status = newton_solve(m, map, function, accuracy * (size > 0 ? size : 1), ns_box_limit(s, s->limit), m->z,
                            &out.iterations);
  out.status = s->finish(s, m->z, out.status);
  return out;
}

static NsOutcome newton_min_run(void *work, NsSearch *search, int mode) {
  (void)mode;
  return newton_run(work, (NsBoxSearch *)search, NS_NEWTON_MIN, ns_box_newton_min.name);
}

static NsOutcome newton_fb_run(void *work, NsSearch *search, int mode) {
  (void)mode;
  return newton_run(work, (NsBoxSearch *)search, NS_NEWTON_FB, ns_box_newton_fb.name);
}

/* Newton on either function from the guess, then the active set at its end. For dense and sparse M. */
const NsMethod ns_box_newton_min = {
    .name = "newton_min", .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .reserve = newton_reserve, .run = newton_min_run};
const NsMethod ns_box_newton_fb = {
    .name = "newton_fb", .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .reserve = newton_reserve, .run = newton_fb_run};
