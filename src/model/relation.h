/*
** relation.h
** Relations  y = h(t, x, lambda, z),  r = g(t, x, lambda, z): of first order, and of mechanics, where r = H(q)' lambda.
*/
#ifndef NS_MODEL_RELATION_H
#define NS_MODEL_RELATION_H

#include <limits.h>

#include "model/class.h"
#include "model/coef.h"
#include "model/contact.h"
#include "model/difference.h"
#include "model/ds.h"

/*
** X(name): each is `const NsRelationClass ns_relation_NAME`, whose name for scripts is `ns_relation_NAME_text`; both are
** defined in a file of model/relation/.
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
  X(contact_1d)                                                                                                                \
  X(contact_3d)

/* A class of relations. */
typedef struct NsRelationClass {
  NsModelClass model;
  NsFamily family;          /* of the systems that it goes with */
  const char *const *forms; /* coefficients by position, "CB": each a form of the constructor; NULL: it takes callbacks */
  bool has_D, has_K;        /* h depends on lambda; g depends on x */
  bool at_position; /* its law holds between y itself and lambda (and not, in mechanics, between velocities and impulses) */
  bool timed;       /* h depends on the time */
  bool curved;      /* schemes may take second derivatives of h by q */
  size_t bytes, contact; /* of a contact: of its struct, and where its NsContact is in it; 0: NsRelation alone */
  int contact_rows;
} NsRelationClass;

#define X(name)                                                                                                                \
  extern const NsRelationClass ns_relation_##name;                                                                             \
  extern const char ns_relation_##name##_text[];
NS_RELATION_LIST(X)
#undef X

/* The place of each in ns_relation_classes, and how many there are. */
enum {
#define X(name) NS_RELATION_AT_##name,
  NS_RELATION_LIST(X)
#undef X
      NS_RELATION_CLASSES
};
extern const NsRelationClass *const ns_relation_classes[];

#define NS_RELATION_NOUN "relation"

