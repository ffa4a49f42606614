/*
** euler_moreau.h
** What the files of the theta-gamma scheme ask of each other. Private to them.
*/
#ifndef NS_INTEGRATORS_EULER_MOREAU_EULER_MOREAU_H
#define NS_INTEGRATORS_EULER_MOREAU_EULER_MOREAU_H

#include "integrators/scheme.h"

/* The options of EulerMoreauOSI. */
typedef struct NsEulerMoreauOptions {
  NsIntegrator base;
  double theta, gamma; /* in [0, 1]; theta 0 is explicit in f */
  bool gamma_in_relation;
  int restart; /* 1: the first step, every one in which a multiplier comes to a bound or leaves one, and the steps after these
                  have theta = gamma = 1 */
} NsEulerMoreauOptions;

/* The dense form. */
typedef struct NsEulerMoreau NsEulerMoreau;

/* Puts the multipliers of the iterate at lambda (m); its state stays. */
void ns_em_place(NsScheme *scheme, const double *lambda);

/* y at the (evaluated) iterate: m elements. */
const double *ns_em_output(const NsScheme *scheme);

/* Jacobians, W and its factors, and the matrix of the problem at the iterate; its constant part stays. */
NsStatus ns_em_update(NsEulerMoreau *em, NsError *err);

/* The form for large linear models, state and multipliers in one sparse problem; whether the graph is one for it, and has sparse matrices. */
extern const NsSchemeClass ns_scheme_euler_moreau_sparse;
bool ns_em_sparse_suits(const NsNsds *nsds);

/* A nonlinear step as a problem of the multipliers alone (condensed.c), of m >= 1 of them. NS_ENOMEM. ns_condensed_free takes NULL. */
typedef struct NsCondensed NsCondensed;
NsStatus ns_condensed_new(NsCondensed **c, NsScheme *scheme, int m);
void ns_condensed_free(NsCondensed *c);

/*
** Solves the step that the scheme has begun, from lambda_k projected on its bounds. On success the iterate is evaluated, and
** linearised, at the solution. NS_ENOCONV, whatever was the reason; NS_ECALLBACK, NS_EINTR, NS_ENOMEM and NS_EARG, with err (may
** be NULL), when the run must stop: nothing is written then.
*/
NsStatus ns_condensed_solve(NsCondensed *c, NsRescue *rescue, NsError *err);

#endif
