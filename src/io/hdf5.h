/*
** hdf5.h
** HDF5 files behind the engine's interface; part of an optional module, not of the core.
*/
#ifndef NS_IO_HDF5_H
#define NS_IO_HDF5_H

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

/* A text, an integer or a number (text NULL) that is attached to a file. */
typedef struct NsHdf5Attribute {
  const char *name, *text;
  bool whole;
  long long integer;
  double number;
} NsHdf5Attribute;

/* What was read under a name: numbers as in NsHdf5Array, or (data NULL) in `unread` why they were not. */
typedef struct NsHdf5Item {
  char *name, *unread;
  ptrdiff_t rows, cols;
  double *data;
  long position; /* among the others; -1: not told */
} NsHdf5Item;

/* A file that was read; to be cleared. A zero-initialised one is empty and valid. */
typedef struct NsHdf5Contents {
  NsHdf5Item *items;
  int count;
  NsHdf5Attribute *attributes;
  int nattributes;
} NsHdf5Contents;

/* What the module does for the core. Every message names the file. */
typedef struct NsHdf5 {
  /*
  ** The bytes (to be freed by ns_free) of a file of these arrays and attributes: a dataset for each, row by row, in chunks under
  ** checksums, in the format of HDF5 1.10, whose metadata have checksums. A slash in a name makes a group. A name that HDF5 does
  ** not take, or that is there already, stands in an attribute of its dataset. A `stream` is of vectors of one length, which can
  ** grow. NS_ENOMEM, NS_EIO.
  */
  NsStatus (*pack)(const char *path, const NsHdf5Array *arrays, int count, const NsHdf5Attribute *attributes, int nattributes,
                   bool stream, char **bytes, size_t *size, NsError *err);

  /*
  ** Reads all numbers of a file, in groups as "group/name", in the order in which they were made where that was kept, else by
  ** name: of a stream, also of one that is being written or was killed, the rows that were flushed. Links to other files are
  ** not followed. NS_EIO ("cannot read 'PATH': reason"), NS_ENOMEM.
  */
  NsStatus (*load)(const char *path, NsHdf5Contents *contents, NsError *err);
  void (*clear)(NsHdf5Contents *contents);

  /*
  ** Opens a stream that `pack` has made, to append rows of its ncols columns in SWMR mode (single writer, multiple readers): a
  ** flush makes the rows so far part of the file, for readers, and also when the process ends there. NS_EIO, NS_ENOMEM.
  */
  NsStatus (*append)(NsStream **stream, const char *path, int ncols, NsError *err);

  char version[32]; /* of the library */
} NsHdf5;

/*
** The table; `engine` lends its functions from here on. NULL when the library is older than 1.10.2. Memory of the library itself
** does not come from the engine's allocator.
**
** The HDF5 Library and File Format, HDF5 1.10: File Format Specification 3.0; Single-Writer/Multiple-Reader User's Guide.
*/
const NsHdf5 *ns_hdf5(const NsEngine *engine);

#endif
