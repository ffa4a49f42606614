/*
** law.c
** Componentwise nonsmooth laws.
*/
#include "model/law.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static void set_bounds(NsLaw *law, double lb, double ub) {
  for (int i = 0; i < law->size; i++) {
    bool equation = law->kind == NS_LAW_EQUALITY || law->kind == NS_LAW_NORMAL_CONE || i < law->equalities;
    bool relay = law->kind == NS_LAW_RELAY;
    law->lower[i] = equation ? -INFINITY : relay ? lb : 0;
    law->upper[i] = relay ? ub : INFINITY;
  }
}

NsStatus ns_law_new(NsLaw **out, NsLawKind kind, int size, int equalities, double lb, double ub) {
  *out = NULL;
  NsLaw *law = ns_alloc(1, sizeof *law);
  if (!law) return NS_ENOMEM;
  law->kind = kind;
  law->size = size;
  law->equalities = kind == NS_LAW_MIXED ? equalities : 0;
  law->lower = ns_arena_doubles(&law->arena, size);
  law->upper = ns_arena_doubles(&law->arena, size);
  if (law->arena.failed) {
    ns_law_free(law);
    return NS_ENOMEM;
  }
  set_bounds(law, lb, ub);
  *out = law;
  return NS_OK;
}

NsStatus ns_law_new_impact(NsLaw **out, NsLawKind kind, int size, double en, double et, double mu) {
  NsStatus status = ns_law_new(out, kind, size, 0, 0, 0);
  NsLaw *law = *out;
  if (status != NS_OK) return status;
  law->en = en;
  law->et = et;
  law->mu = mu;
  for (int i = 1; kind == NS_LAW_FRICTION && i < size; i++) law->lower[i] = -INFINITY;
  return NS_OK;
}

bool ns_law_unilateral(const NsLaw *law) {
  return law->kind == NS_LAW_IMPACT || law->kind == NS_LAW_FRICTION || law->kind == NS_LAW_COMPLEMENTARITY;
}

int ns_law_gaps(const NsLaw *law) {
  if (law->kind == NS_LAW_IMPACT) return law->size;
  return law->kind == NS_LAW_FRICTION ? 1 : 0;
}

NsStatus ns_law_new_cone(NsLaw **out, int size, int rows, const double *H, const double *K, const double *inside) {
  NsStatus status = ns_law_new(out, NS_LAW_NORMAL_CONE, size, 0, 0, 0);
  NsLaw *law = *out;
  if (status != NS_OK) return status;
  law->rows = rows;
  law->H = ns_arena_matrix(&law->arena, rows, size);
  law->K = ns_arena_doubles(&law->arena, rows);
  law->inside = ns_arena_doubles(&law->arena, size);
  if (law->arena.failed) {
    ns_law_free(law);
    *out = NULL;
    return NS_ENOMEM;
  }
  if (rows > 0) {
    memcpy(law->H, H, (size_t)rows * (size_t)size * sizeof *H);
    memcpy(law->K, K, (size_t)rows * sizeof *K);
  }
  memcpy(law->inside, inside, (size_t)size * sizeof *inside);
  return NS_OK;
}

void ns_law_free(NsLaw *law) {
  if (!law) return;
  ns_arena_release(&law->arena);
  ns_free(law);
}

const char *ns_law_name(NsLawKind kind) {
  static const char *const names[] = {
#define X(code, name) name,
      NS_LAW_LIST(X)
#undef X
  };
  return names[kind];
}

NsStatus ns_law_check(const NsLaw *law, NsError *err) {
  if (law->closed) return ns_fail(err, NS_ECLOSED, "%s is closed", ns_law_name(law->kind));
  for (int i = 0; i < law->size; i++) {
    double lb = law->lower[i], ub = law->upper[i];
    if (isnan(lb) || isnan(ub))
      return ns_fail(err, NS_EARG, "%s: %s[%d] is nan", ns_law_name(law->kind), isnan(lb) ? "lb" : "ub", i + 1);
    if (lb == INFINITY || ub == -INFINITY)
      return ns_fail(err, NS_EARG, "%s: the bounds lb[%d] = %g, ub[%d] = %g are no interval", ns_law_name(law->kind),
                     i + 1, lb, i + 1, ub);
    if (lb > ub)
      return ns_fail(err, NS_EARG, "%s: lb[%d] = %g is above ub[%d] = %g", ns_law_name(law->kind), i + 1, lb, i + 1,
                     ub);
  }
  return NS_OK;
}

/* Whether lambda is in P but for rounding. */
static bool in_polyhedron(const NsLaw *law, const double *lambda) {
  for (int r = 0; r < law->rows; r++) {
    double value = 0, size = fabs(law->K[r]);
    for (int j = 0; j < law->size; j++) {
      double term = law->H[r + (size_t)j * (size_t)law->rows] * lambda[j];
      value += term;
      size += fabs(term);
    }
    if (!(value >= law->K[r] - 1e-12 * size)) return false;
  }
  return true;
}

void ns_law_project(const NsLaw *law, double *lambda) {
  if (law->rows > 0 && !in_polyhedron(law, lambda)) memcpy(lambda, law->inside, (size_t)law->size * sizeof *lambda);
  for (int i = 0; i < law->size; i++) {
    if (lambda[i] < law->lower[i]) lambda[i] = law->lower[i];
    if (lambda[i] > law->upper[i]) lambda[i] = law->upper[i];
  }
}
