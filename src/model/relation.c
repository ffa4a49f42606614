/*
** relation.c
** Sizes and evaluation of relations.
*/
#include "model/relation.h"

#include <math.h>
#include <string.h>

#include "ad/direct.h"
#include "base/memory.h"

/* An entry of Jachq, or a derivative of hDot, belongs to another function than h when they differ by more than this part: far more than rounding. */
static const double OWN_ENTRY = 1e-9;

const NsRelationClass *const ns_relation_classes[] = {
#define X(name) &ns_relation_##name,
    NS_RELATION_LIST(X)
#undef X
};

NsStatus ns_relation_new(NsRelation **out, const NsRelationClass *class) {
  NsRelation *relation = *out = ns_alloc(1, class->bytes ? class->bytes : sizeof *relation);
  if (!relation) return NS_ENOMEM;
  relation->class = class;
  relation->nx = relation->m = relation->np = -1;
  if (class->contact_rows == 0) return NS_OK;
  relation->contact = (NsContact *)(void *)((char *)relation + class->contact);
  relation->contact->rows = class->contact_rows;
  return NS_OK;
}

void ns_relation_free(NsRelation *relation) {
  if (!relation) return;
  for (const NsField *field = relation->class->model.fields; field->type == NS_FIELD_COEF; field++)
    ns_coef_clear(ns_field_place(field, relation));
  ns_free(relation);
}

const char *ns_relation_class_name(const NsRelation *relation) {
  return relation->class->model.name;
}

NsFamily ns_relation_family(const NsRelation *relation) {
  return relation->class->family;
}

bool ns_relation_holds_at_position(const NsRelation *relation) {
  return relation->class->at_position;
}

bool ns_relation_curved(const NsRelation *relation) {
  return relation->class->curved;
}

bool ns_relation_still(const NsRelation *relation) {
  return relation->class->curved && !relation->class->timed;
}

bool ns_relation_pure(const NsRelation *relation) {
  return relation->contact && ns_contact_is_ready(relation->contact);
}

bool ns_relation_has_D(const NsRelation *relation) {
  return relation->class->has_D && (relation->h.value || ns_coef_given(&relation->D));
}

bool ns_relation_has_K(const NsRelation *relation) {
  return relation->class->has_K && (relation->g.value || ns_coef_given(&relation->K));
}

bool ns_relation_linear(const NsRelation *relation) {
  return !relation->h.value && !relation->g.value && !ns_relation_has_K(relation);
}

static const char *relation_name_of(const NsRelation *relation) {
  return relation->name[0] ? relation->name : ns_relation_class_name(relation);
}

static const char *plural(int count) {
  return count == 1 ? "" : "s";
}

static NsStatus relation_fits(const NsRelation *relation, const char *what, const NsCoef *coef, int rows, int cols,
                              const char *whose, NsError *err) {
  if (!ns_coef_given(coef) || (coef->rows == rows && coef->cols == cols)) return NS_OK;
  return ns_fail(err, NS_ESIZE, "relation '%s': %s: expected %d x %d for %d multiplier%s and %d state%s of %s, got %d x %d",
                 relation_name_of(relation), what, rows, cols, relation->m, plural(relation->m), relation->nx,
                 plural(relation->nx), whose, coef->rows, coef->cols);
}

static NsStatus relation_check_sizes(const NsRelation *rel, const char *whose, NsError *err) {
  NsStatus status = NS_OK;
  for (const NsField *field = rel->class->model.fields; field->type == NS_FIELD_COEF && status == NS_OK; field++) {
    int rows = ns_field_rows(field, rel), cols = field->cols ? ns_field_cols(field, rel) : 1;
    status = relation_fits(rel, field->name, ns_field_place(field, rel), rows, cols, whose, err);
  }
  return status;
}

