/*
** heap_gradient.c
** Accelerated projected gradient steps for rows and contacts.
*/
/*
** With the shift s_i = sum mu_D |u_D,i| of each contact held, Nesterov's steps for the least z' W z / 2 + (q + s e_n)' z in the bounds and
** cones, each group with its own step length rho; a common factor is halved until the curvature allows it. Momentum is dropped when it points
** uphill. The shift is renewed when z moves twenty times slower than after the last renewal. W y is a combination of earlier products, so that
** a step has one product with W and no system or local problem to solve: it costs some 0.6 of a sweep, and is not held up by a matrix that
** is singular.
** Assumptions: for a symmetric positive semidefinite W the inner problem is convex; the fixed point iteration on s converges for small mu.
** Termination: the caller's count. Mazhar, Heyn, Negrut and Tasora, ACM Trans. Graphics 34, 2015; O'Donoghue and Candes, Found. Comput. Math. 15,
** 2015; Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011.
*/
#include "solvers/contact/heap_gradient.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "solvers/residual.h"

/*
** SETTLE_LEAST, SETTLE_MOST: least and largest number of steps with one shift. IDLE: shifts without progress that end the runs. HALVINGS: of
** the factor, in one step.
*/
enum { SETTLE_LEAST = 10, SETTLE_MOST = 60, IDLE = 40, HALVINGS = 40 };

/*
** slower: the way of a step, over that of the first one, at which the shift has settled. growth: of the factor, from step to step. fallen:
** the fall of the measure that counts as progress.
*/
static const double slower = 0.05, growth = 1.02, fallen = 0.7;

void ns_heap_gradient_release(NsHeapGradient *f) {
  ns_arena_release(&f->arena);
  *f = (NsHeapGradient){0};
}

NsStatus ns_heap_gradient_begin(NsHeapGradient *f, const NsMixedView *v, const double *z) {
  int n = v->p.n;
  if (n > f->capacity) {
    ns_heap_gradient_release(f);
    ptrdiff_t wanted = n + n / 2;
    NS_ARENA_VECTORS(&f->arena, wanted, &f->r, &f->wr, &f->y, &f->wy, &f->next, &f->wnext, &f->best, &f->w, &f->shift);
    if (f->arena.failed) return ns_heap_gradient_release(f), NS_ENOMEM;
    f->capacity = (int)wanted;
  }
  size_t bytes = (size_t)n * sizeof *z;
  memcpy(f->r, z, bytes);
  f->fresh = true;
  f->length = f->momentum = 1;
  f->least = f->fell = INFINITY;
  f->since = 0;
  return NS_OK;
}

bool ns_heap_gradient_stalled(const NsHeapGradient *f) {
  return f->since > IDLE;
}

/* next = P(y - length rho (wy + shift e_n)). Returns the part of the step that is uphill: the gradient times next - r. */
static double gradient_project(NsHeapGradient *f, const NsMixedView *v) {
  double uphill = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    double step = f->length * v->rho[g], *next = f->next + row, first = f->wy[row] + f->shift[g];
    for (int i = 0; i < group->dim; i++) next[i] = f->y[row + i] - step * (i == 0 ? first : f->wy[row + i]);
    if (group->cone) group->cone->project(group->cone, group->mu, next);
    else next[0] = ns_box_clamp(next[0], group->lower, group->upper);
    for (int i = 0; i < group->dim; i++) uphill += (i == 0 ? first : f->wy[row + i]) * (next[i] - f->r[row + i]);
  }
  return uphill;
}

/* Whether the curvature along next - y allows the factor. */
static bool gradient_allowed(const NsHeapGradient *f, const NsMixedView *v) {
  double curvature = 0, square = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = row; i < row + v->p.groups[g].dim; i++) {
      double d = f->next[i] - f->y[i];
      curvature += d * (f->wnext[i] - f->wy[i]);
      square += d * d / v->rho[g];
    }
  return curvature <= square / f->length;
}

/* The square of the way from r to next, in the units of z w. */
static double gradient_moved(const NsHeapGradient *f, const NsMixedView *v) {
  double sum = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = row; i < row + v->p.groups[g].dim; i++) sum += (f->next[i] - f->r[i]) * (f->next[i] - f->r[i]) / v->rho[g];
  return sum;
}

static void gradient_swap(double **a, double **b) {
  double *c = *a;
  *a = *b;
  *b = c;
}

/* A step from y. Returns the square of its way; *products grows by the number of products. */
static double gradient_step(NsHeapGradient *f, const NsHeapBlocks *heap, int *products) {
  const NsMixedView *v = heap->v;
  double uphill = 0;
  for (int k = 0; k < HALVINGS; k++) {
    uphill = gradient_project(f, v);
    ns_heap_product(heap, f->next, f->wnext);
    ++*products;
    if (gradient_allowed(f, v)) break;
    f->length /= 2;
  }
  if (uphill > 0) f->momentum = 1;
  double following = (1 + sqrt(1 + 4 * f->momentum * f->momentum)) / 2, weight = (f->momentum - 1) / following;
  double moved = gradient_moved(f, v);
  for (int i = 0; i < v->p.n; i++) {
    f->y[i] = f->next[i] + weight * (f->next[i] - f->r[i]);
    f->wy[i] = f->wnext[i] + weight * (f->wnext[i] - f->wr[i]);
  }
  gradient_swap(&f->r, &f->next);
  gradient_swap(&f->wr, &f->wnext);
  f->momentum = following;
  f->length *= growth;
  return moved;
}

static void gradient_renew(NsHeapGradient *f, const NsMixedView *v) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    f->shift[g] = group->cone ? ns_cone_slip(group->cone, group->mu, f->wr + row) : 0;
  }
}

/* The first step starts at r. */
static void gradient_start(NsHeapGradient *f, const NsHeapBlocks *heap) {
  size_t bytes = (size_t)heap->v->p.n * sizeof *f->r;
  ns_heap_product(heap, f->r, f->wr);
  memcpy(f->y, f->r, bytes);
  memcpy(f->wy, f->wr, bytes);
  memcpy(f->best, f->r, bytes);
  f->fresh = false;
}

int ns_heap_gradient_run(NsHeapGradient *f, const NsHeapBlocks *heap, int most, double *measure) {
  const NsMixedView *v = heap->v;
  double first = 0;
  int products = 0;
  if (f->fresh) gradient_start(f, heap), products++;
  gradient_renew(f, v);
  for (int k = 0; k < SETTLE_MOST && products < most; k++) {
    double moved = gradient_step(f, heap, &products);
    if (k == 0) first = moved;
    if (k >= SETTLE_LEAST && moved < slower * slower * first) break;
  }
  *measure = ns_mixed_measure(v, f->r, f->w);
  if (*measure < f->least) {
    f->least = *measure;
    memcpy(f->best, f->r, (size_t)v->p.n * sizeof *f->r);
  }
  if (*measure < fallen * f->fell) f->fell = *measure, f->since = 0;
  else f->since++;
  if (!(*measure < INFINITY)) f->since = IDLE + 1;
  return products;
}
