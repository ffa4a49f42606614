/*
** hdf5_forms.c
** Names, attributes and heads of the forms of HDF5 files.
**
** netCDF-4: the NetCDF User's Guide, appendix "File Format Specifications"; HDF5 Dimension Scale Specification.
** MAT-files 7.3: an HDF5 file behind a head of 512 bytes; MATLAB's "MAT-File Format" describes the head, and
** the attribute MATLAB_class the type.
*/
#include "io/hdf5_forms.h"

#include <ctype.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* Whether HDF5 accepts the name unchanged: its parts between slashes are neither empty nor ".". */
static bool well_formed(const char *name) {
  for (const char *part = name;; part++) {
    size_t length = strcspn(part, "/");
    if (length == 0 || (length == 1 && *part == '.')) return false;
    part += length;
    if (!*part) return true;
  }
}

/* The name itself where HDF5 takes it; else without slashes; from the second attempt on with a number. */
static void plain_link(const char *name, int attempt, char *link) {
  bool flat = attempt > 0 || !well_formed(name);
  char *end = link;
  for (const char *c = name; *c; c++) *end++ = flat && *c == '/' ? '_' : *c;
  if (flat && (end == link || (end == link + 1 && *link == '.'))) end = link, *end++ = '_';
  *end = '\0';
  if (attempt > 1) snprintf(end, 16, "~%d", attempt);
}

enum { MATLAB_NAME = 63 }; /* longest name of a variable, bytes */

/* Letters, digits and _, a letter first. */
static void matlab_link(const char *name, int attempt, char *link) {
  char *end = link;
  if (!isalpha((unsigned char)*name)) *end++ = 'x';
  for (const char *c = name; *c && end < link + MATLAB_NAME; c++)
    *end++ = (unsigned char)*c < 128 && isalnum((unsigned char)*c) ? *c : '_';
  *end = '\0';
  if (attempt < 2) return;
  if (end > link + MATLAB_NAME - 8) end = link + MATLAB_NAME - 8;
  snprintf(end, 16, "_%d", attempt);
}

/* ---- netCDF-4 ---- */

enum { MOST_SIZES = 32 }; /* dimensions in a file; arrays with further lengths have none, and netCDF makes names up */

typedef struct Dimensions {
  hsize_t sizes[MOST_SIZES];
  hid_t scales[MOST_SIZES];
  int count;
} Dimensions;

static hid_t scale_of(const Dimensions *dimensions, hsize_t size) {
  for (int i = 0; i < dimensions->count; i++)
    if (dimensions->sizes[i] == size) return dimensions->scales[i];
  return -1;
}

/* A dimension without values: a dataset of that size with a name that netCDF knows. */
static hid_t make_dimension(hid_t file, hsize_t size) {
  char name[40], title[80];
  snprintf(name, sizeof name, "dim_%lld", (long long)size);
  for (int k = 2; H5Lexists(file, name, H5P_DEFAULT) > 0; k++) snprintf(name, sizeof name, "dim_%lld_%d", (long long)size, k);
  snprintf(title, sizeof title, "This is a netCDF dimension but not a netCDF variable.%10lld", (long long)size);
  hid_t space = H5Screate_simple(1, &size, NULL), make = H5Pcreate(H5P_DATASET_CREATE), dataset = -1;
  if (space >= 0 && make >= 0 && H5Pset_obj_track_times(make, false) >= 0)
    dataset = H5Dcreate2(file, name, H5T_IEEE_F32BE, space, H5P_DEFAULT, make, H5P_DEFAULT);
  if (make >= 0) H5Pclose(make);
  if (space >= 0) H5Sclose(space);
  if (dataset >= 0 && H5DSset_scale(dataset, title) >= 0) return dataset;
  if (dataset >= 0) H5Dclose(dataset);
  return -1;
}

