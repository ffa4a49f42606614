/*
** polyhedron.h
** Affine variational inequalities over polyhedra, -(M z + q) in the normal cone of {H z >= K}.
*/
#ifndef NS_SOLVERS_BOX_POLYHEDRON_H
#define NS_SOLVERS_BOX_POLYHEDRON_H

#include "solvers/box/box_solver.h"

/*
** Find z in P = {H z >= K, lower <= z <= upper} with w = M z + q and  w' (x - z) >= 0 for all x in P: there are
** multipliers mu >= 0 (0 where H z > K) such that w - H' mu has the signs that the box asks for (see box.h; 0 where a
** component is not bounded). Matrices are column-major; bounds NULL: none.
** Facchinei and Pang, Finite-Dimensional Variational Inequalities and Complementarity Problems, 2003, section 1.2.
*/
typedef struct NsAvi {
  int n, m;
  const double *M;             /* n x n */
  const double *q;             /* n */
  const double *H;             /* m x n */
  const double *K;             /* m */
  const double *lower, *upper; /* n, or NULL */
} NsAvi;

/* Workspace for problems of up to nmax variables and mmax rows. */
typedef struct NsPolyhedron NsPolyhedron;

/* NS_EARG, NS_ENOMEM, NS_ETOOLARGE; *work is NULL on failure. */
NsStatus ns_polyhedron_new(NsPolyhedron **work, int nmax, int mmax);
void ns_polyhedron_free(NsPolyhedron *work);

/* The options of the box solver inside; tolerance is that of the answer too. */
NsBoxOptions *ns_polyhedron_options(NsPolyhedron *work);

/*
** Solves; guess (n) may be NULL; z, w (n) and mu (m; NULL: not wanted) are filled. New variables are the slacks of as
** many independent rows of H as there are (opposite rows make one of two bounds), bounded z_i themselves, and the
** free z_i that complete them; the other rows get multipliers: a box problem without the singular blocks of free
** variables that a singular M would make, monotone when M is (after Cao and Ferris, A pivotal method for affine
** variational inequalities, Math. Oper. Res. 21, 1996). No allocation. The answer is measured in the given data:
** info->backward is the largest of the violations of H z >= K, and of H z = K where mu > 0, over |H| |z| + |K|, and
** of stationarity over |M| |z| + |q| + |H'| |mu|; bounds and signs of mu hold exactly. info->residual is max_k
** |min(mu_k, (H z - K)_k)| and the violations of stationarity, unscaled; info->relative that over the largest of
** those sizes. NS_OK when backward <= 100 tolerance or relative <= 1e-12; NS_ENOSOL (P is empty by two opposite rows,
** or as ns_box_solve); NS_EARG (bounds), NS_ENAN, NS_ESIZE; else as ns_box_solve.
*/
NsStatus ns_polyhedron_solve(NsPolyhedron *work, const NsAvi *p, const double *guess, double *z, double *w, double *mu,
                             NsSolverInfo *info);

/*
** z (n) = the point of {H z >= K} nearest to 0, which is the solution for M = 1 and q = 0: 0 itself where all K <= 0.
** Allocates its workspace. NS_ENOSOL or NS_ERAY: the set is empty; NS_ENOMEM, else as ns_polyhedron_solve.
*/
NsStatus ns_polyhedron_nearest(int n, int m, const double *H, const double *K, double *z);

#endif
