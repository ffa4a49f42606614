/*
** first_order_ds.h
** First-order dynamical systems  M(t) xdot = f(t, x, z) + r.
*/
#pragma once

#include "linalg/lu.h"
#include "model/coef.h"
#include "model/ds.h"

/*
** f is the callback if it is given, else A(t) x + b(t). An absent M is the identity; M may be singular (a
** differential-algebraic system). Sizes: x, b, r: n; A, M and the Jacobian of f: n x n, column-major.
*/
typedef struct NsFirstOrderDs {
  NsDs base; /* x: n, r: n */

  /* the model */
  NsCoef M, A, b;
  NsCoef jacobian_f; /* if given, used in place of f.jacobian */
  NsFunction f;      /* args: x (n), none, z; value: n */

  /* the right-hand side, on request */
  double *rhs; /* n: M^-1 (f + r), written by ns_first_order_rhs */
  NsLu *lu_M;
} NsFirstOrderDs;

/* Makes a system of n states with the initial state x0 (copied). The caller frees it. NS_ENOMEM. */
NsStatus ns_first_order_new(NsFirstOrderDs **ds, const NsDsClass *class, int n, const double *x0);

/* Whether f = A x + b, constant or not. */
bool ns_first_order_linear(const NsFirstOrderDs *ds);

/* Sum of the versions of the coefficients in the step's matrix; it grows when one of them changes. */
uint64_t ns_first_order_matrix_version(const NsFirstOrderDs *ds);

/* out = f(t, x). The coefficients must be up to date for t. NS_ECALLBACK, NS_ERETRY. */
NsStatus ns_first_order_f(const NsFirstOrderDs *ds, double t, const double *x, double *out, NsError *err);

/* J = df/dx(t, x), n x n; exact: the callback f's own derivative where it has one, not one that a script gives. NS_ECALLBACK, NS_ERETRY. */
NsStatus ns_first_order_jacobian(const NsFirstOrderDs *ds, double t, const double *x, bool exact, double *J, NsError *err);

/* Whether that is the derivative of the callback f, and not a function or a number that a script gives. */
bool ns_first_order_derives(const NsFirstOrderDs *ds);

/*
** Fills ds->rhs with M^-1 (f(t, x) + r) of the accepted state. NS_ESINGULAR when M is singular, NS_ENOMEM,
** NS_ECALLBACK, NS_ERETRY.
*/
NsStatus ns_first_order_rhs(NsFirstOrderDs *ds, double t, NsError *err);

/*
** The terms of M(t) x' = f(t, x): f (n), M (n x n; must be 0 on entry), and J = df/dx (n x n; NULL: not wanted). The
** coefficients must be up to date for t. NS_ECALLBACK, NS_ERETRY.
*/
NsStatus ns_first_order_terms(NsFirstOrderDs *ds, double t, const double *x, double *f, double *M, double *J, NsError *err);
