/*
** solution.h
** A recorded run: one row per step, columns contiguous.
*/
#ifndef NS_SIMULATION_SOLUTION_H
#define NS_SIMULATION_SOLUTION_H

#include "simulation/time_stepping.h"

/* Rows 0 to rows - 1 are used. x, lambda, y are column-major with leading dimension `capacity`; the arrays are never moved. */
typedef struct NsSolution {
  long rows, capacity;
  int nx, m;
  double *t;          /* capacity */
  double *x;          /* capacity x nx: the states of every system, in the NSDS's order */
  double *lambda, *y; /* capacity x m: of every interaction, in the NSDS's order */
  double *iterations; /* capacity: Newton iterations of the step before the row; 0 in the first row */
  int nobserved;
  double *observed; /* capacity x nobserved: numbers that the caller adds to each row */
} NsSolution;

/*
** Makes an empty solution of `capacity` rows, with nobserved additional numbers per row. A large capacity costs no time, where
** the system provides memory at the first write. NS_ENOMEM.
*/
NsStatus ns_solution_new(NsSolution **solution, const NsTimeStepping *ts, long capacity, int nobserved);
void ns_solution_free(NsSolution *solution);

/* Numbers in a row without observed ones: t, x, lambda, y, iterations. */
int ns_solution_columns(const NsTimeStepping *ts);

/* Fills row (ns_solution_columns) from the accepted state. */
void ns_solution_row(const NsTimeStepping *ts, double *row);

/* Appends the accepted state at time t and the observed numbers; does nothing when all rows are used. */
void ns_solution_append(NsSolution *solution, const NsTimeStepping *ts, double t, const double *observed);

#endif
