/*
** colour.h
** Columns of a sparse Jacobian that one evaluation can give together.
*/
#ifndef NS_AD_COLOUR_H
#define NS_AD_COLOUR_H

/*
** Gives each column a colour, 0 .. count - 1, such that no two columns of one colour have an entry in the same row: their
** derivatives can be told apart when they are taken in one direction. The entries of column j are row[colptr[j]] ..
** row[colptr[j + 1] - 1]. The first colour that fits is taken, column by column. `taken` (rows * cols) is for its own
** use. Returns count. Curtis, Powell and Reid, IMA J. Appl. Math. 13 (1974) 117-119.
*/
int ns_colour_columns(int rows, int cols, const int *colptr, const int *row, int *colour, unsigned char *taken);

#endif
