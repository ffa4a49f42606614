/*
** proximal.h
** The proximal point method on active sets.
*/
#pragma once

#include "solvers/method.h"

/*
** Each step solves the scaled problem with M + shift I and q - shift z. This matrix is regular where M is singular, and
** positive definite where M is monotone; there the method converges. The shift decreases from step to step. Every point is a
** candidate. Ends after 60 steps, or when a step has no solution. Rockafellar, Monotone operators and the proximal point
** algorithm, SIAM J. Control Optim. 14, 1976.
*/
extern const NsMethod ns_box_proximal;
