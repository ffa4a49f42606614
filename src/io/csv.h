/*
** csv.h
** Columns of numbers as comma-separated text (RFC 4180, with line ends of one newline).
*/
#ifndef NS_IO_CSV_H
#define NS_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
** Writes a header line of ncols names and nrows lines of numbers; element i of column j is
** columns[j][i * strides[j]] (strides NULL: all 1). Numbers are written as ns_number_format does and read back
** exactly; names are quoted when they hold a comma, a quote or a line end, or would else be read as something other than names.
** The file appears whole or not at all.
** NS_EIO, NS_ENOMEM.
*/
NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows,
                      const double *const *columns, const ptrdiff_t *strides, NsError *err);

/*
** The line of the names with its end, as ns_csv_write begins a file: *size bytes, to be freed by ns_free; NULL when
** there is no memory.
*/
char *ns_csv_header(int ncols, const char *const *names, size_t *size);

/* A cell of a text in memory: its bytes, as they stand between commas or quotes. */
typedef struct NsCsvCell {
  const char *text;
  size_t length;
  bool quoted;  /* it stood in quotes: "" in it means " */
  bool open;    /* its quotes do not end: it goes to the end of the text */
  bool ends_row;
  long line;    /* where it begins, from 1 */
} NsCsvCell;

/* Where a reader of such a text stands. */
typedef struct NsCsvReader {
  const char *at, *end;
  long line;   /* of the next cell, from 1 */
  long row;    /* of the first cell of its row */
  bool in_row; /* a comma came before the next cell */
} NsCsvReader;

NsCsvReader ns_csv_reader(const char *text, size_t size);

/*
** The next cell, false at the end. Lines end with \n, \r\n or \r; empty lines and lines that begin with # are passed over. A
** quoted cell may hold commas and line ends.
*/
bool ns_csv_next(NsCsvReader *reader, NsCsvCell *cell);

#endif
