/*
** equations.h
** The equations of a graph of first-order systems, stacked: values, Jacobians, derivatives by time, and the split by M.
*/
#pragma once

#include "integrators/flow/rank.h"
#include "model/first_order_ds.h"
#include "model/nsds.h"

/*
** A system. With P M Q = L U of rank nd, its differential states are s = x1 + T x2, T = U11^-1 U12, and its algebraic states
** are a = x2, where x1 are the states of the first nd columns of P M Q. A regular M has s = x.
*/
typedef struct NsEquationNode {
  NsFirstOrderDs *ds;
  int n, x, nd, s, na, a; /* offsets of its states, differential states, algebraic states and equations */
  bool given;             /* M is given; else it is the identity */
  uint64_t version;       /* of the M that is factored; 0: none */
  NsRank rank;            /* n; of M if it is given */
  double *T;              /* nd x na, leading dimension n */
} NsEquationNode;

/* An interaction. */
typedef struct NsEquationEdge {
  NsInteraction *inter;
  int row;   /* its first row */
  double *x; /* nx: its states, gathered */
  double *g; /* nx: its part of r */
} NsEquationEdge;

typedef struct NsEquations {
  NsNsds *nsds;
  int nnodes, nedges, n, m, nd, na;
  NsEquationNode *nodes;
  NsEquationEdge *edges;
  bool linear;   /* f and h are affine in x and lambda, and g is linear */
  bool driven;   /* some callback may depend on t */
  bool moving;   /* bounds of some law are functions of time */
  bool settled;  /* no coefficient and no bound depends on t, no coefficient on other objects */
  bool exact;    /* Jacobians are exact derivatives of the callbacks where there are any, not those that a script gives */
  double *f, *r; /* n: at the last point */
  double *y;     /* m */
  double *A, *B; /* n x n: d(f + r)/dx; n x m: dr/dlambda */
  double *C, *D; /* m x n: dy/dx; m x m: dy/dlambda */
  double *room;  /* workspace of Jacobians and differences */
  double *v;     /* n, workspace */
} NsEquations;

/* Lays out the present graph in the arena; test arena->failed afterwards. */
void ns_equations_take(NsEquations *e, NsArena *arena, NsNsds *nsds);

/* Brings all coefficients and bounds of laws to time t. NS_ECLOSED, NS_EARG (laws), NS_ENAN, NS_ECALLBACK. */
NsStatus ns_equations_update(NsEquations *e, double t, NsError *err);

/* Factors each M that has changed; sets nd and na. NS_ESINGULAR when a singular M depends on time, NS_ENAN. */
NsStatus ns_equations_split_mass(NsEquations *e, NsError *err);

/* What to evaluate at a point, as bits: f, r, y. */
enum { NS_EQUATIONS_F = 1, NS_EQUATIONS_R = 2, NS_EQUATIONS_Y = 4, NS_EQUATIONS_ALL = 7 };

/*
** Evaluates f, r and y, or those that `what` names, at a point, where the coefficients are up to date. NS_ECALLBACK, NS_ERETRY,
** NS_ENAN naming the object.
*/
NsStatus ns_equations_values(NsEquations *e, unsigned what, double t, const double *x, const double *lambda, NsError *err);

/* B, C and D at a point, and A if `states`. */
NsStatus ns_equations_jacobians(NsEquations *e, double t, const double *x, const double *lambda, bool states, NsError *err);

/*
** The derivatives by time at fixed x and lambda: ft (n; NULL: not wanted) of f + r, yt (m) of y. Exact where the callbacks
** have automatic derivatives, else differences (model/difference.h). The coefficients belong to t again afterwards.
*/
NsStatus ns_equations_rates(NsEquations *e, double t, const double *x, const double *lambda, double *ft, double *yt,
                            NsError *err);

/* s (nd) and a (na; NULL: not wanted) of the states x (n); the states of s and a. */
void ns_equations_gather(const NsEquations *e, const double *x, double *s, double *a);
void ns_equations_states(const NsEquations *e, const double *s, const double *a, double *x);

/*
** Splits M x' = v: sdot (nd), and the residual alg (na) of the equations without derivatives. absolute: the sums of terms, of
** v >= 0.
*/
void ns_equations_split(NsEquations *e, bool absolute, const double *v, double *sdot, double *alg);

/* The system, and the number of its state (from 0), of state i. */
const NsDs *ns_equations_system(const NsEquations *e, int i, int *state);

/* Differential state i of s: its system, and its state (from 0) when s_i is that state alone, else -1. */
const NsDs *ns_equations_differential(const NsEquations *e, int i, int *state);
