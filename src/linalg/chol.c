/*
** chol.c
** Cholesky factorisation over dpotrf.
*/
#include "linalg/chol.h"

#include <lapacke.h>
#include <stddef.h>

#include "linalg/norm.h"

NsStatus ns_cholesky(int n, const double *A, int lda, double *L, int *order) {
  *order = 0;
  if (n < 0) return NS_EARG;
  if (n == 0) return NS_OK;
  if (!ns_is_finite(n, n, A, lda)) return NS_ENAN;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) L[(size_t)i + (size_t)j * (size_t)n] = i >= j ? A[(size_t)i + (size_t)j * (size_t)lda] : 0;
  int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, L, n);
  if (info > 0) *order = info;
  return info > 0 ? NS_ENOTSPD : info < 0 ? NS_EARG : NS_OK;
}
