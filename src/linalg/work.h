/*
** work.h
** Private to linalg: sizes of LAPACK workspaces and copies with a leading dimension.
*/
#pragma once

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/status.h"

static inline int ns_min(int a, int b) {
  return a < b ? a : b;
}

static inline int ns_max(int a, int b) {
  return a > b ? a : b;
}

/* Entry (i, j) of a column-major array. */
static inline size_t ns_at(int i, int j, int ld) {
  return (size_t)i + (size_t)j * (size_t)ld;
}

/* The workspace size that a LAPACK query returned, as an int >= 1; 0: too large for an int. */
static inline int ns_lwork(double query) {
  if (!(query < (double)INT_MAX)) return 0;
  return query < 1 ? 1 : (int)query;
}

/* Copies m x n entries between arrays that do not overlap. */
static inline void ns_copy(int m, int n, const double *from, int ldfrom, double *to, int ldto) {
  for (int j = 0; j < n && m > 0; j++) memcpy(to + ns_at(0, j, ldto), from + ns_at(0, j, ldfrom), (size_t)m * sizeof *to);
}

static inline void ns_set_identity(int m, int n, double *A, int ld) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) A[ns_at(i, j, ld)] = i == j;
}

/* LAPACK's info as a status: negative: NS_EARG; positive: `failure`; 0: NS_OK. */
static inline NsStatus ns_info(int info, NsStatus failure) {
  return info > 0 ? failure : info < 0 ? NS_EARG : NS_OK;
}
