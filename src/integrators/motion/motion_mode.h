/*
** motion_mode.h
** The mode of mechanics: what the motion between two events depends on, beside the state. Private to motion/.
*/
#pragma once

#include "integrators/motion.h"

typedef enum RowState { ROW_OPEN, ROW_DEPARTING, ROW_ACTIVE } RowState;

/* NONE: an open contact, or a row without friction. */
typedef enum StickSlip { FRICTION_NONE, FRICTION_STICK, FRICTION_SLIP } StickSlip;

/*
** The friction of a contact, or of a relay. It belongs to the row of its first tangential component; a relay has one component. A contact with
** rolling friction has two: of the slip, and of the rolling. With the tangential velocity u (of rolling: the angular one) and force lambda:
**   friction   |lambda| <= mu lambda_n, and lambda = -mu lambda_n u / |u| where u is not 0;
**   relay      lower <= lambda <= upper, and lambda = lower where u > 0, lambda = upper where u < 0. The friction of a joint is one, too.
*/
typedef struct Friction {
  int width;  /* number of components; 0: no friction begins in this row */
  int normal; /* row of the contact's normal; -1: a relay */
  double mu, lower, upper;
  int reaction, reactions; /* friction in a joint: the bounds follow the reaction, the multipliers of these rows; else 0, 0 */
  double own,
      impulse;  /* of a joint: lower and upper are -+(own + mu |reaction|), and the impulse of an impact is at most this */
  double slope; /* of mu by the velocity along d, where mu depends on the slip */
  bool slides;  /* mu depends on the slip, and has its value at the last accelerations */
  bool varies;  /* they are functions of time, likewise */
  StickSlip stick_slip;
  bool unsure;   /* at the start of a step: the bound is 0, so that the force does not tell whether it sticks or slips */
  bool onset;    /* slip in space: it has just begun, and u has the direction in which it is pulled, see event_active.c */
  bool tied;     /* slip: the force is at its bound, but what else is active keeps u = 0 */
  double d[2];   /* slip: the direction of u, a unit vector; in the plane and of a relay d[0] is 1 or -1 */
  double since;  /* slip: the time at which it began with u = 0; NAN: it began with another u */
  double pull;   /* slip: the acceleration along d at `since`; 0: it is only rounding */
  double begins; /* slip in space: d stays until |u| has come to this; 0: it has */
  double level;  /* stick: slip begins where the guard, the distance of lambda to its bounds, falls to this level */
  double force;  /* lambda of the first component before an event */
  bool stops;    /* slip in space: u is nearly 0, and the direction stays d until u is 0 */
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

/*
** A mode is one block: `bytes` bytes from `nactive` on, with all arrays. To keep, to copy and to visit it is to do so with the block. A number
** that is added here is in all of these.
*/
typedef struct NsMotionMode {
  int m;
  bool moving; /* the bounds of some friction or relay are functions of time */
  size_t bytes;
  Row *rows;          /* m */
  double *multiplier; /* m: the multipliers of all rows */
  double *lambda;     /* nactive */
  double *share;      /* m: how dependent rows share forces: friction that sticks in proportion to its bound; else 1 */
  double *slow;       /* m: velocities that count as rest */
  double *reach;      /* m: largest |y|, of friction largest |u|, in the run so far; the interactions keep it between steps */
  double *drift;      /* m: largest rounding error of y in a step of the motion, see ns_ed_measure_drift */
  double *pulled;     /* m: of friction at the onset of slip: the forces that would make it stick */
  double *slid;       /* m: sliding speeds at the start of the last step */
  double *along;      /* m: of the equations of a joint with friction: the direction of the reaction, a unit vector */
  int *active;        /* rows: bilateral constraints and active contacts, then friction that sticks */
  int *acting;        /* rows with a multiplier, in order: `active`, and friction that slips */

  /* the block begins; the arrays follow it */
  int nactive, nplaces; /* of `active`; its first rows, which constrain y */
  int nacting;          /* of `acting`: `active`, and friction that slips */
  int asked;            /* with a solver outside: the row whose event was told when a step was accepted; -1: none */
  bool dependent;       /* rows that are active depend on each other; known where derivatives are asked for */
  double h, t_k;        /* the length and the start of the step of the grid */
  double pole_size;     /* det A at the start of the mode, see event_pole.h; 0: nothing is watched */
} NsMotionMode;

/* Takes memory for m rows; NULL: no memory. */
NsMotionMode *ns_motion_mode_new(NsArena *arena, int m);

/* The block. A copy of it, from another mode of m rows or from where it was kept, makes the mode that one. */
void *ns_motion_mode_block(const NsMotionMode *mode);
void ns_motion_mode_take(NsMotionMode *mode, const void *block);

/* Whether two modes have the same forces as functions of the state. */
bool ns_motion_mode_same(const NsMotionMode *a, const NsMotionMode *b);

/* Reads the numbers of the laws: friction, bounds, restitution. The states of the rows stay. */
void ns_motion_mode_read_laws(NsMotionMode *mode, const NsMotion *motion);

/*
** What decides on the event of a row: the gap of an open contact, the force of an active one, or the guard of friction: its
** distance to the bounds while it sticks, its velocity along d while it slips. The end of its onset is an event, too, of
** its second row. Row m has the guard of the pole of the forces; other numbers have none. watched: none also where it never comes to 0.
*/
typedef enum NsGuardKind { GUARD_NONE, GUARD_GAP, GUARD_FORCE, GUARD_STICK, GUARD_SLIP, GUARD_ONSET, GUARD_POLE } NsGuardKind;
NsGuardKind ns_motion_guard_kind(const NsMotionMode *mode, int row);
NsGuardKind ns_motion_watched(const NsMotionMode *mode, int row);

/* Whether friction begins in this row, and is in this stick-slip state. */
static inline bool ns_motion_friction_is(const NsMotionMode *mode, int row, StickSlip stick_slip) {
  return mode->rows[row].friction.width > 0 && mode->rows[row].friction.stick_slip == stick_slip;
}

/* The row in which the friction of a row begins: the row itself, or the one before. Whether the row has friction. */
static inline int ns_motion_friction_row(const NsMotionMode *mode, int row) {
  const Row *r = &mode->rows[row];
  return r->friction.width == 0 && row > 0 && r[-1].friction.width == 2 ? row - 1 : row;
}

static inline bool ns_motion_has_friction(const NsMotionMode *mode, int row) {
  return mode->rows[ns_motion_friction_row(mode, row)].friction.width > 0;
}

/* The multiplier of an active row at the last accelerations; of others 0. */
double ns_motion_active_force(const NsMotionMode *mode, int row);

/*
** The guard of friction that sticks: (mu lambda_n)^2 - |lambda_t|^2, or (lambda - lower)(upper - lambda) with the finite bounds
** (INFINITY when there are none), at the last accelerations. *scale: its size.
*/
double ns_motion_stick_guard(const NsMotionMode *mode, int row, double *scale);

/* sqrt(a^2 + b^2); powers of two as units change no bit. */
double ns_motion_length(double a, double b);
