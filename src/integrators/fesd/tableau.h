/*
** tableau.h
** Coefficients of implicit Runge-Kutta methods on the nodes of Radau, Gauss and Lobatto.
*/
#pragma once

#include <stdbool.h>

#include "base/status.h"

enum { NS_TABLEAU_STAGES = 4 }; /* most stages */

/* X(code, text for scripts). */
#define NS_TABLEAU_LIST(X)                                                                                                     \
  X(NS_TABLEAU_RADAU_IIA, "radau_iia")  /* order 2 s - 1 */                                                                    \
  X(NS_TABLEAU_GAUSS, "gauss")          /* order 2 s */                                                                        \
  X(NS_TABLEAU_LOBATTO_IIIC, "lobatto") /* order 2 s - 2; two stages or more */

typedef enum NsTableauKind {
#define X(code, text) code,
  NS_TABLEAU_LIST(X)
#undef X
      NS_TABLEAU_KINDS
} NsTableauKind;

/*
** A method of s stages for x' = f:  X_i = x_0 + h sum_j A_ij X'_j,  x_1 = x_0 + h sum_j b_j X'_j,  X'_i = f(t_0 + c_i h, X_i).
** All matrices have leading dimension NS_TABLEAU_STAGES, column-major. A is regular, so X'_i = sum_j W_ij (X_j - x_0) / h and
** x_1 = x_0 + sum_j d_j (X_j - x_0).
*/
typedef struct NsTableau {
  NsTableauKind kind;
  int s, order;
  bool stiff; /* the last stage is the end: x_1 = X_s */
  bool early; /* the first stage is the start: c_1 = 0 */
  double c[NS_TABLEAU_STAGES], b[NS_TABLEAU_STAGES], d[NS_TABLEAU_STAGES];
  double A[NS_TABLEAU_STAGES * NS_TABLEAU_STAGES], W[NS_TABLEAU_STAGES * NS_TABLEAU_STAGES];
} NsTableau;

/*
** Computes the coefficients, with an error of some roundings. The nodes are roots of Legendre polynomials; b and A follow from
** the quadrature conditions: B(s) and C(s) for Radau IIA and Gauss, B(s), C(s - 1) and a_i1 = b_1 for Lobatto IIIC. Hairer and
** Wanner, Solving Ordinary Differential Equations II, 2nd ed., section IV.5. NS_EARG: no such method.
*/
NsStatus ns_tableau_make(NsTableau *tableau, NsTableauKind kind, int stages);

/*
** weight (n) with p(x) = sum_j weight_j p(node_j) for each polynomial p of degree below n; the nodes are distinct.
*/
void ns_tableau_weights(int n, const double *node, double x, double *weight);
