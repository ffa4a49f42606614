/*
** heap_path.c
** Heaps by the path of the solutions while the term that holds forces fades.
*/
/*
** The term t / rho (z - centre) in w of each contact makes W regular. For a large t there is one answer, near the centre, and Newton's method finds
** it. As t falls the answer moves along a path. Where friction is large the path may turn back: t has a least value there, with no answer below it
** nearby, and Newton's method and sweeps stall, whatever the centre and the weight of the term. Further on the path turns again, and goes on to
** t = 0 unless forces grow without bound. So log t is an unknown like the forces, and what is given is the length of a step: it goes along the
** direction of the path, and Newton's method, with the equations of mixed_newton.c, goes across this direction back to the path.
** Where a contact opens, slips or sticks the path has a corner, and may turn back there. The sign of the determinant tells where it goes on:
** (d log t / ds) det J has one sign all along. When a step fails, bisection finds the first corner ahead, and the step begins there, in the direction
** that the path has behind it.
** Assumptions: as mixed_newton.h. Rows have no term.
** Termination: the measure is within tolerance; or steps have become too short; or t has grown far beyond its first value; or the caller's count.
** Allgower and Georg, Introduction to Numerical Continuation Methods, SIAM, 2003; for corners Eaves, Math. Programming 3, 1972.
*/
#include "solvers/contact/heap_path.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/mixed_system.h"
#include "solvers/residual.h"

/*
** START_STEPS: most steps of Newton to the first point. STEPS: most across the path; PATIENCE: those after which each must halve the square of the map.
** GREAT, QUICK, SLOW: where they are at most so many the next step is four times, or twice, as long; where they are more, half as long. BISECTIONS: to
** a corner.
*/
enum { START_STEPS = 20, STEPS = 8, PATIENCE = 4, GREAT = 2, QUICK = 3, SLOW = 5, BISECTIONS = 30 };

/*
** first_weight, last_weight: t where the path begins, and far beyond. way_weight: what the square of log t counts, beside that of the forces over those
** at the centre. first_length, least_length: of a step, in these units; shorter: the part that is tried after a failure. longest: change of log t in
** a step. far: Newton's way across the path, over the length of the step, at which a step fails: half of it doubles the work. exactly: the square of
** the map at a point of the path. row_extra: in place of t, for rows. nearly: the part of a step to which a corner is found.
*/
static const double first_weight = 1e-2, last_weight = 1, way_weight = 1e-4, first_length = 0.05, least_length = 1e-9,
                    shorter = 0.25, longest = 2, far = 4, exactly = 1e-20, row_extra = 1e-10, nearly = 1e-3;

/* A point of the path, or the direction of one: z, and log t. */
typedef struct PathPoint {
  double *z, t;
} PathPoint;

struct NsHeapPath {
  NsArena arena;
  int capacity, most; /* allocated: rows, rows of a group */
  NsMixedSystem system;
  double *A, *B; /* blocks of the system */
  double *centre, *best, *w;
  double *F, *step, *drift;   /* the map; -J^-1 F; -J^-1 dF / d log t */
  PathPoint at, along;        /* the last point of the path, and its direction there */
  PathPoint trial, ahead;     /* likewise those of a step */
  PathPoint corner, beyond;   /* a point behind the next corner, and the direction of the path there */
  int *mode;                  /* of each group, at `at` */
  double unit, length, least; /* the square of the forces at the centre; the length of the next step; the least measure */
  int orientation;            /* the sign of (d log t / ds) det J */
  bool begun;                 /* `at` is a point of the path */
};

NsStatus ns_heap_path_new(NsHeapPath **out) {
  return (*out = ns_alloc(1, sizeof **out)) ? NS_OK : NS_ENOMEM;
}

void ns_heap_path_free(NsHeapPath *s) {
  if (!s) return;
  ns_mixed_system_release(&s->system);
  ns_arena_release(&s->arena);
  ns_free(s);
}

