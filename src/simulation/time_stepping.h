/*
** time_stepping.h
** TimeStepping: computes one step of a time grid after the other, with Newton's method in each step. EventDriven is the same
** loop; its step goes from event to event.
*/
#pragma once

#include "simulation/action_changes.h"
#include "simulation/step_dense.h"
#include "simulation/time_grid.h"
#include "simulation/user_events.h"

typedef struct NsTimeStepping NsTimeStepping;

/* A kind of simulation that scripts make. */
typedef struct NsSimulationClass {
  const char *name;
  const char *projection; /* in the description of a model (identity.h): " with projection"; "": none */
  bool locates;           /* goes from event to event, with an integrator that locates events */
  bool combined;          /* the projection computes the velocities again, too */
  /*
  ** Projects the coordinates of the solved iterate; NULL: no projection. NS_ENOCONV: equations are violated after projection.max_iterations.
  */
  NsStatus (*settle)(NsTimeStepping *ts, NsIsland *island, NsError *err);
} NsSimulationClass;

/*
** X(name, projection, locates, combined, settle): one row per kind of simulation. settle.c makes ns_simulation_classes of them.
*/
#define NS_SIMULATION_LIST(X)                                                                                                  \
  X("TimeStepping", "", false, false, NULL)                                                                                    \
  X("TimeSteppingDirectProjection", " with projection", false, false, project)                                                 \
  X("TimeSteppingCombinedProjection", " with the combined projection", false, true, combine)                                   \
  X("EventDriven", "", true, false, NULL)

#define X(...) +1
enum { NS_SIMULATION_CLASSES = 0 NS_SIMULATION_LIST(X) };
#undef X
extern const NsSimulationClass ns_simulation_classes[NS_SIMULATION_CLASSES];

/* When the projection has converged. */
typedef struct NsProjectionOptions {
  double tolerance; /* of y, relative to the size of its row (1e-10 by default); absolute: in the units of y */
  bool absolute;
  int max_iterations;
} NsProjectionOptions;

/* Adaptive time stepping (adaptive.h). rtol = atol = 0: each step has the length of the grid's step. */
typedef struct NsAdaptiveOptions {
  double rtol, atol;   /* tolerance of each unknown, relative to its size in the run and in its units */
  double h_min, h_max; /* of inner steps. h_min NAN: 2^-32 of the grid's step; h_max NAN: the grid's step */
} NsAdaptiveOptions;

/* The fields of NsNewtonOptions, NsProjectionOptions and NsAdaptiveOptions. */
extern const NsField ns_newton_fields[], ns_projection_fields[], ns_adaptive_fields[];

/* Where the simulation is now; for error messages. */
typedef struct NsProgress {
  double from, t; /* the start and the end of the present interval, in which data have no jump that is known before */
  long step;      /* its number, from 1 */
  int newton;     /* the iteration, from 1; 0 outside Newton */
} NsProgress;

/* The report on one Newton iteration, for verbose mode. */
typedef struct NsNewtonReport {
  NsProgress at;
  NsStepResidual residual;
  const NsSolverInfo *solver;
  double damping;
  const char *island; /* the name of the island's first system; NULL when there is only one island */
} NsNewtonReport;

typedef void (*NsNewtonListener)(void *context, const NsNewtonReport *report);

/* What failed in a step; it decides which advice a message gives. LENGTH: the step is too long for its contacts; only shorter ones help. */
typedef enum NsFailure { NS_FAILED_ELSEWHERE, NS_FAILED_PROBLEM, NS_FAILED_NEWTON, NS_FAILED_LENGTH } NsFailure;

/* Counts since the start or the last reset. */
typedef struct NsTimeSteppingStats {
  long steps, newton_iterations, max_newton, solver_iterations, substeps, damped_steps, factorizations;
  long linear_steps;               /* that were one linear iteration, after Newton's method had failed */
  long accepted, rejected, forced; /* inner steps of adaptive stepping; forced: accepted at h_min in spite of the error */
  double h_least, h_most;          /* of the accepted inner steps; 0: none */
  long unsettled_steps;            /* after which a projection has left contacts violated */
  double unsettled;                /* the largest violation that it has left, measured as its tolerance; 0: none */
} NsTimeSteppingStats;

/*
** Who records a run. dense: an interval of a step has been accepted, and its dense output is ts->dense. row: the present state, at an
** event of the user: before the actions, and `after` them (only when there were any). A failure ends the step.
*/
typedef struct NsRecorder {
  NsStatus (*dense)(void *context, NsError *err);
  NsStatus (*row)(void *context, bool after, NsError *err);
  void *context;
  NsPieces pieces; /* what the dense output shall have */
} NsRecorder;

