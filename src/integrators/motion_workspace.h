/*
** motion_workspace.h
** The workspace of stacked mechanical systems. Private to motion.c and motion_hold.c.
*/
#pragma once

#include "base/arena.h"
#include "integrators/motion.h"

/* A dynamical system. */
typedef struct NsMotionNode {
  NsMechanicalDs *ds;
  int q, v;  /* index of its first coordinate and velocity */
  double *M; /* nv x nv; NULL: the identity */
  NsLu *lu;
  bool varies;
  uint64_t key; /* version of the factored mass, plus 1 */
} NsMotionNode;

/* An interaction. */
typedef struct NsMotionEdge {
  NsInteraction *inter;
  int row;
  bool linear;          /* C and H are constant */
  bool straight;        /* linear, and without a rigid body: the bias is 0 */
  double *C, *x, *qdot; /* m x nx, nx, nx */
  bool *own;            /* m: see ns_relation_own_rows; known once `compared` is true */
  bool compared;
} NsMotionEdge;

struct NsMotion {
  NsArena arena;
  NsNsds *nsds;
  NsMotionView view;
  NsMotionNode *nodes;
  NsMotionEdge *edges;
  int nnodes; /* numbers when it was made: the graph may grow later */
  int *row_edge;
  double *y, *u, *rounding, *u_terms, *bias, *a_free, *F, *H, *X;
  double *lambda;       /* m: zeros */
  double *room;         /* workspace for the rate and the bias of an interaction */
  double *rhs, *answer; /* m */
  double *held;         /* Nv: accelerations with the forces that hold rows */
  double *unit;         /* m: powers of two; units in which the diagonal of W is nearly constant */
  bool placing;         /* the rows that are solved are places */
  bool stopping;        /* the rows that are solved are velocities */
  bool off_constraints; /* see ns_motion_leave_constraints */
  const double *slow;   /* m: see ns_motion_share */
  const double *share;  /* m: see ns_motion_share; NULL: all are 1 */
  double *still;        /* m: for a projection, the y that counts as 0 besides the rounding of its terms */
  NsLu *lu;             /* of the order `order` */
  int order;
  bool regular; /* the rows that were solved last do not depend on each other: `lu` has their factors */
};

/* Evaluates and factors M of a system, where it has changed. NS_ESINGULAR naming the system; callbacks' statuses. */
NsStatus ns_motion_factor_mass(NsMotionNode *node, double t, const double *q, NsError *err);