static NsStatus heap_path_room(NsHeapPath *s, int n, int most) {
  if (n <= s->capacity && most <= s->most) return NS_OK;
  ns_arena_release(&s->arena);
  s->capacity = 0;
  ptrdiff_t wanted = n + n / 2;
  NS_ARENA_VECTORS(&s->arena, wanted, &s->centre, &s->best, &s->w, &s->F, &s->step, &s->drift);
  NS_ARENA_VECTORS(&s->arena, wanted, &s->at.z, &s->along.z, &s->trial.z, &s->ahead.z, &s->corner.z, &s->beyond.z);
  NS_ARENA_VECTORS(&s->arena, most * most * wanted, &s->A, &s->B);
  s->mode = ns_arena_ints(&s->arena, wanted);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = (int)wanted, s->most = most;
  return NS_OK;
}

/* ---- points ---- */

/* The product of two changes of forces. */
static double path_forces(const NsHeapPath *s, const NsMixedView *v, const double *a, const double *b) {
  double sum = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = row; i < row + v->p.groups[g].dim; i++) sum += a[i] * b[i] / v->rho[g];
  return sum / s->unit;
}

static double path_product(const NsHeapPath *s, const NsMixedView *v, PathPoint a, PathPoint b) {
  return path_forces(s, v, a.z, b.z) + way_weight * a.t * b.t;
}

/* to = from + length direction */
static void path_move(int n, PathPoint from, double length, PathPoint direction, PathPoint *to) {
  for (int i = 0; i < n; i++) to->z[i] = from.z[i] + length * direction.z[i];
  to->t = from.t + length * direction.t;
}

/* s->w = W z + q with the term. */
static void path_output(NsHeapPath *s, const NsMixedView *v, PathPoint at) {
  double t = exp(at.t);
  ns_mixed_product(&v->p, at.z, s->w);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = row; v->p.groups[g].cone && i < row + v->p.groups[g].dim; i++)
      s->w[i] += t / v->rho[g] * (at.z[i] - s->centre[i]);
}

static void path_piece(const NsMixedView *v, int g, const double *z, const double *w, NsConePiece *out) {
  const NsMixedGroup *group = &v->p.groups[g];
  if (group->cone) {
    ns_cone_piece(group->cone, group->mu, v->rho[g], z, w, out);
  } else {
    double moved = z[0] - v->rho[g] * w[0];
    out->D[0] = moved > group->lower && moved < group->upper;
    out->F[0] = z[0] - ns_box_clamp(moved, group->lower, group->upper);
  }
}

/* The mode of a group: 0, or the closed discs' modes, a bit for each that slips. */
static int path_mode(const NsMixedGroup *group, const NsConePiece *piece) {
  int mode = piece->D[0] != 0;
  for (int k = 0; group->cone && mode && k < group->cone->discs; k++) {
    int from = group->cone->first[k];
    if (piece->D[from] != 0 || piece->D[from * (group->dim + 1)] != 1) mode |= 2 << k;
  }
  return mode;
}

/* Whether a group has another mode at a point than in s->mode; `keep`: its mode there becomes s->mode. */
static bool path_changes(NsHeapPath *s, const NsMixedView *v, PathPoint at, bool keep) {
  bool any = false;
  path_output(s, v, at);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    NsConePiece piece;
    path_piece(v, g, at.z + row, s->w + row, &piece);
    int mode = path_mode(&v->p.groups[g], &piece);
    any = any || mode != s->mode[g];
    if (keep) s->mode[g] = mode;
  }
  return any;
}

/* ---- steps ---- */

/* The map, the blocks of its derivative, and s->drift = -dF / d log t. Returns the square of the map. */
static double path_form(NsHeapPath *s, const NsMixedView *v, PathPoint at) {
  size_t stride = (size_t)(v->kinds.most * v->kinds.most);
  path_output(s, v, at);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    NsConePiece piece;
    int dim = v->p.groups[g].dim;
    bool holds = v->p.groups[g].cone;
    double t = holds ? exp(at.t) : row_extra, *A = s->A + stride * (size_t)g, *B = s->B + stride * (size_t)g;
    path_piece(v, g, at.z + row, s->w + row, &piece);
    for (int k = 0; k < dim * dim; k++) {
      A[k] = v->rho[g] * piece.D[k];
      B[k] = (k % (dim + 1) == 0) - (1 - t) * piece.D[k];
    }
    for (int i = 0; i < dim; i++) {
      s->F[row + i] = piece.F[i];
      s->drift[row + i] = 0;
      for (int k = 0; holds && k < dim; k++)
        s->drift[row + i] -= t * piece.D[i + k * dim] * (at.z[row + k] - s->centre[row + k]);
    }
  }
  return path_forces(s, v, s->F, s->F);
}

