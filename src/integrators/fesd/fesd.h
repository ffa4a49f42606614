/*
** fesd.h
** The workspace of FESDOSI, and the functions that its files share. Private to them.
*/
#pragma once

#include "integrators/accumulation.h"
#include "integrators/fesd/tableau.h"
#include "integrators/motion.h"
#include "integrators/scheme.h"
#include "integrators/flow/equations.h"
#include "integrators/flow/mode.h"

typedef struct NsFesdOptions {
  NsIntegrator base;
  int scheme; /* NsTableauKind */
  int stages;
  int elements;  /* least number of finite elements in a step of the grid */
  int ambiguity; /* an NsAmbiguity: what to do where several motions may follow; first order */
} NsFesdOptions;

/* The mode of a row: lambda = lower and y >= 0; y = 0; lambda = upper and y <= 0. */
enum { MODE_LOWER = -1, MODE_ACTIVE = 0, MODE_UPPER = 1 };

/* lambda of an active row within this part of its size of a bound is at the bound; located switches are within 1e-15. */
#define FESD_AT_BOUND 1e-10

/*
** The numbers of a node: x (N); y and lambda (m); the sum of the |terms| of y; the size by which a violated bound of lambda is
** measured; the bounds of lambda at the time of the node.
*/
typedef struct NsFesdNode {
  double *x, *lambda, *y, *y_size, *lambda_size, *lower, *upper;
} NsFesdNode;

/*
** A finite element [t, t + h], in which the modes do not change. Nodes: 0 is the start, 1 .. s are the stages, s + 1 is the end.
** The numbers of the nodes stand one after the other.
*/
typedef struct NsFesdElement {
  double t, h;
  double *x, *lambda, *y, *y_size, *lambda_size, *lower, *upper; /* nodes times the numbers of NsFesdNode */
  int *mode;                                                     /* m */
  int pieces; /* ns_fesd_resolve has found it resolved, and its signs are tested in so many pieces; 0: it has not */
} NsFesdElement;

/* Terms below this are near underflow and have lost digits. */
#define NS_FESD_FADED 0x1p-970

/* The states of an element, and y and lambda of its smooth motion, at the NS_BERNSTEIN_SIZE points of a polynomial; signs.c. */
typedef struct NsFesdDense {
  double *x, *s, *rate, *error;                  /* points x N: states, differential states, their rates and errors */
  double *y, *lambda, *lower, *upper;            /* points x m; lower, upper: bounds of lambda */
  double *y_error, *lambda_error, *lambda_terms; /* m: what the errors of the states make of them; terms of lambda */
  double *moved, *carried;                       /* N; carried: the error of the states at the first point */
} NsFesdDense;

/*
** Where something may depend on time, a run is divided into so many pieces, with 9 samples each: they are at most T / 328 apart, and
** several of them are in what lasts for T / 100, as in EventDriven.
*/
enum { NS_FESD_PIECES = 64 };

/*
** How the data of the model change in time, in rows: N of the states, m and m of the outputs (`hold` and `gap` of NsFesdPoint), m and m
** of the bounds; resolve.c.
*/
typedef struct NsFesdData {
  bool driven;                          /* something may depend on time */
  double piece;                         /* the part of the run that has 9 samples; infinite where nothing is driven */
  int width;                            /* N + 4 m */
  double *x, *rate, *lambda;            /* N, N, m: the state of the middle of an element, its mean rate */
  double *now, *shown;                  /* width, 5 x width: at one time; at the points of the interpolation */
  double *apart, *varies, *size, *most; /* width: means over an element of |error|, |variation| and |value|; largest |value| */
  double *noise, *terms;                /* width, N: changes in a moment; terms of the rows of the states */
} NsFesdData;

enum { NS_FESD_NODES = NS_TABLEAU_STAGES + 2 };

/* What may end a mode: y of a row reaches 0, or lambda of an active row reaches its bound `side` (MODE_LOWER, MODE_UPPER). */
typedef struct NsFesdGuard {
  int row, side;
} NsFesdGuard;

/*
** The last evaluation, M x' = F, with dF/dx = A, dF/dlambda = B. An active row has hold = 0; its derivatives are C and D. A row
** that is not active has the output gap. First order: hold and gap are y. Mechanics: x = (q, v), M = I, gap is y and hold is dy/dt.
*/
typedef struct NsFesdPoint {
  int N, m;
  double *F, *M, *A, *B, *C, *D;
  const double *hold, *gap;
  double *hold_size; /* m */
} NsFesdPoint;

