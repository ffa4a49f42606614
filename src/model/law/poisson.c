/*
** poisson.c
** PoissonImpactNSL: Poisson's law of impact. All contacts are compressed at once, 0 <= u_c _|_ P_c >= 0; each then gives back at least e P_c:
** 0 <= u _|_ P - (1 + e) P_c >= 0.
** Glocker and Pfeiffer, Multiple impacts with friction in rigid multibody systems, Nonlinear Dynamics 7 (1995), 471.
*/

#include "model/impact.h"

typedef struct Poisson {
  NsLaw base;
  double e;
} Poisson;

static const NsField fields[] = {NS_LAW_FIELDS(0), NS_FIELD_A_NUMBER("e", Poisson, e, 0, 1, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("en", Poisson, e, 0, 1, NS_FIELD_SETTER | NS_FIELD_ALIAS), NS_FIELD_END};

static const char *const arguments[] = {"size?", "e", NULL};

static double poisson_restitution(const NsLaw *law, int row, double theta) {
  (void)row, (void)theta;
  return ((const Poisson *)law)->e;
}

static NsStatus poisson_exchange(const NsImpact *impact, double *z, NsError *err) {
  size_t n = (size_t)impact->n;
  NsArena arena = {0};
  double *given = ns_arena_doubles(&arena, impact->n), *q = ns_arena_doubles(&arena, impact->n);
  NsStatus status = arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory")
                                 : impact->solve(impact->context, impact->u, z, err);
  if (status == NS_OK) {
    for (size_t i = 0; i < n; i++) given[i] = (1 + impact->e[i]) * z[i], q[i] = impact->u[i];
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < n; i++) q[i] += impact->W[i + j * n] * given[j];
    status = impact->solve(impact->context, q, z, err);
  }
  for (size_t i = 0; i < n && status == NS_OK; i++) z[i] += given[i];
  ns_arena_release(&arena);
  return status;
}

const char ns_law_poisson_text[] = "PoissonImpactNSL";

const NsLawClass ns_law_poisson = {.name = ns_law_poisson_text,
                                   .bytes = sizeof(Poisson),
                                   .fields = fields,
                                   .arguments = arguments,
                                   .goes_with = NS_WITH_VELOCITIES,
                                   .unilateral = true,
                                   .needs = NS_NEEDS_IMPACT | NS_NEEDS_EXCHANGE,
                                   .restitution = poisson_restitution,
                                   .exchange = poisson_exchange};
