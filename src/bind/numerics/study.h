/*
** study.h
** What is known about the solutions of a box problem, as Lua tables.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

#include "solvers/box/box.h"

/*
** Pushes the table of ns.numerics.uniqueness for M (n x n, column-major) and these bounds. polyhedral: the set is a general
** polyhedron; then only a positive definite M gives an answer.
*/
void nsl_push_uniqueness(lua_State *L, int n, const double *M, const double *lower, const double *upper, bool polyhedral);

/* Pushes the table of ns.numerics.solutions; returns 1. */
int nsl_push_solutions(lua_State *L, const NsBoxProblem *p);
