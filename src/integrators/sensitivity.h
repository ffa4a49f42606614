/*
** sensitivity.h
** Derivatives of the states of a run by parameters: the companion of a scheme that goes from event to event (`drive`).
*/
#pragma once

#include <stdint.h>

#include "model/parameter_place.h"
#include "ode/bernstein.h"
#include "ode/event_search.h"
#include "ode/variational.h"

/*
** S = d u / d parameters of the states u of an island, carried along the plain run, which it does not change:
**   smooth motion  S' = F_u S + F_p along the accepted pieces, F: the rates in the mode of the piece;
**   event          dt/dp = -(g_u S + g_p) / (g_u f- + g_t) of its time, g: the guard in the mode before, f-: the rates before;
**                  S+ = R_u (S + f- dt/dp) + R_t dt/dp + R_p - f+ dt/dp, R: the reset with its active set fixed.
** Derivatives that the model does not give are differences (model/difference.h, or central ones of order 4) of the maps in the fixed mode.
** Hiskens and Pai, Trajectory sensitivity analysis of hybrid systems, IEEE Trans. Circuits Syst. I 47(2), 2000.
*/

/* Options of a run's sensitivities. */
typedef struct NsSensitivityOptions {
  double rtol; /* tolerance of S along a piece, relative to the size of each element so far; see ns_sensitivities_new for NAN */
  bool adjoint;   /* the run is recorded (sensitivity_tape.h), and S is not carried */
  double memory;  /* adjoint: bytes that the record may take; see simulation/sensitivities.h. 0: any */
  int places;     /* the last parameters, which are not shown: numbers of the model that actions of clocks write */
  double *held;   /* places x (p - places): their derivatives, since the last instant of a clock; see ns_sensitivity_show */
  bool one_sided; /* at a grazing or simultaneous event: go on with the side that the run takes */

  /* Time stepping: the steps end with a projection of the coordinates (NsSchemeSettle) to this tolerance; 0: they do not. */
  double settles;
  bool settles_absolute;
} NsSensitivityOptions;

typedef struct NsSensitivity NsSensitivity;

/* A map from (t, u) to numbers: guard k, a reset; k: see the map. */
typedef NsStatus (*NsLinearisationMap)(void *context, int k, double t, const double *u, double *out, NsError *err);

/* Smooth motion in a fixed mode, on a workspace of its own: the scheme's is not touched. */
typedef struct NsLinearisation {
  void *context;
  int n;              /* numbers of u */
  const double *size; /* n: sizes of u in the run; 0: not known */
  double h;           /* length of the step of the grid */
  bool constant;      /* F_u is the same at all t and u */
  bool implicit;      /* F_u may be stiff */
  void *rates;        /* the context for the rate of the stepper of the run (integrators/hybrid/hybrid.h) */

  /* Numbers of the model have changed: the next calls must see them. */
  NsStatus (*reread)(void *context, double t, NsError *err);
  NsStatus (*rate)(void *context, double t, const double *u, double *rate, NsError *err);
  NsLinearisationMap guard; /* one number */

  /* n: the sums of the absolute terms of the last rate, where multipliers may cancel the other ones; NULL: there are none (or no function). */
  const double *(*rate_terms)(void *context);

  /*
  ** Closed forms, or NULL. terms: J (n x n; NULL: not wanted) = F_u, where *exact, and the columns of P (n x p; NULL: not wanted) = F_p
  ** with known[j]. slope: gu (n) = the derivative by u of guard k; *still: it does not depend on t. reset: A (n x n)
  ** = the derivative of a map of events, which then does not depend on t. *exact = false: take differences.
  */
  NsStatus (*terms)(void *context, double t, const double *u, double *J, double *P, bool *known, bool *exact, NsError *err);
  NsStatus (*slope)(void *context, int k, double t, const double *u, double *gu, bool *still, bool *exact, NsError *err);
  NsStatus (*reset)(void *context, NsLinearisationMap map, double t, const double *u, double *A, bool *exact, NsError *err);

  /* X (nx x p) = d x / d parameters at (t, u), from S (n x p). */
  NsStatus (*states)(void *context, NsSensitivity *s, double t, const double *u, const double *S, double *X, NsError *err);

  /*
  ** For a tape (sensitivity_tape.h). keep: `to` (mode_bytes) = the present mode; take: the mode becomes the one that was kept, at a
  ** point of its piece; *same: F_u is the same function as before. place: place[i] (nx) is the index in u of x[i].
  */
  size_t mode_bytes;
  void (*keep)(void *context, void *to);
  NsStatus (*take)(void *context, const void *from, double t, const double *u, bool *same, NsError *err);
  void (*place)(void *context, int *place);

  /*
  ** Derivatives by parameters at a point, in closed form, or NULL: vjp: F_p' mu, for a tape; vjp_guard: of guard
  ** k; vjp_map: of a map of events, column j of out (n x p) with n = lin.n. out has those with known[j] (p).
  */
  NsStatus (*vjp)(void *context, double t, const double *u, const double *mu, double *out, bool *known, NsError *err);
  NsStatus (*vjp_guard)(void *context, int k, double t, const double *u, double *out, bool *known, NsError *err);
  NsStatus (*vjp_map)(void *context, NsLinearisationMap map, double t, const double *u, double *out, bool *known, NsError *err);
} NsLinearisation;

