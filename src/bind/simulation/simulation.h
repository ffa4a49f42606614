/*
** simulation.h
** The userdata of the simulation room: grid, integrator, one-step problem, TimeStepping, solution.
*/
#ifndef NSL_SIMULATION_SIMULATION_H
#define NSL_SIMULATION_SIMULATION_H

#include "bind/model/model.h"
#include "simulation/solution.h"

typedef struct NslTimeGrid {
  NslHead head;
  NsTimeGrid *grid;
} NslTimeGrid;

typedef struct NslOsi {
  NslHead head;
  NsIntegrator *integrator; /* it lies behind this struct, in the same block */
} NslOsi;

typedef struct NslOsnsp {
  NslHead head;
  NsOsnsp *problem;
  bool verbose;
} NslOsnsp;

/* User values of a simulation: 1 the graph, 2 the grid, 3 the integrator, 4 the one-step problem. */
enum { NSL_TS_NSDS = 1, NSL_TS_GRID, NSL_TS_OSI, NSL_TS_OSNSP, NSL_TS_USERVALUES = NSL_TS_OSNSP };

typedef struct NslTimeStepping {
  NslHead head;
  NslHost *host;
  NsTimeStepping *ts;
  const NslHead *parts[NSL_TS_USERVALUES]; /* the user values, which keep them */
  uint64_t class_version;                  /* the host's, when the callbacks were looked up last */
  bool verbose;
  bool start_told; /* the first step has looked for bodies that overlap */
} NslTimeStepping;

/* What a simulation of each kind is called; they all have the metatable of the first. */
extern const NslType nsl_simulation_types[];

NslTimeGrid *nsl_check_time_grid(lua_State *L, int idx);
NslOsi *nsl_check_osi(lua_State *L, int idx);
NslOsnsp *nsl_check_osnsp(lua_State *L, int idx);
NslTimeStepping *nsl_check_simulation(lua_State *L, int idx);

/* Pushes clones of an integrator's options and of a one-step problem's kind and options. */
void nsl_clone_osi(lua_State *L, int idx);
void nsl_clone_osnsp(lua_State *L, int idx);

/* The simulation at idx, open, with all its parts open and its callbacks looked up: ready to step. */
NslTimeStepping *nsl_ready_simulation(lua_State *L, int idx, const char *what);

/*
** Pushes a solution with room for `capacity` rows, for the simulation at idx; observed: the index of a list of the names of
** columns beside those of the model, 0 for none.
*/
NsSolution *nsl_push_solution(lua_State *L, int simulation, long capacity, int observed);

/* Tells the solution at idx what the run took. */
void nsl_set_solution_stats(lua_State *L, int idx, const NsTimeStepping *ts, double seconds);

/*
** Makes the engine report Newton iterations to stderr, or not, as the simulation at idx and its one-step problem
** say.
*/
void nsl_listen(lua_State *L, int idx);

/*
** Appends to the error of a step that failed what may help: when Newton did not converge, and when Jacobians were
** given (then also when the one-step problem had no accepted solution).
*/
void nsl_advise(lua_State *L, int simulation, NsError *err);

/* Pushes that a contact starts with a gap below 0, as ns_ts_penetrating has found, and what the scheme does of it. */
void nsl_push_penetration(lua_State *L, const NsTimeStepping *ts, const NsInteraction *inter, int row);

/* Before the first step of the simulation at idx: warns of that, once. */
void nsl_warn_start(lua_State *L, int idx);

/* Pushes that the grid ends before T, and by how much; whether it does. */
bool nsl_push_early_end(lua_State *L, const NsTimeStepping *ts);

/* Methods of TimeStepping that have a file of their own. */
int nsl_simulation_run(lua_State *L);
int nsl_simulation_check(lua_State *L);
int nsl_simulation_clone(lua_State *L);
int nsl_simulation_save(lua_State *L);
int nsl_simulation_load(lua_State *L);

void nsl_open_clone(lua_State *L);
void nsl_open_time_grid(lua_State *L);
void nsl_open_osi(lua_State *L);
void nsl_open_osnsp(lua_State *L);
void nsl_open_time_stepping(lua_State *L);
void nsl_open_solution(lua_State *L);

#endif
