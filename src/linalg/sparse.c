/*
** sparse.c
** Compressed columns: bucket sorts for construction and transposition, Gustavson's product.
*/
#include "linalg/sparse.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "linalg/norm.h"
#include "linalg/work.h"

NsStatus ns_sparse_new(NsSparse **out, int rows, int cols, ptrdiff_t room) {
  *out = NULL;
  if (rows < 0 || cols < 0 || room < 0) return NS_EARG;
  if (room > INT_MAX) return NS_ETOOLARGE;
  NsSparse *A = ns_alloc(1, sizeof *A);
  if (!A) return NS_ENOMEM;
  A->rows = rows;
  A->cols = cols;
  A->colptr = ns_arena_take(&A->arena, (size_t)cols + 1, sizeof *A->colptr);
  A->row = ns_arena_ints(&A->arena, room);
  A->value = ns_arena_doubles(&A->arena, room);
  if (A->arena.failed) return ns_sparse_free(A), NS_ENOMEM;
  A->room = room;
  A->col_room = cols;
  *out = A;
  return NS_OK;
}

NsStatus ns_sparse_renew(NsSparse **A, int rows, int cols, ptrdiff_t room) {
  if (!*A || cols > (*A)->col_room || room > (*A)->room) {
    bool grows = *A != NULL;
    ptrdiff_t more = grows && room / 4 < INT_MAX - room ? room / 4 : 0;
    ns_sparse_free(*A);
    NsStatus status = ns_sparse_new(A, rows, grows && cols < INT_MAX / 2 ? cols + cols / 4 : cols, room + more);
    if (status) return status;
  }
  (*A)->rows = rows, (*A)->cols = cols;
  return (*A)->colptr[0] = 0, NS_OK;
}

void ns_sparse_free(NsSparse *A) {
  if (!A) return;
  ns_arena_release(&A->arena);
  ns_free(A);
}

int ns_sparse_nnz(const NsSparse *A) {
  return A->colptr[A->cols];
}

/* Replaces the counts p[0 .. n - 1] by their start offsets; p[n] = total. */
static void cumulate(int *p, int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) {
    int count = p[k];
    p[k] = sum;
    sum += count;
  }
  p[n] = sum;
}

/* A bucket sort has moved each start to its end; restores the starts. */
static void rewind_starts(int *p, int n) {
  for (int k = n; k > 0; k--) p[k] = p[k - 1];
  p[0] = 0;
}

/* Adds duplicate entries, which are adjacent. */
static void sum_duplicates(NsSparse *A) {
  int to = 0, p = 0;
  for (int j = 0; j < A->cols; j++) {
    int start = to, end = A->colptr[j + 1];
    for (; p < end; p++) {
      if (to > start && A->row[to - 1] == A->row[p]) {
        A->value[to - 1] += A->value[p];
      } else {
        A->row[to] = A->row[p];
        A->value[to++] = A->value[p];
      }
    }
    A->colptr[j + 1] = to;
  }
}

static bool triplets_inside(int rows, int cols, ptrdiff_t count, const int *i, const int *j) {
  for (ptrdiff_t k = 0; k < count; k++)
    if (i[k] < 0 || i[k] >= rows || j[k] < 0 || j[k] >= cols) return false;
  return true;
}

