/*
** time_grid.h
** TimeDiscretisation: t_k = t0 + k h, never accumulated, or a given grid.
*/
#ifndef NS_SIMULATION_TIME_GRID_H
#define NS_SIMULATION_TIME_GRID_H

#include "base/error.h"
#include "base/field.h"

/* Either h > 0 and no points, or npoints >= 2 increasing points. */
typedef struct NsTimeGrid {
  double t0, h;
  double *points; /* owned; NULL for a constant step */
  int npoints;
} NsTimeGrid;

extern const NsField ns_time_grid_fields[];

/* A constant step. NS_EARG when h is not positive and finite, or vanishes against t0. */
NsStatus ns_time_grid_new(NsTimeGrid **grid, double t0, double h, NsError *err);

/* A given grid, copied. NS_EARG when it has fewer than two points or does not increase, naming the place. */
NsStatus ns_time_grid_new_points(NsTimeGrid **grid, const double *points, int npoints, NsError *err);

void ns_time_grid_free(NsTimeGrid *grid);

/* t_k, and the length of the step from t_k. */
double ns_time_grid_at(const NsTimeGrid *grid, long k);
double ns_time_grid_step(const NsTimeGrid *grid, long k);

/* The number of whole steps up to T (rounding of T is forgiven: 1e-9 of a step). */
long ns_time_grid_steps(const NsTimeGrid *grid, double T);

#endif
