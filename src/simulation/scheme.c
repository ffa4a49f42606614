/*
** scheme.c
** Calls through to the integrator at hand.
*/
#include "simulation/scheme.h"

const char *ns_integrator_name(NsIntegratorKind kind) {
  static const char *const names[] = {
#define X(code, name) name,
      NS_INTEGRATOR_LIST(X)
#undef X
  };
  return names[kind];
}

bool ns_integrator_has_events(const NsIntegrator *integrator) {
  return integrator->kind == NS_RUNGE_KUTTA || integrator->kind == NS_D1_MINUS_LINEAR;
}

bool ns_integrator_locates_events(const NsIntegrator *integrator) {
  return integrator->kind == NS_RUNGE_KUTTA;
}

bool ns_integrator_keeps_penetration(const NsIntegrator *integrator) {
  return integrator->kind == NS_MOREAU_JEAN || integrator->kind == NS_MOREAU_JEAN_GLOBAL ||
         integrator->kind == NS_D1_MINUS_LINEAR;
}

NsStatus ns_integrator_accepts(const NsIntegrator *integrator, const NsNsds *nsds, NsError *err) {
  NsFamily family = integrator->kind == NS_EULER_MOREAU ? NS_FIRST_ORDER : NS_MECHANICS;
  for (int i = 0; i < nsds->nds; i++)
    if (ns_ds_family(nsds->ds[i]) != family)
      return ns_fail(err, NS_EARG, "%s: dynamical system '%s' is a %s one; use %s", ns_integrator_name(integrator->kind),
                     nsds->ds[i]->name, family == NS_MECHANICS ? "first-order" : "mechanical",
                     ns_integrator_name(family == NS_MECHANICS ? NS_EULER_MOREAU : NS_MOREAU_JEAN));
  if (ns_integrator_has_events(integrator))
    return ns_event_driven_accepts(nsds, ns_integrator_locates_events(integrator), ns_integrator_name(integrator->kind), err);
  if (integrator->kind == NS_SCHATZMAN_PAOLI) return ns_schatzman_paoli_accepts(nsds, err);
  return integrator->kind == NS_MOREAU_JEAN_GLOBAL ? ns_moreau_jean_sparse_suits(nsds, err) : NS_OK;
}

NsStatus ns_scheme_new(NsScheme *scheme, const NsIntegrator *integrator, NsNsds *nsds, bool projecting, double *clock) {
  *scheme = (NsScheme){0};
  if (ns_integrator_has_events(integrator)) return ns_event_driven_new(&scheme->event_driven, nsds, clock);
  if (integrator->kind == NS_MOREAU_JEAN_GLOBAL ||
      (integrator->kind == NS_MOREAU_JEAN && !projecting && ns_moreau_jean_sparse_preferred(nsds)))
    return ns_moreau_jean_sparse_new(&scheme->moreau_jean_sparse, nsds);
  if (integrator->kind == NS_SCHATZMAN_PAOLI) return ns_schatzman_paoli_new(&scheme->schatzman_paoli, nsds);
  if (integrator->kind == NS_MOREAU_JEAN) return ns_moreau_jean_new(&scheme->moreau_jean, nsds);
  if (ns_euler_moreau_sparse_suits(nsds)) return ns_euler_moreau_sparse_new(&scheme->euler_moreau_sparse, nsds);
  return ns_euler_moreau_new(&scheme->euler_moreau, nsds);
}

void ns_scheme_free(NsScheme *scheme) {
  ns_euler_moreau_free(scheme->euler_moreau);
  ns_euler_moreau_sparse_free(scheme->euler_moreau_sparse);
  ns_moreau_jean_free(scheme->moreau_jean);
  ns_moreau_jean_sparse_free(scheme->moreau_jean_sparse);
  ns_schatzman_paoli_free(scheme->schatzman_paoli);
  ns_event_driven_free(scheme->event_driven);
  *scheme = (NsScheme){0};
}

