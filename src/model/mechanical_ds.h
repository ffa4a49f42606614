/*
** mechanical_ds.h
** Mechanical systems  M(q) dv/dt = F(t, q, v) + p,  dq/dt = T(q) v: Lagrangian systems (T = 1) and rigid bodies.
*/
#pragma once

#include "linalg/lu.h"
#include "model/boundary.h"
#include "model/ds.h"

/* The force Jacobians that may be given as constant matrices. */
enum { NS_FINT_BY_Q, NS_FINT_BY_V, NS_FGYR_BY_Q, NS_FGYR_BY_V, NS_FORCE_JACOBIANS };

/* The Jacobians (3 rows) of a rigid body's internal moment. */
enum { NS_MINT_BY_Q = NS_FORCE_JACOBIANS, NS_MINT_BY_V, NS_FORCE_PARTS };

/*
** F = fExt(t) - fInt(t, q, v) - fGyr(q, v) - K q - C v.
** A rigid body (ns_mechanical_turns) has nq = 7, q = (position; unit quaternion, scalar first), and nv = 6, v = (velocity of
** the centre in the inertial frame; angular velocity omega in the body's frame). Its mass is diag(m, m, m, inertia); fExt and
** fInt are (force in the inertial frame; moment in the body's frame); mExt(t) and mInt(t, q, v) are added to their moments;
** fGyr = (0, omega x inertia omega) is built in.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapters 3 and 10.
*/
typedef struct NsMechanicalDs {
  NsDs base; /* x = (q, v), nx = nq; r = p (nv): the impulse of the last step */
  int nq, nv;
  double *q, *v, *q_k, *v_k, *v0; /* the parts of x and of x_k; the part v of x0 */

  /* the model */
  NsCoef mass;                               /* nv x nv; absent: the identity */
  NsCoef K, C;                               /* nv x nv; absent: none */
  NsCoef fext, fint, fgyr;                   /* nv; fext may be a function of time */
  NsCoef mext;                               /* 3: a rigid body's external moment, a function of time; or absent */
  NsCoef force_jacobian[NS_FORCE_JACOBIANS]; /* if given, replaces the Jacobian of the callback; by q: nv x nq, by v: nv x nv */
  NsFunction mass_function;                  /* args: q, none, z; value: nv x nv */
  NsFunction fint_function;                  /* args: q, v, z; value: nv */
  NsFunction fgyr_function;
  NsFunction mint_function; /* of a rigid body; args: q, v, z; value: 3 */
  NsFunction potential;     /* args: q, none, z; value: 1; used for energies only */
  bool moment_inertial;     /* a rigid body's external moment is given in the inertial frame */

  NsBoundary *boundary; /* prescribed velocities, whose impulses are base.reaction; NULL: none */

  double *acceleration; /* nv: at the accepted state, with the forces of the relations; or from ns_mechanical_accelerate */
  double *forces;       /* nv: computed on request, see ns_mechanical_accelerate */
  double *matrix;       /* nv x nv: workspace for a dense mass matrix; NULL until needed */
  NsLu *lu;
  double *pace; /* nv: the mean velocity of a step, for energies */
  double *room; /* nv: workspace */
} NsMechanicalDs;

/* The functions `like`, `destroy` and `update` of the NsDsClass of mechanical systems. */
NsStatus ns_mechanical_like(NsDs **ds, const NsDs *other);
void ns_mechanical_destroy(NsDs *ds);
NsStatus ns_mechanical_update(NsDs *ds, double t, NsError *err);

/* Gives the quaternion e (4) the length 1, however long it is, without overflow; false, and e unchanged, for zeros. */
bool ns_quaternion_fit(double *e);

/* Whether J (3 x 3) is symmetric to rounding, and positive definite. */
bool ns_is_inertia(const double J[9]);