/* NS_ESIZE when the contact does not take nx coordinates and m rows. */
static NsStatus relation_check_contact(const NsRelation *rel, int nx, int m, const char *whose, NsError *err) {
  const char *what;
  if (m != rel->contact->rows)
    return ns_fail(err, NS_ESIZE, "relation '%s': a %s goes with a law of size %d, got %d", relation_name_of(rel),
                   ns_relation_class_name(rel), rel->contact->rows, m);
  if (ns_contact_fits(rel->contact, nx, &what)) return NS_OK;
  return ns_fail(err, NS_ESIZE, "relation '%s': %s: expected %s, got %d of %s", relation_name_of(rel),
                 ns_contact_shape(rel->contact)->name, what, nx, whose);
}

NsStatus ns_relation_complete(const NsRelation *rel, NsError *err) {
  if (!rel->h.value && !ns_coef_given(&rel->C) && !ns_coef_given(&rel->D))
    return ns_fail(err, NS_EARG, "relation '%s': computeh is missing (or set C)", relation_name_of(rel));
  if (ns_relation_family(rel) == NS_FIRST_ORDER && !rel->g.value && !ns_coef_given(&rel->B))
    return ns_fail(err, NS_EARG, "relation '%s': computeg is missing (or set B)", relation_name_of(rel));
  return NS_OK;
}

NsStatus ns_relation_link(NsRelation *rel, int nx, int m, int nz, const char *whose, NsError *err) {
  int old_nx = rel->nx, old_m = rel->m, old_np = rel->np;
  if (old_m >= 0 && (old_nx != nx || old_m != m))
    return ns_fail(err, NS_ESIZE, "relation '%s' is already linked with %d state%s and %d multiplier%s, not %d and %d",
                   relation_name_of(rel), old_nx, plural(old_nx), old_m, plural(old_m), nx, m);
  if (rel->states && rel->states != nx)
    return ns_fail(err, NS_ESIZE, "relation '%s': expected %d state%s, which its callbacks are written for, got %d of %s",
                   relation_name_of(rel), rel->states, plural(rel->states), nx, whose);
  if (ns_relation_complete(rel, err) != NS_OK) return NS_EARG;
  if (rel->contact && relation_check_contact(rel, nx, m, whose, err) != NS_OK) return NS_ESIZE;
  if (rel->contact) rel->contact->nx = nx, rel->contact->last.known = false;
  rel->nx = nx;
  rel->m = m;
  rel->np = nz;
  NsStatus status = relation_check_sizes(rel, whose, err);
  if (status != NS_OK) rel->nx = old_nx, rel->m = old_m, rel->np = old_np;
  return status;
}

