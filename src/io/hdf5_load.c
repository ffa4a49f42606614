/*
** hdf5_load.c
** All numbers of an HDF5 file.
*/
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/hdf5_types.h"

enum { REASON = 160, MAX_TEXT = 1 << 20 };
#define MAX_RATIO  1100ULL       /* upper bound of the compression ratio (deflate reaches at most 1032) */
#define FREE_BYTES (64ULL << 20) /* bytes that a file of any size may have in elements that were never written */

/* A file while it is read. */
typedef struct Reader {
  const char *path;
  hid_t file;
  unsigned long long size; /* bytes */
  long long committed;     /* number of valid rows of a stream; -1: no stream */
  NsHdf5Contents *contents;
  int room;
  NsError *err;
} Reader;

static NsStatus hdf5_load_fail(const Reader *r) {
  return ns_hdf5_fail(r->err, "read", r->path);
}

static NsStatus hdf5_load_no_memory(const Reader *r) {
  return ns_hdf5_memory(r->err, "read", r->path);
}

static NsStatus hdf5_load_unreadable(const Reader *r, const char *reason) {
  return ns_hdf5_engine->fail(r->err, NS_EIO, "cannot read '%s': %s", r->path, reason);
}

void ns_hdf5_clear(NsHdf5Contents *contents) {
  void (*release)(void *) = ns_hdf5_engine->release;
  for (int i = 0; i < contents->count; i++) {
    release(contents->items[i].name);
    release(contents->items[i].unread);
    release(contents->items[i].data);
  }
  for (int i = 0; i < contents->nattributes; i++) {
    release((char *)contents->attributes[i].name);
    release((char *)contents->attributes[i].text);
  }
  release(contents->items);
  release(contents->attributes);
  *contents = (NsHdf5Contents){0};
}

/* ---- opening ---- */

/* Whether the superblock in `bytes` marks an open stream: it is being written, or its writer was killed. */
static bool is_open_stream(const unsigned char *bytes) {
  return memcmp(bytes, "\x89HDF\r\n\x1a\n", 8) == 0 && bytes[8] == 3 && (bytes[11] & 4);
}

/* What the first bytes of an older format with the same ending of the name say; NULL: it is none. */
static const char *older_format(const unsigned char *bytes) {
  if (memcmp(bytes, "MATLAB 5.0 M", 12) == 0) return "it is a MAT-file of version 5: in MATLAB save it with '-v7.3'";
  if (memcmp(bytes, "CDF", 3) == 0 && (bytes[3] == 1 || bytes[3] == 2 || bytes[3] == 5))
    return "it is a netCDF file of the classic format: nccopy -k nc4 converts it";
  return NULL;
}

/* Sets the size; reports the faults for which the library's message is worse. */
static NsStatus look_at_file(Reader *r, bool *stream) {
  struct stat info;
  unsigned char bytes[12] = {0};
  int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  bool known = fd >= 0 && fstat(fd, &info) == 0;
  bool regular = known && S_ISREG(info.st_mode);
  if (regular && read(fd, bytes, sizeof bytes) < 0) known = false;
  int error = known ? 0 : errno;
  if (fd >= 0) close(fd);
  if (!known) return hdf5_load_unreadable(r, strerror(error));
  if (!regular) return hdf5_load_unreadable(r, S_ISDIR(info.st_mode) ? strerror(EISDIR) : "it is not a regular file");
  if (older_format(bytes)) return hdf5_load_unreadable(r, older_format(bytes));
  r->size = (unsigned long long)info.st_size;
  *stream = is_open_stream(bytes);
  return NS_OK;
}

/* Number of reads of a block with a wrong checksum, in a stream that is being written, before the read fails. */
enum { ATTEMPTS = 20 };

static NsStatus hdf5_load_open_file(Reader *r) {
  bool stream = false;
  NsStatus status = look_at_file(r, &stream);
  if (status != NS_OK) return status;
  if (H5Fis_hdf5(r->path) <= 0) return hdf5_load_unreadable(r, "it is not an HDF5 file, or is cut off");
  hid_t access = ns_hdf5_access();
  if (access < 0) return hdf5_load_fail(r);
  if (!stream || H5Pset_metadata_read_attempts(access, ATTEMPTS) >= 0)
    r->file = H5Fopen(r->path, H5F_ACC_RDONLY | (stream ? H5F_ACC_SWMR_READ : 0), access);
  if (r->file < 0) status = hdf5_load_fail(r);
  H5Pclose(access);
  return status;
}

