/*
** energy.h
** Where the energy of mechanical systems goes in a step.
*/
#ifndef NS_INTEGRATORS_ENERGY_H
#define NS_INTEGRATORS_ENERGY_H

#include "model/mechanical_ds.h"

/* What the energy went into since the account was begun; joule in SI units. The sum is the change of the energy. */
typedef struct NsEnergyAccount {
  double forces;    /* work of the forces that have no potential here, and of a varying inertia */
  double damping;   /* work of -C v */
  double impacts;   /* work of normal impulses and of the multipliers of other laws */
  double friction;  /* work of tangential impulses */
  double boundary;  /* work of the impulses that give the prescribed velocities */
  double numerical; /* what the scheme adds or takes: 0 for theta = 1/2 in linear models */
} NsEnergyAccount;

/* A step of one system under the theta scheme, from q_k, v_k at t_k to q, v at t_k + h, with the impulse p. */
typedef struct NsEnergyStep {
  double t_k, t, h, theta;
  const double *q_k, *v_k, *q, *v, *p;
  const double *held;            /* nv: impulses of prescribed velocities; NULL: none */
  const double *acting;          /* the coordinates that the forces of t_{k+1} were taken at; NULL: q */
  double *M;                     /* room for the mass matrix when it varies, else NULL */
  double *impulse, *mean, *room; /* nv each: rewritten */
} NsEnergyStep;

/*
** Adds the works of one system's forces over the step: M (v - v_k) - p is the impulse of all of them, its product with
** the theta-mean of the velocities their work; that of -C v, -K q and of what else has a potential is taken out of it.
** The product with the mean of the velocities is what the kinetic energy changes by: the difference, and that of the
** same kind for K, is the scheme's. NS_ECALLBACK.
*/
NsStatus ns_energy_add(NsMechanicalDs *ds, const NsEnergyStep *step, NsEnergyAccount *account, NsError *err);

/*
** The energies of a system that a two-step scheme left, those of the middle of its last step: w' M w / 2 with w = (q -
** q_k) / h, the mean of those with M(q) and M(q_k), and the mean of the potential energies at q and q_k. Those of the
** state when no step left it. NS_ECALLBACK.
*/
NsStatus ns_energy_staggered(NsMechanicalDs *ds, double t, double *kinetic, double *potential, NsError *err);

/*
** A step of a two-step scheme for a Lagrangian system, M (q+ - 2 q_k + q-) = h^2 F + h p about t_k; the first one, without
** q-, M (q+ - q_k - h v_k) = h^2/2 F + h/2 p. Coefficients are those of t_k.
*/
typedef struct NsEnergyTwoSteps {
  double t, h;
  const double *q_m; /* NULL: the first step */
  const double *q_k, *v_k, *q, *p;
  const double *middle, *v;      /* where F was taken */
  const double *M;               /* the mass at q_k when it varies, else NULL */
  double *impulse, *mean, *room; /* n each: rewritten */
} NsEnergyTwoSteps;

/*
** Adds what the step did to the staggered energies: the works are those over the mean of the two velocities, (q+ - q-) /
** 2h, whose product with M (w+ - w-) is the change of the kinetic energy exactly; that of p is of impacts. NS_ECALLBACK.
*/
NsStatus ns_energy_add_two_steps(NsMechanicalDs *ds, const NsEnergyTwoSteps *step, NsEnergyAccount *account, NsError *err);

#endif
