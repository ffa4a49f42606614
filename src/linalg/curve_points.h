/*
** curve_points.h
** Thinning of a long curve to the points that its plot shows; the corners of a step curve.
*/
#pragma once

#include "linalg/samples.h"

/*
** An axis maps the interval from a to b (a > b is allowed) to `length` units of the plot. Points less than one unit apart look
** the same.
*/
typedef struct NsAxis {
  double a, b, length;
  bool log;
} NsAxis;

/* A curve; x and y have equal size; a point whose y is not finite is a gap. kept: the caller's array of x.n indices. */
typedef struct NsCurvePoints {
  NsSamples x, y;
  int *kept, count;
} NsCurvePoints;

/* In each unit of the x axis, keeps the first, lowest, highest and last point; keeps one point of each gap. x must increase. */
void ns_curve_columns(NsCurvePoints *curve, const NsAxis *across);

/* Keeps each point that is at least one unit, on one of the axes, from the last kept point; also gaps, and the last point. */
void ns_curve_distance(NsCurvePoints *curve, const NsAxis *across, const NsAxis *up);

/* The height y[i] of a step curve holds before x[i], around x[i], or after x[i]. */
typedef enum NsSteps { NS_STEPS_PRE, NS_STEPS_MID, NS_STEPS_POST } NsSteps;

/* Keeps the first and last point of each run of equal y. Returns the number of kept points plus corners of the steps. */
int ns_curve_steps(NsCurvePoints *curve, NsSteps where);

/*
** Writes the kept points and corners to u and v (the size is the result of ns_curve_steps). With axes (both or none) each
** corner moves by min(one unit, half the step), so that no line is exactly vertical or horizontal: a program that draws dots
** would shift such lines by half a dot.
*/
void ns_curve_corners(const NsCurvePoints *curve, NsSteps where, const NsAxis *across, const NsAxis *up, double *u, double *v);
