/*
** hdf5_append.c
** Appends rows to an HDF5 file that others may read meanwhile, and that stays valid if the writer is killed.
*/
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/hdf5_types.h"

enum { ROWS = 1024 };

/* Rows are collected in `buffer`, by columns, until it is full or flushed. */
typedef struct Appender {
  NsStream stream;
  char *path;
  hid_t file, commit, *columns;
  int ncols, used;
  hsize_t rows;    /* in the datasets */
  double *buffer;  /* ROWS x ncols */
  NsStatus status; /* the first failure; the next flush reports it */
  NsError trouble;
} Appender;

static void hdf5_append_keep(Appender *a, bool good) {
  if (!good && a->status == NS_OK) a->status = ns_hdf5_fail(&a->trouble, "write", a->path);
}

/* Appends the rows of the buffer to the datasets. */
static void write_rows(Appender *a) {
  const hsize_t count = (hsize_t)a->used, total = a->rows + count;
  if (count == 0 || a->status != NS_OK) return;
  hid_t space = H5Screate_simple(1, &total, NULL), memory = H5Screate_simple(1, &count, NULL);
  bool good = space >= 0 && memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &a->rows, NULL, &count, NULL) >= 0;
  for (int c = 0; c < a->ncols && good; c++)
    good = H5Dset_extent(a->columns[c], &total) >= 0 &&
           H5Dwrite(a->columns[c], H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, a->buffer + (size_t)c * ROWS) >= 0;
  hdf5_append_keep(a, good);
  if (memory >= 0) H5Sclose(memory);
  if (space >= 0) H5Sclose(space);
  a->rows = total;
  a->used = 0;
}

static void append_row(NsStream *stream, const double *row) {
  Appender *a = (Appender *)stream;
  for (int c = 0; c < a->ncols; c++) a->buffer[(size_t)c * ROWS + (size_t)a->used] = row[c];
  if (++a->used < ROWS) return;
  NsHdf5Quiet before = ns_hdf5_begin();
  write_rows(a);
  ns_hdf5_end(before);
}

/* The descriptor of the file; -1. */
static int descriptor(const Appender *a) {
  void *handle = NULL;
  return H5Fget_vfd_handle(a->file, H5P_DEFAULT, &handle) >= 0 && handle ? *(int *)handle : -1;
}

static void sync_file(Appender *a, int fd) {
  if (a->status != NS_OK || fdatasync(fd) == 0 || errno == EINVAL || errno == ENOTSUP) return;
  a->status = ns_hdf5_engine->fail(&a->trouble, NS_EIO, "cannot write '%s': %s", a->path, strerror(errno));
}

/* Writes all rows to the file first; then, when that succeeded, the number of rows that count. */
static void commit_rows(Appender *a) {
  struct stat info;
  write_rows(a);
  if (a->status != NS_OK) return;
  int fd = descriptor(a);
  bool good = fd >= 0 && H5Fflush(a->file, H5F_SCOPE_LOCAL) >= 0 && fstat(fd, &info) == 0;
  const long long values[2] = {(long long)a->rows, good ? (long long)info.st_size : 0};
  good = good && H5Dwrite(a->commit, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  hdf5_append_keep(a, good && H5Dflush(a->commit) >= 0);
  if (good) sync_file(a, fd);
}

static NsStatus append_flush(NsStream *stream, NsError *err) {
  Appender *a = (Appender *)stream;
  NsHdf5Quiet before = ns_hdf5_begin();
  commit_rows(a);
  ns_hdf5_end(before);
  return a->status == NS_OK ? NS_OK : ns_hdf5_engine->fail(err, a->status, "%s", a->trouble.text);
}

static void hdf5_append_destroy(Appender *a) {
  ns_hdf5_engine->release(a->path);
  ns_hdf5_engine->release(a->columns);
  ns_hdf5_engine->release(a->buffer);
  ns_hdf5_engine->release(a);
}

/*
** After a failure the rest is not written: that would fail again, and the library crashes at exit when a file could not be
** closed. The file stays as it was at its last flush.
*/
static void hdf5_append_let_go(Appender *a) {
  int fd = descriptor(a), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd >= 0 && nothing >= 0) dup2(nothing, fd);
  if (nothing >= 0) close(nothing);
}

