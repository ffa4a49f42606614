/*
** principal.h
** Principal pivoting by index: Murty's rule for P-matrices, criss-cross pivots where a diagonal entry is zero.
*/
#pragma once

#include "base/arena.h"
#include "solvers/box/active.h"

/* Which of the wrong components is exchanged. */
typedef enum NsPrincipalRule {
  NS_PRINCIPAL_LEAST,    /* the first one: Murty's rule */
  NS_PRINCIPAL_GREATEST, /* the last one: the same rule in the reverse order */
  NS_PRINCIPAL_WORST,    /* the one furthest out of its range: faster, but it may cycle */
  NS_PRINCIPAL_MIXED,    /* the last one in small problems, else the worst; after 3 n + 10 pivots the last one */
  NS_PRINCIPAL_IN_ORDER  /* the last one; NS_ENOCONV where its diagonal entry is 0: independent of the units */
} NsPrincipalRule;

/* Vectors for problems of up to nmax variables. */
typedef struct NsPrincipal {
  double *value, *rest;    /* of the basic and of the nonbasic variable of each pair */
  double *size, *diagonal; /* the largest terms of value and of the diagonal, for tests of zero */
  double *row;             /* the largest entry of each column at the start */
  double *column;          /* workspace of an exchange */
  double *low, *high;      /* bounds of z, in the order of the pairs */
  double *least, *most;    /* the range of the basic variable of each pair */
  int *label;              /* the component at each position */
  bool *inside;            /* whether z is the basic variable of the pair */
  signed char *at;         /* the bound that z is at while it is not basic */
  double *T;               /* the tableau, borrowed during a solve */
  int n, dim, pivots;
} NsPrincipal;

/* Allocates from the arena; check the arena's `failed`. */
void ns_principal_take(NsPrincipal *s, NsArena *arena, int nmax);

/*
** Exchanges z_i and w_i, one component at a time, starting with every z at its bound nearest to 0. First the free variables
** are exchanged and leave the tableau (a Schur complement). Then, until no component is wrong, the component that the rule
** chooses is exchanged; if its diagonal entry is 0, together with a second one. `tableau`: n x n, workspace. NS_OK: `set` (n)
** is the active set and z (n) its point, NAN for free variables; verify or polish with ns_active_try. NS_ENOCONV: no exchange
** was possible (M is not sufficient, or there is no solution); NS_ESINGULAR: the system of the free variables is singular;
** NS_EMAXITER: max_pivots; NS_EINTR. In exact arithmetic the first two rules terminate for every sufficient M, which includes
** P-matrices and positive semidefinite matrices. Murty, Note on a Bard-type scheme for solving the complementarity problem,
** Opsearch 11, 1974; den Hertog, Roos and Terlaky, The linear complementarity problem, sufficient matrices and the criss-cross
** method, Linear Algebra Appl. 187, 1993; Cottle, Pang and Stone 1992, section 4.2.
*/
NsStatus ns_principal_solve(NsPrincipal *s, const NsBoxProblem *p, NsPrincipalRule rule, int max_pivots, double *tableau,
                            double *z, signed char *set, int *pivots);
