/*
** first_order_ds.c
** First-order dynamical systems: storage and evaluation.
*/
#include "model/first_order_ds.h"

#include <string.h>

#include "ad/direct.h"
#include "base/memory.h"
#include "linalg/sparse_lu.h"

static size_t first_order_bytes_of(int n) {
  return (size_t)n * sizeof(double);
}

static const char *first_order_name_of(const NsFirstOrderDs *ds) {
  return ns_ds_name(&ds->base);
}

NsStatus ns_first_order_new(NsFirstOrderDs **out, const NsDsClass *class, int n, const double *x0) {
  *out = NULL;
  NsFirstOrderDs *ds = ns_alloc(1, sizeof *ds);
  if (!ds) return NS_ENOMEM;
  ds->base = (NsDs){.class = class, .n = n, .nx = n, .nr = n};
  ds->rhs = ns_arena_doubles(&ds->base.arena, n);
  if (ns_ds_start(&ds->base, x0) != NS_OK) {
    ns_ds_free(&ds->base);
    return NS_ENOMEM;
  }
  *out = ds;
  return NS_OK;
}

static NsStatus first_order_like(NsDs **ds, const NsDs *other) {
  NsFirstOrderDs *made;
  NsStatus status = ns_first_order_new(&made, other->class, other->n, other->x0);
  if (status == NS_OK) *ds = &made->base;
  return status;
}

static void first_order_destroy(NsDs *base) {
  NsFirstOrderDs *ds = (NsFirstOrderDs *)base;
  ns_lu_free(ds->lu_M);
  ns_arena_release(&base->arena);
  ns_free(ds);
}

/* ---- classes ---- */

/* Callbacks: a nonlinear system has f and M, a linear one A, b and M as functions of time, a time-invariant one none. */
enum { GIVEN = NS_FIELD_SETTER | NS_FIELD_SHOWN | NS_FIELD_CONSTANT };

#define M_FIELD NS_FIELD_A_COEF("M", NsFirstOrderDs, M, base.n, base.n, GIVEN)
#define JACOBIAN_FIELD                                                                                                         \
  NS_FIELD_A_COEF("jacobianfx", NsFirstOrderDs, jacobian_f, base.n, base.n,                                                    \
                  NS_FIELD_HIDDEN | NS_FIELD_SETTER | NS_FIELD_CONSTANT)
#define STATE_FIELDS                                                                                                           \
  NS_DS_FIELDS(NS_FIELD_SHOWN),                                                                                                \
      NS_FIELD_A_VECTOR("rhs", NsFirstOrderDs, rhs, base.n, NS_FIELD_LIVE | NS_FIELD_LATE | NS_FIELD_STATE),                   \
      NS_DS_GIVEN_FIELDS

static const NsField nonlinear_fields[] = {M_FIELD, JACOBIAN_FIELD, STATE_FIELDS,
                                           NS_FIELD_A_CALLBACK("f", NsFirstOrderDs, f, NS_FIELD_CONSTANT), NS_FIELD_END};
static const NsField linear_fields[] = {M_FIELD,
                                        NS_FIELD_A_COEF("A", NsFirstOrderDs, A, base.n, base.n, GIVEN),
                                        NS_FIELD_A_COEF_VECTOR("b", NsFirstOrderDs, b, base.n, GIVEN),
                                        JACOBIAN_FIELD,
                                        STATE_FIELDS,
                                        NS_FIELD_END};

static const NsSlot nonlinear_slots[] = {
    {"computef", "f", "xz", "f", 'n', '1', NS_NATIVE_DS_F, NULL, 0},
    {"computeJacobianfx", "jacobianfx", "xz", "J", 'n', 'n', NS_NATIVE_DS_F, "f", 'x'},
    {"computeM", "M", "z", "M", 'n', 'n', NS_NATIVE_TIME, NULL, 0},
};
static const NsSlot linear_slots[] = {
    {"computeM", "M", "z", "M", 'n', 'n', NS_NATIVE_TIME, NULL, 0},
    {"computeA", "A", "z", "A", 'n', 'n', NS_NATIVE_TIME, NULL, 0},
    {"computeb", "b", "z", "b", 'n', '1', NS_NATIVE_TIME, NULL, 0},
};

