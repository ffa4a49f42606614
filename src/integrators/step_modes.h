/*
** step_modes.h
** The laws of a step with fixed modes: each row of the multipliers keeps the equation that it has in the solution.
*/
#pragma once

#include "model/nsds.h"

/*
** The mode of a row, with its equation. Contacts with friction: the tangents of one that sticks are ACTIVE; the tangents of one that
** slips are UPPER or LOWER in the plane (lambda = +- mu lambda_n), SLIPS in space (lambda = -mu lambda_n y / |y|).
*/
typedef enum NsStepMode {
  NS_STEP_OPEN,   /* lambda = 0 */
  NS_STEP_LOWER,  /* lambda = lower bound */
  NS_STEP_UPPER,  /* lambda = upper bound */
  NS_STEP_ACTIVE, /* y = 0 */
  NS_STEP_SLIPS
} NsStepMode;

/* The rows of a graph at a solution, M numbers each. */
typedef struct NsStepRows {
  const NsNsds *graph;
  const bool *open;                    /* rows that took no part in the step */
  const double *y, *lambda;            /* outputs in the laws, multipliers */
  const double *y_terms, *lambda_most; /* sizes: the sum of the terms of y; the largest |lambda| so far */
  NsStepMode *mode;
  double part;    /* of a step of the grid that the step is (ns_step_part) */
  bool one_sided; /* a weakly active row is at its bound */
} NsStepRows;

/*
** Finds the modes. NS_EARG when a row is weakly active, y and lambda - bound both 0 up to rounding; err names the interaction and
** the row. t: the end of the step.
*/
NsStatus ns_step_modes(const NsStepRows *rows, double t, NsError *err);

/* out (M) = the equations of the rows at y and lambda. */
void ns_step_law_rows(const NsStepRows *rows, const double *y, const double *lambda, double *out);

/* out (M) = their change with dy and dlambda, at the solution. */
void ns_step_law_change(const NsStepRows *rows, const double *dy, const double *dlambda, double *out);

/* Whether the equations are not linear: some contact slips, with a coefficient of friction that depends on the slip. */
bool ns_step_slides(const NsStepRows *rows);

/* Whether rows may be hit: contacts between velocities. */
bool ns_step_has_contacts(const NsNsds *graph);

/* NS_EARG when a mode differs from the mode of the step before; err names the interaction, the row and the time. */
NsStatus ns_step_same_modes(const NsStepRows *rows, const NsStepMode *before, double t, NsError *err);

/*
** A step whose start has the outputs `start` (M) must not switch in between: `first`: no step before it tells its modes. NS_EARG when
** it does, or when a contact is hit. touches (M): rows that are 0 at the start, up to rounding, but not in the step.
*/
NsStatus ns_step_steady(const NsStepRows *rows, const double *start, bool first, double t, bool *touches, NsError *err);

/* NS_EARG: the run starts where row `row` switches, and a parameter decides on which side. */
NsStatus ns_step_undecided(const NsStepRows *rows, int row, double t, NsError *err);
