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

/* Works that are integrated along with the motion: of all forces, of -C v, of the multipliers, of friction and relays. */
enum { WORK_FORCES, WORK_DAMPING, WORK_MULTIPLIERS, WORK_FRICTION, WORKS };

typedef enum RowState { ROW_OPEN, ROW_DEPARTING, ROW_ACTIVE } RowState;

/*
** Sliding in space counts as nearly stopped below this part of its largest velocity in the run. 1e-6: the direction u / |u| has an
** error of 1e-10 there, and turns by less than 1e-6 before u is 0.
*/
#define NS_NEARLY_STOPPED 1e-6

/* NONE: an open contact, or a row without friction. */
typedef enum StickSlip { FRICTION_NONE, FRICTION_STICK, FRICTION_SLIP } StickSlip;

/*
** The friction of a contact, or of a relay. It belongs to the row of its first tangential component; a relay has one component.
** With the tangential velocity u and force lambda:
**   friction   |lambda| <= mu lambda_n, and lambda = -mu lambda_n u / |u| where u is not 0;
**   relay      lower <= lambda <= upper, and lambda = lower where u > 0, lambda = upper where u < 0.
*/
typedef struct Friction {
  int width;  /* number of components; 0: no friction begins in this row */
  int normal; /* row of the contact's normal; -1: a relay */
  double mu, lower, upper;
  StickSlip stick_slip;
  bool onset;   /* slip in space: it has just begun, and u has the direction in which it is pulled, see event_active.c */
  bool tied;    /* slip: the force is at its bound, but what else is active keeps u = 0 */
  double d[2];  /* slip: the direction of u, a unit vector; in the plane and of a relay d[0] is 1 or -1 */
  double since; /* slip: the time at which it began with u = 0; NAN: it began with another u */
  double pull;  /* slip: the acceleration along d at `since`; 0: it is only rounding */
  double level; /* stick: slip begins where the guard, the distance of lambda to its bounds, falls to this level */
  double force; /* lambda of the first component before an event */
  bool stops;   /* slip in space: u is nearly 0, and the direction stays d until u is 0 */
} Friction;

/* A row of the multipliers. */
typedef struct Row {
  bool unilateral; /* the normal of a contact */
  bool joint;      /* a bilateral constraint; neither: a tangent or a relay */
  Friction friction;
  double restitution;
  RowState state;
  double level;      /* open: the y at which it closes: 0, or less than 0 when it touches already */
  double t0, y0, u0; /* departing: time, y and u when it left; open: u0 of the last bounce in this step of the grid, or 0 */
  bool straight;     /* y = C q + e */
} Row;

