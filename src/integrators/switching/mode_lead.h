/*
** mode_lead.h
** The problem of the leading terms: a guess of the mode of many undecided rows.
*/
#ifndef NS_INTEGRATORS_SWITCHING_MODE_LEAD_H
#define NS_INTEGRATORS_SWITCHING_MODE_LEAD_H

#include "integrators/switching/flow.h"

/*
** Solves the box problem of the rows with a flag in open (m) and of the ACTIVE rows for t -> t+: y is linearised in lambda where
** it depends on it, else dy/dt is (its change is the larger term for t -> t+); algebraic states are eliminated. mode (m): in,
** the mode of the other rows; out, that of all rows. open (m): out, rows that the solution leaves undecided (y = 0 with lambda
** at a bound). The problem is linearised again until the mode stays (nonlinear models). NS_ENOSOL when the solver finds no
** solution; NS_ENOMEM; statuses of ns_flow_evaluate. Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems,
** 2008, chapter 8.
*/
NsStatus ns_mode_lead(NsFlow *flow, double t, const double *s, bool *open, NsRowMode *mode, NsError *err);

#endif
