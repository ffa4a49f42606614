/*
** zip.h
** ZIP archives (PKWARE's .ZIP; NumPy's .npz and the units of FMI are such): parts are stored or deflated.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* ---- writing ---- */

typedef struct NsZip NsZip;

/* A block of bytes; the contents of a part are one or more blocks. */
typedef struct NsZipPiece {
  const void *bytes;
  size_t size;
} NsZipPiece;

/* Opens an archive for writing; the file appears whole, at the commit (see NsFile). NS_EIO, NS_ENOMEM. */
NsStatus ns_zip_open(NsZip **zip, const char *path, NsError *err);

/*
** Appends a part made of `count` pieces. `packed`: it is deflated when that makes it shorter and there is memory for it.
** NS_ETOOLARGE when the archive would exceed 4 GiB or 65535 parts, NS_ENOMEM.
*/
NsStatus ns_zip_add(NsZip *zip, const char *name, const NsZipPiece *pieces, int count, bool packed, NsError *err);

/*
** The pieces, of `size` bytes in all, as one deflate stream (RFC 1951) of *packed bytes; the caller frees it. NULL: out of
** memory, or the stream is no shorter than the pieces.
*/
char *ns_zip_deflate(const NsZipPiece *pieces, int count, size_t size, size_t *packed);

/* Writes the directory and renames the file; the archive is freed in every case. NS_EIO. */
NsStatus ns_zip_commit(NsZip *zip, NsError *err);

/* Discards what was written and frees the archive. NULL is ignored. */
void ns_zip_abort(NsZip *zip);

/* ---- reading ---- */

/* A part of an archive in memory; name and data point into the archive. */
typedef struct NsZipPart {
  const char *name, *data;
  size_t name_length, stored, size; /* bytes in the archive, bytes of the contents */
  int method;                       /* 0 stored, 8 deflated */
  uint32_t crc;
} NsZipPart;

/* A position in the directory of an archive. */
typedef struct NsZipReader {
  const char *bytes;
  size_t size, at;
  int left; /* parts not read yet */
} NsZipReader;

/* Finds the directory of an archive. NS_EARG ("it is not a .zip archive, or is cut off"). */
NsStatus ns_zip_scan(NsZipReader *reader, const char *bytes, size_t size, NsError *err);

/* The next part, while reader->left > 0. NS_EARG. */
NsStatus ns_zip_next(NsZipReader *reader, NsZipPart *part, NsError *err);

/* Unpacks a part to `to` (part->size bytes) and compares the checksum. NS_EARG, NS_ENOMEM. */
NsStatus ns_zip_read(const NsZipPart *part, char *to, NsError *err);