/* Updates the coefficients from one on that is not settled. */
static NsStatus relation_update_from(NsRelation *rel, const NsField *field, double t, const double *z, NsError *err) {
  for (; field->type == NS_FIELD_COEF; field++) {
    NsCoef *coef = ns_field_place(field, rel);
    if (ns_coef_settled(coef)) continue;
    NsStatus status = ns_coef_update(coef, (NsCoefName){NS_RELATION_NOUN, relation_name_of(rel), field->name}, t, z, err);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

NsStatus ns_relation_update(NsRelation *rel, double t, const double *z, NsError *err) {
  const NsField *field = rel->class->model.fields;
  if (rel->closed) return ns_fail(err, NS_ECLOSED, "relation '%s' is closed", relation_name_of(rel));
  while (field->type == NS_FIELD_COEF && ns_coef_settled(ns_field_place(field, rel))) field++;
  return field->type == NS_FIELD_COEF ? relation_update_from(rel, field, t, z, err) : NS_OK;
}

uint64_t ns_relation_matrix_version(const NsRelation *rel) {
  return rel->C.version + rel->D.version + rel->B.version + rel->K.version;
}

static NsStatus relation_evaluate(const NsRelation *rel, const NsFunction *f, const char *what, const NsRelationPoint *at,
                                  double *out, NsError *err) {
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  NsStatus status = ns_callback_status(ns_function_value(f, at->t, args, out));
  if (status == NS_OK) return NS_OK;
  const char *why = rel->contact ? ns_contact_shape(rel->contact)->failure : NULL;
  if (why) return ns_fail(err, status, "relation '%s': %s at t=%g", relation_name_of(rel), why, at->t);
  return ns_fail(err, status, "relation '%s': %s failed at t=%g", relation_name_of(rel), what, at->t);
}

NsStatus ns_relation_output(const NsRelation *rel, const NsRelationPoint *at, double *y, NsError *err) {
  size_t bytes = (size_t)rel->m * sizeof *y;
  memset(y, 0, bytes);
  if (rel->h.value) return relation_evaluate(rel, &rel->h, "computeh", at, y, err);
  if (rel->e.value) memcpy(y, rel->e.value, bytes);
  ns_coef_multiply_add(&rel->C, 1, at->x, y);
  ns_coef_multiply_add(&rel->D, 1, at->lambda, y);
  if (at->z) ns_coef_multiply_add(&rel->F, 1, at->z, y);
  return NS_OK;
}

NsStatus ns_relation_input(const NsRelation *rel, const NsRelationPoint *at, double *r, NsError *err) {
  memset(r, 0, (size_t)rel->nx * sizeof *r);
  if (rel->g.value) return relation_evaluate(rel, &rel->g, "computeg", at, r, err);
  ns_coef_multiply_add(&rel->B, 1, at->lambda, r);
  ns_coef_multiply_add(&rel->K, 1, at->x, r);
  return NS_OK;
}

static bool timed(const NsRelation *rel) {
  return rel->class->timed || (rel->contact && !ns_contact_is_ready(rel->contact));
}

/*
** The exact first and second derivative of f along the line (t + s tdot, x + s w); w NULL: x is fixed. False when f has none.
** A contact has none with w: its C is not dh/dx. Its dh/dt is the rate of the gap.
*/
static bool relation_along(const NsRelation *rel, const NsFunction *f, const NsRelationPoint *at, double tdot, const double *w,
                           double *first, double *second) {
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  return !(rel->contact && w) && f->along && f->along(f->context, at->t, args, tdot, w, first, second) == 0;
}

static void relation_add(int m, double factor, const double *from, double *to) {
  for (int i = 0; i < m; i++) to[i] += factor * from[i];
}

/* A relation at a fixed point; only the time varies. */
typedef struct Still {
  const NsRelation *relation;
  const NsRelationPoint *at;
} Still;

static NsStatus output_at(void *context, double t, double *y, NsError *err) {
  const Still *still = context;
  NsRelationPoint there = *still->at;
  there.t = t;
  return ns_relation_output(still->relation, &there, y, err);
}

NsStatus ns_relation_add_rate_of_h(const NsRelation *rel, const NsRelationPoint *at, double *room, double *rate, bool *exact,
                                   NsError *err) {
  *exact = true;
  if (!timed(rel) || !rel->h.value) return NS_OK;
  *exact = relation_along(rel, &rel->h, at, 1, NULL, room, NULL);
  Still still = {rel, at};
  if (!*exact) return ns_difference(output_at, &still, rel->m, at->t, rel->window, room, rate, err);
  relation_add(rel->m, 1, room, rate);
  return NS_OK;
}

NsStatus ns_relation_add_rate(const NsRelation *rel, const NsRelationPoint *at, double *room, double *rate, NsError *err) {
  bool exact;
  if (!rel->hdot.value) return ns_relation_add_rate_of_h(rel, at, room, rate, &exact, err);
  memset(room, 0, (size_t)rel->m * sizeof *room);
  NsStatus status = relation_evaluate(rel, &rel->hdot, "computehDot", at, room, err);
  if (status == NS_OK) relation_add(rel->m, 1, room, rate);
  return status;
}

/* The given coefficient, or the callback's Jacobian, or zero. */
static NsStatus relation_jacobian(const NsRelation *rel, const NsCoef *given, const NsFunction *f, int by, const char *what,
                                  int rows, int cols, const NsRelationPoint *at, double *out, NsError *err) {
  size_t bytes = (size_t)rows * (size_t)cols * sizeof *out;
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  if (!at->exact && !ns_coef_given(given) && ns_direct_jacobian(f->direct, at->t, args, by, rows * cols, out)) return NS_OK;
  memset(out, 0, bytes);
  if (at->exact && ns_exact_jacobian(f, at->t, args, by, bytes, out)) return NS_OK;
  if (ns_coef_given(given)) return ns_coef_add_to(given, 1, out, rows), NS_OK;
  if (!f->value) return NS_OK;
  NsStatus status = f->jacobian ? ns_callback_status(f->jacobian(f->context, at->t, args, by, out)) : NS_ECALLBACK;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "relation '%s': %s failed at t=%g", relation_name_of(rel), what, at->t);
}

NsStatus ns_relation_C(const NsRelation *rel, const NsRelationPoint *at, double *out, NsError *err) {
  return relation_jacobian(rel, &rel->C, &rel->h, NS_BY_X, "computeJachx", rel->m, rel->nx, at, out, err);
}

NsStatus ns_relation_D(const NsRelation *rel, const NsRelationPoint *at, double *out, NsError *err) {
  return relation_jacobian(rel, &rel->D, &rel->h, NS_BY_LAMBDA, "computeJachlambda", rel->m, rel->m, at, out, err);
}

NsStatus ns_relation_B(const NsRelation *rel, const NsRelationPoint *at, double *out, NsError *err) {
  return relation_jacobian(rel, &rel->B, &rel->g, NS_BY_LAMBDA, "computeJacglambda", rel->nx, rel->m, at, out, err);
}

NsStatus ns_relation_K(const NsRelation *rel, const NsRelationPoint *at, double *out, NsError *err) {
  return relation_jacobian(rel, &rel->K, &rel->g, NS_BY_X, "computeJacgx", rel->nx, rel->nx, at, out, err);
}

/* ---- second derivatives along the motion ---- */

size_t ns_relation_bias_room(const NsRelation *rel) {
  return (size_t)rel->nx + (size_t)rel->m * (size_t)rel->nx + 2 * (NS_DIFFERENCE_ROOM + 3) * (size_t)rel->m;
}

/* rate = dh/dt, plus dh/dx qdot unless C is NULL. Workspace: C: m nx; more: NS_DIFFERENCE_ROOM m. */
static NsStatus rate_at(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *C, double *more,
                        double *rate, NsError *err) {
  memset(rate, 0, (size_t)rel->m * sizeof *rate);
  NsStatus status = C ? ns_relation_C(rel, at, C, err) : NS_OK;
  for (int j = 0; C && status == NS_OK && j < rel->nx; j++) relation_add(rel->m, qdot[j], C + (size_t)j * (size_t)rel->m, rate);
  return status == NS_OK ? ns_relation_add_rate(rel, at, more, rate, err) : status;
}

/* The motion x + s qdot through a point; C is NULL when only dh/dt is wanted. x, C and room are workspace. */
typedef struct Motion {
  const NsRelation *relation;
  const NsRelationPoint *at;
  const double *qdot;
  double *x, *C, *room;
} Motion;

static NsStatus rate_along(void *context, double t, double *rate, NsError *err) {
  const Motion *motion = context;
  NsRelationPoint there = *motion->at;
  memcpy(motion->x, there.x, (size_t)motion->relation->nx * sizeof *motion->x);
  relation_add(motion->relation->nx, t - there.t, motion->qdot, motion->x);
  there.t = t;
  there.x = motion->x;
  return rate_at(motion->relation, &there, motion->qdot, motion->C, motion->room, rate, err);
}

/* out += the derivative along the line of dh/dt (plus dh/dx qdot if `whole`), by differences. */
static NsStatus bias_by_differences(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, bool whole,
                                    double *room, double *out, NsError *err) {
  double *C = room + rel->nx, *more = C + (size_t)rel->m * (size_t)rel->nx, *differences = more + NS_DIFFERENCE_ROOM * rel->m;
  Motion motion = {rel, at, qdot, room, whole ? C : NULL, more};
  return ns_difference(rate_along, &motion, rel->m, at->t, rel->window, differences, out, err);
}

/*
** out += the derivative along the line of dh/dt from h alone: with second derivatives S of h along the lines of (x, t), x and t,
** h_xt qdot + h_tt = (S_xt - S_x + S_t) / 2. False: h has none.
*/
static bool add_drift_of_h(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room, double *out) {
  double *first = room, *both = first + rel->m, *fixed = both + rel->m, *held = fixed + rel->m;
  const NsFunction *h = &rel->h;
  if (!relation_along(rel, h, at, 1, qdot, first, both) || !relation_along(rel, h, at, 0, qdot, first, fixed) ||
      !relation_along(rel, h, at, 1, NULL, first, held))
    return false;
  relation_add(rel->m, 0.5, both, out);
  relation_add(rel->m, -0.5, fixed, out);
  relation_add(rel->m, 0.5, held, out);
  return true;
}

/* out += the derivative along the line of dh/dt: of hdot; without hdot, from h; else by differences. */
static NsStatus add_drift(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room, double *out,
                          NsError *err) {
  if (!timed(rel) || (!rel->hdot.value && !rel->h.value)) return NS_OK;
  if (relation_along(rel, &rel->hdot, at, 1, qdot, room, NULL)) return relation_add(rel->m, 1, room, out), NS_OK;
  if (!rel->hdot.value && add_drift_of_h(rel, at, qdot, room, out)) return NS_OK;
  return bias_by_differences(rel, at, qdot, false, room, out, err);
}

static NsStatus bias_by_callback(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room,
                                 double *out, NsError *err) {
  NsRelationPoint with_rate = {at->t, at->x, qdot, at->z, false};
  memset(room, 0, (size_t)rel->m * (size_t)rel->nx * sizeof *room);
  NsStatus status = relation_evaluate(rel, &rel->dotjac, "computeDotJachq", &with_rate, room, err);
  if (status != NS_OK) return status;
  for (int j = 0; j < rel->nx; j++) relation_add(rel->m, qdot[j], room + (size_t)j * (size_t)rel->m, out);
  return add_drift(rel, at, qdot, room, out, err);
}

NsStatus ns_relation_own_rows(const NsRelation *rel, const NsRelationPoint *at, double *room, bool *own, NsError *err) {
  double *w = room, *first = w + rel->nx, *second = first + rel->m, *C = second + rel->m;
  memset(own, 0, (size_t)rel->m * sizeof *own);
  if (!rel->jac.value || rel->dotjac.value || !rel->h.value) return NS_OK;
  NsStatus status = ns_relation_C(rel, at, C, err);
  memset(w, 0, (size_t)rel->nx * sizeof *w);
  for (int j = 0; j < rel->nx && status == NS_OK; j++) {
    w[j] = 1;
    if (!relation_along(rel, &rel->h, at, 0, w, first, second)) return NS_OK;
    w[j] = 0;
    for (int i = 0; i < rel->m; i++, C++)
      if (fabs(*C - first[i]) > OWN_ENTRY * (fabs(*C) + fabs(first[i]))) own[i] = true;
  }
  return status;
}

/* bias += the derivative along the line of Jachq qdot + dh/dt. */
static NsStatus bias_of_jacobian(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room,
                                 double *bias, NsError *err) {
  if (!relation_along(rel, &rel->jac, at, timed(rel) ? 1 : 0, qdot, room, NULL))
    return bias_by_differences(rel, at, qdot, true, room, bias, err);
  for (int j = 0; j < rel->nx; j++) relation_add(rel->m, qdot[j], room + (size_t)j * (size_t)rel->m, bias);
  return add_drift(rel, at, qdot, room, bias, err);
}

/*
** bias += second, but in the rows of their own the derivative of their velocity. Where an hdot has another derivative than dh/dt,
** as the velocity of a belt has, it takes the place of that. kept, other, drift: m each.
*/
static NsStatus bias_by_rows(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, const bool *own,
                             double *room, double *bias, NsError *err) {
  int m = rel->m;
  double *second = room + m, *kept = room + ns_relation_bias_room(rel) - 3 * m, *other = kept + m, *drift = other + m;
  bool any = false;
  memcpy(kept, second, (size_t)m * sizeof *kept);
  memset(other, 0, 2 * (size_t)m * sizeof *other);
  NsStatus status = rel->hdot.value ? add_drift(rel, at, qdot, room, other, err) : NS_OK;
  bool replaced = status == NS_OK && rel->hdot.value && add_drift_of_h(rel, at, qdot, room, drift);
  for (int i = 0; i < m; i++) {
    if (replaced && fabs(other[i] - drift[i]) > OWN_ENTRY * (fabs(other[i]) + fabs(drift[i]))) kept[i] += other[i] - drift[i];
    any = any || (own && own[i]);
    other[i] = 0;
  }
  if (status == NS_OK && any) status = bias_of_jacobian(rel, at, qdot, room, other, err);
  for (int i = 0; i < m && status == NS_OK; i++) bias[i] += own && own[i] ? other[i] : kept[i];
  return status;
}

NsStatus ns_relation_add_bias(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, const bool *own,
                              double *room, double *bias, NsError *err) {
  if (rel->dotjac.value) return bias_by_callback(rel, at, qdot, room, bias, err);
  if (!rel->h.value) return NS_OK;
  if (ns_relation_pure(rel) && ns_contact_add_bias(rel->contact, at->x, qdot, bias)) return NS_OK;
  if (!relation_along(rel, &rel->h, at, timed(rel) ? 1 : 0, qdot, room, room + rel->m))
    return bias_by_differences(rel, at, qdot, true, room, bias, err);
  return bias_by_rows(rel, at, qdot, own, room, bias, err);
}

/* ---- second derivatives by the coordinates ---- */

/*
** A power of two of the size of |x_j|, or 1 if x_j = 0, so that a line along two coordinates mixes numbers of similar size in
** any units. The exponent stays in [-300, 300] so that products of two units neither overflow nor underflow.
*/
static double line_unit(const NsRelationPoint *at, size_t j) {
  int e = 0;
  if (at->x[j] != 0) (void)frexp(at->x[j], &e);
  return ldexp(1, e < -300 ? -300 : e > 300 ? 300 : e);
}

/* S_jk = (s(u_j e_j + u_k e_k) - s(u_j e_j) - s(u_k e_k)) / (2 u_j u_k), where s(w) is the second derivative of h along w. */
static bool second_by_x(const NsRelation *rel, const NsRelationPoint *at, double *line, double *room, double *S) {
  size_t m = (size_t)rel->m, nx = (size_t)rel->nx;
  double *first = room, *along_both = room + m;
  for (size_t j = 0; j < nx; j++) {
    line[j] = line_unit(at, j);
    if (!relation_along(rel, &rel->h, at, 0, line, first, S + (j + j * nx) * m)) return false;
    line[j] = 0;
  }
  for (size_t j = 0; j < nx; j++)
    for (size_t k = 0; k < j; k++) {
      double u = line[j] = line_unit(at, j), w = line[k] = line_unit(at, k);
      if (!relation_along(rel, &rel->h, at, 0, line, first, along_both)) return false;
      line[j] = line[k] = 0;
      for (size_t i = 0; i < m; i++)
        S[i + (j + k * nx) * m] = S[i + (k + j * nx) * m] =
            0.5 * (along_both[i] - S[i + (j + j * nx) * m] - S[i + (k + k * nx) * m]) / u / w;
    }
  for (size_t j = 0; j < nx; j++)
    for (size_t i = 0; i < m; i++) S[i + (j + j * nx) * m] /= line_unit(at, j) * line_unit(at, j);
  return true;
}

/* drift = d(dh/dt)/dx: the derivative of hdot, or else second derivatives of h along the line of an axis and time. */
static bool drift_by_x(const NsRelation *rel, const NsRelationPoint *at, double *line, double *room, const double *S,
                       double *drift) {
  size_t m = (size_t)rel->m, nx = (size_t)rel->nx;
  double *first = room, *both = room + m, *held = both + m;
  bool given = rel->hdot.value != NULL;
  if (!given && !relation_along(rel, &rel->h, at, 1, NULL, first, held)) return false;
  for (size_t j = 0; j < nx; j++) {
    double u = line[j] = line_unit(at, j);
    bool good = given ? relation_along(rel, &rel->hdot, at, 0, line, drift + j * m, NULL)
                      : relation_along(rel, &rel->h, at, 1, line, first, both);
    line[j] = 0;
    if (!good) return false;
    for (size_t i = 0; i < m; i++)
      drift[i + j * m] = (given ? drift[i + j * m] : 0.5 * (both[i] - u * u * S[i + (j + j * nx) * m] - held[i])) / u;
  }
  return true;
}

bool ns_relation_second(const NsRelation *rel, const NsRelationPoint *at, double *room, double *second, double *drift) {
  double *line = room, *more = room + rel->nx;
  if (!rel->h.value) return false;
  memset(line, 0, (size_t)rel->nx * sizeof *line);
  memset(drift, 0, (size_t)rel->m * (size_t)rel->nx * sizeof *drift);
  if (!second_by_x(rel, at, line, more, second)) return false;
  return !timed(rel) || drift_by_x(rel, at, line, more, second, drift);
}

size_t ns_relation_curvature_room(const NsRelation *rel) {
  size_t rates = (size_t)rel->m * (size_t)rel->nx * (size_t)rel->nx, bias = ns_relation_bias_room(rel) + (size_t)rel->m;
  return rates > bias ? rates : bias;
}

bool ns_relation_curvature(const NsRelation *rel, const NsRelationPoint *at, const double *w, double *room,
                           const NsRelationCurvature *out) {
  size_t m = (size_t)rel->m, nx = (size_t)rel->nx;
  memset(out->second, 0, m * nx * nx * sizeof *out->second);
  memset(out->drift, 0, m * nx * sizeof *out->drift);
  memset(out->third, 0, m * nx * sizeof *out->third);
  if (ns_relation_holds_at_position(rel) || ns_coef_varies(&rel->C)) return false;
  if (!rel->h.value) return true;
  return !ns_coef_given(&rel->C) && rel->class->curvature && rel->class->curvature(rel, at, w, room, out);
}

bool ns_relation_exact_C(const NsRelation *rel) {
  if (!rel->h.value) return true;
  if (rel->contact) return ns_contact_is_ready(rel->contact) && !ns_contact_shape(rel->contact)->slides;
  return rel->h.along && !rel->jac.value && !ns_coef_given(&rel->C);
}

bool ns_relation_ignores_z(const NsRelation *rel, const NsRelationPoint *at) {
  const NsFunction *callbacks[] = {&rel->h, &rel->jac, &rel->hdot, &rel->dotjac};
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  if (ns_coef_varies(&rel->C) || ns_coef_varies(&rel->e) || ns_coef_given(&rel->F)) return false;
  if (rel->contact) return ns_contact_is_ready(rel->contact);
  if (rel->dotjac.value) args[1] = at->x; /* its rate: any point will do */
  for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
    if (callbacks[i]->value && !(callbacks[i]->ignores && callbacks[i]->ignores(callbacks[i]->context, at->t, args, 2)))
      return false;
  return true;
}

bool ns_relation_moves(const NsRelation *rel) {
  return timed(rel) || ns_coef_varies(&rel->C) || ns_coef_varies(&rel->e);
}
