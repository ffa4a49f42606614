/*
** hdf5_types.h
** Shared by the files of the HDF5 module: names in a file, errors, properties.
*/
#pragma once

/* Use the functions as they are in HDF5 1.10, whatever the library's version. */
#define H5_USE_110_API 1
#include <hdf5.h>

#include "io/hdf5.h"

/* The dataset of a stream with the number of rows and of file bytes at its last flush; 64-bit integers. */
#define NS_HDF5_COMMIT "nslua_rows"
/* Attributes of a dataset: its original name, and its position among the others. */
#define NS_HDF5_NAME     "nslua_name"
#define NS_HDF5_POSITION "nslua_position"

extern const NsEngine *ns_hdf5_engine;

/* The library's error printing before ns_hdf5_begin, which silences it. */
typedef struct NsHdf5Quiet {
  H5E_auto2_t print;
  void *context;
} NsHdf5Quiet;

NsHdf5Quiet ns_hdf5_begin(void);
void ns_hdf5_end(NsHdf5Quiet before);

/* NS_EIO: "cannot VERB 'PATH': " and the library's last failure. NS_ENOMEM for ns_hdf5_memory. */
NsStatus ns_hdf5_fail(NsError *err, const char *verb, const char *path);
NsStatus ns_hdf5_memory(NsError *err, const char *verb, const char *path);

/* A copy of the first n bytes of a text; NULL without memory. */
char *ns_hdf5_copy(const char *text, size_t n);

/* File access properties: format of 1.10, all objects closed with the file, files locked where that is possible. */
hid_t ns_hdf5_access(void);

NsStatus ns_hdf5_pack(const char *path, const NsHdf5Array *arrays, int count, const NsHdf5Attribute *attributes,
                      int nattributes, const char *form, char **bytes, size_t *size, NsError *err);
NsStatus ns_hdf5_load(const char *path, NsHdf5Contents *contents, NsError *err);
void ns_hdf5_clear(NsHdf5Contents *contents);
NsStatus ns_hdf5_append(NsStream **stream, const char *path, int ncols, NsError *err);

/* Reads an attribute of an object; the caller releases the text. False when there is none. */
bool ns_hdf5_attribute(hid_t object, const char *name, NsHdf5Attribute *value);
