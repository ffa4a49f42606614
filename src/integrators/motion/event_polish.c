/*
** event_polish.c
** Makes impulses and forces with friction exact. The solver ends at the accuracy 1e-10; then it is known which contacts open, stick
** and slip, and their equations are linear, up to the directions of slip in space:
**   open    z = 0;
**   stick   w = W z + q = 0, normal and tangential; also a row within its bounds;
**   slip    w_n = 0, z_t = -mu z_n w_t / |w_t|.
** A least-squares correction of least norm makes them hold to rounding, also where the impulses are not unique. The answer stays as
** it was when the corrected one leaves its active set.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_problem.h"
#include "integrators/motion/motion_mode.h"
#include "linalg/qr.h"

/* A value that is 0 in the solution is below this part of its terms in the answer: 100 times the accuracy of the solver. */
static const double SMALL = 1e-8;

/* An equation that fails by less than this part of its terms is exact: 32 spacings. */
static const double EXACT = 32 * DBL_EPSILON;

/* Corrections at most. Slip in space takes several, as its direction comes from the last w. */
enum { POLISHES = 6 };

enum { SET_FIXED, SET_FREE, SET_OPEN, SET_STICKS, SET_SLIPS };

/* w of row i; *terms: the sum of its |terms|. */
static double polish_output(const NsMotionProblem *p, int i, double *terms) {
  double w = p->q[i];
  *terms = fabs(w);
  for (int j = 0; j < p->n; j++) {
    double term = p->W[i + (size_t)j * (size_t)p->n] * p->z[j];
    w += term;
    *terms += fabs(term);
  }
  return w;
}

/* The outputs w and the sum of all |terms| of a group that begins in row k. */
static double polish_outputs(const NsMotionProblem *p, const NsMixedGroup *group, int k, double *w) {
  double sum = 0, terms;
  for (int i = 0; i < group->dim; i++) w[i] = polish_output(p, k + i, &terms), sum = fmax(sum, terms);
  return sum;
}

static double polish_tangential(const NsMixedGroup *group, const double *x) {
  return group->dim > 2 ? ns_motion_length(x[1], x[2]) : fabs(x[1]);
}

/* The part of the active set that the answer of a group belongs to. */
static int polish_set_of(const NsMotionProblem *p, const NsMixedGroup *group, int k) {
  double w[3], terms = polish_outputs(p, group, k, w), own = p->W[k + (size_t)k * (size_t)p->n];
  const double *z = p->z + k;
  if (!group->cone) return z[0] > group->lower && z[0] < group->upper && fabs(w[0]) <= SMALL * terms ? SET_FREE : SET_FIXED;
  if (z[0] * own <= SMALL * terms) return SET_OPEN;
  return polish_tangential(group, w) <= SMALL * terms ? SET_STICKS : SET_SLIPS;
}

/* How far the equations of a group in its set are from 0, as part of their terms. */
static double polish_residual(const NsMotionProblem *p, const NsMixedGroup *group, int k, int set) {
  double w[3], terms = polish_outputs(p, group, k, w), own = p->W[k + (size_t)k * (size_t)p->n], off = 0;
  const double *z = p->z + k;
  if (set == SET_FIXED || !(terms > 0)) return 0;
  if (set == SET_OPEN) return fmax(fabs(z[0]), polish_tangential(group, z)) * own / terms;
  off = fabs(w[0]);
  if (set == SET_STICKS) off = fmax(off, polish_tangential(group, w));
  if (set == SET_SLIPS) {
    double speed = polish_tangential(group, w);
    for (int i = 1; i < group->dim; i++) off = fmax(off, fabs(z[i] + group->mu[0] * z[0] * w[i] / speed) * own);
  }
  return off / terms;
}