/* Newton's method in an element: J (n x n), residuals rho (n) and their terms, with n = s (N + m). */
typedef struct NsFesdNewton {
  NsLu *lu;
  double *J, *rho, *size;
  double *kept; /* N: workspace of sizes */
  int capacity; /* its order; 0: not made */
} NsFesdNewton;

/* Laws and modes by row (m). */
typedef struct NsFesdRows {
  bool *fixed;        /* the bounds are equal, and no functions of time: lambda is given */
  int *mode, *before; /* the present modes; those before the last switch */
  bool *tie;          /* several modes of the row may follow */
  double *clear;      /* the row certainly keeps its mode for this time after a switch */
  bool *ended;        /* the row took part in an accumulation that ends here */
  double *reach;      /* mechanics: see NsInteraction */
} NsFesdRows;

/* First order: the smooth motion in a mode, for the choice by rates. */
typedef struct NsFesdFlow {
  NsFlow *of;
  bool begun;      /* in this step */
  NsRowMode *mode; /* m */
  bool *open;      /* m */
  double *s;       /* N: differential states */
} NsFesdFlow;

/* Mechanics: the rows with y = 0 at an impact, and its problem W z + q. */
typedef struct NsFesdImpact {
  int *all;                /* 0 .. m - 1 */
  int n, *closed;          /* the rows with y = 0 */
  int *interaction;        /* of each of them */
  NsMixedGroup *groups;    /* m */
  double *W, *q, *z, *P;   /* m x m, m, m, m: z is the first guess, P the impulses */
  double *u_before;        /* m: u before the impact */
  double *v_before;        /* Nv */
  bool *rests;             /* m: the contact does not bounce in this impact */
  double *impulse, energy; /* Nv: the sum of H' P in the step; its work */
} NsFesdImpact;

/* Mechanics: workspace of differences. */
typedef struct NsFesdSlopes {
  double *moved, *change, *F, *u; /* N, N, N, m */
} NsFesdSlopes;

/* An implicit Euler step dx = step + X lambda, y = Wd lambda + q, for a guess of modes; the bounds of lambda at its end. */
typedef struct NsFesdGuess {
  double *W, *X, *step, *Wd, *q; /* N x N, N x m, N, m x m, m */
  double *lower, *upper;         /* m */
} NsFesdGuess;

typedef struct NsFesd {
  NsScheme base;
  NsEquations eq;          /* first order */
  NsMotion *motion;        /* mechanics; else NULL */
  const NsMotionView *now; /* borrowed vectors of `motion` */
  NsFesdPoint point;
  double *clock;
  int N, m;

  /* the options of the step, and what was made for them */
  NsFesdOptions options;
  NsTableau tableau;
  double node[NS_FESD_NODES]; /* places of the nodes in [0, 1] */
  NsFesdNewton newton;

  /* the step */
  double t_k, t_end, h;
  NsStepSolver solver;
  NsEventLog *log;
  bool first; /* it is the first step of the run */
  double t;
  NsFesdNode end; /* the end of the last element, at t; before the first one, the start */
  NsFesdRows rows;
  long solves, most_solves; /* elements solved in the step, and their limit; see drive_in_elements */
  NsEventMarks marks;       /* the last switches in the step */
  int reached;              /* the row whose switch was located last in the step; -1: none */
  bool broken;              /* the memories violate a law at the start of the step */
  bool anew;                /* the modes are chosen as at a start: it is one, or the memories violate a law */
  bool ambiguous;           /* the step has failed since several motions may follow */
  bool solved;              /* elements[count] is already solved, for the present modes and its own length */
  NsFesdElement **elements;
  int count, room; /* of elements */

  NsFesdFlow flow;
  NsFesdDense dense;
  NsFesdData data;
  NsFesdImpact impact;
  NsFesdSlopes slopes;
  NsFesdGuess guess;
  double *values; /* NS_BERNSTEIN_SIZE x (N + 2 m), of the dense output */
} NsFesd;

/* ---- element.c ---- */

/* Whether another attempt with other modes or shorter elements may help after this status. */
bool ns_fesd_worth_retrying(NsStatus status);

