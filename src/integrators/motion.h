/*
** motion.h
** Mechanics in continuous time: outputs, accelerations under the constraints that act, impulses.
*/
#ifndef NS_INTEGRATORS_MOTION_H
#define NS_INTEGRATORS_MOTION_H

#include "model/mechanical_ds.h"
#include "model/nsds.h"

/*
** The equations  M(q) a = F(t, q, v) + H' lambda,  y = h(t, q),  u = H v + dh/dt,  y'' = H a + bias  of all systems and
** interactions of a graph, stacked in their order: Nq coordinates, Nv velocities, m rows of multipliers. Dense: what is
** taken is of the order of m (m + Nv) numbers.
** Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996, chapters 4 and 5.
*/
typedef struct NsMotion NsMotion;

/* The sizes and the vectors of the last evaluation, borrowed. */
typedef struct NsMotionView {
  int Nq, Nv, m;
  const double *y, *u, *rounding; /* m: outputs, their velocities, the rounding errors of the outputs */
  const double *u_terms;          /* m: the sum of the |terms| of u */
  const double *bias;             /* m */
  const double *a_free, *F;       /* Nv: accelerations without lambda, and forces */
  const double *H;                /* m x Nv, leading dimension m */
  const double *X;                /* Nv x m: M^-1 H' */
} NsMotionView;

/* Allocates everything for the graph as it stands, all of whose systems are mechanical. NS_ENOMEM. */
NsStatus ns_motion_new(NsMotion **motion, NsNsds *nsds);
void ns_motion_free(NsMotion *motion);

const NsMotionView *ns_motion_view(const NsMotion *motion);

/* The interaction (its number) of a row. */
int ns_motion_interaction(const NsMotion *motion, int row);

/* The systems' remembered coordinates and velocities into stacked vectors; stacked vectors into the systems. */
void ns_motion_gather(const NsMotion *motion, double *q, double *v);
void ns_motion_scatter(const NsMotion *motion, const double *q, const double *v);

/*
** Outputs y, velocities u and H at a point: of the interactions of the n rows listed, or of all when rows is NULL. X is
** lost. What callbacks raise.
*/
NsStatus ns_motion_outputs(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v, NsError *err);

/*
** Forces and free accelerations at a point, where the outputs have been evaluated; M is factored. NS_ESINGULAR naming
** the system, and what callbacks raise.
*/
NsStatus ns_motion_free_accelerations(NsMotion *motion, double t, const double *q, const double *v, NsError *err);

/* X and the bias of the rows listed; needs the free accelerations of that point. What callbacks raise. */
NsStatus ns_motion_couple(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v, NsError *err);

/* W (n x n) = H X of the rows listed, which have been coupled. */
void ns_motion_delassus(const NsMotion *motion, int n, const int *rows, double *W);

/*
** lambda (n) that keep y'' = 0 in the rows listed (coupled): W lambda = -(H a_free + bias); of dependent rows the
** solution of least norm. W is n x n room. NS_ENOSOL when dependent rows contradict each other, naming one;
** NS_ENOMEM.
*/
NsStatus ns_motion_hold(NsMotion *motion, int n, const int *rows, double *W, double *lambda, NsError *err);

/* w (Nv) += X z over the rows listed. */
void ns_motion_add_input(const NsMotion *motion, int n, const int *rows, const double *z, double *w);

/* qdot (Nq) = T(q) v. */
void ns_motion_rate(const NsMotion *motion, const double *q, const double *v, double *qdot);

/* Makes the quaternions of rigid bodies of unit length again. */
void ns_motion_normalise(const NsMotion *motion, double *q);

/* H v of a row: the part of u that is of the bodies. */
double ns_motion_speed(const NsMotion *motion, int row, const double *v);

/* y'' (of a row that was coupled) for the accelerations a. */
double ns_motion_output_acceleration(const NsMotion *motion, int row, const double *a);

/* Whether y of a row is C q + e with a constant C; C q for coordinates of any kind (a change of q, a slope). */
bool ns_motion_straight(const NsMotion *motion, int row);
double ns_motion_straight_part(const NsMotion *motion, int row, const double *q);

/*
** out (Nv) = sqrt(w' M w / M_ii) with the mass and the w (Nv) of the system that i is of: how large an element would be that had
** all of the energy of the system's w. What is compared with it is compared in the element's own unit. M is that of the last free
** accelerations.
*/
void ns_motion_even(const NsMotion *motion, const double *w, double *out);

/* out (Nq): how fast coordinates go at most that move with velocities up to V (Nv, none negative). */
void ns_motion_fastest(const NsMotion *motion, const double *V, double *out);

/* Whether something of the motion may be a function of time: a force that scripts compute, the place of a constraint listed. */
bool ns_motion_driven(const NsMotion *motion, int n, const int *rows);

/*
** Moves q and v back on the constraints of the rows listed: y = 0 and u = 0, by corrections of least kinetic norm. A row is at 0
** when |y| is rounding: of its terms, of what it was corrected by, or twice over of `reach` (m, by row), the largest |y| that it has
** had, which takes this one in. Hairer and Wanner, Solving Ordinary Differential Equations
** II, section VII.2. NS_ENOCONV naming the interaction; NS_ENOMEM.
*/
NsStatus ns_motion_project(NsMotion *motion, int n, const int *rows, double t, double *reach, double *q, double *v, double *W,
                           NsError *err);

/* The second half of that: u = 0 at the coordinates as they are. */
NsStatus ns_motion_stop(NsMotion *motion, int n, const int *rows, double t, const double *q, double *v, double *W,
                        NsError *err);

/* q (Nq) moved with the velocities v for the time h. */
void ns_motion_move(const NsMotion *motion, const double *v, double h, double *q);

/* The work of all forces and of -C v in a unit of time at the point of the last evaluation. */
void ns_motion_power(const NsMotion *motion, const double *v, double *forces, double *damping);

/* Kinetic and potential energy at a point. NS_ECALLBACK. */
NsStatus ns_motion_energy(NsMotion *motion, double t, const double *q, const double *v, double *kinetic, double *potential,
                          NsError *err);

/* Whether some mass depends on the coordinates. */
bool ns_motion_varying_mass(const NsMotion *motion);

#endif
