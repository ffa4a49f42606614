/*
** event_search.h
** The safe search for roots of event functions along a dense output, whichever integrator made it.
*/
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* *g = the value of event number `event` (from 0) at (t, y). A failure ends the search; NaN ends it with NS_ENAN. */
typedef NsStatus (*NsEventValue)(void *context, int event, double t, const double *y, double *g, NsError *err);

/*
** *accepted: whether the root of an event at t counts. from: the time of the event's root before it, or the start of the dense output;
** way: as in NsEventRoot.
*/
typedef NsStatus (*NsEventAccept)(void *context, int event, double from, double t, int way, bool *accepted, NsError *err);

/* The events whose roots are sought. Arrays of `count`, borrowed. */
typedef struct NsEvents {
  int count;
  NsEventValue value;
  void *context;
  const int *direction; /* of each event: 1 only rising values count, -1 falling, 0 both */
  const long *terminal; /* of each event: 0 never stops the search, k stops it at the k-th occurrence */
  const bool *acts; /* of each event: stops the search at each occurrence, since the state may jump there; NULL: none does */
  const char *const *names; /* of each event, for messages; NULL, or NULL in the array: it has a number only */
  NsEventAccept accept;     /* the search ends at the first root that it accepts (forward only); NULL: all roots are found */
} NsEvents;

/* Writes the number from 1 and the name of an event, "event 2 (floor)", to `text`. */
enum { NS_EVENT_TEXT = 80 };
void ns_event_text(const NsEvents *events, int event, char text[NS_EVENT_TEXT]);

/*
** A smooth piece of a solution, from t_old to t (t < t_old: backward): `at` writes the n values y at a time of the piece. It
** may be called at any time of the piece, in any order, and must be smooth and cheap: the dense output of a step.
*/
typedef struct NsDenseOutput {
  double t_old, t;
  NsStatus (*at)(void *context, double t, double *y, NsError *err);
  void *context;

  /* ydot (n) = the exact derivatives of the state y at t, for ns_event_search_restart. NULL: not known. */
  NsStatus (*rate)(void *context, double t, const double *y, double *ydot, NsError *err);
  /*
  ** ydot (n) = its slope less the derivatives of the state, at the k-th of the NS_DEFECTS nodes. NULL: by `rate`, where this is
  ** known.
  */
  NsStatus (*defect)(void *context, int k, double *ydot, NsError *err);
  bool rough; /* below the tolerances the dense output may be far from the solution: where an event acts its slope is checked */
  bool sloped; /* `rate` takes derivatives from the slope of the dense output, where `at` does not give them */
  const double
      *tolerance; /* n: the error that the run allows in each value; NULL: it is not known, and no event is held at zero */
} NsDenseOutput;

/* A dense output in the form of ns_dense_at: n values, y_old (n) and `rows` rows of n. */
typedef struct NsDenseRows {
  int n, rows;
  double t_old, t;
  const double *y_old, *F;
} NsDenseRows;

/*
** A dense output given by its values at the NS_BERNSTEIN_SIZE nodes of the piece (ns_bernstein_node): the first n of the `stride`
** values of each node.
*/
typedef struct NsDenseNodes {
  int n, stride;
  double t_old, t;
  const double *values;
} NsDenseNodes;

/* The dense outputs of these; they borrow them. */
NsDenseOutput ns_dense_of_rows(const NsDenseRows *dense);
NsDenseOutput ns_dense_of_nodes(const NsDenseNodes *nodes);

typedef struct NsEventSearch NsEventSearch;

/* Makes a search for events of n values; it copies *events and borrows its arrays. NS_ENOMEM; *search is NULL on failure. */
NsStatus ns_event_search_new(NsEventSearch **search, int n, const NsEvents *events);
void ns_event_search_free(NsEventSearch *search);

/* Evaluates the events at the start (t, y) of the first dense output. Forgets what was counted. */
NsStatus ns_event_search_start(NsEventSearch *search, double t, const double *y, NsError *err);

/*
** Sets the values of the events at the start of the next dense output, which may begin after a jump. No root at that start is
** reported: the caller knows of it. ns_event_search_last: the values at the end of the last dense output.
*/
void ns_event_search_resume(NsEventSearch *search, const double *values);
const double *ns_event_search_last(const NsEventSearch *search);

