/*
** newton.h
** Semismooth Newton for boxes on the natural map ("min") and on the Fischer-Burmeister function, with a line search.
*/
#pragma once

#include "solvers/map.h"
#include "solvers/method.h"

typedef enum NsNewtonFunction { NS_NEWTON_MIN, NS_NEWTON_FB } NsNewtonFunction;

/* Vectors for problems of up to nmax variables. */
typedef struct NsNewton {
  double *F, *d, *e, *w, *step, *w_step, *trial, *w_trial, *gradient;
} NsNewton;

/* Newton on either function from the guess, then the active set at its end. For dense and sparse M. */
extern const NsMethod ns_box_newton_min, ns_box_newton_fb;
