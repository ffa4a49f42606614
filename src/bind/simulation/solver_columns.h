/*
** solver_columns.h
** run{solver = true}: columns that tell how the last one-step problem before each row was solved.
*/
#pragma once

#include "bind/simulation/simulation.h"

/* The columns of one run. Methods are numbered from 1, in the order in which they are met. */
typedef struct NslSolverColumns {
  const NsTimeStepping *ts;
  const char *methods[64]; /* static strings: there are fewer methods than places */
  int count;
} NslSolverColumns;

enum { NSL_SOLVER_COLUMNS = 4 };

/* Writes the columns of the present row; 0 where no problem has been solved, or none had rows. */
void nsl_fill_solver(NslSolverColumns *columns, double *to);

/* Appends the names of the columns to the list on top. */
void nsl_add_solver_names(lua_State *L);

/* Adds `methods`, the methods' names by their numbers, to the stats of the solution at idx. */
void nsl_set_solution_methods(lua_State *L, int idx, const NslSolverColumns *columns);
