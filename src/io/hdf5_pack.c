/*
** hdf5_pack.c
** The bytes of an HDF5 file, made in memory.
*/
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "io/hdf5_forms.h"

enum { CHUNK = 1 << 16, STREAM_CHUNK = 1024, ROOM = 1 << 16 };

/* ---- memory of the file ---- */

/* The memory of the library's driver for files in memory. It outlives the closing of the file. */
typedef struct Image {
  char *bytes;
  size_t size;
  bool failed; /* there was no memory */
} Image;

static void *image_alloc(size_t size, H5FD_file_image_op_t op, void *context) {
  Image *image = context;
  (void)op;
  image->bytes = ns_hdf5_engine->alloc(size, 1);
  image->size = image->bytes ? size : 0;
  image->failed = !image->bytes;
  return image->bytes;
}

static void *image_resize(void *block, size_t size, H5FD_file_image_op_t op, void *context) {
  Image *image = context;
  (void)op;
  if (!block) return image_alloc(size, op, context);
  char *bytes = ns_hdf5_engine->alloc(size, 1);
  image->failed = !bytes;
  if (!bytes) return NULL;
  memcpy(bytes, block, size < image->size ? size : image->size);
  ns_hdf5_engine->release(block);
  image->bytes = bytes;
  image->size = size;
  return bytes;
}

static herr_t image_free(void *block, H5FD_file_image_op_t op, void *context) {
  (void)block, (void)op, (void)context;
  return 0;
}

static void *context_copy(void *context) {
  return context;
}

static herr_t context_free(void *context) {
  (void)context;
  return 0;
}

static hid_t memory_access(Image *image, size_t increment, bool old_library) {
  H5FD_file_image_callbacks_t calls = {image_alloc, NULL, image_resize, image_free, context_copy, context_free, image};
  hid_t access = ns_hdf5_access();
  if (access < 0) return access;
  if (old_library && H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) < 0) return H5Pclose(access), -1;
  if (H5Pset_fapl_core(access, increment, false) >= 0 && H5Pset_file_image_callbacks(access, &calls) >= 0) return access;
  H5Pclose(access);
  return -1;
}

/*
** The file length given by the superblock behind the head (byte 28 of the superblock in version 3, byte 40 in version 0); the
** driver's image may be longer.
*/
static size_t file_size(const Image *image, size_t head) {
  uint64_t end = head;
  size_t at = head + (head ? 40 : 28);
  for (size_t i = 0; i < 8 && image->size >= at + 8; i++) end += (uint64_t)(unsigned char)image->bytes[at + i] << (8 * i);
  return end < image->size ? (size_t)end : image->size;
}

/* ---- attributes ---- */

static bool write_attribute(hid_t at, const NsHdf5Attribute *attribute) {
  const char *text = attribute->text;
  size_t length = text ? strlen(text) : 0;
  hid_t type = text ? H5Tcopy(H5T_C_S1) : H5Tcopy(attribute->whole ? H5T_NATIVE_LLONG : H5T_NATIVE_DOUBLE);
  hid_t space = H5Screate(H5S_SCALAR);
  bool good = type >= 0 && space >= 0;
  if (good && text)
    good = H5Tset_size(type, length ? length : 1) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
           H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0;
  hid_t created = good ? H5Acreate2(at, attribute->name, type, space, H5P_DEFAULT, H5P_DEFAULT) : -1;
  const void *from = text ? (const void *)text : attribute->whole ? (const void *)&attribute->integer : &attribute->number;
  good = created >= 0 && H5Awrite(created, type, from) >= 0;
  if (created >= 0) good = H5Aclose(created) >= 0 && good;
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return good;
}

/* ---- names ---- */

static bool is_group(hid_t file, const char *path) {
  hid_t group = H5Gopen2(file, path, H5P_DEFAULT);
  if (group >= 0) H5Gclose(group);
  return group >= 0;
}

/* Whether an object exists at the path, or a part of the path is no group. */
static bool taken(hid_t file, char *path) {
  for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool there = H5Lexists(file, path, H5P_DEFAULT) > 0, group = there && is_group(file, path);
    *slash = '/';
    if (!there) return false;
    if (!group) return true;
  }
  return H5Lexists(file, path, H5P_DEFAULT) > 0;
}

/* Chooses the link name for an array: the first one of the form that is free. */
static void choose_link(hid_t file, const NsHdf5Form *form, const char *name, char *link) {
  int attempt = 0;
  do form->link(name, attempt++, link);
  while (taken(file, link));
}

/* ---- datasets ---- */

/* Properties of the links: names are UTF-8. */
static hid_t link_properties(void) {
  hid_t links = H5Pcreate(H5P_LINK_CREATE);
  if (links < 0 || H5Pset_char_encoding(links, H5T_CSET_UTF8) >= 0) return links;
  H5Pclose(links);
  return -1;
}

