/*
** stream.h
** Rows of numbers written to a file as they come, which may be taken up again after a kill.
*/
#ifndef NS_IO_STREAM_H
#define NS_IO_STREAM_H

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
** Opens the CSV file at path for ncols columns of these names. With `from` = -INFINITY it is made anew; else one that is there
** is gone on with: its rows whose first number is `from` or above, and a line that was cut, are taken away. NS_EARG when its
** first line is another one; NS_EIO ("cannot write 'PATH': reason"), NS_ENOMEM. *stream is NULL on failure.
*/
NsStatus ns_stream_open(NsStream **stream, const char *path, int ncols, const char *const *names, double from,
                        NsError *err);

/* Appends a row of ncols numbers. A failure is kept for the next flush. */
void ns_stream_row(NsStream *stream, const double *row);

/* Hands all rows to the disk and waits for it. NS_EIO. */
NsStatus ns_stream_flush(NsStream *stream, NsError *err);

/* Flushes and closes; `stream` is freed in every case. NULL is ignored. */
NsStatus ns_stream_close(NsStream *stream, NsError *err);

#endif
