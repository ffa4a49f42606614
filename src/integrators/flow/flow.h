/*
** flow.h
** First-order models between two switches: in a mode every multiplier is at a bound or has its output at 0, and the motion is
** smooth. This is the right-hand side of that motion, its Jacobian, and the projection on its constraints.
*/
#pragma once

#include "model/nsds.h"

/*
** The equations  M x' = f(t, x) + r,  r = g(t, x, lambda),  y = h(t, x, lambda)  of all systems and interactions of a graph,
** stacked in the graph's order: n states, m rows. M may be singular; it is constant within a step of the grid (a regular M may
** depend on time). The laws are boxes: -y is in the normal cone of [lower, upper] at lambda.
**
** The differential states s (nd, the rank of M) are combinations of the states in M; when M is regular, s = x. The other
** states are algebraic. The unknowns at a point (t, s) are w = (algebraic states, lambda of the ACTIVE rows); their equations
** are those without derivatives: combinations of the state equations in which M x' cancels, and y = 0 of the ACTIVE rows.
** Combinations of these that do not depend on w are replaced by their time derivatives, until w is determined (index
** reduction: Hairer and Wanner, Solving Ordinary Differential Equations II, chapter VII; for sliding modes it is Utkin's
** equivalent control: Utkin, Sliding Modes in Control and Optimization, 1992).
*/
typedef struct NsFlow NsFlow;

/* The state of a row. LOWER: lambda = lower, y >= 0; UPPER: lambda = upper, y <= 0; ACTIVE: y = 0, lambda within its bounds. */
typedef enum NsRowMode { NS_ROW_LOWER, NS_ROW_UPPER, NS_ROW_ACTIVE } NsRowMode;

/* Sizes, and the values of the last evaluation (borrowed). nd and the bounds may change in ns_flow_begin. */
typedef struct NsFlowView {
  int n, m, nd;
  const double *x;          /* n */
  const double *lambda, *y; /* m */
  const bool *beyond; /* m: rows with y = 0 whose lambda acts on nothing, and can not keep y = 0; lambda is beyond its bounds */
  const double *lower, *upper; /* m: bounds of lambda */
  const double *y_terms;       /* m: the sum of the absolute values of the terms of y; its rounding is a few eps of this */
  const double *lambda_terms; /* m: the same for lambda: the size of the terms it was computed from; 0 where it is at a bound */
  const NsRowMode *mode;      /* m */
  const double *lambda_most;  /* m: the largest |lambda| in the run so far */
  const double *size;         /* nd: the largest |s| in the run so far, at starts, projections and ends of steps */
} NsFlowView;

/* Makes the workspace for the present graph; all its systems must be of first order. NS_ENOMEM. */
NsStatus ns_flow_new(NsFlow **flow, NsNsds *nsds);
void ns_flow_free(NsFlow *flow);

/* NS_EARG when the law of an interaction is no box; err names it. */
NsStatus ns_flow_accepts(const NsNsds *nsds, NsError *err);

const NsFlowView *ns_flow_view(const NsFlow *flow);

/*
** The sums of the absolute values of the terms of sdot (nd) at the last evaluated point, borrowed: of f and r, and, as far as
** the Jacobians are known, of A x in f and B lambda in r.
*/
const double *ns_flow_rate_terms(NsFlow *flow);

/*
** The sizes of states and multipliers in the run, by which zeros are judged. ns_flow_note: they are at least |s| (nd) and |lambda| (m).
** ns_flow_keep_sizes: keeps them in the objects of the graph, for the next step; ns_flow_scatter does it, too.
*/
void ns_flow_note(NsFlow *flow, const double *s, const double *lambda);
void ns_flow_keep_sizes(const NsFlow *flow);

/*
** States at rest, at 0 or at its rounding, get the size in the run that those which drive them give them within a time h, at (t, s).
** *woken: there are such states. The flow must be evaluated again afterwards. Statuses of ns_flow_evaluate.
*/
NsStatus ns_flow_wake(NsFlow *flow, double t, const double *s, double h, bool *woken, NsError *err);

/* The sizes of lambda (m) in the run, borrowed: for states of their sizes; at least the bounds. Right after an evaluation. */
const double *ns_flow_lambda_sizes(NsFlow *flow);

/* The size of y of a row in the run: its terms for states and multipliers of their sizes. After ns_flow_lambda_sizes. */
double ns_flow_output_size(const NsFlow *flow, int row);

/* The sum of the absolute values of the terms of dy/dt of a row in the rates of the states, at the last evaluated rates. */
double ns_flow_output_rate_terms(NsFlow *flow, int row);

