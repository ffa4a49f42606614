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
** From z (n), solves F(z) = 0 with F_i = z_i - proj(z_i - rho_i w_i) or the Fischer-Burmeister function of z_i -
** l_i and rho_i w_i, nested for two bounds (Billups 1995). Steps of an element of the generalised Jacobian diag(d)
** + diag(e) M, regularised where it is singular; an Armijo search on |F|^2 / 2 against the largest of the last
** values, along the gradient where the step does not descend. NS_OK: |F| <= tolerance (max norm); NS_EMAXITER;
** NS_ENOCONV: no descent; NS_ESINGULAR; NS_ENAN; NS_EINTR. z is the last iterate.
** De Luca, Facchinei and Kanzow, A semismooth equation approach to the solution of nonlinear complementarity
** problems, Math. Program. 75, 1996; Grippo, Lampariello and Lucidi, SIAM J. Numer. Anal. 23, 1986.
*/
NsStatus ns_newton_solve(NsNewton *s, const NsBoxMap *map, NsNewtonFunction function, double tolerance, int max_iterations,
                         double *z, int *iterations);

/* Newton on either function, from the guess; then the active set that it points at. For dense and for sparse M. */
extern const NsMethod ns_box_newton_min, ns_box_newton_fb;

#endif
