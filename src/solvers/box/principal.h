/*
** principal.h
** Principal pivoting by index: Murty's rule for P-matrices, criss-cross pivots where a diagonal entry is zero.
*/
#ifndef NS_SOLVERS_BOX_PRINCIPAL_H
#define NS_SOLVERS_BOX_PRINCIPAL_H

#include "base/arena.h"
#include "solvers/box/active.h"
#include "solvers/method.h"

/* Which of the components that are wrong is exchanged. */
typedef enum NsPrincipalRule {
  NS_PRINCIPAL_LEAST,    /* the first one: Murty's rule */
  NS_PRINCIPAL_GREATEST, /* the last one: the same rule in the reverse order */
  NS_PRINCIPAL_WORST,    /* the one furthest out of its range: quicker, but it may cycle */
  NS_PRINCIPAL_MIXED,    /* the last one in small problems, then the worst, from 3 n + 10 pivots on the last */
  NS_PRINCIPAL_IN_ORDER  /* the last one; NS_ENOCONV where its diagonal entry is 0: the same in all units */
} NsPrincipalRule;

/* Vectors for problems of up to nmax variables. */
typedef struct NsPrincipal {
  double *value, *rest;    /* of the basic and of the nonbasic variable of each pair */
  double *size, *diagonal; /* the largest numbers that went into value and into the diagonal, for zero tests */
  double *row;             /* the largest entry of each column at the start */
  double *column;          /* work of an exchange */
  double *low, *high;      /* bounds of z, in the order of the pairs */
  double *least, *most;    /* the range of the basic variable of each pair */
  int *label;              /* the component at each place */
  bool *inside;            /* whether z is the basic one of the pair */
  signed char *at;         /* the bound of z where it is not */
  double *T;               /* the tableau, borrowed for the time of a solve */
  int n, dim, pivots;
} NsPrincipal;

/* Takes the vectors from the arena; the arena's `failed` tells. */
void ns_principal_take(NsPrincipal *s, NsArena *arena, int nmax);

/*
** Exchanges z_i and w_i, one component at a time, from z at the bounds nearest to 0: free variables first (their
** rows and columns then leave the tableau: a Schur complement), then, until none is wrong, the component that the
** rule chooses; where its diagonal entry is 0, together with a second one. `tableau` is work of n x n. NS_OK: `set`
** (n) is the active set found and z (n) its point, NAN at free variables: to be verified or polished by
** ns_active_try. NS_ENOCONV: no exchange was possible (M is not sufficient, or there is no solution);
** NS_ESINGULAR: the free variables have a singular system; NS_EMAXITER: max_pivots; NS_EINTR. With the first two
** rules it ends for every sufficient M, P and positive semidefinite ones among them, in exact arithmetic.
** Murty, Note on a Bard-type scheme for solving the complementarity problem, Opsearch 11, 1974; den Hertog, Roos and
** Terlaky, The linear complementarity problem, sufficient matrices and the criss-cross method, Linear Algebra Appl.
** 187, 1993; Cottle, Pang and Stone 1992, section 4.2.
*/
NsStatus ns_principal_solve(NsPrincipal *s, const NsBoxProblem *p, NsPrincipalRule rule, int max_pivots, double *tableau,
                            double *z, signed char *set, int *pivots);

/*
** Principal pivoting, its set polished. The mode is the rule; with NS_PRINCIPAL_IN_ORDER nothing is polished, and at most n pivots
** are taken.
*/
extern const NsMethod ns_box_principal;

#endif
