/*
** law.h
** Nonsmooth laws between y and lambda: -y is in the normal cone of a set P at lambda. P is a box, a polyhedron or a cone.
** To add a law: write its NsLawClass in a file of model/law/, and add its name to NS_LAW_LIST.
*/
#pragma once

#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/field.h"

typedef struct NsLawClass NsLawClass;

/*
** X(NAME): model/law/NAME.c defines `const NsLawClass ns_law_NAME` and the law's name in scripts, `ns_law_NAME_text`.
*/
#define NS_LAW_LIST(X)                                                                                                         \
  X(complementarity)                                                                                                           \
  X(equality)                                                                                                                  \
  X(relay)                                                                                                                     \
  X(mixed)                                                                                                                     \
  X(normal_cone)                                                                                                               \
  X(impact)                                                                                                                    \
  X(friction)                                                                                                                  \
  X(fremond)                                                                                                                   \
  X(rolling)                                                                                                                   \
  X(spinning)                                                                                                                  \
  X(stribeck)                                                                                                                  \
  X(slip)                                                                                                                      \
  X(joint_friction)                                                                                                            \
  X(damping)                                                                                                                   \
  X(multiple_impact)                                                                                                           \
  X(poisson)

#define X(name)                                                                                                                \
  extern const NsLawClass ns_law_##name;                                                                                       \
  extern const char ns_law_##name##_text[];
NS_LAW_LIST(X)
#undef X

/* The index of each class in ns_law_classes, and the number of classes. */
enum {
#define X(name) NS_LAW_AT_##name,
  NS_LAW_LIST(X)
#undef X
      NS_LAW_CLASSES
};

/* What a law needs, as bits. A one-step problem or a scheme accepts a law when it handles every bit of the law's needs. */
enum {
  NS_NEEDS_EQUATION = 1 << 0,   /* rows y = 0 with a free lambda */
  NS_NEEDS_UNILATERAL = 1 << 1, /* rows 0 <= y _|_ lambda >= 0 */
  NS_NEEDS_IMPACT = 1 << 2,     /* rows 0 <= u + e u_k _|_ lambda >= 0: unilateral with restitution */
  NS_NEEDS_BOX = 1 << 3,        /* rows with lambda in [lb, ub] */
  NS_NEEDS_SORTS = 1 << 4,      /* one law has rows of several of the sorts above */
  NS_NEEDS_POLYHEDRON = 1 << 5, /* lambda in {H lambda >= K} */
  NS_NEEDS_CONE_2D = 1 << 6,    /* Coulomb friction with one tangent */
  NS_NEEDS_CONE_3D = 1 << 7,    /* Coulomb friction with two tangents */
  NS_NEEDS_MEAN = 1 << 8,       /* friction on the mean of the velocities before and after a step */
  NS_NEEDS_ROLLING = 1 << 9,    /* friction with rolling moments */
  NS_NEEDS_REACTION = 1 << 10,  /* rows with a bound that grows with other multipliers of the law */
  NS_NEEDS_EXCHANGE = 1 << 11,  /* impacts of all contacts at once, by `exchange` of the law's class */
  NS_NEEDS_VISCOUS = 1 << 12,   /* rows with a force -d u, by `viscous` of the law's class */
  NS_NEEDS_ROWS = NS_NEEDS_EQUATION | NS_NEEDS_UNILATERAL | NS_NEEDS_IMPACT | NS_NEEDS_BOX | NS_NEEDS_SORTS,
  NS_NEEDS_CONE = NS_NEEDS_CONE_2D | NS_NEEDS_CONE_3D, /* in a class: the one of them that has the rows of the law */
  NS_NEEDS_CONES = NS_NEEDS_CONE_2D | NS_NEEDS_CONE_3D | NS_NEEDS_MEAN
};

/* The kinds of relation that a law can be used with, as bits. */
enum {
  NS_WITH_FIRST_ORDER = 1 << 0, /* relations of first-order systems */
  NS_WITH_VELOCITIES = 1 << 1,  /* mechanics: the law holds between dy/dt and impulses */
  NS_WITH_POSITIONS = 1 << 2,   /* mechanics: the law holds between y and forces (compliant relations) */
  NS_WITH_ALL = NS_WITH_FIRST_ORDER | NS_WITH_VELOCITIES | NS_WITH_POSITIONS
};

