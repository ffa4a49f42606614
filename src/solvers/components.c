/*
** components.c
** Connected components by union-find and searches, strong components by Tarjan's algorithm.
*/
#include "solvers/components.h"

#include <math.h>

#include "base/forest.h"
#include "solvers/residual.h"

void ns_components_take(NsComponents *c, NsArena *arena, ptrdiff_t nmax) {
  c->of = ns_arena_ints(arena, nmax);
  c->start = ns_arena_ints(arena, nmax + 1);
  NS_ARENA_INTS(arena, nmax, &c->member, &c->parent, &c->tie);
  c->tied = 0;
}

void ns_components_begin(NsComponents *c, int n) {
  c->n = n;
  for (int i = 0; i < n; i++) c->parent[i] = i;
}

/* Fills start and member from `of`. */
static void sort_members(NsComponents *c) {
  for (int i = 0; i <= c->n; i++) c->start[i] = 0;
  for (int i = 0; i < c->n; i++) c->start[c->of[i] + 1]++;
  for (int k = 0; k < c->count; k++) c->start[k + 1] += c->start[k];
  for (int i = 0; i < c->n; i++) c->member[c->start[c->of[i]]++] = i;
  for (int k = c->count; k > 0; k--) c->start[k] = c->start[k - 1];
  c->start[0] = 0;
}

bool ns_components_join(NsComponents *c, int i, int j) {
  return ns_forest_join(c->parent, i, j);
}

void ns_components_finish(NsComponents *c) {
  c->count = ns_forest_number(c->parent, c->n, c->of);
  sort_members(c);
}

void ns_components_single(NsComponents *c, int n) {
  c->n = n;
  c->count = n > 0;
  for (int i = 0; i < n; i++) c->of[i] = 0, c->member[i] = i;
  c->start[0] = 0;
  c->start[c->count] = n;
}

/* Whether the tree of the last connected problem ties all nodes; at first node 0 ties every other, as in a full matrix. */
static bool tree_ties_all(NsComponents *c, const double *M, int ldm, int n, const int *index) {
  for (int k = 0; c->tied != n && k < n; k++) c->tie[k] = 0;
  c->tied = n;
  for (int k = 1; k < n; k++) {
    size_t i = (size_t)index[k], j = (size_t)index[c->tie[k]], ld = (size_t)ldm;
    if (M[i + j * ld] == 0 && M[j + i * ld] == 0) return false;
  }
  return true;
}

/*
** Breadth-first search, and O(n) for a full matrix, or one with the pattern of the last problem, if it is connected. `parent`: nodes
** without a component; member[0 .. last - 1]: the current one.
*/
void ns_components_dense(NsComponents *c, const double *M, int ldm, int n, const int *index) {
  int left = n, last = 0;
  if (n > 0 && tree_ties_all(c, M, ldm, n, index)) {
    ns_components_single(c, n);
    return;
  }
  c->n = n;
  for (int i = 0; i < n; i++) c->parent[i] = i;
  for (c->count = 0; left > 0; c->count++) {
    int next = last;
    c->start[c->count] = last;
    c->member[last++] = c->parent[0];
    left--;
    for (int k = 0; k < left; k++) c->parent[k] = c->parent[k + 1];
    for (; next < last && left > 0; next++) {
      int a = index[c->member[next]], stay = 0;
      for (int k = 0; k < left; k++) {
        int node = c->parent[k], j = index[node];
        bool tied = M[a + (size_t)j * (size_t)ldm] != 0 || M[j + (size_t)a * (size_t)ldm] != 0;
        if (tied) c->tie[node] = c->member[next], c->member[last++] = node;
        else c->parent[stay++] = node;
      }
      left = stay;
    }
    for (int k = c->start[c->count]; k < last; k++) c->of[c->member[k]] = c->count;
  }
  c->start[c->count] = n;
  if (c->count > 1) c->tied = 0, sort_members(c);
  else
    for (int i = 0; i < n; i++) c->member[i] = i;
}

/* ---- blocks ---- */

void ns_blocks_take(NsBlocks *b, NsArena *arena, int nmax) {
  b->start = ns_arena_ints(arena, nmax + 1);
  NS_ARENA_INTS(arena, nmax, &b->member, &b->index, &b->low, &b->next, &b->open, &b->path);
  b->waits = ns_arena_take(arena, (size_t)nmax, sizeof *b->waits);
}

/* Meets variable v, which becomes entry `length` of the path. */
static void meet_variable(NsBlocks *b, int v, int *met, int *open, int length) {
  b->index[v] = b->low[v] = (*met)++;
  b->next[v] = 0;
  b->open[(*open)++] = v;
  b->waits[v] = true;
  b->path[length] = v;
}

/* The next variable that v acts on and that was not met yet; -1: there is none. */
static int follow_variable(NsBlocks *b, const NsBoxProblem *p, int v) {
  const double *column = p->M + (size_t)v * (size_t)p->ldm;
  for (int i = b->next[v]; i < p->n; i++) {
    if (column[i] == 0) continue;
    if (b->index[i] < 0) return b->next[v] = i + 1, i;
    if (b->waits[i] && b->index[i] < b->low[v]) b->low[v] = b->index[i];
  }
  return -1;
}

/* Takes the open variables from v on as a block. */
static void close_block(NsBlocks *b, int v, int *open) {
  int at = b->start[b->count], i;
  do {
    i = b->open[--*open];
    b->waits[i] = false;
    b->member[at++] = i;
  } while (i != v);
  b->start[++b->count] = at;
}

void ns_blocks_find(NsBlocks *b, const NsBoxProblem *p) {
  int met = 0, open = 0;
  b->count = b->start[0] = 0;
  for (int i = 0; i < p->n; i++) b->index[i] = -1, b->waits[i] = false;
  for (int root = 0; root < p->n; root++) {
    int length = 0;
    if (b->index[root] < 0) meet_variable(b, root, &met, &open, length++);
    while (length > 0) {
      int v = b->path[length - 1], i = follow_variable(b, p, v);
      if (i >= 0) {
        meet_variable(b, i, &met, &open, length++);
        continue;
      }
      if (b->low[v] == b->index[v]) close_block(b, v, &open);
      if (--length > 0 && b->low[v] < b->low[b->path[length - 1]]) b->low[b->path[length - 1]] = b->low[v];
    }
  }
}

/* ---- totals ---- */

NsSolverTotal ns_solver_total(const char *name) {
  return (NsSolverTotal){{.status = NS_OK, .warm = true, .solver = name}, -1};
}

/* Rank of a status: the problem reports the highest of its components. */
static int weight_of(NsStatus status) {
  return status == NS_OK ? 0 : status == NS_EINTR ? 3 : status == NS_ENOSOL ? 2 : 1;
}

/* The larger of two measures; NaN counts as the largest. */
static double worse(double a, double b) {
  return b != b ? INFINITY : ns_larger(b, a);
}

void ns_solver_add(NsSolverTotal *total, const NsSolverInfo *own) {
  NsSolverInfo *all = &total->info;
  if (weight_of(own->status) > weight_of(all->status)) all->status = own->status;
  all->iterations += own->iterations;
  all->residual = worse(all->residual, own->residual);
  all->relative = worse(all->relative, own->relative);
  all->backward = worse(all->backward, own->backward);
  all->warm = all->warm && own->warm;
  if (own->iterations > total->most) total->most = own->iterations, all->solver = own->solver;
}
