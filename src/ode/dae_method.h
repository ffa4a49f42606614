/*
** dae_method.h
** The table of functions by which an optional module provides a solver of F(t, y, y') = 0.
*/
#ifndef NS_ODE_DAE_METHOD_H
#define NS_ODE_DAE_METHOD_H

#include "ode/dae.h"

/*
** Each function has the contract of its namesake in ode/dae.h, with one exception: `start` takes t_last, the last time that
** go_to will be asked for (nothing is evaluated beyond it), and may fail (NS_EARG with a message). The table lives as long as
** the process.
*/
typedef struct NsDaeMethod {
  const char *name;
  NsStatus (*make)(void **solver, const NsDaeProblem *problem);
  void (*release)(void *solver);
  const NsDaeState *(*state)(const void *solver);
  NsStatus (*start)(void *solver, double t, const double *y, const double *yd, double h_first, double t_last, NsError *err);
  NsStatus (*go_to)(void *solver, double t_stop, NsError *err);
} NsDaeMethod;

#endif
