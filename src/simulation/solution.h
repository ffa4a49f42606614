/*
** solution.h
** The recorded run: one row a step, columns contiguous.
*/
#ifndef NS_SIMULATION_SOLUTION_H
#define NS_SIMULATION_SOLUTION_H

#include "simulation/time_stepping.h"

/* rows used of `capacity`; x, lambda, y are column-major with leading dimension capacity; nothing ever moves. */
typedef struct NsSolution {
  long rows, capacity;
  int nx, m;
  double *t;          /* capacity */
  double *x;          /* capacity x nx: the states of every system, in the NSDS's order */
  double *lambda, *y; /* capacity x m: of every interaction, in the NSDS's order */
  double *iterations; /* capacity: Newton iterations of the step that led to the row; 0 in the first */
  int nobserved;
  double *observed; /* capacity x nobserved: what the caller adds to each row */
} NsSolution;

/*
** Room for `capacity` rows of a simulation, with nobserved numbers of the caller's in each, in no time however many they
** are: a system that hands out memory when it is first written takes it row by row. NS_ENOMEM.
*/
NsStatus ns_solution_new(NsSolution **solution, const NsTimeStepping *ts, long capacity, int nobserved);
void ns_solution_free(NsSolution *solution);

/* The numbers of a row, without observed ones: t, x, lambda, y, iterations. */
int ns_solution_columns(const NsTimeStepping *ts);

/* Fills row with those of the accepted state. */
void ns_solution_row(const NsTimeStepping *ts, double *row);

/* Appends the accepted state at time t and the observed numbers; nothing when the room is used up. */
void ns_solution_append(NsSolution *solution, const NsTimeStepping *ts, double t, const double *observed);

#endif
