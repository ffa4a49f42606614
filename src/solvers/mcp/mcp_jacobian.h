/*
** mcp_jacobian.h
** A Jacobian, dense or sparse, and the systems diag(a) + diag(b) J that Newton's method on a map solves.
*/
#ifndef NS_SOLVERS_MCP_MCP_JACOBIAN_H
#define NS_SOLVERS_MCP_MCP_JACOBIAN_H

#include <stdbool.h>

#include "base/arena.h"
#include "linalg/lu.h"
#include "linalg/sparse_lu.h"

typedef struct NsMcpJacobian {
  int n;
  double *dense;     /* n x n; NULL: sparse */
  const NsSparse *J; /* scaled, of the last evaluation */
  double *system;    /* n x n, dense */
  NsLu *lu;
  NsSparse *pattern; /* J's when `matrix` was made; the values are those of J */
  NsSparse *matrix;  /* union of J's pattern and the diagonal */
  int *place;        /* where the entries of J stand in matrix */
  int *diagonal;     /* where its diagonal stands */
  NsArena places;
  NsSparseLu *klu;
  int analyses; /* how often a pattern was new */
} NsMcpJacobian;

/* The dense arrays come from the arena. NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mcp_jacobian_init(NsMcpJacobian *jac, NsArena *arena, int n, bool sparse);
void ns_mcp_jacobian_release(NsMcpJacobian *jac);

/* Takes a new sparse J, a copy; analyses it when its pattern is new. NS_ESIZE, NS_ENOMEM, NS_ETOOLARGE. */
NsStatus ns_mcp_jacobian_take(NsMcpJacobian *jac, const NsSparse *J);

/* Multiplies rows by 2^row and columns by 2^column. */
void ns_mcp_jacobian_scale(NsMcpJacobian *jac, const int *row, const int *column);

/* Whether all entries are finite. */
bool ns_mcp_jacobian_finite(const NsMcpJacobian *jac);

/* y = J x; size (may be NULL) = |J| |x|; largest (may be NULL): the largest |J_ij| of each row. */
void ns_mcp_jacobian_rows(const NsMcpJacobian *jac, const double *x, double *y, double *size, double *largest);

/* y = J' x. */
void ns_mcp_jacobian_transposed(const NsMcpJacobian *jac, const double *x, double *y);

/* Sparse: J + diag(added), valid until the next call of this or of solve; its pattern is new when `analyses` has changed. */
const NsSparse *ns_mcp_jacobian_shifted(NsMcpJacobian *jac, const double *added);

/* Solves (diag(a) + diag(b) J) x = x in place. NS_ESINGULAR; NS_ENOMEM inside KLU. */
NsStatus ns_mcp_jacobian_solve(NsMcpJacobian *jac, const double *a, const double *b, double *x);

#endif
