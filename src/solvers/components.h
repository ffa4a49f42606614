/*
** components.h
** The connected components of a problem: sets of variables that no entry of the matrix ties to others; and its strong components.
*/
#pragma once

#include "base/arena.h"
#include "solvers/box/box.h"

/*
** Components are numbered by their first members, members lie in increasing order: component c holds
** member[start[c]] .. member[start[c + 1] - 1].
*/
typedef struct NsComponents {
  int n, count;
  int *of;     /* n: the component of a node */
  int *start;  /* n + 1 */
  int *member; /* n */
  int *parent; /* n: parents in the union-find forest, workspace */
  int *tie;    /* n: a tree of entries by which the `tied` nodes of the last connected dense problem hang together */
  int tied;
} NsComponents;

/* Allocates for up to nmax nodes from the arena; check the arena's `failed`. */
void ns_components_take(NsComponents *c, NsArena *arena, ptrdiff_t nmax);

/*
** Begin with n single nodes, join nodes in any order (true: they were in different components), finish: number the components.
*/
void ns_components_begin(NsComponents *c, int n);
bool ns_components_join(NsComponents *c, int i, int j);
void ns_components_finish(NsComponents *c);

/*
** ns_components_dense: the components of the variables index[0 .. n - 1], joined by the nonzero entries of a dense
** matrix; members are positions in `index`. ns_components_single: all n nodes as one component.
*/
void ns_components_dense(NsComponents *c, const double *M, int ldm, int n, const int *index);
void ns_components_single(NsComponents *c, int n);

/* The number of members of component k. */
static inline int ns_components_size(const NsComponents *c, int k) {
  return c->start[k + 1] - c->start[k];
}

/*
** The strong components of a matrix, whose graph has an edge from j to i where variable j is in row i: block b has the variables
** member[start[b]] .. member[start[b + 1] - 1], and acts on blocks before it alone. Tarjan, Depth-first search and linear graph algorithms,
** SIAM J. Comput. 1, 1972.
*/
typedef struct NsBlocks {
  int count, *start, *member;
  int *index, *low,
      *next; /* of a variable: when it was met, -1: not yet; the earliest one that it leads to; where its search goes on */
  int *open, *path; /* variables without a block; the way from a root */
  bool *waits;      /* the variable is among the open ones */
} NsBlocks;

/* Allocates for up to nmax variables from the arena; check the arena's `failed`. */
void ns_blocks_take(NsBlocks *b, NsArena *arena, int nmax);
void ns_blocks_find(NsBlocks *b, const NsBoxProblem *p);

/*
** The combined info of solves on several components: iterations are summed, measures are the worst, warm when all were warm.
** `solver` names the one with the most iterations (the first on a tie).
*/
typedef struct NsSolverTotal {
  NsSolverInfo info;
  int most;
} NsSolverTotal;

/* Begins a total; `name` is the solver to report when there is no component. */
NsSolverTotal ns_solver_total(const char *name);

/* Adds one component. Status: the first failure, except that NS_ENOSOL (a proof) replaces others, and NS_EINTR replaces all. */
void ns_solver_add(NsSolverTotal *total, const NsSolverInfo *own);
