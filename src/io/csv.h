/*
** csv.h
** Columns of numbers as comma-separated text (RFC 4180, with line ends of one newline).
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
** Whether a cell of `size` bytes needs quotes. ns_csv_breaks_cell: without quotes it would not be read as one cell (it holds a
** comma, a quote, a line end, a semicolon or a tab, or would be read as a comment or a byte order mark). ns_csv_needs_quotes:
** without quotes it would not be read back as this text (also true when it is empty or would be read as a number).
*/
bool ns_csv_breaks_cell(const char *text, size_t size);
bool ns_csv_needs_quotes(const char *text, size_t size);

/*
** Writes a header line of ncols names and nrows lines of numbers; element i of column j is columns[j][i]. Numbers are written by
** ns_number_format and read back exactly; names are quoted where ns_csv_needs_quotes says so. The file appears whole or not at all.
** NS_EIO, NS_ENOMEM.
*/
NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows, const double *const *columns,
                      NsError *err);

/* The header line as ns_csv_write writes it: *size bytes, to be freed by ns_free; NULL when there is no memory. */
char *ns_csv_header(int ncols, const char *const *names, size_t *size);

/* A cell of a text in memory: the bytes between its separators or quotes, unchanged. */
typedef struct NsCsvCell {
  const char *text;
  size_t length;
  bool quoted; /* it is quoted: "" in it means " */
  bool open;   /* its closing quote is missing: it reaches to the end of the text */
  bool ends_row;
  long line; /* the line where it begins, from 1 */
} NsCsvCell;

/* The conventions of a text: its separator (comma, semicolon or tab), and its decimal sign (point or comma). */
typedef struct NsCsvForm {
  char separator, decimal;
} NsCsvForm;

/*
** Guesses the form of a text. `given` is what the caller knows; 0 stands for unknown. The separator is the one that gives the
** first rows an equal number of cells, more than one. If several do, it is the one with more numeric cells; if none does, a
** comma. With a comma, the decimal sign is a point. With another separator it is a comma when some number can only be read
** with a decimal comma, else a point; between tabs a number that could have a thousands separator, as "1,234", does not
** decide.
*/
NsCsvForm ns_csv_form(const char *text, size_t size, NsCsvForm given);

/* A reader's position in a text. */
typedef struct NsCsvReader {
  const char *at, *end;
  char separator;
  long line;   /* of the next cell, from 1 */
  long row;    /* line of the first cell of the row */
  bool in_row; /* a separator came before the next cell */
} NsCsvReader;

NsCsvReader ns_csv_reader(const char *text, size_t size, char separator);

/*
** *cell = the next cell; false at the end. Lines end with \n, \r\n or \r; empty lines and lines that begin with # are skipped.
** A quoted cell may hold separators and line ends.
*/
bool ns_csv_next(NsCsvReader *reader, NsCsvCell *cell);

/* Whether a cell is a number or empty (nan); always sets *x. decimal is '.' or ','; with ',' a point is not accepted. */
bool ns_csv_number(const NsCsvCell *cell, char decimal, double *x);
