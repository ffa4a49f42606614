/*
** polyhedron.h
** Affine variational inequalities over polyhedra, -(M z + q) in the normal cone of {H z >= K}.
*/
#pragma once

#include "solvers/box/box_solver.h"

/*
** Find z in P = {H z >= K, lower <= z <= upper} with w = M z + q such that w' (x - z) >= 0 for all x in P. Equivalently there
** are multipliers mu >= 0 (0 where H z > K) such that w - H' mu has the signs that box.h requires of w (0 where z_i has no
** bounds). Matrices are column-major; bounds NULL: none. Facchinei and Pang, Finite-Dimensional Variational Inequalities and
** Complementarity Problems, 2003, section 1.2.
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

/* The options of the box solver inside; its tolerance is also used for the answer. */
NsBoxOptions *ns_polyhedron_options(NsPolyhedron *work);

/*
** Solves the problem; guess (n) may be NULL; fills z, w (n) and mu (m; NULL: not wanted). Allocates nothing. Change of
** variables: the new variables are the bounded z_i, the slacks of as many independent rows of H as possible (two opposite rows
** are one slack with two bounds), and the free z_i that complete a basis; the other rows of H get multipliers. The result is a
** box problem, monotone when M is, that avoids the singular blocks which a singular M would make in the free variables (after
** Cao and Ferris, A pivotal method for affine variational inequalities, Math. Oper. Res. 21, 1996). info, measured in the
** given data:
**   backward   the largest of: the violation of H z >= K, and of H z = K where mu > 0, over |H| |z| + |K|; the violation of
**              stationarity over |M| |z| + |q| + |H'| |mu|. The bounds and the signs of mu hold exactly.
**   residual   the largest of max_k |min(mu_k, (H z - K)_k)| and the violations of stationarity, unscaled
**   relative   residual over the largest of those sizes
** NS_OK when backward <= 100 tolerance or relative <= 1e-12; NS_ENOSOL (P is empty by two opposite rows, or as ns_box_solve);
** NS_EARG (bounds), NS_ENAN, NS_ESIZE; else as ns_box_solve.
*/
NsStatus ns_polyhedron_solve(NsPolyhedron *work, const NsAvi *p, const double *guess, double *z, double *w, double *mu,
                             NsSolverInfo *info);

/*
** z (n) = the point of {H z >= K} nearest to 0, which is 0 itself when K <= 0 (the problem above with M = 1, q = 0).
** Allocates its workspace. NS_ENOSOL or NS_ERAY: the set is empty; NS_ENOMEM; else as ns_polyhedron_solve.
*/
NsStatus ns_polyhedron_nearest(int n, int m, const double *H, const double *K, double *z);
