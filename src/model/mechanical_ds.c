/*
** mechanical_ds.c
** Mechanical systems: storage and evaluation.
*/
#include "model/mechanical_ds.h"

#include <math.h>
#include <string.h>

#include "contact/space.h"
#include "ad/direct.h"
#include "base/memory.h"
#include "linalg/sparse_lu.h"

static size_t mechanics_bytes_of(int n) {
  return (size_t)n * sizeof(double);
}

static const char *mechanics_name_of(const NsMechanicalDs *ds) {
  return ns_ds_name(&ds->base);
}

static void mechanics_normalise(double *e) {
  double norm = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
  for (int i = 0; i < 4; i++) e[i] /= norm;
}

bool ns_quaternion_fit(double *e) {
  double largest = fmax(fmax(fabs(e[0]), fabs(e[1])), fmax(fabs(e[2]), fabs(e[3])));
  if (!(largest > 0)) return false;
  int exponent;
  (void)frexp(largest, &exponent);
  for (int i = 0; i < 4; i++) e[i] = ldexp(e[i], -exponent); /* no square becomes too large or too small */
  mechanics_normalise(e);
  return true;
}

bool ns_is_inertia(const double J[9]) {
  double scale = fabs(J[0]) + fabs(J[4]) + fabs(J[8]);
  if (fabs(J[1] - J[3]) + fabs(J[2] - J[6]) + fabs(J[5] - J[7]) > 1e-12 * scale) return false;
  double minor = J[0] * J[4] - J[1] * J[3];
  double determinant = J[2] * (J[3] * J[7] - J[4] * J[6]) - J[5] * (J[0] * J[7] - J[1] * J[6]) + J[8] * minor;
  return J[0] > 0 && minor > 0 && determinant > 0; /* the leading minors */
}

void ns_rigid_mass(double mass, const double J[9], double M[36]) {
  memset(M, 0, 36 * sizeof *M);
  for (int i = 0; i < 3; i++) {
    M[i + 6 * i] = mass;
    for (int j = 0; j < 3; j++) M[3 + i + 6 * (3 + j)] = J[i + 3 * j];
  }
}

NsStatus ns_mechanical_update(NsDs *ds, double t, NsError *err) {
  return ns_boundary_update(((NsMechanicalDs *)ds)->boundary, ns_ds_name(ds), t, err);
}

NsStatus ns_mechanical_new(NsMechanicalDs **out, const NsDsClass *class, int nq, int nv, const double *q0, const double *v0) {
  *out = NULL;
  NsMechanicalDs *ds = ns_alloc(1, sizeof *ds);
  if (!ds) return NS_ENOMEM;
  ds->base = (NsDs){.class = class, .n = nq + nv, .nx = nq, .nr = nv};
  ds->nq = nq;
  ds->nv = nv;
  double *x0 = ns_arena_doubles(&ds->base.arena, nq + nv);
  NS_ARENA_VECTORS(&ds->base.arena, nq + nv, &ds->base.x_before, &ds->base.x_left, &ds->base.x_earlier);
  NS_ARENA_VECTORS(&ds->base.arena, nv, &ds->acceleration, &ds->forces, &ds->pace, &ds->room, &ds->base.reaction);
  if (x0) {
    memcpy(x0, q0, mechanics_bytes_of(nq));
    memcpy(x0 + nq, v0, mechanics_bytes_of(nv));
    if (class->turns) mechanics_normalise(x0 + 3);
  }
  if (!x0 || ns_ds_start(&ds->base, x0) != NS_OK) {
    ns_ds_free(&ds->base);
    return NS_ENOMEM;
  }
  ds->q = ds->base.x;
  ds->v = ds->base.x + nq;
  ds->q_k = ds->base.x_k;
  ds->v_k = ds->base.x_k + nq;
  ds->v0 = ds->base.x0 + nq;
  *out = ds;
  return NS_OK;
}

NsStatus ns_mechanical_like(NsDs **ds, const NsDs *other) {
  const NsMechanicalDs *like = (const NsMechanicalDs *)other;
  NsMechanicalDs *made;
  NsStatus status = ns_mechanical_new(&made, other->class, like->nq, like->nv, other->x0, other->x0 + like->nq);
  if (status == NS_OK) *ds = &made->base;
  return status;
}

void ns_mechanical_destroy(NsDs *base) {
  NsMechanicalDs *ds = (NsMechanicalDs *)base;
  ns_boundary_free(ds->boundary);
  ns_lu_free(ds->lu);
  ns_arena_release(&base->arena);
  ns_free(ds);
}

