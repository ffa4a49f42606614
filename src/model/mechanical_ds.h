/*
** mechanical_ds.h
** Mechanical systems  M(q) dv/dt = F(t, q, v) + p,  dq/dt = T(q) v: Lagrangian ones (T = 1) and rigid bodies.
*/
#ifndef NS_MODEL_MECHANICAL_DS_H
#define NS_MODEL_MECHANICAL_DS_H

#include "linalg/lu.h"
#include "model/boundary.h"
#include "model/ds.h"

/* The Jacobians of the forces that may be given as constant matrices. */
enum { NS_FINT_BY_Q, NS_FINT_BY_V, NS_FGYR_BY_Q, NS_FGYR_BY_V, NS_FORCE_JACOBIANS };

/* And those of a rigid body's internal moment, of 3 rows. */
enum { NS_MINT_BY_Q = NS_FORCE_JACOBIANS, NS_MINT_BY_V, NS_FORCE_PARTS };

/*
** F = fExt(t) - fInt(t, q, v) - fGyr(q, v) - K q - C v. A rigid body (ns_mechanical_turns) has q = (position, unit
** quaternion with the scalar first), nq = 7, and v = (velocity of the centre in the inertial frame, angular velocity
** in the body's frame), nv = 6; its mass is diag(m, m, m, inertia), fExt and fInt are (force in the inertial frame,
** moment in the body's frame), mExt(t) and mInt(t, q, v) are moments that are added to theirs, and fGyr = (0, omega x
** inertia omega) is built in.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, chapters 3 and 10.
*/
typedef struct NsMechanicalDs {
  NsDs base; /* x = (q, v), nx = nq; r = p, nv: the impulse of the last step */
  int nq, nv;
  double *q, *v, *q_k, *v_k, *v0; /* the two parts of x and of x_k; the second one of x0 */

  /* the model */
  NsCoef mass;                               /* nv x nv; absent: the identity */
  NsCoef K, C;                               /* nv x nv; absent: none */
  NsCoef fext, fint, fgyr;                   /* nv; fext may be a function of time */
  NsCoef mext;                               /* 3: of a rigid body; a function of time, or absent */
  NsCoef force_jacobian[NS_FORCE_JACOBIANS]; /* given: used in place of the callback's; by q: nv x nq */
  NsFunction mass_function;                  /* args: q, none, z; value: nv x nv */
  NsFunction fint_function;                  /* args: q, v, z; value: nv */
  NsFunction fgyr_function;
  NsFunction mint_function; /* of a rigid body; args: q, v, z; value: 3 */
  NsFunction potential;     /* args: q, none, z; value: 1; for energies alone */
  bool moment_inertial;     /* a rigid body's external moment is given in the inertial frame */

  NsBoundary *boundary; /* prescribed velocities; NULL: none. Their impulses are base.reaction */

  /* on request: see ns_mechanical_accelerate */
  double *acceleration, *forces; /* nv */
  double *matrix;                /* nv x nv: the mass matrix, when nothing in it is sparse */
  NsLu *lu;
  double *pace; /* nv: the mean velocity of a step, for energies */
  double *room; /* nv: for what is evaluated in between */
} NsMechanicalDs;

/* For the classes: makes a system like another, frees one; brings the prescribed velocities to time t. */
NsStatus ns_mechanical_like(NsDs **ds, const NsDs *other);
void ns_mechanical_destroy(NsDs *ds);
NsStatus ns_mechanical_update(NsDs *ds, double t, NsError *err);

/* Makes a system that starts at q0 (nq) with v0 (nv); a rigid body's quaternion is normalised. NS_ENOMEM. */
NsStatus ns_mechanical_new(NsMechanicalDs **ds, const NsDsClass *class, int nq, int nv, const double *q0, const double *v0);

/* Gives it boundary conditions, which it keeps (NULL: none), in place of what it had. Their indices are below nv. */
void ns_mechanical_set_boundary(NsMechanicalDs *ds, NsBoundary *boundary);

/* Whether it is a rigid body, whose coordinates end with a quaternion. */
static inline bool ns_mechanical_turns(const NsMechanicalDs *ds) {
  return ds->base.class->turns;
}

/* Whether M is constant and F affine in q and v: no callback but fExt. */
bool ns_mechanical_linear(const NsMechanicalDs *ds);

/* Whether an external force is a function of time. */
bool ns_mechanical_driven(const NsMechanicalDs *ds);

/* Whether M does not depend on q. */
bool ns_mechanical_constant_mass(const NsMechanicalDs *ds);

/* NS_EARG when a system of a graph of mechanics has boundary conditions: `who` does not take them. */
NsStatus ns_mechanical_unbound(NsDs *const *systems, int count, const char *who, NsError *err);

