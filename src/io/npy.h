/*
** npy.h
** Arrays of doubles in NumPy's .npy format, version 1.0 (numpy.lib.format).
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
** Writes a rows x cols array, column by column without gaps. cols < 0: a one-dimensional array of `rows` elements. The file appears whole or
** not at all. NS_EIO, NS_ENOMEM.
*/
NsStatus ns_npy_write(const char *path, ptrdiff_t rows, ptrdiff_t cols, const double *data, NsError *err);

/* Largest size of a header, in bytes. */
enum { NS_NPY_HEADER = 192 };

/* Writes the header of such an array into `header` (NS_NPY_HEADER bytes) and returns its length. */
size_t ns_npy_header(char *header, ptrdiff_t rows, ptrdiff_t cols);

/* An array in memory: `data` points into the bytes that were parsed. */
typedef struct NsNpyArray {
  ptrdiff_t rows, cols; /* cols < 0: one-dimensional (a scalar is one of 1 element) */
  bool by_columns;      /* its order, Fortran's; else by rows, C's */
  char kind;            /* 'f', 'i', 'u' or 'b' */
  int width;            /* bytes per element */
  bool swapped;         /* its byte order is not the machine's */
  const char *data;
  bool foreign; /* the header is valid, but the array has an unsupported type or shape: texts, records, three dimensions ... */
} NsNpyArray;

/*
** Reads the header of a .npy file in memory (versions 1 to 3). Supported: floating-point numbers of 4 or 8 bytes, integers and
** truth values with at most two dimensions. NS_EARG with a text ("it is not a .npy file", "arrays of '<c16' are not read") and
** array->foreign.
*/
NsStatus ns_npy_parse(const char *bytes, size_t size, NsNpyArray *array, NsError *err);

/* Copies the elements, as doubles, to a column-major array of rows x max(cols, 1). */
void ns_npy_read(const NsNpyArray *array, double *to);
