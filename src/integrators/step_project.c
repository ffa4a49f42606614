/*
** step_project.c
** The projection at the end of a step as a map, for differences.
*/
#include "integrators/step_project.h"

#include <math.h>

/* Shifts that are tried at most: a projection of a run has converged, and needs a few. */
enum { MOST_SHIFTS = 100 };

/* NS_EARG when a contact takes part in the problem of the projection. */
static NsStatus refuse_contacts(const NsStepEquations *T, const NsStepProblem *problem, NsError *err) {
  for (int i = 0; i < problem->n; i++)
    if (isfinite(problem->groups[i].lower))
      return ns_fail(
          err, NS_EARG,
          "sensitivities: '%s' takes part in the projection of the step to t=%.10g: a contact is shifted to one side "
          "only, which has no derivative; use EventDriven with a %s",
          T->graph->interactions[problem->interaction[i]]->name, T->step.t, ns_scheme_runge_kutta_text);
  return NS_OK;
}

static NsStatus factor_positions(NsStepEquations *T, const NsStepProblem *problem, NsError *err) {
  NsStepProjection *projection = &T->projection;
  int n = problem->n;
  if (!projection->lu || projection->n != n) {
    ns_lu_free(projection->lu);
    projection->n = n;
    projection->lu = NULL;
    if (ns_lu_new(&projection->lu, n) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      size_t at = (size_t)i + (size_t)j * (size_t)n;
      projection->matrix[at] = problem->W ? problem->W[at] : ns_sparse_get(problem->sparse, i, j);
    }
  NsStatus status = ns_lu_factor_fair(projection->lu, projection->matrix, n);
  if (status == NS_OK) return NS_OK;
  int row = ns_lu_singular_row(projection->lu);
  return ns_fail(err, status,
                 "sensitivities: the projection of '%s' is not unique in the step to t=%.10g: the step has no derivative",
                 T->graph->interactions[problem->interaction[row >= 0 && row < n ? row : 0]]->name, T->step.t);
}

/* One shift of the linearisation's coordinates. */
static NsStatus shift_once(NsStepEquations *T, NsError *err) {
  const NsStepProjection *projection = &T->projection;
  const NsSchemeSettle *settle = T->lin->class->settle;
  const NsStepProblem *problem;
  NsStatus status = settle->positions(T->lin, &problem, err);
  if (status == NS_OK) status = refuse_contacts(T, problem, err);
  if (status == NS_OK && problem->n > 0) status = factor_positions(T, problem, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < problem->n; i++) projection->gaps[i] = -problem->q[i];
  if (problem->n > 0) ns_lu_solve(projection->lu, 1, projection->gaps, problem->n);
  return settle->shift(T->lin, projection->gaps, false, err);
}

NsStatus ns_step_project_begin(NsStepEquations *T, NsError *err) {
  const NsSchemeSettle *settle = T->lin->class->settle;
  const NsSensitivityOptions *options = T->s->options;
  NsStatus status = T->of->state(T->lin, T->room.once, T->room.once + T->n, err);
  if (status == NS_OK) status = T->of->unsettled(T->lin, err);
  for (T->projection.rounds = 1; status == NS_OK; T->projection.rounds++) {
    bool last = T->projection.rounds == MOST_SHIFTS ||
                !(settle->violation(T->lin, options->settles_absolute, false, NULL) > options->settles);
    status = shift_once(T, err);
    if (last) break;
  }
  return status;
}

NsStatus ns_step_sample_settled(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err) {
  NsStatus status = ns_step_place(T, along, e, false, err);
  if (status == NS_OK) status = T->of->equations(T->lin, T->projection.rho, T->room.dy, err);
  if (status == NS_OK) status = T->lin->class->linearize(T->lin, true, err);
  if (status == NS_OK) status = T->of->state(T->lin, out, out + T->n, err);
  if (status == NS_OK) status = T->of->unsettled(T->lin, err);
  for (int k = 0; k < T->projection.rounds && status == NS_OK; k++) status = shift_once(T, err);
  if (status == NS_OK) T->of->settled(T->lin, out);
  return status;
}
