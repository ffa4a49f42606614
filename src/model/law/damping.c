/*
** damping.c
** DampingNSL: viscous friction, lambda = -damping u in each component, with the velocity u of the output. `damping` gives a force, of which
** a step has the impulse: P = -h damping (theta u + (1 - theta) u_k), with the scheme's theta, but at least 1/2. As an equation of a step
** it is u + (1 - theta) / theta u_k + P / (h damping theta) = 0: a row with a compliance. EventDriven has the force itself.
*/
#include <float.h>

#include "model/law.h"

typedef struct Damping {
  NsLaw base;
  double damping;
} Damping;

static const NsField fields[] = {
    NS_LAW_FIELDS(0), NS_FIELD_A_NUMBER("damping", Damping, damping, DBL_MIN, INFINITY, NS_LAW_COEFFICIENT), NS_FIELD_END};

static const char *const arguments[] = {"size?", "damping", NULL};

static NsStatus damping_complete(NsLaw *law, NsError *err) {
  (void)err;
  law->equalities = law->size;
  return NS_OK;
}

static double damping_viscous(const NsLaw *law) {
  return ((const Damping *)law)->damping;
}

static double damping_restitution(const NsLaw *law, int row, double theta) {
  (void)law, (void)row;
  return theta > 0.5 ? (1 - theta) / theta : 1;
}

static int damping_constrained(const NsLaw *law) {
  (void)law;
  return 0;
}

const char ns_law_damping_text[] = "DampingNSL";

const NsLawClass ns_law_damping = {.name = ns_law_damping_text,
                                   .bytes = sizeof(Damping),
                                   .fields = fields,
                                   .arguments = arguments,
                                   .goes_with = NS_WITH_VELOCITIES,
                                   .forces = true,
                                   .needs = NS_NEEDS_EQUATION | NS_NEEDS_VISCOUS,
                                   .complete = damping_complete,
                                   .viscous = damping_viscous,
                                   .restitution = damping_restitution,
                                   .constrained = damping_constrained};
