/*
** mixed_newton.c
** Semismooth Newton for rows and contacts together.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/contact/mixed_methods.h"
#include "solvers/residual.h"

enum { HALVINGS = 7, MEMORY = 3, PATIENCE = 3 };

/*
** A measure that needs no more steps, and one that is given up at the first step that does not help; what is added to
** W, in its own units, so that redundant contacts have a step.
*/
static const double exact = 4e-16, settled = 1e-14, proximal[] = {1e-10, 1e-6, 1e-3, 1e-1, 1};

void ns_mixed_newton_release(NsMixedNewton *newton) {
  ns_lu_free(newton->lu);
  ns_mixed_system_release(&newton->system);
  ns_arena_release(&newton->arena);
  *newton = (NsMixedNewton){0};
}

static bool is_sparse(const NsMixedProblem *p) {
  return p->sparse && p->n > NS_MIXED_DENSE_ROWS;
}

/* Vectors and blocks for a sparse problem. */
static NsStatus reserve_sparse(NsMixedNewton *newton, int n) {
  if (n <= newton->sparse_capacity) return NS_OK;
  ns_mixed_newton_release(newton);
  ptrdiff_t wanted = n + n / 2;
  double **vectors[] = {&newton->F, &newton->point, &newton->candidate, &newton->best, &newton->w, &newton->at};
  for (int k = 0; k < 6; k++) *vectors[k] = ns_arena_doubles(&newton->arena, wanted);
  newton->A = ns_arena_doubles(&newton->arena, 9 * wanted);
  newton->B = ns_arena_doubles(&newton->arena, 9 * wanted);
  if (newton->arena.failed) return ns_mixed_newton_release(newton), NS_ENOMEM;
  newton->sparse_capacity = (int)wanted;
  return NS_OK;
}

static NsStatus mixed_newton_reserve(NsMixedNewton *newton, int n) {
  if (n <= newton->capacity) return NS_OK;
  ns_mixed_newton_release(newton);
  NsStatus status = ns_lu_new(&newton->lu, n);
  ptrdiff_t order = n;
  newton->J = ns_arena_matrix(&newton->arena, order, order);
  double **vectors[] = {&newton->F, &newton->point, &newton->candidate, &newton->best, &newton->w, &newton->at};
  for (int k = 0; k < 6; k++) *vectors[k] = ns_arena_doubles(&newton->arena, order);
  if (!status && newton->arena.failed) status = NS_ENOMEM;
  if (status) ns_mixed_newton_release(newton);
  else newton->capacity = n;
  return status;
}

/* Of one group: the map F (dim), the slope D (dim x dim) of the projection, the projected point. */
typedef struct Piece {
  double F[3], D[9], point[3];
} Piece;

static void row_piece(const NsMixedGroup *group, double rho, double z, double w, Piece *out) {
  double moved = z - rho * w;
  bool inside = moved > group->lower && moved < group->upper;
  out->point[0] = ns_box_clamp(inside ? z : moved, group->lower, group->upper);
  out->F[0] = inside ? rho * w : z - out->point[0];
  out->D[0] = inside;
}

/* The tangents of a closed contact, the disc of radius mu normal; x is r_T - rho u_T. */
static void tangent_piece(int dim, double mu, double normal, const double *x, Piece *out) {
  double length = dim == 2 ? fabs(x[0]) : sqrt(x[0] * x[0] + x[1] * x[1]), radius = mu * normal;
  if (length < radius || (length == radius && mu > 0)) {
    for (int i = 1; i < dim; i++) out->point[i] = x[i - 1], out->D[i + i * dim] = 1;
    return;
  }
  double part = length > 0 ? radius / length : 0;
  for (int i = 1; i < dim; i++) {
    double along = length > 0 ? x[i - 1] / length : 0;
    out->point[i] = part * x[i - 1];
    out->D[i] = mu * along;
    for (int j = 1; j < dim && dim > 2; j++)
      out->D[i + j * dim] = part * ((i == j) - (length > 0 ? along * x[j - 1] / length : 0));
  }
}

static void contact_piece(const NsMixedGroup *group, double rho, const double *r, const double *u, Piece *out) {
  int dim = group->dim;
  double x[3], normal = r[0] - rho * u[0];
  *out = (Piece){{0}, {0}, {0}};
  for (int i = 0; i < dim; i++) x[i] = r[i] - rho * u[i];
  if (normal > 0) {
    out->D[0] = 1;
    out->point[0] = normal;
    tangent_piece(dim, group->mu, normal, x + 1, out);
  }
  for (int i = 0; i < dim; i++) out->F[i] = r[i] - out->point[i];
}

