/*
** ds.h
** What every dynamical system has: a name, a state with its memory, an input, parameters, a place in a graph.
*/
#ifndef NS_MODEL_DS_H
#define NS_MODEL_DS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/class.h"
#include "model/state.h"

/* Systems of one family go together in a graph, with the relations and integrators of that family. */
typedef enum NsFamily { NS_FIRST_ORDER, NS_MECHANICS } NsFamily;

typedef struct NsDs NsDs;

/*
** X(name): each is `const NsDsClass ns_ds_NAME`, whose name for scripts is `ns_ds_NAME_text`; both are defined in
** model/first_order_ds.c and model/mechanical_classes.c.
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
  bool diagonal;                                        /* the constructor takes the diagonals of the matrices that it names */
  bool turns;                                           /* its coordinates end with a unit quaternion: a rigid body */
  NsStatus (*update)(NsDs *ds, double t, NsError *err); /* brings what is no coefficient to time t; NULL: there is nothing */
  NsStatus (*like)(NsDs **ds, const NsDs *other);       /* makes one of the same class and sizes */
  void (*destroy)(NsDs *ds);                            /* frees the system, whose coefficients are cleared */
} NsDsClass;

#define X(name)                                                                                                                \
  extern const NsDsClass ns_ds_##name;                                                                                         \
  extern const char ns_ds_##name##_text[];
NS_DS_LIST(X)
#undef X

/* The place of each in ns_ds_classes, and how many there are. */
enum {
#define X(name) NS_DS_AT_##name,
  NS_DS_LIST(X)
#undef X
      NS_DS_CLASSES
};
extern const NsDsClass *const ns_ds_classes[];

#define NS_DS_NOUN "dynamical system"

/* Entries of the tables of fields: what every system has, and the start of its walk. */
#define NS_DS_FIELDS(shown)                                                                                                    \
  NS_FIELD_A_VECTOR("x0", NsDs, x0, n, NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_LATE | (shown)),                             \
      NS_FIELD_A_VECTOR("x", NsDs, x, n,                                                                                       \
                        NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_LATE | NS_FIELD_STATE | NS_FIELD_COUNTED | (shown)),        \
      NS_FIELD_A_VECTOR("r", NsDs, r, nr, NS_FIELD_LIVE | NS_FIELD_STATE | NS_FIELD_RUN | (shown)),                            \
      NS_FIELD_A_VECTOR("x_k", NsDs, x_k, n, NS_FIELD_HIDDEN | NS_FIELD_STATE),                                                \
      NS_FIELD_A_VECTOR("r_k", NsDs, r_k, nr, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                                \
      NS_FIELD_A_VECTOR("change", NsDs, change, n, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                           \
      NS_FIELD_A_FLAG("moved", NsDs, moved, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                                  \
      NS_FIELD_A_FLAG("switched", NsDs, switched, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN),                            \
      NS_FIELD_A_FLAG("switched_k", NsDs, switched_k, NS_FIELD_HIDDEN | NS_FIELD_STATE | NS_FIELD_RUN)
#define NS_DS_GIVEN_FIELDS                                                                                                     \
  NS_FIELD_A_VECTOR("z", NsDs, z, nz, NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_STATE),                      \
      NS_FIELD_A_TEXT("name", NsDs, name, NS_FIELD_SETTER)

/* The first member of each kind of system. */
struct NsDs {
  const NsDsClass *class;
  char name[NS_NAME_SIZE];
  int n;  /* elements of x */
  int nx; /* what relations see: x[0] .. x[nx - 1] (the coordinates of a mechanical system) */
  int nr; /* elements of r */
  NsArena arena;

  /* the accepted state, seen by scripts as live views */
  double *x0; /* n: initial state */
  double *x;  /* n: state */
  double *r;  /* nr: input of the relations */
  uint64_t x_version;
  bool moved;                /* a simulation has taken it away from x0 */
  bool switched, switched_k; /* its last step was the first or had a switch in it; the same of the one that ended at t_k */

  /* memory: the state at the start of the step */
  double *x_k, *r_k;

  /* n: what a sparse scheme's last step changed the state by (in mechanics the first nv: the velocities); the next one starts there */
  double *change;

  /*
  ** Two-step schemes (mechanics; NULL elsewhere): x_before is x at the start of the step before, one of length h_k;
  ** 0 when there was none, or when x is not any more what that step left, which is x_left, after h_left. `left`: x_k is
  ** still the start of that step.
  */
  double *x_before, *x_left, h_k, h_left;
  bool left;

  /*
  ** How many steps before this one, of the same length and one after the other, had no impulse (up to 2); x_earlier is x
  ** at the start of the step before the one that began at x_before.
  */
  double *x_earlier;
  int smooth;

  /* Mechanics: the impulses of the last step that gave the prescribed velocities; no elements when there are none. */
  double *reaction;
  int nreaction;

  double *z; /* nz parameters, borrowed; NULL when there are none */
  int nz;

  int node;          /* its place in its island, the part of the graph that is stepped on its own */
  const void *owner; /* the NSDS it was inserted in; NULL: none */
  int index;         /* its place there */
  bool closed;       /* given up by its owner: a step refuses it */
};

/* Takes the vectors of a zeroed system from its arena, and starts it at x0 (n), which is copied. NS_ENOMEM. */
NsStatus ns_ds_start(NsDs *ds, const double *x0);

/* Makes a system of the class and the sizes of another, with its initial state. NS_ENOMEM. */
NsStatus ns_ds_like(NsDs **ds, const NsDs *other);

/* Frees a system of any class; NULL is fine. */
void ns_ds_free(NsDs *ds);

/* The name for messages; that of its class; its family. */
const char *ns_ds_name(const NsDs *ds);
const char *ns_ds_class_name(const NsDs *ds);
static inline NsFamily ns_ds_family(const NsDs *ds) {
  return ds->class->family;
}

/* Brings the coefficients up to date for time t. NS_ECLOSED, NS_ENAN, NS_ECALLBACK. */
NsStatus ns_ds_update(NsDs *ds, double t, NsError *err);

/* The state becomes the memory of the step that begins. */
void ns_ds_remember(NsDs *ds);

/* x is what a step of length h leaves, which began at x_k (h = 0: it did not). */
void ns_ds_leave(NsDs *ds, double h);

/*
** The state that the step began at which left the present one, and its length; NULL when no step of a two-step scheme
** did.
*/
const double *ns_ds_before(const NsDs *ds, double *h);

/* Back to x0, with no input. */
void ns_ds_reset(NsDs *ds);

/* Walks the STATE fields. */
void ns_ds_visit(NsDs *ds, NsVisitor visitor, void *context);

#endif
