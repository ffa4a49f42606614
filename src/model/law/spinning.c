/*
** spinning.c
** NewtonImpactSpinningFrictionNSL: a contact in space as in NewtonImpactRollingFrictionNSL, and spinning resistance. Its sixth row is the
** velocity of spinning about the normal, whose moment opposes it with |r_S| <= mu_spin r_n; mu_spin is a length.
** Leine and Glocker, A set-valued force law for spatial Coulomb-Contensou friction, Eur. J. Mech. A/Solids 22, 2003, has the law in which
** slip and spin share one bound; here each has its own.
*/
#include "model/law.h"

const char ns_law_spinning_text[] = "NewtonImpactSpinningFrictionNSL";

typedef struct Spinning {
  NsLaw base;
  double en, et, mu, mu_r, mu_spin;
} Spinning;

static const NsField fields[] = {NS_LAW_CONTACT_FIELDS(Spinning, 6, 6),
                                 NS_FIELD_A_NUMBER("et", Spinning, et, -1, 1, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("mu", Spinning, mu, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("muR", Spinning, mu_r, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("muSpin", Spinning, mu_spin, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_END};

static const char *const arguments[] = {"en", "et", "mu", "muR", "muSpin", "dim", NULL};

static NsLawGroup spinning_group(const NsLaw *law, int row) {
  const Spinning *self = (const Spinning *)law;
  (void)row;
  return (NsLawGroup){.dim = law->size, .discs = 3, .mu = {self->mu, self->mu_r, self->mu_spin}};
}

/* The angular velocities have no restitution. */
static double spinning_restitution(const NsLaw *law, int row, double theta) {
  const Spinning *self = (const Spinning *)law;
  (void)theta;
  return row == 0 ? self->en : row <= 2 ? self->et : 0;
}

const NsLawClass ns_law_spinning = {.name = ns_law_spinning_text,
                                    .bytes = sizeof(Spinning),
                                    .fields = fields,
                                    .arguments = arguments,
                                    .goes_with = NS_WITH_VELOCITIES,
                                    .unilateral = true,
                                    .joint = true,
                                    .needs = NS_NEEDS_ROLLING | NS_NEEDS_CONE,
                                    .group = spinning_group,
                                    .restitution = spinning_restitution};