static void piece(const NsMixedView *v, int g, int row, const double *z, const double *w, Piece *out) {
  const NsMixedGroup *group = &v->p.groups[g];
  if (group->dim == 1) row_piece(group, v->rho[g], z[row], w[row], out);
  else contact_piece(group, v->rho[g], z + row, w + row, out);
}

/* F at z, where w = W z + q; returns the sum of F^2 / rho, in the units of z w. */
static double map(const NsMixedView *v, const double *z, const double *w, double *F) {
  double sum = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    Piece s;
    piece(v, g, row, z, w, &s);
    for (int i = 0; i < v->p.groups[g].dim; i++) {
      if (F) F[row + i] = s.F[i];
      sum += s.F[i] * s.F[i] / v->rho[g];
    }
  }
  return sum;
}

/* J = I - (1 - delta) D + rho D W, padded with the identity to the leading dimension ld. */
static void mixed_newton_jacobian(const NsMixedView *v, const double *z, const double *w, double delta, size_t ld, double *J) {
  size_t n = (size_t)v->p.n;
  memset(J, 0, ld * ld * sizeof *J);
  for (size_t k = n; k < ld; k++) J[k + k * ld] = 1;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    Piece s;
    int dim = v->p.groups[g].dim;
    piece(v, g, row, z, w, &s);
    for (size_t j = 0; j < n; j++) {
      const double *W = v->p.W + (size_t)row + j * n;
      double *to = J + (size_t)row + j * ld;
      for (int k = 0; k < dim; k++)
        for (int i = 0; i < dim && W[k] != 0; i++) to[i] += v->rho[g] * s.D[i + k * dim] * W[k];
    }
    for (int j = 0; j < dim; j++)
      for (int i = 0; i < dim; i++) J[(size_t)(row + i) + (size_t)(row + j) * ld] += (i == j) - (1 - delta) * s.D[i + j * dim];
  }
}

/* The same by groups, for the sparse system: A = rho D, B = I - (1 - delta) D. */
static void blocks(const NsMixedView *v, const double *z, const double *w, double delta, double *A, double *B) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    Piece s;
    int dim = v->p.groups[g].dim;
    piece(v, g, row, z, w, &s);
    for (int k = 0; k < dim * dim; k++) {
      A[9 * (size_t)g + (size_t)k] = v->rho[g] * s.D[k];
      B[9 * (size_t)g + (size_t)k] = (k % (dim + 1) == 0) - (1 - delta) * s.D[k];
    }
  }
}

/* The point that the modes at z say: rows at their bounds, contacts open or in their cones. */
static void snap(const NsMixedView *v, const double *z, const double *w, double *to) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    Piece s;
    int dim = group->dim;
    piece(v, g, row, z, w, &s);
    if (dim == 1) {
      to[row] = s.point[0];
      continue;
    }
    bool closed = s.point[0] > 0 && z[row] > 0, sticks = closed && s.D[dim + 1] == 1 && s.D[1] == 0;
    double slip = dim == 2 ? fabs(s.point[1]) : sqrt(s.point[1] * s.point[1] + s.point[2] * s.point[2]);
    to[row] = closed ? z[row] : 0;
    for (int i = 1; i < dim; i++)
      to[row + i] = sticks ? z[row + i] : closed && slip > 0 ? group->mu * z[row] * s.point[i] / slip : 0;
  }
}

/* Measures the snapped point and keeps the best; whether it has become much better. */
static bool mixed_newton_judge(NsMixedNewton *newton, const NsMixedView *v, const double *w, double *least, double *w_best) {
  snap(v, newton->point, w, newton->candidate);
  double measure = ns_mixed_measure(v, newton->candidate, newton->w);
  bool better = measure < 0.5 * *least;
  if (measure < *least) {
    *least = measure;
    memcpy(newton->best, newton->candidate, (size_t)v->p.n * sizeof *newton->best);
    memcpy(w_best, newton->w, (size_t)v->p.n * sizeof *w_best);
  }
  return better;
}

/* The step -J^-1 F into newton->F. */
static NsStatus sparse_direction(NsMixedNewton *newton, const NsMixedView *v, const double *w, double delta) {
  map(v, newton->point, w, newton->F);
  for (int i = 0; i < v->p.n; i++) newton->F[i] = -newton->F[i];
  blocks(v, newton->point, w, delta, newton->A, newton->B);
  NsStatus status = ns_mixed_system_factor(&newton->system, &v->p, newton->A, newton->B);
  if (!status) ns_mixed_system_solve(&newton->system, v->p.n, newton->F);
  return status;
}