int ns_scheme_sparse_states(const NsScheme *scheme) {
  if (scheme->moreau_jean_sparse) return ns_moreau_jean_sparse_states(scheme->moreau_jean_sparse);
  return scheme->euler_moreau_sparse ? ns_euler_moreau_sparse_states(scheme->euler_moreau_sparse) : -1;
}

NsStatus ns_scheme_sparse_begin(NsScheme *scheme, const NsIntegrator *integrator, double t_k, double t_next, double h,
                                NsError *err) {
  if (scheme->moreau_jean_sparse)
    return ns_moreau_jean_sparse_begin(scheme->moreau_jean_sparse, &integrator->moreau_jean, t_k, t_next, h, err);
  return ns_euler_moreau_sparse_begin(scheme->euler_moreau_sparse, &integrator->euler_moreau, t_k, t_next, h, err);
}

NsSparseStep ns_scheme_sparse_problem(const NsScheme *scheme) {
  if (scheme->moreau_jean_sparse) return ns_moreau_jean_sparse_problem(scheme->moreau_jean_sparse);
  return ns_euler_moreau_sparse_problem(scheme->euler_moreau_sparse);
}

NsStatus ns_scheme_sparse_commit(NsScheme *scheme, const double *z, NsEnergyAccount *account, NsError *err) {
  if (scheme->moreau_jean_sparse) return ns_moreau_jean_sparse_commit(scheme->moreau_jean_sparse, z, account, err);
  return ns_euler_moreau_sparse_commit(scheme->euler_moreau_sparse, z, err);
}

bool ns_scheme_linear(const NsScheme *scheme) {
  if (ns_scheme_sparse_states(scheme) >= 0 || scheme->event_driven) return true;
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_linear(scheme->schatzman_paoli);
  return scheme->moreau_jean ? ns_moreau_jean_linear(scheme->moreau_jean) : ns_euler_moreau_linear(scheme->euler_moreau);
}

NsStatus ns_scheme_begin(NsScheme *scheme, const NsIntegrator *integrator, double t_k, double t_next, double h, NsError *err) {
  if (scheme->moreau_jean) return ns_moreau_jean_begin(scheme->moreau_jean, &integrator->moreau_jean, t_k, t_next, h, err);
  if (scheme->schatzman_paoli)
    return ns_schatzman_paoli_begin(scheme->schatzman_paoli, &integrator->schatzman_paoli, t_k, t_next, h, err);
  return ns_euler_moreau_begin(scheme->euler_moreau, &integrator->euler_moreau, t_k, t_next, h, err);
}

void ns_scheme_restart(NsScheme *scheme) {
  if (scheme->moreau_jean) ns_moreau_jean_restart(scheme->moreau_jean);
  else if (scheme->schatzman_paoli) ns_schatzman_paoli_restart(scheme->schatzman_paoli);
  else ns_euler_moreau_restart(scheme->euler_moreau);
}

NsStatus ns_scheme_evaluate(NsScheme *scheme, NsError *err) {
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_evaluate(scheme->schatzman_paoli, err);
  return scheme->moreau_jean ? ns_moreau_jean_evaluate(scheme->moreau_jean, err)
                             : ns_euler_moreau_evaluate(scheme->euler_moreau, err);
}

NsStatus ns_scheme_evaluate_relations(NsScheme *scheme, NsError *err) {
  if (scheme->moreau_jean) return ns_moreau_jean_evaluate_relations(scheme->moreau_jean, err);
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_evaluate_relations(scheme->schatzman_paoli, err);
  return ns_euler_moreau_evaluate_relations(scheme->euler_moreau, err);
}

NsStatus ns_scheme_linearize(NsScheme *scheme, bool full, NsError *err) {
  if (scheme->moreau_jean) return ns_moreau_jean_linearize(scheme->moreau_jean, full, err);
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_linearize(scheme->schatzman_paoli, err);
  return ns_euler_moreau_linearize(scheme->euler_moreau, err);
}

