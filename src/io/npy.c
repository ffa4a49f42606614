/*
** npy.c
** The .npy writer.
*/
#include "io/npy.h"

#include <stdio.h>
#include <string.h>

#include "io/file.h"

enum { PREAMBLE = 10, ALIGNMENT = 64, HEADER = 192 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DESCRIPTION "<f8"
#else
#define DESCRIPTION ">f8"
#endif

/* Magic, version, length of the dictionary, the dictionary, blanks up to a multiple of 64 bytes, a newline. */
static void write_header(NsFile *file, NsNpyOrder order, ptrdiff_t rows, ptrdiff_t cols) {
  char header[HEADER], shape[64];
  if (cols < 0)
    snprintf(shape, sizeof shape, "(%td,)", rows);
  else
    snprintf(shape, sizeof shape, "(%td, %td)", rows, cols);
  int length = snprintf(header + PREAMBLE, HEADER - PREAMBLE,
                        "{'descr': '" DESCRIPTION "', 'fortran_order': %s, 'shape': %s, }",
                        order == NS_NPY_FORTRAN && cols >= 0 ? "True" : "False", shape);
  int total = (PREAMBLE + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(header + PREAMBLE + length, ' ', (size_t)(total - PREAMBLE - length));
  header[total - 1] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((total - PREAMBLE) & 0xff);
  header[9] = (char)((total - PREAMBLE) >> 8);
  ns_file_write(file, header, (size_t)total);
}

NsStatus ns_npy_write(const char *path, NsNpyOrder order, ptrdiff_t rows, ptrdiff_t cols, const double *data,
                      ptrdiff_t ld, NsError *err) {
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, err);
  if (status != NS_OK) return status;
  write_header(file, order, rows, cols);
  ptrdiff_t inner = cols < 0 || order == NS_NPY_FORTRAN ? rows : cols;
  ptrdiff_t outer = cols < 0 ? 1 : order == NS_NPY_FORTRAN ? cols : rows;
  for (ptrdiff_t k = 0; k < outer; k++) ns_file_write(file, data + k * ld, (size_t)inner * sizeof *data);
  return ns_file_commit(file, err);
}
