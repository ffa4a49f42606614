/*
** event_problem.h
** The problems of impulses and of forces. Private to motion/.
*/
#pragma once

#include "integrators/motion.h"
#include "integrators/scheme.h"

/* Workspace of event_polish.c: the correction, its right side and matrix, the answer before, the unknowns; by row: the sets. */
typedef struct NsMotionPolish {
  double *step, *rhs, *before, *matrix; /* m, m, m, m x m */
  int *unknown;                         /* m */
  signed char *sets;                    /* m */
} NsMotionPolish;

/* A problem w = W z + q in groups of rows, and its answer z. */
typedef struct NsMotionProblem {
  const char *who; /* for messages */
  NsStepSolver solver;
  int n, ngroups;
  NsMixedGroup *groups; /* m */
  double *W, *q, *z;    /* m x m, m, m */
  int *interaction;     /* m: of each row */
  NsSparse *sparse;     /* W of many rows, see NS_MIXED_DENSE_ROWS */
  NsMotionPolish polish;
} NsMotionProblem;

/* Takes memory for m rows. */
void ns_motion_problem_make(NsMotionProblem *problem, NsArena *arena, int m);

/*
** Solves the problem of n rows of the motion, whose W, q and groups are given: z. what: its name in messages. NS_ENOMEM, and the statuses of
** the solver.
*/
NsStatus ns_motion_problem_solve(NsMotionProblem *problem, const NsMotion *motion, int n, const int *rows, const char *what,
                                 NsError *err);

/*
** Makes the answer z exact to rounding, by the equations of its own active set (event_polish.c). An answer that is exact, or that has no
** better one, stays.
*/
void ns_motion_problem_polish(NsMotionProblem *problem);

/* Adds a disc of friction to the group of a contact: its normal alone, or with one disc. */
void ns_motion_group_disc(NsMixedGroup *group, int width, double mu);

/* Whether the force z of a closed row is more than rounding. pressing: its acceleration without forces; own: its element of W. */
bool ns_motion_carries(const NsMotionView *now, int row, double pressing, double own, double z);

/* The name of a row for messages: its interaction's. */
const char *ns_motion_row_name(const NsMotion *motion, int row);
