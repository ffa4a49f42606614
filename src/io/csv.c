/*
** csv.c
** The CSV writer and the reader of cells.
*/
#include "io/csv.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "io/file.h"
#include "io/number.h"

/*
** LONGEST_NUMBER: bytes, longest number with a decimal comma. SAMPLE_ROWS: rows that are used to guess the separator.
** FIRST_ROWS: the names and one row, used instead when a later row is too long or too short.
*/
enum { LONGEST_NUMBER = 512, SAMPLE_ROWS = 20, FIRST_ROWS = 2 };

#define MARK "\xef\xbb\xbf" /* the byte order mark of UTF-8 */

bool ns_csv_breaks_cell(const char *text, size_t size) {
  if (size > 0 && (*text == '#' || *text == MARK[0])) return true;
  for (size_t i = 0; i < size; i++)
    if (text[i] != '\0' && strchr(",;\t\"\r\n", text[i])) return true;
  return false;
}

bool ns_csv_needs_quotes(const char *text, size_t size) {
  double x;
  return size == 0 || ns_csv_breaks_cell(text, size) || ns_number_parse(text, size, &x);
}

static size_t name_length(const char *name) {
  size_t length = strlen(name);
  if (!ns_csv_needs_quotes(name, length)) return length;
  for (const char *at = name; *at; at++) length += *at == '"';
  return length + 2;
}

static char *put_name(char *at, const char *name) {
  bool quoted = ns_csv_needs_quotes(name, strlen(name));
  if (quoted) *at++ = '"';
  for (; *name; *at++ = *name++)
    if (*name == '"') *at++ = '"';
  if (quoted) *at++ = '"';
  return at;
}

char *ns_csv_header(int ncols, const char *const *names, size_t *size) {
  *size = 0;
  for (int j = 0; j < ncols; j++) *size += name_length(names[j]) + 1;
  char *line = ns_alloc(*size + 1, 1), *at = line;
  for (int j = 0; line && j < ncols; j++) {
    at = put_name(at, names[j]);
    *at++ = j + 1 < ncols ? ',' : '\n';
  }
  return line;
}

static void write_number(NsFile *file, double x, char after) {
  char *at = ns_file_reserve(file, NS_NUMBER_TEXT + 1);
  size_t length = ns_number_format(at, x);
  at[length] = after;
  ns_file_advance(file, length + 1);
}

NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows, const double *const *columns,
                      NsError *err) {
  NsFile *file;
  size_t size;
  char *header = ns_csv_header(ncols, names, &size);
  if (!header) return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  NsStatus status = ns_file_open(&file, path, err);
  if (status == NS_OK) ns_file_write(file, header, size);
  ns_free(header);
  if (status != NS_OK) return status;
  for (ptrdiff_t i = 0; i < nrows; i++)
    for (int j = 0; j < ncols; j++) write_number(file, columns[j][i], j + 1 < ncols ? ',' : '\n');
  return ns_file_commit(file, err);
}

/* ---- reading ---- */

NsCsvReader ns_csv_reader(const char *text, size_t size, char separator) {
  NsCsvReader reader = {.at = text, .end = text + size, .separator = separator, .line = 1, .row = 1};
  if (size >= 3 && memcmp(text, MARK, 3) == 0) reader.at += 3;
  return reader;
}

static bool at_line_end(const NsCsvReader *r) {
  return r->at < r->end && (*r->at == '\n' || *r->at == '\r');
}

/* Skips a line end: \n, \r\n or \r. */
static void pass_line_end(NsCsvReader *r) {
  r->at += r->at + 1 < r->end && r->at[0] == '\r' && r->at[1] == '\n' ? 2 : 1;
  r->line++;
}

static void skip_lines(NsCsvReader *r) {
  while (at_line_end(r) || (r->at < r->end && *r->at == '#')) {
    while (r->at < r->end && !at_line_end(r)) r->at++;
    if (r->at < r->end) pass_line_end(r);
  }
}

/* Takes the bytes after an opening quote, and skips the closing one. */
static void take_quoted(NsCsvReader *r, NsCsvCell *cell) {
  cell->quoted = true;
  cell->text = ++r->at;
  while (r->at < r->end) {
    if (at_line_end(r)) {
      pass_line_end(r);
      continue;
    }
    if (*r->at == '"' && !(r->at + 1 < r->end && r->at[1] == '"')) break;
    r->at += *r->at == '"' ? 2 : 1;
  }
  cell->length = (size_t)(r->at - cell->text);
  cell->open = r->at == r->end;
  if (!cell->open) r->at++;
}