enum { NS_LAW_TIMED = 2 }; /* most fields with NS_FIELD_TIMED in a class */

/*
** What bounds lambda may be a function of time: bounds, coefficients of friction; their fields have NS_FIELD_TIMED. read: writes
** the values of those that are functions, at time t; `owner`: the name of the interaction, for messages. NS_ECALLBACK. NULL: all are
** numbers. varies: which of these fields have functions, in the order of
** the table, also of a law with a `slip`.
*/
typedef struct NsLawTime {
  NsStatus (*read)(void *context, const char *owner, double t, NsError *err);
  void *context;
  bool varies[NS_LAW_TIMED];
} NsLawTime;

/*
** The coefficient of friction as a function of a script: at the speed u >= 0 of the slip, and its slope (NULL: not wanted). NAN: the function
** failed. mu NULL: there is none.
*/
typedef struct NsLawSlip {
  double (*mu)(void *context, double u, double *slope);
  void *context;
} NsLawSlip;

/*
** The data of every law. A law with more data has its own struct, whose first member is an NsLaw. Bounds may change between
** steps (scripts write a relay's bounds); each step checks them when it begins. The law's arena owns the arrays.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapter 2.
*/
typedef struct NsLaw {
  const NsLawClass *class;
  int size;       /* number of components of y and of lambda */
  int equalities; /* the first `equalities` components are equations, y = 0 */
  NsArena arena;
  double *lower, *upper; /* bounds of lambda, size each; +-INFINITY: no bound */
  int rows;              /* lambda is also in P = {H lambda >= K}, of `rows` inequalities; 0: no P */
  double *H, *K;         /* H: rows x size, column-major; K: rows */
  double *inside;        /* a point of P, size; NULL without P */
  NsLawTime time;        /* a clone has none: the binding sets it, and slip */
  NsLawSlip slip;
  bool closed; /* the script closed it: a step refuses it */
} NsLaw;

/*
** Rows of a one-step problem that belong together: one row with bounds, or a contact with friction. Rows of a contact are its
** normal, then the rows of its discs, equally many each, but that the last one may have fewer: |lambda_D| <= mu_D lambda_0 (solvers/contact/cone.h).
*/
enum { NS_LAW_DISCS = 3 };
typedef struct NsLawGroup {
  int dim, discs;          /* number of rows; of the discs of a contact, 0: a row with bounds */
  double lower, upper;     /* row: bounds of lambda */
  double mu[NS_LAW_DISCS]; /* contact: the coefficients of friction */
  int reactions;           /* row: the bounds grow by mu[0] times the length of the law's first `reactions` multipliers */
} NsLawGroup;

/* The rows of the first disc of a contact; the disc (from 0) of its row k > 0; the first row of a disc, and its number of rows. */
static inline int ns_law_disc_width(const NsLawGroup *group) {
  return (group->dim - 1 + group->discs - 1) / group->discs;
}
static inline int ns_law_disc_of(const NsLawGroup *group, int k) {
  return (k - 1) / ns_law_disc_width(group);
}
static inline int ns_law_disc_first(const NsLawGroup *group, int disc) {
  return 1 + disc * ns_law_disc_width(group);
}
static inline int ns_law_disc_rows(const NsLawGroup *group, int disc) {
  int width = ns_law_disc_width(group), left = group->dim - ns_law_disc_first(group, disc);
  return left < width ? left : width;
}

/* The coefficient of friction of a contact at a speed of its slip, and its derivatives: by the speed, and by a number of the law. */
typedef struct NsLawFriction {
  double mu, slope, by_number;
} NsLawFriction;

typedef struct NsLawInterval {
  double lower, upper;
} NsLawInterval;

struct NsImpact; /* model/impact.h */

