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

double ns_step_part(const NsStep *step) {
  return step->whole > 0 ? step->h / step->whole : 1;
}

void ns_step_tell_length(const NsNsds *graph, const NsStep *step) {
  for (int i = 0; i < graph->ninteractions; i++) graph->interactions[i]->h = step->whole > 0 ? step->whole : step->h;
}

NsStep ns_step_divide_at(const NsStep *step, double t_k, double t, double h) {
  return (NsStep){
      t_k, t, h, step->implicit && t_k == step->t_k, step->whole > 0 ? step->whole : step->h, step->jumps && t == step->t};
}

const char *ns_integrator_name(const NsIntegrator *integrator) {
  return integrator->class->name;
}

const NsSchemeClass *ns_scheme_form(const NsSchemeClass *class, NsFamily family) {
  if (class->forms) return class->forms[family];
  return class->family == family ? class : NULL;
}

bool ns_integrator_drives(const NsIntegrator *integrator) {
  return integrator->class->forms || integrator->class->drive;
}

/* The name of the first scheme that takes a family, and locates events as `class` does, if there is such a scheme. */
static const char *scheme_of_family(const NsSchemeClass *class, NsFamily family) {
  const char *name = NULL;
  for (int i = 0; i < NS_SCHEME_CLASSES; i++) {
    const NsSchemeClass *other = ns_scheme_classes[i];
    if (!ns_scheme_form(other, family)) continue;
    if (other->locates == class->locates) return other->name;
    if (!name) name = other->name;
  }
  return name;
}

const char *ns_scheme_of_any_length(NsFamily family) {
  int i = 0;
  for (; i + 1 < NS_SCHEME_CLASSES; i++)
    if (ns_scheme_classes[i]->order && ns_scheme_classes[i]->family == family) break;
  return ns_scheme_classes[i]->name;
}

/* NS_EARG when a law shares the impulses of impacts, and the scheme steps over these. Schemes with `drive` check it themselves. */
static NsStatus scheme_check_exchange(const NsSchemeClass *form, const NsNsds *nsds, NsError *err) {
  for (int i = 0; i < nsds->ninteractions && !form->drive; i++)
    if (ns_law_needs(nsds->interactions[i]->law) & NS_NEEDS_EXCHANGE)
      return ns_fail(err, NS_EARG,
                     "%s: interaction '%s' has a %s, whose impacts must be located; use RungeKuttaOSI with EventDriven",
                     form->name, nsds->interactions[i]->name, ns_law_name(nsds->interactions[i]->law));
  return NS_OK;
}

NsStatus ns_integrator_accepts(const NsIntegrator *integrator, const NsNsds *nsds, NsError *err) {
  const NsSchemeClass *class = integrator->class;
  bool has[NS_FAMILIES] = {false};
  for (int i = 0; i < nsds->nds; i++) {
    NsFamily family = ns_ds_family(nsds->ds[i]);
    has[family] = true;
    if (!ns_scheme_form(class, family))
      return ns_fail(err, NS_EARG, "%s: dynamical system '%s' is a %s one; use %s", class->name, nsds->ds[i]->name,
                     family == NS_MECHANICS ? "mechanical" : "first-order", scheme_of_family(class, family));
  }
  NsStatus status = NS_OK;
  for (int family = 0; family < NS_FAMILIES && status == NS_OK; family++) {
    const NsSchemeClass *form = has[family] ? ns_scheme_form(class, (NsFamily)family) : NULL;
    if (form) status = scheme_check_exchange(form, nsds, err);
    if (form && form->accepts && status == NS_OK) status = form->accepts(nsds, err);
  }
  return status;
}

/* ---- workspaces ---- */

NsStatus ns_scheme_new(NsScheme **scheme, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  *scheme = NULL;
  return ns_scheme_form(integrator->class, ns_ds_family(nsds->ds[0]))->create(scheme, integrator, nsds, plan);
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
