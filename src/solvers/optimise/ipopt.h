/*
** ipopt.h
** IPOPT as a solver of nonlinear programs, in the optional module nslua.ipopt.
*/
#pragma once

#include "solvers/optimise/nlp.h"

/* The solver, for the functions of the core. Waechter and Biegler, Mathematical Programming 106 (2006) 25-57. */
const NsNlpSolver *ns_ipopt(const NsEngine *engine);
