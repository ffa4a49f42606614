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

#include "integrators/event_driven/event_driven.h"
#include "linalg/qr.h"

/* A value that is 0 in the solution is below this part of its terms in the answer: 100 times the accuracy of the solver. */
static const double SMALL = 1e-8;

/* An equation that fails by less than this part of its terms is exact: 32 spacings. */
static const double EXACT = 32 * DBL_EPSILON;

/* Corrections at most. Slip in space takes several, as its direction is that of the last w. */
enum { POLISHES = 6 };

enum { SET_FIXED, SET_FREE, SET_OPEN, SET_STICKS, SET_SLIPS };

/* w of row i; *terms: the sum of its |terms|. */
static double polish_output(const NsEventDriven *ed, int n, int i, double *terms) {
  double w = ed->q_part[i];
  *terms = fabs(w);
  for (int j = 0; j < n; j++) {
    double term = ed->W[i + (size_t)j * (size_t)n] * ed->z[j];
    w += term;
    *terms += fabs(term);
  }
  return w;
}

/* The outputs w and the sum of all |terms| of a group that begins in row k. */
static double polish_outputs(const NsEventDriven *ed, int n, const NsMixedGroup *group, int k, double *w) {
  double sum = 0, terms;
  for (int i = 0; i < group->dim; i++) w[i] = polish_output(ed, n, k + i, &terms), sum = fmax(sum, terms);
  return sum;
}

static double polish_tangential(const NsMixedGroup *group, const double *x) {
  return group->dim == 2 ? fabs(x[1]) : ns_ed_length(x[1], x[2]);
}

/* The part of the active set that the answer of a group belongs to. */
static int polish_set_of(const NsEventDriven *ed, int n, const NsMixedGroup *group, int k) {
  double w[3], terms = polish_outputs(ed, n, group, k, w), own = ed->W[k + (size_t)k * (size_t)n];
  const double *z = ed->z + k;
  if (group->dim == 1) return z[0] > group->lower && z[0] < group->upper && fabs(w[0]) <= SMALL * terms ? SET_FREE : SET_FIXED;
  if (z[0] * own <= SMALL * terms) return SET_OPEN;
  return polish_tangential(group, w) <= SMALL * terms ? SET_STICKS : SET_SLIPS;
}

/* How far the equations of a group in its set are from 0, as part of their terms. */
static double polish_residual(const NsEventDriven *ed, int n, const NsMixedGroup *group, int k, int set) {
  double w[3], terms = polish_outputs(ed, n, group, k, w), own = ed->W[k + (size_t)k * (size_t)n], off = 0;
  const double *z = ed->z + k;
  if (set == SET_FIXED || !(terms > 0)) return 0;
  if (set == SET_OPEN) return fmax(fabs(z[0]), polish_tangential(group, z)) * own / terms;
  off = fabs(w[0]);
  if (set == SET_STICKS) off = fmax(off, polish_tangential(group, w));
  if (set == SET_SLIPS) {
    double speed = polish_tangential(group, w);
    for (int i = 1; i < group->dim; i++) off = fmax(off, fabs(z[i] + group->mu * z[0] * w[i] / speed) * own);
  }
  return off / terms;
}

/* Whether the answer of a group obeys the inequalities of its set. */
static bool polish_keeps_set(const NsEventDriven *ed, int n, const NsMixedGroup *group, int k, int set) {
  double w[3], terms = polish_outputs(ed, n, group, k, w);
  const double *z = ed->z + k;
  if (set == SET_FREE) return z[0] >= group->lower && z[0] <= group->upper;
  if (set == SET_OPEN) return w[0] >= -SMALL * terms;
  if (set == SET_FIXED) return true;
  return z[0] > 0 && (set == SET_SLIPS || polish_tangential(group, z) <= group->mu * z[0] * (1 + SMALL));
}

