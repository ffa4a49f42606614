/*
** mechanical_quantity.c
** Evaluates what can be asked of a mechanical system.
*/
#include "model/mechanical_quantity.h"

#include <string.h>

static NsStatus quantity_mass(const NsQuantityPoint *at, double *out, NsError *err) {
  return ns_mechanical_mass(at->ds, at->t, at->q, out, err);
}

static NsStatus quantity_fint(const NsQuantityPoint *at, double *out, NsError *err) {
  return ns_mechanical_internal(at->ds, at->t, at->q, at->v, out, err);
}

static NsStatus quantity_fgyr(const NsQuantityPoint *at, double *out, NsError *err) {
  return ns_mechanical_gyroscopic(at->ds, at->t, at->q, at->v, out, err);
}

static NsStatus quantity_fext(const NsQuantityPoint *at, double *out, NsError *err) {
  (void)err;
  size_t bytes = (size_t)at->ds->nv * sizeof *out;
  if (at->ds->fext.value) memcpy(out, at->ds->fext.value, bytes);
  else memset(out, 0, bytes);
  return NS_OK;
}

static NsStatus quantity_jacobian(const NsQuantityPoint *at, double *out, NsError *err) {
  bool moment = at->which >= NS_QUANTITY_MINT_BY_Q;
  int part = moment ? NS_MINT_BY_Q + (int)(at->which - NS_QUANTITY_MINT_BY_Q)
                    : NS_FINT_BY_Q + (int)(at->which - NS_QUANTITY_FINT_BY_Q);
  return ns_mechanical_force_jacobian(at->ds, part, at->t, at->q, at->v, at->room, out, err);
}

static NsStatus quantity_mext(const NsQuantityPoint *at, double *out, NsError *err) {
  NsCoefName who = {"dynamical system", ns_ds_name(&at->ds->base), "mExt"};
  NsStatus status = NS_OK;
  if (at->ds->mext.value && !at->in_step) status = ns_coef_update(&at->ds->mext, who, at->t, at->ds->base.z, err);
  if (status == NS_OK) ns_mechanical_external_moment(at->ds, out);
  return status;
}

static NsStatus quantity_mint(const NsQuantityPoint *at, double *out, NsError *err) {
  return ns_mechanical_internal_moment(at->ds, at->t, at->q, at->v, out, err);
}

static NsStatus quantity_forces(const NsQuantityPoint *at, double *out, NsError *err) {
  NsStatus status = ns_ds_update(&at->ds->base, at->t, err);
  return status == NS_OK ? ns_mechanical_forces(at->ds, at->t, at->q, at->v, out, err) : status;
}

static NsStatus forces_jacobians(const NsQuantityPoint *at, double *by_q, double *by_v, double *room, NsError *err) {
  NsStatus status = ns_ds_update(&at->ds->base, at->t, err);
  if (status != NS_OK) return status;
  return ns_mechanical_force_jacobians(at->ds, at->t, at->q, at->v, room, by_q, by_v, err);
}

static NsStatus quantity_forces_by_q(const NsQuantityPoint *at, double *out, NsError *err) {
  return forces_jacobians(at, out, at->room, at->room + (ptrdiff_t)at->ds->nv * at->ds->nv, err);
}

static NsStatus quantity_forces_by_v(const NsQuantityPoint *at, double *out, NsError *err) {
  return forces_jacobians(at, at->room, out, at->room + (ptrdiff_t)at->ds->nv * at->ds->nq, err);
}

/* out = (qdot, acceleration) at the state. */
static NsStatus quantity_rhs(const NsQuantityPoint *at, double *out, NsError *err) {
  NsMechanicalDs *ds = at->ds;
  NsStatus status = ns_mechanical_accelerate(ds, at->t, err);
  if (status != NS_OK) return status;
  ns_mechanical_rate(ds, ds->q, ds->v, out);
  memcpy(out + ds->nq, ds->acceleration, (size_t)ds->nv * sizeof *out);
  return NS_OK;
}

/* out = the upper rows (leading dimension n) of the Jacobian of the right-hand side: d(T(q) v), bilinear in q and v. */
static void rate_jacobian(const NsQuantityPoint *at, double *out, double *unit) {
  const NsMechanicalDs *ds = at->ds;
  size_t n = (size_t)ds->base.n;
  double rate[7]; /* size 7: the coordinates of a rigid body */
  for (int j = 0; j < ds->base.n; j++) {
    if (!ns_mechanical_turns(ds)) {
      if (j >= ds->nq) out[(size_t)(j - ds->nq) + (size_t)j * n] = 1;
      continue;
    }
    bool velocity = j >= ds->nq;
    memset(unit, 0, n * sizeof *unit);
    unit[j] = 1;
    ns_mechanical_rate(ds, velocity ? at->q : unit, velocity ? unit + ds->nq : at->v, rate);
    for (int i = velocity ? 0 : 3; i < ds->nq; i++) out[(size_t)i + (size_t)j * n] = rate[i];
  }
}

