/*
** nlp.h
** Large sparse nonlinear programs: sums of affine parts and of functions of a few variables, with exact derivatives.
*/
#pragma once

#include <stdbool.h>

#include "ad/tape.h"
#include "base/arena.h"
#include "base/engine.h"

/* The row of the objective, in place of the number of a constraint. */
enum { NS_NLP_OBJECTIVE = -1 };

/*
** A function with a few inputs: output o of the tape, times weight[o], is added to row[o]. Input k is variable index[k]. Terms
** may share a tape. Borrowed by the program.
*/
typedef struct NsNlpTerm {
  NsTape *tape;
  const int *index, *row;
  const double *weight;
} NsNlpTerm;

/*
** minimise f(x), lower <= x <= upper, row_lower <= c(x) <= row_upper. Entry e adds value[e] x[column[e]] to row[e] (to f for
** NS_NLP_OBJECTIVE). The first members are the caller's, and borrowed; ns_nlp_prepare sets the others.
**
** Places of derivatives may occur several times: the values add up. hessian_row >= hessian_column. The functions write f, its
** gradient (n), c (m), the values of the Jacobian's entries, and the values of factor f'' + sum lambda_i c_i''. They return false when
** a result is not finite.
*/
typedef struct NsNlp NsNlp;
struct NsNlp {
  int n, m, nentries, nterms;
  const double *lower, *upper, *row_lower, *row_upper;
  const int *row, *column;
  const double *value;
  const NsNlpTerm *terms;

  int njacobian, nhessian;
  int *jacobian_row, *jacobian_column, *hessian_row, *hessian_column;
  bool (*objective)(NsNlp *nlp, const double *x, double *f);
  bool (*gradient)(NsNlp *nlp, const double *x, double *gradient);
  bool (*constraints)(NsNlp *nlp, const double *x, double *c);
  bool (*jacobian)(NsNlp *nlp, const double *x, double *values);
  bool (*hessian)(NsNlp *nlp, const double *x, double factor, const double *lambda, double *values);
  int *jacobian_of, *hessian_of;      /* nterms + 1: the first place of each term */
  int *jacobian_slope, *hessian_pair; /* of each place: its number in the derivatives of its tape */
  double *jacobian_weight;
  double *in, *out, *slopes, *room;
};

/*
** Finds the places of the derivatives and allocates the workspace in the arena. The pattern of a tape's second derivatives comes
** from its operations: sums have none, products have their factors' entries. NS_ENOMEM; NS_ETOOLARGE for a term with more than 200
** inputs.
*/
NsStatus ns_nlp_prepare(NsNlp *nlp, NsArena *arena, NsError *err);

typedef struct NsNlpOptions {
  double tolerance;       /* of the scaled optimality conditions */
  double complementarity; /* of the products of multipliers and distances from bounds: each adds to the objective */
  double barrier;         /* the first barrier parameter */
  double push;            /* how far the start is moved from its bounds, relative and absolute */
  int iterations;         /* largest number */
  bool warm;              /* the start has multipliers */
} NsNlpOptions;

typedef enum NsNlpEnd {
  NS_NLP_SOLVED,
  NS_NLP_ACCEPTABLE,
  NS_NLP_INFEASIBLE,
  NS_NLP_ITERATIONS,
  NS_NLP_UNBOUNDED,
  NS_NLP_FAILED,
  NS_NLP_FREEDOM /* more equations than variables that may move */
} NsNlpEnd;

/* The point and the multipliers (of f + sum multiplier c, of lower and upper bounds), in and out. */
typedef struct NsNlpPoint {
  double *x, *multiplier, *at_lower, *at_upper;
  double objective;
  int iterations;
  NsNlpEnd ended;
} NsNlpPoint;

/* The interface of a module with a solver. NS_EINTR, NS_ENOMEM, NS_EARG. */
typedef struct NsNlpSolver {
  NsStatus (*solve)(const NsEngine *engine, NsNlp *nlp, const NsNlpOptions *options, NsNlpPoint *point, NsError *err);
  const NsEngine *engine;
} NsNlpSolver;
