/*
** event_driven.h
** Event-driven integration of mechanics with unilateral contacts: smooth motion, events located, impacts, rest.
*/
#ifndef NS_SIMULATION_EVENT_DRIVEN_H
#define NS_SIMULATION_EVENT_DRIVEN_H

#include "integrators/energy.h"
#include "simulation/one_step_problem.h"

/*
** Between events the contacts that are held (y = 0, u = 0, force lambda >= 0) and the bilateral constraints keep y'' = 0,
** and the motion is integrated by dop853.h, the impulse of each held contact with it, so that what its force does is seen by the
** step control; its state is put back on the constraints after every step. An event is
** the first time at which an open contact has y = 0, or a held one lambda = 0; it is sought on the dense output by
** bernstein.h, which loses no dip, then the step is taken again up to it, so that it is as exact as a step. At an event
**   impact      0 <= u + e u_k _|_ P >= 0 over all closed contacts, u = 0 for bilateral constraints (e = 0 for a
**               contact that was not approaching);
**   rest        a closed contact whose bounce would not rise by `tolerance`, or has not, has u = 0: this is where an
**               infinite sequence of ever smaller bounces ends;
**   forces      0 <= y'' _|_ lambda >= 0 over the contacts with y = 0 and u = 0 tells which are held from there.
** Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996; Acary and Brogliato, Numerical Methods for
** Nonsmooth Dynamical Systems, 2008, chapter 8.
*/
typedef struct NsEventOptions {
  bool fixed;        /* no events are sought: see below */
  double rtol, atol; /* of a step: 1e-12, 1e-14 */
  double tolerance;  /* 1e-12: a contact with y up to this is closed; no y is below minus twice this */
  double max_step;   /* the longest step of the integrator, and about the shortest feature of a force or an output; 0: found */
  long max_events;   /* within one step of the grid */
  bool atol_in_units, tolerance_in_units;
} NsEventOptions;

/*
** What is accepted of the error of a step of length h: rtol |v| of a velocity, rtol times the way that it goes in the step of a
** coordinate, and for both atol times what the body would have with all of its energy in that direction. With atol_in_units atol
** is a number in the units of the coordinates and velocities. The tolerance of a contact is a part of the largest height that it has
** come from in the run (at the start, and as its velocity at impacts tells); with tolerance_in_units it is a number in the units of y.
** What is found for max_step: 1/300 of the run where a force or a guide may be a function of time, else infinite; outputs that are
** not linear are looked at with that distance in any case.
*/

/*
** With `fixed` the step of the grid is taken as one step of the scheme D1MinusLinear, of second order between impacts:
**   q = q_k + h v_k + h^2 / 2 a_k,  v- = v_k + h / 2 (a_k + a),  a = a(t, q, v_k + h a_k),
** the accelerations with the forces of the contacts that are held, and the event at its end, impacts being those of the
** contacts with y <= 0. A bounce that would end within the step is rest; y of contacts is left as it is.
** Schindler and Acary, Timestepping schemes for nonsmooth dynamics based on discontinuous Galerkin methods, Math. Comput.
** Simul. 95, 2014.
*/

/* X(code, name). */
#define NS_EVENT_LIST(X)                                                                                                       \
  X(NS_EVENT_IMPACT, "impact")                                                                                                 \
  X(NS_EVENT_REST, "rest")       /* a contact is held from here; see `accumulation` */                                         \
  X(NS_EVENT_RELEASE, "release") /* a contact that was held opens */

typedef enum NsEventKind {
#define X(code, name) code,
  NS_EVENT_LIST(X)
#undef X
} NsEventKind;

/* What happened at one contact. */
typedef struct NsEvent {
  NsEventKind kind;
  double t;
  char name[NS_NAME_SIZE]; /* of the interaction */
  int component;           /* its row, from 0 */
  double before, after;    /* its velocity */
  double impulse;          /* of an impact */
  double accumulation;     /* of a rest: the time at which all the bounces that were left out would have ended */
} NsEvent;

/* The events of a run. Those after `kept` are of a step that may still be computed anew. Zeroed: empty and valid. */
typedef struct NsEventLog {
  NsEvent *events;
  long count, kept, capacity;
} NsEventLog;

void ns_event_log_clear(NsEventLog *log);

/* Puts the events after `kept` in the order of time; those of the same time stay in the order in which they came. */
void ns_event_log_sort(NsEventLog *log);

typedef struct NsEventDriven NsEventDriven;

const char *ns_event_name(NsEventKind kind);

/*
** NS_EARG, in the name of `who`, when an interaction has another law than NewtonImpactNSL or EqualityConditionNSL, is compliant, or,
** where events are located, has a negative restitution.
*/
NsStatus ns_event_driven_accepts(const NsNsds *nsds, bool locates, const char *who, NsError *err);

/* The workspace for the graph as it stands; `clock` is told the time at which the equations are evaluated. NS_ENOMEM. */
NsStatus ns_event_driven_new(NsEventDriven **ed, NsNsds *nsds, double *clock);
void ns_event_driven_free(NsEventDriven *ed);

/*
** From the memories at t_k through all events to t_next, which ns_event_driven_commit accepts: q, v, y, ydot of every object
** are then those of t_next, lambda the forces there, p the sum of the impulses of the impacts. The problem (borrowed) solves for
** impulses and forces. NS_ENOCONV (step length, a constraint that can not be kept), NS_EMAXITER (too many events, or steps of the integrator between two),
** NS_ENOSOL and other statuses of the problem, what callbacks raise. The events are appended to the log.
*/
NsStatus ns_event_driven_step(NsEventDriven *ed, const NsEventOptions *options, NsOsnsp *problem, double t_k, double t_next,
                              NsEventLog *log, NsEnergyAccount *account, NsError *err);

/* Writes the end of the step that has been taken into every object. */
void ns_event_driven_commit(NsEventDriven *ed);

#endif
