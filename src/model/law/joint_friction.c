/*
** joint_friction.c
** JointFrictionNSL: dry friction in a joint. The last component is the velocity in the joint, with
**   |lambda| <= force + mu |(lambda_1 .. lambda_reactions)|,
** where lambda opposes the velocity when it is at this bound; the others are equations, the constraints of the joint, whose first
** multipliers are its reaction. `force` is a force, of which a step has h force, in every scheme.
*/
#include "model/law.h"

typedef struct JointFriction {
  NsLaw base;
  int reactions;
  double mu, force;
} JointFriction;

enum { NUMBER = NS_FIELD_CONSTANT | NS_FIELD_SHOWN };

static const NsField fields[] = {NS_LAW_FIELDS(0),
                                 NS_FIELD_A_COUNT("reactions", JointFriction, reactions, 0, NS_LAW_MOST, NUMBER),
                                 NS_FIELD_A_NUMBER("mu", JointFriction, mu, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("force", JointFriction, force, 0, INFINITY, NUMBER), NS_FIELD_END};

static const char *const arguments[] = {"size", "reactions", "mu", "force", NULL};

static unsigned joint_friction_needs(const NsLaw *law) {
  const JointFriction *self = (const JointFriction *)law;
  return (law->size > 1 ? NS_NEEDS_EQUATION | NS_NEEDS_SORTS : 0) | (self->reactions > 0 ? NS_NEEDS_REACTION : 0);
}

static NsStatus joint_friction_complete(NsLaw *law, NsError *err) {
  const JointFriction *self = (const JointFriction *)law;
  law->equalities = law->size - 1;
  if (self->reactions < law->size) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: reactions: expected at most %d, the number of equations, got %d", ns_law_name(law),
                 law->size - 1, self->reactions);
}

static NsLawInterval joint_friction_bounds(const NsLaw *law, int row) {
  double force = row < law->size - 1 ? INFINITY : ((const JointFriction *)law)->force;
  return (NsLawInterval){-force, force};
}

static NsLawGroup joint_friction_group(const NsLaw *law, int row) {
  const JointFriction *self = (const JointFriction *)law;
  bool last = row == law->size - 1;
  return (NsLawGroup){.dim = 1,
                      .lower = law->lower[row],
                      .upper = law->upper[row],
                      .reactions = last ? self->reactions : 0,
                      .mu = {last ? self->mu : 0}};
}

/* The friction constrains no position. */
static int joint_friction_constrained(const NsLaw *law) {
  return law->size - 1;
}

const char ns_law_joint_friction_text[] = "JointFrictionNSL";

const NsLawClass ns_law_joint_friction = {.name = ns_law_joint_friction_text,
                                          .bytes = sizeof(JointFriction),
                                          .fields = fields,
                                          .arguments = arguments,
                                          .goes_with = NS_WITH_VELOCITIES,
                                          .forces = true,
                                          .needs = NS_NEEDS_BOX,
                                          .needs_more = joint_friction_needs,
                                          .complete = joint_friction_complete,
                                          .bounds = joint_friction_bounds,
                                          .group = joint_friction_group,
                                          .constrained = joint_friction_constrained};
