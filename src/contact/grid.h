/*
** grid.h
** Broad phase: the pairs of balls that are near, by a grid of cells. The cost is linear in the number of balls where they do not pile up.
*/
#pragma once

#include "base/status.h"

/* The balls: places (3 each), radii, and a list of near pairs (i, j), i < j, by i and then j, which grows as needed. */
typedef struct NsGrid {
  int n, capacity, npairs, pair_capacity, table_size;
  double *places, *radii;
  int *pairs;        /* 2 each */
  int *table, *next; /* the first ball of each entry of the table, the next one after a ball; -1: none */
  long long *cells;  /* 3 each */
} NsGrid;

/* Makes space for n balls, whose places and radii the caller then writes. A grid of zeros is empty and valid. NS_ENOMEM. */
NsStatus ns_grid_resize(NsGrid *grid, int n);

/* The pairs whose balls are at most `margin` apart. NS_ENAN: ball *bad has no place among the cells; NS_ENOMEM. */
NsStatus ns_grid_search(NsGrid *grid, double margin, int *bad);

void ns_grid_free(NsGrid *grid);