/* ---- texts and attributes ---- */

/* The text of an attribute that has a text type; NULL when it cannot be read. */
static char *read_text(hid_t attribute, hid_t type) {
  char *copy = NULL, *text = NULL;
  if (H5Tis_variable_str(type) > 0) {
    hid_t memory = H5Tcopy(H5T_C_S1);
    bool good = memory >= 0 && H5Tset_size(memory, H5T_VARIABLE) >= 0 && H5Tset_cset(memory, H5Tget_cset(type)) >= 0;
    if (good && H5Aread(attribute, memory, &text) >= 0 && text) copy = ns_hdf5_copy(text, strlen(text));
    if (text) H5free_memory(text);
    if (memory >= 0) H5Tclose(memory);
    return copy;
  }
  size_t size = H5Tget_size(type);
  if (size == 0 || size > MAX_TEXT) return NULL;
  copy = ns_hdf5_engine->alloc(size + 1, 1);
  if (copy && H5Aread(attribute, type, copy) < 0) {
    ns_hdf5_engine->release(copy);
    return NULL;
  }
  if (copy && H5Tget_strpad(type) == H5T_STR_SPACEPAD)
    for (char *end = copy + size; end > copy && (*end == '\0' || *end == ' '); end--) *end = '\0';
  return copy;
}

static bool is_single(hid_t attribute) {
  hid_t space = H5Aget_space(attribute);
  bool single = space >= 0 && H5Sget_simple_extent_type(space) != H5S_NULL && H5Sget_simple_extent_npoints(space) == 1;
  if (space >= 0) H5Sclose(space);
  return single;
}

/* Reads one text or number; false when it is something else or cannot be read. */
static bool read_attribute(hid_t attribute, NsHdf5Attribute *value) {
  hid_t type = is_single(attribute) ? H5Aget_type(attribute) : -1;
  if (type < 0) return false;
  H5T_class_t class = H5Tget_class(type);
  bool good = false;
  value->whole = class == H5T_INTEGER || class == H5T_ENUM;
  if (class == H5T_STRING) {
    value->text = read_text(attribute, type);
    good = value->text != NULL;
  } else if (value->whole) {
    good = H5Aread(attribute, H5T_NATIVE_LLONG, &value->integer) >= 0;
  } else if (class == H5T_FLOAT) {
    good = H5Aread(attribute, H5T_NATIVE_DOUBLE, &value->number) >= 0;
  }
  H5Tclose(type);
  return good;
}

bool ns_hdf5_attribute(hid_t object, const char *name, NsHdf5Attribute *value) {
  *value = (NsHdf5Attribute){0};
  hid_t attribute = H5Aexists(object, name) > 0 ? H5Aopen(object, name, H5P_DEFAULT) : -1;
  bool good = attribute >= 0 && read_attribute(attribute, value);
  if (attribute >= 0) H5Aclose(attribute);
  return good;
}

/* Keeps the attribute if it is a text or a number. */
static herr_t take_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context) {
  Reader *r = context;
  NsHdf5Contents *c = r->contents;
  NsHdf5Attribute value;
  (void)info;
  if (!ns_hdf5_attribute(object, name, &value)) return 0;
  NsHdf5Attribute *more = ns_hdf5_engine->alloc((size_t)c->nattributes + 1, sizeof *more);
  value.name = ns_hdf5_copy(name, strlen(name));
  if (!more || !value.name) {
    ns_hdf5_engine->release(more);
    ns_hdf5_engine->release((char *)value.name);
    ns_hdf5_engine->release((char *)value.text);
    return 1;
  }
  if (c->nattributes > 0) memcpy(more, c->attributes, (size_t)c->nattributes * sizeof *more);
  ns_hdf5_engine->release(c->attributes);
  c->attributes = more;
  c->attributes[c->nattributes++] = value;
  return 0;
}

