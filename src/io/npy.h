/*
** npy.h
** Arrays of doubles in NumPy's .npy format, version 1.0 (numpy.lib.format).
*/
#ifndef NS_IO_NPY_H
#define NS_IO_NPY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum NsNpyOrder {
  NS_NPY_FORTRAN, /* entry (i, j) is data[i + j * ld] */
  NS_NPY_C        /* entry (i, j) is data[i * ld + j] */
} NsNpyOrder;

/*
** Writes a rows x cols array that lies in memory, and then in the file, in the given order with leading dimension
** ld. cols < 0 writes a one-dimensional array of `rows` elements (ld is not used). The file appears whole or not at
** all. NS_EIO, NS_ENOMEM.
*/
NsStatus ns_npy_write(const char *path, NsNpyOrder order, ptrdiff_t rows, ptrdiff_t cols, const double *data, ptrdiff_t ld,
                      NsError *err);

/* Room for the header of an array. */
enum { NS_NPY_HEADER = 192 };

/* Writes the header of such an array into `header` (NS_NPY_HEADER bytes) and returns its length. */
size_t ns_npy_header(char *header, NsNpyOrder order, ptrdiff_t rows, ptrdiff_t cols);

/* An array in memory: `data` points into the bytes that were parsed. */
typedef struct NsNpyArray {
  ptrdiff_t rows, cols; /* cols < 0: one-dimensional (a scalar is one of 1 element) */
  NsNpyOrder order;
  char kind;    /* 'f', 'i', 'u' or 'b' */
  int width;    /* bytes of an element */
  bool swapped; /* of the other byte order */
  const char *data;
  bool foreign; /* the header is whole, but of an array that is not read: of texts, records, three dimensions ... */
} NsNpyArray;

/*
** Reads the header of the bytes of a .npy file (versions 1 to 3) of floating-point numbers of 4 or 8 bytes, integers or
** truth values with at most two dimensions. NS_EARG, array->foreign telling why, with a text ("it is no .npy file", "arrays of '<c16' are not read").
*/
NsStatus ns_npy_parse(const char *bytes, size_t size, NsNpyArray *array, NsError *err);

/* Copies the elements, as doubles, to a column-major array of rows x max(cols, 1). */
void ns_npy_read(const NsNpyArray *array, double *to);

#endif
