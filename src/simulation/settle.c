/*
** settle.c
** The kinds of simulation, and their two projections: of the coordinates alone, and of coordinates and velocities in turn.
*/
#include <math.h>

#include "simulation/newton.h"

/* Shifts of a combined projection that take the sums of the multipliers; where these are slow later ones are added. */
enum { SUMMED = 8 };

static double settle_violation(const NsTimeStepping *ts, const NsIsland *island, int *where) {
  return island->scheme->class->settle->violation(island->scheme, ts->projection.absolute, false, where);
}

/* Whether the equations hold, whatever the contacts are. */
static bool equations_settled(const NsTimeStepping *ts, const NsIsland *island) {
  double violation = island->scheme->class->settle->violation(island->scheme, ts->projection.absolute, true, NULL);
  return violation <= ts->projection.tolerance;
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

/*
** The shift of the linearised constraints. Where normals of contacts oppose each other it does not exist, and where rows depend on each other it
** is hard to find. So the contacts' rows are softened: the least squares of their gaps exist while the equations agree. At first by so
** little that the next shift undoes it; more where that does not help.
*/
static NsStatus find_shift(NsTimeStepping *ts, NsIsland *island, const NsStepProblem *positions, NsError *err) {
  static const double softness[] = {1e-6, 1e-3, 3e-2, 1};
  NsStatus status = NS_ENOSOL;
  for (size_t i = 0; i < sizeof softness / sizeof *softness && ns_worth_retrying(status); i++) {
    island->scheme->class->settle->soften(island->scheme, softness[i]);
    status = ns_osnsp_solve_positions(island->problem, positions);
  }
  return status == NS_OK ? NS_OK : without_shift(ts, island, status, err);
}

/* The least violation of the iterates of a projection in which the equations hold; that iterate is kept. */
typedef struct Best {
  double violation;
  bool known;
  bool compromise; /* the projection has ended there, with contacts that are violated */
} Best;

static void keep_best(const NsTimeStepping *ts, const NsIsland *island, Best *best) {
  double violation = settle_violation(ts, island, NULL);
  if ((best->known && !(violation < best->violation)) || !equations_settled(ts, island)) return;
  island->scheme->class->settle->keep(island->scheme);
  best->violation = violation;
  best->known = true;
}

/* Returns to the best iterate, in which contacts stay violated. `status`: there is none. */
static NsStatus compromise(const NsIsland *island, Best *best, NsStatus status, NsError *err) {
  if (!ns_worth_retrying(status) || !best->known) return status;
  best->compromise = true;
  return island->scheme->class->settle->go_back(island->scheme, err);
}

/* Projects the coordinates on the constraints; the velocities stay. */
static NsStatus project_best(NsTimeStepping *ts, NsIsland *island, Best *best, NsError *err) {
  const NsSchemeSettle *settle = island->scheme->class->settle;
  *best = (Best){.known = false};
  for (int i = 0; !settled(ts, island); i++) {
    const NsStepProblem *positions;
    keep_best(ts, island, best);
    if (i == ts->projection.max_iterations) return compromise(island, best, not_settled(ts, island, "projection", err), err);
    NsStatus status = settle->positions(island->scheme, &positions, err);
    if (status != NS_OK) return ns_ts_locate(ts, status, err);
    status = find_shift(ts, island, positions, err);
    if (status != NS_OK) return compromise(island, best, status, err);
    status = settle->shift(island->scheme, island->problem->shift, i >= SUMMED, err);
    if (status != NS_OK) return ns_ts_locate(ts, status, err);
  }
  return NS_OK;
}

/* Counts a step in which contacts stay violated. */
static NsStatus leave_violated(NsTimeStepping *ts, const NsIsland *island) {
  ts->stats.unsettled_steps++;
  ts->stats.unsettled = fmax(ts->stats.unsettled, settle_violation(ts, island, NULL));
  return NS_OK;
}

static NsStatus project(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  Best best;
  NsStatus status = project_best(ts, island, &best, err);
  return status == NS_OK && best.compromise ? leave_violated(ts, island) : status;
}

/*
** Projects coordinates and velocities in turn, until both hold. Contacts that penetrate first take part in the velocity
** problem; when none is added, the coordinates are shifted. Contacts that a shift had to leave violated end it with the next velocities.
*/
static NsStatus combine(NsTimeStepping *ts, NsIsland *island, NsError *err) {
  NsScheme *scheme = island->scheme;
  NsStatus status = NS_OK;
  Best best = {0};
  for (int shifts = 0; status == NS_OK && !settled(ts, island);) {
    if (best.compromise && equations_settled(ts, island)) return leave_violated(ts, island);
    if (!settle_enlarge(ts, island)) {
      if (shifts++ == ts->projection.max_iterations) {
        status = not_settled(ts, island, "combined projection", err);
        return equations_settled(ts, island) ? leave_violated(ts, island) : status;
      }
      status = project_best(ts, island, &best, err);
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
