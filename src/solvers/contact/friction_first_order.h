/*
** friction_first_order.h
** Projections on the cones alone: accelerated gradient steps inside a fixed point on the normal shift, extragradient.
*/
#ifndef NS_SOLVERS_CONTACT_FRICTION_FIRST_ORDER_H
#define NS_SOLVERS_CONTACT_FRICTION_FIRST_ORDER_H

#include "solvers/contact/friction.h"

/* Doubles of work that ns_friction_first_order needs. */
size_t ns_friction_first_order_work(int dim, int nc);

/*
** From r (dim nc), changed in place; u (dim nc) belongs to it at the end. First, with the shift s_i = mu_i |u_T,i|
** held, Nesterov steps on min r' W r / 2 + (q + s e_n)' r over the cones, each contact with its own step rho_i (nc),
** the common factor found by backtracking and momentum dropped when it points uphill; s is renewed whenever r moves
** twenty times slower than at the start. When that stops making progress (W far from symmetric) the extragradient
** method on the same map with steps that adapt themselves. NS_OK when max(relative, backward) <= tolerance;
** NS_EMAXITER after `iterations`; NS_EINTR; r is the best iterate. Needs no solution of any system.
** Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011; Mazhar, Heyn, Negrut and Tasora, ACM Trans. Graphics 34,
** 2015; O'Donoghue and Candes, Found. Comput. Math. 15, 2015; Khobotov, USSR Comput. Math. 27, 1987.
*/
NsStatus ns_friction_first_order(const NsFriction *p, double tolerance, int iterations, double *work, double *r, double *u,
                                 NsSolverInfo *info);

#endif
