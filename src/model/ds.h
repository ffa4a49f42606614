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
#include "model/state.h"

enum { NS_NAME_SIZE = 64 };

/* Systems of one family go together in a graph, with the relations and integrators of that family. */
typedef enum NsFamily { NS_FIRST_ORDER, NS_MECHANICS } NsFamily;

typedef struct NsDs NsDs;

/* The first member of each kind of system. */
struct NsDs {
  NsFamily family;
  char name[NS_NAME_SIZE];
  int n;  /* elements of x */
  int nx; /* what relations see: x[0] .. x[nx - 1] (the coordinates of a mechanical system) */
  int nr; /* elements of r */
  NsArena arena;
  NsStatus (*update)(NsDs *ds, double t, NsError *err); /* brings the coefficients to time t */

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

/* The name for messages. */
const char *ns_ds_name(const NsDs *ds);

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

/* Walks x, r and their memories (those of two-step schemes too), and z. */
void ns_ds_visit(NsDs *ds, NsVisitor visitor, void *context);

#endif