/* Differential state i: its system, and its state (from 0) when it is that state alone, else -1. */
const NsDs *ns_flow_differential(const NsFlow *flow, int i, int *state);

/* Walks the mode, the last evaluated point, and the sizes. ns_flow_resume: a visitor has changed them. */
void ns_flow_visit(NsFlow *flow, NsVisitor visitor, void *context);
void ns_flow_resume(NsFlow *flow);

/* Whether some callback may depend on time. */
bool ns_flow_driven(const NsFlow *flow);

/* The interaction (its index) of a row, and the row's number in it, from 0. */
int ns_flow_interaction(const NsFlow *flow, int row);
int ns_flow_component(const NsFlow *flow, int row);

/*
** Begins a step of the grid, from t, of length h: reads the bounds of the laws, M and its rank, and takes the memories of the
** states and multipliers (x_k, lambda_k) as the last evaluated point. Must be called again after a change of the model.
** NS_EARG, NS_ENAN, NS_ECALLBACK, NS_ECLOSED; NS_ESINGULAR when a singular M depends on time.
*/
NsStatus ns_flow_begin(NsFlow *flow, double t, double h, NsError *err);

/* s (nd) of the states x (n). */
void ns_flow_gather(const NsFlow *flow, const double *x, double *s);

/* Writes x, r, lambda and y of the last evaluation to the objects of the graph. */
void ns_flow_scatter(NsFlow *flow);

/* Whether lambda of a row is fixed: its bounds are equal, and no functions of time. */
bool ns_flow_is_fixed(const NsFlow *flow, int row);

/* Sets the mode (m). A row whose bound is infinite in the wanted direction has no such mode. */
void ns_flow_set_mode(NsFlow *flow, const NsRowMode *mode);

/*
** Evaluates at (t, s) in the mode: x, lambda, y in the view, and sdot (nd; NULL: not wanted). Newton's method for w starts from
** the last evaluated point. NS_ERETRY when it does not converge or a callback asks for a smaller step. NS_ESINGULAR when the
** mode does not determine w (rows are dependent, or the index is too high), NS_ENOSOL when rows contradict each other; the
** message names them. NS_ECALLBACK, NS_ENAN, NS_ENOMEM.
*/
NsStatus ns_flow_evaluate(NsFlow *flow, double t, const double *s, double *sdot, NsError *err);

/*
** Parts of ns_flow_evaluate, for less work where no unknowns w are to be found. ns_flow_rate: sdot and the lambda of the ACTIVE
** rows; y in the view may be of another point. ns_flow_outputs: x, lambda and y; the input r may be of another point.
*/
NsStatus ns_flow_rate(NsFlow *flow, double t, const double *s, double *sdot, NsError *err);
NsStatus ns_flow_outputs(NsFlow *flow, double t, const double *s, NsError *err);

/* Whether the last evaluation determined all unknowns w; else lambda is one of many. */
bool ns_flow_is_determined(const NsFlow *flow);

/* Notes how lambda of the active rows moves the rates of their y, at the last evaluation. */
void ns_flow_note_strength(NsFlow *flow);

/* How fast the largest lambda of the run moves y of a row that is active at the last evaluation; 0 for other rows. */
double ns_flow_rate_by_lambda(const NsFlow *flow, int row);

/*
** Whether lambda has lost its hold on the rate of y of active rows with two bounds, at the last evaluation: the derivative of the rate
** by lambda is below `part` of the largest one that was noted. These rows are set in `open` (m), and slide by the second derivative
** of y until ns_flow_sharpen.
*/
bool ns_flow_find_dull(NsFlow *flow, double part, bool *open);
void ns_flow_sharpen(NsFlow *flow);

/* J (nd x nd, column-major) = d sdot / d s at (t, s), where the flow is evaluated, too. Statuses as ns_flow_evaluate. */
NsStatus ns_flow_jacobian(NsFlow *flow, double t, const double *s, double *J, NsError *err);

/*
** Moves s onto the constraints of the mode (y = 0 of the ACTIVE rows that do not determine w, and hidden constraints) by the
** smallest correction, in units of the sizes of the states in the run so far, and evaluates there. A row is done when |y| is
** at the rounding of its terms. NS_ENOCONV naming the interaction; statuses as ns_flow_evaluate.
*/
NsStatus ns_flow_project(NsFlow *flow, double t, double *s, NsError *err);

/* to (m) = lambda; where it is beyond its bounds (NsFlowView), the bound. */
void ns_flow_told_lambda(const NsFlow *flow, double *to);
