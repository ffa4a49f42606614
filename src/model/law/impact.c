/*
** impact.c
** NewtonImpactNSL: Newton's law of impact, 0 <= u + e u_k _|_ lambda >= 0 in each component while the contact is closed.
** u_k and u are the velocities before and after the step, lambda is the impulse.
*/
#include "model/law.h"

typedef struct Impact {
  NsLaw base;
  double e;
} Impact;

static const NsField fields[] = {NS_LAW_FIELDS(0), NS_FIELD_A_NUMBER("e", Impact, e, -1, 1, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("en", Impact, e, -1, 1, NS_FIELD_SETTER | NS_FIELD_ALIAS), NS_FIELD_END};

static const char *const arguments[] = {"size?", "e", NULL};

static double impact_restitution(const NsLaw *law, int row, double theta) {
  (void)row, (void)theta;
  return ((const Impact *)law)->e;
}

const char ns_law_impact_text[] = "NewtonImpactNSL";

const NsLawClass ns_law_impact = {.name = ns_law_impact_text,
                                  .bytes = sizeof(Impact),
                                  .fields = fields,
                                  .arguments = arguments,
                                  .goes_with = NS_WITH_VELOCITIES,
                                  .unilateral = true,
                                  .needs = NS_NEEDS_IMPACT,
                                  .restitution = impact_restitution};
