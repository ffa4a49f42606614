/*
** mcp_map.c
** Fischer-Burmeister functions for boxes.
*/
#include "solvers/mcp/mcp_map.h"

#include <math.h>

double ns_fischer(double a, double b, double *da, double *db) {
  double h = hypot(a, b), sum = a + b;
  if (da) *da = h > 0 ? 1 - a / h : 1 - sqrt(0.5);
  if (db) *db = h > 0 ? 1 - b / h : 1 - sqrt(0.5);
  return sum > 0 ? 2 * a * (b / (sum + h)) : sum - h;
}

double ns_fischer_box(double z, double f, double lower, double upper, double *at_z, double *at_f) {
  double inner = f, inner_z = 0, inner_f = 1, outer_z, outer_f;
  if (lower == upper) return *at_z = 1, *at_f = 0, 0;
  if (upper < INFINITY) inner = -ns_fischer(upper - z, -f, &inner_z, &inner_f);
  *at_z = inner_z;
  *at_f = inner_f;
  if (!(lower > -INFINITY)) return inner;
  double value = ns_fischer(z - lower, inner, &outer_z, &outer_f);
  *at_z = outer_z + outer_f * inner_z;
  *at_f = outer_f * inner_f;
  return value;
}
