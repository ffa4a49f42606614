/*
** checkpoint.c
** The file format, the checksum, and the two generations.
*/
#include "io/checkpoint.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/file.h"

static const char magic[] = "nslua checkpoint 1\n";
static const char suffix[] = ".previous", link_suffix[] = ".previous.tmp";

enum { MAGIC_BYTES = sizeof magic - 1, WORD_BYTES = sizeof(uint64_t), PIECES = 3 }; /* the least number of pieces */

#define BYTE_ORDER_MARK UINT64_C(0x0102030405060708)

/* ---- the checksum ---- */

/* CRC-64 of ECMA-182, bits reflected, half a byte at a time. */
static uint64_t crc_of(uint64_t crc, const char *bytes, size_t size) {
  static const uint64_t table[16] = {
      UINT64_C(0x0000000000000000), UINT64_C(0x7D9BA13851336649), UINT64_C(0xFB374270A266CC92), UINT64_C(0x86ACE348F355AADB),
      UINT64_C(0x64B62BCAEBC387A1), UINT64_C(0x192D8AF2BAF0E1E8), UINT64_C(0x9F8169BA49A54B33), UINT64_C(0xE21AC88218962D7A),
      UINT64_C(0xC96C5795D7870F42), UINT64_C(0xB4F7F6AD86B4690B), UINT64_C(0x325B15E575E1C3D0), UINT64_C(0x4FC0B4DD24D2A599),
      UINT64_C(0xADDA7C5F3C4488E3), UINT64_C(0xD041DD676D77EEAA), UINT64_C(0x56ED3E2F9E224471), UINT64_C(0x2B769F17CF112238)};
  crc = ~crc;
  for (size_t i = 0; i < size; i++) {
    crc ^= (unsigned char)bytes[i];
    crc = table[crc & 15] ^ crc >> 4;
    crc = table[crc & 15] ^ crc >> 4;
  }
  return ~crc;
}

/* ---- writing ---- */

static void io_checkpoint_put(NsFile *file, uint64_t *crc, const void *bytes, size_t size) {
  *crc = crc_of(*crc, bytes, size);
  ns_file_write(file, bytes, size);
}

static void put_word(NsFile *file, uint64_t *crc, uint64_t word) {
  io_checkpoint_put(file, crc, &word, sizeof word);
}

static void io_checkpoint_put_all(NsFile *file, const NsCheckpoint *c) {
  const char *pieces[PIECES + 1] = {c->identity, c->note, c->state, c->links};
  size_t sizes[PIECES + 1] = {c->identity_size, c->note_size, c->state_size, c->links_size};
  uint64_t crc = 0;
  io_checkpoint_put(file, &crc, magic, MAGIC_BYTES);
  put_word(file, &crc, BYTE_ORDER_MARK);
  for (int i = 0; i < PIECES + (c->links_size > 0); i++) {
    put_word(file, &crc, sizes[i]);
    if (sizes[i]) io_checkpoint_put(file, &crc, pieces[i], sizes[i]);
  }
  ns_file_write(file, &crc, sizeof crc);
}

static char *joined(const char *path, const char *end) {
  size_t size = strlen(path), more = strlen(end) + 1;
  char *text = ns_alloc(size + more, 1);
  if (text) {
    memcpy(text, path, size);
    memcpy(text + size, end, more);
  }
  return text;
}

static NsStatus read_generation(const char *path, NsCheckpoint *pieces, NsError *err);

/* Makes a good file at path the previous generation: by a hard link (path stays too) where possible, else by renaming. */
static NsStatus keep_previous(const char *path, NsError *err) {
  NsCheckpoint present = {0};
  NsError ignored;
  NsStatus status = read_generation(path, &present, &ignored);
  ns_checkpoint_clear(&present);
  if (status == NS_EIO) return NS_OK;
  char *previous = joined(path, suffix), *link_name = joined(path, link_suffix);
  if (status != NS_OK || !previous || !link_name) {
    status = ns_fail(err, NS_ENOMEM, "cannot write '%s': not enough memory", path);
  } else {
    unlink(link_name);
    bool linked = link(path, link_name) == 0;
    if (rename(linked ? link_name : path, previous) != 0)
      status = ns_fail(err, NS_EIO, "cannot write '%s': %s", previous, strerror(errno));
    unlink(link_name); /* it still exists after a failure, and when both names are the same file */
  }
  ns_free(previous);
  ns_free(link_name);
  return status;
}

NsStatus ns_checkpoint_write(const char *path, const NsCheckpoint *pieces, NsError *err) {
  NsFile *file;
  NsStatus status = ns_file_open(&file, path, err);
  if (status != NS_OK) return status;
  io_checkpoint_put_all(file, pieces);
  status = keep_previous(path, err);
  if (status == NS_OK) return ns_file_commit(file, err);
  ns_file_abort(file);
  return status;
}

/* ---- reading ---- */

typedef struct Text {
  char *bytes;
  size_t size, at;
} Text;

