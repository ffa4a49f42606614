/*
** nlopt.h
** NLopt as a minimiser, in the optional module nslua.nlopt.
*/
#pragma once

#include "solvers/optimise/minimise.h"

/* The minimiser, for the functions of the core. S. G. Johnson, The NLopt nonlinear-optimization package. */
const NsMinimiser *ns_nlopt(const NsEngine *engine);

/* NLopt's version, "2.7.1", in a static buffer. */
const char *ns_nlopt_version(void);