/* The integrator of the linear equations, of S or of the adjoint; ns_sensitivity_integrator keeps the last one when it fits. */
typedef struct NsLinearEquations {
  NsVariational *variational;
  int n;
  bool implicit, forced;
} NsLinearEquations;
NsStatus ns_sensitivity_integrator(NsLinearEquations *of, const NsVariationalProblem *problem, NsError *err);

/* The piece that is integrated: F_u and F_p at its nodes, NS_BERNSTEIN_SIZE blocks n x n and n x p; fixed: J is the same at all nodes. */
typedef struct NsSensitivityPiece {
  double from, to, *J, *P;
  bool fixed;
} NsSensitivityPiece;

/* Workspace, n x p each. memory (memory_rows x p): the derivatives of what a time step takes from steps before; NULL: nothing. */
typedef struct NsSensitivityColumns {
  double *P, *slope, *dense;
  double *memory[2];
  int memory_rows[2];
} NsSensitivityColumns;

/* Differences: displacements that were good last (n, p), 0: none; largest elements of F_p so far (n x p); workspace (n; of n numbers). */
typedef struct NsSensitivityDifference {
  double *part, *parameter_part, *most, *u, *far, *kept, *room;
} NsSensitivityDifference;

struct NsSensitivity {
  const NsSensitivityOptions *options;
  const NsParameter *parameters; /* p, borrowed */
  int p, nx, n;                  /* parameters; states x of the island; numbers of u, at most nx */
  bool *acts;                    /* p: the parameter is a number of this island's model */
  bool begun;                    /* S has been started */
  double t_k, t;                 /* S_k is S at t_k, the start of the last interval; S is S at t */
  double *S_k, *S;               /* n x p */
  double *X;                     /* nx x p: d x / d parameters at t, in the order of the states of the systems */
  double *X_before;              /* nx x p: X before an event, for the scheme that keeps it */
  double *nodes;                 /* NS_BERNSTEIN_SIZE blocks nx x p: X along the last piece; see keeps_nodes */
  bool keeps_nodes;              /* somebody wants X along the pieces */
  bool wants_rates;              /* somebody wants xdot */
  double *xdot;                  /* nx: the rates of x at the end of the last piece */

  /* the last event */
  double *dt;                /* p: derivatives of its time */
  double *before;            /* n x p: S before it */
  double *f;                 /* n: rates before it */
  struct NsEventSlopes *log; /* receives dt */
  struct NsRunTape *tape;    /* NULL; else it records the run, and S stays as at the start; see also `pending` */
  bool pending; /* a time step is computed in parts: the tape records them, until S goes through them (step_adjoint.h) */
  long told;    /* the number of its row in the log, from 1 */

