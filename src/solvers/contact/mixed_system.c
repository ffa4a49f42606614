/*
** mixed_system.c
** The sparse linear systems of the Newton methods for rows and contacts.
*/
#include "solvers/contact/mixed_system.h"

#include <math.h>
#include <string.h>

/* accurate: the residual of a row, over its terms, of a solution that is good enough for a step of Newton: half of the digits. */
static const double accurate = 1e-8;

/* few_flops: operations of a factorisation below which KLU is as fast as fronts (1 ms). */
static const double few_flops = 2e6;

static void mixed_system_forget(NsMixedSystem *s) {
  ns_sparse_lu_free(s->lu);
  ns_front_lu_free(s->fronts);
  ns_sparse_free(s->J);
  s->lu = NULL;
  s->fronts = NULL;
  s->J = NULL;
}

void ns_mixed_system_release(NsMixedSystem *s) {
  mixed_system_forget(s);
  ns_arena_release(&s->arena);
  *s = (NsMixedSystem){0};
}

static NsStatus mixed_system_reserve(NsMixedSystem *s, int n) {
  if (n <= s->capacity) return NS_OK;
  ns_mixed_system_release(s);
  int wanted = n + n / 2;
  NS_ARENA_INTS(&s->arena, wanted + 1, &s->group, &s->first, &s->column);
  NS_ARENA_VECTORS(&s->arena, wanted, &s->right, &s->left, &s->size);
  if (s->arena.failed) return ns_mixed_system_release(s), NS_ENOMEM;
  s->capacity = wanted;
  return NS_OK;
}

static int column_add_group(const NsMixedSystem *s, int g, int count) {
  for (int i = s->first[g]; i < s->first[g + 1]; i++) s->column[count++] = i;
  return count;
}

/* Writes the rows of column j of J to s->column, those of its own group and of the groups with an entry of W, in their order. Returns their number. */
static int column_of_blocks(const NsMixedSystem *s, const NsSparse *W, int j) {
  int count = 0, last = -1, own = s->group[j];
  for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++) {
    int g = s->group[W->row[k]];
    if (last < own && own < g) count = column_add_group(s, last = own, count);
    if (g != last) count = column_add_group(s, last = g, count);
  }
  return last < own ? column_add_group(s, own, count) : count;
}

static NsStatus form_pattern(const NsMixedSystem *s, const NsSparse *W, NsSparse **out) {
  ptrdiff_t count = 0;
  for (int j = 0; j < W->cols; j++) count += column_of_blocks(s, W, j);
  NsStatus status = ns_sparse_new(out, W->cols, W->cols, count);
  for (int j = 0; j < W->cols && !status; j++) {
    int *from = (*out)->colptr + j, rows = column_of_blocks(s, W, j);
    memcpy((*out)->row + *from, s->column, (size_t)rows * sizeof *s->column);
    from[1] = *from + rows;
  }
  return status;
}

/* Whether J has the groups and the pattern of a problem. */
static bool mixed_system_knows(const NsMixedSystem *s, const NsMixedProblem *p) {
  const NsSparse *J = s->J;
  if (!J || J->cols != p->n || s->groups != p->ngroups) return false;
  for (int g = 0; g < p->ngroups; g++)
    if (s->first[g + 1] - s->first[g] != p->groups[g].dim) return false;
  for (int j = 0; j < p->n; j++) {
    int rows = column_of_blocks(s, p->sparse, j);
    if (rows != J->colptr[j + 1] - J->colptr[j]) return false;
    if (memcmp(J->row + J->colptr[j], s->column, (size_t)rows * sizeof *s->column) != 0) return false;
  }
  return true;
}

NsStatus ns_mixed_system_begin(NsMixedSystem *s, const NsMixedProblem *p) {
  if (mixed_system_knows(s, p)) {
    if (s->lu) ns_sparse_lu_restart(s->lu);
    return NS_OK;
  }
  NsStatus status = mixed_system_reserve(s, p->n);
  if (status) return status;
  mixed_system_forget(s);
  s->groups = p->ngroups;
  for (int g = 0; g < p->ngroups; g++) {
    s->first[g + 1] = s->first[g] + p->groups[g].dim;
    for (int i = s->first[g]; i < s->first[g + 1]; i++) s->group[i] = g;
  }
  status = form_pattern(s, p->sparse, &s->J);
  if (!status) status = ns_front_lu_new(&s->fronts, s->J, p->ngroups, s->first);
  if (!status) status = ns_front_lu_analyse(s->fronts, NULL);
  s->small = !status && ns_front_lu_flops(s->fronts) < few_flops;
  if (s->small) status = ns_sparse_lu_new(&s->lu, s->J);
  if (status) mixed_system_forget(s);
  return status;
}