static double polish_off(const NsEventDriven *ed, int n, const signed char *sets) {
  double most = 0;
  for (int g = 0, k = 0; g < ed->ngroups; k += ed->groups[g++].dim)
    most = fmax(most, polish_residual(ed, n, &ed->groups[g], k, sets[g]));
  return most;
}

/* One correction of ed->z: the unknowns are those of the free rows; the friction of slip comes along with its normal. */
static bool polish_correct(NsEventDriven *ed, int n, const signed char *sets) {
  int count = 0, rank;
  size_t rows = (size_t)n;
  for (int g = 0, k = 0; g < ed->ngroups; k += ed->groups[g++].dim) {
    const NsMixedGroup *group = &ed->groups[g];
    double w[3];
    (void)polish_outputs(ed, n, group, k, w);
    for (int i = 0; i < group->dim && sets[g] == SET_OPEN; i++) ed->z[k + i] = 0;
    for (int i = 1; i < group->dim && sets[g] == SET_SLIPS; i++)
      ed->z[k + i] = -group->mu * ed->z[k] * w[i] / polish_tangential(group, w);
    int width = sets[g] == SET_STICKS ? group->dim : sets[g] == SET_FREE || sets[g] == SET_SLIPS ? 1 : 0;
    for (int i = 0; i < width; i++) ed->unknown[count++] = k + i;
  }
  for (int a = 0; a < count; a++) {
    double terms;
    ed->part_rhs[a] = -polish_output(ed, n, ed->unknown[a], &terms);
  }
  for (int g = 0, k = 0, b = 0; g < ed->ngroups && b < count; k += ed->groups[g++].dim)
    for (; b < count && ed->unknown[b] < k + ed->groups[g].dim; b++)
      for (int a = 0; a < count; a++) {
        const double *row = ed->W + ed->unknown[a];
        double sum = row[(size_t)ed->unknown[b] * rows];
        for (int i = 1; i < ed->groups[g].dim && sets[g] == SET_SLIPS && ed->z[k] != 0; i++)
          sum += ed->z[k + i] / ed->z[k] * row[(size_t)(k + i) * rows];
        ed->part_matrix[a + (size_t)b * (size_t)count] = sum;
      }
  if (count > 0 &&
      ns_lstsq(count, count, 1, ed->part_matrix, count, ed->part_rhs, count, 1e-12, ed->part, &rank, NULL) != NS_OK)
    return false;
  for (int g = 0, k = 0, b = 0; g < ed->ngroups; k += ed->groups[g++].dim)
    for (; b < count && ed->unknown[b] < k + ed->groups[g].dim; b++) {
      double before = ed->z[ed->unknown[b]];
      ed->z[ed->unknown[b]] += ed->part[b];
      for (int i = 1; i < ed->groups[g].dim && sets[g] == SET_SLIPS && before != 0; i++) ed->z[k + i] *= ed->z[k] / before;
    }
  return true;
}

void ns_ed_polish(NsEventDriven *ed, int n) {
  bool cones = false, good = true;
  for (int g = 0; g < ed->ngroups; g++) cones = cones || ed->groups[g].dim > 1;
  if (!cones || n > NS_MIXED_DENSE_ROWS) return;
  for (int g = 0, k = 0; g < ed->ngroups; k += ed->groups[g++].dim)
    ed->sets[g] = (signed char)polish_set_of(ed, n, &ed->groups[g], k);
  double first = polish_off(ed, n, ed->sets), off = first;
  if (off <= EXACT) return;
  memcpy(ed->part_before, ed->z, (size_t)n * sizeof *ed->z);
  for (int i = 0; i < POLISHES && good && off > EXACT; i++) {
    good = polish_correct(ed, n, ed->sets);
    off = good ? polish_off(ed, n, ed->sets) : INFINITY;
  }
  for (int g = 0, k = 0; g < ed->ngroups && good; k += ed->groups[g++].dim)
    good = polish_keeps_set(ed, n, &ed->groups[g], k, ed->sets[g]);
  if (!good || !(off < first)) memcpy(ed->z, ed->part_before, (size_t)n * sizeof *ed->z);
}