typedef struct NsEventDriven {
  NsScheme base;
  NsMotion *motion;
  const NsMotionView *now; /* borrowed vectors of `motion` */
  NsRk *rk;
  double *clock, h;       /* h: the step of the grid */
  int Nq, Nv, m, n;       /* n = Nq + Nv + WORKS + m: coordinates, velocities, works, the impulses of active contacts */
  double t_first, t_last; /* of the run */
  Row *rows;
  double *past;      /* m: with a solver outside: the height of bounces that it can not follow, see event_exchange.c; else 0 */
  double *reach;     /* m: largest |y|, of friction largest |u|, in the run so far; the interactions keep it between steps */
  double *drift;     /* m: largest rounding error of y in a step of the motion, see ns_ed_measure_drift */
  bool has_friction; /* some row has friction or is a relay */
  double *share;     /* m: how dependent rows share forces: friction that sticks in proportion to its bound; else 1 */
  double *pulled;    /* m: of friction at the onset of slip: the forces that would make it stick */
  double *slid;      /* m: sliding speeds at the start of the last step */

  /* the step */
  NsEventOptions options; /* the options when the step began */
  bool fixed;             /* D1MinusLinearOSI: steps of fixed length, no events are located */
  NsStepSolver solver;
  double t, t_k;                                                /* t_k: the start of the step */
  double *x, *q, *v, *works;                                    /* n; x consists of q, v, works and impulses */
  double *atol, *pace;                                          /* n */
  double *even, *even_free, *even_all, *even_noise, *even_rate; /* Nv: scales by ns_motion_even, see measure_motion */
  double *impulse;                                              /* Nv: sum of H' P of the impacts */
  double impact_energy, friction_energy;                        /* works of normal and of tangential impulses */
  NsEventLog *log;
  int handled; /* number of events in this step */

  /* the dense output of the step, for `sink` */
  const NsDenseSink *sink;           /* NULL: nobody asks */
  struct NsSensitivity *sensitivity; /* NULL: nobody asks */
  double *multiplier;                /* m: the multipliers of all rows */
  double *side_before;               /* a row of values (ns_ed_columns): those before the event */
  double *dense;                     /* NS_BERNSTEIN_SIZE rows */

  /* active constraints */
  int nactive, *active; /* rows: bilateral constraints and active contacts, then friction that sticks */
  int *pulling;         /* workspace: `active` and the rows of friction at the onset of slip */
  int nplaces;          /* the first rows of `active`, which constrain y */
  int nacting, *acting; /* rows with a multiplier, in order: `active`, and friction that slips */
  double *lambda;       /* nactive */
  double *acceleration; /* Nv */
  double *W;            /* m x m */

  /* at an event */
  int nclosed, *closed;         /* rows with y = 0 */
  bool *resting, *was_active;   /* m, by row */
  double *before, *slow;        /* m, by row: velocities before the event; velocities that count as rest */
  double *pressing;             /* m, by index in `closed`: see measure_pressing */
  double *q_part, *z, *u_after; /* m */
  NsMixedGroup *groups;
  int ngroups, nproblem; /* of the problem that is solved */
  int hit;               /* the row whose event this is; m: the pole of the forces; -1: the start of a step */
  bool outside;          /* the solver is outside of the engine, see event_exchange.c */
  int asked;             /* with a solver outside: the row whose event was told when a step was accepted; -1: none */
  Friction *was;         /* m: friction before the event */
  struct NsModes *modes; /* workspace of event_modes.c */
  int *interaction;      /* m: interaction of each row of the problem */
  NsSparse *sparse;
  double *p;                                           /* Nv: workspace */
  double *part, *part_rhs, *part_before, *part_matrix; /* m, m, m, m x m: workspace of event_polish.c */
  int *unknown;                                        /* m: workspace of event_polish.c */
  signed char *sets;                                   /* m, by group: workspace of event_polish.c */

  /* the pole of the forces, see event_pole.c; in the search its guard is that of row m */
  double pole_size;    /* det A at the start of the mode; 0: nothing is watched */
  double *pole_matrix; /* m x m: workspace */

  /* the search */
  double *slope, *sample;                                     /* n */
  double *value[NS_BERNSTEIN_SIZE], *rate[NS_BERNSTEIN_SIZE]; /* m + 1 each: guards and their rates at the nodes of a piece */
  double *noise;                                              /* m + 1: rounding errors of `value` */
  int ncurved, *curved;                                       /* open contacts that are not straight */
  int halved;                                                 /* number of halved pieces in this step */
} NsEventDriven;

/*
** What decides on the event of a row: the gap of an open contact, the force of an active one, or the guard of friction: its
** distance to the bounds while it sticks, its velocity along d while it slips. The end of its onset is an event, too, of
** its second row. Row m has the guard of the pole of the forces.
*/
typedef enum NsGuardKind { GUARD_NONE, GUARD_GAP, GUARD_FORCE, GUARD_STICK, GUARD_SLIP, GUARD_ONSET, GUARD_POLE } NsGuardKind;
NsGuardKind ns_ed_guard_kind(const NsEventDriven *ed, int row);

/*
** A drive begins at t_k, with h as the usual length of a step: reads options and memories of the objects. ns_ed_start_rows: sets laws
** and states of the rows from the objects.
*/
NsStatus ns_ed_begin(NsEventDriven *ed, double t_k, double h, const NsDrive *drive, NsError *err);
void ns_ed_start_rows(NsEventDriven *ed);

/* Whether the rows obey the laws where a step begins. A contact that a script has opened is not active. */
NsStatus ns_ed_check_rows(NsEventDriven *ed, NsError *err);

/* After a step without an event: updates the levels at which open contacts close, and the directions of sliding. */
NsStatus ns_ed_renew_levels(NsEventDriven *ed, NsError *err);

/* Computes the accelerations with the active constraints at (t, q, v): ed->lambda, ed->acceleration. */
NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err);

/* force (m) = the forces of all rows at the last accelerations: multipliers, and what friction that slips adds. */
void ns_ed_forces(const NsEventDriven *ed, double *force);

/* The y below which a contact counts as closed. */
double ns_ed_tolerance(const NsEventDriven *ed, int row);

/*
** The rounding error of y: that of its terms, or the drift in a step of the motion of length h: y'' = 0 of a body that others hold
** has the rounding of its terms, and y has h^2 times that. The drift matters where y = 0 has no terms of its own.
*/
double ns_ed_rounding(const NsEventDriven *ed, int row);
void ns_ed_measure_drift(NsEventDriven *ed, double h);

/* The level of a row that touches with this y. Rounding of y above the level is no event. */
double ns_ed_touching_level(const NsEventDriven *ed, int row, double y);

/* The time resolution: max_step, or 1/RESOLVED of the run. It limits the steps where a force may depend on time. */
double ns_ed_resolution(const NsEventDriven *ed);

