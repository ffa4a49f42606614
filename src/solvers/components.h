/*
** components.h
** The connected components of a problem: sets of variables that no entry of the matrix ties to others.
*/
#ifndef NS_SOLVERS_COMPONENTS_H
#define NS_SOLVERS_COMPONENTS_H

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
  int *parent; /* n: a forest, work */
} NsComponents;

/* Takes room for up to nmax nodes from the arena; the arena's `failed` tells. */
void ns_components_take(NsComponents *c, NsArena *arena, ptrdiff_t nmax);

/* Starts with n nodes alone; then joins nodes in any order (true: they were apart); then numbers the components. */
void ns_components_begin(NsComponents *c, int n);
bool ns_components_join(NsComponents *c, int i, int j);
void ns_components_finish(NsComponents *c);

/*
** The components of the variables index[0 .. n - 1] of a dense matrix, from its entries that are not 0; and all n nodes as
** one. Members are places in `index`.
*/
void ns_components_dense(NsComponents *c, const double *M, int ldm, int n, const int *index);
void ns_components_single(NsComponents *c, int n);

/* The number of members of component k. */
static inline int ns_components_size(const NsComponents *c, int k) {
  return c->start[k + 1] - c->start[k];
}

/*
** What the solvers of several components did together: iterations are summed, measures are the worst; warm when all were.
** The solver named is that of the component that took most iterations (of equals the first).
*/
typedef struct NsSolverTotal {
  NsSolverInfo info;
  int most;
} NsSolverTotal;

/* `name`: the solver when there is no component. */
NsSolverTotal ns_solver_total(const char *name);

/*
** Adds one component. The status is the first failure; NS_ENOSOL, which is proved, goes before other failures and
** NS_EINTR before all.
*/
void ns_solver_add(NsSolverTotal *total, const NsSolverInfo *own);

#endif
