/*
** mixed_system.c
** The sparse linear systems of the Newton methods for rows and contacts.
*/
#include "solvers/contact/mixed_system.h"

#include <string.h>

static void mixed_system_forget(NsMixedSystem *s) {
  ns_sparse_lu_free(s->lu);
  ns_sparse_free(s->J);
  s->lu = NULL;
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
  NS_ARENA_INTS(&s->arena, wanted, &s->group, &s->first, &s->mark);
  if (s->arena.failed) return ns_mixed_system_release(s), NS_ENOMEM;
  s->capacity = wanted;
  return NS_OK;
}

/*
** Counts the entries of column j: rows of its own group and of groups with an entry. Stores them from `count` unless rows is
** NULL.
*/
static ptrdiff_t column_pattern(const NsMixedSystem *s, const NsMixedProblem *p, int j, ptrdiff_t count, int *rows, int *cols) {
  for (int k = p->sparse->colptr[j] - 1; k < p->sparse->colptr[j + 1]; k++) {
    int i = k < p->sparse->colptr[j] ? j : p->sparse->row[k], g = s->group[i];
    if (s->mark[g] == j + 1) continue;
    s->mark[g] = j + 1;
    for (int r = 0; r < p->groups[g].dim; r++, count++)
      if (rows) rows[count] = s->first[g] + r, cols[count] = j;
  }
  return count;
}

static ptrdiff_t pattern(const NsMixedSystem *s, const NsMixedProblem *p, int *rows, int *cols) {
  ptrdiff_t count = 0;
  memset(s->mark, 0, (size_t)p->n * sizeof *s->mark);
  for (int j = 0; j < p->n; j++) count = column_pattern(s, p, j, count, rows, cols);
  return count;
}

static NsStatus form(const NsMixedSystem *s, const NsMixedProblem *p, NsSparse **out) {
  NsArena room = {0};
  ptrdiff_t count = pattern(s, p, NULL, NULL);
  int *rows = ns_arena_ints(&room, count), *cols = ns_arena_ints(&room, count);
  double *zeros = ns_arena_doubles(&room, count);
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    pattern(s, p, rows, cols);
    status = ns_sparse_from_triplets(out, p->n, p->n, count, rows, cols, zeros);
  }
  ns_arena_release(&room);
  return status;
}

NsStatus ns_mixed_system_begin(NsMixedSystem *s, const NsMixedProblem *p) {
  NsSparse *J = NULL;
  NsStatus status = mixed_system_reserve(s, p->n);
  if (status) return status;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    s->first[g] = row;
    for (int i = 0; i < p->groups[g].dim; i++) s->group[row + i] = g;
  }
  status = form(s, p, &J);
  if (status) return status;
  if (s->J && ns_sparse_same_pattern(s->J, J)) return ns_sparse_free(J), ns_sparse_lu_restart(s->lu), NS_OK;
  mixed_system_forget(s);
  s->J = J;
  return ns_sparse_lu_new(&s->lu, J);
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
  return ns_sparse_lu_refactor(s->lu, J, NULL);
}

void ns_mixed_system_solve(NsMixedSystem *s, int n, double *x) {
  ns_sparse_lu_solve(s->lu, 1, x, n);
}
