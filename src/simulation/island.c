/*
** island.c
** Divides the graph into its connected components.
*/
#include "simulation/island.h"

#include "model/components.h"
#include "simulation/merged.h"

/* ---- the graphs ---- */

/* Takes memory for the systems and interactions of each part; `of`: the island of each system. */
static void take_parts(NsIslands *islands, const NsNsds *nsds, const int *of) {
  for (int d = 0; d < nsds->nds; d++) islands->of[of[d]].part.nds++;
  for (int e = 0; e < nsds->ninteractions; e++) islands->of[of[nsds->interactions[e]->ds[0]->index]].part.ninteractions++;
  for (int i = 0; i < islands->count; i++) {
    NsIsland *island = &islands->of[i];
    NsNsds *part = island->graph = &island->part;
    part->t0 = nsds->t0;
    part->T = nsds->T;
    part->ds = ns_arena_take(&islands->arena, (size_t)part->nds, sizeof(NsDs *));
    part->interactions = ns_arena_take(&islands->arena, (size_t)part->ninteractions, sizeof(NsInteraction *));
    island->number = ns_arena_ints(&islands->arena, part->ninteractions);
  }
}

static void fill_parts(NsIslands *islands, const NsNsds *nsds, const int *of) {
  for (int i = 0; i < islands->count; i++) islands->of[i].part.nds = islands->of[i].part.ninteractions = 0;
  for (int d = 0; d < nsds->nds; d++) {
    NsNsds *part = &islands->of[of[d]].part;
    nsds->ds[d]->node = part->nds;
    part->ds[part->nds++] = nsds->ds[d];
  }
  for (int e = 0; e < nsds->ninteractions; e++) {
    NsIsland *island = &islands->of[of[nsds->interactions[e]->ds[0]->index]];
    island->number[island->part.ninteractions] = e;
    island->part.interactions[island->part.ninteractions++] = nsds->interactions[e];
  }
}

static NsStatus take_islands(NsIslands *islands, int count) {
  islands->of = ns_arena_take(&islands->arena, (size_t)count, sizeof *islands->of);
  islands->count = islands->of ? count : 0;
  return islands->of ? NS_OK : NS_ENOMEM;
}

static NsStatus keep_whole(NsIslands *islands, NsNsds *nsds) {
  if (take_islands(islands, 1) != NS_OK) return NS_ENOMEM;
  islands->of[0].graph = nsds;
  for (int d = 0; d < nsds->nds; d++) nsds->ds[d]->node = d;
  return NS_OK;
}

static NsStatus island_cut(NsIslands *islands, const NsIslandPlan *plan) {
  const NsNsds *nsds = plan->nsds;
  int *of = ns_arena_ints(&islands->arena, nsds->nds);
  if (!of) return NS_ENOMEM;
  int count = ns_nsds_components(nsds, of);
  if (count == 1) return keep_whole(islands, plan->nsds);
  if (take_islands(islands, count) != NS_OK) return NS_ENOMEM;
  take_parts(islands, nsds, of);
  if (islands->arena.failed) return NS_ENOMEM;
  fill_parts(islands, nsds, of);
  return NS_OK;
}

/* ---- the workspaces ---- */

