/*
** event_driven.h
** The workspace of event-driven integration, and the functions that its files share. Private to them.
*/
#ifndef NS_INTEGRATORS_EVENT_DRIVEN_EVENT_DRIVEN_H
#define NS_INTEGRATORS_EVENT_DRIVEN_EVENT_DRIVEN_H

#include "integrators/event_schemes.h"
#include "integrators/motion.h"
#include "ode/bernstein.h"
#include "ode/dop853.h"

/* Works that are integrated along with the motion: of all forces, of -C v, of the multipliers. */
enum { WORK_FORCES, WORK_DAMPING, WORK_MULTIPLIERS, WORKS };

typedef enum RowState { ROW_OPEN, ROW_DEPARTING, ROW_HELD } RowState;

/* A row of the multipliers. */
typedef struct Row {
  bool unilateral;
  double restitution;
  RowState state;
  double level;      /* open: the y at which it closes: 0, or less than 0 when it touches already */
  double t0, y0, u0; /* departing: time, y and u when it left */
  bool straight;     /* y = C q + e */
} Row;

typedef struct NsEventDriven {
  NsScheme base;
  NsMotion *motion;
  const NsMotionView *now; /* borrowed vectors of `motion` */
  NsRk *rk;
  double *clock, h;       /* h: the step of the grid */
  int Nq, Nv, m, n;       /* n = Nq + Nv + WORKS + m: coordinates, velocities, works, the impulses of held contacts */
  double t_first, t_last; /* of the run */
  Row *rows;
  double *reach; /* m: largest |y| of each output in the run so far; the interactions keep it between steps */

  /* the step */
  NsEventOptions options; /* the options when the step began */
  bool fixed;             /* D1MinusLinearOSI: steps of fixed length, no events are located */
  NsStepSolver solver;
  double t, t_k;                                                /* t_k: the start of the step */
  double *x, *q, *v, *works;                                    /* n; x consists of q, v, works and impulses */
  double *atol, *pace;                                          /* n */
  double *even, *even_free, *even_all, *even_noise, *even_rate; /* Nv: scales by ns_motion_even, see measure_motion */
  double *impulse;                                              /* Nv: sum of H' P of the impacts */
  double impact_energy;
  NsEventLog *log;
  int handled; /* number of events in this step */

  /* the course of the step, for `trace` */
  const NsTrace *trace; /* NULL: nobody asks */
  double *multiplier;   /* m: the multipliers of all rows */
  double *side_before;  /* a row of values (ns_ed_columns): those before the event */
  double *course;       /* NS_BERNSTEIN_SIZE rows */

  /* active constraints */
  int nheld, *held;     /* rows: bilateral constraints and held contacts */
  double *lambda;       /* nheld */
  double *acceleration; /* Nv */
  double *W;            /* m x m */

  /* at an event */
  int nclosed, *closed;         /* rows with y = 0 */
  bool *resting, *was_held;     /* m, by row */
  double *before, *slow;        /* m, by row: velocities before the event; velocities that count as rest */
  double *pressing;             /* m, by index in `closed`: see measure_pressing */
  double *q_part, *z, *u_after; /* m */
  NsMixedGroup *groups;
  int *interaction; /* m: interaction of each row of the problem */
  NsSparse *sparse;
  double *p; /* Nv: workspace */

  /* the search */
  double *slope, *sample;                                     /* n */
  double *value[NS_BERNSTEIN_SIZE], *rate[NS_BERNSTEIN_SIZE]; /* m each: guards and their rates at the nodes of a piece */
  double *noise;                                              /* m: rounding errors of `value` */
  int ncurved, *curved;                                       /* open contacts that are not straight */
  int halved;                                                 /* number of halved pieces in this step */
} NsEventDriven;

/* Computes the accelerations with the active constraints at (t, q, v): ed->lambda, ed->acceleration. */
NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err);

/* The y below which a contact counts as closed. */
double ns_ed_tolerance(const NsEventDriven *ed, int row);

/* The level of a row that touches with this y. Rounding of y above the level is no event. */
double ns_ed_touching_level(const NsEventDriven *ed, int row, double y);

/* The time resolution: max_step, or 1/RESOLVED of the run. It limits the steps where a force may depend on time. */
double ns_ed_resolution(const NsEventDriven *ed);

/* Looks for an event in the last step of ed->rk: *row, or -1. When there is one, the step is repeated and ends at it. */
NsStatus ns_ed_search(NsEventDriven *ed, int *row, NsError *err);

/* Handles the event at ed->t: impacts, rest, forces. Updates the state and the active constraints. */
NsStatus ns_ed_handle(NsEventDriven *ed, NsError *err);

/*
** The course of the step, for ed->trace (nothing happens when that is NULL). Before an event: trace_start at the start of the
** step, with the multipliers of the memories, or trace_before. trace_after tells both sides, once the event is handled.
** trace_piece tells the last step of ed->rk, before its end is projected on the constraints.
*/
NsStatus ns_ed_trace_start(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_trace_before(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_trace_after(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_trace_piece(NsEventDriven *ed, NsError *err);

/* The number of values in a row of the trace. */
int ns_ed_columns(const NsEventDriven *ed);

/* The name for messages: EventDriven, or the integrator when its steps have a fixed length. */
const char *ns_ed_name(const NsEventDriven *ed);

/* The name of a row for messages: the name of its interaction. */
const char *ns_ed_row_name(const NsEventDriven *ed, int row);

#endif
