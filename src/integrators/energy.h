/*
** energy.h
** The energy balance of mechanical systems in a step.
*/
#pragma once

#include "model/mechanical_ds.h"

/*
** The energy that each cause has added since the account was begun (joule in SI units). Their sum is the change of the energy.
*/
typedef struct NsEnergyAccount {
  double forces;    /* work of forces without a potential, and of a varying inertia */
  double damping;   /* work of -C v, and of viscous laws */
  double impacts;   /* work of normal impulses, and of the multipliers of other laws */
  double friction;  /* work of tangential impulses, and of relays */
  double boundary;  /* work of the impulses of prescribed velocities */
  double numerical; /* the numerical error of the scheme; 0 for theta = 1/2 in linear models */
} NsEnergyAccount;

/* A step of one system by the theta scheme, from q_k, v_k at t_k to q, v at t = t_k + h, with the impulse p. */
typedef struct NsEnergyStep {
  double t_k, t, h, theta;
  const double *q_k, *v_k, *q, *v, *p;
  const double *held;            /* nv: impulses of prescribed velocities; NULL: none */
  const double *acting;          /* the coordinates of the forces at t_{k+1}; NULL: q */
  double *M;                     /* workspace for a mass matrix that varies, else NULL */
  double *impulse, *mean, *room; /* nv each: workspace */
} NsEnergyStep;

/*
** Adds the works of one system's forces over the step. Their impulse is I = M (v - v_k) - p, and their work is I' v_theta with
** v_theta = theta v + (1 - theta) v_k. `damping` gets the work of -C v, `forces` the rest without the work of a potential. I
** changes the kinetic energy by I' (v + v_k) / 2; `numerical` gets the difference from I' v_theta, and the same for K.
** NS_ECALLBACK.
*/
NsStatus ns_energy_add(NsMechanicalDs *ds, const NsEnergyStep *step, NsEnergyAccount *account, NsError *err);

/*
** The energies of a system in the middle of the last step of a two-step scheme. Kinetic: w' M w / 2 with w = (q - q_k) / h, the
** mean over M(q) and M(q_k). Potential: the mean over q and q_k. When the state does not come from a step: the energies of the
** state. NS_ECALLBACK.
*/
NsStatus ns_energy_staggered(NsMechanicalDs *ds, double t, double *kinetic, double *potential, NsError *err);

/*
** A step of a two-step scheme for a Lagrangian system about t_k: M (q+ - 2 q_k + q-) = h^2 F + h p. The first step has no q-: M
** (q+ - q_k - h v_k) = h^2/2 F + h/2 p. Coefficients are taken at t_k.
*/
typedef struct NsEnergyTwoSteps {
  double t, h;
  const double *q_m; /* NULL: the first step */
  const double *q_k, *v_k, *q, *p;
  const double *middle, *v;      /* where F was evaluated */
  const double *M;               /* the mass matrix at q_k when it varies, else NULL */
  double *impulse, *mean, *room; /* n each: workspace */
} NsEnergyTwoSteps;

/*
** Adds the works of the step to the account; they balance ns_energy_staggered. Works use the mean velocity (q+ - q-) / 2h, as
** its product with M (w+ - w-) is exactly the change of the kinetic energy. The work of p goes into `impacts`. NS_ECALLBACK.
*/
NsStatus ns_energy_add_two_steps(NsMechanicalDs *ds, const NsEnergyTwoSteps *step, NsEnergyAccount *account, NsError *err);