/* Makes a scheme and, unless `alone`, a problem of its own for an island. */
static NsStatus take_pair(const NsIsland *island, const NsIslandPlan *plan, bool alone, NsScheme **scheme, NsOsnsp **problem,
                          NsError *err) {
  NsStatus status = *scheme ? NS_OK : ns_scheme_new(scheme, plan->integrator, island->graph, &plan->scheme);
  if (status == NS_OK && alone) *problem = plan->problem;
  if (status == NS_OK && !alone) status = ns_osnsp_new(problem, plan->problem->kind);
  if (status != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_osnsp_ask_like(*problem, plan->problem);
  status = ns_osnsp_prepare(*problem, island->graph, (*scheme)->states, err);
  if (status != NS_OK || alone || ns_osnsp_note_edges(*problem, island->graph) == NS_OK) return status;
  return ns_fail(err, NS_ENOMEM, "not enough memory");
}

/*
** The number of gears: 40 are enough for all lengths between the step of a grid and 1e-11 of it, and their factors may take
** about 64 MB. At least 4: the step, its two halves, and the same for the last step before a row.
*/
static int gears_for(const NsIsland *island) {
  double n = 0, m = 0;
  for (int d = 0; d < island->graph->nds; d++) n += island->graph->ds[d]->n;
  for (int e = 0; e < island->graph->ninteractions; e++) m += island->graph->interactions[e]->m;
  double numbers = island->scheme->states >= 0 ? 200 * (n + m) : 5 * n * n + 4 * m * m, most = 0x1p23 / (numbers + 1);
  return most >= 40 ? 40 : most <= 4 ? 4 : (int)most;
}

/* Takes memory for the gears of a linear island; the first is the present scheme, with a problem of its own. */
static NsStatus take_gears(NsIslands *islands, NsIsland *island) {
  const NsNsds *graph = island->graph;
  int most = gears_for(island);
  if (!island->number) {
    island->number = ns_arena_ints(&islands->arena, graph->ninteractions);
    for (int e = 0; island->number && e < graph->ninteractions; e++) island->number[e] = e;
  }
  island->gears = ns_arena_take(&islands->arena, (size_t)most, sizeof *island->gears);
  if (islands->arena.failed) return NS_ENOMEM;
  island->most_gears = most;
  island->ngears = 1;
  return NS_OK;
}

static NsStatus settle_island(NsIslands *islands, NsIsland *island, NsError *err) {
  const NsIslandPlan *plan = &islands->plan;
  NsStatus status = ns_scheme_new(&island->scheme, plan->integrator, island->graph, &plan->scheme);
  if (status == NS_OK) status = ns_snapshot_reserve(&island->before, ns_nsds_visit, island->graph);
  bool geared = status == NS_OK && plan->adaptive && island->scheme->linear;
  if (geared) status = take_gears(islands, island);
  ns_impulses_take(&island->sum, island->graph, &islands->arena);
  if (islands->arena.failed) status = NS_ENOMEM;
  if (status == NS_OK && plan->adaptive) status = ns_local_error_new(&island->error, island->graph);
  if (status != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  island->owns = islands->count > 1 || geared;
  status = take_pair(island, plan, !island->owns, &island->scheme, &island->problem, err);
  if (geared) island->gears[0] = (NsGear){0, 0, island->scheme, island->problem};
  return status;
}

static NsGear *find_gear(NsIsland *island, double h) {
  NsGear *oldest = &island->gears[0];
  for (int i = 0; i < island->ngears; i++) {
    NsGear *gear = &island->gears[i];
    if (gear->h == h || gear->h == 0) return gear;
    if (gear->used < oldest->used) oldest = gear;
  }
  return island->ngears < island->most_gears ? NULL : oldest;
}

/* Makes one more gear. */
static NsStatus add_gear(const NsIslands *islands, NsIsland *island, NsGear **gear, NsError *err) {
  NsGear made = {0};
  NsStatus status = take_pair(island, &islands->plan, false, &made.scheme, &made.problem, err);
  if (status != NS_OK) {
    ns_osnsp_free(made.problem);
    ns_scheme_free(made.scheme);
    return status;
  }
  *gear = &island->gears[island->ngears++];
  **gear = made;
  return NS_OK;
}

NsStatus ns_island_shift(const NsIslands *islands, NsIsland *island, double h, NsError *err) {
  if (!island->gears) return NS_OK;
  NsGear *gear = find_gear(island, h);
  NsStatus status = gear ? NS_OK : add_gear(islands, island, &gear, err);
  if (status != NS_OK) return status;
  gear->h = h;
  gear->used = ++island->shifts;
  island->scheme = gear->scheme;
  island->problem = gear->problem;
  ns_osnsp_ask_like(island->problem, islands->plan.problem);
  return NS_OK;
}

/* Makes the simulation's problem show the problems of the islands. */
static NsStatus join_problems(const NsIslands *islands, const NsIslandPlan *plan, NsError *err) {
  int m = 0;
  for (int i = 0; i < plan->nsds->ninteractions; i++) m += plan->nsds->interactions[i]->m;
  if (ns_osnsp_take_vectors(plan->problem, plan->nsds, m) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  return ns_osnsp_join(plan->problem, plan->nsds, islands, err);
}

NsStatus ns_islands_new(NsIslands *islands, const NsIslandPlan *plan, NsError *err) {
  *islands = (NsIslands){.plan = *plan};
  NsStatus status = ns_integrator_accepts(plan->integrator, plan->nsds, err);
  if (status != NS_OK) return status;
  if (island_cut(islands, plan) != NS_OK) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int i = 0; status == NS_OK && i < islands->count; i++) status = settle_island(islands, &islands->of[i], err);
  if (status == NS_OK && islands->of[0].owns) status = join_problems(islands, plan, err);
  if (status != NS_OK) ns_islands_free(islands, plan->problem);
  return status;
}

static void free_island(NsIsland *island) {
  for (int i = 0; i < island->ngears; i++) {
    ns_osnsp_free(island->gears[i].problem);
    ns_scheme_free(island->gears[i].scheme);
  }
  if (island->ngears == 0 && island->owns) ns_osnsp_free(island->problem);
  if (island->ngears == 0) ns_scheme_free(island->scheme);
  ns_snapshot_free(&island->before);
  ns_local_error_free(island->error);
}

void ns_islands_free(NsIslands *islands, NsOsnsp *problem) {
  if (problem) ns_osnsp_forget(problem);
  for (int i = 0; i < islands->count; i++) free_island(&islands->of[i]);
  ns_arena_release(&islands->arena);
  *islands = (NsIslands){0};
}

bool ns_islands_linear(const NsIslands *islands) {
  for (int i = 0; i < islands->count; i++)
    if (!islands->of[i].scheme->linear) return false;
  return true;
}