/* A class of laws. A function may be NULL where its comment says what NULL means. */
struct NsLawClass {
  const char *name; /* of the constructor in scripts */
  size_t bytes;     /* sizeof the law's struct */
  const NsField *fields;
  const char *const *arguments; /* of the constructor, in order: field names, ended by NULL; "size?" is optional: 1 */
  unsigned goes_with;           /* NS_WITH_... */
  bool unilateral;              /* a contact, open or closed; while it is open, lambda = 0 and the law is not applied */
  bool forces;                  /* mechanics: its bounds are forces, of which a step has the impulses; else they are impulses */
  bool joint;                   /* all rows are one contact: the normal, then the tangents; they open and close together */
  unsigned needs;               /* NS_NEEDS_... */

  /* Needs that depend on the numbers of the law. NULL: none do. */
  unsigned (*needs_more)(const NsLaw *law);

  /* Computes the fields that the arguments do not give; the bounds come later. NULL: no such field. NS_EARG: bad arguments. */
  NsStatus (*complete)(NsLaw *law, NsError *err);

  /*
  ** The interval of lambda in a row of a new law. NULL: (-inf, inf) for equations and for the tangents of a joint law (the
  ** friction cone bounds these), [0, inf) for all other rows.
  */
  NsLawInterval (*bounds)(const NsLaw *law, int row);

  /* The group that begins at a row. NULL: each row is a group, with its bounds. */
  NsLawGroup (*group)(const NsLaw *law, int row);

  /*
  ** The friction at the speed u of the slip, of a law whose coefficient depends on it; `group` has the one at u = 0. An integrator
  ** that looks for the end of the slip also asks for u < 0, where the function goes on with a continuous slope. number: a number of the
  ** law, or NULL. NULL: the coefficient does not depend on the slip.
  */
  NsLawFriction (*friction)(const NsLaw *law, double u, const double *number);

  /* The force of each row by its velocity u: lambda = -d u. NULL: 0, the law has no such rows. */
  double (*viscous)(const NsLaw *law);

  /*
  ** The coefficient e of a row: the law holds for u + e u_k, where u_k and u are the velocities at the start and at the end of
  ** the step. theta is the weight of u in the scheme's mean velocity (1 in event-driven steps). NULL: e = 0.
  */
  double (*restitution)(const NsLaw *law, int row, double theta);

  /*
  ** The impulses z of all closed rows in an impact in which contacts of this class take part, beside equations alone; see model/impact.h.
  ** NULL: each contact has its own, by `restitution`.
  */
  NsStatus (*exchange)(const struct NsImpact *impact, double *z, NsError *err);

  /*
  ** The number of rows, from the first, that constrain the position y (a projection on the constraints moves y there).
  ** NULL: all rows; for a joint law, the normal alone.
  */
  int (*constrained)(const NsLaw *law);

  /* The text of tostring() after the size; {field} becomes the field's value. NULL: ", field = value" for each SHOWN field. */
  const char *(*words)(const NsLaw *law);
};

/* All NS_LAW_CLASSES classes, in the order of NS_LAW_LIST. */
extern const NsLawClass *const ns_law_classes[];

/* The fields that every law has, for its table `fields`; `bounds`: more flags for the fields lb and ub. */
#define NS_LAW_FIELDS(bounds)                                                                                                  \
  NS_FIELD_A_COUNT("size", NsLaw, size, 1, NS_LAW_MOST, 0),                                                                    \
      NS_FIELD_A_COUNT("equalities", NsLaw, equalities, 0, NS_LAW_MOST, 0), NS_LAW_BOUNDS_FIELDS(bounds)
#define NS_LAW_BOUNDS_FIELDS(flags)                                                                                            \
  NS_FIELD_A_VECTOR("lb", NsLaw, lower, size, NS_FIELD_LIVE | NS_FIELD_SHOWN | NS_FIELD_INFINITE | (flags)),                   \
      NS_FIELD_A_VECTOR("ub", NsLaw, upper, size, NS_FIELD_LIVE | NS_FIELD_SHOWN | NS_FIELD_INFINITE | (flags))

/* The flags of a number that scripts may set between steps, as e and mu. */
enum { NS_LAW_COEFFICIENT = NS_FIELD_SETTER | NS_FIELD_STATE | NS_FIELD_SHOWN };

