/*
** curve_points.h
** Of a long curve the points that its picture shows, and the corners of one that goes in steps.
*/
#ifndef NS_LINALG_CURVE_POINTS_H
#define NS_LINALG_CURVE_POINTS_H

#include "linalg/samples.h"

/*
** An axis shows what lies between a and b (in either order) on `length` units of the picture, of which a unit is what nobody tells
** apart.
*/
typedef struct NsAxis {
  double a, b, length;
  bool log;
} NsAxis;

/* A curve, x and y of one size; a point whose y is not finite is a gap. kept: room for the indices of the points that stay. */
typedef struct NsCurvePoints {
  NsSamples x, y;
  int *kept, count;
} NsCurvePoints;

/* Keeps of the points in each unit of the axis x first, least, largest and last, and one for each gap. x rises. */
void ns_curve_columns(NsCurvePoints *curve, const NsAxis *across);

/* Keeps the points a unit away, on one of the axes, from the last one that was kept; gaps, and the last. */
void ns_curve_distance(NsCurvePoints *curve, const NsAxis *across, const NsAxis *up);

/* Where a step is: y[i] goes up to x[i], is around it, or goes on from it. */
typedef enum NsSteps { NS_STEPS_PRE, NS_STEPS_MID, NS_STEPS_POST } NsSteps;

/* Keeps the ends of each run of points of one height; the number of points and corners of the steps between them. */
int ns_curve_steps(NsCurvePoints *curve, NsSteps where);

/*
** Fills u and v with these. With axes (both or none) each corner is moved by up to a unit, and half the step, so that no line is
** upright or level: those are moved by half a dot by whoever draws dots.
*/
void ns_curve_corners(const NsCurvePoints *curve, NsSteps where, const NsAxis *across, const NsAxis *up, double *u, double *v);

#endif
