/*
** event_search.h
** The safe search for roots of event functions along a course, whichever integrator made it.
*/
#ifndef NS_ODE_EVENT_SEARCH_H
#define NS_ODE_EVENT_SEARCH_H

#include <stdbool.h>

#include "base/error.h"

/* *g = the value of event number `event` (from 0) at (t, y). A failure ends the search; NaN ends it with NS_ENAN. */
typedef NsStatus (*NsEventValue)(void *context, int event, double t, const double *y, double *g, NsError *err);

/* The events whose roots are sought. Arrays of `count`, borrowed. */
typedef struct NsEvents {
  int count;
  NsEventValue value;
  void *context;
  const int *direction; /* of each event: 1 only rising values count, -1 falling, 0 both */
  const long *terminal; /* of each event: 0 never stops the search, k stops it at the k-th occurrence */
  const bool *acts; /* of each event: stops the search at each occurrence, since the state may jump there; NULL: none does */
} NsEvents;

/*
** A smooth piece of a solution, from t_old to t (t < t_old: backward): `at` writes the n values y at a time of the piece. It
** may be called at any time of the piece, in any order, and must be smooth and cheap: the dense output of a step.
*/
typedef struct NsCourse {
  double t_old, t;
  NsStatus (*at)(void *context, double t, double *y, NsError *err);
  void *context;
} NsCourse;

/* A course in the form of ns_dense_at: n values, y_old (n) and `rows` rows of n. */
typedef struct NsDenseCourse {
  int n, rows;
  double t_old, t;
  const double *y_old, *F;
} NsDenseCourse;

/*
** A course given by its values at the NS_BERNSTEIN_SIZE nodes of the piece (ns_bernstein_node): the first n of the `stride`
** values of each node.
*/
typedef struct NsNodeCourse {
  int n, stride;
  double t_old, t;
  const double *values;
} NsNodeCourse;

/* The courses of these; they borrow them. */
NsCourse ns_dense_course(const NsDenseCourse *dense);
NsCourse ns_node_course(const NsNodeCourse *nodes);

typedef struct NsEventSearch NsEventSearch;

/* Makes a search for events of n values; it copies *events and borrows its arrays. NS_ENOMEM; *search is NULL on failure. */
NsStatus ns_event_search_new(NsEventSearch **search, int n, const NsEvents *events);
void ns_event_search_free(NsEventSearch *search);

/* Evaluates the events at the start (t, y) of the first course. Forgets what was counted. */
NsStatus ns_event_search_start(NsEventSearch *search, double t, const double *y, NsError *err);

/*
** Sets the values of the events at the start of the next course, which may begin after a jump. No root at that start is
** reported: the caller knows of it. ns_event_search_last: the values at the end of the last course.
*/
void ns_event_search_resume(NsEventSearch *search, const double *values);
const double *ns_event_search_last(const NsEventSearch *search);

/* A root of an event along a course. */
typedef struct NsEventRoot {
  double t;
  int event;
} NsEventRoot;

/* The roots in a course that count, in their order; `end` is the index of the first that stops the search, -1: none does. */
typedef struct NsEventRoots {
  const NsEventRoot *roots; /* owned by the search, valid until the next call */
  long count, end;
} NsEventRoots;

/*
** Finds the roots in a course, which must begin where the last one ended. Roots after the first that stops are left out, except
** those within 16 spacings of it.
**
** On pieces of the course g is interpolated by polynomials (bernstein.h); a piece is halved until the polynomial is exact or has
** no root. So no root and no dip through zero is lost if the first 9 points in the course resolve g. ns_bracket_root locates
** each root to the spacing of numbers. A root at the start counts when g leaves zero in the direction asked for, or stays zero.
** Each root is reported once.
*/
NsStatus ns_event_search_along(NsEventSearch *search, const NsCourse *course, NsEventRoots *found, NsError *err);

#endif
