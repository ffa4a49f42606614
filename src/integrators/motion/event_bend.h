/*
** event_bend.h
** How the outputs of an interaction change with the coordinates and velocities of its systems. Private to motion/.
*/
#pragma once

#include "integrators/motion/event_driven.h"

/*
** With H, u and bias of integrators/motion.h: the interaction has m rows, nx coordinates, nv velocities, and q' = T(q) v. A quaternion has
** four coordinates and three velocities; else T = 1. Column-major.
*/
typedef struct NsEdgeBend {
  int m, nx, nv;
  int *q, *v;              /* nx, nv: the place of each coordinate and velocity in the stacked vectors */
  double *H_q;             /* m x nv x nx: the derivative of H by q */
  double *u_q;             /* m x nx: the derivative of u by q; by v it is H */
  double *bias_q, *bias_v; /* m x nx, m x nv */
  const double *C;         /* m x nx, borrowed: H = C T */
  struct NsBendRoom *room;
} NsEdgeBend;

/* Memory of the arena for any interaction of the graph of ed, a workspace that lives longer. */
void ns_edge_bend_make(NsEdgeBend *bend, NsArena *arena, const NsEventDriven *ed);

/* Fills m, nx, nv, q, v and C, for an interaction whose outputs have been evaluated. */
void ns_edge_bend_place(NsEdgeBend *bend, const NsEventDriven *ed, int interaction);

/* Fills the others at (t, u), the point of the last evaluation. False: they are not known exactly. */
bool ns_edge_bend_take(NsEdgeBend *bend, const NsEventDriven *ed, int interaction, double t, const double *u);

/* An entry of H_q. */
static inline double ns_edge_bend(const NsEdgeBend *bend, int i, int j, int k) {
  return bend->H_q[i + (ptrdiff_t)bend->m * (j + (ptrdiff_t)bend->nv * k)];
}
