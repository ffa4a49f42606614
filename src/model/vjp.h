/*
** vjp.h
** The model's derivatives by its numbers: products with the transposed derivative (vjp) and columns of it (jvp).
*/
#pragma once

#include "model/parameter_place.h"

/*
** At a fixed point a number of the model changes the forces F and the outputs Y,
**   first order  F = f - M x' + r,          Y = y, or y' in rows `by_rate`;
**   mechanics    F = F(t, q, v) - M a + H' lambda,   Y = y'', with y = C q + e,
** where r = B lambda + K x or the callback g. Numbers of laws change the lower and upper bounds. Linear models have closed forms; those
** of callbacks by z are exact derivatives (`exact` of NsFunction).
**
** Vectors are stacked. x, v, row: the indices of the first coordinate (a state) and the first velocity (of first order: a state) of a
** system, and of the first row of an interaction. They follow the order of the graph; the owner may write others.
*/
typedef struct NsModelDerivative {
  const NsNsds *nsds;
  int p;
  const NsParameter *parameters; /* p, borrowed */
  NsParameterPlace *place;       /* p; the owner sets kinds for which it has no closed form to NS_NUMBER_UNKNOWN */
  int *x, *v, *row;
  bool has_z; /* a parameter is an element of z */

  NsArena *arena;
  struct NsModelByZ *of_system, *of_interaction;
  int (*part)[NS_INTERACTION_SYSTEMS]; /* by interaction: its systems */
  double *room, *argument, *zeros;     /* workspace; the coordinates of an interaction; as many zeros as it has rows */
} NsModelDerivative;

/* The point: stacked vectors. Those that no number in question multiplies may be NULL. */
typedef struct NsModelPoint {
  double t;
  const double *x, *x_input; /* coordinates; where g and K are taken. NULL: x */
  const double *v;           /* mechanics: velocities */
  const double *rate;        /* in the order of v: x' or a */
  const double *lambda;      /* by row */
  const bool *by_rate;       /* by row; NULL: none */
  double one;                /* what b and fExt are multiplied by: 1, or the time over which they act */
  bool positions;            /* mechanics: Y = y, not y'' */
} NsModelPoint;

/* What is differentiated: force . F + input . r + output . Y + lower . (lower bounds) + upper . (upper bounds), without r in F. */
typedef struct NsModelWeights {
  const double *force, *input;          /* in the order of v */
  const double *output, *lower, *upper; /* by row */
  bool apart;                           /* z: the products of each f and each h are summed before they are added */
} NsModelWeights;

/* Finds p parameters in a linked graph, which keeps its systems and interactions. Memory comes from the arena, which is borrowed. NS_ENOMEM. */
NsStatus ns_model_derivative_take(NsModelDerivative *m, NsArena *arena, const NsNsds *nsds, const NsParameter *parameters,
                                  int p);

/* Takes memory for the elements of z whose place is known. Afterwards places become only unknown. NS_ENOMEM. */
NsStatus ns_model_take_z(NsModelDerivative *m);

/*
** Evaluates the derivatives by the z of a system, or of an interaction, at a point; and of all. Coefficients must be up to date. They stay
** known until the next call.
*/
void ns_model_look_at_system(NsModelDerivative *m, int d, const NsModelPoint *at);
void ns_model_look_at_interaction(NsModelDerivative *m, int e, const NsModelPoint *at);
void ns_model_look(NsModelDerivative *m, const NsModelPoint *at);

/*
** vjp: *sum += the derivative of the weighted sum by parameter j, term by term. jvp: F (order of v) and Y (by row) += their derivatives by
** it. At the point of the last look, for numbers of z. False: it is not known here; what was added has no meaning.
*/
bool ns_model_vjp(const NsModelDerivative *m, const NsModelPoint *at, const NsModelWeights *weights, int j, double *sum);
bool ns_model_jvp(const NsModelDerivative *m, const NsModelPoint *at, int j, double *F, double *Y);

/* The part of ns_model_vjp of one system, and of one interaction, for an element of z. True when z is not theirs. */
bool ns_model_vjp_system_z(const NsModelDerivative *m, int d, const NsModelWeights *weights, int j, double *sum);
bool ns_model_vjp_interaction_z(const NsModelDerivative *m, int e, const NsModelPoint *at, const NsModelWeights *weights, int j,
                                double *sum);

/* Whether relations of mechanics ignore an element of z, or do not have it, at the last look. */
bool ns_model_outputs_ignore(const NsModelDerivative *m, int j);

/* The index of coordinate i of an interaction in stacked vectors; *v: of the velocity of the same number. */
int ns_model_coordinate(const NsModelDerivative *m, int e, int i, int *v);
