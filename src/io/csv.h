/*
** csv.h
** Columns of numbers as comma-separated text (RFC 4180, with line ends of one newline).
*/
#ifndef NS_IO_CSV_H
#define NS_IO_CSV_H

#include <stddef.h>

#include "base/error.h"

/*
** Writes a header line of ncols names and nrows lines of numbers; element i of column j is
** columns[j][i * strides[j]] (strides NULL: all 1). Numbers are written as ns_number_format does and read back
** exactly; names are quoted when they hold a comma, a quote or a line end. The file appears whole or not at all.
** NS_EIO, NS_ENOMEM.
*/
NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows,
                      const double *const *columns, const ptrdiff_t *strides, NsError *err);

#endif
