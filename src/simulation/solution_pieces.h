/*
** solution_pieces.h
** The dense output of a recorded run: the smooth pieces that its schemes have told.
*/
#pragma once

#include "simulation/step_dense.h"

/* The pieces of one island while the graph stays as it is. */
typedef struct NsPieceList {
  int ncols;
  int *column; /* ncols: the column of the solution (x, lambda, y, S); -1: it has none */
  long count, room;
  double *spans;  /* t_old and t of each piece */
  double *values; /* of each piece: ncols values at each of NS_BERNSTEIN_SIZE nodes */
} NsPieceList;

typedef struct NsSolutionPieces {
  NsPieceList *list;
  int count, open; /* open: the first list of the present graph */
} NsSolutionPieces;

/*
** Begins new lists, after the graph has changed. column: the column of the solution for each of the dense output's columns, -1: none.
** NS_ENOMEM.
*/
NsStatus ns_solution_pieces_begin(NsSolutionPieces *pieces, const NsStepDense *dense, const int *column);

/* Appends the pieces of a dense output. NS_ENOMEM. */
NsStatus ns_solution_pieces_add(NsSolutionPieces *pieces, const NsStepDense *dense);

/* Fills the values of all columns that a piece covers at t, and marks them in `known` (one for each column). */
void ns_solution_pieces_at(const NsSolutionPieces *pieces, double t, double *values, bool *known);

void ns_solution_pieces_free(NsSolutionPieces *pieces);