static const char *const nonlinear_arguments[] = {"x0", "f", "jacobianfx", NULL};
static const char *const linear_arguments[] = {"x0", "A", "b", NULL};

const char ns_ds_nonlinear_text[] = "FirstOrderNonLinearDS";
const char ns_ds_linear_text[] = "FirstOrderLinearDS";
const char ns_ds_linear_ti_text[] = "FirstOrderLinearTIDS";

const NsDsClass ns_ds_nonlinear = {.model = {.name = ns_ds_nonlinear_text,
                                             .noun = NS_DS_NOUN,
                                             .fields = nonlinear_fields,
                                             .slots = nonlinear_slots,
                                             .nslots = 3,
                                             .arguments = nonlinear_arguments,
                                             .instead = "f"},
                                   .family = NS_FIRST_ORDER,
                                   .like = first_order_like,
                                   .destroy = first_order_destroy};

const NsDsClass ns_ds_linear = {.model = {.name = ns_ds_linear_text,
                                          .noun = NS_DS_NOUN,
                                          .fields = linear_fields,
                                          .slots = linear_slots,
                                          .nslots = 3,
                                          .arguments = linear_arguments},
                                .family = NS_FIRST_ORDER,
                                .like = first_order_like,
                                .destroy = first_order_destroy};

const NsDsClass ns_ds_linear_ti = {
    .model = {.name = ns_ds_linear_ti_text, .noun = NS_DS_NOUN, .fields = linear_fields, .arguments = linear_arguments},
    .family = NS_FIRST_ORDER,
    .like = first_order_like,
    .destroy = first_order_destroy};

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
    NsStatus status = ns_callback_status(ns_function_value(&ds->f, t, args, out));
    return status == NS_OK ? NS_OK
                           : ns_fail(err, status, "dynamical system '%s': f failed at t=%g", first_order_name_of(ds), t);
  }
  ns_coef_multiply_add(&ds->A, 1, x, out);
  return NS_OK;
}

NsStatus ns_first_order_jacobian(const NsFirstOrderDs *ds, double t, const double *x, bool exact, double *J, NsError *err) {
  const NsCoef *given = ns_coef_given(&ds->jacobian_f) ? &ds->jacobian_f : ds->f.value ? NULL : &ds->A;
  size_t entries = (size_t)ds->base.n * (size_t)ds->base.n;
  const double *args[NS_FUNCTION_ARGS] = {x, NULL, ds->base.z};
  if (!exact && !given && ns_direct_jacobian(ds->f.direct, t, args, 0, (int)entries, J)) return NS_OK;
  memset(J, 0, entries * sizeof *J);
  if (exact && ns_exact_jacobian(&ds->f, t, args, 0, entries * sizeof *J, J)) return NS_OK;
  if (given) {
    ns_coef_add_to(given, 1, J, ds->base.n);
    return NS_OK;
  }
  NsStatus status = ds->f.jacobian ? ns_callback_status(ds->f.jacobian(ds->f.context, t, args, 0, J)) : NS_ECALLBACK;
  if (status == NS_OK) return NS_OK;
  return ns_fail(err, status, "dynamical system '%s': jacobianfx failed at t=%g", first_order_name_of(ds), t);
}

bool ns_first_order_derives(const NsFirstOrderDs *ds) {
  return ds->f.direct && ds->f.direct->own[0] && !ns_coef_given(&ds->jacobian_f);
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

NsStatus ns_first_order_terms(NsFirstOrderDs *ds, double t, const double *x, double *f, double *M, double *J, NsError *err) {
  int n = ds->base.n;
  NsStatus status = ns_ds_update(&ds->base, t, err);
  if (status == NS_OK) status = ns_first_order_f(ds, t, x, f, err);
  if (status == NS_OK && J) status = ns_first_order_jacobian(ds, t, x, false, J, err);
  if (ns_coef_given(&ds->M)) ns_coef_add_to(&ds->M, 1, M, n);
  for (ptrdiff_t i = 0; i < n && !ns_coef_given(&ds->M); i++) M[i + i * n] = 1;
  return status;
}