static NsStatus hdf5_load_read_attributes(Reader *r) {
  hsize_t at = 0;
  herr_t result = H5Aiterate2(r->file, H5_INDEX_NAME, H5_ITER_INC, &at, take_attribute, r);
  return result > 0 ? hdf5_load_no_memory(r) : result < 0 ? hdf5_load_fail(r) : NS_OK;
}

/* ---- the list of datasets ---- */

static herr_t take_name(hid_t object, const char *name, const H5O_info_t *info, void *context) {
  Reader *r = context;
  NsHdf5Contents *c = r->contents;
  (void)object;
  if (info->type != H5O_TYPE_DATASET || (r->committed >= 0 && strcmp(name, NS_HDF5_COMMIT) == 0)) return 0;
  if (c->count == r->room) {
    int room = 2 * r->room + 16;
    NsHdf5Item *items = ns_hdf5_engine->alloc((size_t)room, sizeof *items);
    if (!items) return 1;
    if (c->count > 0) memcpy(items, c->items, (size_t)c->count * sizeof *items);
    ns_hdf5_engine->release(c->items);
    c->items = items;
    r->room = room;
  }
  char *copy = ns_hdf5_copy(name, strlen(name));
  if (!copy) return 1;
  c->items[c->count++] = (NsHdf5Item){.name = copy, .cols = -1, .position = -1};
  return 0;
}

/* Lists each dataset once, in the order of creation if the groups store it, otherwise by name. */
static NsStatus list_datasets(Reader *r) {
  herr_t result = H5Ovisit(r->file, H5_INDEX_CRT_ORDER, H5_ITER_INC, take_name, r);
  return result > 0 ? hdf5_load_no_memory(r) : result < 0 ? hdf5_load_fail(r) : NS_OK;
}

/* ---- one dataset ---- */

/* reason = why the filters or the storage of a dataset prevent reading; an empty text when they don't. */
static void look_at_storage(hid_t dataset, char *reason) {
  hid_t make = H5Dget_create_plist(dataset);
  if (make < 0) return;
  if (H5Pget_layout(make) == H5D_VIRTUAL || H5Pget_external_count(make) > 0)
    snprintf(reason, REASON, "its numbers are in other files");
  int filters = H5Pget_nfilters(make);
  for (int i = 0; i < filters && !*reason; i++) {
    char name[64] = "";
    unsigned flags, settings;
    size_t none = 0;
    H5Z_filter_t filter = H5Pget_filter2(make, (unsigned)i, &flags, &none, NULL, sizeof name, name, &settings);
    if (filter >= 0 && H5Zfilter_avail(filter) <= 0)
      snprintf(reason, REASON, "the filter '%s' (%d) is not there", name, (int)filter);
  }
  H5Pclose(make);
}

static void look_at_type(hid_t dataset, char *reason) {
  hid_t type = H5Dget_type(dataset);
  if (type < 0) return;
  H5T_class_t class = H5Tget_class(type);
  if (class == H5T_STRING) snprintf(reason, REASON, "it holds texts");
  else if (class == H5T_COMPOUND) snprintf(reason, REASON, "it holds records, or complex numbers");
  else if (class != H5T_FLOAT && class != H5T_INTEGER && class != H5T_ENUM) snprintf(reason, REASON, "it holds no numbers");
  H5Tclose(type);
}

/* Sets rows and cols; for a stream, rows is the number of valid rows. */
static void look_at_shape(const Reader *r, hid_t space, NsHdf5Item *item, char *reason) {
  hsize_t dims[H5S_MAX_RANK] = {1, 1}, most[H5S_MAX_RANK] = {1, 1};
  int rank = H5Sget_simple_extent_ndims(space);
  bool null = H5Sget_simple_extent_type(space) == H5S_NULL;
  if (rank > 2) snprintf(reason, REASON, "it has %d dimensions", rank);
  if (rank > 2 || rank < 0) return;
  H5Sget_simple_extent_dims(space, dims, most);
  if (r->committed >= 0 && rank == 1 && most[0] == H5S_UNLIMITED && dims[0] > (hsize_t)r->committed)
    dims[0] = (hsize_t)r->committed;
  item->rows = null ? 0 : (ptrdiff_t)dims[0];
  item->cols = rank == 2 ? (ptrdiff_t)dims[1] : -1;
  if (dims[0] > INT_MAX || dims[1] > INT_MAX) snprintf(reason, REASON, "it is too large");
}

