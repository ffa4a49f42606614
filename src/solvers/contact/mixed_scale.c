/*
** mixed_scale.c
** Extracts some groups of a problem and scales rows and columns by powers of two.
*/
#include "solvers/contact/mixed_scale.h"

#include <float.h>
#include <math.h>

#include "solvers/balance.h"
#include "solvers/contact/mixed_measure.h"

void ns_mixed_scaled_release(NsMixedScaled *s) {
  ns_sparse_free(s->sparse);
  ns_arena_release(&s->arena);
  *s = (NsMixedScaled){0};
}

/* Allocates for n rows and this many dense entries of W. */
static NsStatus reserve_scaled(NsMixedScaled *s, int n, ptrdiff_t entries) {
  if (n <= s->capacity && entries <= s->room) return NS_OK;
  ptrdiff_t wanted = n > s->capacity ? n + n / 2 : s->capacity, room = entries > s->room ? entries + entries / 2 : s->room;
  ns_mixed_scaled_release(s);
  NS_ARENA_VECTORS(&s->arena, wanted, &s->q, &s->guess, &s->z, &s->w);
  NS_ARENA_INTS(&s->arena, wanted, &s->row, &s->unit_w, &s->unit_z, &s->place, &s->run);
  s->groups = ns_arena_take(&s->arena, (size_t)wanted, sizeof *s->groups);
  s->W = ns_arena_doubles(&s->arena, room);
  if (s->arena.failed) return ns_mixed_scaled_release(s), NS_ENOMEM;
  s->capacity = (int)wanted;
  s->room = room;
  return NS_OK;
}

/* ---- the matrix ---- */

static void cut_dense(NsMixedScaled *s, const NsMixedProblem *p) {
  int n = s->p.n;
  for (int j = 0; j < n; j++) {
    const double *from = p->W + (size_t)s->row[j] * (size_t)p->n;
    for (int i = 0; i < n; i++) s->W[i + (size_t)j * (size_t)n] = from[s->row[i]];
  }
  s->p.W = s->W;
  s->p.sparse = NULL;
}

/*
** Finds the runs of column j of W: entries that follow each other in the cut, too, as those of a group do. Run k begins at the entry from[k]. They are
** sorted in the order of the cut, by Shell's sort (Comm. ACM 2, 1959): columns have two runs or thousands. Stored zeros outside of the cut are left out.
** Returns the number of runs.
*/
static int cut_runs(const NsMixedScaled *s, const NsSparse *W, int j, int *from) {
  const int *place = s->place, *row = W->row;
  int count = 0;
  for (int k = W->colptr[j]; k < W->colptr[j + 1]; k++)
    if (place[row[k]] >= 0 && (k == W->colptr[j] || place[row[k]] != place[row[k - 1]] + 1)) from[count++] = k;
  for (int gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (int)(gap / 2.2))
    for (int i = gap; i < count; i++) {
      int own = from[i], at = i;
      for (; at >= gap && place[row[from[at - gap]]] > place[row[own]]; at -= gap) from[at] = from[at - gap];
      from[at] = own;
    }
  return count;
}

static NsStatus cut_sparse(NsMixedScaled *s, const NsMixedProblem *p) {
  const NsSparse *W = p->sparse;
  int n = s->p.n, count = 0;
  for (int i = 0; i < p->n; i++) s->place[i] = -2; /* next to no place */
  for (int i = 0; i < n; i++) s->place[s->row[i]] = i, count += W->colptr[s->row[i] + 1] - W->colptr[s->row[i]];
  NsStatus status = ns_sparse_renew(&s->sparse, n, n, count);
  if (status) return status;
  NsSparse *to = s->sparse;
  count = 0;
  for (int j = 0; j < n; to->colptr[++j] = count) {
    int runs = cut_runs(s, W, s->row[j], s->run), end = W->colptr[s->row[j] + 1];
    for (int r = 0; r < runs; r++)
      for (int k = s->run[r], i = s->place[W->row[k]]; k < end && s->place[W->row[k]] == i; k++, i++, count++)
        to->row[count] = i, to->value[count] = W->value[k];
  }
  s->p.W = NULL;
  s->p.sparse = to;
  return NS_OK;
}

/* ---- units ---- */

static int floor_of_half(int x) {
  return x >= 0 ? x / 2 : -((1 - x) / 2);
}

/* The part of a group with one unit that begins at row i: up to the end of the disc; a first disc has the unit of the normal. */
static int unit_end(const NsMixedGroup *group, int i) {
  if (!group->cone || group->cone->discs < 2) return group->dim;
  int k = 0;
  while (group->cone->first[k + 1] <= i) k++;
  return group->cone->first[k + 1];
}

/* Exponents s of the rows so that the own block, of each part of a group with one unit, times 2^(2 s) is near 2^first. Returns first. */
static int own_units(NsMixedScaled *s) {
  int first = NS_NO_EXPONENT;
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim)
    for (int from = 0, to; from < s->p.groups[g].dim; from = to) {
      to = unit_end(&s->p.groups[g], from);
      double size = ns_mixed_block_size(&s->p, row + from, to - from);
      int e = size > 0 ? ns_binary_exponent(size) : NS_NO_EXPONENT;
      if (first == NS_NO_EXPONENT) first = e;
      for (int i = from; i < to; i++) s->unit_z[row + i] = e == NS_NO_EXPONENT ? e : -floor_of_half(e - first);
    }
  return first == NS_NO_EXPONENT ? 0 : first;
}

