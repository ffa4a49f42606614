/*
** ipopt.h
** IPOPT as a solver of nonlinear programs, in the optional module nslua.ipopt.
*/
#ifndef NS_SOLVERS_OPTIMISE_IPOPT_H
#define NS_SOLVERS_OPTIMISE_IPOPT_H

#include "solvers/optimise/nlp.h"

/* The solver, for the functions of the core. Waechter and Biegler, Mathematical Programming 106 (2006) 25-57. */
const NsNlpSolver *ns_ipopt(const NsEngine *engine);

#endif
