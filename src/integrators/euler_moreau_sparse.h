/*
** euler_moreau_sparse.h
** The theta-gamma scheme for large linear models: state and multipliers in one sparse problem, no dense matrix.
*/
#ifndef NS_INTEGRATORS_EULER_MOREAU_SPARSE_H
#define NS_INTEGRATORS_EULER_MOREAU_SPARSE_H

#include "integrators/euler_moreau.h"
#include "linalg/sparse.h"
#include "integrators/triplets.h"

/*
** With dx = x - x_k the step is the box problem of order N + m
**   [ W              -h gamma_r B ] [ dx     ]   [ rho ]   rows of the state: free variables, equations
**   [ gamma_y C       D           ] [ lambda ] + [ y_k ]   rows of the law: -y in the law's normal cone at lambda
** with W = M - h theta A, rho = -h theta f(t_{k+1}, x_k) - h (1 - theta) f(t_k, x_k) - h (1 - gamma) r_k and y_k = C
** x_k + F z + e; gamma_r = gamma and gamma_y = 1, or 1 and gamma with gamma_in_relation. Nothing is eliminated: the
** matrix has the non-zeros of the model.
*/
typedef struct NsEulerMoreauSparse NsEulerMoreauSparse;

/* Whether the graph is one for this scheme: linear, with a sparse coefficient, and every law a box. */
bool ns_euler_moreau_sparse_suits(const NsNsds *nsds);

/* Allocates the vectors for the graph as it stands. NS_ENOMEM. */
NsStatus ns_euler_moreau_sparse_new(NsEulerMoreauSparse **em, NsNsds *nsds);
void ns_euler_moreau_sparse_free(NsEulerMoreauSparse *em);

/* The number of states, N. */
int ns_euler_moreau_sparse_states(const NsEulerMoreauSparse *em);

/*
** Begins a step at the memories of every object, as ns_euler_moreau_begin does, and forms the problem. The matrix is
** formed anew only when what enters it has changed (this allocates). NS_ENOMEM, NS_ECALLBACK, NS_ENAN, NS_EARG.
*/
NsStatus ns_euler_moreau_sparse_begin(NsEulerMoreauSparse *em, const NsEulerMoreauOptions *options, double t_k, double t_next,
                                      double h, NsError *err);

/* The problem, of order N + m. */
NsSparseStep ns_euler_moreau_sparse_problem(const NsEulerMoreauSparse *em);

/*
** Accepts a solution z (N + m): writes x, r, y and lambda of every object. NS_ENAN, nothing written, when a state is
** not finite.
*/
NsStatus ns_euler_moreau_sparse_commit(NsEulerMoreauSparse *em, const double *z, NsError *err);

#endif
