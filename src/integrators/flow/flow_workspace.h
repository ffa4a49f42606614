/*
** flow_workspace.h
** The workspace of NsFlow, which its files share. Private to them.
*/
#pragma once

#include "integrators/flow/equations.h"
#include "integrators/flow/flow.h"
#include "integrators/flow/flow_mode.h"
#include "integrators/flow/reduction.h"
#include "model/difference.h"

/* Newton iterations at one point; full steps of a smooth problem near its solution need 3 to 6. */
enum { NS_FLOW_ITERATIONS = 20 };

/*
** Iterations after which steps are measured by the sizes of the unknowns in the run: unknowns near 0, in equations whose terms cancel,
** have larger steps than their rounding for ever. Later than a smooth problem needs.
*/
enum { NS_FLOW_PATIENCE = 6 };

/* Rounding errors of its terms that a sum may have: R below this many ends Newton's method. */
#define NS_FLOW_ROUNDINGS 8

/* A step below this part of the unknowns that is no longer reduced: what is left is rounding (of differences, 1e-12). */
#define NS_FLOW_STALLED 1e-9

/* Equations that are redundant may differ by this part of their terms: they hold on trajectories that have an error of rtol. */
#define NS_FLOW_CONTRADICTION 1e-7

/* A combination of equations that does not depend on w: a constraint on s. */
typedef struct NsFlowConstraint {
  int level, equation; /* level of differentiation; row of R that it replaces */
  int exponent;        /* of the power of two that a projection divides it by */
  bool gone;           /* it does not depend on s */
  double value, terms; /* its value, and the sum of the terms of it */
  double reach;        /* its largest value for states of the sizes in the run */
} NsFlowConstraint;

/* A number that must not become negative, and is 0 with its known derivatives (mode_signs.c). */
typedef struct NsSignQuantity {
  int row;
  bool of_lambda;    /* the distance of lambda of an ACTIVE row to a bound; else y */
  bool of_state;     /* y: dy/dt is known, and 0 */
  double factor;     /* 1 or -1 */
  double terms;      /* of its last known derivative, for the sizes in the run */
  double value, own; /* it, times the factor, and its terms at the point alone */
} NsSignQuantity;

/* The matrices of a point near by, for derivatives along the motion of level 2 (index 3) of models that are not linear. */
typedef struct NsFlowNear {
  NsReduction reduction;
  double *Fs, *Fs_terms, *Fw, *Fw_terms;
  double *s, *sdot; /* nd: the point in the middle and its rate */
  double *room;     /* NS_DIFFERENCE_ROOM nw */
  double t;
} NsFlowNear;

/* Rows that slide where lambda no longer moves them, see flow_tangent.c. */
typedef struct NsFlowTangent {
  bool *dull;    /* m: the rate of y counts as one without lambda */
  bool *without; /* na + m: the same by equation, for the reduction */
} NsFlowTangent;

/* The constraints on s, see ns_flow_collect. */
typedef struct NsFlowConstraints {
  int count;
  NsFlowConstraint *of;
  double *gradient; /* nd for each constraint */
  double *entry, *multiplier, *normal;
  NsRank rank;
} NsFlowConstraints;

/* Signs of derivatives, see mode_signs.c. */
typedef struct NsFlowSigns {
  double *rate, *slope, *slope_room; /* 2 m; 4 m; NS_DIFFERENCE_ROOM 4 m */
  double *bound_rate, *bound_room;   /* 2 m: see ns_flow_add_bound_rates; NS_DIFFERENCE_ROOM 2 m */
  double *direct, *moved;            /* n: nd are used */
  NsSignQuantity *quantities;        /* 2 m: `count` of them, of which derivatives decide */
  int count;
  double length; /* of the difference that has given their slopes */
  bool doubtful; /* no derivative is against the mode for the sizes in the run, but one is for those at the point */
  bool impulse;  /* the state does not fulfil a constraint that an impulse of the mode's multipliers can mend */
} NsFlowSigns;

/* Workspace. */
typedef struct NsFlowRoom {
  double *forces, *ft, *direction; /* n */
  double *yt, *ht;                 /* m */
  double *v, *v_terms;             /* nw */
  double *lagged, *second, *guess; /* nw; guess: the unknowns where Newton's method begins */
  double *column, *s_zero;         /* nd */
  double *a_unit;                  /* na */
} NsFlowRoom;

struct NsFlow {
  NsArena arena, sized; /* sized: memory whose size depends on the rank of M */
  NsEquations eq;
  NsReduction reduction;
  NsFlowView view;
  bool taken;   /* `sized` is allocated for view.nd */
  bool planned; /* the reduction belongs to the mode */
  bool still;   /* within a search for w: see flow_values */

  NsFlowMode *mode;
  int nactive, nw, *active;
  double *lower, *upper; /* m: bounds of lambda, at the time of the point */
  bool *beyond;          /* m: see NsFlowView */
  NsFlowMemory memory;

  /* at the point */
  double *sdot, *sdot_terms;      /* nd */
  double *y_terms, *lambda_terms; /* m */

