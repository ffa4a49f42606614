/*
** h5.c
** What is written by the module of HDF5 goes through the writer of all files.
*/
#include "io/h5.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/file.h"

/* Gives the file these bytes, which are freed. */
static NsStatus write_bytes(const char *path, char *bytes, size_t size, NsError *err) {
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, err);
  if (status == NS_OK) {
    ns_file_write(file, bytes, size);
    status = ns_file_commit(file, err);
  }
  ns_free(bytes);
  return status;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const NsHdf5Attribute *)a)->name, ((const NsHdf5Attribute *)b)->name);
}

NsStatus ns_h5_save(const NsHdf5 *hdf5, const char *path, const NsHdf5Array *arrays, int count,
                    NsHdf5Attribute *attributes, int nattributes, NsError *err) {
  char *bytes;
  size_t size;
  if (nattributes > 1) qsort(attributes, (size_t)nattributes, sizeof *attributes, by_name);
  NsStatus status = hdf5->pack(path, arrays, count, attributes, nattributes, false, &bytes, &size, err);
  return status == NS_OK ? write_bytes(path, bytes, size, err) : status;
}

/* ---- streams ---- */

static bool same_columns(const NsHdf5Contents *found, int ncols, const char *const *names) {
  bool same = found->count == ncols;
  for (int c = 0; c < ncols && same; c++) {
    const NsHdf5Item *item = &found->items[c];
    same = item->data && item->cols < 0 && item->rows == found->items[0].rows && strcmp(item->name, names[c]) == 0;
  }
  return same;
}

/* Makes the file of a stream with the rows of `found` before `from`; without rows where nothing was found. */
static NsStatus begin_file(const NsHdf5 *hdf5, const NsHdf5Contents *found, const char *path, int ncols,
                           const char *const *names, double from, NsError *err) {
  NsHdf5Array *arrays = ns_alloc((size_t)ncols, sizeof *arrays);
  char *bytes;
  size_t size;
  ptrdiff_t rows = 0;
  if (!arrays) return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  if (found->count > 0)
    while (rows < found->items[0].rows && found->items[0].data[rows] < from) rows++;
  for (int c = 0; c < ncols; c++) arrays[c] = (NsHdf5Array){names[c], rows, -1, found->count > 0 ? found->items[c].data : NULL};
  NsStatus status = hdf5->pack(path, arrays, ncols, NULL, 0, true, &bytes, &size, err);
  ns_free(arrays);
  return status == NS_OK ? write_bytes(path, bytes, size, err) : status;
}

NsStatus ns_h5_stream(const NsHdf5 *hdf5, NsStream **stream, const char *path, int ncols, const char *const *names, double from,
                      NsError *err) {
  NsHdf5Contents found = {0};
  NsStatus status = NS_OK;
  bool anew = (isinf(from) && from < 0) || (access(path, F_OK) != 0 && errno == ENOENT);
  *stream = NULL;
  if (!anew) status = ns_h5_load(hdf5, path, &found, err);
  if (status == NS_OK && !anew && !same_columns(&found, ncols, names))
    status = ns_fail(err, NS_EARG, "cannot go on with '%s': its columns are others", path);
  if (status == NS_OK) status = begin_file(hdf5, &found, path, ncols, names, from, err);
  if (!anew) hdf5->clear(&found);
  return status == NS_OK ? hdf5->append(stream, path, ncols, err) : status;
}