/* Looks for an event in the last step of ed->rk: *row, or -1. When there is one, the step is repeated and ends at it. */
NsStatus ns_ed_search(NsEventDriven *ed, int *row, NsError *err);

/* Handles the event at ed->t: impacts, rest, forces. Updates the state and the active constraints. */
NsStatus ns_ed_handle(NsEventDriven *ed, NsError *err);

/*
** The dense output of the step, for ed->sink (nothing happens when that is NULL). Before an event: dense_start at the start of the
** step, with the multipliers of the memories, or dense_before. dense_after tells both sides, once the event is handled.
** dense_piece tells the last step of ed->rk, before its end is projected on the constraints.
*/
NsStatus ns_ed_dense_start(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_dense_before(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_dense_after(NsEventDriven *ed, NsError *err);
NsStatus ns_ed_dense_piece(NsEventDriven *ed, NsError *err);

/* The number of values in a row of the dense output. */
int ns_ed_columns(const NsEventDriven *ed);

/* Whether friction begins in this row. Whether this row or the one before is the first row of friction in this stick-slip state. */
static inline bool ns_ed_friction_is(const NsEventDriven *ed, int row, StickSlip stick_slip) {
  return ed->rows[row].friction.width > 0 && ed->rows[row].friction.stick_slip == stick_slip;
}

/* The sliding speed |u| of friction that begins in this row; its velocity along the direction d of sliding. */
double ns_ed_sliding_speed(const NsEventDriven *ed, int row);
double ns_ed_sliding_along(const NsEventDriven *ed, int row);

/*
** The guard of friction that sticks: (mu lambda_n)^2 - |lambda_t|^2, or (lambda - lower)(upper - lambda) with the finite bounds
** (INFINITY when there are none), at the last accelerations. *scale: its size.
*/
double ns_ed_stick_guard(const NsEventDriven *ed, int row, double *scale);

/*
** The pole of the forces. ns_ed_pole_begin: a mode begins; the accelerations have been computed. ns_ed_pole_guard: positive until
** the pole, at the last accelerations. ns_ed_pole_contact: the normal row of the slipping contact whose force is largest there.
*/
void ns_ed_pole_begin(NsEventDriven *ed);
double ns_ed_pole_guard(const NsEventDriven *ed);
int ns_ed_pole_contact(const NsEventDriven *ed);

/* Of friction at the onset of slip: how far the force that would make it stick is below the one at which the onset ends. */
double ns_ed_youth(const NsEventDriven *ed, int row);

/* Whether friction that begins to slip in space with the acceleration a is at the onset of slip; size: sum of the |terms| of a. */
bool ns_ed_begins_onset(const NsEventDriven *ed, double a, double size);

/* sqrt(a^2 + b^2); powers of two as units change no bit. */
double ns_ed_length(double a, double b);

/*
** The modes of friction. ns_ed_modes_new takes memory for m rows; NULL: no memory. ns_ed_choose decides which of the rows
** ed->closed are active, stick and slip: ed->active, ed->acting, ed->lambda and what sticks and slips. Friction whose flag in ed->resting is set
** has u = 0. *impulse: there are no forces, and an impulse without collision, in ed->z, goes before.
*/
struct NsModes *ns_ed_modes_new(NsArena *arena, int m);
NsStatus ns_ed_choose(NsEventDriven *ed, bool *impulse, NsError *err);

/* At the pole of the forces at `contact` (a normal's row): finds the impulse without collision that goes on, in ed->z, or fails. */
NsStatus ns_ed_pass_pole(NsEventDriven *ed, int contact, NsError *err);

/* Solves the problem W z + q of n rows (ed->groups, ed->W, ed->q_part are set): ed->z. */
NsStatus ns_ed_solve(NsEventDriven *ed, int n, const int *rows, const char *what, NsError *err);

/*
** Makes the answer ed->z of the problem in ed->W, ed->q_part, ed->groups (n rows) exact to rounding, by the equations of its own
** active set. An answer that is exact, or that has no better one, stays.
*/
void ns_ed_polish(NsEventDriven *ed, int n);

/* Whether the force z of a closed row is more than rounding. own: W of the row. */
bool ns_ed_carries(const NsEventDriven *ed, int k, int row, double own, double z);

/* The modes for a solver outside of the engine (event_exchange.c). */
extern const NsSchemeExchange ns_ed_exchange;

/* The name for messages: EventDriven, or the integrator when its steps have a fixed length. */
const char *ns_ed_name(const NsEventDriven *ed);

/* Fails: a step of the grid has more than max_events. */
NsStatus ns_ed_too_many_events(const NsEventDriven *ed, NsError *err);

/* The name of a row for messages: the name of its interaction. */
const char *ns_ed_row_name(const NsEventDriven *ed, int row);

#endif
