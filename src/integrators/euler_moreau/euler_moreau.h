/*
** euler_moreau.h
** The workspace of the theta-gamma scheme, and the functions that its files share. Private to them.
*/
#pragma once

#include "integrators/layout.h"
#include "linalg/small.h"
#include "model/first_order_ds.h"

/* The options of EulerMoreauOSI. */
typedef struct NsEulerMoreauOptions {
  NsIntegrator base;
  double theta, gamma; /* in [0, 1]; theta = 0: explicit in f */
  bool gamma_in_relation;
  int restart; /* 1: theta = gamma = 1 in the first step, in steps with a switch, and in the step after (has_switch) */
} NsEulerMoreauOptions;

/* Order 2 for theta = 1/2, if the multipliers are constant or gamma weights them with 1/2, too; else 1. See NsSchemeClass. */
int ns_em_order(const NsScheme *scheme, bool steady);

/* A nonlinear step, as a problem in the multipliers alone (condensed.c). */
typedef struct NsCondensed NsCondensed;

/* A system. Its unknowns are its states. */
typedef struct NsEmNode {
  NsNode base;
  NsFirstOrderDs *ds;
  double *J;      /* n x n: df/dx; NULL for a linear system, whose df/dx is its coefficient A */
  double *J_next; /* n x n: room for the next J, which may not be finite */
  bool J_known;
  uint64_t f_known; /* the key of the numbers with which f of the iterate x_k is already evaluated; 0: it is not */
} NsEmNode;

/* Systems that share one matrix W, as a relation's K couples their states. */
typedef struct NsEmCluster {
  NsBlock base;
  double *fixed;      /* n x n: the constant part of W */
  double *factors_of; /* n x n: the W that was factored last */
  bool changes;       /* W depends on a callback and is formed at each iteration */
  NsSmallLu small;    /* its factors, when it has at most NS_SMALL_ORDER unknowns */
} NsEmCluster;

/* An interaction. */
typedef struct NsEmEdge {
  NsEdge base;
  bool linear_output, linear_input; /* h, g have no callback */
  double *g;                        /* nx: r at the iterate */
  double *C;                        /* m x nx */
  double *B;                        /* nx x m */
  double *K;                        /* nx x nx; NULL: zero */
  uint64_t key;
} NsEmEdge;

/* The workspace of the dense form. Vectors are stacked over all N states or M multipliers. */
typedef struct NsEulerMoreau {
  NsScheme base;
  NsLayout layout;
  NsCondensed *condensed; /* for steps in which Newton's method fails; made at the first failure */
  NsEmNode *nodes;
  NsEmEdge *edges;
  NsEmCluster *clusters;

  /* the step */
  NsEulerMoreauOptions options; /* the options when the step began */
  double t_k, h, t;
  bool first;      /* the step begins at t0 */
  bool implicit;   /* theta = gamma = 1, whatever the options say: a restart */
  double weight_r; /* factor of h r in the state equation */
  double weight_y; /* dx_gamma / dx in the law's output */
  double *x_k;     /* N */
  double *known;   /* N: h (1 - theta) f_k + h (1 - gamma) r_k */

  /* the iterate */
  double *x, *lambda;           /* N, m */
  double *guess;                /* m: start of the one-step problem's solver */
  double *x_from, *lambda_from; /* the point where q was formed */
  double *f, *r, *rho;          /* N */
  NsStepTest test;
  double *y;       /* m: h at the iterate */
  double *x_gamma; /* N: gamma x + (1 - gamma) x_k */

  /* the linearisation */
  double *free_step; /* N: dx at lambda = 0 */
  double *matrix;    /* m x m */
  uint64_t matrix_key;
  bool matrix_formed;
  double *work, *work_y; /* N, m */
  double h_formed, theta_formed, gamma_formed;
  double *q;           /* m: the constant part of the problem */
  bool exact;          /* Jacobians are exact derivatives of callbacks, not those that a script gives */
  struct NsEmVjp *vjp; /* see ns_em_vjp; NULL: not made */
} NsEulerMoreau;

/* Changes with the numbers of a linear f; 0: f is not linear, or changes with time. */
static inline uint64_t ns_em_f_key(const NsFirstOrderDs *ds) {
  bool varies = ds->f.value || ns_coef_varies(&ds->A) || ns_coef_varies(&ds->b);
  return varies ? 0 : ds->A.version + ds->b.version + 1;
}