void ns_mechanical_set_boundary(NsMechanicalDs *ds, NsBoundary *boundary) {
  ns_boundary_keep(boundary);
  ns_boundary_free(ds->boundary);
  ds->boundary = boundary;
  ds->base.nreaction = boundary ? boundary->n : 0;
  memset(ds->base.reaction, 0, mechanics_bytes_of(ds->nv));
}

NsStatus ns_mechanical_unbound(NsDs *const *systems, int count, const char *who, NsError *err) {
  for (int i = 0; i < count; i++)
    if (ns_ds_family(systems[i]) == NS_MECHANICS && ((const NsMechanicalDs *)systems[i])->boundary)
      return ns_fail(err, NS_EARG,
                     "%s: dynamical system '%s' has boundary conditions; TimeStepping with a MoreauJeanOSI takes them", who,
                     ns_ds_name(systems[i]));
  return NS_OK;
}

bool ns_mechanical_linear(const NsMechanicalDs *ds) {
  return !ns_mechanical_turns(ds) && !ds->mass_function.value && !ds->fint_function.value && !ds->fgyr_function.value;
}

bool ns_mechanical_driven(const NsMechanicalDs *ds) {
  return ns_coef_varies(&ds->fext) || ns_coef_varies(&ds->mext);
}

bool ns_mechanical_constant_mass(const NsMechanicalDs *ds) {
  return !ds->mass_function.value;
}

bool ns_mechanical_constant_forces(const NsMechanicalDs *ds) {
  bool forces = ds->fint_function.value || ds->fgyr_function.value || ds->mint_function.value || ds->mass_function.value;
  forces = forces || ns_coef_given(&ds->K) || ns_coef_given(&ds->C) || ds->mass.sparse;
  for (int i = 0; i < NS_FORCE_JACOBIANS; i++) forces = forces || ns_coef_given(&ds->force_jacobian[i]);
  return !forces && !ds->moment_inertial;
}

bool ns_mechanical_round(const NsMechanicalDs *ds) {
  const double *M = ds->mass.value;
  for (int j = 3; M && j < ds->nv && ns_mechanical_turns(ds); j++) {
    for (int i = 0; i < ds->nv; i++)
      if (i != j && (M[i + 6 * j] != 0 || M[j + 6 * i] != 0)) return false;
    if (M[j + 6 * j] != M[3 + 6 * 3]) return false;
  }
  return true;
}

bool ns_mechanical_sparse(const NsMechanicalDs *ds) {
  return ds->mass.sparse || ds->K.sparse || ds->C.sparse;
}

uint64_t ns_mechanical_matrix_version(const NsMechanicalDs *ds) {
  return ds->mass.version + ds->K.version + ds->C.version;
}

static NsStatus mechanics_failed(const NsMechanicalDs *ds, NsStatus status, const char *what, double t, NsError *err) {
  return ns_fail(err, status, "dynamical system '%s': %s failed at t=%g", mechanics_name_of(ds), what, t);
}

static NsStatus mechanics_evaluate(const NsMechanicalDs *ds, const NsFunction *f, const char *what, double t, const double *q,
                                   const double *v, double *out, NsError *err) {
  const double *args[NS_FUNCTION_ARGS] = {q, v, ds->base.z};
  NsStatus status = ns_callback_status(ns_function_value(f, t, args, out));
  return status == NS_OK ? NS_OK : mechanics_failed(ds, status, what, t, err);
}

/* ---- mass ---- */

NsStatus ns_mechanical_mass(const NsMechanicalDs *ds, double t, const double *q, double *M, NsError *err) {
  size_t n = (size_t)ds->nv;
  memset(M, 0, n * n * sizeof *M);
  if (ds->mass_function.value) return mechanics_evaluate(ds, &ds->mass_function, "computeMass", t, q, NULL, M, err);
  ns_coef_add_to(&ds->mass, 1, M, ds->nv);
  for (size_t i = 0; !ns_coef_given(&ds->mass) && i < n; i++) M[i + i * n] = 1;
  return NS_OK;
}

void ns_mechanical_mass_times(const NsMechanicalDs *ds, const double *M, const double *w, double *out) {
  int n = ds->nv;
  if (!M && !ns_coef_given(&ds->mass)) {
    memcpy(out, w, mechanics_bytes_of(n));
    return;
  }
  memset(out, 0, mechanics_bytes_of(n));
  if (!M) {
    ns_coef_multiply_add(&ds->mass, 1, w, out);
    return;
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; w[j] != 0 && i < n; i++) out[i] += M[i + (size_t)j * (size_t)n] * w[j];
}

