/*
** csv.c
** The CSV writer.
*/
#include "io/csv.h"

#include <string.h>

#include "io/file.h"
#include "io/number.h"

static void write_name(NsFile *file, const char *name) {
  if (!strpbrk(name, ",\"\r\n")) {
    ns_file_write(file, name, strlen(name));
    return;
  }
  ns_file_write(file, "\"", 1);
  for (; *name; name++) ns_file_write(file, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
  ns_file_write(file, "\"", 1);
}

static void write_header(NsFile *file, int ncols, const char *const *names) {
  for (int j = 0; j < ncols; j++) {
    write_name(file, names[j]);
    ns_file_write(file, j + 1 < ncols ? "," : "\n", 1);
  }
}

static void write_number(NsFile *file, double x, char after) {
  char *at = ns_file_reserve(file, NS_NUMBER_TEXT + 1);
  size_t length = ns_number_format(at, x);
  at[length] = after;
  ns_file_advance(file, length + 1);
}

NsStatus ns_csv_write(const char *path, int ncols, const char *const *names, ptrdiff_t nrows,
                      const double *const *columns, const ptrdiff_t *strides, NsError *err) {
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, err);
  if (status != NS_OK) return status;
  write_header(file, ncols, names);
  for (ptrdiff_t i = 0; i < nrows; i++)
    for (int j = 0; j < ncols; j++)
      write_number(file, columns[j][i * (strides ? strides[j] : 1)], j + 1 < ncols ? ',' : '\n');
  return ns_file_commit(file, err);
}
