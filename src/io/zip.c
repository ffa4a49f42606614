/*
** zip.c
** Writes and reads local headers, contents and the central directory.
*/
#include "io/zip.h"

#include <string.h>

#include "base/memory.h"
#include "io/file.h"
#include "io/inflate.h"

enum { LOCAL = 30, CENTRAL = 46, ENDING = 22, LONGEST_COMMENT = 65535, DATE_1980 = 0x21 };

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

/* Processes four bits at a time. */
uint32_t ns_crc32(uint32_t crc, const void *bytes, size_t size) {
  static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                     0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                     0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *u = bytes;
  crc = ~crc;
  for (size_t i = 0; i < size; i++) {
    crc = table[(crc ^ u[i]) & 15] ^ crc >> 4;
    crc = table[(crc ^ u[i] >> 4) & 15] ^ crc >> 4;
  }
  return ~crc;
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
static void put_common(char *to, uint32_t crc, uint32_t size, size_t name) {
  memset(to, 0, 26);
  put16(to, 20);
  put16(to + 2, 0x800); /* names are UTF-8 */
  put16(to + 8, DATE_1980);
  put32(to + 10, crc);
  put32(to + 14, size);
  put32(to + 18, size);
  put16(to + 22, (unsigned)name);
}

/* Appends the central header of a part. */
static bool list_part(NsZip *zip, const char *name, size_t length, uint32_t crc, uint32_t size) {
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
  put_common(at + 6, crc, size, length);
  put32(at + 42, (uint32_t)zip->offset);
  memcpy(at + CENTRAL, name, length);
  zip->used += CENTRAL + length;
  return true;
}

NsStatus ns_zip_add(NsZip *zip, const char *name, const NsZipPiece *pieces, int count, NsError *err) {
  char header[LOCAL];
  uint32_t crc = 0;
  uint64_t size = 0;
  size_t length = strlen(name);
  for (int i = 0; i < count; i++) {
    crc = ns_crc32(crc, pieces[i].bytes, pieces[i].size);
    size += pieces[i].size;
  }
  if (length > UINT16_MAX || zip->count == UINT16_MAX || zip->offset + size + zip->used + 2 * length > UINT32_MAX - 1024)
    return ns_fail(err, NS_ETOOLARGE, "an archive of more than 4 GiB, 65535 parts or 65535 bytes of a name is not written");
  if (!list_part(zip, name, length, crc, (uint32_t)size)) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memcpy(header, "PK\x03\x04", 4);
  put_common(header + 4, crc, (uint32_t)size, length);
  ns_file_write(zip->file, header, LOCAL);
  ns_file_write(zip->file, name, length);
  for (int i = 0; i < count; i++) ns_file_write(zip->file, pieces[i].bytes, pieces[i].size);
  zip->offset += LOCAL + length + size;
  zip->count++;
  return NS_OK;
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

NsStatus ns_zip_read(const NsZipPart *part, char *to, NsError *err) {
  bool good = false;
  if (part->method == 0 && part->stored == part->size) {
    memcpy(to, part->data, part->size);
    good = true;
  } else if (part->method == 8) {
    good = ns_inflate(part->data, part->stored, to, part->size);
  } else {
    return ns_fail(err, NS_EARG, "part '%.*s': method %d of compression is not read", (int)part->name_length, part->name,
                   part->method);
  }
  if (good && ns_crc32(0, to, part->size) == part->crc) return NS_OK;
  return ns_fail(err, NS_EARG, "part '%.*s' is damaged", (int)part->name_length, part->name);
}
