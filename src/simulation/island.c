/*
** island.c
** Divides the graph into its connected components.
*/
#include "simulation/island.h"

#include "base/memory.h"
#include "model/components.h"
#include "simulation/joined.h"

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

/* Makes the whole graph one island. */
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

static NsStatus settle_island(NsIsland *island, const NsIslandPlan *plan, bool alone, NsError *err) {
  NsStatus status = ns_scheme_new(&island->scheme, plan->integrator, island->graph, &plan->scheme);
  if (status == NS_OK) status = ns_snapshot_reserve(&island->before, ns_nsds_visit, island->graph);
  if (status == NS_OK && alone) island->problem = plan->problem;
  if (status == NS_OK && !alone) status = ns_osnsp_new(&island->problem, plan->problem->kind);
  if (status != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  ns_osnsp_ask_like(island->problem, plan->problem);
  status = ns_osnsp_prepare(island->problem, island->graph, island->scheme->states, err);
  if (status != NS_OK || alone || ns_osnsp_note_edges(island->problem, island->graph) == NS_OK) return status;
  return ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* Makes the simulation's problem show the problems of the islands. */
static NsStatus join_problems(const NsIslands *islands, const NsIslandPlan *plan, NsError *err) {
  int m = 0;
  for (int i = 0; i < plan->nsds->ninteractions; i++) m += plan->nsds->interactions[i]->m;
  if (ns_osnsp_take_vectors(plan->problem, plan->nsds, m) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  return ns_osnsp_join(plan->problem, plan->nsds, islands, err);
}

NsStatus ns_islands_new(NsIslands *islands, const NsIslandPlan *plan, NsError *err) {
  *islands = (NsIslands){0};
  NsStatus status = ns_integrator_accepts(plan->integrator, plan->nsds, err);
  if (status != NS_OK) return status;
  if (island_cut(islands, plan) != NS_OK) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int i = 0; status == NS_OK && i < islands->count; i++)
    status = settle_island(&islands->of[i], plan, islands->count == 1, err);
  if (status == NS_OK && islands->count > 1) status = join_problems(islands, plan, err);
  if (status != NS_OK) ns_islands_free(islands, plan->problem);
  return status;
}

void ns_islands_free(NsIslands *islands, NsOsnsp *problem) {
  if (problem) ns_osnsp_forget(problem);
  for (int i = 0; i < islands->count; i++) {
    NsIsland *island = &islands->of[i];
    if (islands->count > 1) ns_osnsp_free(island->problem);
    ns_scheme_free(island->scheme);
    ns_snapshot_free(&island->before);
  }
  ns_arena_release(&islands->arena);
  *islands = (NsIslands){0};
}

bool ns_islands_linear(const NsIslands *islands) {
  for (int i = 0; i < islands->count; i++)
    if (!islands->of[i].scheme->linear) return false;
  return true;
}
