/*
** stribeck.c
** NewtonImpactStribeckNSL: a contact as in NewtonImpactFrictionNSL, whose coefficient of friction falls with the speed u of the slip,
**   mu(u) = mu_k + (mu_s - mu_k) exp(-(u / v_s)^exponent),
** from mu_s of a contact that sticks to mu_k of one that slips fast.
** Armstrong-Helouvry, Dupont and Canudas de Wit, A survey of models, analysis tools and compensation methods for the control of
** machines with friction, Automatica 30, 1994.
*/
#include "model/law.h"

typedef struct Stribeck {
  NsLaw base;
  double en, mu_s, mu_k, v_s, exponent;
} Stribeck;

/* An exponent below 1 has an infinite slope at u = 0, where the slip that follows is not unique. */
static const NsField fields[] = {NS_LAW_CONTACT_FIELDS(Stribeck, 2, 3),
                                 NS_FIELD_A_NUMBER("mu_s", Stribeck, mu_s, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("mu_k", Stribeck, mu_k, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("v_s", Stribeck, v_s, 0, INFINITY, NS_LAW_COEFFICIENT | NS_FIELD_ABOVE),
                                 NS_FIELD_A_NUMBER("exponent", Stribeck, exponent, 1, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_END};

static const char *const arguments[] = {"en", "mu_s", "mu_k", "v_s", "dim", "exponent?", NULL};

static NsStatus stribeck_complete(NsLaw *law, NsError *err) {
  Stribeck *self = (Stribeck *)law;
  (void)err;
  if (self->exponent == 0) self->exponent = 2;
  return NS_OK;
}

static NsLawGroup stribeck_group(const NsLaw *law, int row) {
  (void)row;
  return (NsLawGroup){.dim = law->size, .discs = 1, .mu = {((const Stribeck *)law)->mu_s}};
}

/* An odd function of u in place of u^exponent, but for even exponents, has a continuous slope at 0. */
static NsLawFriction stribeck_friction(const NsLaw *law, double u, const double *number) {
  const Stribeck *self = (const Stribeck *)law;
  double p = self->exponent, x = fabs(u) / self->v_s, side = u < 0 && fmod(p, 2) != 0 ? -1 : 1;
  double power = side * pow(x, p), part = exp(-power), fall = (self->mu_s - self->mu_k) * part;
  NsLawFriction at = {self->mu_k + fall, 0, 0};
  double by_x = -fall * side * p * pow(x, p - 1); /* the derivative by x */
  at.slope = (u < 0 ? -by_x : by_x) / self->v_s;
  if (number == &self->mu_s) at.by_number = part;
  if (number == &self->mu_k) at.by_number = 1 - part;
  if (number == &self->v_s) at.by_number = -by_x * x / self->v_s;
  if (number == &self->exponent && x > 0) at.by_number = -fall * power * log(x);
  return at;
}

static double stribeck_restitution(const NsLaw *law, int row, double theta) {
  (void)theta;
  return row == 0 ? ((const Stribeck *)law)->en : 0;
}

const char ns_law_stribeck_text[] = "NewtonImpactStribeckNSL";

const NsLawClass ns_law_stribeck = {.name = ns_law_stribeck_text,
                                    .bytes = sizeof(Stribeck),
                                    .fields = fields,
                                    .arguments = arguments,
                                    .goes_with = NS_WITH_VELOCITIES,
                                    .unilateral = true,
                                    .joint = true,
                                    .needs = NS_NEEDS_CONE,
                                    .complete = stribeck_complete,
                                    .group = stribeck_group,
                                    .friction = stribeck_friction,
                                    .restitution = stribeck_restitution};
