/*
** hdf5.h
** The table of functions by which an optional module reads and writes HDF5 files.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/engine.h"
#include "io/stream.h"

/* Numbers under a name, borrowed: column-major without gaps; cols < 0: a vector of `rows` elements. */
typedef struct NsHdf5Array {
  const char *name;
  ptrdiff_t rows, cols;
  const double *data;
} NsHdf5Array;

/* An attribute of a file: a text, or (text NULL) an integer when `whole`, else a number. */
typedef struct NsHdf5Attribute {
  const char *name, *text;
  bool whole;
  long long integer;
  double number;
} NsHdf5Attribute;

/* A dataset that was read: numbers as in NsHdf5Array, or data NULL and the reason in `unread`. */
typedef struct NsHdf5Item {
  char *name, *unread;
  ptrdiff_t rows, cols;
  double *data;
  long position; /* its place among the others; -1: not stored */
} NsHdf5Item;

/* The contents of a file; cleared by the caller. A zero-initialised one is empty and valid. */
typedef struct NsHdf5Contents {
  NsHdf5Item *items;
  int count;
  NsHdf5Attribute *attributes;
  int nattributes;
} NsHdf5Contents;

/* The forms of files, by the names that `pack` takes. */
#define NS_HDF5_PLAIN  "h5"
#define NS_HDF5_STREAM "stream"
#define NS_HDF5_NETCDF "nc"
#define NS_HDF5_MATLAB "mat"

/* The functions of the module. Every message names the file. */
typedef struct NsHdf5 {
  /*
  ** *bytes = the contents of a file with these arrays and attributes; the caller frees them with ns_free. Each array is a
  ** dataset, stored by rows in chunks with checksums, in the format of HDF5 1.10 (metadata with checksums). A slash in a name
  ** makes a group. A name that HDF5 does not accept, or that occurs twice, is stored in an attribute of its dataset.
  ** NS_HDF5_STREAM: the arrays are vectors of one length and can grow. NS_HDF5_NETCDF: with dimensions by the conventions of
  ** netCDF-4; the first vector is the coordinate of its dimension. NS_HDF5_MATLAB: a MAT-file of version 7.3.
  ** NS_ENOMEM, NS_EIO.
  */
  NsStatus (*pack)(const char *path, const NsHdf5Array *arrays, int count, const NsHdf5Attribute *attributes, int nattributes,
                   const char *form, char **bytes, size_t *size, NsError *err);

  /*
  ** Reads all numbers of a file, those in groups as "group/name", in the order of creation where the file has it, else by
  ** name. From a stream, also one that is being written or was killed, it reads the flushed rows. Links to other files are not
  ** followed. NS_EIO ("cannot read 'PATH': reason"), NS_ENOMEM.
  */
  NsStatus (*load)(const char *path, NsHdf5Contents *contents, NsError *err);
  void (*clear)(NsHdf5Contents *contents);

  /*
  ** Opens a stream made by `pack`, to append rows of ncols numbers in SWMR mode (single writer, multiple readers): a flush
  ** makes the rows part of the file, for readers and also if the process dies afterwards. NS_EIO, NS_ENOMEM.
  */
  NsStatus (*append)(NsStream **stream, const char *path, int ncols, NsError *err);

  char version[32]; /* of the library */
} NsHdf5;

/*
** Returns the table; NULL when the library is older than 1.10.2. `engine` must stay valid: the module goes on using its
** functions. The library's own memory does not come from the engine's allocator.
**
** The HDF5 Library and File Format, HDF5 1.10: File Format Specification 3.0; Single-Writer/Multiple-Reader User's Guide.
*/
const NsHdf5 *ns_hdf5(const NsEngine *engine);
