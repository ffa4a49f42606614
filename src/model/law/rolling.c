/*
** rolling.c
** NewtonImpactRollingFrictionNSL: a contact as in NewtonImpactFrictionNSL, and rolling resistance. Its rows are a normal, tangents
** with |r_T| <= mu r_n, and the velocities of rolling, whose moments oppose them with |r_R| <= mu_r r_n; mu_r is a length.
** Acary and Bourrier, Coulomb friction with rolling resistance as a cone complementarity problem, Eur. J. Mech. A/Solids 85, 2021.
*/
#include "model/law.h"

const char ns_law_rolling_text[] = "NewtonImpactRollingFrictionNSL";

typedef struct Rolling {
  NsLaw base;
  double en, et, mu, mu_r;
} Rolling;

static const NsField fields[] = {
    NS_LAW_CONTACT_FIELDS(Rolling, 3, 5), NS_FIELD_A_NUMBER("et", Rolling, et, -1, 1, NS_LAW_COEFFICIENT),
    NS_FIELD_A_NUMBER("mu", Rolling, mu, 0, INFINITY, NS_LAW_COEFFICIENT | NS_FIELD_TIMED),
    NS_FIELD_A_NUMBER("muR", Rolling, mu_r, 0, INFINITY, NS_LAW_COEFFICIENT | NS_FIELD_TIMED), NS_FIELD_END};

static const char *const arguments[] = {"en", "et", "mu", "muR", "dim", NULL};

static NsLawGroup rolling_group(const NsLaw *law, int row) {
  const Rolling *self = (const Rolling *)law;
  (void)row;
  return (NsLawGroup){.dim = law->size, .discs = 2, .mu = {self->mu, self->mu_r}};
}

static NsStatus rolling_complete(NsLaw *law, NsError *err) {
  if (law->size % 2 == 1) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: dim: expected 3 or 5, got %d", ns_law_rolling_text, law->size);
}

/* The rolling velocities have no restitution. */
static double rolling_restitution(const NsLaw *law, int row, double theta) {
  const Rolling *self = (const Rolling *)law;
  (void)theta;
  return row == 0 ? self->en : row <= law->size / 2 ? self->et : 0;
}

static const char *rolling_words(const NsLaw *law) {
  if (!ns_law_varies(law)) return NULL;
  bool both = law->time.varies[0] && law->time.varies[1];
  return both                  ? ", en = {en}, et = {et}, mu and muR are functions of time"
         : law->time.varies[0] ? ", en = {en}, et = {et}, mu is a function of time, muR = {muR}"
                               : ", en = {en}, et = {et}, mu = {mu}, muR is a function of time";
}

const NsLawClass ns_law_rolling = {.name = ns_law_rolling_text,
                                   .bytes = sizeof(Rolling),
                                   .fields = fields,
                                   .arguments = arguments,
                                   .goes_with = NS_WITH_VELOCITIES,
                                   .unilateral = true,
                                   .joint = true,
                                   .needs = NS_NEEDS_ROLLING | NS_NEEDS_CONE,
                                   .complete = rolling_complete,
                                   .group = rolling_group,
                                   .restitution = rolling_restitution,
                                   .words = rolling_words};
