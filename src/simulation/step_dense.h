/*
** step_dense.h
** The dense output of a step, as the schemes of its islands tell it (NsDenseSink): both sides of each event, and smooth pieces.
*/
#pragma once

#include "integrators/scheme.h"
#include "simulation/island.h"
#include "simulation/sensitivities.h"

/* Looks at the dense output up to t, where a smooth piece ends. A failure ends the step. */
typedef NsStatus (*NsPieceWatch)(void *context, double t, NsError *err);

/* What one island has told. Values are columns: its x, lambda and y; then S (nx x p), where the run has sensitivities. */
typedef struct NsIslandDense {
  NsDenseSink sink;
  int nx, ncols;
  int told;                         /* columns that the scheme tells: without S */
  const NsSensitivity *sensitivity; /* NULL: no S */
  int *place;                       /* ncols: the column of the whole graph */
  long npieces, pieces_room;
  double *spans;   /* t_old and t of each piece */
  double *pieces;  /* of each piece: ncols values at each of NS_BERNSTEIN_SIZE nodes */
  double *defects; /* of each piece: nx at each of NS_DEFECTS nodes, see NsDenseSink; nan where they are not known */
  long nsides, sides_room;
  double *times;      /* of each side */
  double *sides;      /* ncols values of each side */
  bool only_first;    /* the first piece is enough */
  NsPieceWatch watch; /* NULL: nobody looks at the pieces while the step goes on */
  void *watch_context;
} NsIslandDense;

/* The dense output of all islands, between two times. A zeroed one is empty. */
typedef struct NsStepDense {
  NsIslandDense *of;
  int count;
  int nx, m, ncols; /* columns of the whole graph: x of each system, lambda, then y of each interaction (m), then S (nx x p) */
  double from, to;
  double *row; /* ncols: workspace */
  NsArena arena;
} NsStepDense;

/* Makes an empty one for the islands of a graph; sensitivities: of the run, NULL: none. NS_ENOMEM. */
NsStatus ns_step_dense_new(NsStepDense *dense, const NsNsds *nsds, const NsIslands *islands,
                           const NsSensitivities *sensitivities);
void ns_step_dense_free(NsStepDense *dense);

/* Which smooth pieces the schemes shall tell. Each costs some evaluations of the model. */
typedef enum NsPieces { NS_PIECES_NONE, NS_PIECES_ALL, NS_PIECES_FIRST } NsPieces;

/* Forgets everything, before a step from `from` to `to`. */
void ns_step_dense_begin(NsStepDense *dense, double from, double to, NsPieces pieces);

/* Whether the schemes shall tell the defects of the pieces from now on: more evaluations of the model. */
void ns_step_dense_want_defects(NsStepDense *dense, bool wanted);

/*
** defects (nx): how fast the errors of the dense output move x at the k-th of the NS_DEFECTS nodes of the pieces in which t
** lies; nan: not known.
*/
void ns_step_dense_defects(const NsStepDense *dense, double t, int k, double *defects);

/* Calls `watch` after each piece of an island, until it is NULL again. */
void ns_step_dense_watch(NsStepDense *dense, NsPieceWatch watch, void *context);

/* Whether there are sides; whether each island has told all its pieces. */
bool ns_step_dense_has_sides(const NsStepDense *dense);
bool ns_step_dense_is_smooth(const NsStepDense *dense);

/*
** The columns of the whole graph at t; side: those before an event at t, else those after it. Where an island has no piece, its
** values are on the line between the pieces beside. With `states`, only x is written.
*/
void ns_step_dense_at(const NsStepDense *dense, double t, bool before, bool states, double *values);

/* The first time after t at which a piece of some island ends; dense->to when there is none. */
double ns_step_dense_next(const NsStepDense *dense, double t);

/*
** Calls `row` for each side of each event, in order of time: once before the event, then after it (several times when several
** events of an island have the same time). `after`: whether the values are those after an event.
*/
typedef NsStatus (*NsSideRow)(void *context, double t, bool after, const double *values, NsError *err);
NsStatus ns_step_dense_sides(NsStepDense *dense, NsSideRow row, void *context, NsError *err);