/* Whether one of its matrices is sparse. */
bool ns_mechanical_sparse(const NsMechanicalDs *ds);

/* Sum of the versions of the coefficients that enter a step's matrix. */
uint64_t ns_mechanical_matrix_version(const NsMechanicalDs *ds);

/* M = M(q), nv x nv, column-major. NS_ECALLBACK. */
NsStatus ns_mechanical_mass(const NsMechanicalDs *ds, double t, const double *q, double *M, NsError *err);

/* out = M w for the mass M that ns_mechanical_mass gave (NULL: the constant coefficient is used, sparse or not). */
void ns_mechanical_mass_times(const NsMechanicalDs *ds, const double *M, const double *w, double *out);

/*
** D += factor d(M(q) w)/dq, nv x nq, when the derivative of the mass is known; nothing when it is not. `room` holds
** nv nv nq doubles. NS_ECALLBACK.
*/
NsStatus ns_mechanical_mass_derivative(const NsMechanicalDs *ds, double t, const double *q, const double *w, double factor,
                                       double *room, double *D, NsError *err);

/* F (nv) at a point; the coefficients must be up to date for t. NS_ECALLBACK. */
NsStatus ns_mechanical_forces(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *F, NsError *err);

/* fInt and fGyr (nv) at a point; fGyr has what is built in. NS_ECALLBACK. */
NsStatus ns_mechanical_internal(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                NsError *err);
NsStatus ns_mechanical_gyroscopic(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                  NsError *err);

/* A rigid body's moments (3): mInt at a point, NS_ECALLBACK; fExt's and mExt together, in the frame they are given in. */
NsStatus ns_mechanical_internal_moment(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                       NsError *err);
void ns_mechanical_external_moment(const NsMechanicalDs *ds, double *out);

/*
** One of their Jacobians, NS_FINT_BY_Q ... (nv x nq or nv x nv; 3 rows for mInt), at a point; `room` holds nv nq doubles.
** NS_ECALLBACK.
*/
NsStatus ns_mechanical_force_jacobian(const NsMechanicalDs *ds, int which, double t, const double *q, const double *v,
                                      double *room, double *J, NsError *err);

/* dF/dq (nv x nq) and dF/dv (nv x nv) at a point; `room` holds nv nq doubles. NS_ECALLBACK. */
NsStatus ns_mechanical_force_jacobians(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                       double *by_q, double *by_v, NsError *err);

/* qdot = T(q) v. */
void ns_mechanical_rate(const NsMechanicalDs *ds, const double *q, const double *v, double *qdot);

/* out (rows x nv) = A T(q) for A (rows x nq), both with leading dimension rows; may be called with nq == nv alone. */
void ns_mechanical_to_velocity(const NsMechanicalDs *ds, const double *q, int rows, const double *A, double *out);

/*
** out = the coordinates after moving from q with the velocity v for the time h: q + h v; for a rigid body the
** rotation by the exponential of h omega, which keeps the quaternion's norm. out may be q.
*/
void ns_mechanical_move(const NsMechanicalDs *ds, const double *q, const double *v, double h, double *out);

/* The kinetic energy v' M(q) v / 2 of the accepted state; room as many doubles as the mass has. NS_ECALLBACK. */
NsStatus ns_mechanical_kinetic(NsMechanicalDs *ds, double t, double *energy, NsError *err);

/*
** The potential energy of the accepted state: q' K q / 2, less fExt' q for a constant fExt of a Lagrangian system (the
** force part alone of a rigid body), plus the `potential` callback. NS_ECALLBACK.
*/
NsStatus ns_mechanical_potential(NsMechanicalDs *ds, double t, double *energy, NsError *err);

/* The same at another point, with the coefficients as they are. */
NsStatus ns_mechanical_kinetic_at(NsMechanicalDs *ds, double t, const double *q, const double *v, double *energy, NsError *err);
NsStatus ns_mechanical_potential_at(NsMechanicalDs *ds, double t, const double *q, double *energy, NsError *err);

/* w (nv x nrhs) = M(q)^-1 w; the mass must be up to date. NS_ESINGULAR, NS_ENOMEM, NS_ECALLBACK. */
NsStatus ns_mechanical_divide(NsMechanicalDs *ds, double t, const double *q, int nrhs, double *w, NsError *err);

/*
** Fills ds->forces with F and ds->acceleration with M^-1 F of the accepted state. NS_ESINGULAR, NS_ENOMEM,
** NS_ECALLBACK.
*/
NsStatus ns_mechanical_accelerate(NsMechanicalDs *ds, double t, NsError *err);

#endif
