/*
** proximal.h
** The proximal point method on active sets.
*/
#ifndef NS_SOLVERS_BOX_PROXIMAL_H
#define NS_SOLVERS_BOX_PROXIMAL_H

#include "solvers/method.h"

/*
** Each step solves the scaled problem with M + shift I and q - shift z: a matrix that is regular where M is singular, and positive
** definite where M is monotone, for which it converges. The shift falls from step to step. Ends after 60 steps, or when a step has
** no solution; each point is a candidate. Rockafellar, Monotone operators and the proximal point algorithm, SIAM J. Control Optim.
** 14, 1976.
*/
extern const NsMethod ns_box_proximal;

#endif
