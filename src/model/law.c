/*
** law.c
** Componentwise nonsmooth laws.
*/
#include "model/law.h"

#include <math.h>

#include "base/memory.h"

static void set_bounds(NsLaw *law, double lb, double ub) {
  for (int i = 0; i < law->size; i++) {
    bool equation = law->kind == NS_LAW_EQUALITY || i < law->equalities;
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
      return ns_fail(err, NS_EARG, "%s: the bounds lb[%d] = %g, ub[%d] = %g are no interval", ns_law_name(law->kind), i + 1, lb,
                     i + 1, ub);
    if (lb > ub)
      return ns_fail(err, NS_EARG, "%s: lb[%d] = %g is above ub[%d] = %g", ns_law_name(law->kind), i + 1, lb, i + 1, ub);
  }
  return NS_OK;
}

void ns_law_project(const NsLaw *law, double *lambda) {
  for (int i = 0; i < law->size; i++) {
    if (lambda[i] < law->lower[i]) lambda[i] = law->lower[i];
    if (lambda[i] > law->upper[i]) lambda[i] = law->upper[i];
  }
}
