/*
** simulation.h
** The userdata of the simulation room: grid, integrator, one-step problem, TimeStepping, solution.
*/
#pragma once

#include "bind/lua/sigint.h"
#include "bind/model/model.h"
#include "simulation/solution.h"

typedef struct NslTimeGrid {
  NslHead head;
  NsTimeGrid *grid;
} NslTimeGrid;

typedef struct NslOsi {
  NslHead head;
  NsIntegrator *integrator; /* lies behind this struct, in the same memory block */
} NslOsi;

typedef struct NslOsnsp {
  NslHead head;
  NsOsnsp *problem;
  bool verbose;
} NslOsnsp;

/*
** User values of a simulation: its NSL_TS_PARTS parts (graph, grid, integrator, one-step problem), and the script's events, what compiled callbacks read, the columns of the last run,
** what it has been watched to read (bind/lua/reads.h). */
enum {
  NSL_TS_NSDS = 1,
  NSL_TS_GRID,
  NSL_TS_OSI,
  NSL_TS_OSNSP,
  NSL_TS_EVENTS,
  NSL_TS_COMPILED,
  NSL_TS_COLUMNS,
  NSL_TS_READS,
  NSL_TS_PARTS = NSL_TS_OSNSP,
  NSL_TS_USERVALUES = NSL_TS_READS
};

typedef struct NslTimeStepping {
  NslHead head;
  NslHost *host;
  NsTimeStepping *ts;
  const NslHead *parts[NSL_TS_PARTS]; /* the objects in the user values, which keep them alive */
  uint64_t class_version;             /* the host's class_version when the callbacks were last looked up */
  uint64_t compiled_version,
      compiled_digest;           /* the graph's version, and what compiled callbacks read, when they were compiled */
  struct NslTrace **event_trace; /* of the g of each event, NULL where it is in Lua; anchored in NSL_TS_EVENTS */
  int events_seen;               /* so many events have been looked at, to be compiled */
  bool compile;                  /* the model's callbacks are to be compiled */
  bool verbose;
  bool start_told; /* the check for overlapping bodies before the first step was made */
  bool end_told;   /* the check for managers of contacts after the last step was made */
} NslTimeStepping;

/* The type names of the simulation classes; all have the metatable of the first. */
extern const NslType nsl_simulation_types[NS_SIMULATION_CLASSES];

static inline bool nsl_is_simulation(const NslType *type) {
  return type >= nsl_simulation_types && type < nsl_simulation_types + NS_SIMULATION_CLASSES;
}

NslTimeGrid *nsl_check_time_grid(lua_State *L, int idx);
NslOsi *nsl_check_osi(lua_State *L, int idx);
NslOsnsp *nsl_check_osnsp(lua_State *L, int idx);
NslTimeStepping *nsl_check_simulation(lua_State *L, int idx);

/* Push clones: of an integrator, with its options; of a one-step problem, with its kind and options. */
void nsl_clone_osi(lua_State *L, int idx);
void nsl_clone_osnsp(lua_State *L, int idx);

/* The simulation at idx, ready to step: it and its parts are open, and its callbacks are looked up. Raises otherwise. */
NslTimeStepping *nsl_ready_simulation(lua_State *L, int idx, const char *what);

/* The same; raises also while an action of an event or observe{} runs inside a step. */
NslTimeStepping *nsl_idle_simulation(lua_State *L, int idx, const char *what);

/* Before a call of the simulation at idx: compiles the model's callbacks, if they are to be and have not been or have changed. */
void nsl_compile_again(lua_State *L, int idx);

/*
** `callback` and `try` of compile_support (model_compile.c) for the functions g of the simulation's events: slot counts from 1. see: makes room
** for the traces of all events of the simulation at 1.
*/
int nsl_event_callback(lua_State *L);
int nsl_event_try(lua_State *L);
void nsl_see_events(lua_State *L);

/*
** Whether a trace has written *g, the value of an event at t and all states x; else the event is in Lua. Where a path of the trace could not be
** made, nsl_lose_event_trace drops it, with a warning, or raises: the compiled function is on top.
*/
bool nsl_event_by_trace(const NslTimeStepping *self, int event, double t, const double *x, double *g);
void nsl_lose_event_trace(lua_State *L, NslTimeStepping *self, int event);

/* A call of the engine that calls the model of an idle simulation. busy: nothing may change the graph meanwhile. end: raises where it has failed. */
typedef struct NslModelCall {
  NslGuard guard;
  NslEdge edge;
  double clock;
  NsError err;
} NslModelCall;
NslModelCall nsl_begin_model_call(lua_State *L, NslTimeStepping *self, bool busy);
void nsl_end_model_call(lua_State *L, NslTimeStepping *self, NslModelCall *call, NsStatus status);

