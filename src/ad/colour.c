/*
** colour.c
** First-fit colouring of the columns of a sparse matrix; Jacobians from derivatives by colour.
*/
#include "ad/colour.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static bool colour_fits(const unsigned char *taken, const int *row, int count) {
  for (int k = 0; k < count; k++)
    if (taken[row[k]]) return false;
  return true;
}

int ns_colour_columns(int rows, int cols, const int *colptr, const int *row, int *colour, unsigned char *taken) {
  int count = 0;
  for (int j = 0; j < cols; j++) {
    const int *entries = row + colptr[j];
    int n = colptr[j + 1] - colptr[j], c = 0;
    while (c < count && !colour_fits(taken + (size_t)c * (size_t)rows, entries, n)) c++;
    unsigned char *of = taken + (size_t)c * (size_t)rows;
    if (c == count) memset(of, 0, (size_t)rows), count++;
    for (int k = 0; k < n; k++) of[entries[k]] = 1;
    colour[j] = c;
  }
  return count;
}

/* ---- Jacobians ---- */

void ns_pattern_seed(const NsPattern *p, int first, int np, double *seed) {
  memset(seed, 0, (size_t)p->n * (size_t)np * sizeof *seed);
  for (int j = 0; j < p->n; j++)
    if (p->colour[j] >= first && p->colour[j] < first + np) seed[(ptrdiff_t)j * np + p->colour[j] - first] = 1;
}

void ns_pattern_take(const NsPattern *p, int first, int np, const double *all, double *J) {
  for (int j = 0; j < p->n; j++) {
    int k = p->colour[j] - first;
    for (int e = p->colptr[j]; k >= 0 && k < np && e < p->colptr[j + 1]; e++)
      J[p->row[e] + (ptrdiff_t)j * p->n] = all[(ptrdiff_t)p->row[e] * np + k];
  }
}

/* The upper 24 bits of Knuth's linear congruential generator MMIX. */
void ns_pattern_direction(int n, double *w) {
  uint64_t seed = 1;
  for (int i = 0; i < n; i++) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    w[i] = 0.5 + (double)(seed >> 40) / (1 << 24);
  }
}

bool ns_pattern_complete(const NsPattern *p, const double *J, const double *w, double *along, double *sum) {
  memset(sum, 0, (size_t)p->n * sizeof *sum);
  for (int j = 0; j < p->n; j++)
    for (int e = p->colptr[j]; e < p->colptr[j + 1]; e++) {
      double part = J[p->row[e] + (ptrdiff_t)j * p->n] * w[j];
      along[p->row[e]] -= part;
      sum[p->row[e]] += fabs(part);
    }
  int i = 0;
  while (i < p->n && !(fabs(along[i]) > 1e-10 * sum[i])) i++;
  return i == p->n;
}

bool ns_pattern_has(const NsPattern *p, int i, int j) {
  int e = p->colptr[j];
  while (e < p->colptr[j + 1] && p->row[e] != i) e++;
  return e < p->colptr[j + 1];
}
