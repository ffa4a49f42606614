/*
** sensitivities.h
** Derivatives of a run's states by parameters: a companion (integrators/sensitivity.h) for each island, and S of all systems.
*/
#pragma once

#include "integrators/sensitivity.h"
#include "simulation/island.h"

/* The state of a simulation after step k, from which the run can be recorded again. */
typedef struct NsSensitivityMark {
  long k;
  double t, *d; /* d: the places, which may be numbers that `state` does not have */
  NsSnapshot state;
} NsSensitivityMark;

/* In a record: the instant of a clock, whose action makes d+ = a(x, d, p) of the places d. */
typedef struct NsSensitivityInstant {
  const struct NsSensitivityInstant *before; /* the one before; NULL: none */
  double t, *d, *a; /* d (places); the derivatives of a, places x (nx + places + shown parameters that are numbers) */
  long *at;         /* of each island: the number of entries that its record had */
} NsSensitivityInstant;

typedef struct NsSensitivities {
  NsSensitivityOptions options;
  NsParameter *parameters;
  int p, nx; /* parameters; states of all systems */
  NsSensitivity **of;
  int count;        /* number of islands */
  int **place;      /* of each island: the index of each of its states among all */
  uint64_t version; /* of the graph */
  uint64_t values;  /* of the graph: parameters point to the numbers that it has then */
  double *S;        /* nx x p: see ns_sensitivities_gather; in a record the S of the start */
  long carried;     /* rows of slopes whose derivatives by places have been added to those shown */
  NsEventSlopes slopes;
  NsArena arena;

  /* of a record with clocks */
  double t0, *d_end, *d_now;           /* places: their values at the end of the run, and those on the adjoint pass */
  double *workspace;                   /* p + 2 nx + places */
  const NsSensitivityInstant *instant; /* the last one; on the adjoint pass the last one that is left */
  NsArena instants;
  double instant_bytes;

  /* of a record with a bound of its memory */
  NsSensitivityMark *marks; /* the record holds what comes after the last one */
  int nmarks, room;
  NsSnapshot end; /* the state at the end of the run; of its log of events the length */
  long log_count, log_kept;
  bool at_end;      /* `end` is known */
  double most;      /* bytes that the record and the marks took at most */
  long steps_again; /* steps that were computed again */
} NsSensitivities;

/*
** Makes the companions of the islands, with a copy of the p parameters; the run must stand at its start. The option rtol = NAN is 1e-10, or
** the rtol of the integrator where that is larger: S is not more accurate than the states at which its equations are taken. NS_EARG when a scheme
** carries no derivatives, with advice. NS_ENOMEM.
*/
NsStatus ns_sensitivities_new(NsSensitivities **out, const NsNsds *nsds, const NsIslands *islands,
                              const NsParameter *parameters, int p, const NsSensitivityOptions *options, NsError *err);
void ns_sensitivities_free(NsSensitivities *s);

/* The value of an event of the user at t and the states x (all systems). */
typedef NsStatus (*NsUserGuard)(void *context, double t, const double *x, double *g, NsError *err);

/* slopes (p) = its derivatives by the shown parameters, which g itself reads, at fixed states. x is workspace besides. Fails as g does. */
NsStatus ns_sensitivities_guard(const NsSensitivities *s, NsUserGuard g, void *context, double t, double *x, double *slopes,
                                NsError *err);

/*
** An event of the user at (t, x), the end of the last piece: adds the derivatives of its time to s->slopes; NaN where g does not
** change along the run. h: the length of the step of the grid. Fails as g does; NS_ENOMEM.
*/
NsStatus ns_sensitivities_event(NsSensitivities *s, NsUserGuard g, void *context, double t, const double *x, double h,
                                NsError *err);

/*
** At the instant of a clock, whose action changes the places: S of the shown parameters (ns_sensitivity_show) is carried on, the one of the
** places begins at 0, and held (places x (p - places)) are their derivatives from now on. NULL: the same.
*/
void ns_sensitivities_carry(NsSensitivities *s, const double *held);

/*
** In a record: an action is at an instant t, before which the places are d; a: its derivatives, see NsSensitivityInstant. NS_ENOMEM. The
** adjoint pass lets the places have the values that they had; rewind: the values of the end of the run again; resume: the adjoint pass goes on.
*/
NsStatus ns_sensitivities_instant(NsSensitivities *s, double t, const double *d, const double *a, int columns, NsError *err);
void ns_sensitivities_rewind(NsSensitivities *s);
void ns_sensitivities_resume(NsSensitivities *s);

