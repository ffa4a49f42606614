/*
** mode_start.c
** The consistent start: impulses of one-sided multipliers, then the mode of all rows.
*/
#include <math.h>
#include <string.h>

#include "integrators/switching/flow_workspace.h"
#include "integrators/switching/mode.h"
#include "integrators/switching/mode_signs.h"

/* An output is 0 below this part of its terms: states of a script and of a checkpoint have rounding errors. */
#define START_ZERO 1e-11

NsStatus ns_mode_start(NsFlow *flow, double t, const double *x, const double *lambda, NsAmbiguity rule, double *s,
                       NsModeChoice *choice, NsError *err) {
  NsEquations *e = &flow->eq;
  size_t m = (size_t)e->m;
  *choice = (NsModeChoice){0};
  memcpy(flow->x, x, (size_t)e->n * sizeof *x);
  memcpy(flow->lambda, lambda, m * sizeof *lambda);
  ns_equations_gather(e, x, flow->s, flow->a);
  memcpy(s, flow->s, (size_t)e->nd * sizeof *s);
  ns_flow_grow_sizes(flow, s);
  NsStatus status = ns_equations_update(e, t, err);
  if (status == NS_OK) status = ns_equations_values(e, t, flow->x, flow->lambda, err);
  if (status == NS_OK) status = ns_equations_jacobians(e, t, flow->x, flow->lambda, false, err);
  if (status != NS_OK) return status;
  NsArena arena = {0};
  bool *open = ns_arena_take(&arena, m, sizeof *open);
  NsRowMode *mode = ns_arena_take(&arena, m, sizeof *mode);
  if (!arena.failed) {
    ns_flow_output_terms(flow);
    for (int i = 0; i < e->m; i++) {
      double zero = START_ZERO * flow->y_terms[i];
      bool of_state = ns_row_is_of_state(flow, i);
      open[i] = !of_state || fabs(e->y[i]) <= zero;
      mode[i] = NS_ROW_ACTIVE;
      if (of_state && e->y[i] > zero) mode[i] = NS_ROW_LOWER;
      if (of_state && e->y[i] < -zero) mode[i] = NS_ROW_UPPER;
      if (flow->lower[i] == flow->upper[i]) open[i] = false, mode[i] = NS_ROW_LOWER;
      if (!isfinite(flow->lower[i]) && !isfinite(flow->upper[i])) open[i] = false, mode[i] = NS_ROW_ACTIVE;
    }
    ns_flow_set_mode(flow, mode);
    status = ns_mode_choose(flow, t, s, open, rule, choice, err);
  } else status = ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_arena_release(&arena);
  return status;
}
