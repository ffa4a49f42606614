/*
** switching.h
** The workspace of event-driven integration for models of first order, and the functions that its files share. Private to them.
*/
#pragma once

#include "integrators/accumulation.h"
#include "integrators/hybrid/hybrid.h"
#include "integrators/flow/flow_guard.h"
#include "ode/event_search.h"

/* A guard of flow_guard.h in a run. */
typedef struct NsSwitchGuard {
  int row;
  bool upper;
  bool used;    /* in the present mode */
  bool at_zero; /* it is at 0 when the step begins */
  double zone;  /* it may fall below 0 by this, if it comes back: the accuracy of lambda or y */
  double value; /* its value when the step begins */
  double base;  /* the value at which the event is: 0, or less than 0 when the guard is at 0 when the step begins */
  double level; /* the base, lowered by the errors of the dense output in which the event is sought */
  double drift; /* y at 0 at the start of a motion: the rounding error of its rate */
} NsSwitchGuard;

/* The rounding error of a rate, in spacings of the sum of its terms: the sums of a step of DOP853 make up to 10 of them. */
#define NS_SWITCH_RATE_ROUNDINGS 16

/*
** What is known of the guards and of the last events, beside the mode of the flow: one block, `bytes` bytes from `stuck` on. To visit it is to
** visit the block.
*/
typedef struct NsSwitchMode {
  size_t bytes;
  NsSwitchGuard *guards; /* 2 m: row i has the guards 2 i and 2 i + 1 */
  bool *open;            /* m: rows that are undecided at an event */

  /* the block begins; the arrays follow it */
  int stuck;      /* number of events without progress of time */
  double t_event; /* time of the last event */
  NsEventMarks marks;
} NsSwitchMode;

/* How a step of the grid gets on. */
typedef struct NsSwitchProgress {
  long steps;       /* number of integrator steps in this step of the grid */
  long rejected;    /* number of lengths that the stepper had refused before the present step */
  long refused;     /* number of lengths that were refused in the present spell of steps */
  double t_spell;   /* time at which that spell began */
  double t_block;   /* time at which the present block of events began; see switch_event.c */
  double blocks[2]; /* durations of the last two blocks */
  bool late;        /* the event is later than its guard falls below 0, where the choice could not tell; see switch_search.c */
} NsSwitchProgress;

/* At an event: the mode and the multipliers before it, a mode to be tried, and what was chosen. */
typedef struct NsSwitchChange {
  NsRowMode *before, *next; /* m */
  double *lambda;           /* m */
  NsModeChoice choice;
} NsSwitchChange;

/* Workspace: of the stepper's rate and of others (nd + m each), and the Jacobian (nd x nd; NULL for explicit methods). */
typedef struct NsSwitchRoom {
  double *raw, *rate, *next_rate, *J;
} NsSwitchRoom;

/* The context of the stepper's rate: the flow in whose mode it is. */
typedef struct NsSwitchRates {
  const struct NsSwitching *sw;
  NsFlow *flow;
} NsSwitchRates;

typedef struct NsSwitching {
  NsHybrid run; /* its unknowns are the differential states (n), and the integrals of lambda of ACTIVE rows (m) */
  NsFlow *flow;
  const NsFlowView *now; /* borrowed values of `flow` */
  NsSwitchRates rates;   /* of `flow` */
  int n, m, most;        /* states, rows; the largest number of unknowns, n + m */
  double *held;          /* unknowns: rates at the last state, for switching_allow_held */
  double *ahead;         /* unknowns: sizes a little after a start at rest, see switching_look_ahead; else 0 */
  double usual;          /* with a solver outside: the usual length of a step */
  double
      coarse; /* the rest of an accumulation that is passed over, a part of the time of the last events; see switch_event.c */
  NsSwitchProgress progress;

  NsSwitchMode *mode;
  NsSwitchChange event;
  NsSwitchRoom room;

  /* the search */
  NsEventSearch *search;
  double *slope;  /* 2 m: rates of the guards at the last event */
  int *direction; /* 2 m: all -1 */
  long *terminal; /* 2 m: all 1 */
  double sampled; /* the time at which `flow` has been evaluated along the step; NAN: it has not */
} NsSwitching;

/* The name of a row for messages: its interaction's name. */
static inline const char *ns_switch_row_name(const NsSwitching *sw, int row) {
  return sw->run.base.nsds->interactions[ns_flow_interaction(sw->flow, row)]->name;
}

/* ---- switch_search.c ---- */

/* Takes the guards of the present mode. */
void ns_switch_take_guards(NsSwitching *sw);

/*
** Sets the levels of the guards at the start of a step, from the values of the last evaluation. `fresh`: the motion starts here;
** then the rows that are `open` have left 0 just now.
*/
void ns_switch_set_levels(NsSwitching *sw, bool fresh);

/* The value of a guard at the last evaluation, and the rounding error of that value. */
static inline double ns_switch_guard(const NsSwitching *sw, const NsSwitchGuard *guard) {
  return ns_flow_guard_value(sw->now, guard->row, guard->upper);
}

static inline double ns_switch_noise(const NsSwitching *sw, const NsSwitchGuard *guard) {
  return ns_flow_guard_noise(sw->now, guard->row, guard->upper);
}

/* An NsEventValue: the value of guard k above its level at (t, u), along the last step; `context` is the workspace. */
NsStatus ns_switch_event_value(void *context, int k, double t, const double *u, double *g, NsError *err);

/*
** Looks for the first event in the last step of the stepper: *guard is its number, -1: there is none. When there is one, the
** step is repeated and ends at it; `slope` receives the rates of all guards there.
*/
NsStatus ns_switch_search(NsSwitching *sw, int *guard, NsError *err);

/* ---- switching.c ---- */

/* A drive begins, with a step of the grid: reads options and memories of the objects, and chooses the mode. */
NsStatus ns_switch_start(NsHybrid *run, const NsStep *step, const NsDrive *drive, NsError *err);

/* The motion from the present state in the present mode begins: its rate in sw->rate, its guards and their levels. */
NsStatus ns_switch_start_guards(NsSwitching *sw, NsError *err);

/* The modes for a solver outside of the engine (switch_exchange.c). */
extern const NsSchemeExchange ns_switch_exchange;

/* ---- switch_event.c ---- */

/* Chooses the mode at the start of a step of the grid, from the memories, and sets sw->run.u. */
NsStatus ns_switch_begin(NsSwitching *sw, NsError *err);

/*
** Handles the end of sliding at sw->run.t, if the surface is tangential there: *found. The rows stay on the surface, where their lambda
** may jump. part: see ns_flow_find_dull.
*/
NsStatus ns_switch_end_tangential(NsSwitching *sw, double part, bool *found, NsError *err);

/* Handles the event of a guard at run->t: the next mode, the log, the dense output, an accumulation. */
NsStatus ns_switch_handle(NsHybrid *run, int guard, NsError *err);
