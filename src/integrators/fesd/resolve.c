/*
** resolve.c
** Whether the points of an element show how the data of the model change in time: sources, coefficients, bounds, forces. A pulse
** between two stages acts on nothing that an element computes. So with the state of its middle the equations are evaluated at more
** times, and compared with their interpolation by 5 points. The state does not change, so that neither a stiff motion nor one that
** an element is too long for counts here, and what does not depend on time is 0 to the last bit.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/fesd/fesd.h"
#include "ode/bernstein.h"

/* The points of the interpolation are every second of the 9 points of a polynomial; the others are the least samples. */
enum { SHOWN = 5, SAMPLES = NS_BERNSTEIN_SIZE };

/*
** The interpolation may differ from the data by this part of their variation in an element (both are integrals of absolute values).
** 1/256: that is so for a sine whose period is 2.2 elements or longer.
*/
static const double SHOWS = 0x1p-8;

/* What is not shown may change a state by this part of its terms. A jump needs up to 11 halvings of an element for that. */
static const double EFFECT = 1e-4;

/*
** Noise is what changes in this part of an element, or in 4 spacings of time. Data with an error below NOISY times that, or below 64
** roundings of a value, are shown: shorter elements would not help.
*/
static const double MOMENT = 0x1p-40, NOISY = 16;

/* The data at time t in w->data.now: the state equations, the outputs, and the bounds, for the state of the middle. */
static NsStatus data_at(NsFesd *w, const NsFesdElement *e, double t, NsError *err) {
  NsFesdData *d = &w->data;
  int N = w->N, m = w->m;
  double *hold = d->now + N, *gap = hold + m, *lower = gap + m, *upper = lower + m;
  NsStatus status = ns_fesd_bounds(w, t, lower, upper, err);
  for (int a = 0; a < m; a++)
    if (e->mode[a] != MODE_ACTIVE) d->lambda[a] = e->mode[a] == MODE_LOWER ? lower[a] : upper[a];
  if (status == NS_OK) status = ns_fesd_equations(w, t, d->x, d->lambda, false, err);
  if (status != NS_OK) return status;
  memcpy(d->now, w->point.F, (size_t)N * sizeof *d->now);
  memcpy(hold, w->point.hold, (size_t)m * sizeof *hold);
  memcpy(gap, w->point.gap, (size_t)m * sizeof *gap);
  for (int i = 0; i < w->eq.nnodes && !w->motion; i++) {
    const NsEquationNode *node = &w->eq.nodes[i];
    if (node->given && ns_coef_varies(&node->ds->M))
      ns_coef_multiply_add(&node->ds->M, -1, d->rate + node->x, d->now + node->x);
  }
  for (int a = 0; a < 2 * m; a++)
    if (isinf(lower[a])) lower[a] = 0;
  return NS_OK;
}

/* The state of the middle of an element and its mean rate; the data at the points of the interpolation. *constant: they are equal. */
static NsStatus data_shown(NsFesd *w, const NsFesdElement *e, bool *constant, NsError *err) {
  NsFesdData *d = &w->data;
  size_t bytes = (size_t)d->width * sizeof *d->now;
  NsStatus status = NS_OK;
  ns_fesd_interpolate(w, 0, 0.5, w->N, e->x, d->x);
  ns_fesd_interpolate(w, 1, 0.5, w->m, e->lambda, d->lambda);
  for (int i = 0; i < w->N; i++) d->rate[i] = (e->x[(w->tableau.s + 1) * w->N + i] - e->x[i]) / e->h;
  *constant = true;
  for (int k = 0; k < SHOWN && status == NS_OK; k++) {
    status = data_at(w, e, e->t + ns_bernstein_node(2 * k) * e->h, err);
    memcpy(d->shown + (ptrdiff_t)k * d->width, d->now, bytes);
    *constant = *constant && (k == 0 || memcmp(d->now, d->shown, bytes) == 0);
  }
  return status;
}

/* Adds a sample of the data at a place in [0, 1], with its weight, to the integrals. */
static void add_sample(NsFesdData *d, double place, double weight) {
  double node[SHOWN], part[SHOWN];
  for (int k = 0; k < SHOWN; k++) node[k] = ns_bernstein_node(2 * k);
  ns_tableau_weights(SHOWN, node, place, part);
  for (int i = 0; i < d->width; i++) {
    double sum = 0, mean = 0, value = d->now[i];
    for (int k = 0; k < SHOWN; k++) {
      double shown = d->shown[i + (ptrdiff_t)k * d->width];
      sum += part[k] * shown;
      mean += shown / SHOWN;
    }
    d->apart[i] += weight * fabs(value - sum);
    d->varies[i] += weight * fabs(value - mean);
    d->size[i] += weight * fabs(value);
    d->most[i] = fmax(d->most[i], fabs(value));
  }
}

