/*
** colour.c
** First-fit colouring of the columns of a sparse matrix.
*/
#include "ad/colour.h"

#include <stdbool.h>
#include <stddef.h>
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
