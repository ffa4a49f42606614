/*
** motion.h
** Mechanics in continuous time: outputs, accelerations under active constraints, impulses.
*/
#pragma once

#include "model/mechanical_ds.h"
#include "model/nsds.h"

/*
** Rows count as dependent when the reciprocal condition number of their matrix, in units in which its diagonal is nearly constant,
** is below this number; least squares drop singular values below this fraction of the largest. 1e-12: rounding of the matrix
** leaves 1e-15 times the number of rows.
*/
#define NS_MOTION_DEPENDENT 1e-12

/*
** The equations  M(q) a = F(t, q, v) + H' lambda,  y = h(t, q),  u = H v + dh/dt,  y'' = H a + bias  of all systems and
** interactions of a graph, stacked in the graph's order: Nq coordinates, Nv velocities, m rows of multipliers. Matrices are
** dense; the memory is of the order of m (m + Nv) numbers.
** Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996, chapters 4 and 5.
*/
typedef struct NsMotion NsMotion;

/* Sizes and vectors of the last evaluation; the vectors are borrowed. */
typedef struct NsMotionView {
  int Nq, Nv, m;
  const double *y, *u, *rounding; /* m: outputs, velocities of outputs, rounding errors of outputs */
  const double *u_terms;          /* m: the sum of the absolute values of the terms of u */
  const double *bias;             /* m: y'' = H a + bias */
  const double *a_free, *F;       /* Nv: accelerations for lambda = 0; forces */
  const double *H;                /* m x Nv, leading dimension m */
  const double *X;                /* Nv x m: M^-1 H' */
  const double *stopped; /* m: the impulses that the last ns_motion_project or ns_motion_stop gave, in the order of its rows */
} NsMotionView;

/* Makes the workspace for the present graph; all its systems must be mechanical. NS_ENOMEM. */
NsStatus ns_motion_new(NsMotion **motion, NsNsds *nsds);
void ns_motion_free(NsMotion *motion);

const NsMotionView *ns_motion_view(const NsMotion *motion);
/* The graph that it was made for. */
const NsNsds *ns_motion_nsds(const NsMotion *motion);

/* The interaction (its index) that a row belongs to. */
int ns_motion_interaction(const NsMotion *motion, int row);

/* The first row of an interaction; the first coordinate and the first velocity of a system. */
int ns_motion_first_row(const NsMotion *motion, int interaction);
int ns_motion_first_q(const NsMotion *motion, int system);
int ns_motion_first_v(const NsMotion *motion, int system);

/* gather: memories of coordinates and velocities to stacked vectors; scatter: stacked vectors to the systems. */
void ns_motion_gather(const NsMotion *motion, double *q, double *v);
void ns_motion_scatter(const NsMotion *motion, const double *q, const double *v);

/* Evaluates y, u and H of n rows' interactions, or of all (rows NULL). X becomes invalid. Returns callbacks' statuses. */
NsStatus ns_motion_outputs(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v, NsError *err);

/* C (m x nx), the Jacobian of an interaction's outputs by its coordinates, as they were evaluated last. */
const double *ns_motion_jacobian(const NsMotion *motion, int interaction);

/* Evaluates forces and a_free where outputs are evaluated; factors M. NS_ESINGULAR naming the system; callbacks' statuses. */
NsStatus ns_motion_free_accelerations(NsMotion *motion, double t, const double *q, const double *v, NsError *err);

/* X of one row: M^-1 times its row of H; the free accelerations must belong to the same point. */
void ns_motion_form_X(NsMotion *motion, int row);

/*
** Computes X and the bias of the rows; the free accelerations must belong to the same point. Returns the callbacks' statuses.
*/
NsStatus ns_motion_couple(NsMotion *motion, int n, const int *rows, double t, const double *q, const double *v, NsError *err);

/* W (n x n) = H X for rows that have been coupled. */
void ns_motion_delassus(const NsMotion *motion, int n, const int *rows, double *W);

/*
** lambda (n) with y'' = 0 in the rows, which have been coupled: W lambda = -(H a_free + bias). The solution of least norm when
** rows are dependent. W (n x n) is workspace. NS_ENOSOL when dependent rows contradict each other, naming one; NS_ENOMEM.
*/
NsStatus ns_motion_hold(NsMotion *motion, int n, const int *rows, double *W, double *lambda, NsError *err);

/* The same for rows that need not have y' = 0, so that dependent ones may contradict each other: the least squares of y''. */
NsStatus ns_motion_hold_nearly(NsMotion *motion, int n, const int *rows, double *W, double *lambda, NsError *err);

