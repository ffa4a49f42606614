/*
** colour.h
** Colouring of the columns of a sparse Jacobian: one evaluation gives all columns of a colour.
*/
#pragma once

#include <stdbool.h>

/*
** Gives each column a colour, 0 .. count - 1, so that two columns of one colour never have an entry in the same row: a single
** directional derivative then contains all their entries. Column j has entries in the rows row[colptr[j]] ..
** row[colptr[j + 1] - 1]. Each column takes the first colour that fits. `taken`: workspace of rows * cols bytes. Returns count.
** Curtis, Powell and Reid, IMA J. Appl. Math. 13 (1974) 117-119.
*/
int ns_colour_columns(int rows, int cols, const int *colptr, const int *row, int *colour, unsigned char *taken);

/* The pattern of an n x n Jacobian with the colours of its columns. The arrays are borrowed; `colours` is their number. */
typedef struct NsPattern {
  int n, colours;
  int *colptr, *row, *colour;
} NsPattern;

/* seed[j * np + k] (n x np) = 1 if variable j has the colour first + k, else 0. */
void ns_pattern_seed(const NsPattern *p, int first, int np, double *seed);

/* Copies the derivatives all[i * np + k] of value i by the colour first + k to their entries of J (n x n, column-major). */
void ns_pattern_take(const NsPattern *p, int first, int np, const double *all, double *J);

/* w (n) = a pseudo-random direction with elements from 0.5 to 1.5, so that entries of a row do not cancel by chance. */
void ns_pattern_direction(int n, double *w);

/*
** Whether the pattern contains all nonzeros of the Jacobian. Test: |J w - along| <= 1e-10 sum_j |J_ij w_j| in each row, where
** `along` (n) is the derivative in the direction w and 1e-10 allows for rounding. along is overwritten; sum (n) is workspace.
*/
bool ns_pattern_complete(const NsPattern *p, const double *J, const double *w, double *along, double *sum);

/* Whether the pattern has the entry (i, j), from 0. */
bool ns_pattern_has(const NsPattern *p, int i, int j);