/* Reads into item->data, column by column. */
static NsStatus hdf5_load_read_numbers(const Reader *r, hid_t dataset, hid_t space, NsHdf5Item *item) {
  ptrdiff_t m = item->rows, n = item->cols < 0 ? 1 : item->cols;
  hsize_t dims[2] = {(hsize_t)m, (hsize_t)n}, zero[2] = {0, 0};
  int rank = H5Sget_simple_extent_ndims(space);
  double *rows = NULL;
  if ((unsigned long long)m * (unsigned long long)n > (r->size * MAX_RATIO + FREE_BYTES) / sizeof(double))
    return hdf5_load_unreadable(r, "it claims an impossible size");
  item->data = ns_hdf5_engine->alloc((size_t)m * (size_t)n, sizeof(double));
  if (n > 1) rows = ns_hdf5_engine->alloc((size_t)m * (size_t)n, sizeof(double));
  if (!item->data || (n > 1 && !rows)) {
    ns_hdf5_engine->release(rows);
    return hdf5_load_no_memory(r);
  }
  if (m == 0 || n == 0) return ns_hdf5_engine->release(rows), NS_OK;
  hid_t memory = rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL);
  bool good = memory >= 0 && (rank == 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, zero, NULL, dims, NULL) >= 0);
  good = good && H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, rows ? rows : item->data) >= 0;
  NsStatus status = good ? NS_OK : hdf5_load_fail(r);
  if (memory >= 0) H5Sclose(memory);
  for (ptrdiff_t i = 0; rows && good && i < m; i++)
    for (ptrdiff_t j = 0; j < n; j++) item->data[i + j * m] = rows[i * n + j];
  ns_hdf5_engine->release(rows);
  return status;
}

static NsStatus read_item(const Reader *r, hid_t dataset, NsHdf5Item *item) {
  char reason[REASON] = "";
  hid_t space = H5Dget_space(dataset);
  if (space < 0) return hdf5_load_fail(r);
  look_at_type(dataset, reason);
  look_at_storage(dataset, reason);
  look_at_shape(r, space, item, reason);
  NsStatus status = NS_OK;
  if (*reason) {
    item->unread = ns_hdf5_copy(reason, strlen(reason));
    if (!item->unread) status = hdf5_load_no_memory(r);
  } else {
    status = hdf5_load_read_numbers(r, dataset, space, item);
  }
  H5Sclose(space);
  return status;
}

/* Takes the name and the position that the dataset's attributes give. */
static void take_attributes(hid_t dataset, NsHdf5Item *item) {
  NsHdf5Attribute name, place;
  if (ns_hdf5_attribute(dataset, NS_HDF5_NAME, &name) && name.text) {
    ns_hdf5_engine->release(item->name);
    item->name = (char *)name.text;
  }
  bool placed = ns_hdf5_attribute(dataset, NS_HDF5_POSITION, &place);
  if (placed && place.whole && place.integer >= 0 && place.integer < LONG_MAX) item->position = (long)place.integer;
  ns_hdf5_engine->release((char *)place.text);
}

/* A dataset of MATLAB has the dimensions of its array in the opposite order; a row or a column becomes a vector. */
static NsStatus turn_array(const Reader *r, NsHdf5Item *item) {
  ptrdiff_t m = item->rows, n = item->cols;
  if (n < 0 || !item->data) return NS_OK;
  if (m == 1 || n == 1) return item->rows = m * n, item->cols = -1, NS_OK;
  double *turned = ns_hdf5_engine->alloc((size_t)m * (size_t)n + 1, sizeof *turned);
  if (!turned) return hdf5_load_no_memory(r);
  for (ptrdiff_t i = 0; i < m; i++)
    for (ptrdiff_t j = 0; j < n; j++) turned[j + i * n] = item->data[i + j * m];
  ns_hdf5_engine->release(item->data);
  item->data = turned;
  item->rows = n;
  item->cols = m;
  return NS_OK;
}

