/*
** versions.h
** Versions of the linear algebra libraries in use.
*/
#pragma once

/* Major, minor and patch number of LAPACK and of SuiteSparse. */
void ns_lapack_version(int version[3]);
void ns_suitesparse_version(int version[3]);

/* The BLAS' own description, "OpenBLAS 0.3.21 ..."; NULL: it has none. */
const char *ns_blas_description(void);
