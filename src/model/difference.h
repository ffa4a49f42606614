/*
** difference.h
** Derivatives by the time of functions that have none of their own: differences, with an estimate of their error.
*/
#ifndef NS_MODEL_DIFFERENCE_H
#define NS_MODEL_DIFFERENCE_H

#include "base/error.h"

/* The times at which a model may be evaluated, and the length of a step of its grid; h = 0: there is no grid. */
typedef struct NsWindow {
  double t0, T, h;
} NsWindow;

/* Fills values (as many as ns_difference is told) at time t. */
typedef NsStatus NsSample(void *context, double t, double *values, NsError *err);

/* The doubles that ns_difference works in for each value. */
enum { NS_DIFFERENCE_LEVELS = 14, NS_DIFFERENCE_ROOM = NS_DIFFERENCE_LEVELS + 4 };

/*
** slope (m) += the derivative of the values at time t. Central differences of ever smaller steps, from about a third of the grid's h
** on, are extrapolated to the step 0 (Richardson's method; Ridders, Advances in Engineering Software 4, 1982); each value takes
** the extrapolation whose estimated error is least, and the search ends when the errors of all are down at the rounding of the
** values. Within a step of an end of the window the differences are one-sided: nothing is asked for outside [t0, T]. The result is
** exactly 0 for values that do not change with time, and the same bits when times are scaled by a power of two.
** room: NS_DIFFERENCE_ROOM m. What the sample returns when it fails.
*/
NsStatus ns_difference(NsSample *sample, void *context, int m, double t, NsWindow window, double *room, double *slope,
                       NsError *err);

#endif
