/*
** relation.h
** Relations  y = h(t, x, lambda, z),  r = g(t, x, lambda, z). In mechanics x = q and r = H(q)' lambda with H = dh/dq.
** To add a relation: write its NsRelationClass in a file of model/relation/, and add its name to NS_RELATION_LIST.
*/
#pragma once

#include <limits.h>

#include "model/class.h"
#include "model/coef.h"
#include "model/contact.h"
#include "model/difference.h"
#include "model/ds.h"

/*
** X(NAME): a file of model/relation/ defines `const NsRelationClass ns_relation_NAME` and the relation's name in scripts,
** `ns_relation_NAME_text`.
*/
#define NS_RELATION_LIST(X)                                                                                                    \
  X(first_order_linear_ti)                                                                                                     \
  X(first_order_linear)                                                                                                        \
  X(type1)                                                                                                                     \
  X(type2)                                                                                                                     \
  X(nonlinear)                                                                                                                 \
  X(lagrangian)                                                                                                                \
  X(scleronomous)                                                                                                              \
  X(rheonomous)                                                                                                                \
  X(compliant_linear)                                                                                                          \
  X(compliant)                                                                                                                 \
  X(newton_euler)                                                                                                              \
  X(contact_2d)                                                                                                                \
  X(contact_1d)                                                                                                                \
  X(contact_3d)                                                                                                                \
  X(contact_5d)                                                                                                                \
  X(contact_6d)

/* A relation, a point at which it is evaluated, and what changes there; see below. */
typedef struct NsRelation NsRelation;
typedef struct NsRelationPoint NsRelationPoint;
typedef struct NsRelationCurvature NsRelationCurvature;

/* A class of relations. */
typedef struct NsRelationClass {
  NsModelClass model;
  NsFamily family;          /* family of the systems that it links */
  const char *const *forms; /* the forms of the constructor: "CB" takes C, then B; ended by NULL. NULL: it takes callbacks */
  bool has_D, has_K;        /* h depends on lambda; g depends on x */
  bool at_position;         /* mechanics: the law holds between y and lambda, not between dy/dt and impulses */
  bool timed;               /* h depends on t */
  bool curved;              /* schemes may use second derivatives of h by q */
  size_t bytes, contact; /* a contact: sizeof its struct, and offset of the NsContact in it. 0, 0: the struct is NsRelation */
  int contact_rows;      /* a contact: its number of rows; else 0 */
  /* See ns_relation_curvature, for relations with h; NULL: none. */
  bool (*curvature)(const NsRelation *relation, const NsRelationPoint *at, const double *w, double *room,
                    const NsRelationCurvature *out);
} NsRelationClass;

#define X(name)                                                                                                                \
  extern const NsRelationClass ns_relation_##name;                                                                             \
  extern const char ns_relation_##name##_text[];
NS_RELATION_LIST(X)
#undef X

/* The index of each class in ns_relation_classes, and the number of classes. */
enum {
#define X(name) NS_RELATION_AT_##name,
  NS_RELATION_LIST(X)
#undef X
      NS_RELATION_CLASSES
};
extern const NsRelationClass *const ns_relation_classes[];

#define NS_RELATION_NOUN "relation"

