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
** Whether a cell of `size` bytes must stand in quotes to be read as one cell: it holds a comma, a quote, a line end, a
** semicolon or a tab, or would be read as a comment or a byte order mark. ns_csv_needs_quotes: whether a text must to be
** read back as that: also an empty one, and one that would be read as a number.
*/
bool ns_csv_breaks_cell(const char *text, size_t size);
bool ns_csv_needs_quotes(const char *text, size_t size);

/*
** Writes a header line of ncols names and nrows lines of numbers; element i of column j is
** columns[j][i * strides[j]] (strides NULL: all 1). Numbers are written as ns_number_format does and read back
** exactly; names are quoted where ns_csv_needs_quotes says so.
** The file appears whole or not at all.
** NS_EIO, NS_ENOMEM.
*/
NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows, const double *const *columns,
                      const ptrdiff_t *strides, NsError *err);

/*
** The line of the names with its end, as ns_csv_write begins a file: *size bytes, to be freed by ns_free; NULL when
** there is no memory.
*/
char *ns_csv_header(int ncols, const char *const *names, size_t *size);

/* A cell of a text in memory: its bytes, as they stand between commas or quotes. */
typedef struct NsCsvCell {
  const char *text;
  size_t length;
  bool quoted; /* it stood in quotes: "" in it means " */
  bool open;   /* its quotes do not end: it goes to the end of the text */
  bool ends_row;
  long line; /* where it begins, from 1 */
} NsCsvCell;

/* How a text is written: what stands between cells (a comma, a semicolon, a tab), and in numbers (a point, a comma). */
typedef struct NsCsvForm {
  char separator, decimal;
} NsCsvForm;

/*
** The form of a text. `given`: what is known of it, 0 for what is not. The separator is the one that gives all of the first
** rows the same number of cells, more than one; of several the one that makes more of the cells numbers; of none a comma. Where
** that is not a comma, numbers have decimal commas when one of them reads so and in no other way, decimal points else; between tabs
** it must be one that can't be thousands, as "1,234" can.
*/
NsCsvForm ns_csv_form(const char *text, size_t size, NsCsvForm given);

/* Where a reader of such a text stands. */
typedef struct NsCsvReader {
  const char *at, *end;
  char separator;
  long line;   /* of the next cell, from 1 */
  long row;    /* of the first cell of its row */
  bool in_row; /* a comma came before the next cell */
} NsCsvReader;

NsCsvReader ns_csv_reader(const char *text, size_t size, char separator);

/*
** The next cell, false at the end. Lines end with \n, \r\n or \r; empty lines and lines that begin with # are passed over. A
** quoted cell may hold commas and line ends.
*/
bool ns_csv_next(NsCsvReader *reader, NsCsvCell *cell);

/* Whether a cell is a number, or nothing (nan); *x is set in every case. `decimal`: a point, or a comma, and then a point is none. */
bool ns_csv_number(const NsCsvCell *cell, char decimal, double *x);

#endif
