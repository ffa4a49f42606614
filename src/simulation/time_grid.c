/*
** time_grid.c
** Grids of time, with a constant step or given points.
*/
#include "simulation/time_grid.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

const NsField ns_time_grid_fields[] = {
    NS_FIELD_A_NUMBER("t0", NsTimeGrid, t0, -INFINITY, INFINITY, NS_FIELD_CONSTANT),
    NS_FIELD_A_NUMBER("step", NsTimeGrid, h, 0, INFINITY, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT),
    NS_FIELD_A_VECTOR("points", NsTimeGrid, points, npoints, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT), NS_FIELD_END};

NsStatus ns_time_grid_new(NsTimeGrid **out, double t0, double h, NsError *err) {
  *out = NULL;
  if (!(h > 0) || !isfinite(h)) return ns_fail(err, NS_EARG, "TimeDiscretisation: h: expected a positive number, got %g", h);
  if (t0 + h == t0) return ns_fail(err, NS_EARG, "TimeDiscretisation: h: %g vanishes against t0 = %g", h, t0);
  NsTimeGrid *grid = *out = ns_alloc(1, sizeof *grid);
  if (!grid) return ns_fail(err, NS_ENOMEM, "not enough memory");
  grid->t0 = t0;
  grid->h = h;
  return NS_OK;
}

NsStatus ns_time_grid_new_points(NsTimeGrid **out, const double *points, int npoints, NsError *err) {
  *out = NULL;
  if (npoints < 2) return ns_fail(err, NS_EARG, "TimeDiscretisation: a grid needs at least two points, got %d", npoints);
  for (long k = 1; k < npoints; k++)
    if (!(points[k] > points[k - 1]) || !isfinite(points[k]))
      return ns_fail(err, NS_EARG, "TimeDiscretisation: the grid must increase: t[%ld] = %g, t[%ld] = %g", k, points[k - 1],
                     k + 1, points[k]);
  NsTimeGrid *grid = ns_alloc(1, sizeof *grid);
  if (grid) grid->points = ns_alloc((size_t)npoints, sizeof *grid->points);
  if (!grid || !grid->points) {
    ns_time_grid_free(grid);
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  }
  memcpy(grid->points, points, (size_t)npoints * sizeof *points);
  grid->npoints = npoints;
  grid->t0 = points[0];
  *out = grid;
  return NS_OK;
}

void ns_time_grid_free(NsTimeGrid *grid) {
  if (!grid) return;
  ns_free(grid->points);
  ns_free(grid);
}

double ns_time_grid_at(const NsTimeGrid *grid, long k) {
  if (!grid->points) return grid->t0 + (double)k * grid->h;
  return grid->points[k < grid->npoints ? k : grid->npoints - 1];
}

double ns_time_grid_step(const NsTimeGrid *grid, long k) {
  if (!grid->points) return grid->h;
  return k + 1 < grid->npoints ? grid->points[k + 1] - grid->points[k] : 0;
}

long ns_time_grid_steps(const NsTimeGrid *grid, double T) {
  if (!grid->points) {
    double steps = floor((T - grid->t0) / grid->h * (1 + 1e-15) + 1e-9);
    return steps < 1 ? 0 : steps > 1e15 ? (long)1e15 : (long)steps;
  }
  long steps = 0;
  while (steps + 1 < grid->npoints && grid->points[steps + 1] <= T + 1e-9 * (grid->points[steps + 1] - grid->points[steps]))
    steps++;
  return steps;
}
