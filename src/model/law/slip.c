/*
** slip.c
** NewtonImpactSlipFrictionNSL: a contact as in NewtonImpactFrictionNSL, whose coefficient of friction is a function of the script of the
** speed u of the slip.
*/
#include "model/law.h"

typedef struct Slip {
  NsLaw base;
  double en, mu; /* mu: where there is no function */
} Slip;

static const NsField fields[] = {NS_LAW_CONTACT_FIELDS(Slip, 2, 3),
                                 NS_FIELD_A_NUMBER("mu", Slip, mu, 0, INFINITY, NS_LAW_COEFFICIENT | NS_FIELD_TIMED),
                                 NS_FIELD_END};

static const char *const arguments[] = {"en", "mu", "dim", NULL};

/* For u < 0 the function is turned around its value at 0, which has a continuous slope. */
static NsLawFriction slip_friction(const NsLaw *law, double u, const double *number) {
  const Slip *self = (const Slip *)law;
  NsLawFriction at = {.by_number = number == &self->mu, .mu = self->mu};
  if (!law->slip.mu) return at;
  at.by_number = 0;
  at.mu = law->slip.mu(law->slip.context, fabs(u), &at.slope);
  if (u < 0) at.mu = 2 * law->slip.mu(law->slip.context, 0, NULL) - at.mu;
  return at;
}

static NsLawGroup slip_group(const NsLaw *law, int row) {
  (void)row;
  return (NsLawGroup){.dim = law->size, .discs = 1, .mu = {slip_friction(law, 0, NULL).mu}};
}

static double slip_restitution(const NsLaw *law, int row, double theta) {
  (void)theta;
  return row == 0 ? ((const Slip *)law)->en : 0;
}

static const char *slip_words(const NsLaw *law) {
  return law->slip.mu ? ", en = {en}, mu is a function of the slip" : NULL;
}

const char ns_law_slip_text[] = "NewtonImpactSlipFrictionNSL";

const NsLawClass ns_law_slip = {.name = ns_law_slip_text,
                                .bytes = sizeof(Slip),
                                .fields = fields,
                                .arguments = arguments,
                                .goes_with = NS_WITH_VELOCITIES,
                                .unilateral = true,
                                .joint = true,
                                .needs = NS_NEEDS_CONE,
                                .group = slip_group,
                                .friction = slip_friction,
                                .restitution = slip_restitution,
                                .words = slip_words};