/* Integrates over `pieces` pieces of an element, in which the points of a polynomial are the samples. */
static NsStatus data_sample(NsFesd *w, const NsFesdElement *e, int pieces, NsError *err) {
  NsFesdData *d = &w->data;
  NsStatus status = NS_OK;
  memset(d->apart, 0, 4 * (size_t)d->width * sizeof *d->apart);
  for (int piece = 0; piece < pieces; piece++)
    for (int j = 0; j < SAMPLES && status == NS_OK; j++) {
      double place = (piece + ns_bernstein_node(j)) / pieces, before = j > 0 ? ns_bernstein_node(j - 1) : 0;
      double weight = ((j + 1 < SAMPLES ? ns_bernstein_node(j + 1) : 1) - before) / 2 / pieces;
      bool known = pieces == 1 && j % 2 == 0;
      if (known) memcpy(d->now, d->shown + (ptrdiff_t)(j / 2) * d->width, (size_t)d->width * sizeof *d->now);
      else if (piece == 0 || j > 0) status = data_at(w, e, e->t + place * e->h, err); /* else it is that before */
      if (status == NS_OK) add_sample(d, place, weight);
    }
  return status;
}

/*
** d->noise = the largest change of the data within moments of the second and the fourth point of the interpolation: data often jump at
** the start, in the middle and at the end of an element.
*/
static NsStatus data_noise(NsFesd *w, const NsFesdElement *e, NsError *err) {
  NsFesdData *d = &w->data;
  NsStatus status = NS_OK;
  memset(d->noise, 0, (size_t)d->width * sizeof *d->noise);
  for (int k = 0; k < 6 && status == NS_OK; k++) {
    int point = k < 3 ? 1 : 3;
    double t = e->t + ns_bernstein_node(2 * point) * e->h, moment = fmax(MOMENT * e->h, 4 * DBL_EPSILON * fabs(t));
    status = data_at(w, e, t + (k % 3 + 1) * moment, err);
    for (int i = 0; i < d->width; i++)
      d->noise[i] = fmax(d->noise[i], fabs(d->now[i] - d->shown[i + (ptrdiff_t)point * d->width]));
  }
  return status;
}

static bool is_hidden(const NsFesdData *d, int i) {
  return d->apart[i] > SHOWS * d->varies[i] && d->apart[i] > 64 * DBL_EPSILON * d->most[i];
}

/* Whether what is hidden of the data of a row, a state's or an active one's, changes it by more than is allowed. */
static bool has_effect(const NsFesd *w, const NsFesdElement *e, int row) {
  const NsFesdData *d = &w->data;
  int a = row - w->N;
  double whole = w->h / w->options.elements, size = whole * d->size[row];
  if (a >= w->m || (a >= 0 && e->mode[a] != MODE_ACTIVE)) return false;
  size += a < 0 ? d->terms[row] : whole * w->point.hold_size[a];
  return e->h * d->apart[row] > EFFECT * size;
}

static int data_pieces(const NsFesd *w, const NsFesdElement *e) {
  double pieces = ceil(e->h / w->data.piece);
  return pieces > NS_FESD_PIECES ? NS_FESD_PIECES : pieces > 1 ? (int)pieces : 1;
}

static NsStatus judge_data(NsFesd *w, const NsFesdElement *e, int *pieces, bool *resolved, NsError *err) {
  NsFesdData *d = &w->data;
  bool constant, any = false;
  int most = data_pieces(w, e);
  NsStatus status = data_shown(w, e, &constant, err);
  if (status != NS_OK || (constant && most == 1)) return status;
  ns_fesd_state_terms(w, w->h / w->options.elements, d->x, d->lambda, d->terms);
  status = data_sample(w, e, most, err);
  for (int i = 0; i < d->width; i++) any = any || is_hidden(d, i);
  if (!any || status != NS_OK) return status;
  status = data_noise(w, e, err);
  for (int i = 0; i < d->width && status == NS_OK; i++) {
    if (!is_hidden(d, i) || d->apart[i] <= NOISY * d->noise[i]) continue;
    *pieces = most;
    if (has_effect(w, e, i)) *resolved = false;
  }
  return status;
}

NsStatus ns_fesd_resolve(NsFesd *w, NsFesdElement *e, bool *resolved, NsError *err) {
  NsError why = {NS_OK, ""};
  int pieces = 1;
  *resolved = true;
  if (e->pieces > 0) return NS_OK;
  NsStatus status = w->data.driven ? judge_data(w, e, &pieces, resolved, &why) : NS_OK;
  if (*resolved) e->pieces = pieces;
  if (ns_fesd_worth_retrying(status)) return NS_OK;
  if (err) *err = why;
  return status;
}
