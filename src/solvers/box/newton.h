/*
** newton.h
** Semismooth Newton for boxes on the natural map ("min") and on the Fischer-Burmeister function, with a line search.
*/
#ifndef NS_SOLVERS_BOX_NEWTON_H
#define NS_SOLVERS_BOX_NEWTON_H

#include "solvers/map.h"
#include "solvers/method.h"

typedef enum NsNewtonFunction { NS_NEWTON_MIN, NS_NEWTON_FB } NsNewtonFunction;

/* Vectors for problems of up to nmax variables. */
typedef struct NsNewton {
  double *F, *d, *e, *w, *step, *w_step, *trial, *w_trial, *gradient;
} NsNewton;

void ns_newton_take(NsNewton *s, NsArena *arena, int nmax);

/*
** Solves F(z) = 0 from z (n), which becomes the last iterate. F_i is z_i - proj(z_i - rho_i w_i), or the Fischer-Burmeister
** function of z_i - l_i and rho_i w_i, nested for two bounds (Billups 1995). A step uses an element diag(d) + diag(e) M of the
** generalised Jacobian, regularised where it is singular, or the negative gradient where that step is no descent direction.
** The line search is Armijo's on |F|^2 / 2, relative to the largest of its last values. NS_OK: max norm |F| <= tolerance;
** NS_EMAXITER; NS_ENOCONV: no descent; NS_ESINGULAR; NS_ENAN; NS_EINTR. De Luca, Facchinei and Kanzow, A semismooth equation
** approach to the solution of nonlinear complementarity problems, Math. Program. 75, 1996; Grippo, Lampariello and Lucidi,
** SIAM J. Numer. Anal. 23, 1986.
*/
NsStatus ns_newton_solve(NsNewton *s, const NsBoxMap *map, NsNewtonFunction function, double tolerance, int max_iterations,
                         double *z, int *iterations);

/* Newton on either function from the guess, then the active set at its end. For dense and sparse M. */
extern const NsMethod ns_box_newton_min, ns_box_newton_fb;

#endif
