/*
** island.c
** Divides the graph into its connected components.
*/
#include "simulation/island.h"

#include <string.h>

#include "model/components.h"
#include "simulation/merged.h"

/* ---- the graphs ---- */

/* Systems and interactions of a graph by their island. The lists of island i end at ds_end[i] and end[i], where those of the next one begin. */
typedef struct Cut {
  int *ds_end, *end, *number; /* number: of each interaction in the whole graph */
  NsDs **ds;
  NsInteraction **inter;
} Cut;

/* Moves the ends of the lists from counts to where each list begins, so that it can be filled. */
static void begin_lists(int count, int *end) {
  for (int i = 0, begin = 0; i < count; i++) {
    int own = end[i];
    end[i] = begin;
    begin += own;
  }
}

static NsStatus cut_lists(NsIslands *islands, const NsNsds *nsds, int count, Cut *cut) {
  const int *of = islands->home;
  NS_ARENA_INTS(&islands->arena, count, &cut->ds_end, &cut->end);
  cut->number = ns_arena_ints(&islands->arena, nsds->ninteractions);
  cut->ds = ns_arena_take(&islands->arena, (size_t)nsds->nds, sizeof(NsDs *));
  cut->inter = ns_arena_take(&islands->arena, (size_t)nsds->ninteractions, sizeof(NsInteraction *));
  if (islands->arena.failed) return NS_ENOMEM;
  for (int d = 0; d < nsds->nds; d++) cut->ds_end[of[d]]++;
  for (int e = 0; e < nsds->ninteractions; e++) cut->end[of[nsds->interactions[e]->ds[0]->index]]++;
  begin_lists(count, cut->ds_end), begin_lists(count, cut->end);
  for (int d = 0; d < nsds->nds; d++) cut->ds[cut->ds_end[of[d]]++] = nsds->ds[d];
  for (int e = 0; e < nsds->ninteractions; e++) {
    int at = cut->end[of[nsds->interactions[e]->ds[0]->index]]++;
    cut->inter[at] = nsds->interactions[e], cut->number[at] = e;
  }
  return NS_OK;
}

/* The island of the last graph with these systems and interactions, none of which has been linked since; NULL: there is none. */
static NsIsland *find_last(const NsIslands *last, const NsNsds *part) {
  if (!last || last->count < 2 || part->ds[0]->index >= last->nds) return NULL;
  NsIsland *old = &last->of[last->home[part->ds[0]->index]];
  const NsNsds *graph = old->graph;
  if (!graph || graph->nds != part->nds || graph->ninteractions != part->ninteractions) return NULL;
  if (memcmp(graph->ds, part->ds, (size_t)part->nds * sizeof *part->ds) != 0) return NULL;
  for (int e = 0; e < part->ninteractions; e++)
    if (graph->interactions[e] != part->interactions[e] || part->interactions[e]->linked > last->version) return NULL;
  return old;
}

