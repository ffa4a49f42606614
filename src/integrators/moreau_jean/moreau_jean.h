/*
** moreau_jean.h
** The workspace of the theta scheme of mechanics, and what its files ask of each other. Private to them.
*/
#ifndef NS_INTEGRATORS_MOREAU_JEAN_MOREAU_JEAN_H
#define NS_INTEGRATORS_MOREAU_JEAN_MOREAU_JEAN_H

#include <math.h>

#include "integrators/stack.h"

/* The options of MoreauJeanOSI and MoreauJeanGOSI. */
typedef struct NsMoreauJeanOptions {
  NsIntegrator base;
  double theta, gamma; /* theta in [0, 1]; gamma of the forecast, 1/2 by default */
  double threshold;    /* a contact takes part when its forecast is at most this, in the units of y; NAN: see ns_mj_tolerance */
  bool linearly_implicit; /* exactly one Newton iteration from v_k, with M and H at q_k + h v_k */
} NsMoreauJeanOptions;

/* The entries of both classes in the tables of options. */
#define NS_MJ_FIELDS                                                                                                           \
  NS_FIELD_A_WEIGHT("theta", NsMoreauJeanOptions, theta), NS_FIELD_A_WEIGHT("gamma", NsMoreauJeanOptions, gamma),              \
      NS_FIELD_A_NUMBER("constraintActivationThreshold", NsMoreauJeanOptions, threshold, -INFINITY, INFINITY,                  \
                        NS_FIELD_SETTER | NS_FIELD_CONSTANT | NS_FIELD_OPTIONAL)

/*
** The tolerance of the forecast: 1e-10 of the way that a contact goes freely in the step, h max(|u|, |change|), change
** being what the forces would change u by; 1e-3 of it for a contact that carried an impulse in the last step and
** rests: |u| <= 1e-6 |change|. The rounding of y comes on top.
*/
double ns_mj_tolerance(double h, double u, double change, double lambda_k);

/* Whether the graph is one for the global form: systems and relations linear, no friction, no compliance. NS_EARG tells what is not. */
NsStatus ns_mj_global_suits(const NsNsds *nsds, NsError *err);

/* Whether that is the better form: a coefficient is sparse, or the interactions have many rows. */
bool ns_mj_global_preferred(const NsNsds *nsds);

/* The workspace of the dense form: stacked vectors over all coordinates, velocities and multipliers. */
typedef struct NsMoreauJean NsMoreauJean;

enum { MOST_CURVED = 12 }; /* second derivatives are taken by so many coordinates */

/* A dynamical system in the stack; its unknowns are velocities. */
typedef struct NsMjNode {
  NsNode base;
  NsMechanicalDs *ds;
  bool linear;
  double *M;                          /* nv x nv at the iterate; NULL: the constant coefficient */
  double *by_q, *by_qv, *by_v, *room; /* nv x nq, nv x nv, nv x nv; NULL for a linear system */
} NsMjNode;

/* An interaction in the stack; H of its parts is C T(q). */
typedef struct NsMjEdge {
  NsEdge base;
  bool linear, at_position;
  double *C; /* m x nx */
  uint64_t key;
  bool formed;                         /* H is that of the constant C */
  bool curved;                         /* this linearisation has the second derivatives */
  double *second, *drift, *curve_room; /* m x nx x nx of h, m x nx of dh/dt, nx + 3 m; NULL: they are left out */
  double *L_room[2];                   /* m x nv each: the L of its parts that they make */
  double *x_formed, *y_formed;         /* nx, m: where C was taken last, and y there; NULL: it is taken anew at each place */
} NsMjEdge;

struct NsMoreauJean {
  NsScheme base;
  NsStack stack;
  bool linear;         /* all systems and relations; base.linear: or one iteration is asked for */
  bool positions;      /* some law holds at position */
  bool curves, curved; /* second derivatives may be taken (no friction); some interaction has them now */
  NsMjNode *nodes;
  NsMjEdge *edges;
  NsBlock *blocks;

  /* the step */
  NsMoreauJeanOptions options; /* as they were when it began */
  double t_k, t, h;
  double *q_k, *v_k, *F_k; /* Nq, Nv, Nv */
  double *y_k, *u_k;       /* m */
  bool decided, again;     /* which contacts take part; `again`: as `shut` tells */
  bool predicts;           /* all laws are unilateral: a step may be without impulses */
  bool predicted;          /* the iterate started from velocities that go on as in the last steps */

  /* the iterate */
  double *q, *v, *lambda; /* Nq, Nv, m */
  double *v_from, *lambda_from;
  double *F, *p, *rho; /* Nv */
  double *held;        /* Nv: impulses of prescribed velocities */
  double *y, *u;       /* m: outputs and their velocities */
  double *q_free;      /* Nq: q before it was projected */
  bool projected;
  bool combined;                 /* q has the shift in it that the velocities are found with */
  double *shift, *nu;            /* Nv, m: the shift; combined: the sums of its multipliers, else 0 */
  bool *shut;                    /* m: contacts that take part, as forecast or as enlarged since */
  double *work, *free_step;      /* Nv */
  double *correction;            /* Nv: W^-1 rho of the last residual */
  double *terms, *noise, *scale; /* Nv: of that residual, see NsStepBlock */
  double *output_terms;          /* m: the same of the rows of the problem */

  /* the problem */
  NsMixedGroup *groups;
  int *group_edge; /* row -> edge */
  NsStepProblem problem;
  double *matrix;                   /* of up to NS_MIXED_DENSE_ROWS rows */
  double *qvec, *guess, *rate_room; /* m, m, 4 m */
  NsSparse *sparse;
  bool matrix_formed;
  double h_formed, theta_formed;
};

/*
** Second derivatives of the outputs, exact: whether an interaction has them, and room for them. `straighten`: every L
** is H. `curve`: those of contacts that take part, at the (evaluated) iterate: L = H + h theta du/dq. Of a system:
** whether it has one, and W -= h theta d(H'P)/dq, without the terms between two systems.
*/
bool ns_mj_can_curve(const NsMjEdge *edge);
void ns_mj_take_curve(NsMjEdge *edge, NsArena *arena);
void ns_mj_straighten(NsMoreauJean *mj);
void ns_mj_curve(NsMoreauJean *mj);
bool ns_mj_curved(const NsMoreauJean *mj, const NsMjNode *node);
void ns_mj_subtract_curvature(const NsMoreauJean *mj, NsMjNode *node);

/* X = W^-1 H' of each part whose W or (changed) H is new. */
void ns_mj_solve_parts(NsMoreauJean *mj, NsMjEdge *edge, bool changed);

/* q from v and the shift. */
void ns_mj_move_coordinates(NsMoreauJean *mj);

/* Outputs, H and impulses at q, v, lambda; those of contacts that take no part, without impulses, when `all`. */
NsStatus ns_mj_evaluate_outputs(NsMoreauJean *mj, bool all, NsError *err);

/* Which contacts take part in this step. True when they are others than in the last one. */
bool ns_mj_decide(NsMoreauJean *mj);

/* The constant part of the problem of those. */
void ns_mj_form_q(NsMoreauJean *mj);

/* The law's output at the iterate: y, or the velocity with what restitution adds. */
double ns_mj_law_output(const NsMoreauJean *mj, const NsMjEdge *edge, int i);

/* See NsSchemeClass (residual.c). */
NsStepResidual ns_mj_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance);

/* The projection of the coordinates (project.c). */
extern const NsSchemeSettle ns_mj_settle;

#endif
