/*
** npy.c
** The .npy writer and reader.
*/
#include "io/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

enum { PREAMBLE = 10, ALIGNMENT = 64 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DESCRIPTION "<f8"
#define OTHER_ORDER '>'
#else
#define DESCRIPTION ">f8"
#define OTHER_ORDER '<'
#endif

/* Magic, version, length of the dictionary, the dictionary, blanks up to a multiple of 64 bytes, a newline. */
size_t ns_npy_header(char *header, ptrdiff_t rows, ptrdiff_t cols) {
  char shape[64];
  if (cols < 0) snprintf(shape, sizeof shape, "(%td,)", rows);
  else snprintf(shape, sizeof shape, "(%td, %td)", rows, cols);
  int length = snprintf(header + PREAMBLE, NS_NPY_HEADER - PREAMBLE,
                        "{'descr': '" DESCRIPTION "', 'fortran_order': %s, 'shape': %s, }", cols >= 0 ? "True" : "False",
                        shape);
  int total = (PREAMBLE + length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(header + PREAMBLE + length, ' ', (size_t)(total - PREAMBLE - length));
  header[total - 1] = '\n';
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((total - PREAMBLE) & 0xff);
  header[9] = (char)((total - PREAMBLE) >> 8);
  return (size_t)total;
}

NsStatus ns_npy_write(const char *path, ptrdiff_t rows, ptrdiff_t cols, const double *data, NsError *err) {
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, err);
  if (status != NS_OK) return status;
  char header[NS_NPY_HEADER];
  ns_file_write(file, header, ns_npy_header(header, rows, cols));
  ns_file_write(file, data, (size_t)rows * (size_t)(cols < 0 ? 1 : cols) * sizeof *data);
  return ns_file_commit(file, err);
}

/* ---- reading ---- */

/* Largest dictionary of a header, in bytes, as a string. */
enum { DICTIONARY = 4096 };

static NsStatus no_npy(NsError *err) {
  return ns_fail(err, NS_EARG, "it is not a .npy file, or is cut off");
}

/* The text after "'key':" and blanks; NULL when the key is missing. */
static const char *npy_value_of(const char *dictionary, const char *key) {
  const char *at = strstr(dictionary, key);
  if (!at) return NULL;
  at += strlen(key);
  while (*at == ' ' || *at == ':') at++;
  return at;
}

static NsStatus parse_type(const char *dictionary, NsNpyArray *array, NsError *err) {
  const char *at = npy_value_of(dictionary, "'descr'");
  size_t length = at && *at == '\'' ? strcspn(at + 1, "'") : 0;
  array->foreign = true; /* until the array is known to be supported */
  if (length < 2 || length > 20) return ns_fail(err, NS_EARG, "arrays of records are not read");
  array->swapped = at[1] == OTHER_ORDER;
  array->kind = at[2];
  array->width = atoi(at + 3);
  bool whole = array->width == 1 || array->width == 2 || array->width == 4 || array->width == 8;
  bool known = (array->kind == 'f' && (array->width == 4 || array->width == 8)) || (array->kind == 'b' && array->width == 1) ||
               ((array->kind == 'i' || array->kind == 'u') && whole);
  if (!known) return ns_fail(err, NS_EARG, "arrays of '%.*s' are not read", (int)length, at + 1);
  array->foreign = false;
  return NS_OK;
}

static NsStatus parse_shape(const char *dictionary, NsNpyArray *array, NsError *err) {
  const char *at = npy_value_of(dictionary, "'shape'");
  if (!at || *at != '(') return no_npy(err);
  long long sizes[3] = {1, 1, 1};
  int count = 0;
  for (at++; *at && *at != ')';) {
    char *stop;
    long long n = strtoll(at, &stop, 10);
    if (stop == at || n < 0 || n > PTRDIFF_MAX / 16) return no_npy(err);
    array->foreign = count == 2;
    if (count == 2) return ns_fail(err, NS_EARG, "arrays of more than two dimensions are not read");
    sizes[count++] = n;
    for (at = stop; *at == ',' || *at == ' ' || *at == 'L';) at++;
  }
  array->rows = (ptrdiff_t)sizes[0];
  array->cols = count == 2 ? (ptrdiff_t)sizes[1] : -1;
  return *at ? NS_OK : no_npy(err);
}

NsStatus ns_npy_parse(const char *bytes, size_t size, NsNpyArray *array, NsError *err) {
  *array = (NsNpyArray){0};
  char dictionary[DICTIONARY];
  const unsigned char *u = (const unsigned char *)bytes;
  if (size < PREAMBLE + 2 || memcmp(bytes, "\x93NUMPY", 6) != 0 || u[6] < 1 || u[6] > 3) return no_npy(err);
  size_t start = u[6] == 1 ? PREAMBLE : PREAMBLE + 2, length = u[8] | (size_t)u[9] << 8;
  if (u[6] > 1) length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
  if (length >= DICTIONARY || start + length > size) return no_npy(err);
  memcpy(dictionary, bytes + start, length);
  dictionary[length] = '\0';
  NsStatus status = parse_type(dictionary, array, err);
  if (status == NS_OK) status = parse_shape(dictionary, array, err);
  if (status != NS_OK) return status;
  const char *order = npy_value_of(dictionary, "'fortran_order'");
  array->by_columns = order && *order == 'T';
  array->data = bytes + start + length;
  size_t cols = array->cols < 0 ? 1 : (size_t)array->cols, room = (size - start - length) / (size_t)array->width;
  if (cols > 0 && (size_t)array->rows > room / cols) return no_npy(err);
  return NS_OK;
}

static double npy_element(const NsNpyArray *array, size_t index) {
  unsigned char b[8] = {0};
  int w = array->width;
  const unsigned char *from = (const unsigned char *)array->data + index * (size_t)w;
  for (int i = 0; i < w; i++) b[i] = from[array->swapped ? w - 1 - i : i];
  if (array->kind == 'f') {
    double d;
    float f;
    if (w == 8) return memcpy(&d, b, 8), d;
    return memcpy(&f, b, 4), (double)f;
  }
  uint64_t bits = 0;
  for (int i = 0; i < w; i++) bits |= (uint64_t)b[OTHER_ORDER == '>' ? i : w - 1 - i] << (8 * i);
  if (array->kind != 'i') return (double)bits;
  uint64_t sign = UINT64_C(1) << (8 * w - 1);
  return (double)(int64_t)((bits ^ sign) - sign);
}

void ns_npy_read(const NsNpyArray *array, double *to) {
  ptrdiff_t rows = array->rows, cols = array->cols < 0 ? 1 : array->cols;
  bool by_rows = !array->by_columns && array->cols >= 0;
  for (ptrdiff_t j = 0; j < cols; j++)
    for (ptrdiff_t i = 0; i < rows; i++) to[i + j * rows] = npy_element(array, (size_t)(by_rows ? i * cols + j : i + j * rows));
}