/* Factors J by KLU, which exchanges any rows. */
static NsStatus mixed_system_pivot(NsMixedSystem *s) {
  s->pivoted = true;
  NsStatus status = s->lu ? NS_OK : ns_sparse_lu_new(&s->lu, s->J);
  return status ? status : ns_sparse_lu_refactor(s->lu, s->J, NULL);
}

NsStatus ns_mixed_system_factor(NsMixedSystem *s, const NsMixedProblem *p, int stride, const double *A, const double *B) {
  const NsSparse *W = p->sparse;
  NsSparse *J = s->J;
  memset(J->value, 0, (size_t)ns_sparse_nnz(J) * sizeof *J->value);
  for (int j = 0; j < p->n; j++) {
    int at = J->colptr[j], own = s->group[j];
    for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++) {
      int g = s->group[W->row[k]], first = s->first[g], dim = p->groups[g].dim;
      const double *block = A + (size_t)stride * (size_t)g + (size_t)(W->row[k] - first) * (size_t)dim;
      while (J->row[at] < first) at++;
      for (int i = 0; i < dim; i++) J->value[at + i] += block[i] * W->value[k];
    }
    at = J->colptr[j];
    while (J->row[at] < s->first[own]) at++;
    for (int i = 0, dim = p->groups[own].dim; i < dim; i++)
      J->value[at + i] += B[(size_t)stride * (size_t)own + (size_t)(i + (j - s->first[own]) * dim)];
  }
  s->pivoted = s->small;
  if (s->small) return mixed_system_pivot(s);
  NsStatus status = ns_front_lu_factor(s->fronts, J);
  return status == NS_ESINGULAR ? mixed_system_pivot(s) : status;
}

/* left = right - J x. Whether it is small in each row, beside the terms of the row. */
static bool mixed_system_holds(NsMixedSystem *s, const double *x) {
  const NsSparse *J = s->J;
  for (int i = 0; i < J->cols; i++) s->left[i] = s->right[i], s->size[i] = fabs(s->right[i]);
  for (int j = 0; j < J->cols; j++)
    for (int k = J->colptr[j]; k < J->colptr[j + 1]; k++) {
      double term = J->value[k] * x[j];
      s->left[J->row[k]] -= term;
      s->size[J->row[k]] += fabs(term);
    }
  for (int i = 0; i < J->cols; i++)
    if (!(fabs(s->left[i]) <= accurate * s->size[i])) return false;
  return true;
}

NsStatus ns_mixed_system_solve(NsMixedSystem *s, int n, double *x) {
  size_t bytes = (size_t)n * sizeof *x;
  if (!s->pivoted) {
    memcpy(s->right, x, bytes);
    ns_front_lu_solve(s->fronts, x);
    if (mixed_system_holds(s, x)) return NS_OK;
    ns_front_lu_solve(s->fronts, s->left);
    for (int i = 0; i < n; i++) x[i] += s->left[i];
    if (mixed_system_holds(s, x)) return NS_OK;
    memcpy(x, s->right, bytes);
    NsStatus status = mixed_system_pivot(s);
    if (status) return status;
  }
  ns_sparse_lu_solve(s->lu, 1, x, n);
  return NS_OK;
}

int ns_mixed_system_sign(const NsMixedSystem *s) {
  return s->pivoted ? ns_sparse_lu_sign(s->lu) : ns_front_lu_sign(s->fronts);
}

double ns_mixed_system_flops(const NsMixedSystem *s) {
  if (s->small) return ns_sparse_lu_flops(s->lu);
  return ns_front_lu_analyse(s->fronts, NULL) == NS_OK ? ns_front_lu_flops(s->fronts) : INFINITY;
}
