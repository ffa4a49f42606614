/*
** ode_sensitivity.h
** The option `sensitivities` of ns.solve_ivp: the parameters, and exact derivatives of f, events and apply by them.
*/
#pragma once

#include "bind/ode/ode_call.h"
#include "bind/ode/ode_shadow.h"
#include "ode/ivp_adjoint.h"

/* Where the numbers of an argument in `args` are among all differentiated ones. */
typedef struct NslSensitivityArg {
  int first, count; /* count 0: the argument is no parameter */
  bool number, list;
} NslSensitivityArg;

/* The parameters, and what the derivatives need. Pointers are into userdata on the stack of the solve. */
typedef struct NslSensitivity {
  NslOde *ode;
  const char *option; /* for messages: "sensitivities", "parameters" */
  NsIvpDerivatives derivatives;
  int n, p, numbers; /* states, parameters, numbers in the arguments that are differentiated */
  int *column;       /* p: k < n: y0[k]; n + k: number k of the arguments */
  NslSensitivityArg args[NSL_ODE_ARGS];
  double *w;                       /* 1 + numbers: space for t, and the numbers */
  double *S0;                      /* n x p */
  double *by_w;                    /* n x (1 + numbers) */
  double *y;                       /* n: workspace */
  NslShadow f_shadow, cost_shadow; /* traces of f and of the rate of the cost */
  double *J, *P;                   /* n x n, n x p: workspace of the adjoint pass */
  double *bar;                     /* derivatives by all inputs of a trace */
  double *all;                     /* n x inputs: the derivatives of f by y and args */
  int last;                        /* one past the last input of args */
  int *input;                      /* p: the parameter's number among the inputs of a trace; -1: none */
  double terminal;                 /* the last value of terminal */
  const NsIvpAdjoint *adjoint;     /* on the adjoint pass */
  double rtol;
  bool one_sided;
  int f, events, applies, names; /* stack indices: the functions as shims; the list of the parameters' names */
} NslSensitivity;

/*
** Reads the option at stack index idx (a name, or a list of names with the keys rtol and on_grazing), after nsl_ode_read_callbacks
** and the reading of the events; (t, y) is the start. Pushes what must stay on the stack. Raises.
*/
void nsl_ode_read_sensitivity(NslSensitivity *sensitivity, NslOde *ode, const char *option, int idx, int events, double t,
                              const double *y);

/*
** Compares a given jac with the exact derivatives of f at (t, y), the start: raises for an entry that differs by more than 1e-6 of
** the terms of its row, with the sizes |y| + atol / rtol. Without a jac, and when f does not take dual numbers, it does nothing.
*/
void nsl_ode_check_jacobian(NslSensitivity *sensitivity, const NsOdeProblem *problem, double t, const double *y);

/* ---- for gradients; the context of these is an NslSensitivity ---- */

/* J' mu and P' mu by the trace of f, at the state that ns_ivp_adjoint_state gives. */
NsStatus nsl_ode_vjp_rate(void *context, double t, const double *mu, double *Jmu, double *Pmu, NsError *err);

/* The functions of NsIvpCost, for the rate of the cost that follows the events in their list. */
NsStatus nsl_ode_cost_value(void *context, double t, const double *y, double *value, NsError *err);
NsStatus nsl_ode_cost_slopes(void *context, double t, const double *y, double *cy, double *cp, NsError *err);

/* *value = terminal(y, args ...), the function at stack index idx; mu (n) = its derivatives by y; gradient (p) += those by args. */
NsStatus nsl_ode_terminal(NslSensitivity *sensitivity, int idx, double t, const double *y, double *value, double *mu,
                          double *gradient, NsError *err);

/* Sets the fields S, sensitivities and dt_events of the result at stack index `result`. */
void nsl_ode_push_sensitivity(const NslSensitivity *sensitivity, const NsIvpSensitivity *values, int result, bool events);
