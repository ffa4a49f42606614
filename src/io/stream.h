/*
** stream.h
** Rows of numbers written to a file as they come, which may be taken up again after a kill.
*/
#ifndef NS_IO_STREAM_H
#define NS_IO_STREAM_H

#include <stdbool.h>

#include "base/error.h"

typedef struct NsStream NsStream;

/* What a format does with rows: a CSV file here, HDF5 in a module of its own. */
typedef struct NsStreamMethod {
  void (*row)(NsStream *stream, const double *row);
  NsStatus (*flush)(NsStream *stream, NsError *err);
  NsStatus (*close)(NsStream *stream, NsError *err);
} NsStreamMethod;

/* What the stream of each format begins with. */
struct NsStream {
  const NsStreamMethod *method;
};

/*
** Where a stream begins. `from` = -INFINITY: the file is made anew. Else one that is there is gone on with: its rows whose first
** number is `from` or above are taken away, and of those that stay the last one must be at `last` or above (-INFINITY: there
** need be none).
*/
typedef struct NsStreamPlace {
  double from, last;
} NsStreamPlace;

bool ns_stream_anew(NsStreamPlace place);

/* NS_EARG when rows are missing in a file whose last row before place.from is at `found` (nan: it has none). */
NsStatus ns_stream_missing(const char *path, NsStreamPlace place, bool exists, double found, NsError *err);

/*
** Whether the CSV file at path, of ncols columns of these names, can be gone on with at `place`; changes nothing. NS_EARG when
** its first line is another one or rows are missing, NS_EIO, NS_ENOMEM.
*/
NsStatus ns_stream_check(const char *path, int ncols, const char *const *names, NsStreamPlace place, NsError *err);

/*
** Opens it for rows from `place` on; a line that was cut is taken away too. What ns_stream_check returns; NS_EIO ("cannot write
** 'PATH': reason"). *stream is NULL on failure, and the file as it was when that is NS_EARG.
*/
NsStatus ns_stream_open(NsStream **stream, const char *path, int ncols, const char *const *names, NsStreamPlace place,
                        NsError *err);

/* Appends a row of ncols numbers. A failure is kept for the next flush. */
void ns_stream_row(NsStream *stream, const double *row);

/* Hands all rows to the disk and waits for it. NS_EIO. */
NsStatus ns_stream_flush(NsStream *stream, NsError *err);

/* Flushes and closes; `stream` is freed in every case. NULL is ignored. */
NsStatus ns_stream_close(NsStream *stream, NsError *err);

#endif
