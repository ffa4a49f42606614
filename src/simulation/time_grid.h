/*
** time_grid.h
** TimeDiscretisation: t_k = t0 + k h without accumulated rounding, or given points.
*/
#pragma once

#include "base/error.h"
#include "base/field.h"

/* Either h > 0 without points, or at least two increasing points. */
typedef struct NsTimeGrid {
  double t0, h;
  double *points; /* owned; NULL for a constant step */
  int npoints;
} NsTimeGrid;

extern const NsField ns_time_grid_fields[];

/* A grid of constant step. NS_EARG when h is not positive and finite, or t0 + h = t0. */
NsStatus ns_time_grid_new(NsTimeGrid **grid, double t0, double h, NsError *err);

/*
** A grid of given points, which are copied. NS_EARG when there are fewer than two or they do not increase; err names the place.
*/
NsStatus ns_time_grid_new_points(NsTimeGrid **grid, const double *points, int npoints, NsError *err);

void ns_time_grid_free(NsTimeGrid *grid);

/* t_k, and the length of the step that begins there. */
double ns_time_grid_at(const NsTimeGrid *grid, long k);
double ns_time_grid_step(const NsTimeGrid *grid, long k);

/* The number of whole steps up to T; 1e-9 of a step is allowed for the rounding of T. */
long ns_time_grid_steps(const NsTimeGrid *grid, double T);
