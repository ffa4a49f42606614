/*
** array_text.c
** Lays out the numbers of vectors and matrices.
*/
#include "linalg/array_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* Where a text goes; to NULL: it is only measured. */
typedef struct TextSink {
  char *to;
  size_t size;
} TextSink;

static void sink_add(TextSink *s, const char *text, size_t length) {
  if (s->to) memcpy(s->to + s->size, text, length);
  s->size += length;
}

__attribute__((format(printf, 2, 3))) static void sink_print(TextSink *s, const char *format, ...) {
  char text[96];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  sink_add(s, text, (size_t)length);
}

/* ---- vectors ---- */

enum { VECTOR_ALL = 16, VECTOR_FIRST = 8, VECTOR_LAST = 3 };

size_t ns_vector_text(char *to, const NsGrid *v) {
  TextSink s = {to, 0};
  char number[32];
  sink_add(&s, "[", 1);
  for (int i = 0; i < v->rows; i++) {
    if (v->rows > VECTOR_ALL && i == VECTOR_FIRST) {
      sink_add(&s, ", ...", 5);
      i = v->rows - VECTOR_LAST;
    }
    if (i > 0) sink_add(&s, ", ", 2);
    sink_add(&s, number, (size_t)ns_print_short(number, ns_grid_at(v, i, 0)));
  }
  sink_add(&s, "]", 1);
  if (v->rows > VECTOR_ALL) sink_print(&s, " (%d elements)", v->rows);
  return s.size;
}

/* ---- matrices ---- */

enum { MATRIX_ALL = 12, MATRIX_FIRST = 6, MATRIX_LAST = 3 };

typedef struct ShownLines {
  int count, total; /* printed rows (columns), dots included; existing rows (columns) */
} ShownLines;

static ShownLines shown_lines(int total) {
  return (ShownLines){total <= MATRIX_ALL ? total : MATRIX_FIRST + 1 + MATRIX_LAST, total};
}

/* The row or column printed at position k; -1: the dots. */
static int shown_at(ShownLines s, int k) {
  if (s.total <= MATRIX_ALL || k < MATRIX_FIRST) return k;
  return k == MATRIX_FIRST ? -1 : s.total - s.count + k;
}

static int print_cell(char *to, const NsGrid *m, int i, int j) {
  if (i < 0 || j < 0) return (int)strlen(strcpy(to, "..."));
  return ns_print_short(to, ns_grid_at(m, i, j));
}

static int column_width(const NsGrid *m, ShownLines rows, int j) {
  int width = 1;
  char text[32];
  for (int k = 0; k < rows.count; k++) {
    int i = shown_at(rows, k), length = i < 0 && j >= 0 ? 0 : print_cell(text, m, i, j);
    if (length > width) width = length;
  }
  return width;
}

size_t ns_matrix_text(char *to, const NsGrid *m) {
  TextSink s = {to, 0};
  ShownLines rows = shown_lines(m->rows), cols = shown_lines(m->cols);
  int width[MATRIX_ALL + 1];
  for (int k = 0; k < cols.count; k++) width[k] = column_width(m, rows, shown_at(cols, k));
  for (int p = 0; p < rows.count; p++) {
    sink_print(&s, "%s", p == 0 ? "[" : "\n ");
    for (int k = 0; k < cols.count; k++) {
      char text[32];
      if (print_cell(text, m, shown_at(rows, p), shown_at(cols, k)) > width[k]) strcpy(text, ":");
      sink_print(&s, "%s%*s", k == 0 ? " " : "  ", width[k], text);
    }
  }
  sink_add(&s, " ]", 2);
  if (m->rows > MATRIX_ALL || m->cols > MATRIX_ALL) sink_print(&s, " (%d x %d)", m->rows, m->cols);
  return s.size;
}

/* ---- sparse matrices ---- */

enum { SPARSE_GRID = 12, SPARSE_LISTED = 12 };

/* One row of a grid; a missing entry is a dot. */
static void add_grid_row(TextSink *s, const NsSparse *A, int i) {
  sink_add(s, "\n", 1);
  for (int j = 0; j < A->cols; j++) {
    char text[32] = ".";
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++)
      if (A->row[p] == i) ns_print_short(text, A->value[p]);
    sink_print(s, " %10s", text);
  }
}

static void add_entries(TextSink *s, const NsSparse *A) {
  int left = SPARSE_LISTED, nnz = ns_sparse_nnz(A);
  for (int j = 0; j < A->cols && left > 0; j++)
    for (int p = A->colptr[j]; p < A->colptr[j + 1] && left > 0; p++, left--) {
      char text[32];
      ns_print_short(text, A->value[p]);
      sink_print(s, "\n  (%d, %d) %s", A->row[p] + 1, j + 1, text);
    }
  if (nnz > SPARSE_LISTED) sink_print(s, "\n  ... %d more", nnz - SPARSE_LISTED);
}

size_t ns_sparse_text(char *to, const NsSparse *A) {
  TextSink s = {to, 0};
  int nnz = ns_sparse_nnz(A);
  sink_print(&s, "%d x %d sparse matrix, %d %s", A->rows, A->cols, nnz, nnz == 1 ? "entry" : "entries");
  if (A->rows > SPARSE_GRID || A->cols > SPARSE_GRID) add_entries(&s, A);
  else
    for (int i = 0; i < A->rows && A->cols > 0; i++) add_grid_row(&s, A, i);
  return s.size;
}