  /* equations: matrices of F and w, values */
  double *Fs, *Fs_terms, *Fw, *Fw_terms; /* nd x nd, nd x nw */
  double *G, *R, *R_terms;               /* nw */

  NsFlowTangent tangent;
  bool has_near;
  NsFlowNear near;
  NsFlowConstraints constraints;
  NsFlowSigns signs;
  NsFlowRoom room;
};

/*
** Brings the model to time t: coefficients, and bounds that are functions of time, with the lambda of rows that are at them.
** Statuses of ns_equations_update.
*/
NsStatus ns_flow_update(NsFlow *flow, double t, NsError *err);

/* The bounds of the laws, as they are in the graph. */
void ns_flow_read_bounds(NsFlow *flow);

/*
** The part of bounds that move in the derivatives by time at a point whose B and D are known: lambda of a row at its bound goes with
** it. Added to ft (n; NULL: not wanted) of f + r, and yt (m) of y. The rates are those for t -> t+.
*/
NsStatus ns_flow_add_bound_rates(NsFlow *flow, double t, double *ft, double *yt, NsError *err);

/*
** y of a row with a relay leaves 0 with the rate v, and lambda acts on nothing, as in a clutch whose input has become 0: no lambda in
** its bounds is large enough. put_beyond: lambda then is beyond the bound that y leads to, which the guard shows; false: a bound is
** infinite, or lambda acts. return_within: lambda of such rows is within the bounds again.
*/
bool ns_flow_put_beyond(NsFlow *flow, int row, double v);
void ns_flow_return_within(NsFlow *flow);

/*
** clip: brings multipliers with two bounds, which act on something, back between them; whether one was outside. is_far_out: whether a multiplier
** is as far outside as its bounds are apart: behind a pole, or where forces no longer depend on it.
*/
bool ns_flow_clip(NsFlow *flow);
bool ns_flow_is_far_out(const NsFlow *flow);

/* Takes the sizes of states and multipliers in the run, as they were at the start of the step. */
void ns_flow_recall_sizes(NsFlow *flow);

/* size = max(size, |s|), lambda_most = max(lambda_most, |lambda|) of the evaluated point. */
void ns_flow_grow_sizes(NsFlow *flow, const double *s);

/* a_most = max(a_most, |a|) of the evaluated point; a start does without it: the algebraic states of a script are a guess. */
void ns_flow_grow_algebraic_sizes(NsFlow *flow);

/*
** lambda of a row. That of an ACTIVE row that touches a bound stays within it by a rounding of its size: the next step of the grid
** reads the mode from lambda.
*/
double ns_flow_lambda_within(const NsFlow *flow, int row);

/* The constraints on s at the last evaluated point, with their gradients. */
NsStatus ns_flow_collect(NsFlow *flow, double t, NsError *err);

/* Whether a constraint is y = 0 of an undecided row: its event is located, so y is 0 up to the accuracy of the event. */
bool ns_flow_constraint_at_event(const NsFlow *flow, const NsFlowConstraint *c, const bool *open);

/*
** Whether a constraint is an output that is 0 up to the rounding of the motion over a step of the grid. Where all states have stood
** still at 0, the constraint has no terms, and the states no size, against which to compare it.
*/
bool ns_flow_constraint_rounds(NsFlow *flow, const NsFlowConstraint *c);

/* lambda_terms = |lambda| + |R_w^-1| R_terms. */
void ns_flow_keep_terms(NsFlow *flow);

/* The largest size in the run of unknown j of w. */
double ns_flow_unknown_reach(const NsFlow *flow, int j);

/* y_terms at the point of the last values. */
void ns_flow_output_terms(NsFlow *flow);

/* R_terms, sdot_terms and y_terms at the point of the last values. */
void ns_flow_equation_terms(NsFlow *flow);

/*
** Values and matrices at (t, s) and the present w, without a search for w: G, sdot, Rs[0] and Rw of the reduction (G_s, G_w), Fs,
** Fw, and G_t in v. The reduction must be made again afterwards.
*/
NsStatus ns_flow_linearise(NsFlow *flow, double t, const double *s, NsError *err);

/* R and R_terms of a level become R and R_terms of the next level. */
NsStatus ns_flow_differentiate(NsFlow *flow, double t, int level, NsError *err);

/*
** When the mode does not determine lambda, and some are out of their bounds at the evaluated point: changes them to the nearest
** ones within the bounds that give the same motion, if there are any (*moved); evaluate again then. NS_ENOMEM.
*/
NsStatus ns_flow_spread(NsFlow *flow, bool *moved, NsError *err);

/*
** When the mode of a linear model does not determine w at the evaluated point: moves the free unknowns to the middle of their ranges, so
** that guards tell whether some lambda is possible. Returns whether values of the point have changed.
*/
bool ns_flow_centre(NsFlow *flow);

/* The name of row `row` of R in messages. */
void ns_flow_name_equation(const NsFlow *flow, int row, char *to, size_t size);

/* Whether the step room.v of Newton's method is what the rounding of the terms of R makes of it: an unknown may be 0, with no size of its own. */
bool ns_flow_step_is_rounding(NsFlow *flow);
