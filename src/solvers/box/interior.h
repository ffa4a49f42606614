/*
** interior.h
** Interior point for monotone box problems: predictor and corrector.
*/
#pragma once

#include "solvers/map.h"
#include "solvers/method.h"

/* Vectors for problems of up to nmax variables. */
typedef struct NsInterior {
  double *a, *b;        /* multipliers of the lower and the upper bounds, w = a - b */
  double *da, *db, *dz; /* their steps */
  double *residual, *barrier, *ones, *ca, *cb;
} NsInterior;

/* Interior point from the guess, then the active set at its end; dense and sparse M. NS_INTERIOR_ONCE: one attempt only. */
extern const NsMethod ns_box_interior;
enum { NS_INTERIOR_ONCE = 1 };
