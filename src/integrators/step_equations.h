/*
** step_equations.h
** The equations of a time step near its solution: their differences along directions, and their linear system. For step_tangent.c.
*/
#pragma once

#include "integrators/sensitivity.h"
#include "integrators/layout.h"
#include "integrators/step_modes.h"

/* A direction: derivatives of memories, unknowns, multipliers and parameters. NULL: 0. */
typedef struct NsStepDirection {
  const double *x, *r, *before; /* n, nr, n */
  const double *w, *lambda;     /* N, M */
  const double *p;              /* p multiples of the parameters */
} NsStepDirection;

/* The solution of a step, and the memories at its start. */
typedef struct NsStepPoint {
  double *x_k, *r_k, *before; /* n, nr, n */
  double *graph_w, *w;        /* N: in the order of the systems; in the order of the layout */
  double *lambda;             /* M */
  bool *open;                 /* M */
} NsStepPoint;

/* Sizes: the largest |x|, |w| and |lambda| so far, the sum of the terms of y. */
typedef struct NsStepSizes {
  double *x, *w, *lambda, *y_terms; /* n, N, M, M */
} NsStepSizes;

/* The modes of the rows (M), and what they follow from. */
typedef struct NsStepModes {
  NsStepMode *mode, *before;
  double *y, *y_start;
  bool *touches;
  bool
      compares; /* with the modes of a step next to this one: the one before, in the adjoint pass the one after, which ends at t_compared */
  double t_compared;
} NsStepModes;

/* The linear system of a step. */
typedef struct NsStepSystem {
  double *C;                /* M x N: y by w */
  double *P, *P_before, *K; /* M x M: y by lambda; the same in the step before; the rows of the laws */
  NsLu *lu;
  double *Phi;  /* of a linear model whose step has not changed: the memories after a step by those before it; NULL: not used */
  bool carried; /* Phi is formed */
  bool inexact; /* the matrix was found not to be exact: solutions are corrected */
  uint64_t key; /* of the model's matrices in the step before */
  long formed;  /* the factorisations of the linearisation when K was formed; -1: never */
  double h_formed;
} NsStepSystem;

/* Of the adjoint pass (step_adjoint.h). */
typedef struct NsStepAdjoint {
  double t;                       /* where it stands */
  double *inverse;                /* (N + M) x (N + M): the solutions for the unit vectors; NULL: not made */
  bool inverse_known;             /* it belongs to the present matrix */
  double *mu_r, *mu_before;       /* nr, n: the derivatives of the cost by r and by x_before */
  double *beta, *product, *rates; /* N + M, 2 n + nr, 2 N: workspace */
  double *memories;               /* 2 n + nr: of the systems, while the model is at earlier steps */
  double *toward;                 /* n x N: the derivatives of the states by w; NULL: not made */
  double *by_inputs;              /* nr x (N + M): the derivatives of r; NULL: not made */
  bool *of_law;                   /* p: the parameter is a number of a law */
  long since;                     /* steps since the matrix was tested */
} NsStepAdjoint;

/* Of the projection at the end of a step (step_project.h). */
typedef struct NsStepProjection {
  NsLu *lu;        /* NULL: not made */
  double *matrix;  /* M x M */
  int rounds, n;   /* shifts; rows */
  double *gaps;    /* n: -y, then the multipliers of a shift */
  double *rho;     /* N: workspace */
  double *dw, *dl; /* N x p, M x p: the solutions for all parameters */
} NsStepProjection;

/* Workspace. */
typedef struct NsStepRoom {
  double *sample, *once, *twice; /* N + M each, or n + nr */
  double *dy, *row, *unit;       /* M, M, max(N, M) */
  double *dw, *dl, *far, *far_l; /* N, M, N, M */
  double *kept, *kept_l;         /* N, M */
  double *weights, *mix_weights; /* p each */
  double *parts;                 /* p: of displacements, 0: none was tried */
  double *mix;                   /* n + nr + n + N + M: a random direction */
  double *x_new, *r_new;         /* n x p, nr x p */
} NsStepRoom;

