/*
** moreau_jean.h
** The workspace of the theta scheme of mechanics, and what its files ask of each other. Private to them.
*/
#ifndef NS_INTEGRATORS_MOREAU_JEAN_MOREAU_JEAN_H
#define NS_INTEGRATORS_MOREAU_JEAN_MOREAU_JEAN_H

#include <math.h>

#include "integrators/edges.h"
#include "integrators/scheme.h"
#include "integrators/triplets.h"

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

enum { DENSE_ROWS = NS_MIXED_DENSE_ROWS }; /* problems of more rows are formed sparse */
enum { MOST_CURVED = 12 };                 /* second derivatives are taken by so many coordinates */

/* A dynamical system in the stack. */
typedef struct NsMjNode {
  NsMechanicalDs *ds;
  int q, v; /* offsets of its coordinates and velocities in the stacked vectors */
  bool linear;
  double *M;                          /* nv x nv at the iterate; NULL: the constant coefficient */
  double *by_q, *by_qv, *by_v, *room; /* nv x nq, nv x nv, nv x nv; NULL for a linear system */
  double *W;                          /* nv x nv */
  NsLu *lu;
  uint64_t key;         /* what W was formed from */
  bool factored, fresh; /* fresh: in this linearisation */
  NsEdges edges;        /* interactions that touch it */
} NsMjNode;

/* One system within an interaction. */
typedef struct NsMjPart {
  int node, at;    /* offset of its coordinates in the interaction's x */
  double *H;       /* m x nv: C T(q) */
  double *X;       /* nv x m: W^-1 H' */
  const double *L; /* m x nv: what the velocities of the outputs change with, H or L_room */
  double *L_room;
} NsMjPart;

/* An interaction in the stack. */
typedef struct NsMjEdge {
  NsInteraction *inter;
  int m, row; /* its first multiplier in the stacked vectors */
  int active; /* its first row in the problem; -1: it does not take part */
  int nparts;
  NsMjPart parts[2];
  bool linear, at_position, unilateral;
  double *C; /* m x nx */
  double *D; /* m x m; NULL: none */
  double *x; /* nx: its argument, gathered; NULL when the stack serves */
  uint64_t key;
  bool formed;                         /* H is that of the constant C */
  bool curved;                         /* this linearisation has the second derivatives */
  double *second, *drift, *curve_room; /* m x nx x nx of h, m x nx of dh/dt, nx + 3 m; NULL: they are left out */
  double *x_formed, *y_formed;         /* nx, m: where C was taken last, and y there; NULL: it is taken anew at each place */
} NsMjEdge;

struct NsMoreauJean {
  NsScheme base;
  int Nq, Nv, m;
  bool linear;         /* all systems and relations; base.linear: or one iteration is asked for */
  bool positions;      /* some law holds at position */
  bool curves, curved; /* second derivatives may be taken (no friction); some interaction has them now */
  NsMjNode *nodes;
  NsMjEdge *edges;
  int nnodes; /* as many as were made: the graph may grow after that */

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
  double *matrix;                   /* of up to DENSE_ROWS rows */
  double *qvec, *guess, *rate_room; /* m, m, 4 m */
  NsSparse *sparse;
  uint64_t matrix_key;
  bool matrix_formed, matrix_dense;
  double h_formed, theta_formed;
};

/* Where the entries of the matrix go: added up in a dense one, or as triplets. */
typedef struct NsMjSink {
  double *dense;
  int n;
  NsTriplets *triplets;
} NsMjSink;

/* The interaction's coordinates, out of a stacked vector. */
const double *ns_mj_gather(const NsMoreauJean *mj, const NsMjEdge *edge, const double *q);

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

/* out (m) = H v over the interaction's systems. */
void ns_mj_velocities(const NsMoreauJean *mj, const NsMjEdge *edge, const double *v, double *out);

/* What a multiplier is multiplied with to be an impulse. */
double ns_mj_impulse_weight(const NsMoreauJean *mj, const NsMjEdge *edge);

/* X = W^-1 H' of each part whose W or (changed) H is new. */
void ns_mj_solve_parts(NsMoreauJean *mj, NsMjEdge *edge, bool changed);

/* q from v and the shift. */
void ns_mj_move_coordinates(NsMoreauJean *mj);

/* Outputs, H and impulses at q, v, lambda; those of contacts that take no part, without impulses, when `all`. */
NsStatus ns_mj_evaluate_outputs(NsMoreauJean *mj, bool all, NsError *err);

/* Which contacts take part in this step. True when they are others than in the last one. */
bool ns_mj_decide(NsMoreauJean *mj);

/* The matrix and the constant part of the problem of those. */
NsStatus ns_mj_form_matrix(NsMoreauJean *mj, NsError *err);
void ns_mj_form_q(NsMoreauJean *mj);

/* The law's output at the iterate: y, or the velocity with what restitution adds. */
double ns_mj_law_output(const NsMoreauJean *mj, const NsMjEdge *edge, int i);

/* Block (a, b) += H_a X_b over one system, of their first rows. */
void ns_mj_put_coupling(const NsMoreauJean *mj, const NsMjEdge *a, const NsMjPart *pa, int rows, const NsMjEdge *b,
                        const NsMjPart *pb, int cols, const NsMjSink *sink);

/* The part of an interaction that is of a system. */
const NsMjPart *ns_mj_part_of(const NsMjEdge *edge, int node);

/* The projection of the coordinates (project.c). */
extern const NsSchemeSettle ns_mj_settle;

#endif
