/*
** versions.h
** Which linear algebra libraries the program runs with.
*/
#ifndef NS_LINALG_VERSIONS_H
#define NS_LINALG_VERSIONS_H

/* Major, minor and patch number of the LAPACK in use, and of SuiteSparse. */
void ns_lapack_version(int version[3]);
void ns_suitesparse_version(int version[3]);

/* What the BLAS says of itself, "OpenBLAS 0.3.21 ..."; NULL when it says nothing. */
const char *ns_blas_description(void);

#endif
