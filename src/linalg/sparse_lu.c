/*
** sparse_lu.c
** KLU with the house's checks: finite data, the number of a singular column, pivots tested at each refactorisation.
*/
#include "linalg/sparse_lu.h"

#include <float.h>
#include <suitesparse/klu.h>
#include <math.h>

#include "base/memory.h"
#include "linalg/equilibrate.h"

struct NsSparseLu {
  NsSparse *A;    /* the analysed pattern, with the values factored last */
  double *scale;  /* n: largest |entry| of each row */
  double *column; /* n: largest |entry| of each column of the row-scaled matrix */
  klu_symbolic *symbolic;
  klu_numeric *numeric;
  klu_common common;
  NsArena arena;
  int n, singular_column;
  bool ready;
  bool chosen;  /* the pivots were chosen for the values in A */
  bool restart; /* the next refactorisation must choose new pivots */
};

/* Largest growth of entries with old pivots: costs at most 6 of 16 digits. Chosen by experience. */
static const double growth_limit = 1e6;

/* The matrices are valid, so any other failure is lack of memory. */
static NsStatus status_of(const klu_common *common) {
  if (common->status == KLU_OK) return NS_OK;
  return common->status == KLU_SINGULAR ? NS_ESINGULAR : common->status == KLU_TOO_LARGE ? NS_ETOOLARGE : NS_ENOMEM;
}

static NsStatus sparse_lu_analyse(NsSparseLu *lu) {
  if (!klu_defaults(&lu->common)) return NS_EARG;
  lu->symbolic = klu_analyze(lu->n, lu->A->colptr, lu->A->row, &lu->common);
  return lu->symbolic ? NS_OK : status_of(&lu->common);
}

NsStatus ns_sparse_lu_new(NsSparseLu **out, const NsSparse *A) {
  *out = NULL;
  if (A->rows != A->cols) return NS_ESIZE;
  NsSparseLu *lu = ns_alloc(1, sizeof *lu);
  if (!lu) return NS_ENOMEM;
  lu->n = A->rows;
  lu->singular_column = -1;
  NS_ARENA_VECTORS(&lu->arena, lu->n, &lu->scale, &lu->column);
  NsStatus status = lu->arena.failed ? NS_ENOMEM : ns_sparse_copy(&lu->A, A);
  if (!status && lu->n > 0) status = sparse_lu_analyse(lu);
  if (status) ns_sparse_lu_free(lu);
  else *out = lu;
  return status;
}

void ns_sparse_lu_free(NsSparseLu *lu) {
  if (!lu) return;
  if (lu->numeric) klu_free_numeric(&lu->numeric, &lu->common);
  if (lu->symbolic) klu_free_symbolic(&lu->symbolic, &lu->common);
  ns_sparse_free(lu->A);
  ns_arena_release(&lu->arena);
  ns_free(lu);
}

double ns_sparse_lu_flops(const NsSparseLu *lu) {
  return lu->symbolic ? lu->symbolic->est_flops : 0;
}

int ns_sparse_lu_order(const NsSparseLu *lu) {
  return lu->n;
}

int ns_sparse_lu_singular_column(const NsSparseLu *lu) {
  return lu->singular_column;
}

bool ns_sparse_lu_ready(const NsSparseLu *lu) {
  return lu->ready;
}

void ns_sparse_lu_restart(NsSparseLu *lu) {
  lu->restart = true;
}

/* Whether the present factors are the result of a factorisation of this A with new pivots. */
static bool has_factors_of(const NsSparseLu *lu, const NsSparse *A) {
  if (!lu->ready || !lu->chosen || !ns_sparse_same_pattern(lu->A, A)) return false;
  return memcmp(lu->A->value, A->value, (size_t)ns_sparse_nnz(A) * sizeof *A->value) == 0;
}

/* Checks A, copies its values, and computes row and column maxima. */
static NsStatus sparse_lu_load(NsSparseLu *lu, const NsSparse *A) {
  if (!ns_sparse_same_pattern(lu->A, A)) return NS_ESIZE;
  if (!ns_sparse_finite(A)) return NS_ENAN;
  lu->ready = lu->chosen = false;
  lu->singular_column = -1;
  int nnz = ns_sparse_nnz(A);
  memcpy(lu->A->value, A->value, (size_t)nnz * sizeof *A->value);
  memset(lu->scale, 0, (size_t)lu->n * sizeof *lu->scale);
  for (int p = 0; p < nnz; p++) lu->scale[A->row[p]] = fmax(lu->scale[A->row[p]], fabs(A->value[p]));
  for (int j = 0; j < lu->n; j++) {
    lu->column[j] = 0;
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++)
      if (A->value[p] != 0) lu->column[j] = fmax(lu->column[j], fabs(A->value[p]) / lu->scale[A->row[p]]);
  }
  return NS_OK;
}

/* NS_ESINGULAR when a pivot is zero up to rounding, infinite or nan. */
static NsStatus sparse_lu_check_pivots(NsSparseLu *lu) {
  const double *pivot = lu->numeric->Udiag;
  for (int k = 0; k < lu->n; k++) {
    int j = lu->symbolic->Q[k];
    double size = fabs(pivot[k]);
    if (size > 16 * DBL_EPSILON * lu->column[j] && size <= DBL_MAX) continue;
    lu->singular_column = j;
    return NS_ESINGULAR;
  }
  lu->ready = true;
  return NS_OK;
}