/* A root of an event along a dense output. */
typedef struct NsEventRoot {
  double t;
  int event;
  int way;   /* the sign of the event after it; 0: it is 0 on */
  bool last; /* it is the occurrence that `terminal` asks for, or a later one */
} NsEventRoot;

/* The roots in a dense output that count, in their order; `end` is the index of the first that stops the search, -1: none does. */
typedef struct NsEventRoots {
  const NsEventRoot *roots; /* owned by the search, valid until the next call */
  long count, end;
  int unresolved; /* -1; else an event for which the dense output after a restart is too long: nothing has been searched */
} NsEventRoots;

/* No roots. */
#define NS_EVENT_ROOTS_NONE ((NsEventRoots){NULL, 0, -1, -1})

/*
** Finds the roots in a dense output, which must begin where the last one ended. Roots after the first that stops are left out, except
** those within 16 spacings of it.
**
** On pieces of the dense output g is interpolated by polynomials (bernstein.h); a piece is halved until the polynomial is exact or has
** no root. So no root and no dip through zero is lost if the first 9 points in the dense output resolve g. ns_bracket_root locates
** each root to the spacing of numbers. A root at the start counts when g leaves zero in the direction asked for, or stays zero.
** Each root is reported once.
*/
NsStatus ns_event_search_along(NsEventSearch *search, const NsDenseOutput *dense, NsEventRoots *found, NsError *err);

/*
** Continues at (t, y) after a stop at t, where y may have jumped; the next dense output begins there. The events found at the stop are
** not found there again: when one of them is zero at (t, y), that is within rounding of its values along the last dense output, it
** starts at zero and its next root counts. Another event that is zero is found as at the start. `wanted` is the state that the
** events left, where y is this state moved onto constraints, by tolerances; else y itself. An event that is zero at `wanted` counts
** as zero. Its next root is not sought in a dense output as short as ns_event_search_least, such as one before the end of a run, where
** the event is rounding.
**
** The next dense output must resolve the way of an event that acted and is zero: when the event's slope at the start (dense.rate)
** leads back and the dense output does not, it has skipped a root. `unresolved` then tells the event, and the caller makes a shorter
** dense output from the same start. So it is when a rough dense output crosses zero against the event's slope.
**
** An event that is zero at a start or after it acted is held there while it does not change faster than 1/1000 of what it did
** before. It has no roots until the motion lets it go: until its derivative by dense.rate is more than rounding, and than what
** the defect of the dense output makes of it (without rates: until it exceeds the errors which the run allows in y, summed over
** the dense outputs since). From then on a root counts where the event comes from farther than these errors. At the start it
** counts once, in any direction.
**
** An event that acted and is zero, and is not held, leaves to the side of its slope. Where it ends there, beyond rounding, its roots in the next dense output do
** not count when it is only rounding up to the last of them.
**
** NS_ENOCONV when the occurrences accumulate, so that t no longer gets anywhere: an event acts twice in succession within 4096
** spacings of t, or 4 times with others between, or there are 100 stops at one t.
*/
NsStatus ns_event_search_restart(NsEventSearch *search, double t, const double *wanted, const double *y, NsError *err);

/* After a restart: the events at the stop have left the state as it was, so that one which stays zero has no root. */
void ns_event_search_kept(NsEventSearch *search);

/*
** Before a restart: the caller has computed the state at the stop more exactly than the dense output, (t, y) before the events act. Values
** of the events there are rounding, too.
*/
NsStatus ns_event_search_move(NsEventSearch *search, double t, const double *y, NsError *err);

/*
** *moves: whether the motion itself changes event e along the dense output, by more than rounding and than the defect of the
** dense output does: an event that the motion holds changes by the defect alone. *errors: the size that the defect can give the
** event. For a dense output with defects or rates.
*/
NsStatus ns_event_search_moves(NsEventSearch *search, const NsDenseOutput *dense, int e, bool *moves, double *errors,
                               NsError *err);

/*
** *sign: to which side event e leaves the start of the dense output, by the derivatives of the states there; 0: its speed is
** rounding.
*/
NsStatus ns_event_search_leaves(NsEventSearch *search, const NsDenseOutput *dense, int e, int *sign, NsError *err);

/* NS_ENOCONV: the event's next occurrence is too close to t to be resolved by any dense output. */
NsStatus ns_event_too_close(const NsEvents *events, int event, double t, NsError *err);

/* The shortest dense output that resolves occurrences at t: 4096 spacings of t. */
double ns_event_search_least(double t);
