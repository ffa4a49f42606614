/*
** first_order_ds.c
** First-order dynamical systems: storage and evaluation.
*/
#include "model/first_order_ds.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/sparse_lu.h"

static size_t first_order_bytes_of(int n) {
  return (size_t)n * sizeof(double);
}

static const char *first_order_name_of(const NsFirstOrderDs *ds) {
  return ns_ds_name(&ds->base);
}

static NsStatus first_order_update(NsDs *base, double t, NsError *err) {
  NsFirstOrderDs *ds = (NsFirstOrderDs *)base;
  NsCoef *coefs[] = {&ds->M, &ds->A, &ds->b, &ds->jacobian_f};
  static const char *const letters[] = {"M", "A", "b", "jacobianfx"};
  for (size_t i = 0; i < sizeof coefs / sizeof *coefs; i++) {
    if (ns_coef_settled(coefs[i])) continue;
    NsStatus status = ns_coef_update(coefs[i], (NsCoefName){"dynamical system", first_order_name_of(ds), letters[i]}, t,
                                     base->z, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

NsStatus ns_first_order_new(NsFirstOrderDs **out, int n, const double *x0) {
  *out = NULL;
  NsFirstOrderDs *ds = ns_alloc(1, sizeof *ds);
  if (!ds) return NS_ENOMEM;
  ds->base = (NsDs){.family = NS_FIRST_ORDER, .n = n, .nx = n, .nr = n, .update = first_order_update};
  ds->rhs = ns_arena_doubles(&ds->base.arena, n);
  if (ns_ds_start(&ds->base, x0) != NS_OK) {
    ns_first_order_free(ds);
    return NS_ENOMEM;
  }
  *out = ds;
  return NS_OK;
}

void ns_first_order_free(NsFirstOrderDs *ds) {
  if (!ds) return;
  ns_coef_clear(&ds->M);
  ns_coef_clear(&ds->A);
  ns_coef_clear(&ds->b);
  ns_coef_clear(&ds->jacobian_f);
  ns_lu_free(ds->lu_M);
  ns_arena_release(&ds->base.arena);
  ns_free(ds);
}

bool ns_first_order_linear(const NsFirstOrderDs *ds) {
  return ds->f.value == NULL;
}

uint64_t ns_first_order_matrix_version(const NsFirstOrderDs *ds) {
  return ds->M.version + ds->A.version + ds->jacobian_f.version;
}

NsStatus ns_first_order_f(const NsFirstOrderDs *ds, double t, const double *x, double *out, NsError *err) {
  if (ds->b.value && !ds->f.value) memcpy(out, ds->b.value, first_order_bytes_of(ds->base.n));
  else memset(out, 0, first_order_bytes_of(ds->base.n));
  if (ds->f.value) {
    const double *args[NS_FUNCTION_ARGS] = {x, NULL, ds->base.z};
    if (ds->f.value(ds->f.context, t, args, out) != 0)
      return ns_fail(err, NS_ECALLBACK, "dynamical system '%s': f failed at t=%g", first_order_name_of(ds), t);
    return NS_OK;
  }
  ns_coef_multiply_add(&ds->A, 1, x, out);
  return NS_OK;
}

NsStatus ns_first_order_jacobian(const NsFirstOrderDs *ds, double t, const double *x, double *J, NsError *err) {
  const NsCoef *given = ns_coef_given(&ds->jacobian_f) ? &ds->jacobian_f : ds->f.value ? NULL : &ds->A;
  size_t entries = (size_t)ds->base.n * (size_t)ds->base.n;
  memset(J, 0, entries * sizeof *J);
  if (given) {
    ns_coef_add_to(given, 1, J, ds->base.n);
    return NS_OK;
  }
  const double *args[NS_FUNCTION_ARGS] = {x, NULL, ds->base.z};
  if (!ds->f.jacobian || ds->f.jacobian(ds->f.context, t, args, 0, J) != 0)
    return ns_fail(err, NS_ECALLBACK, "dynamical system '%s': jacobianfx failed at t=%g", first_order_name_of(ds), t);
  return NS_OK;
}

/* rhs = M^-1 rhs for a sparse M. */
static NsStatus solve_sparse_M(NsFirstOrderDs *ds, NsError *err) {
  NsStatus status = ns_sparse_solve_fair(ds->M.sparse, 1, ds->rhs, ds->base.n);
  if (status == NS_OK) return NS_OK;
  return ns_fail(err, status, "dynamical system '%s': the right-hand side needs M^-1: %s", first_order_name_of(ds),
                 ns_status_message(status));
}

NsStatus ns_first_order_rhs(NsFirstOrderDs *ds, double t, NsError *err) {
  NsStatus status = ns_ds_update(&ds->base, t, err);
  if (status == NS_OK) status = ns_first_order_f(ds, t, ds->base.x, ds->rhs, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < ds->base.n; i++) ds->rhs[i] += ds->base.r[i];
  if (ds->M.sparse) return solve_sparse_M(ds, err);
  if (!ds->M.value) return NS_OK;
  if (!ds->lu_M && ns_lu_new(&ds->lu_M, ds->base.n) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  status = ns_lu_factor_fair(ds->lu_M, ds->M.value, ds->base.n);
  if (status != NS_OK)
    return ns_fail(err, status, "dynamical system '%s': the right-hand side needs M^-1, and M is singular (row %d)",
                   first_order_name_of(ds), ns_lu_singular_row(ds->lu_M) + 1);
  ns_lu_solve(ds->lu_M, 1, ds->rhs, ds->base.n);
  return NS_OK;
}
