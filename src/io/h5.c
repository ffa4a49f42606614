/*
** h5.c
** Writes the module's HDF5 bytes through NsFile, and opens HDF5 streams.
*/
#include "io/h5.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/file.h"

/* Writes these bytes to the file and frees them. */
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

NsStatus ns_h5_save(const NsHdf5 *hdf5, const char *path, const char *form, const NsHdf5Array *arrays, int count,
                    NsHdf5Attribute *attributes, int nattributes, NsError *err) {
  char *bytes;
  size_t size;
  if (nattributes > 1) qsort(attributes, (size_t)nattributes, sizeof *attributes, by_name);
  NsStatus status = hdf5->pack(path, arrays, count, attributes, nattributes, form, &bytes, &size, err);
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

/* Reads the file that is to be resumed (empty when it does not exist) and counts the rows that stay. */
static NsStatus find_rows(const NsHdf5 *hdf5, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                          NsHdf5Contents *found, ptrdiff_t *rows, NsError *err) {
  *rows = 0;
  bool exists = access(path, F_OK) == 0 || errno != ENOENT;
  NsStatus status = exists ? ns_h5_load(hdf5, path, found, err) : NS_OK;
  if (status == NS_OK && exists && !same_columns(found, ncols, names))
    status = ns_fail(err, NS_EARG, "cannot go on with '%s': it has other columns", path);
  if (status != NS_OK) return status;
  const double *t = found->count > 0 ? found->items[0].data : NULL;
  while (t && *rows < found->items[0].rows && t[*rows] < place.from) ++*rows;
  return ns_stream_missing(path, place, exists, *rows > 0 ? t[*rows - 1] : NAN, err);
}

NsStatus ns_h5_check(const NsHdf5 *hdf5, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                     NsError *err) {
  NsHdf5Contents found = {0};
  ptrdiff_t rows;
  if (ns_stream_anew(place)) return NS_OK;
  NsStatus status = find_rows(hdf5, path, ncols, names, place, &found, &rows, err);
  hdf5->clear(&found);
  return status;
}

/* Makes the file of a stream with the first `rows` rows of `found`; without rows when nothing was found. */
static NsStatus begin_file(const NsHdf5 *hdf5, const NsHdf5Contents *found, ptrdiff_t rows, const char *path, int ncols,
                           const char *const *names, NsError *err) {
  NsHdf5Array *arrays = ns_alloc((size_t)ncols, sizeof *arrays);
  char *bytes;
  size_t size;
  if (!arrays) return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  for (int c = 0; c < ncols; c++) arrays[c] = (NsHdf5Array){names[c], rows, -1, found->count > 0 ? found->items[c].data : NULL};
  NsStatus status = hdf5->pack(path, arrays, ncols, NULL, 0, NS_HDF5_STREAM, &bytes, &size, err);
  ns_free(arrays);
  return status == NS_OK ? write_bytes(path, bytes, size, err) : status;
}

NsStatus ns_h5_stream(const NsHdf5 *hdf5, NsStream **stream, const char *path, int ncols, const char *const *names,
                      NsStreamPlace place, NsError *err) {
  NsHdf5Contents found = {0};
  ptrdiff_t rows = 0;
  *stream = NULL;
  NsStatus status = ns_stream_anew(place) ? NS_OK : find_rows(hdf5, path, ncols, names, place, &found, &rows, err);
  if (status == NS_OK) status = begin_file(hdf5, &found, rows, path, ncols, names, err);
  hdf5->clear(&found);
  return status == NS_OK ? hdf5->append(stream, path, ncols, err) : status;
}