/* Makes the groups that contain a link. (The library's own way to do this would store the time of day in them.) */
static bool make_groups(hid_t file, char *link, hid_t links) {
  hid_t make = H5Pcreate(H5P_GROUP_CREATE);
  bool good = make >= 0 && H5Pset_obj_track_times(make, false) >= 0;
  for (char *slash = strchr(link, '/'); good && slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (H5Lexists(file, link, H5P_DEFAULT) == 0) {
      hid_t group = H5Gcreate2(file, link, links, make, H5P_DEFAULT);
      good = group >= 0 && H5Gclose(group) >= 0;
    }
    *slash = '/';
  }
  if (make >= 0) H5Pclose(make);
  return good;
}

/* Sets chunks and checksums, or the properties of a stream; does nothing for an array without elements. */
static bool set_layout(hid_t make, int rank, const hsize_t *dims, bool stream) {
  const double nothing = NAN;
  hsize_t chunk[2] = {STREAM_CHUNK, 1};
  if (H5Pset_obj_track_times(make, false) < 0) return false;
  if (stream) return H5Pset_chunk(make, 1, chunk) >= 0 && H5Pset_fill_value(make, H5T_NATIVE_DOUBLE, &nothing) >= 0;
  if (dims[0] == 0 || (rank == 2 && dims[1] == 0)) return true;
  chunk[1] = rank == 2 && dims[1] < CHUNK ? dims[1] : rank == 2 ? CHUNK : 1;
  hsize_t fit = CHUNK / chunk[1];
  chunk[0] = dims[0] < fit ? dims[0] : fit;
  return H5Pset_chunk(make, rank, chunk) >= 0 && H5Pset_fletcher32(make) >= 0;
}

static hid_t create_dataset(hid_t file, char *link, const NsHdf5Array *array, const NsHdf5Form *form) {
  static const hsize_t unlimited[1] = {H5S_UNLIMITED};
  bool stream = form->stream;
  hsize_t rows = (hsize_t)array->rows, cols = array->cols < 0 ? 1 : (hsize_t)array->cols;
  hsize_t dims[2] = {form->reversed ? cols : rows, form->reversed ? rows : cols};
  int rank = array->cols < 0 && !form->reversed ? 1 : 2;
  hid_t space = H5Screate_simple(rank, dims, stream ? unlimited : NULL), make = H5Pcreate(H5P_DATASET_CREATE);
  hid_t links = link_properties(), dataset = -1;
  bool good = space >= 0 && make >= 0 && links >= 0 && set_layout(make, rank, dims, stream);
  if (good && make_groups(file, link, links)) dataset = H5Dcreate2(file, link, H5T_IEEE_F64LE, space, links, make, H5P_DEFAULT);
  if (links >= 0) H5Pclose(links);
  if (make >= 0) H5Pclose(make);
  if (space >= 0) H5Sclose(space);
  return dataset;
}

/* Row by row, or in the order of the array; NS_EIO when the library fails. */
static NsStatus write_numbers(hid_t dataset, const NsHdf5Array *array, bool reversed) {
  ptrdiff_t m = array->rows, n = array->cols;
  if (m == 0 || n == 0) return NS_OK;
  if (n < 0 || reversed)
    return H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array->data) < 0 ? NS_EIO : NS_OK;
  double *rows = ns_hdf5_engine->alloc((size_t)m * (size_t)n, sizeof *rows);
  if (!rows) return NS_ENOMEM;
  for (ptrdiff_t i = 0; i < m; i++)
    for (ptrdiff_t j = 0; j < n; j++) rows[i * n + j] = array->data[i + j * m];
  herr_t written = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows);
  ns_hdf5_engine->release(rows);
  return written < 0 ? NS_EIO : NS_OK;
}

/* *link = the array's name in the file, which the caller releases. */
static NsStatus add_array(hid_t file, const NsHdf5Array *array, long position, const NsHdf5Form *form, char **link) {
  *link = ns_hdf5_engine->alloc(strlen(array->name) + 24, 1);
  if (!*link) return NS_ENOMEM;
  choose_link(file, form, array->name, *link);
  hid_t dataset = create_dataset(file, *link, array, form);
  NsHdf5Attribute name = {.name = NS_HDF5_NAME, .text = array->name};
  NsHdf5Attribute place = {.name = NS_HDF5_POSITION, .whole = true, .integer = position};
  bool renamed = strcmp(*link, array->name) != 0;
  NsStatus status = dataset >= 0 ? write_numbers(dataset, array, form->reversed) : NS_EIO;
  if (status == NS_OK && form->mark && !form->mark(dataset)) status = NS_EIO;
  if (status == NS_OK && renamed && !write_attribute(dataset, &name)) status = NS_EIO;
  if (status == NS_OK && position >= 0 && !write_attribute(dataset, &place)) status = NS_EIO;
  if (dataset >= 0 && H5Dclose(dataset) < 0 && status == NS_OK) status = NS_EIO;
  return status;
}