/* Entries of a table of fields: a coefficient; the number of states of the callbacks; the fields of every relation. */
#define NS_RELATION_COEF(letter, rows, cols)                                                                                   \
  NS_FIELD_A_COEF(#letter, NsRelation, letter, rows, cols, NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_CONSTANT)
#define NS_RELATION_STATES NS_FIELD_A_COUNT("states", NsRelation, states, 1, INT_MAX, 0)
#define NS_RELATION_FIELDS                                                                                                     \
  NS_FIELD_A_VECTOR("z", NsRelation, z, nz, NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_STATE),                \
      NS_FIELD_A_TEXT("name", NsRelation, name, NS_FIELD_SETTER)

/* Indices of the arguments of h and g. The first two also say by which argument a Jacobian is taken. */
enum { NS_BY_X = 0, NS_BY_LAMBDA = 1, NS_ARG_Z = 2 };

/*
** A relation between nx states (of one system, or of several systems one after the other) and m multipliers.
** C (m x nx), D (m x m), B (nx x m), K (nx x nx), F (m x np) are matrices, e (m) is a vector. Without the callback h,
** y = C x + D lambda + F z + e; without g, r = B lambda + K x. A given C, D, B or K replaces the Jacobian of the callback.
*/
struct NsRelation {
  const NsRelationClass *class;
  char name[NS_NAME_SIZE];
  int nx, m, np; /* numbers of states, multipliers, parameters passed to the callbacks; -1 until linked */
  int states;    /* the value of nx that the callbacks are written for; 0: any */
  NsCoef C, D, B, K, F, e;
  NsFunction h;       /* args: x (nx), lambda (m), z; value: m */
  NsFunction g;       /* args: x (nx), lambda (m), z; value: nx */
  NsFunction hdot;    /* args: x (nx), none, z; value: m, dh/dt at fixed x */
  NsFunction dotjac;  /* args: x (nx), xdot (nx), z; value: m x nx, the total derivative d/dt (dh/dx) */
  NsFunction jac;     /* args: x (nx), none, z; value: m x nx, the callback of dh/dx in mechanics, for its derivative alone */
  NsContact *contact; /* the contact inside the struct; NULL: the relation is no contact */
  double *z;          /* nz own parameters, borrowed; NULL: callbacks get the parameters of the systems */
  int nz;
  NsWindow window; /* for differences in time: where h may be evaluated, and the step length */
  bool closed;     /* the script closed it: a step refuses it */
};

/*
** The point at which a relation is evaluated: x (nx), lambda (m), z (np; may be NULL). exact: Jacobians are the exact derivatives of the
** callbacks where there are any (`exact` of NsFunction), not those that a script gives.
*/
struct NsRelationPoint {
  double t;
  const double *x, *lambda, *z;
  bool exact;
};

/* Makes a relation without callbacks and coefficients; the caller frees it. NS_ENOMEM. */
NsStatus ns_relation_new(NsRelation **relation, const NsRelationClass *class);
void ns_relation_free(NsRelation *relation);

const char *ns_relation_class_name(const NsRelation *relation);
/* The family of the systems that the relation links. */
NsFamily ns_relation_family(const NsRelation *relation);

/* See `at_position` of NsRelationClass. */
bool ns_relation_holds_at_position(const NsRelation *relation);

/* Curved: h may have second derivatives by q. Still: curved, and h does not depend on t. */
bool ns_relation_curved(const NsRelation *relation);
bool ns_relation_still(const NsRelation *relation);

/* Whether h and its Jacobian are functions of x alone, for good: the gap of a ready-made shape. */
bool ns_relation_pure(const NsRelation *relation);

bool ns_relation_has_D(const NsRelation *relation);
bool ns_relation_has_K(const NsRelation *relation);

/* Whether y is affine in x and lambda, and r in lambda: one Newton iteration is then exact. */
bool ns_relation_linear(const NsRelation *relation);

/* NS_EARG when y or r has neither a callback nor a coefficient. */
NsStatus ns_relation_complete(const NsRelation *relation, NsError *err);

/*
** Fixes nx, m and np = nz. `whose` names the systems in messages ("dynamical system 'ds 1'"). NS_ESIZE, with both numbers, when
** the sizes do not fit a given coefficient, `states`, the contact, or an earlier link. NS_EARG when the relation is not complete.
*/
NsStatus ns_relation_link(NsRelation *relation, int nx, int m, int nz, const char *whose, NsError *err);

/* Brings the coefficients up to date for time t. NS_ECLOSED, NS_ENAN, NS_ECALLBACK. */
NsStatus ns_relation_update(NsRelation *relation, double t, const double *z, NsError *err);

/* Sum of the versions of C, D, B, K. */
uint64_t ns_relation_matrix_version(const NsRelation *relation);

/* y = h and r = g at a point. NS_ECALLBACK. */
NsStatus ns_relation_output(const NsRelation *relation, const NsRelationPoint *at, double *y, NsError *err);
NsStatus ns_relation_input(const NsRelation *relation, const NsRelationPoint *at, double *r, NsError *err);

/*
** rate (m) += dh/dt at fixed x; of a contact, the rate of its gap. Nothing is added when h does not depend on t. The callback
** hdot gives dh/dt; without it, the automatic derivative of h (exact); for a native h, differences in time within the window
** (ns_difference). `room`: workspace of NS_DIFFERENCE_ROOM m doubles. NS_ECALLBACK.
*/
NsStatus ns_relation_add_rate(const NsRelation *relation, const NsRelationPoint *at, double *room, double *rate, NsError *err);

/* As ns_relation_add_rate, but from h alone, even if there is an hdot. *exact: differences were not needed. */
NsStatus ns_relation_add_rate_of_h(const NsRelation *relation, const NsRelationPoint *at, double *room, double *rate,
                                   bool *exact, NsError *err);

/* The number of doubles of workspace that ns_relation_add_bias needs; the relation must be linked. */
size_t ns_relation_bias_room(const NsRelation *relation);

/*
** bias (m) += d2/ds2 h(t + s, x + s qdot, lambda, z) at s = 0, with qdot (nx) and lambda fixed; relations of mechanics. For
** Lagrangian systems y'' = H a + bias; rigid bodies, where qdot = T(q) v, also add H d(T(q) v)/dt at constant v.
** The first available method is used: computeDotJachq times qdot plus the derivative of dh/dt along the line; automatic second
** derivatives of h along the line (exact); differences (ns_difference) of dh/dx qdot + dh/dt along the line. An hdot with another
** derivative than dh/dt, as one that gives the velocity of a belt, counts in place of dh/dt.
** In the rows that `own` marks (NULL: none) the derivative of Jachq replaces the derivative of h; it is exact where Jachq takes dual numbers.
** `room`: workspace of ns_relation_bias_room doubles. NS_ECALLBACK.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 8.
*/
NsStatus ns_relation_add_bias(const NsRelation *relation, const NsRelationPoint *at, const double *qdot, const bool *own,
                              double *room, double *bias, NsError *err);

/*
** own (m): the rows whose Jachq, a callback, is not the derivative of h at this point. A Jachq that gives a slip velocity is an example: no
** output has this velocity as its rate. None where h has no exact derivatives, or with computeDotJachq. `room`: as of ns_relation_add_bias. NS_ECALLBACK.
*/
NsStatus ns_relation_own_rows(const NsRelation *relation, const NsRelationPoint *at, double *room, bool *own, NsError *err);

/*
** Second derivatives of h in mechanics: second (m x nx x nx) = d2h/dx2, drift (m x nx) = d(dh/dt)/dx. Exact: automatic second
** derivatives of h along the lines of each axis and of each pair of axes, nx (nx + 1) / 2 evaluations. `room`: workspace of
** nx + 3 m doubles. False when h has no automatic derivatives.
*/
bool ns_relation_second(const NsRelation *relation, const NsRelationPoint *at, double *room, double *second, double *drift);

/*
** How C, the Jacobian by x, changes in relations of mechanics: second (m x nx x nx), entry (i, j, k) = dC_ij/dx_k; drift (m x nx) =
** d(dh/dt)/dx; third (m x nx) = the derivative by x, at fixed w, of the rate of C w + dh/dt along the line (t + s, x + s w).
*/
struct NsRelationCurvature {
  double *second, *drift, *third;
};

/*
** The curvature with w (nx) at a point, exact: by jets (`bowl` and `twist` of NsFunction) of h or, where a callback gives C, of that
** callback; closed forms of ready-made contacts; zeros where C is a constant. `room`: workspace of ns_relation_curvature_room doubles.
** False: unknown, as with computehDot, native callbacks, a contact's computeh, an h of lambda, or a computeDotJachq of a relation of time,
** or one that is not the rate of C.
*/
size_t ns_relation_curvature_room(const NsRelation *relation);
bool ns_relation_curvature(const NsRelation *relation, const NsRelationPoint *at, const double *w, double *room,
                           const NsRelationCurvature *out);

/* Whether C is the exact derivative of h by x; of rigid bodies, along all motions of theirs. */
bool ns_relation_exact_C(const NsRelation *relation);

/* Whether y and C do not depend on z, as the traces of their callbacks show. */
bool ns_relation_ignores_z(const NsRelation *relation, const NsRelationPoint *at);

/* Whether y may depend on time at fixed x. */
bool ns_relation_moves(const NsRelation *relation);

/* The Jacobians C = dh/dx, D = dh/dlambda, B = dg/dlambda, K = dg/dx at a point; all of out is written. NS_ECALLBACK. */
NsStatus ns_relation_C(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
NsStatus ns_relation_D(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
NsStatus ns_relation_B(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
NsStatus ns_relation_K(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