  /* the scheme's own copy of its workspace */
  void *lin;
  void (*free_lin)(void *lin);

  /* workspace */
  NsArena arena;
  uint64_t changes;          /* counts the changes of numbers, for versions */
  double *most;              /* n x p: largest |S| so far */
  double *rate_most;         /* n: largest rates so far */
  double *direction, *value; /* n */
  NsSensitivityColumns columns;
  NsSensitivityPiece piece;
  NsSensitivityDifference diff;
  double *size;  /* n: sizes of u */
  bool *known;   /* p: the parameter has a closed form at the last point */
  double *least; /* p: relative sizes of columns that a piece gives */
  NsLinearEquations equations;
  bool driven; /* some parameter acts */
};

/* The derivatives of the times of events in a run: rows of p numbers. A zeroed one is empty. */
typedef struct NsEventSlopes {
  int p;
  long count, capacity;
  double *dt;
} NsEventSlopes;

/* A new row, of zeros; NULL: there is not enough memory. */
double *ns_event_slopes_add(NsEventSlopes *log);

/* Makes the companion of an island whose systems have nx states. NS_ENOMEM. */
NsStatus ns_sensitivity_new(NsSensitivity **sensitivity, const NsNsds *graph, const NsParameter *parameters, int p,
                            const NsSensitivityOptions *options);
void ns_sensitivity_free(NsSensitivity *sensitivity);

/*
** A parameter becomes `value`, for a difference, with the numbers that move with it. The version of its coefficient was `seen` before,
** and becomes one that it has never had. restore: the numbers and the versions are again what they were.
*/
void ns_sensitivity_set(NsSensitivity *s, const NsParameter *parameter, double value, uint64_t seen);
void ns_sensitivity_restore(const NsParameter *parameter, double value, uint64_t seen);

/*
** out (rows x (p - places)) = X of the parameters that are shown, from the X (rows x p) that is carried: a place acts as a parameter from the last
** instant on, and has itself derivatives: X = X_p + X_places held.
*/
void ns_sensitivity_show(const NsSensitivityOptions *options, int p, int rows, const double *X, double *out);

/* X = d x0 / d parameters. */
void ns_sensitivity_initial(NsSensitivity *s, const NsNsds *graph);

/*
** An interval begins at t: S becomes the S at t, which is the end of the last interval, or its start when it is computed again.
** At the first interval (not `begun`) the caller sets S and S_k then.
*/
void ns_sensitivity_begin(NsSensitivity *s, double t);

/*
** Functions of the script may read parameters by themselves (read_aside): such a parameter acts on every island, and closed forms, which
** know what the engine gives to functions, do not know it. ns_sensitivity_doubt: known (p) becomes false there.
*/
void ns_sensitivity_doubt(NsSensitivity *s, bool *known);

/* S goes along a piece of smooth motion, dense: u. Statuses of the model's callbacks, NS_ENOCONV, NS_ENOMEM. */
NsStatus ns_sensitivity_piece(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err);

/* Whether a piece is too short for S to change in it. */
bool ns_sensitivity_holds(double t_old, double t);

/*
** The derivative of a map of `count` numbers along (dt, du, parameter j): out. du NULL: 0; j < 0: no parameter. The model is
** unchanged afterwards, also after a failure.
*/
NsStatus ns_sensitivity_along(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, int k, int count, double t,
                              const double *u, double dt, const double *du, int j, double *out, NsError *err);

/* change (count <= 2) = the derivative of a map along S of parameter j; 0 where it is at most `part` of the sum of its |terms|. */
NsStatus ns_sensitivity_change(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, int k, int count, double t,
                               const double *u, int j, double part, double *change, NsError *err);