NsStatus ns_scheme_solve(NsScheme *scheme, NsOsnsp *problem) {
  const NsSchatzmanPaoli *sp = scheme->schatzman_paoli;
  if (sp) return ns_osnsp_solve_mixed(problem, ns_schatzman_paoli_problem(sp), ns_schatzman_paoli_guess(sp));
  if (scheme->moreau_jean) {
    const NsMixedProblem *p = ns_moreau_jean_problem(scheme->moreau_jean);
    for (int row = 0; problem->edge && row < p->n; row++)
      problem->edge[row] = ns_moreau_jean_interaction(scheme->moreau_jean, row);
    return ns_osnsp_solve_mixed(problem, p, ns_moreau_jean_guess(scheme->moreau_jean));
  }
  ns_euler_moreau_q(scheme->euler_moreau, problem->q);
  return ns_osnsp_solve(problem, ns_euler_moreau_matrix(scheme->euler_moreau), ns_euler_moreau_guess(scheme->euler_moreau));
}

void ns_scheme_advance(NsScheme *scheme, const double *lambda, double fraction) {
  if (scheme->moreau_jean) ns_moreau_jean_advance(scheme->moreau_jean, lambda, fraction);
  else if (scheme->schatzman_paoli) ns_schatzman_paoli_advance(scheme->schatzman_paoli, lambda, fraction);
  else ns_euler_moreau_advance(scheme->euler_moreau, lambda, fraction);
}

NsStepResidual ns_scheme_residual(NsScheme *scheme, const double *y, const NsStepTolerance *tolerance) {
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_residual(scheme->schatzman_paoli, y, tolerance);
  return scheme->moreau_jean ? ns_moreau_jean_residual(scheme->moreau_jean, y, tolerance)
                             : ns_euler_moreau_residual(scheme->euler_moreau, y, tolerance);
}

NsStatus ns_scheme_finite(const NsScheme *scheme, NsError *err) {
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_finite(scheme->schatzman_paoli, err);
  return scheme->moreau_jean ? ns_moreau_jean_finite(scheme->moreau_jean, err)
                             : ns_euler_moreau_finite(scheme->euler_moreau, err);
}

bool ns_scheme_predicted(const NsScheme *scheme) {
  return scheme->moreau_jean && ns_moreau_jean_predicted(scheme->moreau_jean);
}

void ns_scheme_make_implicit(NsScheme *scheme) {
  if (scheme->euler_moreau) ns_euler_moreau_make_implicit(scheme->euler_moreau);
}

bool ns_scheme_switched(const NsScheme *scheme) {
  return scheme->euler_moreau && ns_euler_moreau_switched(scheme->euler_moreau);
}

bool ns_scheme_restarts(NsScheme *scheme) {
  return scheme->euler_moreau && ns_euler_moreau_restarts(scheme->euler_moreau);
}

NsStatus ns_scheme_complete(NsScheme *scheme, NsError *err) {
  return scheme->moreau_jean ? ns_moreau_jean_complete(scheme->moreau_jean, err) : NS_OK;
}

NsStatus ns_scheme_commit(NsScheme *scheme, NsEnergyAccount *account, NsError *err) {
  if (scheme->moreau_jean) return ns_moreau_jean_commit(scheme->moreau_jean, account, err);
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_commit(scheme->schatzman_paoli, account, err);
  return ns_euler_moreau_commit(scheme->euler_moreau, err);
}

long ns_scheme_factorizations(const NsScheme *scheme) {
  if (scheme->schatzman_paoli) return ns_schatzman_paoli_factorizations(scheme->schatzman_paoli);
  return scheme->moreau_jean ? ns_moreau_jean_factorizations(scheme->moreau_jean)
                             : ns_euler_moreau_factorizations(scheme->euler_moreau);
}
