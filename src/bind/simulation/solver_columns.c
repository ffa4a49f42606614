/*
** solver_columns.c
** The columns of run{solver = true}, and the list of methods that one of them counts by.
*/
#include "bind/simulation/solver_columns.h"

#include <string.h>

static int method_number(NslSolverColumns *columns, const char *method) {
  int k = 0, places = (int)(sizeof columns->methods / sizeof *columns->methods);
  while (k < columns->count && strcmp(columns->methods[k], method) != 0) k++;
  if (k == places) return 0;
  if (k == columns->count) columns->methods[columns->count++] = method;
  return k + 1;
}

void nsl_fill_solver(NslSolverColumns *columns, double *to) {
  const NsTimeStepping *ts = columns->ts;
  const NsOsnsp *problem = ts->problem;
  bool begun = ts->k > 0 || ts->computed || ns_ts_time(ts) > ts->nsds->t0;
  memset(to, 0, NSL_SOLVER_COLUMNS * sizeof *to);
  if (!begun || !ns_osnsp_solved(problem) || !problem->info.solver || strcmp(problem->info.solver, "none") == 0) return;
  to[0] = method_number(columns, problem->info.solver);
  to[1] = problem->info.iterations;
  to[2] = problem->info.residual;
  to[3] = problem->info.backward;
}

void nsl_add_solver_names(lua_State *L) {
  static const char *const names[NSL_SOLVER_COLUMNS] = {"solver.method", "solver.iterations", "solver.residual",
                                                        "solver.backward"};
  for (int i = 0; i < NSL_SOLVER_COLUMNS; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}

void nsl_set_solution_methods(lua_State *L, int idx, const NslSolverColumns *columns) {
  lua_getiuservalue(L, idx, 1);
  lua_getfield(L, -1, "stats");
  lua_createtable(L, columns->count, 0);
  for (int k = 0; k < columns->count; k++) {
    lua_pushstring(L, columns->methods[k]);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, "methods");
  lua_pop(L, 2);
}