static NsStatus factor_loaded(NsSparseLu *lu) {
  if (lu->numeric) klu_free_numeric(&lu->numeric, &lu->common);
  lu->numeric = klu_factor(lu->A->colptr, lu->A->row, lu->A->value, lu->symbolic, &lu->common);
  NsStatus status = status_of(&lu->common);
  if (status == NS_ESINGULAR) lu->singular_column = lu->common.singular_col;
  if (status || !lu->numeric) {
    if (lu->numeric) klu_free_numeric(&lu->numeric, &lu->common);
    return status ? status : NS_ENOMEM;
  }
  lu->chosen = true;
  return sparse_lu_check_pivots(lu);
}

NsStatus ns_sparse_lu_factor(NsSparseLu *lu, const NsSparse *A) {
  NsStatus status = sparse_lu_load(lu, A);
  if (status) return status;
  if (lu->n == 0) return lu->ready = true, NS_OK;
  return factor_loaded(lu);
}

/* Factors the loaded values with the old pivots; false when these are not good enough. */
static bool refactor_loaded(NsSparseLu *lu) {
  NsSparse *A = lu->A;
  if (!klu_refactor(A->colptr, A->row, A->value, lu->symbolic, lu->numeric, &lu->common)) return false;
  if (lu->common.status != KLU_OK) return false;
  if (!klu_rgrowth(A->colptr, A->row, A->value, lu->symbolic, lu->numeric, &lu->common)) return false;
  return lu->common.rgrowth * growth_limit >= 1 && sparse_lu_check_pivots(lu) == NS_OK;
}

NsStatus ns_sparse_lu_refactor(NsSparseLu *lu, const NsSparse *A, bool *again) {
  bool restart = lu->restart;
  if (again) *again = false;
  lu->restart = false;
  if (restart && has_factors_of(lu, A)) return NS_OK;
  NsStatus status = sparse_lu_load(lu, A);
  if (status) return status;
  if (lu->n == 0) return lu->ready = true, NS_OK;
  if (lu->numeric && !restart && refactor_loaded(lu)) return NS_OK;
  if (again) *again = true;
  lu->singular_column = -1;
  return factor_loaded(lu);
}

void ns_sparse_lu_solve(NsSparseLu *lu, int nrhs, double *B, int ldb) {
  if (lu->n > 0 && nrhs > 0) klu_solve(lu->symbolic, lu->numeric, ldb, nrhs, B, &lu->common);
}

void ns_sparse_lu_solve_transposed(NsSparseLu *lu, int nrhs, double *B, int ldb) {
  if (lu->n > 0 && nrhs > 0) klu_tsolve(lu->symbolic, lu->numeric, ldb, nrhs, B, &lu->common);
}

/* The sign of a permutation of n indices; seen: workspace. */
static int permutation_sign(int n, const int *of, double *seen) {
  int sign = 1;
  for (int k = 0; k < n; k++) seen[k] = 0;
  for (int k = 0; k < n; k++)
    for (int i = of[k], steps = 0; seen[i] == 0; i = of[i], steps++) {
      seen[i] = 1;
      if (steps > 0) sign = -sign;
    }
  return sign;
}

int ns_sparse_lu_sign(NsSparseLu *lu) {
  if (lu->n == 0) return 1;
  int sign = permutation_sign(lu->n, lu->numeric->Pnum, lu->column) * permutation_sign(lu->n, lu->symbolic->Q, lu->column);
  for (int k = 0; k < lu->n; k++)
    if (((double *)lu->numeric->Udiag)[k] < 0) sign = -sign;
  return sign;
}

double ns_sparse_lu_rcond(NsSparseLu *lu) {
  if (lu->n == 0) return 1;
  if (!lu->ready) return 0;
  if (!klu_condest(lu->A->colptr, lu->A->value, lu->symbolic, lu->numeric, &lu->common)) return 0;
  return lu->common.condest > 0 ? 1 / lu->common.condest : 0;
}

/* ---- scaled systems ---- */

static void into_fair_units(int n, int nrhs, const int *exponent, double *B, int ldb) {
  for (int j = 0; j < nrhs; j++)
    for (int i = 0; i < n; i++) B[i + (size_t)j * (size_t)ldb] = ldexp(B[i + (size_t)j * (size_t)ldb], exponent[i]);
}

/* Finds the units and makes the scaled copy of A. x = F = 0: the free factors of uncoupled parts (ns_equilibrate) stay 1. */
static NsStatus find_fair_units(const NsSparse *A, NsArena *arena, NsEquilibrium *units, NsSparse **out) {
  ns_equilibrium_take(units, arena, A->cols);
  double *nothing = ns_arena_doubles(arena, A->cols);
  NsStatus status = arena->failed ? NS_ENOMEM : ns_sparse_copy(out, A);
  if (status != NS_OK) return status;
  ns_equilibrate(units, NULL, A, nothing, nothing);
  for (int j = 0; j < A->cols; j++)
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++)
      (*out)->value[k] = ldexp(A->value[k], units->row[A->row[k]] + units->column[j]);
  return NS_OK;
}

NsStatus ns_sparse_solve_fair(const NsSparse *A, int nrhs, double *B, int ldb) {
  if (A->rows != A->cols) return NS_ESIZE;
  NsArena arena = {0};
  NsEquilibrium units;
  NsSparse *scaled = NULL;
  NsSparseLu *lu = NULL;
  NsStatus status = find_fair_units(A, &arena, &units, &scaled);
  if (status == NS_OK) status = ns_sparse_lu_new(&lu, scaled);
  if (status == NS_OK) status = ns_sparse_lu_factor(lu, scaled);
  if (status == NS_OK) {
    into_fair_units(A->cols, nrhs, units.row, B, ldb);
    ns_sparse_lu_solve(lu, nrhs, B, ldb);
    into_fair_units(A->cols, nrhs, units.column, B, ldb);
  }
  ns_sparse_lu_free(lu);
  ns_sparse_free(scaled);
  ns_arena_release(&arena);
  return status;
}