/*
** out = the Jacobian of (T(q) v, M^-1 F) at the state. Lower rows: M^-1 (dF/dq - d(M a)/dq) and M^-1 dF/dv, where a is the
** acceleration.
*/
static NsStatus quantity_rhs_by_x(const NsQuantityPoint *at, double *out, NsError *err) {
  NsMechanicalDs *ds = at->ds;
  size_t n = (size_t)ds->base.n, nq = (size_t)ds->nq, nv = (size_t)ds->nv;
  double *below = at->room, *by_v = below + nv * nq, *room = by_v + nv * nv;
  NsStatus status = ns_mechanical_accelerate(ds, at->t, err);
  if (status == NS_OK) status = forces_jacobians(at, below, by_v, room, err);
  if (status == NS_OK) status = ns_mechanical_mass_derivative(ds, at->t, at->q, ds->acceleration, -1, room, below, err);
  if (status == NS_OK) status = ns_mechanical_divide(ds, at->t, at->q, (int)n, below, err);
  if (status != NS_OK) return status;
  memset(out, 0, n * n * sizeof *out);
  rate_jacobian(at, out, room);
  for (size_t j = 0; j < n; j++) memcpy(out + nq + j * n, below + j * nv, nv * sizeof *out);
  return NS_OK;
}

const NsQuantityClass ns_quantities[NS_QUANTITIES] = {
    [NS_QUANTITY_MASS] = {"mass", "computeMass", "x", 'm', 'm', "mass", quantity_mass},
    [NS_QUANTITY_FINT] = {"fInt", "computeFInt", "txl", 'm', '1', "fInt", quantity_fint},
    [NS_QUANTITY_FGYR] = {"fGyr", "computeFGyr", "xl", 'm', '1', "fGyr", quantity_fgyr},
    [NS_QUANTITY_FEXT] = {"fExt", "computeFExt", "t", 'm', '1', "fExt", quantity_fext},
    [NS_QUANTITY_FINT_BY_Q] = {"jacobianFIntq", "computeJacobianFIntq", "txl", 'm', 'n', "jacobianFIntq", quantity_jacobian},
    [NS_QUANTITY_FINT_BY_V] = {"jacobianFIntqDot", "computeJacobianFIntqDot", "txl", 'm', 'm', "jacobianFIntqDot",
                               quantity_jacobian},
    [NS_QUANTITY_FGYR_BY_Q] = {"jacobianFGyrq", "computeJacobianFGyrq", "xl", 'm', 'n', "jacobianFGyrq", quantity_jacobian},
    [NS_QUANTITY_FGYR_BY_V] = {"jacobianFGyrqDot", "computeJacobianFGyrqDot", "xl", 'm', 'm', "jacobianFGyrqDot",
                               quantity_jacobian},
    [NS_QUANTITY_MEXT] = {"mExt", "computeMExt", "t", '3', '1', "fExt", quantity_mext},
    [NS_QUANTITY_MINT] = {"mInt", "computeMInt", "txl", '3', '1', NULL, quantity_mint},
    [NS_QUANTITY_MINT_BY_Q] = {"jacobianMIntq", "computeJacobianMIntq", "txl", '3', 'n', NULL, quantity_jacobian},
    [NS_QUANTITY_MINT_BY_V] = {"jacobianMIntv", "computeJacobianMIntv", "txl", '3', 'm', NULL, quantity_jacobian},
    [NS_QUANTITY_FORCES] = {"forces", "computeForces", "txl", 'm', '1', NULL, quantity_forces},
    [NS_QUANTITY_FORCES_BY_Q] = {"jacobianqForces", "computeJacobianqForces", "txl", 'm', 'n', NULL, quantity_forces_by_q},
    [NS_QUANTITY_FORCES_BY_V] = {"jacobianqDotForces", "computeJacobianqDotForces", "txl", 'm', 'm', NULL,
                                 quantity_forces_by_v},
    [NS_QUANTITY_RHS] = {"rhs", "computeRhs", "t", 's', '1', NULL, quantity_rhs},
    [NS_QUANTITY_RHS_BY_X] = {"jacobianRhsx", "computeJacobianRhsx", "t", 's', 's', NULL, quantity_rhs_by_x},
};

int ns_quantity_size(const NsMechanicalDs *ds, char letter) {
  return letter == 'm' ? ds->nv : letter == 'n' ? ds->nq : letter == 's' ? ds->base.n : letter == '3' ? 3 : 1;
}

