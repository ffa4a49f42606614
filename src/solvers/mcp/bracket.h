/*
** bracket.h
** One condition between a number and a continuous function of it.
*/
#ifndef NS_SOLVERS_MCP_BRACKET_H
#define NS_SOLVERS_MCP_BRACKET_H

#include "solvers/method.h"

/*
** For one variable: the search of scalar.h for a bound that is the answer or a change of sign. It finds a solution of a continuous F
** between finite bounds always.
*/
extern const NsMethod ns_mcp_bracket;

#endif
