/*
** h5.h
** HDF5 files, written whole or not at all, and HDF5 streams that can be resumed, through the optional module.
*/
#pragma once

#include "io/hdf5.h"

/*
** Writes arrays and attributes to a file of that form (NS_HDF5_PLAIN, ...), whole or not at all (see NsFile). Sorts
** `attributes` by name. NS_EIO, NS_ENOMEM.
*/
NsStatus ns_h5_save(const NsHdf5 *hdf5, const char *path, const char *form, const NsHdf5Array *arrays, int count,
                    NsHdf5Attribute *attributes, int nattributes, NsError *err);

/*
** Reads a file by hdf5->load in a child process with a time limit: when a damaged file crashes the library or makes it hang,
** that is NS_EIO. A raised interrupt flag gives NS_EINTR. The caller clears *contents with hdf5->clear.
*/
NsStatus ns_h5_load(const NsHdf5 *hdf5, const char *path, NsHdf5Contents *contents, NsError *err);

/* ns_stream_check for an HDF5 file. */
NsStatus ns_h5_check(const NsHdf5 *hdf5, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                     NsError *err);

/*
** ns_stream_open for an HDF5 file. To resume a file, its rows are copied to a new file that replaces it. NS_EARG when its
** columns differ or rows are missing, NS_EIO, NS_ENOMEM. *stream is NULL on failure.
*/
NsStatus ns_h5_stream(const NsHdf5 *hdf5, NsStream **stream, const char *path, int ncols, const char *const *names,
                      NsStreamPlace place, NsError *err);