/*
** The equations of a step near its solution, their derivatives, and the memories' derivatives. `w` and `lambda` belong to a linearisation,
** with its layout; X, the derivatives of x_k, is in the companion s.
*/
typedef struct NsStepEquations {
  NsArena arena;
  NsSensitivity *s;
  NsNsds *graph;
  NsScheme *lin;
  const NsSchemeTangent *read, *of; /* of the scheme; of the linearisation */
  const NsLayout *layout;
  NsStep step;
  double t_first; /* where the run starts */
  bool linear;    /* the equations are linear in the memories and the solution */
  bool first;     /* this is the first step */
  bool input;     /* steps read r_k */
  bool settles;   /* steps end with a projection, see step_project.h */
  int p, n, nr, N, M;
  NsStepPoint point;
  NsStepSizes sizes;
  NsStepModes modes;
  NsStepRows rows;
  double *numbers;          /* p: the values of the parameters */
  uint64_t *seen;           /* p: the versions of their coefficients */
  double *R, *before_slope; /* nr x p, n x p: derivatives of the memories; the derivatives of x_k are s->X */
  NsStepSystem system;
  NsStepAdjoint adjoint;
  NsStepProjection projection;
  NsStepRoom room;
} NsStepEquations;

/* Makes s->lin, an NsStepEquations, for a scheme that has a `tangent`. NS_ENOMEM, and what `create` returns. */
NsStatus ns_step_equations_new(NsSensitivity *s, const NsScheme *scheme, NsError *err);

/* The number of memories that a step reads, and of those that it leaves to the next one. */
int ns_step_memories(const NsStepEquations *T);
int ns_step_memories_after(const NsStepEquations *T);

/* ---- the point ---- */

/* Reads the solution of the scheme's step, the memories, the values of the parameters, and the sizes of all. */
void ns_step_take(NsStepEquations *T, const NsScheme *scheme);

/* The sizes of states that are not unknowns: of those after the step, where the linearisation stands, and of their change in it. */
NsStatus ns_step_measure_states(NsStepEquations *T, NsError *err);

/*
** The linearisation begins the step at the solution plus e times a direction (NULL: the solution), and has the iterate there. at_start: the
** step's time is its start. The memories and, with along->p, the parameters stay displaced.
*/
NsStatus ns_step_place(NsStepEquations *T, const NsStepDirection *along, double e, bool at_start, NsError *err);

/* The parameters have their values again. */
void ns_step_restore(const NsStepEquations *T);

/* A map along a direction, for differences. */
typedef NsStatus (*NsStepSampler)(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err);

/* out (N + M): the equations. out (M): the outputs where the step begins. out (n + nr): states and inputs after the step. */
NsStatus ns_step_sample(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err);
NsStatus ns_step_sample_start(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err);
NsStatus ns_step_sample_state(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err);

/* ---- differences ---- */

/*
** A central difference of order 4 displaces numbers by this part of their sizes: its errors are then 1e-11 by truncation and 1e-13 by
** rounding where the functions change at the scale of the sizes (see sensitivity_piece.c).
*/
#define NS_STEP_PART (1.0 / 256)

/* The e at which a direction displaces a number by its size. */
double ns_step_reach(const NsStepEquations *T, const NsStepDirection *along);

/* Whether the equations are polynomials of degree 2 along a direction: then differences of order 2 are exact, with any e. */
bool ns_step_affine(const NsStepEquations *T, const NsStepDirection *along);

/* out (count) = the central difference of order 2 with displacement e. T->room.sample is workspace. */
NsStatus ns_step_difference(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count, double e,
                            double *out, NsError *err);

/* out (count) = the derivative of a map that is smooth at the scale of the reach. T->room.twice is workspace. */
NsStatus ns_step_derivative(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count, double *out,
                            NsError *err);

/* The same of a map that is not affine where the equations are. */
NsStatus ns_step_smooth_derivative(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count,
                                   double *out, NsError *err);

/* ---- the linear system, after `linearize` of the linearisation at the solution ---- */

/* system.P = the problem's matrix, in the rows of all multipliers. Returns whether it has changed. */
bool ns_step_take_matrix(NsStepEquations *T);

/* Forms and factors the rows of the laws. NS_ESINGULAR: multipliers are not unique; err names the interaction. */
NsStatus ns_step_form(NsStepEquations *T, NsError *err);

/* The derivatives dw (N), dl (M) of the solution where the derivatives of the equations are b (N + M). */
void ns_step_solve(NsStepEquations *T, const double *b, double *dw, double *dl);

/* system.C. Samples may change what the linearisation computes it from. */
void ns_step_respond(NsStepEquations *T);

/* sizes.y_terms: the sizes of the terms of y, of its change with each unknown. */
void ns_step_measure(NsStepEquations *T);
