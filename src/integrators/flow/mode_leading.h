/*
** mode_leading.h
** The problem of the leading terms: a guess of the mode of many undecided rows.
*/
#pragma once

#include "integrators/flow/flow.h"

/*
** Solves the box problem of the rows with a flag in open (m) and of the ACTIVE rows for t -> t+: y is linearised in lambda where
** it depends on it, else dy/dt is (its change is the larger term for t -> t+); algebraic states are eliminated. mode (m): in,
** the mode of the other rows; out, the mode of all rows. open (m): out, rows that the solution leaves undecided (y = 0 with lambda
** at a bound). The problem is linearised again until the mode stays (nonlinear models). NS_ENOSOL when the solver finds no
** solution; NS_ENOMEM; statuses of ns_flow_evaluate. Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems,
** 2008, chapter 8.
*/
NsStatus ns_mode_leading(NsFlow *flow, double t, const double *s, bool *open, NsRowMode *mode, NsError *err);

/*
** Tests whether the problem of the leading terms in the rows with a flag (at most NS_MODE_OPEN, with outputs of the state alone)
** has one solution for all forces. *unique is true when the matrix of the problem is a P-matrix beyond rounding, after the elimination
** of algebraic states and of the other ACTIVE rows. mode (m): the mode of the other rows. The flow's mode is changed. Statuses of
** ns_flow_evaluate. Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, section 3.3; the test is by Tsatsomeros
** and Li, BIT 40, 2000.
*/
NsStatus ns_mode_leading_is_unique(NsFlow *flow, double t, const double *s, const bool *rows, const NsRowMode *mode,
                                   bool *unique, NsError *err);
