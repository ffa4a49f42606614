/*
** motion_guard.h
** The guards of mechanics: one table for the search, for a solver outside of the engine, and for derivatives. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_tangent.h"

/* A part of the last step, from `from` on; from and width are parts of the step's length. */
typedef struct NsGuardPiece {
  double from, width, length;
} NsGuardPiece;

/*
** A kind of guard: a number of a row that is positive in the mode, and falls to its level at the event. What is NULL is the default.
** The functions are called where the accelerations, and (GAP) the outputs of the row, have been evaluated last.
*/
typedef struct NsMotionGuard {
  const char *event; /* the kind of its event in a given mode; NULL: scripts can't follow it */
  bool forces;       /* it is a function of the forces: they are evaluated; else the outputs of its row do */
  double (*value)(const NsEventDriven *ed, int row);
  double (*noise)(const NsEventDriven *ed, int row); /* the rounding error of the value */

  /* The level for a solver outside of the engine. NULL: 0. */
  double (*level)(const NsEventDriven *ed, int row);

  /* The value's polynomial b (degree *n) on a piece of the last step becomes positive until the event. NULL: it is. */
  void (*polynomial)(const NsEventDriven *ed, int row, const NsGuardPiece *piece, double noise, int *n, double *b);

  /* How far it is from its event at the end of the last step, its rate, and its rounding error. NULL: the time is not polished. */
  NsStatus (*distance)(NsEventDriven *ed, int row, double *off, double *rate, double *rounding, NsError *err);

  /* Derivatives of the value by the states, and by the parameters. NULL: the event has none. */
  NsMotionGuardSlope *slope;
  void (*vjp)(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known);
} NsMotionGuard;

/* By NsGuardKind. */
extern const NsMotionGuard ns_motion_guards[];

/* The guard of a row, whether or not it is watched. */
static inline const NsMotionGuard *ns_motion_guard(const NsEventDriven *ed, int row) {
  return &ns_motion_guards[ns_motion_guard_kind(ed->mode, row)];
}

/* For ns.dynamics (simulation/mode.h). */
extern const NsGivenMode ns_motion_given;

/* For a solver outside of the engine: above 0 in the mode; 1 where it is not watched. */
double ns_motion_guard_outside(const NsEventDriven *ed, int row);