/*
** The closed forms of a map of events at (t, u): A (n x n), where *exact, and the columns of B (n x p) with s->known[j]. A is the
** derivative by u; the map does not depend on t then.
*/
NsStatus ns_sensitivity_map_terms(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t,
                                  const double *u, double *A, double *B, bool *exact, NsError *err);

/* A guard for ns_sensitivity_event, and its name for messages. */
typedef struct NsLinearisationGuard {
  int k;
  const char *name;
} NsLinearisationGuard;

/*
** An event at (t, u): its guards reach 0 (the first one is the event's own, the others are at 0 to rounding). Computes s->dt.
** NS_EARG when the guard grazes 0, or when the guards do not stay together, unless one_sided.
*/
NsStatus ns_sensitivity_event(NsSensitivity *s, const NsLinearisation *lin, const NsLinearisationGuard *guards, int count,
                              double t, const double *u, NsError *err);

/* *falls: whether a guard falls along the motion at (t, u), by more than one that grazes. */
NsStatus ns_sensitivity_falls(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u, bool *falls,
                              NsError *err);

/*
** The mode changes where a step begins. S becomes the S of an event at the given time t. The derivative of the event's time is 0 at a
** fixed time, the start of the run; else the log gets NaN, as data may have changed there, or a guard may have come to 0 by chance.
*/
NsStatus ns_sensitivity_restart(NsSensitivity *s, const NsLinearisation *lin, bool fixed, double t, const double *u,
                                NsError *err);

/* The event at (t, u) belongs to the last one: its time has the same derivatives, s->dt. */
NsStatus ns_sensitivity_same_event(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err);

/*
** The resets of an event, one after the other: enter, after ns_sensitivity_event or ns_sensitivity_restart; map for
** each reset, at the u before it; leave at the u after the event, in the motion after it.
*/
void ns_sensitivity_enter(NsSensitivity *s);
NsStatus ns_sensitivity_map(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t, const double *u,
                            NsError *err);
NsStatus ns_sensitivity_leave(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err);

/*
** For those that record. The derivatives of a guard at an event: by u in s->value (n), by t, along the motion before it; grazes: the
** guard only touches 0. In the motion before the event, whose rates are s->f.
*/
typedef struct NsGuardSlope {
  double t, rate, scale; /* scale: the sum of the terms of `rate` at the sizes of the rates so far */
  bool grazes;
} NsGuardSlope;
NsStatus ns_sensitivity_slope(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u,
                              NsGuardSlope *slope, NsError *err);

/* The same, and by_p (p) = its derivatives by the parameters. */
NsStatus ns_sensitivity_guard(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u,
                              NsGuardSlope *slope, double *by_p, NsError *err);

/* Whether two times with the derivatives a and b (n) are the times of one event. */
bool ns_sensitivity_one_event(int n, const double *a, const double *b);

/* NS_EARG: the order of the events a and b at t depends on the parameters. */
NsStatus ns_sensitivity_order(double t, const char *a, const char *b, NsError *err);

/* Notes the sizes of rates and states at a point. */
NsStatus ns_sensitivity_note(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, NsError *err);

/* F_u and F_p, and their values between the nodes of a piece. parameters: F_p, too. */
NsStatus ns_sensitivity_sample(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, double a, double b,
                               bool parameters, NsError *err);
void ns_sensitivity_jacobian(NsSensitivity *s, double t, double *J);

/* Column j of F_p at a point. The model is unchanged afterwards. */
NsStatus ns_sensitivity_column(NsSensitivity *s, const NsLinearisation *lin, double t, const double *u, int j, double *out,
                               NsError *err);

/* The event has no effect on S, and its time no derivative: S is that before it, dt is NaN. */
void ns_sensitivity_undo(NsSensitivity *s);

/* NS_EARG: the event `name` at t grazes. */
NsStatus ns_sensitivity_grazes(double t, const char *name, NsError *err);
