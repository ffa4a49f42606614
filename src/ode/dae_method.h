/*
** dae_method.h
** The table of functions of a solver of F(t, y, y') = 0: Radau IIA, or a solver of an optional module.
*/
#pragma once

#include "ode/dae.h"

/*
** Each function has the contract of its namesake in ode/dae.h, with these exceptions. `start` takes t_last, the last time that
** the solver will be asked for (nothing is evaluated beyond it), and may fail (NS_EARG with a message). `step` may go past
** t_stop; `at` then gives the values there. `cut` may leave the interpolated values at t; the solver must be restarted from there.
** The table lives as long as the process.
*/
typedef struct NsDaeMethod {
  const char *name;
  bool one_step; /* a step needs nothing of those before it: after a restart the step length from before it is a good one */
  NsStatus (*make)(void **solver, const NsDaeProblem *problem);
  void (*release)(void *solver);
  const NsDaeState *(*state)(const void *solver);
  NsStatus (*start)(void *solver, double t, const double *y, const double *yd, double h_first, double t_last, NsError *err);
  NsStatus (*go_to)(void *solver, double t_stop, NsError *err);
  NsStatus (*step)(void *solver, double t_stop, NsError *err);
  NsStatus (*at)(void *solver, double t, double *y, double *yd, NsError *err);
  NsStatus (*cut)(void *solver, double t, NsError *err);
  NsStatus (*restart)(void *solver, double t, const double *y, const double *yd, double h, NsError *err);
} NsDaeMethod;

/* Radau IIA of order 5 (dae_radau.c). */
extern const NsDaeMethod ns_dae_radau;