/*
** Whether a constant mass matrix is one: positive semidefinite, to 1e-10 of its own diagonal, which a matrix that the script has computed or read
** from a file keeps. A matrix that is not symmetric, as of equations that are multiplied by numbers, is not judged; of a sparse one the diagonal is
** asked alone. NS_EARG names the row; NS_ENOMEM. Numbers that are not finite are left to the step.
*/
NsStatus ns_mechanical_check_mass(NsDs *ds, NsError *err);

/* Writes M = diag(mass, mass, mass, J), 6 x 6: the mass of a rigid body. */
void ns_rigid_mass(double mass, const double J[9], double M[36]);

/* Makes a system with initial q0 (nq) and v0 (nv), both copied; a rigid body's quaternion is normalised. NS_ENOMEM. */
NsStatus ns_mechanical_new(NsMechanicalDs **ds, const NsDsClass *class, int nq, int nv, const double *q0, const double *v0);

/* Replaces the boundary conditions; the system adds a reference (NULL: none). The indices must be below nv. */
void ns_mechanical_set_boundary(NsMechanicalDs *ds, NsBoundary *boundary);

/* Whether the system is a rigid body, with a quaternion at the end of q. */
static inline bool ns_mechanical_turns(const NsMechanicalDs *ds) {
  return ds->base.class->turns;
}

/* Whether M is constant and F is affine in q and v; only fExt may be a callback. */
bool ns_mechanical_linear(const NsMechanicalDs *ds);

/* Whether an external force is a function of time. */
bool ns_mechanical_driven(const NsMechanicalDs *ds);

/* Whether M is constant, and no force changes with q or v but the gyroscopic moment of a rigid body. */
bool ns_mechanical_constant_forces(const NsMechanicalDs *ds);

/* Whether the constant M has no gyroscopic moment, as of a sphere: the moments of a body's inertia are equal. */
bool ns_mechanical_round(const NsMechanicalDs *ds);

/* Whether M does not depend on q. */
bool ns_mechanical_constant_mass(const NsMechanicalDs *ds);

/* NS_EARG when one of these mechanical systems has boundary conditions, which the integrator `who` cannot handle. */
NsStatus ns_mechanical_unbound(NsDs *const *systems, int count, const char *who, NsError *err);

/* Whether M, K or C is sparse. */
bool ns_mechanical_sparse(const NsMechanicalDs *ds);

/* Sum of the versions of M, K and C, the coefficients in a step's matrix. */
uint64_t ns_mechanical_matrix_version(const NsMechanicalDs *ds);

/* M = M(q), nv x nv, column-major. NS_ECALLBACK. */
NsStatus ns_mechanical_mass(const NsMechanicalDs *ds, double t, const double *q, double *M, NsError *err);

/* out = M w, with M from ns_mechanical_mass; M = NULL: the constant mass coefficient, dense or sparse. */
void ns_mechanical_mass_times(const NsMechanicalDs *ds, const double *M, const double *w, double *out);

/*
** D (nv x nq) += factor d(M(q) w)/dq; nothing when the derivative of the mass is unknown. `room`: workspace of nv nv nq
** doubles. NS_ECALLBACK.
*/
NsStatus ns_mechanical_mass_derivative(const NsMechanicalDs *ds, double t, const double *q, const double *w, double factor,
                                       double *room, double *D, NsError *err);

/* F (nv) at a point; the coefficients must be up to date for t. NS_ECALLBACK. */
NsStatus ns_mechanical_forces(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *F, NsError *err);

/* The same without the term omega x inertia omega of a rigid body, for a step that turns its momentum. NS_ECALLBACK. */
NsStatus ns_mechanical_impressed(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *F, NsError *err);

/* fInt and fGyr (nv) at a point; fGyr includes a rigid body's built-in term. NS_ECALLBACK. */
NsStatus ns_mechanical_internal(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                NsError *err);
NsStatus ns_mechanical_gyroscopic(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                  NsError *err);

/* A rigid body's moments (3): mInt at a point, NS_ECALLBACK; the sum of mExt and the moment of fExt, in the frame of mExt. */
NsStatus ns_mechanical_internal_moment(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                       NsError *err);
void ns_mechanical_external_moment(const NsMechanicalDs *ds, double *out);

