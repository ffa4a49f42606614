/*
** pgs.h
** Projected Gauss-Seidel for boxes.
*/
#ifndef NS_SOLVERS_BOX_PGS_H
#define NS_SOLVERS_BOX_PGS_H

#include "solvers/box/box.h"
#include "solvers/method.h"

/*
** Sweeps z_i <- proj(z_i - omega w_i / M_ii) in order of the index, from the z (n) given, which is projected first;
** w (n) is kept up to date column by column. 0 < omega < 2; 1 is Gauss-Seidel. Ends NS_OK when the backward error
** (ns_box_backward) is <= tolerance;
** NS_EMAXITER after max_sweeps; NS_ENAN when the iterates grow beyond all bounds; NS_EARG when a diagonal entry is
** not positive; NS_EINTR. z, w are the last iterate, size (n) is work. Converges for symmetric positive definite M:
** Cryer, SIAM J. Control 9, 1971.
*/
NsStatus ns_pgs_solve(const NsBoxProblem *p, double omega, double tolerance, int max_sweeps, double *z, double *w, double *size,
                      int *sweeps);

/* `count` sweeps of Gauss-Seidel from z in the box with w = M z + q, unchecked; the diagonal must be positive. */
void ns_pgs_sweeps(const NsBoxProblem *p, int count, double *z, double *w);

/* The sweeps, and the active set where they end; its diagonal must be positive, NS_EARG. */
extern const NsMethod ns_box_pgs;

/* For large symmetric M with a positive diagonal: the active set of a few sweeps, when it settles at once. */
extern const NsMethod ns_box_predict;

#endif
