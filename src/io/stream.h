/*
** stream.h
** Rows of numbers written to a file as they are computed; a file can be resumed after a kill.
*/
#pragma once

#include <stdbool.h>

#include "base/error.h"

typedef struct NsStream NsStream;

/* The functions of a file format: CSV here, HDF5 in an optional module. */
typedef struct NsStreamMethod {
  void (*row)(NsStream *stream, const double *row);
  NsStatus (*flush)(NsStream *stream, NsError *err);
  NsStatus (*close)(NsStream *stream, NsError *err);
} NsStreamMethod;

/* The head of the struct of each format. */
struct NsStream {
  const NsStreamMethod *method;
};

/*
** Where a stream begins. from = -INFINITY: a new file. Otherwise an existing file is resumed: rows whose first number is >=
** `from` are removed, and the last remaining row must have a first number >= `last` (-INFINITY: there need be no row).
*/
typedef struct NsStreamPlace {
  double from, last;
} NsStreamPlace;

bool ns_stream_anew(NsStreamPlace place);

/* NS_EARG when rows are missing. `found` is the first number of the last row before place.from (nan: there is no such row). */
NsStatus ns_stream_missing(const char *path, NsStreamPlace place, bool exists, double found, NsError *err);

/*
** Whether the CSV file at path, with ncols columns of these names, can be resumed at `place`; changes nothing. NS_EARG when
** its header line differs or rows are missing, NS_EIO, NS_ENOMEM.
*/
NsStatus ns_stream_check(const char *path, int ncols, const char *const *names, NsStreamPlace place, NsError *err);

/*
** Opens a CSV file for rows from `place` on; an incomplete last line is removed. Fails as ns_stream_check does, and with
** NS_EIO ("cannot write 'PATH': reason"). *stream is NULL on failure; NS_EARG leaves the file unchanged.
*/
NsStatus ns_stream_open(NsStream **stream, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                        NsError *err);

/* Appends a row of ncols numbers. The next flush reports a failure. */
void ns_stream_row(NsStream *stream, const double *row);

/* Writes all rows to the disk and waits for it. NS_EIO. */
NsStatus ns_stream_flush(NsStream *stream, NsError *err);

/* Flushes and closes; `stream` is freed in every case. NULL is ignored. */
NsStatus ns_stream_close(NsStream *stream, NsError *err);
