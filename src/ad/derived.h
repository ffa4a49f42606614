/*
** derived.h
** A callback with its derivatives: given ones, by its trace, by dual numbers or by differences, with the memory of the last point.
*/
#pragma once

#include <stdint.h>

#include "ad/direct.h"
#include "base/arena.h"

/*
** The point at which a callback is evaluated; arguments that the callback does not take may be NULL. For a callback that takes the
** rate of x, lambda is that rate.
*/
typedef struct NsPoint {
  double t;
  const double *x, *lambda, *z;
} NsPoint;

/*
** Kinds of passes with numbers that carry derivatives. JACOBIANS; LINE: first and second along (tdot, w); BOWL: second, and TWIST: slope, rate
** and bend, both of NsFunction.
*/
typedef enum NsPassKind { NS_PASS_JACOBIANS, NS_PASS_LINE, NS_PASS_BOWL, NS_PASS_TWIST } NsPassKind;

/* A pass at a point (z NULL: the owner's own), where the callback's value is `plain`; jacobian: by x, lambda and z, NULL: not wanted. */
typedef struct NsPass {
  NsPassKind kind;
  NsPoint at;
  const double *plain;
  double *jacobian[NS_FUNCTION_ARGS];
  NsPaths *paths; /* BOWL and TWIST: the trace that gives them; NULL: dual numbers do */
  double tdot;
  const double *w;
  double *first, *second, *slope, *rate, *bend;
} NsPass;

/*
** What the owner of callbacks does for them. Results as of NsFunction; a negative one leaves an error with the owner.
** call         out = the value.
** compiled     whether the values are a trace's. trace: it, with its inputs set; NULL, with an error: there is none now; without: it has become plain.
** shadow       the trace of a plain callback for its derivatives, with its inputs set; plain: the value there; NULL: not known, or no trace.
** pass         runs a pass.
** by_z         jac = the derivative by z; room: workspace for a value. Positive: not available.
** forget       forgets the error. Returns 1.
** raise_paths  the error that the growth of the trace has left; 0: the callback has become plain.
** refuse       the error that entry `at` of the derivative by an argument of the trace is `value`, not finite.
** missing      the error that the callback has no derivatives, and that the one of this number is not given.
** no_memory    the error.
*/
typedef struct NsDerivedOwner {
  int (*call)(void *callback, const NsPoint *at, double *out);
  bool (*compiled)(const void *callback);
  NsPaths *(*trace)(void *callback, const NsPoint *at);
  NsPaths *(*shadow)(void *callback, const NsPoint *at, const double *plain);
  int (*pass)(void *callback, const NsPass *pass);
  int (*by_z)(void *callback, const NsPoint *at, double *room, double *jac);
  int (*forget)(const void *callback);
  int (*raise_paths)(void *callback);
  int (*refuse)(void *callback, int argument, int at, double value);
  int (*missing)(void *callback, int number);
  int (*no_memory)(void *callback);
} NsDerivedOwner;

typedef struct NsDerived {
  const NsDerivedOwner *owner;
  void *callback, *given[2]; /* given: the callbacks of the Jacobians by x and by lambda; NULL: none */
  int by[2];                 /* their numbers; -1: the value does not depend on it */
  const NsDirect *direct;    /* of the callback's trace; time and parameters: the numbers of its arguments, -1: none */
  int time, parameters;
  bool *inexact;        /* it does not accept dual numbers */
  const uint64_t *runs; /* the number of the run */
  NsArena *arena;
  int n, m, nz, entries;     /* lengths of x, lambda, z and of the value */
  bool matrix, native;       /* native: without derivatives of its own */
  double t, *x, *lambda, *z; /* the point of the last plain evaluation */
  double *plain;             /* the value at that point; for vectors only */
  bool plain_known, jacobians_known;
  double *jacobian[2]; /* the Jacobians at that point, by dual numbers or by a trace */
  uint64_t run;        /* the run of `passes` */
  long passes, wait;   /* how many Jacobians were computed in it; after how many a trace is made */
  double *low;         /* workspace for one value: for central differences, or for a matrix */
  bool no_duals;       /* the value is a matrix and the callback does not accept dual numbers */
} NsDerived;

/* Sets the lengths. Memory of the last point, and for Jacobians, comes from the arena at first use. */
void ns_derived_size(NsDerived *f, NsArena *arena, int n, int m, int nz);

/* Forgets the last point: the callback is another one. */
void ns_derived_reset(NsDerived *f);

/* The function, whose context is f. */
NsFunction ns_derived_function(NsDerived *f);

/* jac = the derivative by x (by = 0) or lambda by trace or dual numbers, also where one is given; by central differences. */
int ns_derived_exactly(NsDerived *f, int by, const NsPoint *at, double *jac);
int ns_derived_differences(NsDerived *f, int by, const NsPoint *at, double *out);
