/*
** ds.h
** The data of every dynamical system: name, state, state at the start of the step, input, parameters, place in a graph.
*/
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/class.h"
#include "model/state.h"

/* Systems that are linked, and the relations between them, belong to one family. */
typedef enum NsFamily { NS_FIRST_ORDER, NS_MECHANICS } NsFamily;
enum { NS_FAMILIES = 2 };

typedef struct NsDs NsDs;

/*
** X(NAME): model/first_order_ds.c or model/mechanical_classes.c defines `const NsDsClass ns_ds_NAME` and the class's name in
** scripts, `ns_ds_NAME_text`.
*/
#define NS_DS_LIST(X)                                                                                                          \
  X(nonlinear)                                                                                                                 \
  X(linear)                                                                                                                    \
  X(linear_ti)                                                                                                                 \
  X(lagrangian)                                                                                                                \
  X(lagrangian_linear_ti)                                                                                                      \
  X(lagrangian_diagonal)                                                                                                       \
  X(newton_euler)

/* A class of systems. The coefficients come first among its fields. */
typedef struct NsDsClass {
  NsModelClass model;
  NsFamily family;
  bool diagonal;                                        /* matrix arguments of the constructor are vectors: the diagonals */
  bool turns;                                           /* a rigid body: the coordinates end with a unit quaternion */
  NsStatus (*update)(NsDs *ds, double t, NsError *err); /* updates data other than coefficients to time t; NULL: none */
  NsStatus (*check)(NsDs *ds, NsError *err);            /* of its constant numbers, before the first step; NULL: none */
  NsStatus (*like)(NsDs **ds, const NsDs *other);       /* makes a system of the same class and sizes */
  void (*destroy)(NsDs *ds);                            /* frees the system; the coefficients are already cleared */
} NsDsClass;

#define X(name)                                                                                                                \
  extern const NsDsClass ns_ds_##name;                                                                                         \
  extern const char ns_ds_##name##_text[];
NS_DS_LIST(X)
#undef X

/* The index of each class in ns_ds_classes, and the number of classes. */
enum {
#define X(name) NS_DS_AT_##name,
  NS_DS_LIST(X)
#undef X
      NS_DS_CLASSES
};
extern const NsDsClass *const ns_ds_classes[];

#define NS_DS_NOUN "dynamical system"

