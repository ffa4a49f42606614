/*
** dae_method.h
** A solver of F(t, y, y') = 0 that an optional module brings, as a table of functions.
*/
#ifndef NS_ODE_DAE_METHOD_H
#define NS_ODE_DAE_METHOD_H

#include "ode/dae.h"

/*
** Each function has the contract of its namesake in ode/dae.h, but for these: start says t_last, the last time that
** go_to will be asked for, past which nothing is evaluated, and may fail (NS_EARG with a message). The table lives as long as the process.
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