static NsStatus append_close(NsStream *stream, NsError *err) {
  Appender *a = (Appender *)stream;
  NsHdf5Quiet before = ns_hdf5_begin();
  commit_rows(a);
  if (a->status != NS_OK) hdf5_append_let_go(a);
  hdf5_append_keep(a, H5Fclose(a->file) >= 0);
  ns_hdf5_end(before);
  NsStatus status = a->status == NS_OK ? NS_OK : ns_hdf5_engine->fail(err, a->status, "%s", a->trouble.text);
  hdf5_append_destroy(a);
  return status;
}

/* ---- opening ---- */

/* Opens a dataset as the column given by its position attribute, or by the order of links if it has none. */
static herr_t take_column(hid_t object, const char *name, const H5O_info_t *info, void *context) {
  Appender *a = context;
  NsHdf5Attribute place;
  if (info->type != H5O_TYPE_DATASET || strcmp(name, NS_HDF5_COMMIT) == 0) return 0;
  hid_t dataset = H5Dopen2(object, name, H5P_DEFAULT);
  long long c = a->used++;
  if (dataset >= 0 && ns_hdf5_attribute(dataset, NS_HDF5_POSITION, &place) && place.whole) c = place.integer;
  if (dataset < 0 || c < 0 || c >= a->ncols || a->columns[c] >= 0) return -1;
  a->columns[c] = dataset;
  return 0;
}

/* The number of rows in the datasets; false when they are not a stream with this number of columns. */
static bool open_columns(Appender *a) {
  static const NsStreamMethod method = {append_row, append_flush, append_close};
  a->stream.method = &method;
  for (int c = 0; c < a->ncols; c++) a->columns[c] = -1;
  if (H5Ovisit(a->file, H5_INDEX_CRT_ORDER, H5_ITER_INC, take_column, a) < 0 || a->used != a->ncols) return false;
  a->used = 0;
  for (int c = 0; c < a->ncols; c++) {
    hid_t space = H5Dget_space(a->columns[c]);
    hssize_t rows = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0) H5Sclose(space);
    if (rows < 0 || (c > 0 && (hsize_t)rows != a->rows)) return false;
    a->rows = (hsize_t)rows;
  }
  a->commit = H5Dopen2(a->file, NS_HDF5_COMMIT, H5P_DEFAULT);
  return a->commit >= 0;
}

static bool hdf5_append_open_file(Appender *a) {
  hid_t access = ns_hdf5_access();
  if (access >= 0) a->file = H5Fopen(a->path, H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access);
  if (access >= 0) H5Pclose(access);
  return a->file >= 0 && open_columns(a);
}

NsStatus ns_hdf5_append(NsStream **stream, const char *path, int ncols, NsError *err) {
  Appender *a = ns_hdf5_engine->alloc(1, sizeof *a);
  *stream = NULL;
  if (!a) return ns_hdf5_memory(err, "write", path);
  *a = (Appender){.path = ns_hdf5_copy(path, strlen(path)), .file = -1, .ncols = ncols};
  a->columns = ns_hdf5_engine->alloc((size_t)ncols, sizeof *a->columns);
  a->buffer = ns_hdf5_engine->alloc((size_t)ncols * ROWS, sizeof *a->buffer);
  NsStatus status = a->path && a->columns && a->buffer ? NS_OK : ns_hdf5_memory(err, "write", path);
  NsHdf5Quiet before = ns_hdf5_begin();
  if (status == NS_OK && !hdf5_append_open_file(a)) status = ns_hdf5_fail(err, "write", path);
  if (status != NS_OK && a->file >= 0) H5Fclose(a->file);
  ns_hdf5_end(before);
  if (status == NS_OK) *stream = &a->stream;
  else hdf5_append_destroy(a);
  return status;
}
