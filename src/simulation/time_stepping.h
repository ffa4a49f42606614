/*
** time_stepping.h
** TimeStepping: one step after the other over a grid of time, Newton within the step. EventDriven is the same loop with
** the motion from event to event as its step.
*/
#ifndef NS_SIMULATION_TIME_STEPPING_H
#define NS_SIMULATION_TIME_STEPPING_H

#include "simulation/island.h"
#include "simulation/time_grid.h"

/*
** When a step has converged: |W^-1 rho|_j <= rtol * (size of unknown j) + atol, |h(x, lambda) - y|_i <= rtol * (terms of
** row i) + atol, see step_residual.h; or when every |rho_i| and |h - y|_i is at most `absolute`.
*/
typedef struct NsNewtonOptions {
  int max_iterations;
  double rtol, atol; /* atol: in the units of each unknown and output; 0 unless it is asked for */
  double absolute;   /* in the units of each row; 0: not used */
  int max_substeps;  /* a step that does not converge is tried in 2, 4, ... parts up to this many; 1: never */
} NsNewtonOptions;

typedef struct NsTimeStepping NsTimeStepping;

/* A kind of simulation that scripts make. */
typedef struct NsSimulationClass {
  const char *name;
  const char *projection; /* how the identity of a model tells it: " with projection", "" for none */
  bool locates;           /* it steps from event to event, with an integrator that locates them */
  bool combined;          /* the projection also finds the velocities again */
  /*
  ** Brings the coordinates of the island's solved iterate to the constraints; NULL: it does not project. NS_ENOCONV when
  ** ts->projection allows no more iterations.
  */
  NsStatus (*settle)(NsTimeStepping *ts, NsIsland *island, NsError *err);
} NsSimulationClass;

/*
** X(name, projection, locates, combined, settle): the rows of ns_simulation_classes, which settle.c makes. Each kind of
** simulation is one row.
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

/* When the projection is done. */
typedef struct NsProjectionOptions {
  double tolerance; /* of y: 1e-10 of the size of its row; absolute: in the units of y */
  bool absolute;
  int max_iterations;
} NsProjectionOptions;

/* Their fields. */
extern const NsField ns_newton_fields[], ns_projection_fields[];

/* Where the simulation is at this moment; read by whoever words an error. */
typedef struct NsProgress {
  double t;   /* the end of the step that is being computed */
  long step;  /* its number, from 1 */
  int newton; /* the iteration, from 1; 0 outside Newton */
} NsProgress;

/* What verbose mode tells of one Newton iteration. */
typedef struct NsNewtonReport {
  NsProgress at;
  NsStepResidual residual;
  const NsSolverInfo *solver;
  double damping;
  const char *island; /* of several islands: the name of its first system; else NULL */
} NsNewtonReport;

typedef void (*NsNewtonListener)(void *context, const NsNewtonReport *report);

/* What a step failed at, as far as advice goes. */
typedef enum NsFailure { NS_FAILED_ELSEWHERE, NS_FAILED_PROBLEM, NS_FAILED_NEWTON } NsFailure;

/* Counts since the start or the last reset. */
typedef struct NsTimeSteppingStats {
  long steps, newton_iterations, max_newton, solver_iterations, substeps, damped_steps, factorizations;
} NsTimeSteppingStats;

/*
** The NSDS, the grid, the integrator's options and the one-step problem are borrowed. The workspace is made by
** ns_ts_prepare, anew when the graph has changed.
*/
struct NsTimeStepping {
  const NsSimulationClass *class;
  NsNsds *nsds;
  NsTimeGrid *grid;
  NsIntegrator *integrator;
  NsOsnsp *problem;
  NsNewtonOptions newton;
  NsProjectionOptions projection;
  NsNewtonListener listener; /* NULL: not verbose */
  void *listener_context;

  long number;             /* among the simulations of the NSDS */
  long nsteps;             /* whole steps of the grid up to T */
  long k;                  /* the last accepted step: the state is that of t_k, or of t_{k+1} when computed */
  bool computed;           /* the step from t_k is computed, nextStep is due */
  int newton_iterations;   /* of the last step: the most of its islands */
  NsStepResidual residual; /* of the last step: the largest of its islands */
  NsProgress progress;
  NsFailure failure; /* of the last step that was computed */
  NsTimeSteppingStats stats;

  NsIslands islands; /* made by ns_ts_prepare */
  bool ready;        /* they have been made */
  uint64_t graph_version;
  bool output_known;                /* the initial y has been evaluated */
  bool accounting;                  /* mechanics: the account of the energy is kept */
  NsEnergyAccount energy, energy_k; /* since it was begun; the same at t_k */
  NsEventLog log;                   /* of EventDriven */
};