NsStatus ns_sparse_from_triplets(NsSparse **out, int rows, int cols, ptrdiff_t count, const int *i, const int *j,
                                 const double *v) {
  NsSparse *A;
  NsStatus status = ns_sparse_new(out, rows, cols, count);
  if (status) return status;
  A = *out, *out = NULL;
  if (!triplets_inside(rows, cols, count, i, j)) status = NS_EARG;
  else if (count > 0 && !ns_is_finite((int)count, 1, v, (int)count)) status = NS_ENAN;
  NsArena arena = {0};
  int *start = ns_arena_take(&arena, (size_t)rows + 1, sizeof *start), *order = ns_arena_ints(&arena, count);
  if (!status && arena.failed) status = NS_ENOMEM;
  if (!status) {
    for (ptrdiff_t k = 0; k < count; k++) start[i[k]]++;
    cumulate(start, rows);
    for (ptrdiff_t k = 0; k < count; k++) order[start[i[k]]++] = (int)k;
    for (ptrdiff_t k = 0; k < count; k++) A->colptr[j[k]]++;
    cumulate(A->colptr, cols);
    for (ptrdiff_t k = 0; k < count; k++) {
      int p = A->colptr[j[order[k]]]++;
      A->row[p] = i[order[k]];
      A->value[p] = v[order[k]];
    }
    rewind_starts(A->colptr, cols);
    sum_duplicates(A);
    if (!ns_sparse_finite(A)) status = NS_ENAN;
  }
  ns_arena_release(&arena);
  if (status) ns_sparse_free(A);
  else *out = A;
  return status;
}

NsStatus ns_sparse_from_diagonals(NsSparse **out, int n, int count, const NsDiagonal *diagonals) {
  size_t most = (size_t)n * (size_t)count + 1;
  ptrdiff_t at = 0;
  int *i = ns_alloc(2 * most, sizeof *i), *j = i ? i + most : NULL;
  double *v = ns_alloc(most, sizeof *v);
  for (int d = 0; d < count && i && v; d++) {
    int offset = diagonals[d].offset, length = n - abs(offset);
    for (int k = 0; k < length; k++) {
      i[at] = offset < 0 ? k - offset : k;
      j[at] = offset < 0 ? k : k + offset;
      v[at++] = diagonals[d].values[k * diagonals[d].stride];
    }
  }
  NsStatus status = i && v ? ns_sparse_from_triplets(out, n, n, at, i, j, v) : NS_ENOMEM;
  ns_free(i);
  ns_free(v);
  return status;
}

NsStatus ns_sparse_from_dense(NsSparse **out, int rows, int cols, const double *A, int lda) {
  ptrdiff_t count = 0;
  *out = NULL;
  if (rows < 0 || cols < 0) return NS_EARG;
  if (!ns_is_finite(rows, cols, A, lda)) return NS_ENAN;
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) count += A[ns_at(i, j, lda)] != 0;
  NsStatus status = ns_sparse_new(out, rows, cols, count);
  if (status) return status;
  int p = 0;
  for (int j = 0; j < cols; j++) {
    for (int i = 0; i < rows; i++) {
      double a = A[ns_at(i, j, lda)];
      if (a == 0) continue;
      (*out)->row[p] = i;
      (*out)->value[p++] = a;
    }
    (*out)->colptr[j + 1] = p;
  }
  return NS_OK;
}

void ns_sparse_to_dense(const NsSparse *A, double *D, int ldd) {
  for (int j = 0; j < A->cols; j++) {
    double *column = D + ns_at(0, j, ldd);
    for (int i = 0; i < A->rows; i++) column[i] = 0;
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) column[A->row[p]] = A->value[p];
  }
}

NsStatus ns_sparse_copy(NsSparse **out, const NsSparse *A) {
  int nnz = ns_sparse_nnz(A);
  NsStatus status = ns_sparse_new(out, A->rows, A->cols, nnz);
  if (status) return status;
  memcpy((*out)->colptr, A->colptr, ((size_t)A->cols + 1) * sizeof *A->colptr);
  memcpy((*out)->row, A->row, (size_t)nnz * sizeof *A->row);
  memcpy((*out)->value, A->value, (size_t)nnz * sizeof *A->value);
  return NS_OK;
}