/*
** The exponent of a part whose own block is 0: it makes the first entry of column j, in a row with a known exponent, 2^first.
*/
static int from_neighbour(const NsMixedScaled *s, int j, int first) {
  const NsMixedProblem *p = &s->p;
  int from = p->W ? 0 : p->sparse->colptr[j], to = p->W ? p->n : p->sparse->colptr[j + 1];
  const double *value = p->W ? p->W + (size_t)j * (size_t)p->n : p->sparse->value;
  for (int k = from; k < to; k++) {
    int i = p->W ? k : p->sparse->row[k];
    if (value[k] != 0 && s->unit_z[i] != NS_NO_EXPONENT) return first - ns_binary_exponent(value[k]) - s->unit_z[i];
  }
  return 0;
}

static void follow_others(NsMixedScaled *s, int first) {
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim)
    for (int from = 0, to; from < s->p.groups[g].dim; from = to) {
      to = unit_end(&s->p.groups[g], from);
      if (s->unit_z[row + from] != NS_NO_EXPONENT) continue;
      int own = from_neighbour(s, row + from, first);
      for (int i = from; i < to; i++) s->unit_z[row + i] = own;
    }
}

/* Turns the exponents into units of w and z in which the largest of q and the bounds is between 1/2 and 1. */
static void data_units(NsMixedScaled *s, int first) {
  int most = NS_NO_EXPONENT, of_guess = NS_NO_EXPONENT;
  for (int g = 0, row = 0; g < s->p.ngroups; row += s->p.groups[g++].dim) {
    const NsMixedGroup *group = &s->groups[g];
    for (int i = row; i < row + group->dim; i++) most = ns_larger_exponent(most, s->q[i], s->unit_z[i]);
    if (group->cone) continue;
    most = ns_larger_exponent(most, group->lower, first - s->unit_z[row]);
    most = ns_larger_exponent(most, group->upper, first - s->unit_z[row]);
  }
  for (int i = 0; i < s->p.n; i++) of_guess = ns_larger_exponent(of_guess, s->guess[i], first - s->unit_z[i]);
  if (most == NS_NO_EXPONENT) most = of_guess; /* if all data are 0, the guess gives the size of z */
  int whole = most == NS_NO_EXPONENT ? 0 : -most;
  for (int i = 0; i < s->p.n; i++) {
    int own = s->unit_z[i];
    s->unit_w[i] = own + whole;
    s->unit_z[i] = first - own + whole;
  }
}

static void apply_units(NsMixedScaled *s) {
  NsMixedProblem *p = &s->p;
  for (int j = 0; j < p->n; j++) {
    int from = p->W ? 0 : p->sparse->colptr[j], to = p->W ? p->n : p->sparse->colptr[j + 1];
    double *value = p->W ? s->W + (size_t)j * (size_t)p->n : s->sparse->value;
    for (int k = from; k < to; k++) value[k] = ns_times_power(value[k], s->unit_w[p->W ? k : p->sparse->row[k]] - s->unit_z[j]);
    s->q[j] = ns_times_power(s->q[j], s->unit_w[j]);
    s->guess[j] = ns_times_power(s->guess[j], s->unit_z[j]);
  }
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsConeClass *cone = p->groups[g].cone;
    for (int k = 1; cone && k < cone->discs; k++)
      s->groups[g].mu[k] = ns_times_power(s->groups[g].mu[k], s->unit_z[row + cone->first[k]] - s->unit_z[row]);
    if (cone) continue;
    s->groups[g].lower = ns_times_power(s->groups[g].lower, s->unit_z[row]);
    s->groups[g].upper = ns_times_power(s->groups[g].upper, s->unit_z[row]);
  }
}

NsStatus ns_mixed_scale(NsMixedScaled *s, const NsMixedProblem *p, const int *first, const int *group, int count, bool contacts,
                        const double *guess) {
  int n = 0;
  for (int g = 0; g < count; g++) n += p->groups[group[g]].dim;
  NsStatus status = reserve_scaled(s, p->sparse ? p->n : n, p->W ? (ptrdiff_t)n * n : 0);
  if (status) return status;
  n = 0;
  for (int g = 0; g < count; g++) {
    s->groups[g] = p->groups[group[g]];
    for (int i = 0; i < s->groups[g].dim; i++, n++) {
      int row = first[group[g]] + i;
      s->row[n] = row;
      s->q[n] = p->q[row];
      s->guess[n] = guess && fabs(guess[row]) <= DBL_MAX ? guess[row] : 0;
      s->unit_w[n] = s->unit_z[n] = 0;
    }
  }
  s->p = (NsMixedProblem){.n = n, .ngroups = count, .groups = s->groups, .q = s->q};
  if (p->W) cut_dense(s, p);
  else status = cut_sparse(s, p);
  if (status || !contacts) return status;
  int exponent = own_units(s);
  follow_others(s, exponent);
  data_units(s, exponent);
  apply_units(s);
  return NS_OK;
}
