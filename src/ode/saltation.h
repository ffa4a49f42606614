/*
** saltation.h
** How a motion crosses a guard: its rate there, and what the time of the crossing does to derivatives.
*/
#pragma once

#include <stdbool.h>

/*
** A motion only touches a guard whose rate, g_t + sum g_i u_i', is below this part of |g_t| + sum |g_i| max |u_i'|, where the maximum is
** over the run so far. 1e-7: the guard then falls 1e-14 of its range below 0, which is less than the accuracy of an event; the last of
** infinitely many bounces has 1e-6.
*/
#define NS_GRAZING 1e-7

/* The rate of a guard along a motion, and the sum of the sizes of its terms. */
typedef struct NsCrossing {
  double rate, size;
} NsCrossing;

/* From the derivatives of the guard by t and by u (n), the rates f (n), and the largest ones so far, pace (n). */
NsCrossing ns_crossing(int n, double gt, const double *gu, const double *f, const double *pace);

/* Whether the rate is at most this part of its size, or not a number: the time has no derivative then. */
bool ns_crossing_grazes(NsCrossing crossing, double part);

/* That part for a solution with the relative tolerance rtol: its derivatives show a touch up to sqrt(rtol) / 10. */
double ns_crossing_part(double rtol);

/* dt (p) = -(g_p + g_u S) / rate, the derivatives of the time; gp (p) may be dt. S: n x p. grazes: dt is NaN. */
void ns_crossing_times(NsCrossing crossing, bool grazes, int n, int p, const double *gu, const double *gp, const double *S,
                       double *dt);

/* S (n x p) += sign rate dt', the states at a fixed time from those at the event, or back; a dt that is NaN counts as 0. */
void ns_crossing_move(int n, int p, double sign, const double *rate, const double *dt, double *S);

/* The transpose: mu (n) -= g_u w, gradient (p) -= g_p w, where w is the derivative by the time, divided by the rate. */
void ns_crossing_transposed(int n, int p, const double *gu, const double *gp, double w, double *mu, double *gradient);