/*
** An object on a simulation, which is its user value 1 (2 is its own); it begins with this struct. new: on the idle simulation at 1. check: the open object at
** 1, with its simulation, which is idle, on top.
*/
typedef struct NslOnSimulation {
  NslHead head;
  NslTimeStepping *simulation;
} NslOnSimulation;
void *nsl_new_on_simulation(lua_State *L, const NslType *type, size_t size);
void *nsl_check_on_simulation(lua_State *L, const NslType *type);

/*
** Pushes a solution with memory for `capacity` rows of the simulation at stack index `simulation`. observed: the stack index of
** a list of names of further columns, 0: none; parameters: the index of the list of names of the parameters of S, 0: none.
*/
NsSolution *nsl_push_solution(lua_State *L, int simulation, long capacity, int observed, int parameters);

/* Sets stats of the solution at idx: iterations, times and so on of the run. */
void nsl_set_solution_stats(lua_State *L, int idx, const NsTimeStepping *ts, double seconds);

/* Lets the engine report Newton iterations to stderr when the simulation at idx or its one-step problem is verbose. */
void nsl_listen(lua_State *L, int idx);

/*
** Appends advice to the error of a failed step: when Newton did not converge; and, also when the one-step problem was not
** solved, when Jacobians were given.
*/
void nsl_advise(lua_State *L, int simulation, NsError *err);

/* Pushes a message: a contact starts with a gap below 0 (found by ns_ts_penetrating), and what the scheme does about it. */
void nsl_push_penetration(lua_State *L, const NsTimeStepping *ts, const NsInteraction *inter, int row);

/* Before the first step of the simulation at idx: warns once about contacts that start with a gap below 0. */
void nsl_warn_start(lua_State *L, int idx);

/* After the last step of the simulation at idx: warns of contact managers whose bodies met without contacts. One step alone is too early for it. */
void nsl_warn_idle(lua_State *L, int idx);

/* The same after a loop that was left before the last step. It does not count there that a manager was never updated. */
void nsl_warn_left(lua_State *L, int idx);

/* Warns of a row that has switched ever faster, after a run of the simulation at idx. */
void nsl_warn_quickening(lua_State *L, int idx);

/* When the grid ends before T: pushes a message with the difference, and returns true. */
bool nsl_push_early_end(lua_State *L, const NsTimeStepping *ts);

/*
** The options of adaptive time stepping. read: from the table at idx into the simulation; raises when they do not go with it.
** push_step_counts: sets the counts of inner steps in the table on top. open: adds getters and setters to the methods on top.
*/
void nsl_read_step_control(lua_State *L, int idx, NsTimeStepping *ts);
void nsl_push_step_counts(lua_State *L, const NsTimeSteppingStats *stats);
void nsl_open_step_control(lua_State *L);

/* Methods of simulations that have a file of their own. */
int nsl_simulation_run(lua_State *L);
int nsl_simulation_check(lua_State *L);
int nsl_simulation_clone(lua_State *L);
int nsl_simulation_save(lua_State *L);
int nsl_simulation_load(lua_State *L);

/* load_state, where the contacts that come and go are linked as in the file. */
int nsl_simulation_take_state(lua_State *L);
/*
** lua_call of a function whose first argument is a simulation, with the contacts that come and go linked as in the file; where it raises,
** those before are linked again.
*/
void nsl_call_relinked(lua_State *L, const char *path, int nargs, int nresults);
int nsl_simulation_add_event(lua_State *L);
int nsl_simulation_every(lua_State *L);
int nsl_simulation_discrete(lua_State *L);
int nsl_simulation_on(lua_State *L);
int nsl_simulation_remove_event(lua_State *L);
int nsl_simulation_user_events(lua_State *L);

/*
** Gives the simulation at `to` the script's events of the one at `from`; map: from each object to its clone, gets the discrete states.
** relink, after the model is relinked: its actions find the clone's objects.
*/
void nsl_clone_user_events(lua_State *L, int from, int to, int map);
void nsl_relink_user_events(lua_State *L, int from, int to, int map);

/* Pushes a list with a table for each of `count` events. slopes: the derivatives of their times; NULL: none. */
void nsl_push_events(lua_State *L, const NsEvent *events, long count, const NsEventSlopes *slopes);

/* The parameter of a place (simulation/places.h); raises where its derivative is not known. */
NsParameter nsl_place_parameter(lua_State *L, NsTimeStepping *ts, lua_Integer key);

void nsl_open_cost_trace(lua_State *L); /* adds to core.adjoint, which is on top */

/*
** Raises, as nsl_no_such_name, that a solution has no column or method of the name at idx. Its methods and its columns are the keys
** of the tables at the other indices; methods may be an upvalue.
*/
int nsl_no_such_column(lua_State *L, const char *type, int methods, int columns, int idx);