NsStatus ns_sparse_transpose(NsSparse **out, const NsSparse *A) {
  int nnz = ns_sparse_nnz(A);
  NsStatus status = ns_sparse_new(out, A->cols, A->rows, nnz);
  if (status) return status;
  NsSparse *T = *out;
  memset(T->colptr, 0, ((size_t)T->cols + 1) * sizeof *T->colptr);
  for (int p = 0; p < nnz; p++) T->colptr[A->row[p]]++;
  cumulate(T->colptr, T->cols);
  for (int j = 0; j < A->cols; j++) {
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) {
      int q = T->colptr[A->row[p]]++;
      T->row[q] = j;
      T->value[q] = A->value[p];
    }
  }
  rewind_starts(T->colptr, T->cols);
  return NS_OK;
}

NsStatus ns_sparse_add(NsSparse **out, const NsSparse *A, double beta, const NsSparse *B) {
  *out = NULL;
  if (A->rows != B->rows || A->cols != B->cols) return NS_ESIZE;
  NsStatus status = ns_sparse_new(out, A->rows, A->cols, (ptrdiff_t)ns_sparse_nnz(A) + ns_sparse_nnz(B));
  if (status) return status;
  NsSparse *C = *out;
  int to = 0;
  for (int j = 0; j < A->cols; j++) {
    int p = A->colptr[j], q = B->colptr[j], pend = A->colptr[j + 1], qend = B->colptr[j + 1];
    while (p < pend || q < qend) {
      int i = p < pend ? A->row[p] : INT_MAX, k = q < qend ? B->row[q] : INT_MAX;
      C->row[to] = i < k ? i : k;
      C->value[to] = 0;
      if (i <= k) C->value[to] += A->value[p++];
      if (k <= i) C->value[to] += beta * B->value[q++];
      to++;
    }
    C->colptr[j + 1] = to;
  }
  return NS_OK;
}

/* Number of entries of A B; -1: more than INT_MAX. mark: workspace of A->rows ints. */
static ptrdiff_t count_product(const NsSparse *A, const NsSparse *B, int *mark) {
  ptrdiff_t count = 0;
  for (int i = 0; i < A->rows; i++) mark[i] = -1;
  for (int j = 0; j < B->cols; j++) {
    for (int q = B->colptr[j]; q < B->colptr[j + 1]; q++) {
      int k = B->row[q];
      for (int p = A->colptr[k]; p < A->colptr[k + 1]; p++) {
        if (mark[A->row[p]] != j) count++;
        mark[A->row[p]] = j;
      }
    }
    if (count > INT_MAX) return -1;
  }
  return count;
}

/* The product with unsorted columns; place[i] (A->rows ints) is the entry of row i in the present column. */
static void fill_product(NsSparse *C, const NsSparse *A, const NsSparse *B, int *place) {
  int to = 0;
  for (int i = 0; i < A->rows; i++) place[i] = -1;
  for (int j = 0; j < B->cols; j++) {
    int start = to;
    for (int q = B->colptr[j]; q < B->colptr[j + 1]; q++) {
      int k = B->row[q];
      for (int p = A->colptr[k]; p < A->colptr[k + 1]; p++) {
        int i = A->row[p];
        if (place[i] < start) {
          place[i] = to;
          C->row[to] = i;
          C->value[to++] = 0;
        }
        C->value[place[i]] += A->value[p] * B->value[q];
      }
    }
    C->colptr[j + 1] = to;
  }
}

/* Sorts the rows of every column by transposing twice. */
static NsStatus sort_columns(NsSparse **A) {
  NsSparse *T = NULL, *sorted = NULL;
  NsStatus status = ns_sparse_transpose(&T, *A);
  if (!status) status = ns_sparse_transpose(&sorted, T);
  ns_sparse_free(T);
  ns_sparse_free(*A);
  *A = sorted;
  return status;
}

