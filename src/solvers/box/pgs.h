/*
** pgs.h
** Projected Gauss-Seidel for boxes.
*/
#ifndef NS_SOLVERS_BOX_PGS_H
#define NS_SOLVERS_BOX_PGS_H

#include "solvers/box/box.h"
#include "solvers/method.h"

/*
** Sweeps z_i <- proj(z_i - omega w_i / M_ii) in the order of the index, 0 < omega < 2 (1: Gauss-Seidel). z (n) is the start,
** projected first; w (n) is updated column by column. On return z, w are the last iterate; size (n) is workspace. NS_OK:
** backward error (ns_box_backward) <= tolerance; NS_EMAXITER after max_sweeps; NS_ENAN: the iterates diverge; NS_EARG: a
** diagonal entry is not positive; NS_EINTR. Converges for symmetric positive definite M: Cryer, SIAM J. Control 9, 1971.
*/
NsStatus ns_pgs_solve(const NsBoxProblem *p, double omega, double tolerance, int max_sweeps, double *z, double *w, double *size,
                      int *sweeps);

/* `count` Gauss-Seidel sweeps from z in the box, w = M z + q. Checks nothing; the diagonal must be positive. */
void ns_pgs_sweeps(const NsBoxProblem *p, int count, double *z, double *w);

/* Sweeps, then the active set at their end. NS_EARG: a diagonal entry is not positive. */
extern const NsMethod ns_box_pgs;

/* For large symmetric M with a positive diagonal: the active set after 6 to 14 sweeps, once it stops changing. */
extern const NsMethod ns_box_predict;

#endif
