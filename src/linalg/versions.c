/*
** versions.c
** Asks the libraries for their versions.
*/
#include "linalg/versions.h"

#include <lapacke.h>
#include <stddef.h>
#include <suitesparse/SuiteSparse_config.h>

/* A weak symbol: only OpenBLAS defines it; NULL with another BLAS. */
__attribute__((weak)) extern char *openblas_get_config(void);

void ns_lapack_version(int version[3]) {
  lapack_int major, minor, patch;
  LAPACKE_ilaver(&major, &minor, &patch);
  version[0] = (int)major;
  version[1] = (int)minor;
  version[2] = (int)patch;
}

void ns_suitesparse_version(int version[3]) {
  SuiteSparse_version(version);
}

const char *ns_blas_description(void) {
  return openblas_get_config ? openblas_get_config() : NULL;
}