NsStatus ns_sparse_multiply(NsSparse **out, const NsSparse *A, const NsSparse *B) {
  *out = NULL;
  if (A->cols != B->rows) return NS_ESIZE;
  int *mark = ns_alloc((size_t)A->rows, sizeof *mark);
  if (!mark) return NS_ENOMEM;
  ptrdiff_t count = count_product(A, B, mark);
  NsStatus status = count < 0 ? NS_ETOOLARGE : ns_sparse_new(out, A->rows, B->cols, count);
  if (!status) {
    fill_product(*out, A, B, mark);
    status = sort_columns(out);
  }
  ns_free(mark);
  return status;
}

static void scale_vector(int n, double beta, double *y) {
  for (int i = 0; i < n; i++) y[i] = beta == 0 ? 0 : beta * y[i];
}

void ns_sparse_gemv(double alpha, const NsSparse *A, const double *x, double beta, double *y) {
  scale_vector(A->rows, beta, y);
  for (int j = 0; j < A->cols; j++) {
    double f = alpha * x[j];
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) y[A->row[p]] += A->value[p] * f;
  }
}

void ns_sparse_gemv_transposed(double alpha, const NsSparse *A, const double *x, double beta, double *y) {
  for (int j = 0; j < A->cols; j++) {
    double sum = 0;
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) sum += A->value[p] * x[A->row[p]];
    y[j] = (beta == 0 ? 0 : beta * y[j]) + alpha * sum;
  }
}

void ns_sparse_gemm(const NsSparse *A, int n, const double *X, int ldx, double *Y, int ldy) {
  for (int k = 0; k < n; k++) ns_sparse_gemv(1, A, X + ns_at(0, k, ldx), 0, Y + ns_at(0, k, ldy));
}

void ns_sparse_gemm_left(int m, const double *X, int ldx, const NsSparse *A, double *Y, int ldy) {
  for (int j = 0; j < A->cols; j++) {
    double *y = Y + ns_at(0, j, ldy);
    for (int i = 0; i < m; i++) y[i] = 0;
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) {
      const double *x = X + ns_at(0, A->row[p], ldx);
      for (int i = 0; i < m; i++) y[i] += x[i] * A->value[p];
    }
  }
}

void ns_sparse_scale(NsSparse *A, double s) {
  for (int p = 0; p < ns_sparse_nnz(A); p++) A->value[p] *= s;
}

double ns_sparse_get(const NsSparse *A, int i, int j) {
  int lo = A->colptr[j], hi = A->colptr[j + 1];
  while (lo < hi) {
    int mid = lo + (hi - lo) / 2;
    if (A->row[mid] == i) return A->value[mid];
    if (A->row[mid] < i) lo = mid + 1;
    else hi = mid;
  }
  return 0;
}

void ns_sparse_diagonal(const NsSparse *A, double *d) {
  for (int k = 0; k < ns_min(A->rows, A->cols); k++) d[k] = ns_sparse_get(A, k, k);
}

bool ns_sparse_same_pattern(const NsSparse *A, const NsSparse *B) {
  if (A->rows != B->rows || A->cols != B->cols) return false;
  if (memcmp(A->colptr, B->colptr, ((size_t)A->cols + 1) * sizeof *A->colptr) != 0) return false;
  return memcmp(A->row, B->row, (size_t)ns_sparse_nnz(A) * sizeof *A->row) == 0;
}

bool ns_sparse_finite(const NsSparse *A) {
  double check = 0;
  for (int p = 0; p < ns_sparse_nnz(A); p++) check += A->value[p] * 0.0;
  return check == 0;
}

double ns_sparse_norm1(const NsSparse *A) {
  double max = 0;
  for (int j = 0; j < A->cols; j++) {
    double sum = 0;
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) sum += fabs(A->value[p]);
    max = fmax(max, sum);
  }
  return max;
}

double ns_sparse_norminf(const NsSparse *A, double *room) {
  double max = 0;
  for (int i = 0; i < A->rows; i++) room[i] = 0;
  for (int p = 0; p < ns_sparse_nnz(A); p++) max = fmax(max, room[A->row[p]] += fabs(A->value[p]));
  return max;
}
