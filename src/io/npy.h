/*
** npy.h
** Arrays of doubles in NumPy's .npy format, version 1.0 (numpy.lib.format).
*/
#ifndef NS_IO_NPY_H
#define NS_IO_NPY_H

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
NsStatus ns_npy_write(const char *path, NsNpyOrder order, ptrdiff_t rows, ptrdiff_t cols, const double *data,
                      ptrdiff_t ld, NsError *err);

#endif