/* Entries of a table of fields: the state of every system (the first in its walk); its parameters and name. */
#define NS_DS_FIELDS(shown)                                                                                                    \
  NS_FIELD_A_VECTOR("x0", NsDs, x0, n, NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_LATE | (shown)),                             \
      NS_FIELD_A_VECTOR("x", NsDs, x, n,                                                                                       \
                        NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_LATE | NS_FIELD_STATE | NS_FIELD_COUNTED | (shown)),        \
      NS_FIELD_A_VECTOR("r", NsDs, r, nr, NS_FIELD_LIVE | NS_FIELD_STATE | NS_FIELD_RUN | (shown)),                            \
      NS_FIELD_A_VECTOR("x_k", NsDs, x_k, n, NS_FIELD_HIDDEN | NS_FIELD_STATE),                                                \
      NS_FIELD_A_VECTOR("r_k", NsDs, r_k, nr, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                                \
      NS_FIELD_A_VECTOR("change", NsDs, change, n, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                           \
      NS_FIELD_A_VECTOR("reach", NsDs, reach, n, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                             \
      NS_FIELD_A_VECTOR("reach_k", NsDs, reach_k, n, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                         \
      NS_FIELD_A_FLAG("moved", NsDs, moved, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                                  \
      NS_FIELD_A_FLAG("switched", NsDs, switched, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                            \
      NS_FIELD_A_FLAG("switched_k", NsDs, switched_k, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                        \
      NS_DS_CONTROL_FIELDS(control), NS_DS_CONTROL_FIELDS(control_k)
#define NS_DS_CONTROL_FIELDS(member)                                                                                           \
  NS_FIELD_A_NUMBER(#member ".h_next", NsDs, member.h_next, 0, INFINITY, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),     \
      NS_FIELD_A_NUMBER(#member ".h_last", NsDs, member.h_last, 0, INFINITY, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN), \
      NS_FIELD_A_NUMBER(#member ".error", NsDs, member.error, 0, INFINITY, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN)
#define NS_DS_GIVEN_FIELDS                                                                                                     \
  NS_FIELD_A_VECTOR("z", NsDs, z, nz, NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_STATE),                      \
      NS_FIELD_A_TEXT("name", NsDs, name, NS_FIELD_SETTER)

/*
** Adaptive time stepping (simulation/adaptive.h): the length that the next inner step should have, the length of the last inner
** step, and its error in units of the tolerance. h_next = 0: there was no inner step; h_last = 0: the last one is no guide.
*/
typedef struct NsStepControl {
  double h_next, h_last, error;
} NsStepControl;

/* The first member of the struct of each class. Parts marked "two-step schemes" are NULL or unused elsewhere. */
struct NsDs {
  const NsDsClass *class;
  char name[NS_NAME_SIZE];
  int n;  /* elements of x */
  int nx; /* relations see x[0] .. x[nx - 1]: all of x, or the coordinates of a mechanical system */
  int nr; /* elements of r */
  NsArena arena;

  /* the accepted state; scripts have live views of it */
  double *x0; /* n: initial state */
  double *x;  /* n: state */
  double *r;  /* nr: input of the relations */
  uint64_t x_version;
  bool moved;                /* a simulation has changed x */
  bool switched, switched_k; /* the last step was the first or had a switch; the same for the step before it */

  /* the state and the input at the start of the step, t_k */
  double *x_k, *r_k;

  NsStepControl control, control_k; /* adaptive time stepping; at the end and at the start of the step */

  /* n: initial guess of a sparse scheme: the change of x in its last step (mechanics: of v, in the first nv elements) */
  double *change;

  /*
  ** n: the largest |x_i| in the run; the same at the start of the step. Adaptive time stepping, and event-driven steps of first
  ** order.
  */
  double *reach, *reach_k;

  /*
  ** Two-step schemes (mechanics). x_left is x at the end of the last step, of length h_left; `left`: that step began at x_k.
  ** x_before is x at the start of the step before the present one, of length h_k. h_k = 0: there was none, or x has changed
  ** since it ended.
  */
  double *x_before, *x_left, h_k, h_left;
  bool left;

  /*
  ** Two-step schemes: the number (0, 1 or 2) of consecutive steps of equal length before this one that had no impulse.
  ** x_earlier is the state one step before x_before.
  */
  double *x_earlier;
  int smooth;

  /* Mechanics: the impulses of the boundary conditions in the last step, nreaction elements (0: no boundary conditions). */
  double *reaction;
  int nreaction;

  double *z; /* nz parameters, borrowed; NULL: none */
  int nz;

  int node;          /* index in its island, a part of the graph that is stepped alone */
  const void *owner; /* the NSDS that contains it; NULL: none */
  int index;         /* index in that NSDS */
  bool closed;       /* the script closed it: a step refuses it */
};

/* Allocates the vectors of a zeroed system in its arena and sets the initial state x0 (n, copied). NS_ENOMEM. */
NsStatus ns_ds_start(NsDs *ds, const double *x0);

/* Makes a system with the class, the sizes and the initial state of another. The caller frees it. NS_ENOMEM. */
NsStatus ns_ds_like(NsDs **ds, const NsDs *other);

/* Frees a system of any class; NULL is allowed. */
void ns_ds_free(NsDs *ds);

/* The name of the system in messages; the name of its class; its family. */
const char *ns_ds_name(const NsDs *ds);
const char *ns_ds_class_name(const NsDs *ds);
static inline NsFamily ns_ds_family(const NsDs *ds) {
  return ds->class->family;
}

/* Brings the coefficients up to date for time t. NS_ECLOSED, NS_ENAN, NS_ECALLBACK. */
NsStatus ns_ds_update(NsDs *ds, double t, NsError *err);

/* Called when a step begins: copies x and r to x_k and r_k. */
void ns_ds_remember(NsDs *ds);

/* Two-step schemes: a step of length h, which began at x_k, has ended at x. h = 0: no such step. */
void ns_ds_leave(NsDs *ds, double h);

/* The state at the start of the last step, and its length *h; NULL when x is not the end of a step of a two-step scheme. */
const double *ns_ds_before(const NsDs *ds, double *h);

/* x = x_k = x0; the input and the other RUN fields become 0. */
void ns_ds_reset(NsDs *ds);

/* Walks the STATE fields. */
void ns_ds_visit(NsDs *ds, NsVisitor visitor, void *context);
