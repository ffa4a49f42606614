/*
** jet_passes.c
** Passes with jets: which variables they take, and where their derivatives go.
*/
#include "ad/jet_passes.h"

#include <string.h>

/* VARIABLES: most variables of one pass (chosen by experience on the specs); BLOCK: half, as ns_jets_bowl pairs two blocks. */
enum { VARIABLES = 16, BLOCK = VARIABLES / 2 };

ptrdiff_t ns_jet_most(int n) {
  int variables = n < VARIABLES ? n : VARIABLES;
  int twist = ns_jet_size((NsJet){NS_JET_TWIST, variables}), bowl = ns_jet_size((NsJet){NS_JET_BOWL, variables});
  return twist > bowl ? twist : bowl;
}

/* Element (i, k) of a wanted matrix. */
static void put_slope(double *to, ptrdiff_t at, double value) {
  if (to) to[at] = value;
}

void ns_jets_twist(const NsJetPasses *p, const double *v, const double *a, double *second, double *slope, double *rate,
                   double *bend) {
  for (int first = 0; first < p->n && p->rows > 0; first += VARIABLES) {
    NsJet jet = {NS_JET_TWIST, p->n - first < VARIABLES ? p->n - first : VARIABLES};
    ptrdiff_t np = ns_jet_size(jet);
    memset(p->seed, 0, (size_t)(p->n * np) * sizeof *p->seed);
    for (int i = 0; i < p->n; i++) {
      double *d = p->seed + i * np;
      d[0] = v[i];
      d[1] = a ? a[i] : 0;
      if (i >= first && i < first + jet.variables) d[2 + 3 * (i - first)] = 1;
    }
    p->find(p->context, p->tdot, jet, p->seed, p->all);
    for (ptrdiff_t i = 0; i < p->rows; i++) {
      if (second) second[i] = p->all[i * np + 1];
      for (ptrdiff_t k = 0; k < jet.variables; k++) {
        const double *d = p->all + i * np + 2 + 3 * k;
        ptrdiff_t at = i + (first + k) * p->rows;
        put_slope(slope, at, d[0]);
        put_slope(rate, at, d[1]);
        put_slope(bend, at, d[2]);
      }
    }
  }
}

/* The entries of H by the variables a and b, from the derivatives by their pair. */
static void put_pair(const NsJetPasses *p, const double *pair, ptrdiff_t np, int a, int b, const double *weight, double *H) {
  ptrdiff_t n = p->n, rows = p->rows;
  double sum = 0;
  for (ptrdiff_t r = 0; r < rows && weight; r++) sum += weight[r] * pair[r * np];
  if (weight) H[a + b * n] = H[b + a * n] = sum;
  for (ptrdiff_t r = 0; r < rows && !weight; r++) H[r + rows * (a + b * n)] = H[r + rows * (b + a * n)] = pair[r * np];
}

/* One pass with these variables. */
static void one_bowl(const NsJetPasses *p, const int *number, int variables, const double *weight, double *H) {
  NsJet jet = {NS_JET_BOWL, variables};
  ptrdiff_t np = ns_jet_size(jet);
  memset(p->seed, 0, (size_t)(p->n * np) * sizeof *p->seed);
  for (int k = 0; k < variables; k++) p->seed[number[k] * np + k] = 1;
  p->find(p->context, 0, jet, p->seed, p->all);
  for (int j = 0; j < variables; j++)
    for (int i = 0; i <= j; i++) put_pair(p, p->all + ns_jet_pair(jet, i, j), np, number[i], number[j], weight, H);
}

/* The variables of block b, appended to `number`. */
static int jets_add_block(int *number, int count, int b, int n) {
  for (int k = b * BLOCK; k < n && k < (b + 1) * BLOCK; k++) number[count++] = k;
  return count;
}

void ns_jets_bowl(const NsJetPasses *p, const double *weight, double *H) {
  int blocks = (p->n + BLOCK - 1) / BLOCK, number[VARIABLES];
  for (int b = 0; b < blocks && p->rows > 0; b++)
    for (int c = b + 1; c < blocks || (blocks == 1 && c == 1); c++) {
      int count = jets_add_block(number, jets_add_block(number, 0, b, p->n), c, p->n);
      one_bowl(p, number, count, weight, H);
    }
}