/* The first fields of a law of contacts with friction: those of every law, the dimension, and the member `en` of the struct Law. */
#define NS_LAW_CONTACT_FIELDS(Law, least, most)                                                                                \
  NS_LAW_FIELDS(0), NS_FIELD_A_COUNT("dim", NsLaw, size, least, most, NS_FIELD_ALIAS | NS_FIELD_HIDDEN),                       \
      NS_FIELD_A_NUMBER("en", Law, en, -1, 1, NS_LAW_COEFFICIENT),                                                             \
      NS_FIELD_A_NUMBER("e", Law, en, -1, 1, NS_FIELD_SETTER | NS_FIELD_ALIAS)

enum { NS_LAW_MOST = 1 << 28 }; /* most components of a law; the sum of two such numbers fits an int */

/* Makes a law with all fields 0; set its fields, then call ns_law_complete. The caller frees it. NS_ENOMEM. */
NsStatus ns_law_new(NsLaw **law, const NsLawClass *class);
void ns_law_free(NsLaw *law);

/* Computes the fields and the bounds that are not set, then checks the law (ns_law_check). NS_EARG, NS_ENOMEM. */
NsStatus ns_law_complete(NsLaw *law, NsError *err);

/* Makes a law with copies of the fields; the caller frees it. NS_ENOMEM. */
NsStatus ns_law_clone(NsLaw **law, const NsLaw *from);

const char *ns_law_name(const NsLaw *law);

/* The needs of the law, NS_NEEDS_... */
unsigned ns_law_needs(const NsLaw *law);

/* Whether the law has friction along one tangent, as contacts in the plane have. */
bool ns_law_in_plane(const NsLaw *law);

/* Whether row i of the law is friction: a tangent of a contact, or a relay. Its work counts as work of friction. */
bool ns_law_has_friction(const NsLaw *law, int i);

/* Whether the law is of a contact that can be open; it is then applied only while the contact is closed. */
bool ns_law_unilateral(const NsLaw *law);

/* The group that begins at a row. If `open`: a row with lambda = 0 (never for a joint law). */
NsLawGroup ns_law_group(const NsLaw *law, int row, bool open);

/* The number of components of y, from the first, that are gaps of a law of impact; 0 for other laws. */
int ns_law_gaps(const NsLaw *law);

/* The friction of a contact at the speed u of its slip, see `friction` of NsLawClass; of a law without it, the coefficient of its group. */
NsLawFriction ns_law_friction_at(const NsLaw *law, double u, const double *number);

/* Whether the coefficient of friction depends on the slip. */
static inline bool ns_law_slides(const NsLaw *law) {
  return law->class->friction != NULL;
}

/* See the functions `viscous`, `restitution` and `constrained` of NsLawClass. */
double ns_law_viscous(const NsLaw *law);
double ns_law_restitution(const NsLaw *law, int row, double theta);
int ns_law_constrained(const NsLaw *law);

/* Whether what bounds lambda is a function of time; then `lower`, `upper` and the friction are those at the time of the last update. */
static inline bool ns_law_varies(const NsLaw *law) {
  return law->time.read != NULL;
}

/* The k-th field of a class that may be a function of time (k from 0); NULL: there are no more. Whether a field of a law is one. */
const NsField *ns_law_timed_field(const NsLawClass *class, int k);

/* Which of them a field is; -1: none. The number that stands for its function until a run begins: no bound; the least coefficient. */
int ns_law_timed_index(const NsLawClass *class, const NsField *field);
double ns_law_timed_placeholder(const NsField *field);
bool ns_law_field_varies(const NsLaw *law, const NsField *field);

/* NS_EARG when lb or ub of a component is nan or lb > ub ("RelayNSL: lb[2] = 1 is above ub[2] = 0"). NS_ECLOSED. */
NsStatus ns_law_check(const NsLaw *law, NsError *err);

/* Replaces a lambda (size) outside of P by the point `inside`; then moves each component into its bounds. */
void ns_law_project(const NsLaw *law, double *lambda);
