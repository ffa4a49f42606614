/*
** event_driven.h
** The workspace of event-driven integration, and what its files ask of each other. Private to them.
*/
#ifndef NS_INTEGRATORS_EVENT_DRIVEN_EVENT_DRIVEN_H
#define NS_INTEGRATORS_EVENT_DRIVEN_EVENT_DRIVEN_H

#include "integrators/motion.h"
#include "integrators/scheme.h"
#include "ode/bernstein.h"
#include "ode/dop853.h"

/* The options of RungeKuttaOSI, some of which D1MinusLinearOSI has too, out of the reach of scripts. */
typedef struct NsEventOptions {
  NsIntegrator base;
  double rtol, atol; /* of a step: 1e-12, 1e-14 */
  double tolerance;  /* 1e-12: a contact with y up to this is closed; no y is below minus twice this */
  double max_step; /* the longest step of the integrator, and about the shortest feature of a force or an output; NAN: found */
  int max_events;  /* within one step of the grid */
  bool atol_in_units, tolerance_in_units;
} NsEventOptions;

/* Works along the motion, integrated with it: of all forces, of -C v, of the multipliers. */
enum { WORK_FORCES, WORK_DAMPING, WORK_MULTIPLIERS, WORKS };

typedef enum RowState { ROW_OPEN, ROW_DEPARTING, ROW_HELD } RowState;

/* A row of the multipliers. */
typedef struct Row {
  bool unilateral;
  double restitution;
  RowState state;
  double level;      /* open: the y at which it closes; 0 when it is clear, below 0 when it touches */
  double t0, y0, u0; /* departing: when it left, y and u there */
  bool straight;     /* y = C q + e */
} Row;

typedef struct NsEventDriven {
  NsScheme base;
  NsMotion *motion;
  const NsMotionView *now; /* its vectors */
  NsRk *rk;
  double *clock, h;       /* h: the step of the grid */
  int Nq, Nv, m, n;       /* n = Nq + Nv + WORKS + m: coordinates, velocities, works, the impulses of held contacts */
  double t_first, t_last; /* of the run */
  Row *rows;
  double *reach; /* m: how far the outputs have been from 0 in the run; kept by the interactions between steps */

  /* the step */
  NsEventOptions options; /* as they were when it began */
  bool fixed;             /* no events are located: the step of the grid is one of D1MinusLinear */
  NsStepSolver solver;
  double t, t_k;             /* t_k: the start of the step */
  double *x, *q, *v, *works; /* n; its parts */
  double *atol, *pace;       /* n */
  double *even, *even_free, *even_all, *even_noise,
      *even_rate;  /* Nv: see ns_motion_even; of v, of accelerations, of their rounding, of their rate */
  double *impulse; /* Nv: sum of H' P of the impacts */
  double impact_energy;
  NsEventLog *log;
  int handled; /* events in this step */

  /* what acts */
  int nheld, *held;     /* rows: bilateral constraints, and contacts that are held */
  double *lambda;       /* nheld */
  double *acceleration; /* Nv */
  double *W;            /* m x m */

  /* at an event */
  int nclosed, *closed;     /* rows with y = 0 */
  bool *resting, *was_held; /* m, by row */
  double *before, *slow;    /* m, by row: velocities before; velocities below this are rest */
  double
      *pressing; /* m, by place in `closed`: |y''| without multipliers, the largest among coupled rows in units of this one */
  double *q_part, *z, *u_after; /* m */
  NsMixedGroup *groups;
  int *interaction; /* m, by place: of each row of the problem */
  NsSparse *sparse;
  double *p; /* Nv: room */

  /* the search */
  double *slope, *sample;                                     /* n */
  double *value[NS_BERNSTEIN_SIZE], *rate[NS_BERNSTEIN_SIZE]; /* m each: guards and their rates at the nodes of a piece */
  double *noise;                                              /* m: of those values */
  int ncurved, *curved;                                       /* open contacts that are not straight */
  int halved;                                                 /* pieces, in this step */
} NsEventDriven;

/* Accelerations under what is held, at (t, q, v): ed->lambda, ed->acceleration. */
NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err);

/* Up to where a row counts as closed: the tolerance of its contact. */
double ns_ed_tolerance(const NsEventDriven *ed, int row);

/* The level of a row that touches with this y: what is rounding above it is no event. */
double ns_ed_touching_level(const NsEventDriven *ed, int row, double y);

/* The distance of what may happen: the longest step where a force may be a function of time. */
double ns_ed_resolution(const NsEventDriven *ed);

/*
** Whether an event is in the last step of ed->rk: *row (-1: none) and its time, where the state has been taken by a
** shortened step.
*/
NsStatus ns_ed_search(NsEventDriven *ed, int *row, NsError *err);

/* Impacts, rest and forces at ed->t; the state and what acts are those after it. */
NsStatus ns_ed_handle(NsEventDriven *ed, NsError *err);

/* What scripts made, for messages: EventDriven, or the integrator with steps of fixed length. */
const char *ns_ed_name(const NsEventDriven *ed);

/* What messages call a row: the name of its interaction. */
const char *ns_ed_row_name(const NsEventDriven *ed, int row);

#endif