NsStatus ns_mechanical_mass_derivative(const NsMechanicalDs *ds, double t, const double *q, const double *w, double factor,
                                       double *room, double *D, NsError *err) {
  const NsFunction *f = &ds->mass_function;
  size_t n = (size_t)ds->nv, nq = (size_t)ds->nq;
  if (!f->value || !f->jacobian) return NS_OK;
  const double *args[NS_FUNCTION_ARGS] = {q, NULL, ds->base.z};
  memset(room, 0, n * n * nq * sizeof *room);
  NsStatus status = ns_callback_status(f->jacobian(f->context, t, args, 0, room));
  if (status != NS_OK) return mechanics_failed(ds, status, "the derivative of computeMass", t, err);
  for (size_t k = 0; k < nq; k++)
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) D[i + k * n] += factor * room[i + j * n + k * n * n] * w[j];
  return NS_OK;
}

/* ---- rigid bodies ---- */

/* The product of quaternions. */
static void quaternion_times(const double *a, const double *b, double *out) {
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* out = R(e)' a: from the inertial into the body's frame. */
static void to_body(const double *e, const double *a, double *out) {
  double conjugate[4] = {e[0], -e[1], -e[2], -e[3]}, pure[4] = {0, a[0], a[1], a[2]}, half[4], all[4];
  quaternion_times(conjugate, pure, half);
  quaternion_times(half, e, all);
  memcpy(out, all + 1, 3 * sizeof *out);
}

/* The inertia times omega. */
static void spin(const NsMechanicalDs *ds, const double *omega, double *out) {
  double v[6] = {0, 0, 0, omega[0], omega[1], omega[2]}, Mv[6];
  ns_mechanical_mass_times(ds, NULL, v, Mv);
  memcpy(out, Mv + 3, 3 * sizeof *out);
}

static void add_gyroscopic(const NsMechanicalDs *ds, const double *v, double *F) {
  double momentum[3], moment[3];
  spin(ds, v + 3, momentum);
  ns_cross3(v + 3, momentum, moment);
  for (int i = 0; i < 3; i++) F[3 + i] += moment[i];
}

/* by_v -= d(omega x I omega)/d omega, column by column: e_j x I omega + omega x I e_j. */
static void subtract_gyroscopic_jacobian(const NsMechanicalDs *ds, const double *v, double *by_v) {
  double momentum[3];
  spin(ds, v + 3, momentum);
  for (int j = 0; j < 3; j++) {
    double unit[3] = {j == 0, j == 1, j == 2}, moved[3], first[3], second[3];
    spin(ds, unit, moved);
    ns_cross3(unit, momentum, first);
    ns_cross3(v + 3, moved, second);
    for (int i = 0; i < 3; i++) by_v[3 + i + (3 + j) * 6] -= first[i] + second[i];
  }
}

void ns_mechanical_external_moment(const NsMechanicalDs *ds, double *out) {
  for (int i = 0; i < 3; i++) out[i] = (ds->fext.value ? ds->fext.value[3 + i] : 0) + (ds->mext.value ? ds->mext.value[i] : 0);
}

/* F += the external forces; a rigid body's moment is turned into the body's frame. */
static void add_external(const NsMechanicalDs *ds, const double *q, double *F) {
  bool rigid = ns_mechanical_turns(ds);
  int forces = rigid ? 3 : ds->nv;
  for (int i = 0; ds->fext.value && i < forces; i++) F[i] += ds->fext.value[i];
  if (!rigid) return;
  double moment[3];
  ns_mechanical_external_moment(ds, moment);
  if (ds->moment_inertial) to_body(q + 3, moment, moment);
  for (int i = 0; i < 3; i++) F[3 + i] += moment[i];
}

/* by_q += the derivative of R(e)' m by the quaternion e, for the moment m given in the inertial frame. */
static void add_external_jacobian(const NsMechanicalDs *ds, const double *q, double *by_q) {
  if (!ds->moment_inertial) return;
  const double *e = q + 3;
  double m[3];
  ns_mechanical_external_moment(ds, m);
  double conjugate[4] = {e[0], -e[1], -e[2], -e[3]}, pure[4] = {0, m[0], m[1], m[2]}, left[4], right[4];
  quaternion_times(conjugate, pure, left);
  quaternion_times(pure, e, right);
  for (int j = 0; j < 4; j++) {
    double unit[4] = {j == 0, j == 1, j == 2, j == 3}, first[4], second[4];
    quaternion_times(left, unit, first);
    for (int i = 1; i < 4; i++) unit[i] = -unit[i];
    quaternion_times(unit, right, second);
    for (int i = 0; i < 3; i++) by_q[3 + i + (3 + j) * 6] += first[1 + i] + second[1 + i];
  }
}

/* ---- forces ---- */

/* out = the value of a callback (0 if absent) + a constant (0 if absent). */
static NsStatus force(const NsMechanicalDs *ds, const NsFunction *f, const NsCoef *constant, const char *what, double t,
                      const double *q, const double *v, double *out, NsError *err) {
  NsStatus status = NS_OK;
  memset(out, 0, mechanics_bytes_of(ds->nv));
  if (f->value) status = mechanics_evaluate(ds, f, what, t, q, v, out, err);
  if (constant->value)
    for (int i = 0; i < ds->nv; i++) out[i] += constant->value[i];
  return status;
}

NsStatus ns_mechanical_internal(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                NsError *err) {
  return force(ds, &ds->fint_function, &ds->fint, "computeFInt", t, q, v, out, err);
}

NsStatus ns_mechanical_gyroscopic(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                  NsError *err) {
  NsStatus status = force(ds, &ds->fgyr_function, &ds->fgyr, "computeFGyr", t, q, v, out, err);
  if (ns_mechanical_turns(ds)) add_gyroscopic(ds, v, out);
  return status;
}

NsStatus ns_mechanical_internal_moment(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *out,
                                       NsError *err) {
  memset(out, 0, mechanics_bytes_of(3));
  return ds->mint_function.value ? mechanics_evaluate(ds, &ds->mint_function, "computeMInt", t, q, v, out, err) : NS_OK;
}

/* F, with the gyroscopic moment of a rigid body if it is one that is `spinning`. */
static NsStatus sum_forces(const NsMechanicalDs *ds, bool spinning, double t, const double *q, const double *v, double *F,
                           NsError *err) {
  int n = ds->nv;
  NsStatus status = ns_mechanical_internal(ds, t, q, v, F, err);
  if (status == NS_OK && (ds->fgyr_function.value || ds->fgyr.value || spinning)) {
    status = ns_mechanical_gyroscopic(ds, t, q, v, ds->room, err);
    for (int i = 0; i < n; i++) F[i] += ds->room[i];
  }
  if (status == NS_OK && ds->mint_function.value) {
    status = ns_mechanical_internal_moment(ds, t, q, v, ds->room, err);
    for (int i = 0; i < 3; i++) F[3 + i] += ds->room[i];
  }
  if (status != NS_OK) return status;
  ns_coef_multiply_add(&ds->K, 1, q, F);
  ns_coef_multiply_add(&ds->C, 1, v, F);
  for (int i = 0; i < n; i++) F[i] = -F[i];
  add_external(ds, q, F);
  return NS_OK;
}

NsStatus ns_mechanical_forces(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *F, NsError *err) {
  return sum_forces(ds, ns_mechanical_turns(ds), t, q, v, F, err);
}

NsStatus ns_mechanical_impressed(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *F,
                                 NsError *err) {
  return sum_forces(ds, false, t, q, v, F, err);
}

/* J -= the Jacobian of a force by argument `by`: the given matrix, else the Jacobian of the callback, else 0. */
static NsStatus subtract_jacobian(const NsMechanicalDs *ds, const NsCoef *given, const NsFunction *f, int by, int cols,
                                  const char *what, double t, const double *const *args, double *room, double *J,
                                  NsError *err) {
  if (ns_coef_given(given)) {
    ns_coef_add_to(given, -1, J, ds->nv);
    return NS_OK;
  }
  size_t entries = (size_t)ds->nv * (size_t)cols;
  if (!f->value || !f->jacobian) return NS_OK;
  memset(room, 0, entries * sizeof *room);
  NsStatus status = ns_callback_status(f->jacobian(f->context, t, args, by, room));
  if (status != NS_OK) return mechanics_failed(ds, status, what, t, err);
  for (size_t i = 0; i < entries; i++) J[i] -= room[i];
  return NS_OK;
}

/* J -= Jacobian number `which` of a callback or a constant. */
static NsStatus subtract_part(const NsMechanicalDs *ds, int which, double t, const double *q, const double *v, double *room,
                              double *J, NsError *err) {
  static const char *const what[NS_FORCE_JACOBIANS] = {"computeJacobianFIntq", "computeJacobianFIntqDot",
                                                       "computeJacobianFGyrq", "computeJacobianFGyrqDot"};
  const double *args[NS_FUNCTION_ARGS] = {q, v, ds->base.z};
  const NsFunction *f = which < NS_FGYR_BY_Q ? &ds->fint_function : &ds->fgyr_function;
  int by = which % 2;
  return subtract_jacobian(ds, &ds->force_jacobian[which], f, by, by ? ds->nv : ds->nq, what[which], t, args, room, J, err);
}

/* J (3 x cols) = the Jacobian of mInt by q (by 0) or v (by 1). */
static NsStatus moment_jacobian(const NsMechanicalDs *ds, int by, double t, const double *q, const double *v, double *J,
                                NsError *err) {
  static const char *const what[] = {"computeJacobianMIntq", "computeJacobianMIntv"};
  const double *args[NS_FUNCTION_ARGS] = {q, v, ds->base.z};
  const NsFunction *f = &ds->mint_function;
  memset(J, 0, 3 * mechanics_bytes_of(by ? ds->nv : ds->nq));
  if (!f->value || !f->jacobian) return NS_OK;
  NsStatus status = ns_callback_status(f->jacobian(f->context, t, args, by, J));
  return status == NS_OK ? NS_OK : mechanics_failed(ds, status, what[by], t, err);
}

/* by_q and by_v -= the Jacobians of mInt, in the rows of the moment. */
static NsStatus subtract_moment(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                double *by_q, double *by_v, NsError *err) {
  for (int by = 0; ds->mint_function.value && by < 2; by++) {
    double *J = by ? by_v : by_q;
    NsStatus status = moment_jacobian(ds, by, t, q, v, room, err);
    if (status != NS_OK) return status;
    for (int j = 0; j < (by ? ds->nv : ds->nq); j++)
      for (int i = 0; i < 3; i++) J[3 + i + 6 * j] -= room[i + 3 * j];
  }
  return NS_OK;
}

NsStatus ns_mechanical_force_jacobian(const NsMechanicalDs *ds, int which, double t, const double *q, const double *v,
                                      double *room, double *J, NsError *err) {
  if (which >= NS_MINT_BY_Q) return moment_jacobian(ds, which - NS_MINT_BY_Q, t, q, v, J, err);
  size_t entries = (size_t)ds->nv * (size_t)(which % 2 ? ds->nv : ds->nq);
  memset(J, 0, entries * sizeof *J);
  NsStatus status = subtract_part(ds, which, t, q, v, room, J, err);
  if (ns_mechanical_turns(ds) && which == NS_FGYR_BY_V) subtract_gyroscopic_jacobian(ds, v, J);
  for (size_t i = 0; i < entries; i++) J[i] = J[i] == 0 ? 0 : -J[i];
  return status;
}

NsStatus ns_mechanical_impressed_jacobians(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                           double *by_q, double *by_v, NsError *err) {
  size_t n = (size_t)ds->nv;
  memset(by_q, 0, n * (size_t)ds->nq * sizeof *by_q);
  memset(by_v, 0, n * n * sizeof *by_v);
  for (int i = 0; i < NS_FORCE_JACOBIANS; i++) {
    NsStatus status = subtract_part(ds, i, t, q, v, room, i % 2 ? by_v : by_q, err);
    if (status != NS_OK) return status;
  }
  ns_coef_add_to(&ds->K, -1, by_q, ds->nv);
  ns_coef_add_to(&ds->C, -1, by_v, ds->nv);
  if (!ns_mechanical_turns(ds)) return NS_OK;
  add_external_jacobian(ds, q, by_q);
  return subtract_moment(ds, t, q, v, room, by_q, by_v, err);
}

NsStatus ns_mechanical_force_jacobians(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                       double *by_q, double *by_v, NsError *err) {
  NsStatus status = ns_mechanical_impressed_jacobians(ds, t, q, v, room, by_q, by_v, err);
  if (status == NS_OK && ns_mechanical_turns(ds)) subtract_gyroscopic_jacobian(ds, v, by_v);
  return status;
}

/* ---- exact derivatives ---- */

/* out (entries) += factor times the exact Jacobian of a callback by an argument. False: it has none. */
static bool add_exact(const NsFunction *f, double t, const double *const *args, int by, double factor, size_t entries,
                      double *room, double *out) {
  if (!f->value || entries == 0) return true;
  if (!f->exact) return false;
  memset(room, 0, entries * sizeof *room);
  if (f->exact(f->context, t, args, by, room) != 0) return false;
  for (size_t i = 0; i < entries; i++) out[i] += factor * room[i];
  return true;
}

/* J (nv x cols) -= the exact Jacobian of mInt by an argument, in the rows of the moment. False: it has none. */
static bool subtract_exact_moment(const NsMechanicalDs *ds, double t, const double *const *args, int by, int cols, double *room,
                                  double *J) {
  const NsFunction *f = &ds->mint_function;
  if (!f->value) return true;
  memset(room, 0, 3 * mechanics_bytes_of(cols));
  if (!f->exact || f->exact(f->context, t, args, by, room) != 0) return false;
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < 3; i++) J[3 + i + ds->nv * j] -= room[i + 3 * j];
  return true;
}