/* Borrows NSDS, grid, integrator and one-step problem. ns_ts_prepare makes the workspace, again when the graph changes. */
/* A step that an event ends before its time of the grid. */
typedef struct NsStepPart {
  bool divided; /* an event has divided the step from t_k; the step goes on from the state at `from` */
  bool restart; /* an action has changed the state there: the next interval is implicit */
  bool cut;     /* the computed step ends at `from`, at a terminal event */
  double from;
  double stop;  /* where an event that the user acts on, or a change of links, has ended the last step; INFINITY: none has */
  bool relinks; /* links change there */
  bool repeats; /* up to a time that is known: nobody looks for changes of links again */
  int stopping; /* the island of that event; -1: none */
  double aim;   /* to where this island was going: on the same way again it stops at the same time */
} NsStepPart;

struct NsTimeStepping {
  const NsSimulationClass *class;
  NsNsds *nsds;
  NsTimeGrid *grid;
  NsIntegrator *integrator;
  NsOsnsp *problem;
  NsNewtonOptions newton;
  NsProjectionOptions projection;
  NsAdaptiveOptions adaptive;
  NsNewtonListener listener; /* NULL: not verbose */
  void *listener_context;

  long number;             /* its number among the simulations of the NSDS */
  long nsteps;             /* whole steps of the grid up to T */
  long k;                  /* last accepted step: the state is at t_k, or at t_{k+1} when `computed` */
  bool computed;           /* the step from t_k is computed; ns_ts_next_step comes next */
  int newton_iterations;   /* of the last step: the maximum over the islands */
  NsStepResidual residual; /* of the last step: the maximum over the islands */
  NsProgress progress;
  NsFailure failure; /* of the last computed step */
  NsTimeSteppingStats stats;

  NsIslands islands; /* made by ns_ts_prepare */
  bool ready;        /* `islands` has been made */
  uint64_t graph_version;
  bool output_known;                /* the initial y has been evaluated */
  bool accounting;                  /* mechanics: an account of the energy is kept */
  NsEnergyAccount energy, energy_k; /* since the account was started; the same at t_k */
  bool total_known;                 /* with an account: `total` is the energy that the last step, or query, has left */
  double total;
  NsEventLog log;

  /* events of the user (user_step.h) */
  NsUserEvents user;
  bool drives; /* the integrator goes from event to event: it may tell its dense output */
  NsStepPart part;
  NsStepDense dense;       /* of the last interval */
  bool dense_known;        /* `dense` fits the islands */
  NsActionChanges changes; /* of the model by actions, which a reset undoes */
  NsSnapshot kept;         /* the state at the start of the interval or before the action, of the graph's `kept_version` */
  uint64_t kept_version;
  const NsRecorder *recorder;     /* NULL: nobody records */
  NsSensitivities *sensitivities; /* of the present run, borrowed; NULL: none */
  NsSensitivities *tape;          /* the record of the last run, for the adjoint pass; NULL: none */
};

/* The fields that ns_ts_visit walks besides the graph; with events of the user the second list, too. */
extern const NsField ns_ts_fields[], ns_ts_user_fields[];

/*
** Makes a simulation, which borrows all arguments. A class that locates events needs an integrator that locates events; a class
** that projects needs an integrator that can project. NS_EARG when the integrator does not fit; the grid does not start at the
** NSDS's t0; no step of the grid fits into [t0, T]; a simulation has moved a system from its initial state; the integrator does
** not accept a system; the one-step problem belongs to another simulation or does not take a law. NS_ENOMEM.
*/
NsStatus ns_ts_new(NsTimeStepping **ts, const NsSimulationClass *class, NsNsds *nsds, NsTimeGrid *grid,
                   NsIntegrator *integrator, NsOsnsp *problem, NsError *err);

/* Frees the workspace and the object, and releases the one-step problem unless `problem` is NULL. */
void ns_ts_free(NsTimeStepping *ts);

/* The number of steps of the grid up to T; whether a step is left. */
long ns_ts_steps(const NsTimeStepping *ts);

/*
** Whether the steps leave out more than a hundredth of [t0, T], which shows in a plot. Smaller rests are common (steps often
** end a fraction of a step early).
*/
bool ns_ts_end_shows(const NsTimeStepping *ts);

