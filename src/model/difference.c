/*
** difference.c
** Extrapolated finite differences in time.
*/
#include "model/difference.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/*
** Step k = 0, 1, ... is multiple[k % 4] / 2^(8 + k) times the power of two below h: first about a third, then about half the
** step before. The multiples have no common factor: with steps that are exact halves, a motion of period P could look the same
** at all of them (first step (8 + 1/8) P). They have 7 binary digits, so t + step has no rounding as long as t < 1e7 h.
*/
static const double multiple[] = {89, 97, 83, 101};

/* Smallest number of steps that are tried: one for each multiple. */
enum { FEWEST = 4 };

/*
** The search also ends after IN_VAIN steps that improved no value, once each value has a relative error below KNOWN: rounding
** grows as steps get smaller. (If a motion is much faster than the grid, the first errors are as large as the values.)
** Both are chosen by experience on the specs.
*/
enum { IN_VAIN = 3 };
#define KNOWN 1e-5

/* An estimated error below ROUNDINGS times the rounding error counts as converged; chosen by experience on the specs. */
enum { ROUNDINGS = 8 };

/* Without a grid, h = PART (T - t0); if that is infinite or 0, h = PART |t|, or PART at t = 0. By experience on the specs. */
#define PART (1.0 / 1024)

/* The power of two below the grid's step length h. */
static double difference_unit_of(double t, NsWindow window) {
  double h = window.h;
  int exponent;
  if (!(h > 0)) h = PART * (window.T - window.t0);
  if (!(h > 0) || !isfinite(h)) h = PART * (t != 0 ? fabs(t) : 1);
  (void)frexp(h, &exponent);
  return ldexp(1, exponent - 1);
}

static double step_number(int k, double unit) {
  return ldexp(multiple[k % FEWEST] * unit, -8 - k);
}

/* A difference with step d uses the values at t + ahead d and t - behind d; ahead and behind are 0 or 1. */
typedef struct Sides {
  int ahead, behind;
} Sides;

/* Both sides if the first step fits into the window on both; else the longer side, with *unit halved until the step fits. */
static Sides choose_sides(double t, NsWindow window, double *unit) {
  double after = window.T - t, before = t - window.t0, most = fmax(after, before), first = step_number(0, *unit);
  if ((after >= first && before >= first) || !(most > 0)) return (Sides){1, 1};
  while (step_number(0, *unit) > most) *unit /= 2;
  return after >= before ? (Sides){1, 0} : (Sides){0, 1};
}

/* The row of the extrapolation table that belongs to step number `level`. */
typedef struct Row {
  int level, stride;
  double variable[NS_DIFFERENCE_LEVELS]; /* extrapolated to 0: the step, or its square for central differences */
} Row;

/* Replaces the last row, in `column`, by this one. Updates slope and error if an extrapolation is better; whether one was. */
static bool difference_extrapolate(const Row *row, double quotient, double noise, double *column, double *slope,
                                   double *error) {
  double now = quotient, before = *error;
  for (int j = 0; j < row->level; j++) {
    double old = column[(ptrdiff_t)j * row->stride];
    double next = now + (now - old) / (row->variable[row->level - j - 1] / row->variable[row->level] - 1);
    double apart = fmax(fabs(next - now), fabs(next - old)) + noise;
    column[(ptrdiff_t)j * row->stride] = now;
    if (apart <= *error) *error = apart, *slope = next;
    now = next;
  }
  column[(ptrdiff_t)row->level * row->stride] = now;
  return *error < before;
}

NsStatus ns_difference(NsSample *sample, void *context, int m, double t, NsWindow window, double *room, double *slope,
                       NsError *err) {
  double *high = room, *low = high + m, *best = low + m, *error = best + m, *table = error + m;
  double unit = difference_unit_of(t, window);
  Sides sides = choose_sides(t, window, &unit);
  Row row = {.stride = m};
  bool settled = false, known = false;
  int gained = 0; /* the last level that improved a value */
  for (int i = 0; i < m; i++) best[i] = 0, error[i] = HUGE_VAL;
  for (int level = 0; level < NS_DIFFERENCE_LEVELS && !settled; level++) {
    double step = step_number(level, unit);
    if (known && level > gained + IN_VAIN) break;
    double late = t + sides.ahead * step, early = t - sides.behind * step;
    if (!(late > early)) break;
    NsStatus status = sample(context, late, high, err);
    if (status == NS_OK) status = sample(context, early, low, err);
    if (status != NS_OK) return status;
    row.level = level;
    row.variable[level] = sides.ahead && sides.behind ? step / unit * (step / unit) : step / unit;
    settled = level + 1 >= FEWEST;
    known = true;
    for (int i = 0; i < m; i++) {
      double noise = DBL_EPSILON * (fabs(high[i]) + fabs(low[i])) / (late - early);
      double quotient = (high[i] - low[i]) / (late - early);
      if (difference_extrapolate(&row, quotient, noise, table + i, &best[i], &error[i])) gained = level;
      settled = settled && error[i] <= ROUNDINGS * noise;
      known = known && error[i] <= KNOWN * fabs(best[i]);
    }
  }
  for (int i = 0; i < m; i++) slope[i] += best[i];
  return NS_OK;
}