bool ns_mechanical_exact_forces(const NsMechanicalDs *ds, double t, const double *q, const double *v, double *room,
                                double *by_q, double *by_v) {
  size_t n = (size_t)ds->nv, of_q = n * (size_t)ds->nq, of_v = n * n;
  const double *args[NS_FUNCTION_ARGS] = {q, v, ds->base.z};
  const NsFunction *forces[] = {&ds->fint_function, &ds->fgyr_function};
  memset(by_q, 0, of_q * sizeof *by_q);
  memset(by_v, 0, of_v * sizeof *by_v);
  for (int i = 0; i < 2; i++)
    if (!add_exact(forces[i], t, args, 0, -1, of_q, room, by_q) || !add_exact(forces[i], t, args, 1, -1, of_v, room, by_v))
      return false;
  ns_coef_add_to(&ds->K, -1, by_q, ds->nv);
  ns_coef_add_to(&ds->C, -1, by_v, ds->nv);
  if (!ns_mechanical_turns(ds)) return true;
  subtract_gyroscopic_jacobian(ds, v, by_v);
  add_external_jacobian(ds, q, by_q);
  return subtract_exact_moment(ds, t, args, 0, ds->nq, room, by_q) && subtract_exact_moment(ds, t, args, 1, ds->nv, room, by_v);
}

