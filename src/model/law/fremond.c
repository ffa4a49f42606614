/*
** fremond.c
** FremondImpactFrictionNSL: a contact with a normal and one or two tangents. Friction acts on the mean of the velocities u_k
** before and u after the step. With the impulse P and theta = max(the scheme's theta, 1/2):
**
**   0 <= u_N + en u_k,N  _|_  P_N >= 0,     v = theta u_T + (1 - theta) u_k,T,
**   |P_T| <= mu P_N where v = 0, else P_T = -mu P_N v / |v|.
**
** For theta = 1/2 the work of friction is P_T' (u_T + u_k,T) / 2 = -mu P_N |v|. So each contact dissipates, whatever the others
** do; with NewtonImpactFrictionNSL and et = 0, energy can grow. A contact that sticks reverses its tangential velocity,
** u_T = -(1 - theta) / theta u_k,T; a larger theta damps that. Coulomb's law uses only the direction of v, so the code takes
** v / theta = u_T + (1 - theta) / theta u_k,T.
**
** Fremond, Rigid bodies collisions, Physics Letters A 204, 1995 (laws on the mean velocity); Acary, Energy conservation
** and dissipation properties of time-integration methods for nonsmooth elastodynamics with contact, ZAMM 96, 2016.
*/
#include "model/law.h"

typedef struct Fremond {
  NsLaw base;
  double en, et, mu;
} Fremond;

/* et must be 0: it is an argument only because NewtonImpactFrictionNSL has it. */
static const NsField fields[] = {
    NS_LAW_CONTACT_FIELDS(Fremond, 2, 3), NS_FIELD_A_NUMBER("et", Fremond, et, 0, 0, NS_FIELD_HIDDEN),
    NS_FIELD_A_NUMBER("mu", Fremond, mu, 0, INFINITY, NS_LAW_COEFFICIENT | NS_FIELD_TIMED), NS_FIELD_END};

static const char *const arguments[] = {"en", "et", "mu", "dim", NULL};

static NsLawGroup fremond_group(const NsLaw *law, int row) {
  (void)row;
  return (NsLawGroup){.dim = law->size, .discs = 1, .mu = {((const Fremond *)law)->mu}};
}

static double fremond_restitution(const NsLaw *law, int row, double theta) {
  return row == 0 ? ((const Fremond *)law)->en : theta > 0.5 ? (1 - theta) / theta : 1;
}

static const char *fremond_words(const NsLaw *law) {
  return ns_law_varies(law) ? ", en = {en}, mu is a function of time" : NULL;
}

const char ns_law_fremond_text[] = "FremondImpactFrictionNSL";

const NsLawClass ns_law_fremond = {.name = ns_law_fremond_text,
                                   .bytes = sizeof(Fremond),
                                   .fields = fields,
                                   .arguments = arguments,
                                   .goes_with = NS_WITH_VELOCITIES,
                                   .unilateral = true,
                                   .joint = true,
                                   .needs = NS_NEEDS_MEAN | NS_NEEDS_CONE,
                                   .group = fremond_group,
                                   .restitution = fremond_restitution,
                                   .words = fremond_words};
