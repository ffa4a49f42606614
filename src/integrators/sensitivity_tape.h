/*
** sensitivity_tape.h
** The record of an event-driven run, and the adjoint pass through it: gradients of one number by many parameters.
*/
#pragma once

#include "integrators/sensitivity.h"

/*
** A companion with a tape carries no S. It records instead
**   of smooth motion   the values of u at NS_BERNSTEIN_SIZE nodes of each piece, and the mode;
**   of an event        S+ = A S- + B + T dt/dp  and  dt/dp = -(g_u S- + g_p)  of sensitivity.h, g_u and g_p over the rate of g.
** The adjoint pass carries mu (n) = d(cost) / du, and g (p) = d(cost) / dp of what lies behind:
**   smooth motion      mu' = -F_u' mu - c,  g' = -F_p' mu,  c = d(rate of the cost) / du;
**   event              w = T . mu+ + jump:  mu- = A' mu+ - g_u w,  g += B' mu+ - g_p w.
** `jump` is the fall of the cost's rate at the event. F_u and F_p are computed on the adjoint pass, in the mode of the piece.
** Memory: 9 n numbers and the mode for a piece, n^2 + n k + 2 n + p for an event, k parameters of its reset. What has been dropped is
** recorded again (simulation/sensitivities_again.c). A time-stepping run has an entry for each step, see step_adjoint.h.
** Hiskens and Pai 2000; Cao, Li, Petzold and Serban, SIAM J. Sci. Comput. 24(3), 2003.
*/

/* A piece of smooth motion, or an event. The tape owns the arrays. */
typedef struct NsRunTapeEntry {
  double t_old, t; /* an event: both are its time */
  bool event;
  const void *mode;  /* of a piece; see NsLinearisation.keep */
  double *u;         /* of a piece: NS_BERNSTEIN_SIZE blocks of n */
  bool timed;        /* its time has a derivative, -(gu S- + gp) */
  double *gu, *gp;   /* n, p: the derivatives of its guard over the rate of the guard */
  double *T, *A, *B; /* n; n x n, NULL: the identity; n x columns */
  int columns, *column;
} NsRunTapeEntry;

typedef struct NsRunTape {
  NsArena arena;
  NsArena record; /* holds what the entries point to */
  size_t bytes;   /* of the entries and of what they point to */
  NsRunTapeEntry *entries;
  long count, room, count_k; /* count_k: the count when the last interval began */
  const NsLinearisation *lin;
  const char *refused; /* why the tape can not be used: forward derivatives can */
  const void *mode;    /* the last one that was kept */
  void *spare;         /* bytes of a mode */
  size_t spare_size;

  /* the event that is recorded */
  NsRunTapeEntry event;
  double *A, *B, *T; /* n x n, n x p, n */
  bool mapped;       /* A is not the identity, or B is not 0 */
  bool *acts;        /* p: B has this column */

  /* the adjoint pass */
  long at; /* the next entry; -1: none is left */
  const void *taken;
  double *mu, *g, *x;        /* n, p, nx */
  double *c, *q;             /* at the nodes of an interval: n, p numbers each */
  bool *exact;               /* p: NsLinearisation.vjp knew the parameter */
  double *size, *most, *sum; /* n: sizes of u, |mu| so far; p: sums of sizes of terms of g */
  double *reach;             /* n: integrals of |c| over the run */
  double from, to;           /* the interval of c */
  int *place;                /* nx: u[place[i]] is x[i] */
  NsLinearEquations equations;
} NsRunTape;

/* Gives the companion a tape, before the run. NS_ENOMEM. */
NsStatus ns_run_tape_new(NsSensitivity *s);
void ns_run_tape_free(NsRunTape *tape);

/* What the functions of sensitivity.h do with a tape; ns_run_tape_leave: rate_after (n) are the rates after the event. */
void ns_run_tape_begin(NsRunTape *tape, bool again);
NsStatus ns_run_tape_piece(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err);
NsStatus ns_run_tape_event(NsSensitivity *s, const NsLinearisation *lin, const NsLinearisationGuard *guards, int count,
                           double t, const double *u, NsError *err);
void ns_run_tape_restart(NsSensitivity *s, double t);
void ns_run_tape_enter(NsSensitivity *s);
NsStatus ns_run_tape_map(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t, const double *u,
                         NsError *err);
NsStatus ns_run_tape_leave(NsSensitivity *s, const double *rate_after, NsError *err);
void ns_run_tape_undo(NsSensitivity *s);

/*
** Drops all entries: the record goes on at t, where no interval is being computed. ns_run_tape_again: the entries before t have been recorded
** again, and the adjoint pass, which stands at t, goes on through them.
*/
void ns_run_tape_drop(NsSensitivity *s, double t);
void ns_run_tape_again(NsSensitivity *s);

/* x (nx): the states at t, near which the adjoint pass stands: just before its events, or just after them. False: t is not in the record. */
bool ns_adjoint_state(const NsSensitivity *s, double t, bool before, double *x);

/* Appends a time step: `count` numbers, returned in *u for the caller to fill. NS_ENOMEM. */
NsStatus ns_run_tape_step(NsRunTape *tape, double t_old, double t, ptrdiff_t count, double **u, NsError *err);

/* Whether the last entry is an event at t. */
bool ns_run_tape_ends_with_event(const NsRunTape *tape, double t);

/* The tape can not record this run, forward derivatives may: `why` is a text constant. NS_EARG. */
NsStatus ns_run_tape_refuse(NsRunTape *tape, const char *why, NsError *err);

/* The adjoint pass begins at the end of the run with mu_x (nx) = d(cost) / dx there; reach: see above, of x. NS_ENOMEM. */
NsStatus ns_adjoint_start(NsSensitivity *s, const double *mu_x, const double *reach, NsError *err);

/*
** Goes back from b to a, within one piece. c: of NS_BERNSTEIN_SIZE nodes of [a, b] (ns_bernstein_node) the derivatives of the
** cost's rate by x (nx). Fails as ns_sensitivity_piece does.
*/
NsStatus ns_adjoint_piece(NsSensitivity *s, double a, double b, const double *c, NsError *err);

/* The number of recorded events at t whose time has a derivative; the adjoint pass stands at t. */
int ns_adjoint_events_at(const NsSensitivity *s, double t);

/* Goes back through the events at t, to the one with the number `from` in the record. */
void ns_adjoint_cross(NsSensitivity *s, double t, double jump, long from);

/* mu += c, both of x (nx). */
void ns_adjoint_add(NsSensitivity *s, const double *c);

/* The error of an integral from the error of the interpolation at the nodes (ns_bernstein_interpolate) and the largest value. */
double ns_adjoint_integral_error(double error, double most);

/* rates (nx): xdot at the end of the last piece. Fails as the model does. */
NsStatus ns_adjoint_end_rates(NsSensitivity *s, double *rates, NsError *err);

/* gradient (p) += the gradient of this companion, when the adjoint pass is at the start. */
void ns_adjoint_gradient(const NsSensitivity *s, double *gradient);