/* After path_form: s->drift = -J^-1 dF / d log t, s->step = -J^-1 F. NS_ENOCONV: J is singular. */
static NsStatus path_factor(NsHeapPath *s, const NsMixedView *v, NsSolverInfo *info) {
  if (ns_interrupted()) return NS_EINTR;
  info->iterations++;
  NsStatus status = ns_mixed_system_factor(&s->system, &v->p, v->kinds.most * v->kinds.most, s->A, s->B);
  for (int i = 0; i < v->p.n; i++) s->step[i] = -s->F[i];
  if (!status) status = ns_mixed_system_solve(&s->system, v->p.n, s->step);
  if (!status) status = ns_mixed_system_solve(&s->system, v->p.n, s->drift);
  return status == NS_ESINGULAR || status == NS_ENAN ? NS_ENOCONV : status;
}

/* The direction of the path by the last factors. */
static void path_direction(const NsHeapPath *s, const NsMixedView *v, PathPoint *to) {
  double norm = sqrt(path_forces(s, v, s->drift, s->drift) + way_weight);
  to->t = s->orientation * ns_mixed_system_sign(&s->system) / norm;
  for (int i = 0; i < v->p.n; i++) to->z[i] = to->t * s->drift[i];
}

/* Moves s->trial by a step of Newton across a direction. Returns the length of the step. */
static double path_cross(NsHeapPath *s, const NsMixedView *v, PathPoint direction) {
  double along = path_forces(s, v, direction.z, s->drift) + way_weight * direction.t;
  PathPoint step = {s->step, -path_forces(s, v, direction.z, s->step) / along};
  for (int i = 0; i < v->p.n; i++) step.z[i] += step.t * s->drift[i];
  path_move(v->p.n, s->trial, 1, step, &s->trial);
  return sqrt(path_product(s, v, step, step));
}

/*
** A step of s->length from a point in a direction, and across it back to the path: to s->trial, where s->ahead is the direction of the path.
** NS_ENOCONV: it is too long. *steps: those of Newton.
*/
static NsStatus path_step(NsHeapPath *s, const NsMixedView *v, PathPoint from, PathPoint direction, int *steps,
                          NsSolverInfo *info) {
  double way = 0, last = INFINITY;
  path_move(v->p.n, from, s->length, direction, &s->trial);
  for (*steps = 0; *steps < STEPS; ++*steps) {
    double square = path_form(s, v, s->trial);
    if (*steps > PATIENCE && square > exactly && square > 0.5 * last) return NS_ENOCONV;
    NsStatus status = path_factor(s, v, info);
    if (status) return status;
    if (square < exactly) {
      path_direction(s, v, &s->ahead);
      return path_product(s, v, s->ahead, direction) > 0 ? NS_OK : NS_ENOCONV; /* else it went back */
    }
    last = square;
    way += path_cross(s, v, direction);
    if (!(way <= far * s->length)) return NS_ENOCONV;
  }
  return NS_ENOCONV;
}

/* Finds s->corner, behind the first corner within s->length, and s->beyond. NS_ENOCONV: there is none. */
static NsStatus path_corner(NsHeapPath *s, const NsMixedView *v, NsSolverInfo *info) {
  double low = 0, high = s->length;
  path_changes(s, v, s->at, true);
  path_move(v->p.n, s->at, high, s->along, &s->corner);
  if (!path_changes(s, v, s->corner, false)) return NS_ENOCONV;
  for (int k = 0; k < BISECTIONS && (low == 0 || high - low > nearly * high); k++) {
    double middle = 0.5 * (low + high);
    path_move(v->p.n, s->at, middle, s->along, &s->corner);
    if (path_changes(s, v, s->corner, false)) high = middle;
    else low = middle;
  }
  path_move(v->p.n, s->at, high, s->along, &s->corner);
  path_form(s, v, s->corner);
  NsStatus status = path_factor(s, v, info);
  if (!status) path_direction(s, v, &s->beyond);
  return status;
}

