/*
** probe.c
** Round numbers, numbers between them, and points about the present ones.
*/
#include "ad/probe.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static const double round_numbers[NS_PROBES_ROUND] = {0, 1, -1, 2, 0.5};

/*
** Relative distance of point k of NS_PROBES_AROUND: an input x becomes x (1 + reach[k] part), part in (-1, 1). The two small ones detect
** a branch at the arguments themselves, the two large ones another element of a table.
*/
static const double reach[NS_PROBES_AROUND] = {1e-6, 1e-2, 0.5, 3};

/* A number in (0, 1) for input k, spread by the golden ratio. */
static double probe_spread(double start, int k) {
  return fmod(start + 0.61803398874989485 * (k + 1), 1);
}

double ns_probe_value(int probe, int k) {
  if (probe < NS_PROBES_ROUND) return round_numbers[probe];
  double part = probe_spread(0.377, k);
  return probe == NS_PROBES_ROUND ? 0.25 + part : -0.75 + 0.7 * part;
}

double ns_probe_around(int point, int k, double x) {
  double moved = x + reach[point] * (2 * probe_spread(0.377 + 0.29 * point, k) - 1) * x;
  return isfinite(moved) ? moved : x;
}

bool ns_probe_agrees(double a, double b, double slack) {
  return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= slack;
}

NsProbeTexts ns_probe_texts(double a, double b) {
  NsProbeTexts two = {"", ""};
  for (int digits = 10; digits <= 17; digits += 7) {
    ns_print(two.one, sizeof two.one, "%.*g", digits, a);
    ns_print(two.other, sizeof two.other, "%.*g", digits, b);
    if (strcmp(two.one, two.other) != 0) break;
  }
  return two;
}