/* d (places) = the present values of the places, or they become d. */
void ns_sensitivities_places(NsSensitivities *s, double *d, bool put);

/* The run has ended: the derivatives of the events' times by the shown parameters are the rows of s->slopes. */
void ns_sensitivities_end(NsSensitivities *s);

/* S of the present states by the parameters that are shown, in the order of the systems' states. */
const double *ns_sensitivities_gather(NsSensitivities *s);

/* Whether the graph is the graph of the run, with the coefficients and vectors z that it had. */
bool ns_sensitivities_same(const NsSensitivities *s, const NsNsds *nsds);

/*
** The adjoint pass through a recorded run (integrators/sensitivity_tape.h), of all islands. times: the ends of all pieces, `count`
** increasing numbers that the caller frees with ns_free; the intervals between them are gone through from the last to the first:
** at each time first its events, then the interval before it. All vectors x are of all systems. NS_ENOMEM; NS_EARG when the
** graph is not the run's.
*/
NsStatus ns_sensitivities_times(const NsSensitivities *s, double **times, long *count, NsError *err);
NsStatus ns_sensitivities_adjoint_start(NsSensitivities *s, const NsNsds *nsds, const double *mu, const double *reach,
                                        NsError *err);

/* c: at NS_BERNSTEIN_SIZE nodes of [a, b], which lies between two times, the derivatives of the cost's rate by x. */
NsStatus ns_sensitivities_adjoint(NsSensitivities *s, const NsNsds *nsds, double a, double b, const double *c, NsError *err);

/*
** The adjoint pass through a recorded time-stepping run (integrators/step_adjoint.h). start: mu = 0 at the end. add: mu += c (nx). back: to the
** start of the steps at t or after; *reached: it stands at t, else what is earlier must be recorded again.
*/
void ns_sensitivities_steps_start(NsSensitivities *s);
NsStatus ns_sensitivities_steps_add(NsSensitivities *s, const double *c, NsError *err);
NsStatus ns_sensitivities_adjoint_steps(NsSensitivities *s, const NsNsds *nsds, double t, bool *reached, NsError *err);

/*
** The bound of the record's memory (sensitivities_again.c). Between steps of a recorded run: where the record takes more than half of the
** bound it is dropped, and the state is kept, from which it can be made again. The states may take the other half: when they take more,
** every other one is dropped. A step of the grid is recorded whole, whatever it takes. Griewank and Walther, ACM Trans. Math. Softw.
** 26(1), 2000, have the fewest repetitions for a known number of steps; here the number is not known before.
**   mark      a step of the run has been accepted, or the run begins; last: the run stops there. NS_ENOMEM.
**   earlier   the adjoint pass has come to the start of the record: records what comes before, and leaves the simulation as it was. *any: there
**             was something. Fails as steps do.
*/
struct NsTimeStepping;
void ns_sensitivity_mark_free(NsSensitivityMark *mark);
NsStatus ns_sensitivities_mark(NsSensitivities *s, struct NsTimeStepping *ts, bool last, NsError *err);
NsStatus ns_sensitivities_earlier(NsSensitivities *s, struct NsTimeStepping *ts, bool *any, NsError *err);

/* The number of events at t that move with the parameters. Back through events and instants at t; jump: the fall of the cost's rate there. */
int ns_sensitivities_events_at(const NsSensitivities *s, double t);
void ns_sensitivities_cross(NsSensitivities *s, double t, double jump);

/* x: the states at t, a time of the record: just before its events, or just after them. */
NsStatus ns_sensitivities_state(const NsSensitivities *s, double t, bool before, double *x, NsError *err);

/* gradient (shown parameters): at the start. rates (nx): xdot at the end of the run, before its events. */
void ns_sensitivities_gradient(NsSensitivities *s, double *gradient);
NsStatus ns_sensitivities_end_rates(const NsSensitivities *s, const NsNsds *nsds, double *rates, NsError *err);

/* Why the run could not be recorded, although forward derivatives may exist; NULL: it could. */
const char *ns_sensitivities_refused(const NsSensitivities *s);
