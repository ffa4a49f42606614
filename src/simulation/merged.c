/*
** merged.c
** Shows the islands' problems as one problem, row by row.
*/
#include "simulation/merged.h"

#include <string.h>

#include "base/memory.h"
#include "solvers/components.h"

struct NsMerged {
  const NsIsland *islands; /* `count` islands, borrowed */
  int count;
  int ninteractions; /* of the whole graph */
  int *first;        /* ninteractions + 1: first row of each interaction in the whole */
  int **place;       /* per island: the row in the whole of each row of its problem */
  int *group_at;     /* per row of the whole: 1 + the index of the group that begins there, in its island's problem; 0: none */
  int *island_at;    /* per row of the whole: the island of that group */
  double *M;         /* made at the first request */
  size_t capacity;   /* its number of elements */
  NsArena arena;
};

const NsInteraction *ns_island_first_interaction(const NsIsland *island) {
  const NsNsds *graph = island->graph;
  if (graph->ninteractions == 0) return NULL;
  const NsStepProblem *p = &island->scheme->problem;
  return graph->interactions[p->interaction && p->n > 0 ? p->interaction[0] : 0];
}

NsStatus ns_osnsp_join(NsOsnsp *whole, const NsNsds *nsds, const NsIslands *islands, NsError *err) {
  int m = whole->capacity;
  NsMerged *merged = whole->merged = ns_alloc(1, sizeof *merged);
  if (!merged) return ns_fail(err, NS_ENOMEM, "not enough memory");
  merged->islands = islands->of;
  merged->count = islands->count;
  merged->ninteractions = nsds->ninteractions;
  merged->first = ns_arena_ints(&merged->arena, (ptrdiff_t)nsds->ninteractions + 1);
  NS_ARENA_INTS(&merged->arena, m, &merged->group_at, &merged->island_at);
  merged->place = ns_arena_take(&merged->arena, (size_t)merged->count, sizeof *merged->place);
  for (int i = 0; merged->place && i < merged->count; i++)
    merged->place[i] = ns_arena_ints(&merged->arena, merged->islands[i].problem->capacity);
  return merged->arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
}

void ns_merged_free(NsMerged *merged) {
  if (!merged) return;
  ns_free(merged->M);
  ns_arena_release(&merged->arena);
  ns_free(merged);
}

static bool merged_sparse(const NsOsnsp *part) {
  return part->sparse || part->wide;
}

bool ns_merged_sparse(const NsMerged *merged) {
  for (int i = 0; i < merged->count; i++)
    if (merged_sparse(merged->islands[i].problem)) return true;
  return false;
}

const NsOsnsp *ns_merged_part(const NsMerged *merged, int k, const int **place) {
  if (k >= merged->count) return NULL;
  *place = merged->place[k];
  return merged->islands[k].problem;
}

/* An island without interactions has no problem to solve. */
bool ns_merged_solved(const NsMerged *merged) {
  for (int i = 0; i < merged->count; i++) {
    const NsOsnsp *part = merged->islands[i].problem;
    if (merged->islands[i].graph->ninteractions > 0 && !part->M && !merged_sparse(part)) return false;
  }
  return true;
}

/* ---- gathering ---- */

/* Fills the row in the whole of each row of each island's problem; returns the number of rows. */
static int merged_find_places(NsMerged *merged) {
  int *first = merged->first;
  memset(first, 0, ((size_t)merged->ninteractions + 1) * sizeof *first);
  for (int i = 0; i < merged->count; i++) {
    const NsIsland *island = &merged->islands[i];
    for (int row = 0; row < island->problem->m; row++) first[1 + island->number[island->problem->edge[row]]]++;
  }
  for (int e = 0; e < merged->ninteractions; e++) first[e + 1] += first[e];
  int m = first[merged->ninteractions];
  for (int i = 0; i < merged->count; i++) {
    const NsIsland *island = &merged->islands[i];
    for (int row = 0; row < island->problem->m; row++)
      merged->place[i][row] = first[island->number[island->problem->edge[row]]]++;
  }
  return m;
}

static void gather_rows(NsOsnsp *whole, const NsOsnsp *part, const int *place) {
  for (int row = 0; row < part->m; row++) {
    int to = place[row];
    whole->q[to] = part->q[row];
    whole->lower[to] = part->lower[row];
    whole->upper[to] = part->upper[row];
    whole->lambda[to] = part->lambda[row];
    whole->y[to] = part->y[row];
  }
}

/* Gathers the groups, in the order of their rows in the whole. */
static void gather_groups(NsOsnsp *whole) {
  NsMerged *merged = whole->merged;
  memset(merged->group_at, 0, (size_t)whole->m * sizeof *merged->group_at);
  for (int i = 0; i < merged->count; i++) {
    const NsOsnsp *part = merged->islands[i].problem;
    for (int g = 0, row = 0; g < part->ngroups; row += part->groups[g++].dim) {
      merged->group_at[merged->place[i][row]] = g + 1;
      merged->island_at[merged->place[i][row]] = i;
    }
  }
  whole->ngroups = 0;
  for (int row = 0; row < whole->m; row++)
    if (merged->group_at[row] > 0)
      whole->groups[whole->ngroups++] = merged->islands[merged->island_at[row]].problem->groups[merged->group_at[row] - 1];
}

/* The solver's name if all islands have used the same; else "several". */
static const char *joint_solver(const char *sofar, const char *own) {
  if (!sofar || strcmp(sofar, "none") == 0) return own;
  return !own || strcmp(own, "none") == 0 || strcmp(sofar, own) == 0 ? sofar : "several";
}

void ns_osnsp_gather(NsOsnsp *whole, const NsIsland *failed) {
  NsMerged *merged = whole->merged;
  if (!merged) return;
  NsSolverTotal total = ns_solver_total(NULL);
  const char *solver = NULL;
  whole->m = merged_find_places(merged);
  for (int i = 0; i < merged->count; i++) {
    const NsOsnsp *part = merged->islands[i].problem;
    gather_rows(whole, part, merged->place[i]);
    if (part->m == 0) continue;
    ns_solver_add(&total, &part->info);
    solver = joint_solver(solver, part->info.solver);
  }
  gather_groups(whole);
  total.info.solver = solver;
  whole->info = failed ? failed->problem->info : total.info;
}

static void merged_place_block(double *M, int m, const NsOsnsp *part, const int *place) {
  for (int j = 0; j < part->m; j++)
    for (int i = 0; i < part->m; i++) M[place[i] + (size_t)place[j] * (size_t)m] = part->M[i + (size_t)j * (size_t)part->m];
}

const double *ns_merged_matrix(NsMerged *merged, int m) {
  size_t elements = (size_t)m * (size_t)m;
  if (!ns_merged_solved(merged) || ns_merged_sparse(merged)) return NULL;
  if (!merged->M || merged->capacity < elements) {
    double *M = ns_resize(merged->M, elements + 1, sizeof *M);
    if (!M) return NULL;
    merged->M = M;
    merged->capacity = elements;
  }
  memset(merged->M, 0, elements * sizeof *merged->M);
  for (int i = 0; i < merged->count; i++)
    if (merged->islands[i].problem->M) merged_place_block(merged->M, m, merged->islands[i].problem, merged->place[i]);
  return merged->M;
}
