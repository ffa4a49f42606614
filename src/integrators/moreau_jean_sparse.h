/*
** moreau_jean_sparse.h
** The theta scheme of Moreau and Jean for large linear models, as one sparse problem a step: no Delassus matrix.
*/
#ifndef NS_INTEGRATORS_MOREAU_JEAN_SPARSE_H
#define NS_INTEGRATORS_MOREAU_JEAN_SPARSE_H

#include "integrators/moreau_jean.h"
#include "integrators/triplets.h"

/*
** With dv = v - v_k the step is the box problem of order N + m
**   [ W  -H' ] [ dv ]   [ rho         ]   rows of the velocities: free variables, equations
**   [ H   0  ] [ P  ] + [ u_k + e u_k ]   rows of the law: -w in the law's normal cone at P
** with W = M + h theta C + h^2 theta^2 K, rho = -h theta F(t_{k+1}, q_k + h v_k, v_k) - h (1 - theta) F(t_k, q_k, v_k)
** and [0, 0] for the bounds of a contact that is forecast to be open. A prescribed velocity has its change for both
** bounds, and w of its row is the impulse that gives it. The matrix has the non-zeros of the model and is
** that of every step.
*/
typedef struct NsMoreauJeanSparse NsMoreauJeanSparse;

/*
** Whether the graph is one for this scheme: systems and relations linear, no friction, no compliance. NS_EARG tells
** what is not (err may be NULL).
*/
NsStatus ns_moreau_jean_sparse_suits(const NsNsds *nsds, NsError *err);

/* Whether it is the better one: a coefficient is sparse, or the interactions have many rows. */
bool ns_moreau_jean_sparse_preferred(const NsNsds *nsds);

/* Allocates the vectors for the graph as it stands. NS_ENOMEM. */
NsStatus ns_moreau_jean_sparse_new(NsMoreauJeanSparse **mj, NsNsds *nsds);
void ns_moreau_jean_sparse_free(NsMoreauJeanSparse *mj);

/* The number N of velocities. */
int ns_moreau_jean_sparse_states(const NsMoreauJeanSparse *mj);

/* Begins a step at the memories of every object, and forms the problem. NS_ENOMEM, NS_ECALLBACK, NS_ENAN, NS_EARG. */
NsStatus ns_moreau_jean_sparse_begin(NsMoreauJeanSparse *mj, const NsMoreauJeanOptions *options, double t_k, double t_next,
                                     double h, NsError *err);

/* The problem, of order N + m. */
NsSparseStep ns_moreau_jean_sparse_problem(const NsMoreauJeanSparse *mj);

/*
** Accepts a solution z (N + m): writes q, v, p, y, ydot and lambda of every object, and adds to the account (may be
** NULL). NS_ENAN, nothing written, when a velocity is not finite.
*/
NsStatus ns_moreau_jean_sparse_commit(NsMoreauJeanSparse *mj, const double *z, NsEnergyAccount *account, NsError *err);

#endif
