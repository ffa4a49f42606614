/*
** hdf5_forms.h
** The forms of HDF5 files that are written: plain, as a stream, by the conventions of netCDF-4, as a MAT-file of version 7.3.
*/
#pragma once

#include "io/hdf5_types.h"

typedef struct NsHdf5Form {
  const char *name;
  bool stream;      /* arrays are vectors of one length, and can grow */
  bool reversed;    /* a dataset has the dimensions of its array in the opposite order, a vector the dimensions of a column */
  bool old_library; /* in a format that HDF5 1.8 reads */
  size_t head;      /* bytes before the part of HDF5: 0, or 512 and more */

  /* link (strlen(name) + 24 bytes) = a name in the file, for attempts 0, 1, ... until one is free. */
  void (*link)(const char *name, int attempt, char *link);

  /* Adds what the form needs to a dataset, or, when all are there, to the file; links: their names. NULL: nothing. */
  bool (*mark)(hid_t dataset);
  bool (*finish)(hid_t file, const NsHdf5Array *arrays, char *const *links, int count);

  /* Fills the head. */
  void (*write_head)(char *bytes);
} NsHdf5Form;

/* The form of that name; NULL when there is none. */
const NsHdf5Form *ns_hdf5_form(const char *name);
