/*
** scheme.c
** The list of schemes; functions for all integrators and their workspaces.
*/
#include "integrators/scheme.h"

#include "base/memory.h"

const NsSchemeClass *const ns_scheme_classes[] = {
#define X(name) &ns_scheme_##name,
    NS_SCHEME_LIST(X)
#undef X
};

/* ---- integrators ---- */

const char *ns_integrator_name(const NsIntegrator *integrator) {
  return integrator->class->name;
}

/* The name of the first scheme of a family. */
static const char *scheme_of_family(NsFamily family) {
  int i = 0;
  while (i + 1 < NS_SCHEME_CLASSES && ns_scheme_classes[i]->family != family) i++;
  return ns_scheme_classes[i]->name;
}

NsStatus ns_integrator_accepts(const NsIntegrator *integrator, const NsNsds *nsds, NsError *err) {
  const NsSchemeClass *class = integrator->class;
  for (int i = 0; i < nsds->nds; i++)
    if (ns_ds_family(nsds->ds[i]) != class->family)
      return ns_fail(err, NS_EARG, "%s: dynamical system '%s' is a %s one; use %s", class->name, nsds->ds[i]->name,
                     class->family == NS_MECHANICS ? "first-order" : "mechanical", scheme_of_family(ns_ds_family(nsds->ds[i])));
  return class->accepts ? class->accepts(nsds, err) : NS_OK;
}

/* ---- workspaces ---- */

NsStatus ns_scheme_new(NsScheme **scheme, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  *scheme = NULL;
  return integrator->class->create(scheme, integrator, nsds, plan);
}

void ns_scheme_free(NsScheme *scheme) {
  if (!scheme) return;
  if (scheme->class->destroy) scheme->class->destroy(scheme);
  ns_arena_release(&scheme->arena);
  ns_free(scheme);
}

void *ns_scheme_take(size_t bytes, const NsSchemeClass *class, const NsIntegrator *integrator, NsNsds *nsds) {
  NsScheme *scheme = ns_alloc(1, bytes);
  if (!scheme) return NULL;
  scheme->class = class;
  scheme->integrator = integrator;
  scheme->nsds = nsds;
  scheme->states = -1;
  return scheme;
}

NsStatus ns_scheme_hand_over(NsScheme **to, NsScheme *scheme) {
  bool failed = scheme->arena.failed;
  if (failed) ns_scheme_free(scheme);
  *to = failed ? NULL : scheme;
  return failed ? NS_ENOMEM : NS_OK;
}
