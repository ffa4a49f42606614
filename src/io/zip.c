/*
** zip.c
** Writes and reads local headers, contents and the central directory. Deflated data and checksums are zlib's.
*/
#include "io/zip.h"

#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "io/file.h"

enum { LOCAL = 30, CENTRAL = 46, ENDING = 22, LONGEST_COMMENT = 65535, DATE_1980 = 0x21 };
enum { STORED = 0, DEFLATED = 8 };             /* methods of compression */
enum { RAW = -MAX_WBITS, MEMORY_OF_ZLIB = 8 }; /* a deflate stream without a header of its own; zlib's default */

struct NsZip {
  NsFile *file;
  char *directory; /* the central headers so far */
  size_t used, room;
  uint64_t offset; /* of the next local header */
  int count;
};

static void put16(char *to, unsigned x) {
  to[0] = (char)(x & 0xff);
  to[1] = (char)(x >> 8 & 0xff);
}

static void put32(char *to, uint32_t x) {
  put16(to, x & 0xffff);
  put16(to + 2, x >> 16);
}

static unsigned get16(const char *from) {
  const unsigned char *u = (const unsigned char *)from;
  return u[0] | (unsigned)u[1] << 8;
}

static uint32_t get32(const char *from) {
  return get16(from) | (uint32_t)get16(from + 2) << 16;
}

/* Memory of zlib, by the engine's allocator. */
static void *zip_alloc(void *unused, unsigned count, unsigned size) {
  (void)unused;
  return ns_alloc(count, size);
}

static void zip_free(void *unused, void *block) {
  (void)unused;
  ns_free(block);
}

/* ---- writing ---- */

NsStatus ns_zip_open(NsZip **out, const char *path, NsError *err) {
  *out = NULL;
  NsZip *zip = ns_alloc(1, sizeof *zip);
  if (!zip) return ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  NsStatus status = ns_file_open(&zip->file, path, err);
  if (status == NS_OK) *out = zip;
  else ns_free(zip);
  return status;
}

void ns_zip_abort(NsZip *zip) {
  if (!zip) return;
  ns_file_abort(zip->file);
  ns_free(zip->directory);
  ns_free(zip);
}

/* Writes the fields that local and central headers share, from "version needed" on (26 bytes). */
static void put_common(char *to, const NsZipPart *part) {
  memset(to, 0, 26);
  put16(to, 20);
  put16(to + 2, 0x800); /* names are UTF-8 */
  put16(to + 4, (unsigned)part->method);
  put16(to + 8, DATE_1980);
  put32(to + 10, part->crc);
  put32(to + 14, (uint32_t)part->stored);
  put32(to + 18, (uint32_t)part->size);
  put16(to + 22, (unsigned)part->name_length);
}

/* Appends the central header of a part. */
static bool list_part(NsZip *zip, const NsZipPart *part) {
  size_t length = part->name_length;
  if (zip->room - zip->used < CENTRAL + length) {
    size_t room = 2 * zip->room + CENTRAL + length;
    char *directory = ns_resize(zip->directory, room, 1);
    if (!directory) return false;
    zip->directory = directory;
    zip->room = room;
  }
  char *at = zip->directory + zip->used;
  memset(at, 0, CENTRAL);
  memcpy(at, "PK\x01\x02", 4);
  put16(at + 4, 20);
  put_common(at + 6, part);
  put32(at + 42, (uint32_t)zip->offset);
  memcpy(at + CENTRAL, part->name, length);
  zip->used += CENTRAL + length;
  return true;
}

char *ns_zip_deflate(const NsZipPiece *pieces, int count, size_t size, size_t *packed) {
  z_stream stream = {.zalloc = zip_alloc, .zfree = zip_free};
  char *to = ns_alloc(size, 1);
  if (!to || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, MEMORY_OF_ZLIB, Z_DEFAULT_STRATEGY) != Z_OK)
    return ns_free(to), NULL;
  int state = Z_OK;
  stream.next_out = (Bytef *)to;
  stream.avail_out = (unsigned)size;
  for (int i = 0; i < count && state == Z_OK; i++) {
    bool last = i + 1 == count;
    if (pieces[i].size == 0 && !last) continue;
    stream.next_in = (Bytef *)(uintptr_t)pieces[i].bytes; /* zlib only reads */
    stream.avail_in = (unsigned)pieces[i].size;
    state = deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);
    if (stream.avail_in > 0) break; /* no space left */
  }
  *packed = stream.total_out;
  deflateEnd(&stream);
  if (state == Z_STREAM_END && *packed < size) return to;
  return ns_free(to), NULL;
}

/* Writes the part: the stream, or the pieces when it is NULL. */
static void write_part(NsZip *zip, const NsZipPart *part, const char *stream, const NsZipPiece *pieces, int count) {
  char header[LOCAL] = "PK\x03\x04";
  put_common(header + 4, part);
  ns_file_write(zip->file, header, LOCAL);
  ns_file_write(zip->file, part->name, part->name_length);
  if (stream) ns_file_write(zip->file, stream, part->stored);
  else
    for (int i = 0; i < count; i++) ns_file_write(zip->file, pieces[i].bytes, pieces[i].size);
  zip->offset += LOCAL + part->name_length + part->stored;
  zip->count++;
}