/* Evaluates F, hold and gap of w->point; with `slopes`, M and the Jacobians, too. */
NsStatus ns_fesd_equations(NsFesd *w, double t, const double *x, const double *lambda, bool slopes, NsError *err);

/* The bounds of lambda (m each) at time t. Statuses of ns_interaction_update_bounds. */
NsStatus ns_fesd_bounds(NsFesd *w, double t, double *lower, double *upper, NsError *err);

/* Whether lambda of a row has a bound at a node. */
bool ns_fesd_bounded(NsFesdNode node, int row);

/*
** Reads the bounds, and measures y and lambda, at w->t. The size of y is at least its change by time alone, for equal states, in an element of length h.
*/
NsStatus ns_fesd_measure(NsFesd *w, double h, NsError *err);

/* The numbers of node k of an element; *to = *from. */
NsFesdNode ns_fesd_node(const NsFesd *w, const NsFesdElement *e, int k);
void ns_fesd_copy_node(const NsFesd *w, NsFesdNode from, NsFesdNode to);

/* The sum of the |terms| of each row of the states (N) over an element of length h, by the last Jacobians. */
void ns_fesd_state_terms(const NsFesd *w, double h, const double *x, const double *lambda, double *terms);

/* Makes the memory of Newton's method for the present tableau. NS_ENOMEM. */
NsStatus ns_fesd_prepare(NsFesd *w);

/* The next element after `count`, which starts at the end of the last one, with the present modes. NULL: no memory. */
NsFesdElement *ns_fesd_next(NsFesd *w);

/*
** Solves the collocation equations of an element whose t, h, modes and node 0 are set. NS_EINTR, NS_EMAXITER above
** w->most_solves, NS_ENOCONV, NS_ESINGULAR, NS_ENAN, and the statuses of callbacks.
*/
NsStatus ns_fesd_solve(NsFesd *w, NsFesdElement *e, NsError *err);

/* The first node at which the complementarity of a row is checked: 1, or 2 where stage 1 is the start. */
int ns_fesd_first_node(const NsFesd *w);

/* The value of a guard at a node; negative when the guard is passed. */
double ns_fesd_guard(const NsFesd *w, const NsFesdElement *e, NsFesdGuard guard, int node);

/* Whether the complementarity of a row is violated at a node, beyond rounding. *guard (may be NULL): by what. */
bool ns_fesd_violated(const NsFesd *w, const NsFesdElement *e, int row, int node, NsFesdGuard *guard);

/* ---- impacts.c: rows, and mechanics ---- */

/* The index in the graph of the interaction of a row; *first: its first row. */
int ns_fesd_interaction(const NsFesd *w, int row, int *first);

/* As ns_fesd_equations. */
NsStatus ns_fesd_motion(NsFesd *w, double t, const double *x, const double *lambda, bool slopes, NsError *err);

/*
** Mechanics: the forces lambda (m) that keep dy/dt = 0 of the rows that are active in `mode`, the rates (N; NULL: not wanted) of the
** states x with them, and y in the view. NS_ESINGULAR where they are not determined; statuses of callbacks.
*/
NsStatus ns_fesd_forces(NsFesd *w, double t, const double *x, const int *mode, double *rate, double *lambda, NsError *err);

/* Works in a step: of all forces, of damping among them, of the multipliers without impacts. */
typedef struct NsFesdWorks {
  double forces, damping, multipliers;
} NsFesdWorks;

/* Mechanics: the works in the elements of the step, by the quadrature of the method at its stages. Statuses of callbacks. */
NsStatus ns_fesd_works(NsFesd *w, NsFesdWorks *works, NsError *err);

/* The modes of the memories at the start of a step. NS_EARG for bodies that overlap. */
NsStatus ns_fesd_begin_contacts(NsFesd *w, NsError *err);

/*
** Impacts of the closed contacts at the end of the last element, and the ties. reached: the row whose guard was reached there;
** -1: none.
*/
NsStatus ns_fesd_impact(NsFesd *w, int reached, NsError *err);

/* Sets the modes of the tie rows by the complementarity of accelerations and forces. Statuses of the solver. */
NsStatus ns_fesd_guess_contacts(NsFesd *w, NsError *err);

/* Puts w->end on the constraints of the active rows. */
NsStatus ns_fesd_project(NsFesd *w, NsError *err);