/* The first vector is the coordinate of its dimension: the time of a run. */
static bool add_coordinate(hid_t file, const NsHdf5Array *arrays, char *const *links, int count, Dimensions *dimensions) {
  if (count == 0 || arrays[0].cols >= 0 || arrays[0].rows == 0 || strchr(links[0], '/')) return true;
  hid_t dataset = H5Dopen2(file, links[0], H5P_DEFAULT);
  if (dataset < 0) return false;
  dimensions->sizes[0] = (hsize_t)arrays[0].rows;
  dimensions->scales[dimensions->count++] = dataset;
  return H5DSset_scale(dataset, links[0]) >= 0;
}

static bool attach_dimensions(hid_t file, const NsHdf5Array *array, const char *link, Dimensions *dimensions) {
  hsize_t sizes[2] = {(hsize_t)array->rows, (hsize_t)array->cols};
  hid_t dataset = H5Dopen2(file, link, H5P_DEFAULT);
  bool good = dataset >= 0;
  for (unsigned axis = 0; axis < (array->cols < 0 ? 1u : 2u) && good; axis++) {
    hid_t scale = scale_of(dimensions, sizes[axis]);
    if (scale < 0 && dimensions->count < MOST_SIZES && sizes[axis] > 0) {
      scale = make_dimension(file, sizes[axis]);
      dimensions->sizes[dimensions->count] = sizes[axis];
      if (scale >= 0) dimensions->scales[dimensions->count++] = scale;
      good = scale >= 0;
    }
    if (scale >= 0) good = H5DSattach_scale(dataset, scale, axis) >= 0;
  }
  if (dataset >= 0) H5Dclose(dataset);
  return good;
}

static bool finish_netcdf(hid_t file, const NsHdf5Array *arrays, char *const *links, int count) {
  Dimensions dimensions = {.count = 0};
  bool good = add_coordinate(file, arrays, links, count, &dimensions);
  for (int i = dimensions.count; i < count && good; i++) good = attach_dimensions(file, &arrays[i], links[i], &dimensions);
  for (int i = 0; i < dimensions.count; i++) H5Dclose(dimensions.scales[i]);
  return good;
}

/* ---- MAT-files 7.3 ---- */

static bool mark_matlab(hid_t dataset) {
  static const char text[] = "double";
  hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), attribute = -1;
  if (type >= 0 && space >= 0 && H5Tset_size(type, sizeof text - 1) >= 0)
    attribute = H5Acreate2(dataset, "MATLAB_class", type, space, H5P_DEFAULT, H5P_DEFAULT);
  bool good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
  if (attribute >= 0) H5Aclose(attribute);
  if (space >= 0) H5Sclose(space);
  if (type >= 0) H5Tclose(type);
  return good;
}

enum { MATLAB_HEAD = 512, MATLAB_TEXT = 116, MATLAB_VERSION = 124 };

/* A text of 116 characters, 8 bytes of 0, the version 0x0200, and "IM": both in the order of a little-endian machine. */
static void write_matlab_head(char *bytes) {
  static const char text[] = "MATLAB 7.3 MAT-file, Platform: GLNXA64, written by nslua, HDF5 schema 1.00 .";
  static const char version[4] = {0, 2, 'I', 'M'};
  memset(bytes, 0, MATLAB_HEAD);
  memset(bytes, ' ', MATLAB_TEXT);
  memcpy(bytes, text, sizeof text - 1);
  memcpy(bytes + MATLAB_VERSION, version, sizeof version);
}

/* ---- the list ---- */

static const NsHdf5Form forms[] = {
    {.name = NS_HDF5_PLAIN, .link = plain_link},
    {.name = NS_HDF5_STREAM, .stream = true, .link = plain_link},
    {.name = NS_HDF5_NETCDF, .link = plain_link, .finish = finish_netcdf},
    {.name = NS_HDF5_MATLAB,
     .reversed = true,
     .old_library = true,
     .head = MATLAB_HEAD,
     .link = matlab_link,
     .mark = mark_matlab,
     .write_head = write_matlab_head},
};

const NsHdf5Form *ns_hdf5_form(const char *name) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(forms[i].name, name) == 0) return &forms[i];
  return NULL;
}
