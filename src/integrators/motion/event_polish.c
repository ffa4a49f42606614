/*
** event_polish.c
** Makes impulses and forces with friction exact. The solver ends at the accuracy 1e-10; then it is known which contacts open, stick
** and slip, and their equations are linear, up to the directions of slip in space:
**   open    z = 0;
**   stick   w = W z + q = 0, normal and tangential; also a row within its bounds;
**   slip    w_n = 0, z_t = -mu z_n w_t / |w_t|.
** Each disc of a contact, of its slip or of its rolling, sticks or slips apart from the others.
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

/* Of a group, at its first row; of each disc of a closed contact, at the first row of the disc. */
enum { SET_FIXED, SET_FREE, SET_OPEN, SET_CLOSED, SET_STICKS, SET_SLIPS };

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

/* w of a group; the sums of its |terms|: of a row, or of a normal with its first disc, which have one unit; of each further disc. */
typedef struct PolishOutputs {
  double w[NS_CONE_MOST], terms[NS_CONE_DISCS];
} PolishOutputs;

/* The disc whose unit row i of a group has: a normal and a row have that of the first one. */
static int polish_disc_of(const NsMixedGroup *group, int i) {
  int d = 0;
  while (group->cone && d + 1 < group->cone->discs && i >= group->cone->first[d + 1]) d++;
  return d;
}

static PolishOutputs polish_outputs(const NsMotionProblem *p, const NsMixedGroup *group, int k) {
  PolishOutputs out = {.terms = {0}};
  for (int i = 0; i < group->dim; i++) {
    int d = polish_disc_of(group, i);
    double terms;
    out.w[i] = polish_output(p, k + i, &terms);
    out.terms[d] = fmax(out.terms[d], terms);
  }
  return out;
}

/* The number of discs of a group; the length of x, of a contact, in its disc d. */
static int polish_discs(const NsMixedGroup *group) {
  return group->cone ? group->cone->discs : 0;
}

static double polish_length(const NsMixedGroup *group, int d, const double *x) {
  const int *first = group->cone->first + d;
  return first[1] - first[0] > 1 ? ns_motion_length(x[first[0]], x[first[0] + 1]) : fabs(x[first[0]]);
}

/* The element of W that turns forces of a disc into terms of w: of the first disc the normal's. */
static double polish_own(const NsMotionProblem *p, const NsMixedGroup *group, int d, int k) {
  const int *first = group->cone->first + d;
  int row = d > 0 ? k + *first : k;
  return p->W[row + (size_t)row * (size_t)p->n];
}

/* Finds the parts of the active set that the answer of a group belongs to. */
static void polish_find_sets(const NsMotionProblem *p, const NsMixedGroup *group, int k, signed char *sets) {
  PolishOutputs out = polish_outputs(p, group, k);
  const double *z = p->z + k;
  bool within = !group->cone && z[0] > group->lower && z[0] < group->upper && fabs(out.w[0]) <= SMALL * out.terms[0];
  bool open = group->cone && z[0] * polish_own(p, group, 0, k) <= SMALL * out.terms[0];
  sets[k] = group->cone ? (open ? SET_OPEN : SET_CLOSED) : within ? SET_FREE : SET_FIXED;
  for (int d = 0; d < polish_discs(group); d++)
    sets[k + group->cone->first[d]] = polish_length(group, d, out.w) <= SMALL * out.terms[d] ? SET_STICKS : SET_SLIPS;
}

/* How far the equations of disc d are from 0, as part of their terms. */
static double polish_residual_of_disc(const NsMotionProblem *p, const NsMixedGroup *group, int d, int k,
                                      const PolishOutputs *out, const signed char *sets) {
  const double *z = p->z + k;
  double own = polish_own(p, group, d, k), speed = polish_length(group, d, out->w), off = 0;
  if (!(out->terms[d] > 0)) return 0;
  if (sets[k] == SET_OPEN) return polish_length(group, d, z) * own / out->terms[d];
  if (sets[k + group->cone->first[d]] == SET_STICKS) return speed / out->terms[d];
  for (int i = group->cone->first[d]; i < group->cone->first[d + 1]; i++)
    off = fmax(off, fabs(z[i] + group->mu[d] * z[0] * out->w[i] / speed) * own);
  return off / out->terms[d];
}

/* How far the equations of a group in its sets are from 0, as part of their terms. */
static double polish_residual(const NsMotionProblem *p, const NsMixedGroup *group, int k, const signed char *sets) {
  PolishOutputs out = polish_outputs(p, group, k);
  double off = sets[k] == SET_OPEN ? fabs(p->z[k]) * polish_own(p, group, 0, k) : fabs(out.w[0]);
  if (sets[k] == SET_FIXED || !(out.terms[0] > 0)) return 0;
  off /= out.terms[0];
  for (int d = 0; d < polish_discs(group); d++) off = fmax(off, polish_residual_of_disc(p, group, d, k, &out, sets));
  return off;
}