/* Whether the answer of a group obeys the inequalities of its set. */
static bool polish_keeps_set(const NsMotionProblem *p, const NsMixedGroup *group, int k, int set) {
  double w[3], terms = polish_outputs(p, group, k, w);
  const double *z = p->z + k;
  if (set == SET_FREE) return z[0] >= group->lower && z[0] <= group->upper;
  if (set == SET_OPEN) return w[0] >= -SMALL * terms;
  if (set == SET_FIXED) return true;
  return z[0] > 0 && (set == SET_SLIPS || polish_tangential(group, z) <= group->mu[0] * z[0] * (1 + SMALL));
}

static double polish_off(const NsMotionProblem *p, const signed char *sets) {
  double most = 0;
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim)
    most = fmax(most, polish_residual(p, &p->groups[g], k, sets[g]));
  return most;
}

/* One correction of p->z: the unknowns belong to the free rows; the friction of slip comes along with its normal. */
static bool polish_correct(NsMotionProblem *p, const signed char *sets) {
  const NsMotionPolish *own = &p->polish;
  int count = 0, rank;
  size_t rows = (size_t)p->n;
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    double w[3];
    (void)polish_outputs(p, group, k, w);
    for (int i = 0; i < group->dim && sets[g] == SET_OPEN; i++) p->z[k + i] = 0;
    for (int i = 1; i < group->dim && sets[g] == SET_SLIPS; i++)
      p->z[k + i] = -group->mu[0] * p->z[k] * w[i] / polish_tangential(group, w);
    int width = sets[g] == SET_STICKS ? group->dim : sets[g] == SET_FREE || sets[g] == SET_SLIPS ? 1 : 0;
    for (int i = 0; i < width; i++) own->unknown[count++] = k + i;
  }
  for (int a = 0; a < count; a++) {
    double terms;
    own->rhs[a] = -polish_output(p, own->unknown[a], &terms);
  }
  for (int g = 0, k = 0, b = 0; g < p->ngroups && b < count; k += p->groups[g++].dim)
    for (; b < count && own->unknown[b] < k + p->groups[g].dim; b++)
      for (int a = 0; a < count; a++) {
        const double *row = p->W + own->unknown[a];
        double sum = row[(size_t)own->unknown[b] * rows];
        for (int i = 1; i < p->groups[g].dim && sets[g] == SET_SLIPS && p->z[k] != 0; i++)
          sum += p->z[k + i] / p->z[k] * row[(size_t)(k + i) * rows];
        own->matrix[a + (size_t)b * (size_t)count] = sum;
      }
  if (count > 0 && ns_lstsq(count, count, 1, own->matrix, count, own->rhs, count, 1e-12, own->step, &rank, NULL) != NS_OK)
    return false;
  for (int g = 0, k = 0, b = 0; g < p->ngroups; k += p->groups[g++].dim)
    for (; b < count && own->unknown[b] < k + p->groups[g].dim; b++) {
      double before = p->z[own->unknown[b]];
      p->z[own->unknown[b]] += own->step[b];
      for (int i = 1; i < p->groups[g].dim && sets[g] == SET_SLIPS && before != 0; i++) p->z[k + i] *= p->z[k] / before;
    }
  return true;
}

void ns_motion_problem_polish(NsMotionProblem *p) {
  const NsMotionPolish *own = &p->polish;
  bool cones = false, good = true;
  for (int g = 0; g < p->ngroups; g++) cones = cones || p->groups[g].cone;
  if (!cones || p->n > NS_MIXED_DENSE_ROWS) return;
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim)
    own->sets[g] = (signed char)polish_set_of(p, &p->groups[g], k);
  double first = polish_off(p, own->sets), off = first;
  if (off <= EXACT) return;
  memcpy(own->before, p->z, (size_t)p->n * sizeof *p->z);
  for (int i = 0; i < POLISHES && good && off > EXACT; i++) {
    good = polish_correct(p, own->sets);
    off = good ? polish_off(p, own->sets) : INFINITY;
  }
  for (int g = 0, k = 0; g < p->ngroups && good; k += p->groups[g++].dim)
    good = polish_keeps_set(p, &p->groups[g], k, own->sets[g]);
  if (!good || !(off < first)) memcpy(p->z, own->before, (size_t)p->n * sizeof *p->z);
}