/* out (nv x count) -= the exact Jacobian of M by an argument of `count` numbers, times w. room: nv nv count. False: it has none. */
static bool subtract_exact_mass(const NsMechanicalDs *ds, double t, const double *q, int by, size_t count, const double *w,
                                double *room, double *out) {
  const double *args[NS_FUNCTION_ARGS] = {q, NULL, ds->base.z};
  size_t n = (size_t)ds->nv, entries = n * n * count;
  if (!ds->mass_function.value || entries == 0) return true;
  memset(room, 0, entries * sizeof *room);
  if (!ds->mass_function.exact || ds->mass_function.exact(ds->mass_function.context, t, args, by, room) != 0) return false;
  for (size_t k = 0; k < count; k++)
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) out[i + k * n] -= room[i + j * n + k * n * n] * w[j];
  return true;
}

bool ns_mechanical_exact_mass(const NsMechanicalDs *ds, double t, const double *q, const double *w, double *room, double *D) {
  return subtract_exact_mass(ds, t, q, 0, (size_t)ds->nq, w, room, D);
}

bool ns_mechanical_exact_parameters(const NsMechanicalDs *ds, double t, const double *q, const double *v, const double *w,
                                    double *room, double *by_z) {
  size_t n = (size_t)ds->nv, nz = (size_t)ds->base.nz;
  const double *args[NS_FUNCTION_ARGS] = {q, v, ds->base.z}, *of_force[NS_FUNCTION_ARGS] = {ds->base.z, NULL, NULL};
  memset(by_z, 0, n * nz * sizeof *by_z);
  if (ns_mechanical_turns(ds)) return false;
  if (!add_exact(&ds->fint_function, t, args, 2, -1, n * nz, room, by_z)) return false;
  if (!add_exact(&ds->fgyr_function, t, args, 2, -1, n * nz, room, by_z)) return false;
  if (ns_coef_varies(&ds->fext) && !add_exact(&ds->fext.function, t, of_force, 0, 1, n * nz, room, by_z)) return false;
  return subtract_exact_mass(ds, t, q, 2, nz, w, room, by_z);
}

