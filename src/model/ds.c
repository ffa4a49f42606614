/*
** ds.c
** The functions of all dynamical systems.
*/
#include "model/ds.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "model/coef.h"

const NsDsClass *const ns_ds_classes[] = {
#define X(name) &ns_ds_##name,
    NS_DS_LIST(X)
#undef X
};

static size_t ds_bytes_of(int n) {
  return (size_t)n * sizeof(double);
}

NsStatus ns_ds_start(NsDs *ds, const double *x0) {
  double **states[] = {&ds->x0, &ds->x, &ds->x_k, &ds->change, &ds->reach, &ds->reach_k}, **inputs[] = {&ds->r, &ds->r_k};
  for (int i = 0; i < 6; i++) *states[i] = ns_arena_doubles(&ds->arena, ds->n);
  for (int i = 0; i < 2; i++) *inputs[i] = ns_arena_doubles(&ds->arena, ds->nr);
  if (ds->arena.failed) return NS_ENOMEM;
  memcpy(ds->x0, x0, ds_bytes_of(ds->n));
  ns_ds_reset(ds);
  return NS_OK;
}

NsStatus ns_ds_like(NsDs **ds, const NsDs *other) {
  NsStatus status = other->class->like(ds, other);
  if (status != NS_OK) return status;
  memcpy((*ds)->x0, other->x0, ds_bytes_of(other->n));
  ns_ds_reset(*ds);
  return NS_OK;
}

void ns_ds_free(NsDs *ds) {
  if (!ds) return;
  for (const NsField *field = ds->class->model.fields; field->type == NS_FIELD_COEF; field++)
    ns_coef_clear(ns_field_place(field, ds));
  ds->class->destroy(ds);
}

const char *ns_ds_name(const NsDs *ds) {
  return ds->name[0] ? ds->name : "?";
}

const char *ns_ds_class_name(const NsDs *ds) {
  return ds->class->model.name;
}

/* Updates the coefficients from one on that is not settled. */
static NsStatus ds_update_from(NsDs *ds, const NsField *field, double t, NsError *err) {
  for (; field->type == NS_FIELD_COEF; field++) {
    NsCoef *coef = ns_field_place(field, ds);
    if (ns_coef_settled(coef)) continue;
    NsStatus status = ns_coef_update(coef, (NsCoefName){NS_DS_NOUN, ns_ds_name(ds), field->name}, t, ds->z, err);
    if (status != NS_OK) return status;
  }
  return ds->class->update ? ds->class->update(ds, t, err) : NS_OK;
}

NsStatus ns_ds_update(NsDs *ds, double t, NsError *err) {
  const NsField *field = ds->class->model.fields;
  if (ds->closed) return ns_fail(err, NS_ECLOSED, "dynamical system '%s' is closed", ns_ds_name(ds));
  while (field->type == NS_FIELD_COEF && ns_coef_settled(ns_field_place(field, ds))) field++;
  return field->type == NS_FIELD_COEF || ds->class->update ? ds_update_from(ds, field, t, err) : NS_OK;
}

/* Whether x is still the end of the last step of a two-step scheme. */
static bool is_left(const NsDs *ds) {
  return ds->h_left > 0 && memcmp(ds->x_left, ds->x, ds_bytes_of(ds->n)) == 0;
}

/* Updates `smooth` for the step that has ended. Two lengths count as equal up to 1e-8 (rounding of t). */
static void count_smooth(NsDs *ds) {
  bool regular = ds->h_k > 0 && fabs(ds->h_k - ds->h_left) <= 1e-8 * ds->h_k;
  if (!ns_zero_numbers(ds->r, ds->nr)) ds->smooth = 0;
  else ds->smooth = regular && ds->smooth > 0 ? 2 : 1;
}

/* Shifts x_k to x_before and x_before to x_earlier. A step that begins again after a failure must not shift twice: `left`. */
static void remember_before(NsDs *ds) {
  bool same = is_left(ds);
  if (!same) ds->h_k = 0, ds->smooth = 0;
  if (same && ds->left) {
    count_smooth(ds);
    memcpy(ds->x_earlier, ds->x_before, ds_bytes_of(ds->n));
    memcpy(ds->x_before, ds->x_k, ds_bytes_of(ds->n));
    ds->h_k = ds->h_left;
  }
  ds->left = false;
}

void ns_ds_leave(NsDs *ds, double h) {
  memcpy(ds->x_left, ds->x, ds_bytes_of(ds->n));
  ds->h_left = h;
  ds->left = true;
}

const double *ns_ds_before(const NsDs *ds, double *h) {
  if (!ds->x_before || !is_left(ds)) return NULL;
  *h = ds->h_left;
  return ds->left ? ds->x_k : ds->x_before;
}

void ns_ds_remember(NsDs *ds) {
  ds->switched_k = ds->switched;
  ds->control_k = ds->control;
  if (ds->x_before) remember_before(ds);
  memcpy(ds->x_k, ds->x, ds_bytes_of(ds->n));
  memcpy(ds->r_k, ds->r, ds_bytes_of(ds->nr));
  memcpy(ds->reach_k, ds->reach, ds_bytes_of(ds->n));
}

void ns_ds_reset(NsDs *ds) {
  ns_fields_clear(ds->class->model.fields, ds, NS_FIELD_RUN);
  memcpy(ds->x, ds->x0, ds_bytes_of(ds->n));
  memcpy(ds->x_k, ds->x0, ds_bytes_of(ds->n));
}

void ns_ds_visit(NsDs *ds, NsVisitor visitor, void *context) {
  ns_fields_walk(ds->class->model.fields, ds, NS_FIELD_STATE, visitor, context);
}
