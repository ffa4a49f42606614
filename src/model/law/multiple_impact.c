/*
** multiple_impact.c
** MultipleImpactNSL: impacts of all contacts of this law at once share their impulses by the energy that each contact stores
** (integrators/motion/collision.h); the impact of a contact alone is Newton's.
*/
#include <math.h>

#include "linalg/lu.h"
#include "model/impact.h"

typedef struct MultipleImpact {
  NsLaw base;
  double e, stiffness, exponent;
} MultipleImpact;

static const NsField fields[] = {NS_LAW_FIELDS(0),
                                 NS_FIELD_A_NUMBER("e", MultipleImpact, e, 0, 1, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("en", MultipleImpact, e, 0, 1, NS_FIELD_SETTER | NS_FIELD_ALIAS),
                                 NS_FIELD_A_NUMBER("stiffness", MultipleImpact, stiffness, 0, INFINITY, NS_LAW_COEFFICIENT),
                                 NS_FIELD_A_NUMBER("exponent", MultipleImpact, exponent, 1, 10, NS_LAW_COEFFICIENT),
                                 NS_FIELD_END};

static const char *const arguments[] = {"size?", "e", "stiffness", "exponent", NULL};

static NsStatus multiple_impact_complete(NsLaw *law, NsError *err) {
  const MultipleImpact *self = (const MultipleImpact *)law;
  if (self->stiffness > 0 && isfinite(self->stiffness)) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: stiffness: expected a positive number, got %g", ns_law_name(law), self->stiffness);
}

static double multiple_impact_restitution(const NsLaw *law, int row, double theta) {
  (void)row, (void)theta;
  return ((const MultipleImpact *)law)->e;
}

/* The rows of an impact in two lists, contacts and equations, and what is left of W and u when the equations are solved. */
typedef struct Shares {
  int contacts, equations;
  int *list, *equation;
  double *W, *u, *z, *block, *X; /* X: equations x (contacts + 1), the equations' impulses for 1 of a contact's, and for u */
  NsImpactContact *data;
} Shares;

static void take_shares(Shares *s, const NsImpact *impact, NsArena *arena) {
  int n = impact->n;
  s->list = ns_arena_ints(arena, n), s->equation = ns_arena_ints(arena, n);
  s->W = ns_arena_matrix(arena, n, n), s->block = ns_arena_matrix(arena, n, n), s->X = ns_arena_matrix(arena, n, n + 1);
  s->u = ns_arena_doubles(arena, n), s->z = ns_arena_doubles(arena, n);
  s->data = ns_arena_take(arena, (size_t)n, sizeof *s->data);
  for (int i = 0; i < n && !arena->failed; i++) {
    const MultipleImpact *law = (const MultipleImpact *)impact->laws[i];
    if (!impact->contact[i]) s->equation[s->equations++] = i;
    else s->data[s->contacts] = (NsImpactContact){impact->e[i], law->stiffness, law->exponent}, s->list[s->contacts++] = i;
  }
}

/* X = -W_EE^-1 (W_EC, u_E). */
static NsStatus solve_equations(const Shares *s, const NsImpact *impact) {
  int m = s->equations, n = impact->n;
  NsLu *lu;
  NsStatus status = ns_lu_new(&lu, m);
  if (status != NS_OK) return status;
  for (int j = 0; j < m; j++)
    for (int i = 0; i < m; i++)
      s->block[i + (size_t)j * (size_t)m] = impact->W[s->equation[i] + (size_t)s->equation[j] * (size_t)n];
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < s->contacts; j++)
      s->X[i + (size_t)j * (size_t)m] = -impact->W[s->equation[i] + (size_t)s->list[j] * (size_t)n];
    s->X[i + (size_t)s->contacts * (size_t)m] = -impact->u[s->equation[i]];
  }
  status = ns_lu_factor(lu, s->block, m);
  if (status == NS_OK) ns_lu_solve(lu, s->contacts + 1, s->X, m);
  ns_lu_free(lu);
  return status;
}

/* Column j of (W, u) for the contacts, with the equations solved; j == contacts: u. */
static void reduce_impact(const Shares *s, const NsImpact *impact, int j) {
  double *to = j < s->contacts ? s->W + (size_t)j * (size_t)s->contacts : s->u;
  for (int i = 0; i < s->contacts; i++) {
    const double *row = impact->W + s->list[i];
    to[i] = j < s->contacts ? row[(size_t)s->list[j] * (size_t)impact->n] : impact->u[s->list[i]];
    for (int k = 0; k < s->equations; k++)
      to[i] += row[(size_t)s->equation[k] * (size_t)impact->n] * s->X[k + (size_t)j * (size_t)s->equations];
  }
}

static NsStatus share(const Shares *s, const NsImpact *impact, double *z) {
  NsStatus status = s->equations > 0 ? solve_equations(s, impact) : NS_OK;
  if (status != NS_OK) return status;
  for (int j = 0; j <= s->contacts; j++) reduce_impact(s, impact, j);
  status = impact->share(s->contacts, s->W, s->u, s->data, s->z);
  for (int k = 0; k < s->contacts; k++) z[s->list[k]] = s->z[k];
  for (int i = 0; i < s->equations; i++) {
    double sum = s->X[i + (size_t)s->contacts * (size_t)s->equations];
    for (int j = 0; j < s->contacts; j++) sum += s->X[i + (size_t)j * (size_t)s->equations] * s->z[j];
    z[s->equation[i]] = sum;
  }
  return status;
}

static NsStatus multiple_impact_exchange(const NsImpact *impact, double *z, NsError *err) {
  NsArena arena = {0};
  Shares shares = {0};
  take_shares(&shares, impact, &arena);
  NsStatus status = arena.failed ? NS_ENOMEM : share(&shares, impact, z);
  ns_arena_release(&arena);
  if (status == NS_EMAXITER)
    return ns_fail(
        err, status,
        "the multiple impact takes too many steps: stiffnesses or masses of its contacts differ too much; a stiffness "
        "nearer to the others may help");
  return status == NS_OK ? NS_OK : ns_fail(err, status, "the multiple impact has no solution: %s", ns_status_message(status));
}

const char ns_law_multiple_impact_text[] = "MultipleImpactNSL";

const NsLawClass ns_law_multiple_impact = {.name = ns_law_multiple_impact_text,
                                           .bytes = sizeof(MultipleImpact),
                                           .fields = fields,
                                           .arguments = arguments,
                                           .goes_with = NS_WITH_VELOCITIES,
                                           .unilateral = true,
                                           .needs = NS_NEEDS_IMPACT | NS_NEEDS_EXCHANGE,
                                           .complete = multiple_impact_complete,
                                           .restitution = multiple_impact_restitution,
                                           .exchange = multiple_impact_exchange};