/* ---- coordinates ---- */

/* The quaternion's rate e * (0, omega) / 2. */
static void quaternion_rate(const double *e, const double *omega, double *out) {
  double pure[4] = {0, omega[0] / 2, omega[1] / 2, omega[2] / 2};
  quaternion_times(e, pure, out);
}

void ns_mechanical_rate(const NsMechanicalDs *ds, const double *q, const double *v, double *qdot) {
  if (!ns_mechanical_turns(ds)) {
    memcpy(qdot, v, mechanics_bytes_of(ds->nv));
    return;
  }
  memcpy(qdot, v, 3 * sizeof *v);
  quaternion_rate(q + 3, v + 3, qdot + 3);
}

void ns_mechanical_to_velocity(const NsMechanicalDs *ds, const double *q, int rows, const double *A, double *out) {
  size_t r = (size_t)rows;
  if (!ns_mechanical_turns(ds)) {
    memcpy(out, A, r * (size_t)ds->nv * sizeof *A);
    return;
  }
  memcpy(out, A, 3 * r * sizeof *A);
  double a = q[3] / 2, b = q[4] / 2, c = q[5] / 2, d = q[6] / 2;
  const double rates[3][4] = {{-b, a, d, -c}, {-c, -d, a, b}, {-d, c, -b, a}}; /* e' for omega = each axis of the body */
  for (size_t j = 0; j < 3; j++)
    for (size_t i = 0; i < r; i++) {
      const double *of = A + i + 3 * r, *rate = rates[j];
      out[i + (3 + j) * r] = of[0] * rate[0] + of[r] * rate[1] + of[2 * r] * rate[2] + of[3 * r] * rate[3];
    }
}