/* Entries of the tables of fields: a coefficient, how many states its callbacks are written for, what every relation has. */
#define NS_RELATION_COEF(letter, rows, cols)                                                                                   \
  NS_FIELD_A_COEF(#letter, NsRelation, letter, rows, cols, NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_CONSTANT)
#define NS_RELATION_STATES NS_FIELD_A_COUNT("states", NsRelation, states, 1, INT_MAX, 0)
#define NS_RELATION_FIELDS                                                                                                     \
  NS_FIELD_A_VECTOR("z", NsRelation, z, nz, NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_STATE),                \
      NS_FIELD_A_TEXT("name", NsRelation, name, NS_FIELD_SETTER)

/* The arguments of h and g, and what their Jacobians are taken by. */
enum { NS_BY_X = 0, NS_BY_LAMBDA = 1, NS_ARG_Z = 2 };

/*
** A relation between nx states (those of one system, or of two, one after the other) and m multipliers. Sizes are
** those of C (m x nx), D (m x m), B (nx x m), K (nx x nx), F (m x nz), e (m). A callback that is absent is replaced
** by its linear form (h: C x + D lambda + F z + e, g: B lambda); a coefficient that is given is used in place of
** that Jacobian's callback.
*/
typedef struct NsRelation {
  const NsRelationClass *class;
  char name[NS_NAME_SIZE];
  int nx, m, np; /* -1 until linked; np: the parameters that it gets */
  int states;    /* the number of states that its callbacks are written for; 0: not told */
  NsCoef C, D, B, K, F, e;
  NsFunction h;       /* args: x (nx), lambda (m), z; value: m */
  NsFunction g;       /* args: x (nx), lambda (m), z; value: nx */
  NsFunction hdot;    /* args: x (nx), none, z; value: m, dh/dt at fixed x */
  NsFunction dotjac;  /* args: x (nx), its rate (nx), z; value: m x nx, d/dt of dh/dx along the rate and the time */
  NsContact *contact; /* of a contact, in its struct; else NULL */
  double *z;          /* parameters of the relation itself, borrowed; NULL: those of the system are passed */
  int nz;
  NsWindow window; /* where h may be evaluated, and the steps of the simulation: for differences in time */
  bool closed;     /* given up by its owner: a step refuses it */
} NsRelation;

/* A relation's evaluation at one point, for one interaction. */
typedef struct NsRelationPoint {
  double t;
  const double *x, *lambda, *z;
} NsRelationPoint;

/* Makes a relation without data. NS_ENOMEM. */
NsStatus ns_relation_new(NsRelation **relation, const NsRelationClass *class);
void ns_relation_free(NsRelation *relation);

const char *ns_relation_class_name(const NsRelation *relation);
/* The family of systems that it goes with. */
NsFamily ns_relation_family(const NsRelation *relation);

/* Whether its law holds between y itself and lambda (and not, in mechanics, between velocities and impulses). */
bool ns_relation_holds_at_position(const NsRelation *relation);

/* Whether h may have second derivatives by q; whether it depends on q alone too. */
bool ns_relation_curved(const NsRelation *relation);
bool ns_relation_still(const NsRelation *relation);

bool ns_relation_has_D(const NsRelation *relation);
bool ns_relation_has_K(const NsRelation *relation);

/* Whether y is affine in x and lambda, r in lambda: then one Newton iteration is exact. */
bool ns_relation_linear(const NsRelation *relation);

/*
** Fixes nx and m, of the system or systems that `whose` names ("dynamical system 'ds 1'"). NS_ESIZE with both numbers
** when a given coefficient disagrees, or what its callbacks are written for, or when the relation is already linked
** with other sizes, or a contact goes with other ones; NS_EARG when there is neither a callback nor a coefficient for y
** or for r.
*/
NsStatus ns_relation_link(NsRelation *relation, int nx, int m, int nz, const char *whose, NsError *err);

/* Brings the coefficients up to date for time t. */
NsStatus ns_relation_update(NsRelation *relation, double t, const double *z, NsError *err);

/* Sum of the versions of C, D, B, K. */
uint64_t ns_relation_matrix_version(const NsRelation *relation);

/* y = h and r = g at a point. NS_ECALLBACK. */
NsStatus ns_relation_output(const NsRelation *relation, const NsRelationPoint *at, double *y, NsError *err);
NsStatus ns_relation_input(const NsRelation *relation, const NsRelationPoint *at, double *r, NsError *err);

/*
** rate (m) += dh/dt at fixed x (of a contact: of its gap): by hdot when there is one, else by h along the time (exact),
** and where h has no such derivative (native; no dual numbers) by differences in time (ns_difference) within the window;
** nothing for relations without time. `room` holds NS_DIFFERENCE_ROOM m doubles. NS_ECALLBACK.
*/
NsStatus ns_relation_add_rate(const NsRelation *relation, const NsRelationPoint *at, double *room, double *rate, NsError *err);

/* The same out of h alone, whether there is an hdot or not; whether it is exact. */
NsStatus ns_relation_add_rate_of_h(const NsRelation *relation, const NsRelationPoint *at, double *room, double *rate,
                                   bool *exact, NsError *err);

/* The doubles that ns_relation_add_bias works in, of a relation that is linked. */
size_t ns_relation_bias_room(const NsRelation *relation);

/*
** bias (m) += what y'' has beside H a: the second derivative in s, at s = 0, of h(t + s, x + s qdot, lambda, z), of a
** relation of mechanics; qdot (nx) and lambda are held. For Lagrangian systems y'' = H a + bias (of rigid bodies qdot
** = T(q) v turns with q: they add H d(T(q) v)/dt at constant v). With computeDotJachq, that times qdot and the rate of
** dh/dt; else h along the line (exact); else, where h has no such derivative, differences (ns_difference) of dh/dx
** qdot + dh/dt along the line. `room` holds ns_relation_bias_room doubles. NS_ECALLBACK.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 8.
*/
NsStatus ns_relation_add_bias(const NsRelation *relation, const NsRelationPoint *at, const double *qdot, double *room,
                              double *bias, NsError *err);

/*
** Second derivatives of the output of a relation of mechanics: second (m x nx x nx) of h by x twice, drift (m x nx) of
** dh/dt by x (as ns_relation_add_rate takes dh/dt). By jets of h along the axes and their sums, nx (nx + 1) / 2
** evaluations, exact. `room` holds nx + 3 m doubles. False when h has no such derivative.
*/
bool ns_relation_second(const NsRelation *relation, const NsRelationPoint *at, double *room, double *second, double *drift);

/* The Jacobians at a point; out is filled wholly. NS_ECALLBACK. */
NsStatus ns_relation_C(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
NsStatus ns_relation_D(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
NsStatus ns_relation_B(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);
NsStatus ns_relation_K(const NsRelation *relation, const NsRelationPoint *at, double *out, NsError *err);

#endif