ptrdiff_t ns_quantity_room(const NsMechanicalDs *ds, NsQuantity which) {
  ptrdiff_t nq = ds->nq, nv = ds->nv;
  if (which >= NS_QUANTITY_FINT_BY_Q && which <= NS_QUANTITY_FGYR_BY_V) return nv * nq;
  if (which == NS_QUANTITY_FORCES_BY_Q || which == NS_QUANTITY_FORCES_BY_V) return nv * (nq + nq + nv);
  if (which != NS_QUANTITY_RHS_BY_X) return 0;
  return nv * (nq + nv) + nv * nq * (ns_mechanical_constant_mass(ds) ? 1 : nv) + ds->base.n;
}

/* Reads a coefficient of the system again, if it has it. */
static NsStatus quantity_update(const NsQuantityPoint *at, const char *name, NsError *err) {
  const NsField *field = name ? ns_field_find(at->ds->base.class->model.fields, name) : NULL;
  NsCoef *coef = field && field->type == NS_FIELD_COEF ? ns_field_place(field, at->ds) : NULL;
  NsCoefName who = {"dynamical system", ns_ds_name(&at->ds->base), name};
  return coef && coef->value && !at->in_step ? ns_coef_update(coef, who, at->t, at->ds->base.z, err) : NS_OK;
}

NsStatus ns_quantity_evaluate(const NsQuantityPoint *at, double *out, NsError *err) {
  NsStatus status = quantity_update(at, ns_quantities[at->which].coef, err);
  return status == NS_OK ? ns_quantities[at->which].evaluate(at, out, err) : status;
}

bool ns_quantity_absent(const NsMechanicalDs *ds, NsQuantity which) {
  bool rigid = ns_mechanical_turns(ds);
  switch (which) {
    case NS_QUANTITY_FINT: return !ds->fint_function.value && !ds->fint.value;
    case NS_QUANTITY_FGYR: return !rigid && !ds->fgyr_function.value && !ds->fgyr.value;
    case NS_QUANTITY_FEXT: return !ds->fext.value;
    case NS_QUANTITY_MEXT: return !rigid || (!ds->fext.value && !ds->mext.value);
    case NS_QUANTITY_MINT:
    case NS_QUANTITY_MINT_BY_Q:
    case NS_QUANTITY_MINT_BY_V: return !ds->mint_function.value;
    case NS_QUANTITY_FINT_BY_Q:
    case NS_QUANTITY_FINT_BY_V:
      return !ds->fint_function.value && !ns_coef_given(&ds->force_jacobian[which - NS_QUANTITY_FINT_BY_Q]);
    case NS_QUANTITY_FGYR_BY_Q:
    case NS_QUANTITY_FGYR_BY_V:
      return !rigid && !ds->fgyr_function.value && !ns_coef_given(&ds->force_jacobian[which - NS_QUANTITY_FINT_BY_Q]);
    default: return false;
  }
}

bool ns_quantity_constant(const NsMechanicalDs *ds, NsQuantity which) {
  bool rigid = ns_mechanical_turns(ds);
  switch (which) {
    case NS_QUANTITY_MASS: return ns_mechanical_constant_mass(ds);
    case NS_QUANTITY_FINT: return !ds->fint_function.value;
    case NS_QUANTITY_FGYR: return !rigid && !ds->fgyr_function.value;
    case NS_QUANTITY_FEXT: return !ns_coef_varies(&ds->fext);
    case NS_QUANTITY_MEXT: return !ns_mechanical_driven(ds);
    case NS_QUANTITY_FINT_BY_Q:
    case NS_QUANTITY_FINT_BY_V:
    case NS_QUANTITY_FGYR_BY_Q:
    case NS_QUANTITY_FGYR_BY_V: return !rigid && ns_coef_given(&ds->force_jacobian[which - NS_QUANTITY_FINT_BY_Q]);
    default: return false;
  }
}

/* Reads a constant mass again when its source has changed. */
static NsStatus quantity_constant_mass(const NsQuantityPoint *at, NsError *err) {
  NsCoefName who = {"dynamical system", ns_ds_name(&at->ds->base), "mass"};
  return at->ds->mass.value ? ns_coef_update(&at->ds->mass, who, 0, NULL, err) : NS_OK;
}

NsStatus ns_quantity_kinetic(const NsQuantityPoint *at, double *out, NsError *err) {
  NsStatus status = quantity_constant_mass(at, err);
  return status == NS_OK ? ns_mechanical_kinetic_at(at->ds, 0, at->q, at->v, out, err) : status;
}

NsStatus ns_quantity_potential(const NsQuantityPoint *at, double *out, NsError *err) {
  return ns_mechanical_potential(at->ds, at->t, out, err);
}

NsStatus ns_quantity_divide(const NsQuantityPoint *at, double *out, NsError *err) {
  NsStatus status = quantity_constant_mass(at, err);
  return status == NS_OK ? ns_mechanical_divide(at->ds, 0, at->q, 1, out, err) : status;
}