/* Whether an interaction has no input: g is linear, without K, and lambda is 0. */
static inline bool ns_em_idle(const NsEulerMoreau *em, const NsEmEdge *edge) {
  for (int i = 0; edge->linear_input && i < edge->base.m; i++)
    if (em->lambda[edge->base.row + i] != 0) return false;
  return edge->linear_input;
}

/* Sets the weights of the step; `implicit`: theta = gamma = 1. set_step: sets options and times, too; a step after a switch is implicit. */
void ns_em_weigh(NsEulerMoreau *em, bool implicit);
void ns_em_set_step(NsEulerMoreau *em, const NsStep *step);

/* The state at which the law's output is evaluated. */
const double *ns_em_output_state(NsEulerMoreau *em);

/* The arguments of a relation at a stacked state. */
static inline NsRelationPoint ns_em_point(const NsEulerMoreau *em, const NsEmEdge *edge, const double *stacked) {
  return (NsRelationPoint){em->t, ns_layout_gather(&em->layout, &edge->base, stacked), em->lambda + edge->base.row,
                           edge->base.inter->z, em->exact};
}

/* Computes the Jacobians at the iterate, W, its factors, and the matrix of the problem; not its constant part. */
NsStatus ns_em_update(NsEulerMoreau *em, NsError *err);

/* Parts of it: whether W was formed with these weights; the Jacobians of an interaction; the factors of a W that is formed. */
bool ns_em_keeps_weights(const NsEulerMoreau *em);
NsStatus ns_em_jacobians(NsEulerMoreau *em, NsEmEdge *edge, const double *x_output, NsError *err);
NsStatus ns_em_factor(NsEulerMoreau *em, NsEmCluster *cluster, NsError *err);

/* Computes the constant part of the problem; this iterate becomes the start of `advance`. */
void ns_em_form_q(NsEulerMoreau *em);

/* See NsSchemeClass (residual.c). measure: of an iterate that is not settled. */
NsStepResidual ns_em_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);
NsStepResidual ns_em_measure(NsEulerMoreau *em, const double *y, const NsStepTolerance *tolerance);

/*
** The form for one system with one interaction (single.c), on the same workspace. ns_em_plain, for specs: workspaces that this thread makes from
** now on do not have it.
*/
extern _Thread_local bool ns_em_plain;
bool ns_em_single_suits(const NsNsds *nsds);
NsStatus ns_em_single_begin(NsScheme *scheme, const NsStep *step, NsError *err);
NsStatus ns_em_single_evaluate(NsScheme *scheme, NsError *err);
NsStatus ns_em_single_linearize(NsScheme *scheme, bool full, NsError *err);
NsStatus ns_em_single_finite(const NsScheme *scheme, NsError *err);
void ns_em_single_advance(NsScheme *scheme, const double *solution, double s);
NsStepResidual ns_em_single_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);

/* The derivatives of a step (tangent.c). */
extern const NsSchemeTangent ns_em_tangent;

/* Derivatives of a step, transposed (vjp.c): see NsStepVjp. */
NsStatus ns_em_vjp(NsScheme *lin, const NsStepVjp *vjp, NsError *err);
void ns_em_vjp_free(struct NsEmVjp *vjp);

/* The form for large linear models: one sparse problem in states and multipliers. suits: whether this form takes the graph. */
extern const NsSchemeClass ns_scheme_euler_moreau_sparse;
bool ns_em_sparse_suits(const NsNsds *nsds);

/* Makes the workspace of the condensed form of a step with m >= 1 multipliers. NS_ENOMEM. ns_condensed_free takes NULL. */
NsStatus ns_condensed_new(NsCondensed **c, NsScheme *scheme, int m);
void ns_condensed_free(NsCondensed *c);

/*
** Solves the step that the scheme has begun, from lambda_k projected on its bounds. On success the iterate is the solution,
** evaluated and linearised. NS_ENOCONV when it finds no solution. NS_ECALLBACK, NS_EINTR, NS_ENOMEM and NS_EARG when the run
** must stop: then err (may be NULL) is set and nothing else is written.
*/
NsStatus ns_condensed_solve(NsCondensed *c, NsRescue *rescue, NsError *err);