/* Gives an island the memory of its graph, a copy of `part`. */
static NsStatus copy_part(NsIsland *island, const NsNsds *part) {
  NsNsds *own = island->graph = ns_arena_take(&island->arena, 1, sizeof *own);
  NsDs **ds = ns_arena_take(&island->arena, (size_t)part->nds, sizeof *ds);
  NsInteraction **inter = ns_arena_take(&island->arena, (size_t)part->ninteractions, sizeof(NsInteraction *));
  island->number = ns_arena_ints(&island->arena, part->ninteractions);
  if (island->arena.failed) return NS_ENOMEM;
  *own = *part;
  own->ds = memcpy(ds, part->ds, (size_t)part->nds * sizeof *ds);
  own->interactions = inter;
  if (part->ninteractions > 0) memcpy(inter, part->interactions, (size_t)part->ninteractions * sizeof *inter);
  return NS_OK;
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

/* Makes the graphs of the islands, or takes islands of the last graph. */
static NsStatus island_cut(NsIslands *islands, const NsIslandPlan *plan, const NsIslands *last) {
  const NsNsds *nsds = plan->nsds;
  Cut cut;
  islands->nds = nsds->nds;
  islands->home = ns_arena_ints(&islands->arena, nsds->nds);
  if (!islands->home) return NS_ENOMEM;
  int count = ns_nsds_components(nsds, islands->home);
  if (count == 1) return keep_whole(islands, plan->nsds);
  if (cut_lists(islands, nsds, count, &cut) != NS_OK || take_islands(islands, count) != NS_OK) return NS_ENOMEM;
  for (int i = 0, ds = 0, e = 0; i < count; ds = cut.ds_end[i], e = cut.end[i], i++) {
    NsIsland *island = &islands->of[i];
    NsNsds part = {.t0 = nsds->t0,
                   .T = nsds->T,
                   .ds = cut.ds + ds,
                   .interactions = cut.inter + e,
                   .nds = cut.ds_end[i] - ds,
                   .ninteractions = cut.end[i] - e};
    NsIsland *old = find_last(last, &part);
    if (old) *island = *old, island->kept = true, *old = (NsIsland){0};
    else if (copy_part(island, &part) != NS_OK) return NS_ENOMEM;
    for (int k = 0; k < part.ninteractions; k++) island->number[k] = cut.number[e + k];
    for (int k = 0; k < part.nds; k++) part.ds[k]->node = k;
  }
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
static NsStatus take_gears(NsIsland *island) {
  const NsNsds *graph = island->graph;
  int most = gears_for(island);
  if (!island->number) {
    island->number = ns_arena_ints(&island->arena, graph->ninteractions);
    for (int e = 0; island->number && e < graph->ninteractions; e++) island->number[e] = e;
  }
  island->gears = ns_arena_take(&island->arena, (size_t)most, sizeof *island->gears);
  if (island->arena.failed) return NS_ENOMEM;
  island->most_gears = most;
  island->ngears = 1;
  return NS_OK;
}

static NsStatus settle_island(const NsIslands *islands, NsIsland *island, NsError *err) {
  const NsIslandPlan *plan = &islands->plan;
  NsStatus status = ns_scheme_new(&island->scheme, plan->integrator, island->graph, &plan->scheme);
  if (status == NS_OK) status = ns_snapshot_reserve(&island->before, ns_nsds_visit, island->graph);
  bool geared = status == NS_OK && plan->adaptive && island->scheme->linear;
  if (geared) status = take_gears(island);
  ns_impulses_take(&island->sum, island->graph, &island->arena);
  if (island->arena.failed) status = NS_ENOMEM;
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

/* Gives islands back to the last graph, after a failure. */
static void return_kept(NsIslands *islands, const NsIslands *last) {
  for (int i = 0; i < islands->count; i++) {
    NsIsland *island = &islands->of[i];
    if (!island->kept) continue;
    last->of[last->home[island->graph->ds[0]->index]] = *island;
    *island = (NsIsland){0};
  }
}

NsStatus ns_islands_new(NsIslands *islands, const NsIslandPlan *plan, const NsIslands *last, NsError *err) {
  *islands = (NsIslands){.plan = *plan, .version = plan->nsds->version, .links = plan->nsds->links};
  NsStatus status = ns_integrator_accepts(plan->integrator, plan->nsds, err);
  if (status == NS_OK) status = ns_osnsp_accepts(plan->problem, plan->nsds, err);
  if (status != NS_OK) return status;
  for (int i = 0; last && i < last->count; i++) last->of[i].kept = false;
  if (island_cut(islands, plan, last) != NS_OK) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  for (int i = 0; status == NS_OK && i < islands->count; i++)
    if (!islands->of[i].kept) status = settle_island(islands, &islands->of[i], err);
  if (status == NS_OK && islands->of[0].owns) status = join_problems(islands, plan, err);
  if (status == NS_OK) return NS_OK;
  return_kept(islands, last);
  ns_islands_free(islands, plan->problem);
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
  ns_arena_release(&island->arena);
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