/* The sum of the |terms| of the gap of a row. */
double ns_fesd_gap_terms(const NsFesd *w, int row);

/* ---- choice.c ---- */

/*
** Sets w->rows.mode to what follows at the present state, by ns_mode_choose, or ns_mode_start in the first step of a run; *found:
** there is a choice. First order only. NS_ENOSOL, with w->ambiguous, where several motions are possible and the option
** `ambiguity` says "error"; statuses of callbacks.
*/
NsStatus ns_fesd_choose_by_rates(NsFesd *w, bool *found, NsError *err);

/* First order: whether the switch of some row is located at w->t, or its y or its lambda is at the limit of its mode. */
bool ns_fesd_undecided(const NsFesd *w);

/*
** First order: *follows is false when the smooth motion of the present modes breaks the law of a row with a tie for t -> t+, or does
** not fulfil a derivative of y = 0 of an active row. True also where the modes do not determine a motion. Statuses of callbacks.
*/
NsStatus ns_fesd_follows(NsFesd *w, bool *follows, NsError *err);

/* Begins the flow in this step where that is not done, and sets these modes in it. Statuses of ns_flow_begin. */
NsStatus ns_fesd_begin_flow(NsFesd *w, const int *mode, NsError *err);

/* ---- resolve.c ---- */

/*
** Whether a solved element resolves what depends on time in the model; else it is to be shorter. Sets e->pieces where it does: more than
** 1 where there is more to see than the points of one polynomial show. Statuses of callbacks.
*/
NsStatus ns_fesd_resolve(NsFesd *w, NsFesdElement *e, bool *resolved, NsError *err);

/* ---- signs.c ---- */

/*
** Tests the laws of the rows along a solved element, in `pieces` pieces. reached: the guard that is 0 at its end; row -1: none. *cut: 1 when no row
** breaks its law; else the place in (0, 1) at which an element should end that shows the violation, or decides. Statuses of callbacks.
*/
NsStatus ns_fesd_signs(NsFesd *w, const NsFesdElement *e, NsFesdGuard reached, int pieces, double *cut, NsError *err);

/* ---- modes.c ---- */

/*
** Finds the modes that follow at w->t, by trial elements of length h or less; `keep`: the present modes are tried first. Sets
** w->rows.mode, w->rows.clear and w->solved. NS_ENOCONV when no modes are consistent.
*/
NsStatus ns_fesd_choose(NsFesd *w, double h, bool keep, NsError *err);

/*
** An implicit Euler step of length h without detection of switches: moves w->end and w->rows.mode. Statuses of the solver.
*/
NsStatus ns_fesd_pass(NsFesd *w, double h, NsError *err);

/* The modes, and the ties, of the memories at the start of a step. */
NsStatus ns_fesd_begin_modes(NsFesd *w, NsError *err);

/* Marks the rows with several possible modes at the end of the last element, where `guard` was reached. */
void ns_fesd_mark_ties(NsFesd *w, NsFesdGuard guard);

/* ---- events.c ---- */

/* Logs the rows whose mode has changed. lambda after: at the first stage of elements[count]. */
NsStatus ns_fesd_log_changes(NsFesd *w, NsError *err);

/*
** First order: passes infinitely many switches, whose last `cycle` ones end in the time `rest`: the states go to y = 0 of the rows of the
** cycle, which are undecided then. On failure the state is as before.
*/
NsStatus ns_fesd_pass_accumulation(NsFesd *w, double rest, int cycle, NsError *err);

/* First order: passes switches of a row that follow each other without progress of time, by an implicit Euler step. */
NsStatus ns_fesd_pass_by_euler(NsFesd *w, int row, NsError *err);

/* ---- dense.c ---- */

/*
** out (count) = the polynomials through the nodes from `begin` on, at a place in [0, 1]; values: nodes x count. Nodes that
** coincide count once.
*/
void ns_fesd_interpolate(const NsFesd *w, int begin, double place, int count, const double *values, double *out);

/* Tells the dense output of the step. */
NsStatus ns_fesd_dense(NsFesd *w, const NsDenseSink *sink, NsError *err);

/* ---- step.c ---- */

/* Computes a step with `elements` finite elements or more. */
NsStatus ns_fesd_step(NsFesd *w, int elements, NsError *err);