void ns_mechanical_move(const NsMechanicalDs *ds, const double *q, const double *v, double h, double *out) {
  if (!ns_mechanical_turns(ds)) {
    for (int i = 0; i < ds->nq; i++) out[i] = q[i] + h * v[i];
    return;
  }
  for (int i = 0; i < 3; i++) out[i] = q[i] + h * v[i];
  double angle = h * sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) / 2;
  double s = angle < 1e-4 ? 0.5 * h * (1 - angle * angle / 6) : 0.5 * h * sin(angle) / angle;
  double turn[4] = {cos(angle), s * v[3], s * v[4], s * v[5]}, e[4];
  quaternion_times(q + 3, turn, e);
  mechanics_normalise(e);
  memcpy(out + 3, e, sizeof e);
}

/* ---- energies and acceleration ---- */

/* Allocates ds->matrix at the first call. */
static NsStatus mechanics_take_matrix(NsMechanicalDs *ds, NsError *err) {
  if (!ds->matrix) ds->matrix = ns_arena_matrix(&ds->base.arena, ds->nv, ds->nv);
  if (ds->matrix) return NS_OK;
  ds->base.arena.failed = false;
  return ns_fail(err, NS_ENOMEM, "not enough memory");
}

NsStatus ns_mechanical_kinetic_at(NsMechanicalDs *ds, double t, const double *q, const double *v, double *energy,
                                  NsError *err) {
  bool varies = !ns_mechanical_constant_mass(ds);
  NsStatus status = varies ? mechanics_take_matrix(ds, err) : NS_OK;
  if (status == NS_OK && varies) status = ns_mechanical_mass(ds, t, q, ds->matrix, err);
  if (status != NS_OK) return status;
  ns_mechanical_mass_times(ds, varies ? ds->matrix : NULL, v, ds->room);
  *energy = 0.5 * ns_dot_numbers(v, ds->room, ds->nv);
  return NS_OK;
}

NsStatus ns_mechanical_potential_at(NsMechanicalDs *ds, double t, const double *q, double *energy, NsError *err) {
  int n = ns_mechanical_turns(ds) ? 3 : ds->nv;
  memset(ds->room, 0, mechanics_bytes_of(ds->nv));
  ns_coef_multiply_add(&ds->K, 0.5, q, ds->room);
  *energy = ns_dot_numbers(ds->room, q, n);
  if (ds->fext.value && !ns_coef_varies(&ds->fext)) *energy -= ns_dot_numbers(ds->fext.value, q, n);
  if (!ds->potential.value) return NS_OK;
  double more = 0;
  NsStatus status = mechanics_evaluate(ds, &ds->potential, "computePotential", t, q, NULL, &more, err);
  *energy += more;
  return status;
}

NsStatus ns_mechanical_kinetic(NsMechanicalDs *ds, double t, double *energy, NsError *err) {
  NsStatus status = ns_ds_update(&ds->base, t, err);
  return status == NS_OK ? ns_mechanical_kinetic_at(ds, t, ds->q, ds->v, energy, err) : status;
}

NsStatus ns_mechanical_potential(NsMechanicalDs *ds, double t, double *energy, NsError *err) {
  NsStatus status = ns_ds_update(&ds->base, t, err);
  return status == NS_OK ? ns_mechanical_potential_at(ds, t, ds->q, energy, err) : status;
}

/* The rounding of a mass matrix, relative to the diagonal of its row and column. */
static const double mass_rounding = 1e-10;

/* The row, from 1, at which the elimination of A (n x n), whose diagonal was d, finds that it is not positive semidefinite; 0: it is. A is lost. */
static int mass_indefinite_row(int n, double *A, const double *d) {
  for (int k = 0; k < n; k++) {
    double *own = A + k * (ptrdiff_t)n, pivot = own[k];
    if (!(pivot >= -mass_rounding * d[k])) return k + 1;
    bool dependent = pivot <= mass_rounding * d[k]; /* the row follows from those before it */
    for (int j = k + 1; j < n; j++) {
      double a = A[k + j * (ptrdiff_t)n];
      if (dependent && !(fabs(a) <= sqrt(mass_rounding * d[k]) * sqrt(d[j]))) return k + 1;
      for (int i = k + 1; i < n && !dependent && a != 0; i++) A[i + j * (ptrdiff_t)n] -= own[i] / pivot * a;
    }
  }
  return 0;
}

