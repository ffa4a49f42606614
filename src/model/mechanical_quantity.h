/*
** mechanical_quantity.h
** What can be asked of a mechanical system at a point: mass, forces and moments, their Jacobians, the right-hand side.
*/
#pragma once

#include "model/mechanical_ds.h"

typedef enum NsQuantity {
  NS_QUANTITY_MASS,
  NS_QUANTITY_FINT,
  NS_QUANTITY_FGYR,
  NS_QUANTITY_FEXT,
  NS_QUANTITY_FINT_BY_Q, /* these four follow the order of NS_FINT_BY_Q ... */
  NS_QUANTITY_FINT_BY_V,
  NS_QUANTITY_FGYR_BY_Q,
  NS_QUANTITY_FGYR_BY_V,
  NS_QUANTITY_MEXT, /* moments of a rigid body; their Jacobians follow the order of NS_MINT_BY_Q ... */
  NS_QUANTITY_MINT,
  NS_QUANTITY_MINT_BY_Q,
  NS_QUANTITY_MINT_BY_V,
  NS_QUANTITY_FORCES,
  NS_QUANTITY_FORCES_BY_Q,
  NS_QUANTITY_FORCES_BY_V,
  NS_QUANTITY_RHS,
  NS_QUANTITY_RHS_BY_X,
  NS_QUANTITIES
} NsQuantity;

/* Where a quantity is evaluated; the right-hand side and its Jacobian are taken at the accepted state. */
typedef struct NsQuantityPoint {
  NsMechanicalDs *ds;
  NsQuantity which;
  double t;
  const double *q, *v;
  double *room; /* ns_quantity_room doubles of workspace */
  bool in_step; /* coefficients stay as the step has read them */
} NsQuantityPoint;

typedef struct NsQuantityClass {
  const char *name,
      *method;      /* name: what shows the quantity; method: what computes it, "computeMass", which may be a callback */
  const char *args; /* arguments of the method: 't' time, 'x' q, 'l' v; q and v may be left out */
  char rows, cols;  /* sizes: 'm' velocities, 'n' coordinates, 's' both, '3' three, '1' a vector */
  const char *coef; /* the coefficient that is brought up to date first; NULL: none */
  NsStatus (*evaluate)(const NsQuantityPoint *at, double *out, NsError *err);
} NsQuantityClass;

extern const NsQuantityClass ns_quantities[NS_QUANTITIES];

/* The size that a letter of `rows` and `cols` stands for. */
int ns_quantity_size(const NsMechanicalDs *ds, char letter);

/* Doubles of workspace for an evaluation. */
ptrdiff_t ns_quantity_room(const NsMechanicalDs *ds, NsQuantity which);

/* out = the quantity. The right-hand side and its Jacobian leave acceleration and forces in the system, too. NS_ECALLBACK, NS_ESINGULAR, NS_ENOMEM. */
NsStatus ns_quantity_evaluate(const NsQuantityPoint *at, double *out, NsError *err);

/* Whether the system has no such quantity: no constant, no callback; whether it depends neither on the time nor on the state. */
bool ns_quantity_absent(const NsMechanicalDs *ds, NsQuantity which);
bool ns_quantity_constant(const NsMechanicalDs *ds, NsQuantity which);

/*
** As `evaluate`, at the accepted state: the kinetic energy, the potential energy (1 each); out (nv) = M^-1 out. A constant mass is read
** again when its source has changed.
*/
NsStatus ns_quantity_kinetic(const NsQuantityPoint *at, double *out, NsError *err);
NsStatus ns_quantity_potential(const NsQuantityPoint *at, double *out, NsError *err);
NsStatus ns_quantity_divide(const NsQuantityPoint *at, double *out, NsError *err);
