/*
** array_text.h
** Vectors and matrices as text, for people: large ones with dots in the middle.
*/
#pragma once

#include "linalg/grid.h"
#include "linalg/sparse.h"

/*
** Write the text to `to`, without a zero byte, and return its length; `to` NULL: only the length. A vector: "[1, 2, ..., 9] (20 elements)"; a
** matrix, not empty: a line for each row, aligned; a sparse matrix: a head, then a grid with dots for what is not there, or a list.
*/
size_t ns_vector_text(char *to, const NsGrid *v);
size_t ns_matrix_text(char *to, const NsGrid *m);
size_t ns_sparse_text(char *to, const NsSparse *A);
