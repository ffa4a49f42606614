/*
** difference.h
** Time derivatives of functions without automatic derivatives: finite differences with an error estimate.
*/
#pragma once

#include "base/error.h"

/* A model may be evaluated at times in [t0, T]; h is the step length of the simulation, 0 if there is none. */
typedef struct NsWindow {
  double t0, T, h;
} NsWindow;

/* Writes m values at time t (m: see ns_difference). */
typedef NsStatus NsSample(void *context, double t, double *values, NsError *err);

/*
** LEVELS: largest number of step lengths tried; the last is about 2^-15 h (chosen by experience). ROOM: doubles of workspace
** for each value.
*/
enum { NS_DIFFERENCE_LEVELS = 14, NS_DIFFERENCE_ROOM = NS_DIFFERENCE_LEVELS + 4 };

/*
** slope (m) += the time derivative of the m values at t. Central differences with decreasing steps, the first about h/3, are
** extrapolated to step 0 (Richardson; Ridders, Advances in Engineering Software 4, 1982). Each value takes the extrapolation
** with the smallest estimated error; the search ends when all errors are at the rounding error of the values. Near t0 and T
** the differences are one-sided: nothing is evaluated outside [t0, T]. The result is exactly 0 for values that are constant in
** time, and scaling all times by a power of two does not change its rounding. `room`: workspace of NS_DIFFERENCE_ROOM m
** doubles. Returns the status of a sample that failed.
*/
NsStatus ns_difference(NsSample *sample, void *context, int m, double t, NsWindow window, double *room, double *slope,
                       NsError *err);
