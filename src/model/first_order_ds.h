/*
** first_order_ds.h
** First-order dynamical systems  M(t) xdot = f(t, x, z) + r.
*/
#ifndef NS_MODEL_FIRST_ORDER_DS_H
#define NS_MODEL_FIRST_ORDER_DS_H

#include "base/arena.h"
#include "linalg/lu.h"
#include "model/coef.h"
#include "model/state.h"

enum { NS_NAME_SIZE = 64 };

/*
** f is the callback when it is given, else A(t) x + b(t). M absent is the identity; M may be singular (a
** differential-algebraic system). Sizes: x, b, r: n; A, M and the Jacobian of f: n x n, column-major.
*/
typedef struct NsFirstOrderDs {
  char name[NS_NAME_SIZE];
  int n;
  NsArena arena;

  /* the model */
  NsCoef M, A, b;
  NsCoef jacobian_f; /* given: used in place of f.jacobian */
  NsFunction f;      /* args: x (n), none, z; value: n */
  double *z;         /* nz parameters, borrowed; NULL when there are none */
  int nz;

  /* the accepted state, seen by scripts as live views */
  double *x0; /* n: initial state */
  double *x;  /* n: state */
  double *r;  /* n: input of the relations */
  uint64_t x_version;
  bool moved; /* a simulation has taken it away from x0 */

  /* memory: the state at the start of the step */
  double *x_k, *r_k;

  /* the right-hand side, on request */
  double *rhs; /* n: M^-1 (f + r), written by ns_ds_rhs */
  NsLu *lu_M;

  const void *owner; /* the NSDS it was inserted in; NULL: none */
  int index;         /* its place there */
  bool closed;       /* given up by its owner: a step refuses it */
} NsFirstOrderDs;

/* Makes a system of n states that starts at x0. NS_ENOMEM. */
NsStatus ns_ds_new(NsFirstOrderDs **ds, int n, const double *x0);
void ns_ds_free(NsFirstOrderDs *ds);

/* Whether f = A x + b, constant or not. */
bool ns_ds_linear(const NsFirstOrderDs *ds);

/* Brings M, A, b and a given Jacobian up to date for time t. */
NsStatus ns_ds_update(NsFirstOrderDs *ds, double t, NsError *err);

/* Sum of the versions of the coefficients that enter the step's matrix: it grows when one changed. */
uint64_t ns_ds_matrix_version(const NsFirstOrderDs *ds);

/* out = f(t, x). The coefficients must be up to date for t. NS_ECALLBACK. */
NsStatus ns_ds_f(const NsFirstOrderDs *ds, double t, const double *x, double *out, NsError *err);

/* J = df/dx(t, x), n x n. NS_ECALLBACK. */
NsStatus ns_ds_jacobian(const NsFirstOrderDs *ds, double t, const double *x, double *J, NsError *err);

/*
** Fills ds->rhs with M^-1 (f(t, x) + r) of the accepted state. NS_ESINGULAR when M is singular, NS_ENOMEM,
** NS_ECALLBACK.
*/
NsStatus ns_ds_rhs(NsFirstOrderDs *ds, double t, NsError *err);

/* Back to x0, with no input. */
void ns_ds_reset(NsFirstOrderDs *ds);

/* Walks x, r and their memories, and z. */
void ns_ds_visit(NsFirstOrderDs *ds, NsVisitor visitor, void *context);

#endif
