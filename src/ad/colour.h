/*
** colour.h
** Columns of a sparse Jacobian that one evaluation can give together.
*/
#ifndef NS_AD_COLOUR_H
#define NS_AD_COLOUR_H

#include <stdbool.h>

/*
** Gives each column a colour, 0 .. count - 1, such that no two columns of one colour have an entry in the same row: their
** derivatives can be told apart when they are taken in one direction. The entries of column j are row[colptr[j]] ..
** row[colptr[j + 1] - 1]. The first colour that fits is taken, column by column. `taken` (rows * cols) is for its own
** use. Returns count. Curtis, Powell and Reid, IMA J. Appl. Math. 13 (1974) 117-119.
*/
int ns_colour_columns(int rows, int cols, const int *colptr, const int *row, int *colour, unsigned char *taken);

/* The pattern of an n x n Jacobian, coloured. */
typedef struct NsPattern {
  int n, colours;
  int *colptr, *row, *colour;
} NsPattern;

/* seed (np for each of n variables) = 1 where the variable has the colour first + k, k < np; else 0. */
void ns_pattern_seed(const NsPattern *p, int first, int np, double *seed);

/* Puts the derivatives by those colours, np for each of n values, where they stand in J (n x n). */
void ns_pattern_take(const NsPattern *p, int first, int np, const double *all, double *J);

/* A direction w (n) in which no entries cancel by chance, of elements from 0.5 to 1.5. */
void ns_pattern_direction(int n, double *w);

/*
** Whether J has all entries of the Jacobian: J w is `along` (n), the derivative in the direction w, but for rounding, 1e-10 of the sum of its
** terms' sizes. along is overwritten; sum (n) is scratch.
*/
bool ns_pattern_complete(const NsPattern *p, const double *J, const double *w, double *along, double *sum);

/* Whether the pattern has the entry (i, j), from 0. */
bool ns_pattern_has(const NsPattern *p, int i, int j);

#endif