static NsStatus io_checkpoint_read_file(const char *path, Text *text, NsError *err) {
  struct stat what;
  if (stat(path, &what) == 0 && !S_ISREG(what.st_mode))
    return ns_fail(err, NS_EIO, "cannot read '%s': it is not a checkpoint", path);
  return ns_file_load(path, &text->bytes, &text->size, err);
}

/* The next word; false at the end of the text. */
static bool take_word(Text *text, uint64_t *word) {
  if (text->size - text->at < WORD_BYTES) return false;
  memcpy(word, text->bytes + text->at, WORD_BYTES);
  text->at += WORD_BYTES;
  return true;
}

/* A copy of the next piece, with a zero after it. */
static NsStatus take_piece(Text *text, char **piece, size_t *size) {
  uint64_t bytes;
  if (!take_word(text, &bytes) || bytes > text->size - text->at) return NS_EIO;
  *size = (size_t)bytes;
  *piece = ns_alloc(*size + 1, 1);
  if (!*piece) return NS_ENOMEM;
  memcpy(*piece, text->bytes + text->at, *size);
  text->at += *size;
  return NS_OK;
}

/* The reason why the text is not a valid checkpoint; NULL when it is valid. */
static const char *fault_of(Text *text) {
  uint64_t mark, crc;
  if (text->size < MAGIC_BYTES || memcmp(text->bytes, magic, MAGIC_BYTES) != 0)
    return text->size < MAGIC_BYTES && memcmp(text->bytes, magic, text->size) == 0 ? "it is cut" : "it is not a checkpoint";
  text->at = MAGIC_BYTES;
  if (!take_word(text, &mark) || text->size < MAGIC_BYTES + (PIECES + 2) * WORD_BYTES) return "it is cut";
  memcpy(&crc, text->bytes + text->size - WORD_BYTES, WORD_BYTES);
  text->size -= WORD_BYTES;
  if (crc_of(0, text->bytes, text->size) != crc) return "it is cut or damaged";
  return mark == BYTE_ORDER_MARK ? NULL : "it is of a machine with another order of bytes";
}

static NsStatus take_pieces(Text *text, NsCheckpoint *c) {
  NsStatus status = take_piece(text, &c->identity, &c->identity_size);
  if (status == NS_OK) status = take_piece(text, &c->note, &c->note_size);
  if (status == NS_OK) status = take_piece(text, &c->state, &c->state_size);
  return status == NS_OK && text->at < text->size ? take_piece(text, &c->links, &c->links_size) : status;
}

static NsStatus read_generation(const char *path, NsCheckpoint *pieces, NsError *err) {
  Text text = {0};
  *pieces = (NsCheckpoint){0};
  NsStatus status = io_checkpoint_read_file(path, &text, err);
  const char *fault = status == NS_OK ? fault_of(&text) : NULL;
  if (fault) status = ns_fail(err, NS_EIO, "cannot read '%s': %s", path, fault);
  if (status == NS_OK) {
    status = take_pieces(&text, pieces);
    if (status != NS_OK) {
      ns_checkpoint_clear(pieces);
      ns_fail(err, status, "cannot read '%s': %s", path, status == NS_ENOMEM ? "not enough memory" : "it is damaged");
    }
  }
  ns_free(text.bytes);
  return status;
}

NsStatus ns_checkpoint_read(const char *path, NsCheckpoint *pieces, NsError *err) {
  NsError again = {NS_OK, ""}, first = {NS_OK, ""};
  NsStatus status = read_generation(path, pieces, &first);
  if (status != NS_EIO) return status == NS_OK ? status : ns_fail(err, status, "%s", first.text);
  char *previous = joined(path, suffix);
  if (!previous) return ns_fail(err, NS_ENOMEM, "cannot read '%s': not enough memory", path);
  bool exists = access(previous, F_OK) == 0;
  status = read_generation(previous, pieces, &again);
  pieces->previous = true;
  ns_free(previous);
  if (status == NS_OK) return status;
  return exists ? ns_fail(err, status, "%.200s; %.200s", first.text, again.text) : ns_fail(err, status, "%s", first.text);
}

bool ns_checkpoint_exists(const char *path) {
  char *previous = joined(path, suffix);
  bool exists = access(path, F_OK) == 0 || (previous && access(previous, F_OK) == 0);
  ns_free(previous);
  return exists;
}

bool ns_checkpoint_replaces(const char *path, const char *other) {
  char *previous = joined(path, suffix), *link_name = joined(path, link_suffix);
  bool replaces = ns_file_same(path, other) || (previous && ns_file_same(previous, other)) ||
                  (link_name && ns_file_same(link_name, other));
  ns_free(previous);
  ns_free(link_name);
  return replaces;
}

void ns_checkpoint_clear(NsCheckpoint *pieces) {
  ns_free(pieces->identity);
  ns_free(pieces->note);
  ns_free(pieces->state);
  ns_free(pieces->links);
  *pieces = (NsCheckpoint){0};
}