static void path_swap(PathPoint *a, PathPoint *b) {
  PathPoint kept = *a;
  *a = *b;
  *b = kept;
}

/* A step of s->length along the path, or from the first corner when that fails. NS_ENOCONV: it is too long. */
static NsStatus path_try(NsHeapPath *s, const NsMixedView *v, int *steps, NsSolverInfo *info) {
  NsStatus status = path_step(s, v, s->at, s->along, steps, info);
  if (status != NS_ENOCONV) return status;
  status = path_corner(s, v, info);
  return status ? status : path_step(s, v, s->corner, s->beyond, steps, info);
}

/* Goes to the next point of the path. NS_ENOCONV: none is found. */
static NsStatus path_advance(NsHeapPath *s, const NsMixedView *v, NsSolverInfo *info) {
  for (; s->length > least_length; s->length *= shorter) {
    int steps;
    s->length = ns_smaller(s->length, longest / fabs(s->along.t));
    NsStatus status = path_try(s, v, &steps, info);
    if (status == NS_ENOCONV) continue;
    if (status) return status;
    path_swap(&s->at, &s->trial);
    path_swap(&s->along, &s->ahead);
    s->length *= steps <= GREAT ? 4 : steps <= QUICK ? 2 : steps <= SLOW ? 1 : 0.5;
    return NS_OK;
  }
  return NS_ENOCONV;
}

/* Newton's method from the centre to the first point. */
static NsStatus path_enter(NsHeapPath *s, const NsMixedView *v, NsSolverInfo *info) {
  for (int k = 0; k < START_STEPS; k++) {
    double square = path_form(s, v, s->at);
    NsStatus status = path_factor(s, v, info);
    if (status) return status;
    if (square < exactly) {
      s->orientation = -ns_mixed_system_sign(&s->system);
      path_direction(s, v, &s->along);
      s->begun = true;
      return NS_OK;
    }
    for (int i = 0; i < v->p.n; i++) s->at.z[i] += s->step[i];
  }
  return NS_ENOCONV;
}

NsStatus ns_heap_path_begin(NsHeapPath *s, const NsMixedView *v, const double *z) {
  size_t bytes = (size_t)v->p.n * sizeof *z;
  NsStatus status = heap_path_room(s, v->p.n, v->kinds.most);
  if (!status) status = ns_mixed_system_begin(&s->system, &v->p);
  if (status) return status;
  memcpy(s->centre, z, bytes);
  memcpy(s->at.z, z, bytes);
  memcpy(s->best, z, bytes);
  s->unit = 1;
  double forces = path_forces(s, v, z, z);
  s->unit = forces > 0 ? forces : 1;
  s->at.t = log(first_weight);
  s->length = first_length;
  s->least = ns_mixed_measure(v, z, s->w);
  s->begun = false;
  return NS_OK;
}

NsStatus ns_heap_path_continue(NsHeapPath *s, const NsMixedView *v, int most, double *z, double *w, double *measure,
                               NsSolverInfo *info) {
  size_t bytes = (size_t)v->p.n * sizeof *z;
  NsStatus status = NS_OK;
  info->solver = "newton";
  info->iterations = 0;
  while (!status && s->least > v->tolerance) {
    status = info->iterations >= most ? NS_EMAXITER : s->begun ? path_advance(s, v, info) : path_enter(s, v, info);
    if (status) break;
    double now = ns_mixed_measure(v, s->at.z, w);
    if (now < s->least) s->least = now, memcpy(s->best, s->at.z, bytes);
    if (s->at.t > log(last_weight)) status = NS_ENOCONV;
  }
  if (status == NS_EINTR || status == NS_ENOMEM) return status;
  memcpy(z, s->best, bytes);
  *measure = ns_mixed_measure(v, z, w);
  return status;
}
