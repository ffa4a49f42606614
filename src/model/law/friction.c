/*
** friction.c
** NewtonImpactFrictionNSL: a contact with a normal and one or two tangents. It obeys Newton's law of impact, with the
** restitution en in the normal and et in the tangents, and Coulomb's law of friction with the coefficient mu.
** Acary and Brogliato, Numerical Methods for Nonsmooth Dynamical Systems, 2008, section 3.9.
*/
#include "model/law.h"

typedef struct Friction {
  NsLaw base;
  double en, et, mu;
} Friction;

static const NsField fields[] = {
    NS_LAW_CONTACT_FIELDS(Friction, 2, 3), NS_FIELD_A_NUMBER("et", Friction, et, -1, 1, NS_LAW_COEFFICIENT),
    NS_FIELD_A_NUMBER("mu", Friction, mu, 0, INFINITY, NS_LAW_COEFFICIENT | NS_FIELD_TIMED), NS_FIELD_END};

static const char *const arguments[] = {"en", "et", "mu", "dim", NULL};

static NsLawGroup friction_group(const NsLaw *law, int row) {
  (void)row;
  return (NsLawGroup){.dim = law->size, .discs = 1, .mu = {((const Friction *)law)->mu}};
}

static double friction_restitution(const NsLaw *law, int row, double theta) {
  const Friction *self = (const Friction *)law;
  (void)theta;
  return row == 0 ? self->en : self->et;
}

static const char *friction_words(const NsLaw *law) {
  return ns_law_varies(law) ? ", en = {en}, et = {et}, mu is a function of time" : NULL;
}

const char ns_law_friction_text[] = "NewtonImpactFrictionNSL";

const NsLawClass ns_law_friction = {.name = ns_law_friction_text,
                                    .bytes = sizeof(Friction),
                                    .fields = fields,
                                    .arguments = arguments,
                                    .goes_with = NS_WITH_VELOCITIES,
                                    .unilateral = true,
                                    .joint = true,
                                    .needs = NS_NEEDS_CONE,
                                    .group = friction_group,
                                    .restitution = friction_restitution,
                                    .words = friction_words};