/*
** The force Jacobian number `which`, NS_FINT_BY_Q ... (nv x nq or nv x nv; 3 rows for mInt), at a point. `room`: workspace of
** nv nq doubles. NS_ECALLBACK.
*/
NsStatus ns_mechanical_force_jacobian(const NsMechanicalDs *ds, int which, double t, const double *q, const double *v,
                                      double *room, double *J, NsError *err);

/* dF/dq (nv x nq) and dF/dv (nv x nv) at a point. `room`: workspace of nv nq doubles. NS_ECALLBACK. */
NsStatus ns_mechanical_force_jacobians(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                       double *by_q, double *by_v, NsError *err);

/* The same of ns_mechanical_impressed. */
NsStatus ns_mechanical_impressed_jacobians(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                           double *by_q, double *by_v, NsError *err);

/*
** Exact derivatives (`exact` of NsFunction), not given Jacobians: dF/dq (nv x nq) and dF/dv (nv x nv); D (nv x nq) -=
** d(M(q) w)/dq; by_z (nv x nz) = d(F - M(q) w)/dz of a Lagrangian system. `room`: workspace of nv nq doubles; of nv nv nq; of nv nv nz.
** False: a callback has none here.
*/
bool ns_mechanical_exact_forces(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                double *by_q, double *by_v);
bool ns_mechanical_exact_mass(const NsMechanicalDs *ds, double t, const double *q, const double *w, double *room, double *D);
bool ns_mechanical_exact_parameters(const NsMechanicalDs *ds, double t, const double *q, const double *v, const double *w,
                                    double *room, double *by_z);

/* qdot = T(q) v. */
void ns_mechanical_rate(const NsMechanicalDs *ds, const double *q, const double *v, double *qdot);

/* out (rows x nv) = A T(q) for A (rows x nq), both with leading dimension rows. A Lagrangian system copies A. */
void ns_mechanical_to_velocity(const NsMechanicalDs *ds, const double *q, int rows, const double *A, double *out);

/*
** out = the coordinates after a motion from q with constant v for the time h: q + h v; a rigid body's quaternion is multiplied
** by the exponential of h omega / 2, which keeps its norm. out may be q.
*/
void ns_mechanical_move(const NsMechanicalDs *ds, const double *q, const double *v, double h, double *out);

/* The kinetic energy v' M(q) v / 2 of the accepted state. NS_ENOMEM, NS_ECALLBACK. */
NsStatus ns_mechanical_kinetic(NsMechanicalDs *ds, double t, double *energy, NsError *err);

/*
** The potential energy of the accepted state: q' K q / 2 - fExt' q + the `potential` callback. fExt counts only if it is
** constant; of a rigid body, only its force. NS_ECALLBACK.
*/
NsStatus ns_mechanical_potential(NsMechanicalDs *ds, double t, double *energy, NsError *err);

/* Both energies at a given point; the coefficients are not updated. */
NsStatus ns_mechanical_kinetic_at(NsMechanicalDs *ds, double t, const double *q, const double *v, double *energy, NsError *err);
NsStatus ns_mechanical_potential_at(NsMechanicalDs *ds, double t, const double *q, double *energy, NsError *err);

/* w (nv x nrhs) = M(q)^-1 w; the mass coefficient must be up to date. NS_ESINGULAR, NS_ENOMEM, NS_ECALLBACK. */
NsStatus ns_mechanical_divide(NsMechanicalDs *ds, double t, const double *q, int nrhs, double *w, NsError *err);

/* ds->acceleration = the change of v in the last step, which began at v_k, over its length h. */
void ns_mechanical_mean_acceleration(NsMechanicalDs *ds, double h);

/*
** Writes ds->forces = F and ds->acceleration = M^-1 F for the accepted state. NS_ESINGULAR, NS_ENOMEM, NS_ECALLBACK and the
** statuses of ns_ds_update.
*/
NsStatus ns_mechanical_accelerate(NsMechanicalDs *ds, double t, NsError *err);