static void pass_cell(NsCsvReader *r) {
  while (r->at < r->end && *r->at != r->separator && !at_line_end(r)) r->at++;
}

/* Skips the end of a cell: a separator, a line end, the end of the text. */
static void pass_end(NsCsvReader *r, NsCsvCell *cell) {
  pass_cell(r); /* text after the closing quote */
  cell->ends_row = r->at == r->end || *r->at != r->separator;
  if (at_line_end(r)) pass_line_end(r);
  else if (r->at < r->end) r->at++;
  r->in_row = !cell->ends_row;
}

bool ns_csv_next(NsCsvReader *r, NsCsvCell *cell) {
  if (!r->in_row) skip_lines(r);
  if (!r->in_row && r->at >= r->end) return false;
  *cell = (NsCsvCell){.text = r->at, .line = r->line};
  if (!r->in_row) r->row = r->line;
  if (r->at < r->end && *r->at == '"') {
    take_quoted(r, cell);
  } else {
    pass_cell(r);
    cell->length = (size_t)(r->at - cell->text);
  }
  pass_end(r, cell);
  return true;
}

/* Reads a number with a decimal comma; a point is an error. */
static bool parse_with_comma(const char *text, size_t length, double *x) {
  char copy[LONGEST_NUMBER];
  if (length >= sizeof copy || memchr(text, '.', length)) return false;
  memcpy(copy, text, length);
  char *comma = memchr(copy, ',', length);
  if (comma) *comma = '.';
  return ns_number_parse(copy, length, x);
}

bool ns_csv_number(const NsCsvCell *cell, char decimal, double *x) {
  *x = NAN;
  if (cell->quoted) return false;
  if (cell->length == 0) return true;
  return decimal == ',' ? parse_with_comma(cell->text, cell->length, x) : ns_number_parse(cell->text, cell->length, x);
}

/* ---- the form ---- */

/* The first rows, read with a separator: whether they have equally many cells (above 1); how many cells are numbers. */
typedef struct Sample {
  bool even;
  double numbers;
} Sample;

static Sample take_sample(const char *text, size_t size, char separator, int most) {
  NsCsvReader reader = ns_csv_reader(text, size, separator);
  NsCsvCell cell;
  double x;
  int cols = 0, rows = 0, cells = 0, numbers = 0;
  for (int j = 1; rows < most && ns_csv_next(&reader, &cell); j++) {
    bool number = ns_csv_number(&cell, '.', &x) || (separator != ',' && ns_csv_number(&cell, ',', &x));
    cells++;
    numbers += number;
    if (!cell.ends_row) continue;
    if (rows++ == 0) cols = j;
    if (j != cols) return (Sample){false, 0};
    j = 0;
  }
  return (Sample){cols > 1, cells ? (double)numbers / cells : 0};
}

/* The separator that gives the first rows (at most `most`) equally many cells; 0 when there is none. */
static char even_separator(const char *text, size_t size, int most) {
  static const char candidates[] = {',', ';', '\t'};
  char best = 0;
  Sample found = {false, 0};
  for (size_t i = 0; i < sizeof candidates; i++) {
    Sample sample = take_sample(text, size, candidates[i], most);
    if (!sample.even || (found.even && sample.numbers <= found.numbers)) continue;
    best = candidates[i];
    found = sample;
  }
  return best;
}

static char find_separator(const char *text, size_t size) {
  char best = even_separator(text, size, SAMPLE_ROWS);
  if (!best) best = even_separator(text, size, FIRST_ROWS);
  return best ? best : ',';
}

/* Whether the comma may separate thousands (groups of three digits): "1,234", "12,345". */
static bool may_be_thousands(const NsCsvCell *cell) {
  const char *comma = memchr(cell->text, ',', cell->length);
  return comma && cell->text + cell->length - comma == 4;
}

static char find_decimal(const char *text, size_t size, char separator) {
  NsCsvReader reader = ns_csv_reader(text, size, separator);
  NsCsvCell cell;
  double x;
  while (ns_csv_next(&reader, &cell))
    if (!ns_csv_number(&cell, '.', &x) && ns_csv_number(&cell, ',', &x) && (separator == ';' || !may_be_thousands(&cell)))
      return ',';
  return '.';
}

NsCsvForm ns_csv_form(const char *text, size_t size, NsCsvForm given) {
  NsCsvForm form = given;
  if (!form.separator) form.separator = find_separator(text, size);
  if (!form.decimal) form.decimal = form.separator == ',' ? '.' : find_decimal(text, size, form.separator);
  return form;
}
