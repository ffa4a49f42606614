/*
** mechanics.c
** Relations of mechanics with a callback h; r = H(q)' lambda.
** LagrangianScleronomousR: y = h(q, z). LagrangianRheonomousR and, for rigid bodies, NewtonEulerR: y = h(t, q, z).
** LagrangianCompliantR: y = h(q, lambda, z).
*/
#include "model/relation.h"

#include <math.h>
#include <string.h>

/* A callback's rate of C differs from the derivative of C when it is off by more than this part of its terms: far more than rounding. */
static const double SAME_RATE = 1e-9;

#define C_FIELD      NS_RELATION_COEF(C, m, nx)
#define H_FIELDS     NS_RELATION_STATES, NS_RELATION_FIELDS, NS_FIELD_A_CALLBACK("h", NsRelation, h, NS_FIELD_CONSTANT)
#define HDOT_FIELD   NS_FIELD_A_CALLBACK("hDot", NsRelation, hdot, NS_FIELD_CONSTANT)
#define DOTJAC_FIELD NS_FIELD_A_CALLBACK("dotJachq", NsRelation, dotjac, NS_FIELD_CONSTANT)

#define JAC_FIELD NS_FIELD_A_CALLBACK("Jachq", NsRelation, jac, NS_FIELD_CONSTANT)

static const NsField scleronomous_fields[] = {C_FIELD, H_FIELDS, DOTJAC_FIELD, JAC_FIELD, NS_FIELD_END};
static const NsField rheonomous_fields[] = {C_FIELD, H_FIELDS, HDOT_FIELD, DOTJAC_FIELD, JAC_FIELD, NS_FIELD_END};
static const NsField compliant_fields[] = {C_FIELD, NS_RELATION_COEF(D, m, m), H_FIELDS, NS_FIELD_END};

static const NsSlot scleronomous_slots[] = {
    {"computeh", "h", "xz", "y", 'm', '1', NS_NATIVE_Q, NULL, 0},
    {"computeJachq", "Jachq", "xz", "C", 'm', 'n', NS_NATIVE_Q, "h", 'x'},
    {"computeDotJachq", "dotJachq", "xzv", "dotjachq", 'm', 'n', NS_NATIVE_QV, NULL, 0},
};

static const NsSlot rheonomous_slots[] = {
    {"computeh", "h", "xz", "y", 'm', '1', NS_NATIVE_QT, NULL, 0},
    {"computeJachq", "Jachq", "xz", "C", 'm', 'n', NS_NATIVE_QT, "h", 'x'},
    {"computehDot", "hDot", "xz", "hDot", 'm', '1', NS_NATIVE_QT, NULL, 0},
    {"computeDotJachq", "dotJachq", "xzv", "dotjachq", 'm', 'n', NS_NATIVE_QVT, NULL, 0},
};

static const NsSlot compliant_slots[] = {
    {"computeh", "h", "xlz", "y", 'm', '1', NS_NATIVE_QL, NULL, 0},
    {"computeJachq", "Jachq", "xlz", "C", 'm', 'n', NS_NATIVE_QL, "h", 'x'},
    {"computeJachlambda", "Jachlambda", "xlz", "D", 'm', 'm', NS_NATIVE_QL, "h", 'l'},
};

/* Of h: drift is what the rate of dh/dx along the line has besides second w. */
static bool curvature_of_h(const NsRelation *rel, const NsRelationPoint *at, const double *w, const NsRelationCurvature *out) {
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  const NsFunction *h = &rel->h;
  bool timed = rel->class->timed;
  ptrdiff_t m = rel->m, nx = rel->nx;
  if (!h->bowl || !h->twist || h->bowl(h->context, at->t, args, out->second) != 0) return false;
  if (h->twist(h->context, at->t, args, timed ? 1 : 0, w, NULL, timed ? out->drift : NULL, out->third) != 0) return false;
  for (ptrdiff_t k = 0; k < nx && timed; k++)
    for (ptrdiff_t j = 0; j < nx; j++)
      for (ptrdiff_t i = 0; i < m; i++) out->drift[i + m * k] -= out->second[i + m * (j + nx * k)] * w[j];
  return true;
}

