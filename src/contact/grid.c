/*
** grid.c
** Broad phase by a grid: a ball is in the cell of its centre, a cell is as wide as the largest ball and the margin, so that near balls are
** in neighbouring cells. Cells are found by a hash table.
*/
#include "contact/grid.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

/* The most cells from the origin to a ball: beyond it a cell's number is no longer sure. */
static const double farthest = 1e9;

/* Resizes the array at `array`; it stays as it was on failure. */
static NsStatus grid_grow(void *array, size_t count, size_t size) {
  void **at = array, *grown = ns_resize(*at, count, size);
  if (!grown) return NS_ENOMEM;
  return *at = grown, NS_OK;
}

NsStatus ns_grid_resize(NsGrid *grid, int n) {
  if (n > grid->capacity) {
    size_t most = 2 * (size_t)n, table = 16;
    while (table < 2 * most) table *= 2;
    NsStatus status = grid_grow(&grid->places, 3 * most, sizeof *grid->places);
    if (status == NS_OK) status = grid_grow(&grid->radii, most, sizeof *grid->radii);
    if (status == NS_OK) status = grid_grow(&grid->next, most, sizeof *grid->next);
    if (status == NS_OK) status = grid_grow(&grid->cells, 3 * most, sizeof *grid->cells);
    if (status == NS_OK) status = grid_grow(&grid->table, table, sizeof *grid->table);
    if (status != NS_OK) return status;
    grid->capacity = (int)most, grid->table_size = (int)table;
  }
  return grid->n = n, NS_OK;
}

static int *grid_entry(const NsGrid *grid, const long long *cell) {
  uint64_t h = (uint64_t)cell[0] * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)cell[1] * UINT64_C(0xc2b2ae3d27d4eb4f) +
               (uint64_t)cell[2] * UINT64_C(0x165667b19e3779f9);
  return &grid->table[(h ^ (h >> 29)) * UINT64_C(0xbf58476d1ce4e5b9) >> 32 & (uint64_t)(grid->table_size - 1)];
}

/* Puts the balls into cells; the last comes first, so that the lists of the cells rise. */
static NsStatus grid_fill(NsGrid *grid, double width, int *bad) {
  for (int k = 0; k < grid->table_size; k++) grid->table[k] = -1;
  for (int i = 0; i < grid->n; i++)
    for (int k = 0; k < 3; k++) {
      double x = floor(grid->places[3 * i + k] / width);
      if (!(fabs(x) < farthest)) return *bad = i, NS_ENAN;
      grid->cells[3 * i + k] = (long long)x;
    }
  for (int i = grid->n - 1; i >= 0; i--) {
    int *entry = grid_entry(grid, &grid->cells[3 * (ptrdiff_t)i]);
    grid->next[i] = *entry, *entry = i;
  }
  return NS_OK;
}

static bool grid_near(const NsGrid *grid, int i, int j, double margin) {
  const double *a = &grid->places[3 * (ptrdiff_t)i], *b = &grid->places[3 * (ptrdiff_t)j];
  double x = b[0] - a[0], y = b[1] - a[1], z = b[2] - a[2], far = grid->radii[i] + grid->radii[j] + margin;
  return x * x + y * y + z * z <= far * far;
}

static NsStatus grid_pair(NsGrid *grid, int i, int j) {
  if (grid->npairs == grid->pair_capacity) {
    int most = 2 * grid->pair_capacity + 64;
    if (grid_grow(&grid->pairs, 2 * (size_t)most, sizeof *grid->pairs) != NS_OK) return NS_ENOMEM;
    grid->pair_capacity = most;
  }
  int *pair = &grid->pairs[2 * (ptrdiff_t)grid->npairs++];
  return pair[0] = i, pair[1] = j, NS_OK;
}

/* The pairs of ball i with later ones in a cell. */
static NsStatus grid_cell_pairs(NsGrid *grid, int i, const long long *cell, double margin) {
  for (int j = *grid_entry(grid, cell); j >= 0; j = grid->next[j]) {
    const long long *at = &grid->cells[3 * (ptrdiff_t)j];
    if (j <= i || at[0] != cell[0] || at[1] != cell[1] || at[2] != cell[2]) continue;
    if (grid_near(grid, i, j, margin) && grid_pair(grid, i, j) != NS_OK) return NS_ENOMEM;
  }
  return NS_OK;
}

/* By the second ball: pairs of one first ball. */
static int grid_order(const void *a, const void *b) {
  const int *p = a, *q = b;
  return (p[1] > q[1]) - (p[1] < q[1]);
}

NsStatus ns_grid_search(NsGrid *grid, double margin, int *bad) {
  double widest = 0;
  bool flat = true; /* all in the plane z = 0: its neighbours in z are empty */
  for (int i = 0; i < grid->n; i++) {
    widest = fmax(widest, grid->radii[i]);
    flat = flat && grid->places[3 * i + 2] == 0;
  }
  grid->npairs = 0;
  NsStatus status = grid_fill(grid, 2 * widest + margin, bad);
  for (int i = 0; status == NS_OK && i < grid->n; i++) {
    const long long *at = &grid->cells[3 * (ptrdiff_t)i];
    int first = grid->npairs;
    for (int k = 0; status == NS_OK && k < 27; k++) {
      long long cell[3] = {at[0] + k % 3 - 1, at[1] + k / 3 % 3 - 1, at[2] + k / 9 - 1};
      if (!flat || cell[2] == 0) status = grid_cell_pairs(grid, i, cell, margin);
    }
    if (grid->npairs > first)
      qsort(grid->pairs + 2 * (ptrdiff_t)first, (size_t)(grid->npairs - first), 2 * sizeof *grid->pairs, grid_order);
  }
  return status;
}

void ns_grid_free(NsGrid *grid) {
  ns_free(grid->places);
  ns_free(grid->radii);
  ns_free(grid->next);
  ns_free(grid->cells);
  ns_free(grid->table);
  ns_free(grid->pairs);
}
