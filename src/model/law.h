/*
** law.h
** Nonsmooth laws between y and lambda: -y in the normal cone of a set at lambda, the set being a box, a polyhedron or a
** cone. Each law is a table, NsLawClass, in a file of model/law/, and a line in NS_LAW_LIST.
*/
#ifndef NS_MODEL_LAW_H
#define NS_MODEL_LAW_H

#include <math.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/field.h"

typedef struct NsLawClass NsLawClass;

/*
** X(name): each is `const NsLawClass ns_law_NAME`, whose name for scripts is `ns_law_NAME_text`; both are defined in
** model/law/NAME.c.
*/
#define NS_LAW_LIST(X)                                                                                                         \
  X(complementarity)                                                                                                           \
  X(equality)                                                                                                                  \
  X(relay)                                                                                                                     \
  X(mixed)                                                                                                                     \
  X(normal_cone)                                                                                                               \
  X(impact)                                                                                                                    \
  X(friction)                                                                                                                  \
  X(fremond)

#define X(name)                                                                                                                \
  extern const NsLawClass ns_law_##name;                                                                                       \
  extern const char ns_law_##name##_text[];
NS_LAW_LIST(X)
#undef X

/* The place of each in ns_law_classes, and how many there are. */
enum {
#define X(name) NS_LAW_AT_##name,
  NS_LAW_LIST(X)
#undef X
      NS_LAW_CLASSES
};

/* What a law asks of the one-step problem and of the scheme, as bits: they take it when they handle all that it needs. */
enum {
  NS_NEEDS_EQUATION = 1 << 0,   /* rows y = 0 with a free lambda */
  NS_NEEDS_UNILATERAL = 1 << 1, /* rows 0 <= y _|_ lambda >= 0 */
  NS_NEEDS_IMPACT = 1 << 2,     /* the same with restitution, 0 <= u + e u_k _|_ lambda >= 0 */
  NS_NEEDS_BOX = 1 << 3,        /* rows with lambda in [lb, ub] */
  NS_NEEDS_SORTS = 1 << 4,      /* rows of several of these sorts in one law */
  NS_NEEDS_POLYHEDRON = 1 << 5, /* lambda in {H lambda >= K} */
  NS_NEEDS_CONE_2D = 1 << 6,    /* Coulomb's friction with one tangent */
  NS_NEEDS_CONE_3D = 1 << 7,    /* with two tangents */
  NS_NEEDS_ROWS = NS_NEEDS_EQUATION | NS_NEEDS_UNILATERAL | NS_NEEDS_IMPACT | NS_NEEDS_BOX | NS_NEEDS_SORTS,
  NS_NEEDS_CONES = NS_NEEDS_CONE_2D | NS_NEEDS_CONE_3D
};

/* The relations that a law goes with, as bits. */
enum {
  NS_WITH_FIRST_ORDER = 1 << 0, /* those of first-order systems */
  NS_WITH_VELOCITIES = 1 << 1,  /* mechanics: the law holds between the velocities of y and impulses */
  NS_WITH_POSITIONS = 1 << 2,   /* mechanics: between y and forces (compliant relations) */
  NS_WITH_ALL = NS_WITH_FIRST_ORDER | NS_WITH_VELOCITIES | NS_WITH_POSITIONS
};

/*
** What all laws have. A law with more data has a struct of its own that begins with this one. Bounds may be changed
** between steps (a relay's are live in scripts) and are checked when a step begins. Acary and Brogliato, Numerical
** Methods for Nonsmooth Dynamical Systems, 2008, chapter 2.
*/
typedef struct NsLaw {
  const NsLawClass *class;
  int size;       /* components */
  int equalities; /* how many of them, from the first, are equations */
  NsArena arena;
  double *lower, *upper; /* size each, +-INFINITY where there is none */
  int rows;              /* of P = {H lambda >= K}, in which lambda is too; 0: none */
  double *H, *K;         /* rows x size, column-major; rows */
  double *inside;        /* size: a point of P; NULL: none */
  bool closed;           /* given up by its owner: a step refuses it */
} NsLaw;

/* Rows of a one-step problem that belong together: one row with bounds, or a contact with Coulomb's friction. */
typedef struct NsLawGroup {
  int dim;             /* rows; 2, 3: the normal, then the tangents */
  double lower, upper; /* dim 1 */
  double mu;           /* dim 2, 3: the coefficient of friction */
} NsLawGroup;

typedef struct NsLawInterval {
  double lower, upper;
} NsLawInterval;