/* w (Nv) += X z, summed over the rows. */
void ns_motion_add_input(const NsMotion *motion, int n, const int *rows, const double *z, double *w);

/* w (Nv) becomes M^-1 w, or M^-T w, with the M of the last free accelerations. */
void ns_motion_divide(const NsMotion *motion, bool transposed, double *w);

/* a_free += X force of a coupled row: a given force counts among the forces that act without constraints. */
void ns_motion_push(NsMotion *motion, int row, double force);

/*
** Sliding friction: X of `normal` -= mu sum of d[i] X of row tangent + i, for i < width. So the multiplier of the normal brings
** its tangential force -mu d lambda along, until the rows are coupled again. The rows have been coupled.
*/
void ns_motion_drag(NsMotion *motion, int normal, double mu, int tangent, int width, const double *d);

/*
** For dependent rows, both borrowed, by row (m): ns_motion_hold has the least norm of the lambda_k / share_k; velocities up to
** slow_k never contradict other rows. At first all shares are 1, and slow is 0.
*/
void ns_motion_share(NsMotion *motion, const double *share, const double *slow);

/*
** From now on states may violate the constraints, as those do that differences of the motion take. There dependent rows
** contradict each other: they are solved in the sense of least squares, and no error is raised.
*/
void ns_motion_leave_constraints(NsMotion *motion);

/* qdot (Nq) = T(q) v. */
void ns_motion_rate(const NsMotion *motion, const double *q, const double *v, double *qdot);

/* Normalises the quaternions of rigid bodies. */
void ns_motion_normalise(const NsMotion *motion, double *q);

/* H v of a row: u without dh/dt. */
double ns_motion_speed(const NsMotion *motion, int row, const double *v);

/* y'' of a coupled row for the accelerations a. */
double ns_motion_output_acceleration(const NsMotion *motion, int row, const double *a);

/* straight: whether y of a row is C q + e with a constant C; straight_part: C q, also for a change or a rate of q. */
bool ns_motion_straight(const NsMotion *motion, int row);
double ns_motion_straight_part(const NsMotion *motion, int row, const double *q);

/*
** out_i (Nv) = sqrt(w' M w / M_ii), with the M and w (Nv) of the system of element i: the value of w_i if that element had all
** of the energy. It is a scale in the unit of element i. M is the mass matrix of the last free accelerations.
*/
void ns_motion_even(const NsMotion *motion, const double *w, double *out);

/* out (Nq): bounds of |qdot| for velocities |v| <= V (Nv, V >= 0). */
void ns_motion_fastest(const NsMotion *motion, const double *V, double *out);

/* Whether the motion may depend on time: by a force that a script computes, or by a moving constraint or bound among the rows. */
bool ns_motion_driven(const NsMotion *motion, int n, const int *rows);

/*
** Projects q and v on the constraints of the rows by corrections of least kinetic norm: y = 0 in the first `places` rows, then
** u = 0 in all n rows. A row is done when
** |y| is below the rounding of its terms, 4 eps times its |y| before, or (4 eps)^2 reach. reach (m, by row), the largest |y| so
** far, is updated. Hairer and Wanner, Solving Ordinary Differential Equations II, section VII.2. NS_ENOCONV naming the
** interaction; NS_ENOMEM.
*/
NsStatus ns_motion_project(NsMotion *motion, int places, int n, const int *rows, double t, double *reach, double *q, double *v,
                           double *W, NsError *err);

/* Projects v alone: u = 0 at the present coordinates. */
NsStatus ns_motion_stop(NsMotion *motion, int n, const int *rows, double t, const double *q, double *v, double *W,
                        NsError *err);

/* q (Nq) moves with the velocities v for the time h. */
void ns_motion_move(const NsMotion *motion, const double *v, double h, double *q);

/* The power of all forces, and of -C v, at the point of the last evaluation. */
void ns_motion_power(const NsMotion *motion, const double *v, double *forces, double *damping);

/* Kinetic and potential energy at a point. NS_ECALLBACK. */
NsStatus ns_motion_energy(NsMotion *motion, double t, const double *q, const double *v, double *kinetic, double *potential,
                          NsError *err);

/* Whether some forces are those of viscous laws: they are in F, and no closed form of derivatives has them. */
bool ns_motion_viscous(const NsMotion *motion);

/* Whether some mass depends on the coordinates. */
bool ns_motion_varying_mass(const NsMotion *motion);
