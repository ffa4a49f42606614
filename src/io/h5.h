/*
** h5.h
** HDF5 files whole or not at all, and streams that are gone on with, by way of the optional module.
*/
#ifndef NS_IO_H5_H
#define NS_IO_H5_H

#include "io/hdf5.h"

/*
** Writes a file of arrays and attributes (which are put in the order of their names); it appears whole or not at all (see NsFile).
** NS_EIO, NS_ENOMEM.
*/
NsStatus ns_h5_save(const NsHdf5 *hdf5, const char *path, const NsHdf5Array *arrays, int count, NsHdf5Attribute *attributes,
                    int nattributes, NsError *err);

/*
** Reads a file as hdf5->load does, in a child process with a limit to its time: that a damaged file crashes the library, or
** keeps it for ever, is NS_EIO here. A raised interrupt flag ends it with NS_EINTR. To be cleared by hdf5->clear.
*/
NsStatus ns_h5_load(const NsHdf5 *hdf5, const char *path, NsHdf5Contents *contents, NsError *err);

/* ns_stream_check for a file of HDF5. */
NsStatus ns_h5_check(const NsHdf5 *hdf5, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                     NsError *err);

/*
** ns_stream_open for a file of HDF5: the rows of the one that is gone on with go to a new file that takes its place. NS_EARG when
** its columns are others or rows are missing, NS_EIO, NS_ENOMEM. *stream is NULL on failure.
*/
NsStatus ns_h5_stream(const NsHdf5 *hdf5, NsStream **stream, const char *path, int ncols, const char *const *names,
                      NsStreamPlace place, NsError *err);

#endif
