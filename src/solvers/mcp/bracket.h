/*
** bracket.h
** Nonlinear complementarity problems of one variable, by bracketing.
*/
#ifndef NS_SOLVERS_MCP_BRACKET_H
#define NS_SOLVERS_MCP_BRACKET_H

#include "solvers/method.h"

/* For one variable (scalar.h). Always finds a solution of a continuous F between finite bounds. */
extern const NsMethod ns_mcp_bracket;

#endif
