/*
** study.h
** What is known of the solutions of a box problem, as tables for scripts.
*/
#ifndef NSL_NUMERICS_STUDY_H
#define NSL_NUMERICS_STUDY_H

#include <lua.h>
#include <stdbool.h>

#include "solvers/box/box.h"

/*
** Pushes the table of ns.numerics.uniqueness for M (n x n, column-major) and these bounds. polyhedral: the set is a polyhedron, of
** which only positive definite matrices tell something.
*/
void nsl_push_uniqueness(lua_State *L, int n, const double *M, const double *lower, const double *upper, bool polyhedral);

/* Pushes the table of ns.numerics.solutions; returns 1. */
int nsl_push_solutions(lua_State *L, const NsBoxProblem *p);

#endif