/* Adds the dataset with the number of valid rows of a stream; the first flush sets the number of bytes. */
static NsStatus add_commit(hid_t file, ptrdiff_t rows) {
  const hsize_t two = 2;
  const long long values[2] = {rows, 0};
  hid_t space = H5Screate_simple(1, &two, NULL), make = H5Pcreate(H5P_DATASET_CREATE);
  bool good = space >= 0 && make >= 0 && H5Pset_obj_track_times(make, false) >= 0;
  hid_t dataset = good ? H5Dcreate2(file, NS_HDF5_COMMIT, H5T_STD_I64LE, space, H5P_DEFAULT, make, H5P_DEFAULT) : -1;
  good = dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0;
  if (dataset >= 0) good = H5Dclose(dataset) >= 0 && good;
  if (make >= 0) H5Pclose(make);
  if (space >= 0) H5Sclose(space);
  return good ? NS_OK : NS_EIO;
}

/* ---- the file ---- */

/* Makes a file in memory whose root group stores the creation order of links. */
static hid_t create_file(Image *image, size_t size, const NsHdf5Form *form) {
  hid_t access = memory_access(image, size, form->old_library), make = H5Pcreate(H5P_FILE_CREATE), file = -1;
  bool good = access >= 0 && make >= 0 && H5Pset_obj_track_times(make, false) >= 0 &&
              H5Pset_link_creation_order(make, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0;
  if (good && form->head) good = H5Pset_userblock(make, form->head) >= 0;
  if (good) file = H5Fcreate("nslua", H5F_ACC_TRUNC, make, access);
  if (make >= 0) H5Pclose(make);
  if (access >= 0) H5Pclose(access);
  return file;
}

static NsStatus fill_file(hid_t file, const NsHdf5Array *arrays, int count, const NsHdf5Attribute *attributes, int nattributes,
                          const NsHdf5Form *form) {
  bool groups = false;
  NsStatus status = NS_OK;
  char **links = ns_hdf5_engine->alloc((size_t)count + 1, sizeof *links);
  if (!links) return NS_ENOMEM;
  memset(links, 0, ((size_t)count + 1) * sizeof *links);
  for (int i = 0; i < count; i++) groups = groups || strchr(arrays[i].name, '/');
  if (form->stream) status = add_commit(file, count > 0 ? arrays[0].rows : 0);
  for (int i = 0; i < count && status == NS_OK; i++) status = add_array(file, &arrays[i], groups ? i : -1, form, &links[i]);
  if (status == NS_OK && form->finish && !form->finish(file, arrays, links, count)) status = NS_EIO;
  for (int i = 0; i < count; i++) ns_hdf5_engine->release(links[i]);
  ns_hdf5_engine->release(links);
  for (int i = 0; i < nattributes && status == NS_OK; i++)
    if (!write_attribute(file, &attributes[i])) status = NS_EIO;
  return status;
}

NsStatus ns_hdf5_pack(const char *path, const NsHdf5Array *arrays, int count, const NsHdf5Attribute *attributes,
                      int nattributes, const char *name, char **bytes, size_t *size, NsError *err) {
  const NsHdf5Form *form = ns_hdf5_form(name);
  Image image = {NULL, 0, false};
  if (!form) return ns_hdf5_engine->fail(err, NS_EIO, "cannot write '%s': there is no form '%s'", path, name);
  size_t room = ROOM;
  for (int i = 0; i < count; i++)
    room += 1024 + (size_t)arrays[i].rows * (arrays[i].cols < 0 ? 1 : (size_t)arrays[i].cols) * sizeof(double);
  NsHdf5Quiet before = ns_hdf5_begin();
  hid_t file = create_file(&image, room, form);
  NsStatus status = file >= 0 ? fill_file(file, arrays, count, attributes, nattributes, form) : NS_EIO;
  if (status == NS_EIO && !image.failed) status = ns_hdf5_fail(err, "write", path);
  if (status == NS_ENOMEM || image.failed) status = ns_hdf5_memory(err, "write", path);
  bool closed = file < 0 || H5Fclose(file) >= 0;
  if (!closed && status == NS_OK) status = ns_hdf5_fail(err, "write", path);
  ns_hdf5_end(before);
  *bytes = status == NS_OK ? image.bytes : NULL;
  *size = status == NS_OK ? file_size(&image, form->head) : 0;
  if (status == NS_OK && form->write_head) form->write_head(image.bytes);
  if (status != NS_OK && closed)
    ns_hdf5_engine->release(image.bytes); /* if it is not closed, the library still owns the bytes */
  return status;
}
