/*
** solution.h
** A recorded run: one row per step, columns contiguous.
*/
#pragma once

#include "simulation/solution_pieces.h"
#include "simulation/time_stepping.h"

/*
** Rows 0 to rows - 1 are used. x, lambda, y are column-major with leading dimension `capacity`. The arrays move when an event
** needs a row beyond the capacity: views may be taken when the run has ended. An event has several rows of the same time.
*/
typedef struct NsSolution {
  long rows, capacity;
  int nx, m;
  double *t;          /* capacity */
  double *x;          /* capacity x nx: the states of every system, in the NSDS's order */
  double *lambda, *y; /* capacity x m: of every interaction, in the NSDS's order */
  double *iterations; /* capacity: Newton iterations of the step before the row; 0 in the first row */
  int np;             /* parameters of sensitivities; 0: none */
  double *S;          /* of each row, one after the other: nx x np */
  NsEventSlopes slopes;
  int nobserved;
  double *observed; /* capacity x nobserved: numbers that the caller adds to each row */
  NsEvent *events;  /* nevents events of the run */
  long nevents;
  bool locates; /* the rows alone do not tell what is between them: an event-driven run */
  NsSolutionPieces pieces;

  /* whose columns there are: the interactions of the graph when it had this version; borrowed, for the run alone */
  uint64_t version;
  NsInteraction **interactions;
  int ninteractions;
} NsSolution;

/*
** Makes an empty solution of `capacity` rows with the columns of the present graph, with nobserved additional numbers per row and derivatives by np parameters. A large capacity costs no time, where
** the system provides memory at the first write. NS_ENOMEM.
*/
NsStatus ns_solution_new(NsSolution **solution, const NsTimeStepping *ts, long capacity, int nobserved, int np);
void ns_solution_free(NsSolution *solution);

/* Column c (from 0) in the order t, states, lambda, y, Newton iterations, observed values; how many there are. */
double *ns_solution_column(const NsSolution *solution, int c);
int ns_solution_width(const NsSolution *solution);

/* Fills row, 2 + nx + 2 m numbers (t, x, lambda, y, iterations), from the accepted state. */
void ns_solution_row(const NsTimeStepping *ts, double *row);

/* Appends the accepted state at time t, the observed numbers and S. NS_ENOMEM when there is no memory for one more row. */
NsStatus ns_solution_append(NsSolution *solution, const NsTimeStepping *ts, double t, const double *observed, const double *S);

/* Appends a row as ns_solution_row fills it. NS_ENOMEM. */
NsStatus ns_solution_append_row(NsSolution *solution, const double *row, const double *observed, const double *S);

/* Copies the events of the log from number `first` on. NS_ENOMEM. */
NsStatus ns_solution_take_events(NsSolution *solution, const NsEventLog *log, long first);

/*
** values (nx + 2 m + nx np): x, lambda, y and S at t. At the time of rows: the last of them or, with `before`, the first. Else the smooth
** piece of the run; where an event-driven run has none: NS_EARG; the line between the rows beside in other runs. NS_EARG
** outside of the rows.
*/
NsStatus ns_solution_at(const NsSolution *solution, double t, bool before, double *values, NsError *err);