static NsStatus mixed_newton_direction(NsMixedNewton *newton, const NsMixedView *v, const double *w, double delta) {
  if (is_sparse(&v->p)) return sparse_direction(newton, v, w, delta);
  NsLu *lu = newton->lu;
  int order = v->p.n;
  ns_lu_set_order(lu, order);
  map(v, newton->point, w, newton->F);
  for (int i = 0; i < order; i++) newton->F[i] = i < v->p.n ? -newton->F[i] : 0;
  mixed_newton_jacobian(v, newton->point, w, delta, (size_t)order, newton->J);
  NsStatus status = ns_lu_factor(lu, newton->J, order);
  if (!status) ns_lu_solve(lu, 1, newton->F, order);
  return status;
}

/* Moves newton->point along the step until the map is below `bound`; w belongs to the point. False: not at all. */
static bool mixed_newton_search(NsMixedNewton *newton, const NsMixedView *v, double bound, double *w, double *merit) {
  double length = 1;
  for (int k = 0; k < HALVINGS; k++, length *= 0.5) {
    for (int i = 0; i < v->p.n; i++) newton->candidate[i] = newton->point[i] + length * newton->F[i];
    ns_mixed_product(&v->p, newton->candidate, newton->w);
    double now = map(v, newton->candidate, newton->w, NULL);
    if (!(now < bound)) continue;
    memcpy(newton->point, newton->candidate, (size_t)v->p.n * sizeof *w);
    memcpy(w, newton->w, (size_t)v->p.n * sizeof *w);
    *merit = now;
    return true;
  }
  return false;
}

static double mixed_newton_largest_of(const double *recent) {
  return ns_larger(recent[0], ns_larger(recent[1], recent[2]));
}

/* Steps from newton->point, w its output; NS_OK when no better point is to be had and the measure is good. */
static NsStatus mixed_newton_iterate(NsMixedNewton *newton, const NsMixedView *v, int steps, double *w, double *w_best,
                                     double *least, int *done) {
  double merit = map(v, newton->point, w, NULL), recent[MEMORY] = {merit, merit, merit};
  size_t delta = 0;
  int idle = 0;
  for (*done = 0; *done < steps; ++*done) {
    if (ns_interrupted()) return NS_EINTR;
    NsStatus status = mixed_newton_direction(newton, v, w, proximal[delta]);
    if (status && status != NS_ESINGULAR) return NS_ENOCONV;
    if (status || !mixed_newton_search(newton, v, 0.9999 * mixed_newton_largest_of(recent), w, &merit)) {
      if (*least <= v->tolerance) return NS_OK;
      if (++delta == sizeof proximal / sizeof *proximal) return NS_ENOCONV;
      continue;
    }
    if (delta > 0 && merit < 0.1 * mixed_newton_largest_of(recent)) delta--;
    recent[*done % MEMORY] = merit;
    idle = mixed_newton_judge(newton, v, w, least, w_best) ? 0 : idle + 1;
    bool good = *least <= v->tolerance && (v->early || idle >= PATIENCE);
    if (*least <= exact || (*least <= settled && idle > 0) || good) return ++*done, NS_OK;
  }
  return *least <= v->tolerance ? NS_OK : NS_EMAXITER;
}

NsStatus ns_mixed_newton(NsMixedNewton *newton, const NsMixedView *v, int steps, double *z, double *w, NsSolverInfo *info) {
  size_t bytes = (size_t)v->p.n * sizeof *z;
  double least = INFINITY;
  NsStatus status = is_sparse(&v->p) ? reserve_sparse(newton, v->p.n) : mixed_newton_reserve(newton, v->p.n);
  if (!status && is_sparse(&v->p)) status = ns_mixed_system_begin(&newton->system, &v->p);
  if (status) return status;
  memcpy(newton->point, z, bytes);
  memcpy(newton->best, z, bytes);
  ns_mixed_product(&v->p, z, newton->at);
  memcpy(w, newton->at, bytes);
  mixed_newton_judge(newton, v, newton->at, &least, w);
  info->iterations = 0;
  if (!(least <= (v->early ? v->tolerance : exact)))
    status = mixed_newton_iterate(newton, v, steps, newton->at, w, &least, &info->iterations);
  memcpy(z, newton->best, bytes);
  info->solver = "newton";
  info->warm = status == NS_OK && info->iterations <= 1;
  return info->status = status;
}
