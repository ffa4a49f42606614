/*
** mcp_jacobian.h
** A Jacobian J, dense or sparse, and the linear systems diag(a) + diag(b) J of Newton's method.
*/
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "solvers/map.h"

typedef struct NsMcpJacobian {
  int n;
  double *dense; /* n x n; NULL when sparse */
  NsSparse *J;   /* sparse: the last evaluation, scaled; owned */
  NsBoxMap map;  /* the linear systems, and products with J' */
  NsDenseMap dense_map;
  NsLu *lu;
  NsSparseMap *sparse_map;
  int analyses; /* how many patterns were analysed */
} NsMcpJacobian;

/* The dense arrays come from the arena. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mcp_jacobian_init(NsMcpJacobian *jac, NsArena *arena, int n, bool sparse);
void ns_mcp_jacobian_release(NsMcpJacobian *jac);

/* Copies a new sparse J; analyses its pattern when it has changed. NS_ESIZE, NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mcp_jacobian_take(NsMcpJacobian *jac, const NsSparse *J);

/* Multiplies rows by 2^row and columns by 2^column. */
void ns_mcp_jacobian_scale(NsMcpJacobian *jac, const int *row, const int *column);

/* Whether all entries are finite. */
bool ns_mcp_jacobian_finite(const NsMcpJacobian *jac);

/* y = J x; size (may be NULL) = |J| |x|; largest (may be NULL) = the largest |J_ij| of each row. */
void ns_mcp_jacobian_rows(const NsMcpJacobian *jac, const double *x, double *y, double *size, double *largest);

/* y = J' x. */
void ns_mcp_jacobian_transposed(const NsMcpJacobian *jac, const double *x, double *y);

/* Sparse: J + diag(added), valid until the next call of this or of solve. Its pattern has changed when `analyses` has. */
const NsSparse *ns_mcp_jacobian_shifted(NsMcpJacobian *jac, const double *added);

/* Solves (diag(a) + diag(b) J) y = x; y replaces x. NS_ESINGULAR; NS_ENOMEM inside KLU. */
NsStatus ns_mcp_jacobian_solve(NsMcpJacobian *jac, const double *a, const double *b, double *x);
