/*
** law.h
** Nonsmooth laws between y and lambda that act on each component: -y in the normal cone of [lower, upper] at lambda.
*/
#ifndef NS_MODEL_LAW_H
#define NS_MODEL_LAW_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"

/* X(code, name). The kinds and their boxes. */
#define NS_LAW_LIST(X)                                                                                \
  X(NS_LAW_COMPLEMENTARITY, "ComplementarityConditionNSL")            /* 0 <= y _|_ lambda >= 0 */    \
  X(NS_LAW_EQUALITY, "EqualityConditionNSL")                          /* y = 0, lambda free */        \
  X(NS_LAW_RELAY, "RelayNSL")                                         /* -y in N_[lb, ub](lambda) */  \
  X(NS_LAW_MIXED, "MixedComplementarityConditionNSL")                 /* equalities first */         \
  X(NS_LAW_NORMAL_CONE, "NormalConeNSL")                              /* -y in N_P(lambda) */         \
  X(NS_LAW_IMPACT, "NewtonImpactNSL")                                 /* 0 <= y + e y_k _|_ lambda >= 0 */ \
  X(NS_LAW_FRICTION, "NewtonImpactFrictionNSL")                       /* the same with Coulomb's friction */

typedef enum NsLawKind {
#define X(code, name) code,
  NS_LAW_LIST(X)
#undef X
} NsLawKind;

/*
** A law on `size` components. The bounds may be changed between steps (they are live in scripts) and are checked when
** a step begins. Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 2.
*/
typedef struct NsLaw {
  NsLawKind kind;
  int size;
  int equalities; /* NS_LAW_MIXED: how many components, from the first, are equations */
  NsArena arena;
  double *lower, *upper; /* size each, +-INFINITY where there is none */
  int rows;              /* NS_LAW_NORMAL_CONE: P = {H lambda >= K}, H rows x size, column-major; bounds infinite */
  double *H, *K, *inside; /* inside: a point of P */
  double en, et, mu;      /* NS_LAW_IMPACT, NS_LAW_FRICTION: restitution of the normal and the tangents, friction */
  bool closed;           /* given up by its owner: a step refuses it */
} NsLaw;

/* Makes a law with the bounds of its kind; a relay gets [lb, ub] in every component. NS_ENOMEM. */
NsStatus ns_law_new(NsLaw **law, NsLawKind kind, int size, int equalities, double lb, double ub);
void ns_law_free(NsLaw *law);

/*
** Makes a NS_LAW_IMPACT (size components alike) or NS_LAW_FRICTION (size 2 or 3: the normal, then the tangents). A
** contact is either closed or open (`active` of the step); restitution acts between the velocities before and after
** the step. NS_ENOMEM.
*/
NsStatus ns_law_new_impact(NsLaw **law, NsLawKind kind, int size, double en, double et, double mu);

/* Whether a law is of a contact that can be open: then it holds only while the contact is closed. */
bool ns_law_unilateral(const NsLaw *law);

/* How many components, from the first, are gaps between which a law of impact holds; 0 for other laws. */
int ns_law_gaps(const NsLaw *law);

/* Makes a NS_LAW_NORMAL_CONE; H (rows x size), K (rows) and inside (size), a point of P, are copied. NS_ENOMEM. */
NsStatus ns_law_new_cone(NsLaw **law, int size, int rows, const double *H, const double *K, const double *inside);

const char *ns_law_name(NsLawKind kind);

/* NS_EARG with the component when a bound is nan or the two cross: "RelayNSL: lb[2] = 1 is above ub[2] = 0". */
NsStatus ns_law_check(const NsLaw *law, NsError *err);

/* Moves each lambda into its bounds; one outside of a polyhedron, to the point inside. */
void ns_law_project(const NsLaw *law, double *lambda);

#endif