static bool mass_symmetric(int n, const double *M) {
  for (ptrdiff_t i = 0; i < n; i++)
    for (ptrdiff_t j = 0; j < i; j++) {
      double scale = sqrt(fabs(M[i + i * n])) * sqrt(fabs(M[j + j * n]));
      if (!(fabs(M[i + j * n] - M[j + i * n]) <= mass_rounding * scale)) return false;
    }
  return true;
}

/* The first row, from 1, of a sparse matrix with a negative number on its diagonal; 0: none. */
static int mass_negative_row(const NsSparse *S) {
  for (int j = 0; j < S->cols; j++)
    for (int k = S->colptr[j]; k < S->colptr[j + 1]; k++)
      if (S->row[k] == j && S->value[k] < 0) return j + 1;
  return 0;
}

NsStatus ns_mechanical_check_mass(NsDs *base, NsError *err) {
  NsMechanicalDs *ds = (NsMechanicalDs *)base;
  ptrdiff_t n = ds->nv;
  NsError unheard = {NS_OK, ""};
  NsCoefName name = {"dynamical system", mechanics_name_of(ds), "mass"};
  if (!ns_coef_given(&ds->mass) || ns_coef_varies(&ds->mass) || !ns_mechanical_constant_mass(ds)) return NS_OK;
  if (ns_coef_update(&ds->mass, name, 0, NULL, &unheard) != NS_OK) return NS_OK;
  const double *M = ds->mass.value;
  if (M && !mass_symmetric(ds->nv, M)) return NS_OK;
  double *A = M ? ns_alloc((size_t)(n * (n + 1)), sizeof *A) : NULL;
  if (M && !A) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  if (M) memcpy(A, M, (size_t)(n * n) * sizeof *A);
  for (ptrdiff_t k = 0; k < n && M; k++) A[n * n + k] = M[k + k * n];
  int row = M ? mass_indefinite_row(ds->nv, A, A + n * n) : mass_negative_row(ds->mass.sparse);
  ns_free(A);
  if (row == 0) return NS_OK;
  return ns_fail(err, NS_EARG, "%s '%s': the mass matrix is not positive semidefinite (row %d)", name.noun, name.owner, row);
}

/* w (nv x nrhs) = M^-1 w for a sparse mass. */
static NsStatus divide_sparse(const NsMechanicalDs *ds, int nrhs, double *w, NsError *err) {
  NsStatus status = ns_sparse_solve_fair(ds->mass.sparse, nrhs, w, ds->nv);
  if (status == NS_ESINGULAR)
    return ns_fail(err, status, "dynamical system '%s': the mass matrix is singular", mechanics_name_of(ds));
  return status == NS_OK ? NS_OK : ns_fail(err, status, "%s", ns_status_message(status));
}

NsStatus ns_mechanical_divide(NsMechanicalDs *ds, double t, const double *q, int nrhs, double *w, NsError *err) {
  if (ds->mass.sparse && ns_mechanical_constant_mass(ds)) return divide_sparse(ds, nrhs, w, err);
  if (!ns_coef_given(&ds->mass) && ns_mechanical_constant_mass(ds)) return NS_OK;
  NsStatus status = mechanics_take_matrix(ds, err);
  if (status == NS_OK) status = ns_mechanical_mass(ds, t, q, ds->matrix, err);
  if (status != NS_OK) return status;
  if (!ds->lu && ns_lu_new(&ds->lu, ds->nv) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  status = ns_lu_factor_fair(ds->lu, ds->matrix, ds->nv);
  if (status != NS_OK)
    return ns_fail(err, status, "dynamical system '%s': the mass matrix is singular (row %d)", mechanics_name_of(ds),
                   ns_lu_singular_row(ds->lu) + 1);
  ns_lu_solve(ds->lu, nrhs, w, ds->nv);
  return NS_OK;
}

void ns_mechanical_mean_acceleration(NsMechanicalDs *ds, double h) {
  for (int i = 0; i < ds->nv; i++) ds->acceleration[i] = (ds->v[i] - ds->v_k[i]) / h;
}

NsStatus ns_mechanical_accelerate(NsMechanicalDs *ds, double t, NsError *err) {
  NsStatus status = ns_ds_update(&ds->base, t, err);
  if (status == NS_OK) status = ns_mechanical_forces(ds, t, ds->q, ds->v, ds->forces, err);
  if (status != NS_OK) return status;
  memcpy(ds->acceleration, ds->forces, mechanics_bytes_of(ds->nv));
  return ns_mechanical_divide(ds, t, ds->q, 1, ds->acceleration, err);
}