/* Roughly the size in bytes of the steps' workspace: W, its factors and the one-step problem. */
size_t ns_ts_workspace_size(const NsNsds *nsds);
bool ns_ts_has_next(const NsTimeStepping *ts);

/* Whether the model is linear: then a step is one linear problem with the laws. Needs ns_ts_prepare. */
bool ns_ts_linear(const NsTimeStepping *ts);

/*
** t_k and t_{k+1}; after the last step both are the end of that step. Where an event of the user has divided the step, the
** first is the time of that event until the rest is computed; where a terminal event has ended the run, both are its time.
*/
double ns_ts_time(const NsTimeStepping *ts);
double ns_ts_next_time(const NsTimeStepping *ts);

/*
** Makes the workspace for the present graph and evaluates the initial outputs, unless that has been done. NS_ENAN when a state
** at the start of the next step is not finite.
*/
NsStatus ns_ts_prepare(NsTimeStepping *ts, NsError *err);

/* Makes the workspace in any case, for a state with its outputs that is about to replace the present one: relations may not have these here. */
NsStatus ns_ts_prepare_anew(NsTimeStepping *ts, NsError *err);

/*
** ns_ts_may_keep_penetration: whether the steps may keep a negative gap. ns_ts_penetrating, before the first step and after
** ns_ts_prepare: the first interaction with a gap below -part * (its terms) that the steps would keep, and the row of that gap;
** else NULL.
*/
bool ns_ts_may_keep_penetration(const NsTimeStepping *ts);
const NsInteraction *ns_ts_penetrating(const NsTimeStepping *ts, double part, int *row);

/*
** Makes this simulation the one that moves the state of the NSDS. NS_EARG when it has not begun and a system is not at its
** initial state, or when another simulation has stepped, reset or loaded the NSDS since.
*/
NsStatus ns_ts_claim(NsTimeStepping *ts, NsError *err);

/* Tells that the state of the NSDS now belongs to this simulation, after a reset, a checkpoint or a copy. */
void ns_ts_own(NsTimeStepping *ts);

/*
** Computes the step from t_k to t_{k+1} and accepts it: x, r, y and lambda of every object are then at t_{k+1}. A second call
** before ns_ts_next_step computes the same step again, from the state at t_k (or at the last event of the user in the step). On
** failure every object keeps the state from before the call (or from that event), and err tells time, step and iteration. NS_EEND, NS_EBUSY, NS_EARG (see ns_ts_claim), NS_EINTR,
** NS_ECALLBACK, NS_ESINGULAR, NS_ENOCONV, NS_ENAN and the solver's statuses.
*/
NsStatus ns_ts_compute_step(NsTimeStepping *ts, NsError *err);

/* Advances k to k + 1, unless a terminal event has cut the step. NS_EARG when the step has not been computed. */
NsStatus ns_ts_next_step(NsTimeStepping *ts, NsError *err);

/* Kinetic and potential energy of the mechanical systems at the accepted state. NS_ECALLBACK; NS_EARG when there are none. */
NsStatus ns_ts_energy(NsTimeStepping *ts, double *kinetic, double *potential, NsError *err);

/*
** With an account: what the script has changed since the last step or query, as a constant force, a matrix or a state, changes
** the energy, and counts as a work of forces. NS_ECALLBACK.
*/
NsStatus ns_ts_account_changes(NsTimeStepping *ts, NsError *err);

/* The simulation keeps an account (`accounting`). Notes the energy of the present state, which is that at t. NS_ECALLBACK. */
NsStatus ns_ts_account_total(NsTimeStepping *ts, double t, NsError *err);

/* Starts the account of the energy at the present state; an earlier account is lost. */
void ns_ts_account(NsTimeStepping *ts);

/* Moves the simulation back to t0 and the systems to their initial states. */
void ns_ts_reset(NsTimeStepping *ts);

/* Appends " (t=.. step .. newton ..)" to the message, unless it is a callback's error, which has it already. Returns status. */
NsStatus ns_ts_locate(const NsTimeStepping *ts, NsStatus status, NsError *err);

/* Copies the state, with what a script wrote since the last step, to the memories: the step begins there. */
void ns_ts_remember(NsNsds *nsds);

/* Whether steps look for bodies that come near others of which they know nothing: the islands go from event to event one by one. */
bool ns_ts_minds_islands(const NsTimeStepping *ts);

/* An NsWalk over the state of the simulation and of its NSDS. */
void ns_ts_visit(void *ts, NsVisitor visitor, void *context);