/* What ns_ts_visit walks beside the graph. */
extern const NsField ns_ts_fields[];

/*
** Borrows everything. A simulation that locates events takes an integrator that does, the others one that does not; those
** that project take one that can. NS_EARG when the integrator is another one, the grid does not start at the NSDS's t0, no
** step of it fits into [t0, T], a system has been moved from its initial state by a simulation or is not one for the
** integrator, or the one-step problem has another simulation or does not take a law; NS_ENOMEM.
*/
NsStatus ns_ts_new(NsTimeStepping **ts, const NsSimulationClass *class, NsNsds *nsds, NsTimeGrid *grid,
                   NsIntegrator *integrator, NsOsnsp *problem, NsError *err);

/*
** Frees the workspace and the object; gives the one-step problem back only if it is still there (`problem` not
** NULL).
*/
void ns_ts_free(NsTimeStepping *ts);

/* Number of the steps on the grid up to T, and whether one is left. */
long ns_ts_steps(const NsTimeStepping *ts);
bool ns_ts_has_next(const NsTimeStepping *ts);

/* Whether the model is linear, so that a step is one linear problem with the laws. Needs ns_ts_prepare. */
bool ns_ts_linear(const NsTimeStepping *ts);

/* t_k and t_{k+1}; after the last step both are its end, on a uniform grid as on a grid of points. */
double ns_ts_time(const NsTimeStepping *ts);
double ns_ts_next_time(const NsTimeStepping *ts);

/*
** Makes the workspace for the graph as it stands and evaluates the initial outputs; nothing to do when both are
** there. NS_ENAN when a state from which the next step goes is not finite.
*/
NsStatus ns_ts_prepare(NsTimeStepping *ts, NsError *err);

/*
** Before the first step: the first interaction with a gap below 0, by more than `part` of its terms, that the steps leave there,
** and the row of its y; else NULL. The outputs are up to date (ns_ts_prepare). `may`: whether there can be one at all.
*/
bool ns_ts_may_keep_penetration(const NsTimeStepping *ts);
const NsInteraction *ns_ts_penetrating(const NsTimeStepping *ts, double part, int *row);

/*
** Whether the state of the NSDS is this simulation's to go on from; it is the one that moves it from here on. NS_EARG when it
** is to begin and a system is not at its initial state, or when another one has stepped, reset or loaded it since.
*/
NsStatus ns_ts_claim(NsTimeStepping *ts, NsError *err);

/* The state of the NSDS has been made that of this simulation: by a reset, a checkpoint, a copy. */
void ns_ts_own(NsTimeStepping *ts);

/*
** Computes the step from t_k to t_{k+1} and accepts it: x, r, y and lambda of every object are those of t_{k+1}.
** Called again before ns_ts_next_step it computes the same step anew, from the state at t_k. On failure every object
** keeps the state it had before the call and err tells the time, the step and the iteration. NS_EEND, NS_EBUSY,
** NS_EARG (ns_ts_claim), NS_EINTR, NS_ECALLBACK, NS_ESINGULAR, NS_ENOCONV, NS_ENAN and the solver's statuses.
*/
NsStatus ns_ts_compute_step(NsTimeStepping *ts, NsError *err);

/* Goes on to t_{k+1}. NS_EARG when the step has not been computed. */
NsStatus ns_ts_next_step(NsTimeStepping *ts, NsError *err);

/*
** Mechanics: the kinetic and the potential energy of the accepted state, summed over the systems. NS_EARG when the
** systems are of first order, NS_ECALLBACK.
*/
NsStatus ns_ts_energy(NsTimeStepping *ts, double *kinetic, double *potential, NsError *err);

/* Begins the account of the energy at the present state, or begins it anew. */
void ns_ts_account(NsTimeStepping *ts);

/* Back to t0 and the initial states. */
void ns_ts_reset(NsTimeStepping *ts);

/* Appends " (t=.. step .. newton ..)" to what an inner room said; a callback's own error says it already. Returns status. */
NsStatus ns_ts_locate(const NsTimeStepping *ts, NsStatus status, NsError *err);

/* The state becomes the memory of the step that begins; what a script wrote since the last step is part of it. */
void ns_ts_remember(NsNsds *nsds);

/* Walks the state of the simulation and of its NSDS: an NsWalk. */
void ns_ts_visit(void *ts, NsVisitor visitor, void *context);

#endif
