/*
** euler_moreau.h
** What the files of the theta-gamma scheme ask of each other. Private to them.
*/
#ifndef NS_INTEGRATORS_EULER_MOREAU_EULER_MOREAU_H
#define NS_INTEGRATORS_EULER_MOREAU_EULER_MOREAU_H

#include "integrators/stack.h"
#include "model/first_order_ds.h"

/* The options of EulerMoreauOSI. */
typedef struct NsEulerMoreauOptions {
  NsIntegrator base;
  double theta, gamma; /* in [0, 1]; theta 0 is explicit in f */
  bool gamma_in_relation;
  int restart; /* 1: the first step, every one in which a multiplier comes to a bound or leaves one, and the steps after these
                  have theta = gamma = 1 */
} NsEulerMoreauOptions;

/* A nonlinear step as a problem of the multipliers alone (condensed.c). */
typedef struct NsCondensed NsCondensed;

/* A system; its unknowns are its states. */
typedef struct NsEmNode {
  NsNode base;
  NsFirstOrderDs *ds;
  double *J; /* n x n: df/dx; NULL for a linear system, which has its A */
} NsEmNode;

/* Systems whose states a relation's K couples share a matrix W. */
typedef struct NsEmCluster {
  NsBlock base;
  double *fixed;      /* n x n: what the linear systems give to W */
  double *factors_of; /* n x n: the W that there are the factors of */
  bool changes;       /* a callback enters W: it is formed anew at each iteration */
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

/* The workspace of the dense form: stacked vectors over all N states and M multipliers. */
typedef struct NsEulerMoreau {
  NsScheme base;
  NsStack stack;
  NsCondensed *condensed; /* for steps that Newton's method fails at; made with the first one */
  NsEmNode *nodes;
  NsEmEdge *edges;
  NsEmCluster *clusters;

  /* the step */
  NsEulerMoreauOptions options; /* as they were when it began */
  double t_k, h, t;
  bool first;      /* the step begins at t0 */
  bool implicit;   /* theta = gamma = 1 whatever the options say: a restart */
  double weight_r; /* what r is multiplied with in the state equation, over h */
  double weight_y; /* dx_gamma / dx in the law's output */
  double *x_k;     /* N */
  double *known;   /* N: h (1 - theta) f_k + h (1 - gamma) r_k */

  /* the iterate */
  double *x, *lambda;                    /* N, m */
  double *guess;                         /* m: where the one-step problem's solver starts */
  double *x_from, *lambda_from;          /* the point where q was formed */
  double *f, *r, *rho;                   /* N */
  double *terms, *noise, *scale, *delta; /* N each: of the test of an iterate, see NsStepBlock */
  double *y;                             /* m: h at the iterate */
  double *x_gamma;                       /* N: gamma x + (1 - gamma) x_k */

  /* the linearisation */
  double *free_step; /* N: dx at lambda = 0 */
  double *matrix;    /* m x m */
  uint64_t matrix_key;
  bool matrix_formed;
  double *work, *work_y; /* N, m */
  double h_formed, theta_formed, gamma_formed;
  double *q; /* m: the constant part of the problem */
  NsStepProblem problem;
} NsEulerMoreau;

/* The state at which the law's output is taken; the point of an interaction at a stacked state. */
const double *ns_em_output_state(NsEulerMoreau *em);
NsRelationPoint ns_em_point(const NsEulerMoreau *em, const NsEmEdge *edge, const double *stacked);

/* Jacobians, W and its factors, and the matrix of the problem at the iterate; its constant part stays. */
NsStatus ns_em_update(NsEulerMoreau *em, NsError *err);

/* That constant part; what follows moves from here. */
void ns_em_form_q(NsEulerMoreau *em);

/* See NsSchemeClass (residual.c). */
NsStepResidual ns_em_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);

/* The form for large linear models, state and multipliers in one sparse problem; whether the graph is one for it, and has sparse matrices. */
extern const NsSchemeClass ns_scheme_euler_moreau_sparse;
bool ns_em_sparse_suits(const NsNsds *nsds);

/* Makes the condensed form of a step with m >= 1 multipliers. NS_ENOMEM. ns_condensed_free takes NULL. */
NsStatus ns_condensed_new(NsCondensed **c, NsScheme *scheme, int m);
void ns_condensed_free(NsCondensed *c);

/*
** Solves the step that the scheme has begun, from lambda_k projected on its bounds. On success the iterate is evaluated, and
** linearised, at the solution. NS_ENOCONV, whatever was the reason; NS_ECALLBACK, NS_EINTR, NS_ENOMEM and NS_EARG, with err (may
** be NULL), when the run must stop: nothing is written then.
*/
NsStatus ns_condensed_solve(NsCondensed *c, NsRescue *rescue, NsError *err);

#endif
