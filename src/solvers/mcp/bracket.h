/*
** bracket.h
** Nonlinear complementarity problems of one variable, by bracketing.
*/
#pragma once

#include "solvers/method.h"

/* For one variable (scalar.h). Always finds a solution of a continuous F between finite bounds. */
extern const NsMethod ns_mcp_bracket;
