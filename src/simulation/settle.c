/*
** settle.c
** The kinds of simulation, and their two projections: of the coordinates alone, and of coordinates and velocities in turn.
*/
#include "simulation/newton.h"

/* Shifts of a combined projection that take the sums of the multipliers; where these are slow later ones are added. */
enum { SUMMED = 8 };

static double settle_violation(const NsTimeStepping *ts, const NsIsland *island, int *where) {
  return island->scheme->class->settle->violation(island->scheme, ts->projection.absolute, where);
}

static bool settle_enlarge(const NsTimeStepping *ts, NsIsland *island) {
  return island->scheme->class->settle->enlarge(island->scheme, ts->projection.tolerance, ts->projection.absolute);
}

static bool settled(const NsTimeStepping *ts, const NsIsland *island) {
  return settle_violation(ts, island, NULL) <= ts->projection.tolerance;
}

static NsStatus not_settled(NsTimeStepping *ts, NsIsland *island, const char *what, NsError *err) {
  int where = 0;
  double violation = settle_violation(ts, island, &where);
  ns_fail(err, NS_ENOCONV, "%s: the %s did not converge in %d iterations: violation %.3g of '%s', tolerance %.3g",
          ts->class->name, what, ts->projection.max_iterations, violation, island->graph->interactions[where]->name,
          ts->projection.tolerance);
  return ns_ts_locate(ts, NS_ENOCONV, err);
}

static NsStatus without_shift(NsTimeStepping *ts, NsIsland *island, NsStatus status, NsError *err) {
  int where = 0;
  (void)settle_violation(ts, island, &where);
  ns_fail(err, status, "%s: the problem of the projection has no solution: %s; '%s' is violated most", ts->class->name,
          ns_status_message(status), island->graph->interactions[where]->name);
  return ns_ts_locate(ts, status, err);
}

/* Projects the coordinates on the constraints; the velocities stay. */
static NsStatus project(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  const NsSchemeSettle *settle = island->scheme->class->settle;
  for (int i = 0; !settled(ts, island); i++) {
    const NsStepProblem *positions;
    if (i == ts->projection.max_iterations) return not_settled(ts, island, "projection", err);
    NsStatus status = settle->positions(island->scheme, &positions, err);
    if (status == NS_OK) {
      status = ns_osnsp_solve_positions(island->problem, positions);
      if (status != NS_OK) return without_shift(ts, island, status, err);
      status = settle->shift(island->scheme, island->problem->shift, i >= SUMMED, err);
    }
    if (status != NS_OK) return ns_ts_locate(ts, status, err);
  }
  return NS_OK;
}

/*
** Projects coordinates and velocities in turn, until both hold. Contacts that penetrate first take part in the velocity
** problem; when none is added, the coordinates are shifted.
*/
static NsStatus combine(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsScheme *scheme = island->scheme;
  NsStatus status = NS_OK;
  for (int shifts = 0; status == NS_OK && !settled(ts, island);) {
    if (!settle_enlarge(ts, island)) {
      if (shifts++ == ts->projection.max_iterations) return not_settled(ts, island, "combined projection", err);
      status = project(ts, island, err);
      (void)settle_enlarge(ts, island);
    }
    int before = island->newton_iterations;
    if (status == NS_OK && scheme->linear) scheme->class->restart(scheme);
    if (status == NS_OK) status = ns_island_solve(ts, island, err);
    island->newton_iterations += before;
  }
  return status;
}

const NsSimulationClass ns_simulation_classes[NS_SIMULATION_CLASSES] = {
#define X(...) {__VA_ARGS__},
    NS_SIMULATION_LIST(X)
#undef X
};
