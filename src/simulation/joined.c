/*
** joined.c
** Shows the islands' problems as one problem, row by row.
*/
#include "simulation/joined.h"

#include <string.h>

#include "base/memory.h"
#include "solvers/components.h"

struct NsJoined {
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
  const NsStepProblem *p = island->scheme->class->problem ? island->scheme->class->problem(island->scheme) : NULL;
  return graph->interactions[p && p->interaction && p->n > 0 ? p->interaction[0] : 0];
}

NsStatus ns_osnsp_join(NsOsnsp *whole, const NsNsds *nsds, const NsIslands *islands, NsError *err) {
  int m = whole->capacity;
  NsJoined *joined = whole->joined = ns_alloc(1, sizeof *joined);
  if (!joined) return ns_fail(err, NS_ENOMEM, "not enough memory");
  joined->islands = islands->of;
  joined->count = islands->count;
  joined->ninteractions = nsds->ninteractions;
  joined->first = ns_arena_ints(&joined->arena, (ptrdiff_t)nsds->ninteractions + 1);
  joined->group_at = ns_arena_ints(&joined->arena, m);
  joined->island_at = ns_arena_ints(&joined->arena, m);
  joined->place = ns_arena_take(&joined->arena, (size_t)joined->count, sizeof *joined->place);
  for (int i = 0; joined->place && i < joined->count; i++)
    joined->place[i] = ns_arena_ints(&joined->arena, joined->islands[i].problem->capacity);
  return joined->arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
}

void ns_joined_free(NsJoined *joined) {
  if (!joined) return;
  ns_free(joined->M);
  ns_arena_release(&joined->arena);
  ns_free(joined);
}

static bool joined_sparse(const NsOsnsp *part) {
  return part->sparse || part->wide;
}

bool ns_joined_sparse(const NsJoined *joined) {
  for (int i = 0; i < joined->count; i++)
    if (joined_sparse(joined->islands[i].problem)) return true;
  return false;
}

/* An island without interactions has no problem to solve. */
bool ns_joined_solved(const NsJoined *joined) {
  for (int i = 0; i < joined->count; i++) {
    const NsOsnsp *part = joined->islands[i].problem;
    if (joined->islands[i].graph->ninteractions > 0 && !part->M && !joined_sparse(part)) return false;
  }
  return true;
}

/* ---- gathering ---- */

/* Fills the row in the whole of each row of each island's problem; returns the number of rows. */
static int joined_find_places(NsJoined *joined) {
  int *first = joined->first;
  memset(first, 0, ((size_t)joined->ninteractions + 1) * sizeof *first);
  for (int i = 0; i < joined->count; i++) {
    const NsIsland *island = &joined->islands[i];
    for (int row = 0; row < island->problem->m; row++) first[1 + island->number[island->problem->edge[row]]]++;
  }
  for (int e = 0; e < joined->ninteractions; e++) first[e + 1] += first[e];
  int m = first[joined->ninteractions];
  for (int i = 0; i < joined->count; i++) {
    const NsIsland *island = &joined->islands[i];
    for (int row = 0; row < island->problem->m; row++)
      joined->place[i][row] = first[island->number[island->problem->edge[row]]]++;
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
  NsJoined *joined = whole->joined;
  memset(joined->group_at, 0, (size_t)whole->m * sizeof *joined->group_at);
  for (int i = 0; i < joined->count; i++) {
    const NsOsnsp *part = joined->islands[i].problem;
    for (int g = 0, row = 0; g < part->ngroups; row += part->groups[g++].dim) {
      joined->group_at[joined->place[i][row]] = g + 1;
      joined->island_at[joined->place[i][row]] = i;
    }
  }
  whole->ngroups = 0;
  for (int row = 0; row < whole->m; row++)
    if (joined->group_at[row] > 0)
      whole->groups[whole->ngroups++] = joined->islands[joined->island_at[row]].problem->groups[joined->group_at[row] - 1];
}

/* The solver's name if all islands have used the same; else "several". */
static const char *joint_solver(const char *sofar, const char *own) {
  if (!sofar || strcmp(sofar, "none") == 0) return own;
  return !own || strcmp(own, "none") == 0 || strcmp(sofar, own) == 0 ? sofar : "several";
}

void ns_osnsp_gather(NsOsnsp *whole, const NsIsland *failed) {
  NsJoined *joined = whole->joined;
  if (!joined) return;
  NsSolverTotal total = ns_solver_total(NULL);
  const char *solver = NULL;
  whole->m = joined_find_places(joined);
  for (int i = 0; i < joined->count; i++) {
    const NsOsnsp *part = joined->islands[i].problem;
    gather_rows(whole, part, joined->place[i]);
    if (part->m == 0) continue;
    ns_solver_add(&total, &part->info);
    solver = joint_solver(solver, part->info.solver);
  }
  gather_groups(whole);
  total.info.solver = solver;
  whole->info = failed ? failed->problem->info : total.info;
}

static void joined_place_block(double *M, int m, const NsOsnsp *part, const int *place) {
  for (int j = 0; j < part->m; j++)
    for (int i = 0; i < part->m; i++) M[place[i] + (size_t)place[j] * (size_t)m] = part->M[i + (size_t)j * (size_t)part->m];
}

const double *ns_joined_matrix(NsJoined *joined, int m) {
  size_t elements = (size_t)m * (size_t)m;
  if (!ns_joined_solved(joined) || ns_joined_sparse(joined)) return NULL;
  if (!joined->M || joined->capacity < elements) {
    double *M = ns_resize(joined->M, elements + 1, sizeof *M);
    if (!M) return NULL;
    joined->M = M;
    joined->capacity = elements;
  }
  memset(joined->M, 0, elements * sizeof *joined->M);
  for (int i = 0; i < joined->count; i++)
    if (joined->islands[i].problem->M) joined_place_block(joined->M, m, joined->islands[i].problem, joined->place[i]);
  return joined->M;
}