/* Of a callback that gives C and does not depend on time: third = the derivative of (rate of C) w. */
static bool curvature_of_jacobian(const NsRelation *rel, const NsRelationPoint *at, const double *w, double *room,
                                  const NsRelationCurvature *out) {
  const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, at->z};
  const NsFunction *jac = &rel->jac;
  ptrdiff_t m = rel->m, nx = rel->nx;
  if (!jac->twist || jac->twist(jac->context, at->t, args, 0, w, out->second, room, NULL) != 0) return false;
  for (ptrdiff_t k = 0; k < nx; k++)
    for (ptrdiff_t j = 0; j < nx; j++)
      for (ptrdiff_t i = 0; i < m; i++) out->third[i + m * k] += room[i + m * (j + nx * k)] * w[j];
  return true;
}

/* Of h or, where a callback gives C, of that callback. */
static bool curvature_of_C(const NsRelation *rel, const NsRelationPoint *at, const double *w, double *room,
                           const NsRelationCurvature *out) {
  if (!rel->jac.value) return curvature_of_h(rel, at, w, out);
  if (!rel->class->timed && curvature_of_jacobian(rel, at, w, room, out)) return true;
  bool *own = (bool *)(void *)(room + ns_relation_bias_room(rel));
  if (ns_relation_own_rows(rel, at, room, own, NULL) != NS_OK) return false;
  for (int i = 0; i < rel->m; i++)
    if (own[i]) return false;
  return curvature_of_h(rel, at, w, out);
}

/* Whether the callback for the rate of C along w gives the same rate of C w as `second` does. room: m nx. */
static bool same_rate(const NsRelation *rel, const NsRelationPoint *at, const double *w, double *room, const double *second) {
  const double *args[NS_FUNCTION_ARGS] = {at->x, w, at->z};
  ptrdiff_t m = rel->m, nx = rel->nx;
  memset(room, 0, (size_t)(m * nx) * sizeof *room);
  if (rel->dotjac.value(rel->dotjac.context, at->t, args, room) != 0) return false;
  for (ptrdiff_t i = 0; i < m; i++) {
    double off = 0, terms = 0;
    for (ptrdiff_t j = 0; j < nx; j++) {
      off += room[i + m * j] * w[j];
      for (ptrdiff_t k = 0; k < nx; k++) {
        double term = second[i + m * (j + nx * k)] * w[j] * w[k];
        off -= term, terms += fabs(term);
      }
    }
    if (fabs(off) > SAME_RATE * terms) return false;
  }
  return true;
}

static bool curvature_of_output(const NsRelation *rel, const NsRelationPoint *at, const double *w, double *room,
                                const NsRelationCurvature *out) {
  bool given = rel->dotjac.value;
  if (rel->hdot.value || (given && rel->class->timed)) return false;
  return curvature_of_C(rel, at, w, room, out) && (!given || same_rate(rel, at, w, room, out->second));
}

const char ns_relation_scleronomous_text[] = "LagrangianScleronomousR";
const char ns_relation_rheonomous_text[] = "LagrangianRheonomousR";
const char ns_relation_compliant_text[] = "LagrangianCompliantR";
const char ns_relation_newton_euler_text[] = "NewtonEulerR";

#define MODEL(kind, table, count)                                                                                              \
  {                                                                                                                            \
    .name = ns_relation_##kind##_text, .noun = NS_RELATION_NOUN, .fields = table##_fields, .slots = table##_slots,             \
    .nslots = count, .x = "q"                                                                                                  \
  }

const NsRelationClass ns_relation_scleronomous = {
    .model = MODEL(scleronomous, scleronomous, 3), .family = NS_MECHANICS, .curved = true, .curvature = curvature_of_output};

const NsRelationClass ns_relation_rheonomous = {.model = MODEL(rheonomous, rheonomous, 4),
                                                .family = NS_MECHANICS,
                                                .curved = true,
                                                .timed = true,
                                                .curvature = curvature_of_output};

const NsRelationClass ns_relation_compliant = {
    .model = MODEL(compliant, compliant, 3), .family = NS_MECHANICS, .has_D = true, .at_position = true};

const NsRelationClass ns_relation_newton_euler = {
    .model = MODEL(newton_euler, rheonomous, 4), .family = NS_MECHANICS, .timed = true, .curvature = curvature_of_output};
