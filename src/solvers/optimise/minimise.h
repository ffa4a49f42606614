/*
** minimise.h
** Minima of a function within bounds and under constraints: what the core and the module of NLopt exchange.
*/
#pragma once

#include "base/engine.h"
#include "solvers/optimise/smooth.h"

/* Minimise objective(x), lower <= x <= upper, equal(x) = 0, above(x) >= 0. The m of a constraint may be 0. */
typedef struct NsMinimiseProblem {
  NsSmooth objective, equal, above;
  const double *lower, *upper; /* n each; infinities allowed */
} NsMinimiseProblem;

/*
** algorithm: NLopt's name, "LD_SLSQP". The tolerances are relative and absolute, of the values of the objective and of x; those
** of constraints (one for each row) are absolute. seed: of the algorithms with random numbers.
*/
typedef struct NsMinimiseOptions {
  const char *algorithm;
  double ftol, ftol_absolute, xtol, xtol_absolute;
  const double *equal_tolerance, *above_tolerance;
  int calls; /* largest number of evaluations of the objective */
  unsigned long seed;
} NsMinimiseOptions;

/* How a search ended. */
typedef enum NsMinimiseEnd { NS_MIN_COST, NS_MIN_STEP, NS_MIN_CALLS, NS_MIN_ROUNDING, NS_MIN_FAILED } NsMinimiseEnd;

typedef struct NsMinimiseInfo {
  NsMinimiseEnd ended;
  double value; /* the objective at x */
  int evaluations, gradients;
} NsMinimiseInfo;

/* Finds a minimum from x (n), which becomes the best point. NS_EARG: the algorithm or its options; failures of the functions. */
typedef NsStatus (*NsMinimise)(const NsEngine *engine, const NsMinimiseProblem *problem, const NsMinimiseOptions *options,
                               double *x, NsMinimiseInfo *info, NsError *err);

/* The interface of the module. */
typedef struct NsMinimiser {
  NsMinimise minimise;
  const NsEngine *engine;
} NsMinimiser;