/* A law. What stands as NULL has the meaning that its comment tells. */
struct NsLawClass {
  const char *name; /* of the constructor */
  size_t bytes;     /* of the struct */
  const NsField *fields;
  const char *const *arguments;        /* of the constructor, in order: names of fields, up to NULL; "size?" may be left out */
  unsigned goes_with;                  /* NS_WITH_... */
  bool unilateral;                     /* a contact: while it is open, the law does not hold and lambda is 0 */
  bool joint;                          /* its rows are one contact, the normal before the tangents, open or closed as one */
  unsigned (*needs)(const NsLaw *law); /* NS_NEEDS_... */

  /* Finds what the arguments leave open, before bounds are made; NULL: nothing. NS_EARG: they do not go together. */
  NsStatus (*complete)(NsLaw *law, NsError *err);

  /*
  ** The bounds of a row of a new law; NULL: those of its equations and, after these, of unilateral rows; of a joint law, those
  ** of a normal and of free tangents, which the cone bounds.
  */
  NsLawInterval (*bounds)(const NsLaw *law, int row);

  /* The group that begins at a row; NULL: each row is one, with its bounds. */
  NsLawGroup (*group)(const NsLaw *law, int row);

  /*
  ** e of a row: the law is one of u + e u_k, with the velocities u at the end and u_k at the start of the step. theta is
  ** the weight of u in the scheme's mean of both, 1 where impacts are located. NULL: 0.
  */
  double (*restitution)(const NsLaw *law, int row, double theta);

  /*
  ** How many rows, from the first, keep positions where they are (a projection moves y there); NULL: all, of a joint law the
  ** normal.
  */
  int (*constrained)(const NsLaw *law);

  /* What tostring() says after the size; {field} stands for its value. NULL: ", field = value" for each SHOWN field. */
  const char *(*words)(const NsLaw *law);
};

/* All classes, NS_LAW_CLASSES of them, in the order of the list. */
extern const NsLawClass *const ns_law_classes[];

/* The fields that every law has, for the tables: flags of its bounds. */
#define NS_LAW_FIELDS(bounds)                                                                                                  \
  NS_FIELD_A_COUNT("size", NsLaw, size, 1, NS_LAW_MOST, 0),                                                                    \
      NS_FIELD_A_COUNT("equalities", NsLaw, equalities, 0, NS_LAW_MOST, 0), NS_LAW_BOUNDS_FIELDS(bounds)
#define NS_LAW_BOUNDS_FIELDS(flags)                                                                                            \
  NS_FIELD_A_VECTOR("lb", NsLaw, lower, size, NS_FIELD_LIVE | NS_FIELD_SHOWN | NS_FIELD_INFINITE | (flags)),                   \
      NS_FIELD_A_VECTOR("ub", NsLaw, upper, size, NS_FIELD_LIVE | NS_FIELD_SHOWN | NS_FIELD_INFINITE | (flags))
enum { NS_LAW_MOST = 1 << 28 }; /* components of a law */

/* Makes a law without data, to be completed once its fields are set. NS_ENOMEM. */
NsStatus ns_law_new(NsLaw **law, const NsLawClass *class);
void ns_law_free(NsLaw *law);

/* Finds what the fields leave open, and bounds that are not set; checks. NS_EARG, NS_ENOMEM. */
NsStatus ns_law_complete(NsLaw *law, NsError *err);

/* A law with the same fields. NS_ENOMEM. */
NsStatus ns_law_clone(NsLaw **law, const NsLaw *from);

const char *ns_law_name(const NsLaw *law);

/* What it needs, NS_NEEDS_... */
unsigned ns_law_needs(const NsLaw *law);

/* Whether it is of a contact that can be open: then it holds only while the contact is closed. */
bool ns_law_unilateral(const NsLaw *law);

/* The group that begins at a row; `open`: the row's lambda is 0 (of laws that are not joint). */
NsLawGroup ns_law_group(const NsLaw *law, int row, bool open);

/* How many components, from the first, are gaps between which a law of impact holds; 0 for other laws. */
int ns_law_gaps(const NsLaw *law);

/* e of a row, and how many rows keep positions: see NsLawClass. */
double ns_law_restitution(const NsLaw *law, int row, double theta);
int ns_law_constrained(const NsLaw *law);

/* NS_EARG with the component when a bound is nan or the two cross: "RelayNSL: lb[2] = 1 is above ub[2] = 0". */
NsStatus ns_law_check(const NsLaw *law, NsError *err);

/* Moves each lambda into its bounds; one outside of a polyhedron, to the point inside. */
void ns_law_project(const NsLaw *law, double *lambda);

#endif