/* What other conventions say of the dataset: an array of MATLAB, a dimension of netCDF that has no values. */
static NsStatus take_conventions(const Reader *r, hid_t dataset, NsHdf5Item *item) {
  static const char only_dimension[] = "This is a netCDF dimension but not a netCDF variable",
                    reason[] = "a dimension of netCDF";
  NsHdf5Attribute value = {.text = NULL};
  NsStatus status = NS_OK;
  if (ns_hdf5_attribute(dataset, "MATLAB_class", &value)) status = turn_array(r, item);
  ns_hdf5_engine->release((char *)value.text);
  value = (NsHdf5Attribute){.text = NULL};
  if (status == NS_OK && ns_hdf5_attribute(dataset, "NAME", &value) && value.text &&
      strncmp(value.text, only_dimension, sizeof only_dimension - 1) == 0 && item->data) {
    ns_hdf5_engine->release(item->data);
    item->data = NULL;
    item->unread = ns_hdf5_copy(reason, sizeof reason - 1);
    if (!item->unread) status = hdf5_load_no_memory(r);
  }
  ns_hdf5_engine->release((char *)value.text);
  return status;
}

static NsStatus read_dataset(const Reader *r, NsHdf5Item *item) {
  hid_t dataset = H5Dopen2(r->file, item->name, H5P_DEFAULT);
  if (dataset < 0) return hdf5_load_fail(r);
  NsStatus status = read_item(r, dataset, item);
  if (status == NS_OK) take_attributes(dataset, item);
  if (status == NS_OK) status = take_conventions(r, dataset, item);
  H5Dclose(dataset);
  return status;
}

/* ---- the file ---- */

/* Whether this dataset (two integers) marks the file as a stream, rather than being an array of that name. */
static bool is_commit(hid_t dataset) {
  hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  bool is = space >= 0 && type >= 0 && H5Tget_class(type) == H5T_INTEGER && H5Sget_simple_extent_npoints(space) == 2;
  if (type >= 0) H5Tclose(type);
  if (space >= 0) H5Sclose(space);
  return is;
}

/* Finds out whether the file is a stream, and how many rows of it count. */
static NsStatus look_for_commit(Reader *r) {
  long long values[2] = {-1, 0};
  hid_t dataset = H5Lexists(r->file, NS_HDF5_COMMIT, H5P_DEFAULT) > 0 ? H5Dopen2(r->file, NS_HDF5_COMMIT, H5P_DEFAULT) : -1;
  bool stream = dataset >= 0 && is_commit(dataset);
  bool good = stream && H5Dread(dataset, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (dataset >= 0) H5Dclose(dataset);
  if (!stream) return NS_OK;
  if (!good || values[0] < 0 || values[1] < 0) return hdf5_load_unreadable(r, "it is a stream that does not tell its rows");
  r->committed = values[0];
  if (r->size < (unsigned long long)values[1]) return hdf5_load_unreadable(r, "it is a stream that is cut off");
  return NS_OK;
}

static int by_position(const void *a, const void *b) {
  long p = ((const NsHdf5Item *)a)->position, q = ((const NsHdf5Item *)b)->position;
  return (p > q) - (p < q);
}

/* Sorts the datasets by position, if each has one. */
static void hdf5_load_arrange(NsHdf5Contents *c) {
  for (int i = 0; i < c->count; i++)
    if (c->items[i].position < 0) return;
  if (c->count > 1) qsort(c->items, (size_t)c->count, sizeof *c->items, by_position);
}

static NsStatus hdf5_load_read_file(Reader *r) {
  NsStatus status = look_for_commit(r);
  if (status == NS_OK) status = list_datasets(r);
  for (int i = 0; i < r->contents->count && status == NS_OK; i++) status = read_dataset(r, &r->contents->items[i]);
  if (status == NS_OK) status = hdf5_load_read_attributes(r);
  if (status == NS_OK) hdf5_load_arrange(r->contents);
  return status;
}

NsStatus ns_hdf5_load(const char *path, NsHdf5Contents *contents, NsError *err) {
  *contents = (NsHdf5Contents){0};
  Reader r = {.path = path, .file = -1, .committed = -1, .contents = contents, .err = err};
  NsHdf5Quiet before = ns_hdf5_begin();
  NsStatus status = hdf5_load_open_file(&r);
  if (status == NS_OK) status = hdf5_load_read_file(&r);
  if (r.file >= 0) H5Fclose(r.file);
  ns_hdf5_end(before);
  if (status != NS_OK) ns_hdf5_clear(contents);
  return status;
}