/* Whether the answer of a group obeys the inequalities of its sets. */
static bool polish_keeps_sets(const NsMotionProblem *p, const NsMixedGroup *group, int k, const signed char *sets) {
  PolishOutputs out = polish_outputs(p, group, k);
  const double *z = p->z + k;
  if (sets[k] == SET_FREE) return z[0] >= group->lower && z[0] <= group->upper;
  if (sets[k] == SET_OPEN) return out.w[0] >= -SMALL * out.terms[0];
  if (sets[k] == SET_FIXED) return true;
  bool keeps = z[0] > 0;
  for (int d = 0; d < polish_discs(group); d++)
    keeps = keeps &&
            (sets[k + group->cone->first[d]] == SET_SLIPS || polish_length(group, d, z) <= group->mu[d] * z[0] * (1 + SMALL));
  return keeps;
}

static double polish_off(const NsMotionProblem *p, const signed char *sets) {
  double most = 0;
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim) most = fmax(most, polish_residual(p, &p->groups[g], k, sets));
  return most;
}

/* Whether row i of a group that begins in row k is friction that slips. */
static bool polish_slips(const NsMixedGroup *group, int k, int i, const signed char *sets) {
  if (!group->cone || i == 0 || sets[k] != SET_CLOSED) return false;
  return sets[k + group->cone->first[polish_disc_of(group, i)]] == SET_SLIPS;
}

/* Gives the forces of a group that follow from others: none of an open contact, of slip mu times the normal's. Lists the unknowns. */
static void polish_prepare(NsMotionProblem *p, const NsMixedGroup *group, int k, const signed char *sets, int *count) {
  PolishOutputs out = polish_outputs(p, group, k);
  for (int i = 0; i < group->dim && sets[k] == SET_OPEN; i++) p->z[k + i] = 0;
  for (int d = 0; d < polish_discs(group); d++)
    for (int i = group->cone->first[d]; i < group->cone->first[d + 1] && polish_slips(group, k, i, sets); i++)
      p->z[k + i] = -group->mu[d] * p->z[k] * out.w[i] / polish_length(group, d, out.w);
  for (int i = 0; i < group->dim && (sets[k] == SET_FREE || sets[k] == SET_CLOSED); i++)
    if (!polish_slips(group, k, i, sets)) p->polish.unknown[(*count)++] = k + i;
}

/* One correction of p->z: the unknowns belong to the free rows; the friction of slip comes along with its normal. */
static bool polish_correct(NsMotionProblem *p, const signed char *sets) {
  const NsMotionPolish *own = &p->polish;
  int count = 0, rank;
  size_t rows = (size_t)p->n;
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim) polish_prepare(p, &p->groups[g], k, sets, &count);
  for (int a = 0; a < count; a++) {
    double terms;
    own->rhs[a] = -polish_output(p, own->unknown[a], &terms);
  }
  for (int g = 0, k = 0, b = 0; g < p->ngroups && b < count; k += p->groups[g++].dim)
    for (; b < count && own->unknown[b] < k + p->groups[g].dim; b++)
      for (int a = 0; a < count; a++) {
        const double *row = p->W + own->unknown[a];
        double sum = row[(size_t)own->unknown[b] * rows];
        for (int i = 1; i < p->groups[g].dim && own->unknown[b] == k && p->z[k] != 0; i++)
          if (polish_slips(&p->groups[g], k, i, sets)) sum += p->z[k + i] / p->z[k] * row[(size_t)(k + i) * rows];
        own->matrix[a + (size_t)b * (size_t)count] = sum;
      }
  if (count > 0 && ns_lstsq(count, count, 1, own->matrix, count, own->rhs, count, 1e-12, own->step, &rank, NULL) != NS_OK)
    return false;
  for (int g = 0, k = 0, b = 0; g < p->ngroups; k += p->groups[g++].dim)
    for (; b < count && own->unknown[b] < k + p->groups[g].dim; b++) {
      double before = p->z[own->unknown[b]];
      p->z[own->unknown[b]] += own->step[b];
      for (int i = 1; i < p->groups[g].dim && own->unknown[b] == k && before != 0; i++)
        if (polish_slips(&p->groups[g], k, i, sets)) p->z[k + i] *= p->z[k] / before;
    }
  return true;
}

void ns_motion_problem_polish(NsMotionProblem *p) {
  const NsMotionPolish *own = &p->polish;
  bool cones = false, good = true;
  for (int g = 0; g < p->ngroups; g++) cones = cones || p->groups[g].cone;
  if (!cones || p->n > NS_MIXED_DENSE_ROWS) return;
  for (int g = 0, k = 0; g < p->ngroups; k += p->groups[g++].dim) polish_find_sets(p, &p->groups[g], k, own->sets);
  double first = polish_off(p, own->sets), off = first;
  if (off <= EXACT) return;
  memcpy(own->before, p->z, (size_t)p->n * sizeof *p->z);
  for (int i = 0; i < POLISHES && good && off > EXACT; i++) {
    good = polish_correct(p, own->sets);
    off = good ? polish_off(p, own->sets) : INFINITY;
  }
  for (int g = 0, k = 0; g < p->ngroups && good; k += p->groups[g++].dim)
    good = polish_keeps_sets(p, &p->groups[g], k, own->sets);
  if (!good || !(off < first)) memcpy(p->z, own->before, (size_t)p->n * sizeof *p->z);
}