NsStatus ns_zip_add(NsZip *zip, const char *name, const NsZipPiece *pieces, int count, bool packed, NsError *err) {
  NsZipPart part = {.name = name, .name_length = strlen(name), .method = STORED};
  uint64_t size = 0;
  for (int i = 0; i < count; i++) {
    if (pieces[i].size > 0) part.crc = (uint32_t)crc32_z(part.crc, pieces[i].bytes, pieces[i].size);
    size += pieces[i].size;
  }
  if (part.name_length > UINT16_MAX || zip->count == UINT16_MAX ||
      zip->offset + size + zip->used + 2 * part.name_length > UINT32_MAX - 1024)
    return ns_fail(err, NS_ETOOLARGE, "an archive of more than 4 GiB, 65535 parts or 65535 bytes of a name is not written");
  part.stored = part.size = (size_t)size;
  char *stream = packed ? ns_zip_deflate(pieces, count, part.size, &part.stored) : NULL;
  if (stream) part.method = DEFLATED;
  else part.stored = part.size;
  bool listed = list_part(zip, &part);
  if (listed) write_part(zip, &part, stream, pieces, count);
  ns_free(stream);
  return listed ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

NsStatus ns_zip_commit(NsZip *zip, NsError *err) {
  char ending[ENDING] = "PK\x05\x06";
  put16(ending + 8, (unsigned)zip->count);
  put16(ending + 10, (unsigned)zip->count);
  put32(ending + 12, (uint32_t)zip->used);
  put32(ending + 16, (uint32_t)zip->offset);
  if (zip->used > 0) ns_file_write(zip->file, zip->directory, zip->used);
  ns_file_write(zip->file, ending, ENDING);
  NsStatus status = ns_file_commit(zip->file, err);
  ns_free(zip->directory);
  ns_free(zip);
  return status;
}

/* ---- reading ---- */

static NsStatus no_zip(NsError *err) {
  return ns_fail(err, NS_EARG, "it is not an .npz file (a .zip archive), or is cut off");
}

NsStatus ns_zip_scan(NsZipReader *reader, const char *bytes, size_t size, NsError *err) {
  *reader = (NsZipReader){.bytes = bytes, .size = size};
  for (size_t back = ENDING; back <= size && back <= ENDING + LONGEST_COMMENT; back++) {
    const char *at = bytes + size - back;
    if (memcmp(at, "PK\x05\x06", 4) != 0) continue;
    reader->left = (int)get16(at + 10);
    reader->at = get32(at + 16);
    return reader->at <= size ? NS_OK : no_zip(err);
  }
  return no_zip(err);
}

NsStatus ns_zip_next(NsZipReader *reader, NsZipPart *part, NsError *err) {
  const char *at = reader->bytes + reader->at;
  size_t left = reader->size - reader->at;
  if (left < CENTRAL || memcmp(at, "PK\x01\x02", 4) != 0) return no_zip(err);
  *part = (NsZipPart){.name = at + CENTRAL,
                      .name_length = get16(at + 28),
                      .method = (int)get16(at + 10),
                      .crc = get32(at + 16),
                      .stored = get32(at + 20),
                      .size = get32(at + 24)};
  size_t header = CENTRAL + part->name_length + get16(at + 30) + get16(at + 32), start = get32(at + 42);
  if (header > left || start > reader->size || reader->size - start < LOCAL) return no_zip(err);
  const char *local = reader->bytes + start;
  if (memcmp(local, "PK\x03\x04", 4) != 0) return no_zip(err);
  size_t skip = LOCAL + (size_t)get16(local + 26) + get16(local + 28);
  if (skip > reader->size - start || part->stored > reader->size - start - skip) return no_zip(err);
  part->data = local + skip;
  reader->at += header;
  reader->left--;
  return NS_OK;
}

/* Unpacks a deflated part. Z_OK; Z_DATA_ERROR: it is damaged, or unpacks to another number of bytes; Z_MEM_ERROR. */
static int zip_inflate(const NsZipPart *part, char *to) {
  z_stream stream = {.zalloc = zip_alloc, .zfree = zip_free};
  char none = 0; /* zlib wants an address also where nothing comes out */
  int state = inflateInit2(&stream, RAW);
  if (state != Z_OK) return state;
  stream.next_in = (Bytef *)(uintptr_t)part->data; /* zlib only reads */
  stream.avail_in = (unsigned)part->stored;
  stream.next_out = (Bytef *)(part->size > 0 ? to : &none);
  stream.avail_out = (unsigned)part->size;
  state = inflate(&stream, Z_FINISH);
  bool whole = state == Z_STREAM_END && stream.total_out == part->size;
  inflateEnd(&stream);
  return whole ? Z_OK : state == Z_MEM_ERROR ? Z_MEM_ERROR : Z_DATA_ERROR;
}

NsStatus ns_zip_read(const NsZipPart *part, char *to, NsError *err) {
  int state = Z_DATA_ERROR;
  if (part->method == STORED && part->stored == part->size) {
    memcpy(to, part->data, part->size);
    state = Z_OK;
  } else if (part->method == DEFLATED) {
    state = zip_inflate(part, to);
  } else {
    return ns_fail(err, NS_EARG, "part '%.*s': method %d of compression is not read", (int)part->name_length, part->name,
                   part->method);
  }
  if (state == Z_MEM_ERROR) return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (state == Z_OK && (uint32_t)crc32_z(0, (const Bytef *)to, part->size) == part->crc) return NS_OK;
  return ns_fail(err, NS_EARG, "part '%.*s' is damaged", (int)part->name_length, part->name);
}
