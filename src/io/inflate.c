/*
** inflate.c
** Decodes canonical Huffman codes one length at a time (RFC 1951).
*/
#include "io/inflate.h"

#include <stdint.h>
#include <string.h>

enum { MAX_BITS = 15, LITERALS = 288, DISTANCES = 30, LENGTH_CODES = 19, END = 256 };

typedef struct Stream {
  const unsigned char *from;
  size_t size, at;
  uint32_t bits; /* bits that were read but not used; the lowest is next */
  int count;
  char *to;
  size_t room, used;
  bool failed;
} Stream;

/* A canonical code: the number of symbols for each length, and the symbols sorted by length, then by value. */
typedef struct Code {
  uint16_t count[MAX_BITS + 1], symbol[LITERALS];
} Code;

/* Returns the next n bits (at most 16); sets `failed` at the end of the data. */
static unsigned inflate_take(Stream *s, int n) {
  while (s->count < n) {
    if (s->at == s->size) {
      s->failed = true;
      return 0;
    }
    s->bits |= (uint32_t)s->from[s->at++] << s->count;
    s->count += 8;
  }
  unsigned value = s->bits & ((1u << n) - 1);
  s->bits >>= n;
  s->count -= n;
  return value;
}

/* Builds a code from the lengths of n symbols; false when the lengths are over-subscribed. */
static bool inflate_build(Code *code, const uint8_t *lengths, int n) {
  uint16_t start[MAX_BITS + 2] = {0};
  int left = 1;
  memset(code, 0, sizeof *code);
  for (int i = 0; i < n; i++) code->count[lengths[i]]++;
  code->count[0] = 0;
  for (int l = 1; l <= MAX_BITS; l++) {
    left = 2 * left - code->count[l];
    if (left < 0) return false;
    start[l + 1] = (uint16_t)(start[l] + code->count[l]);
  }
  for (int i = 0; i < n; i++)
    if (lengths[i]) code->symbol[start[lengths[i]]++] = (uint16_t)i;
  return true;
}

/* The next symbol; -1 when the bits are not a code. */
static int decode(Stream *s, const Code *code) {
  int value = 0, first = 0, index = 0;
  for (int l = 1; l <= MAX_BITS; l++) {
    value |= (int)inflate_take(s, 1);
    if (s->failed) return -1;
    int count = code->count[l];
    if (value - first < count) return code->symbol[index + value - first];
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  return -1;
}

static bool copy_back(Stream *s, size_t length, size_t distance) {
  if (distance > s->used || length > s->room - s->used) return false;
  for (size_t i = 0; i < length; i++) s->to[s->used + i] = s->to[s->used + i - distance]; /* they may overlap */
  s->used += length;
  return true;
}

/* Unpacks the symbols of one block. */
static bool compressed(Stream *s, const Code *literals, const Code *distances) {
  static const uint16_t base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                    31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
  static const uint8_t extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  static const uint16_t far_base[DISTANCES] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                               33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                               1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
  for (;;) {
    int symbol = decode(s, literals);
    if (symbol < 0 || symbol > END + 29) return false;
    if (symbol == END) return true;
    if (symbol < END) {
      if (s->used == s->room) return false;
      s->to[s->used++] = (char)symbol;
      continue;
    }
    size_t length = base[symbol - END - 1] + inflate_take(s, extra[symbol - END - 1]);
    int far = decode(s, distances);
    if (far < 0 || far >= DISTANCES) return false;
    size_t distance = far_base[far] + inflate_take(s, far < 2 ? 0 : far / 2 - 1);
    if (s->failed || !copy_back(s, length, distance)) return false;
  }
}

static bool stored(Stream *s) {
  s->bits = 0;
  s->count = 0;
  if (s->size - s->at < 4) return false;
  const unsigned char *u = s->from + s->at;
  size_t length = u[0] | (size_t)u[1] << 8;
  if ((length ^ 0xffff) != (u[2] | (size_t)u[3] << 8)) return false;
  s->at += 4;
  if (length > s->size - s->at || length > s->room - s->used) return false;
  memcpy(s->to + s->used, s->from + s->at, length);
  s->at += length;
  s->used += length;
  return true;
}

static bool inflate_fixed(Stream *s) {
  uint8_t lengths[LITERALS];
  Code literals, distances;
  for (int i = 0; i < LITERALS; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  inflate_build(&literals, lengths, LITERALS);
  memset(lengths, 5, DISTANCES);
  inflate_build(&distances, lengths, DISTANCES);
  return compressed(s, &literals, &distances);
}

/* The code lengths of a dynamic block, run-length coded. */
static bool read_lengths(Stream *s, uint8_t *lengths, int total, const Code *code) {
  for (int i = 0; i < total;) {
    int symbol = decode(s, code), value = 0, repeat = 1;
    if (symbol < 0) return false;
    if (symbol < 16) {
      value = symbol;
    } else if (symbol == 16) {
      if (i == 0) return false;
      value = lengths[i - 1];
      repeat = 3 + (int)inflate_take(s, 2);
    } else {
      repeat = symbol == 17 ? 3 + (int)inflate_take(s, 3) : 11 + (int)inflate_take(s, 7);
    }
    if (s->failed || repeat > total - i) return false;
    while (repeat-- > 0) lengths[i++] = (uint8_t)value;
  }
  return true;
}

static bool dynamic(Stream *s) {
  static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  uint8_t lengths[LITERALS + 32] = {0};
  Code code, literals, distances;
  int nliterals = 257 + (int)inflate_take(s, 5), ndistances = 1 + (int)inflate_take(s, 5), ncodes = 4 + (int)inflate_take(s, 4);
  if (nliterals > 286 || ndistances > DISTANCES) return false;
  for (int i = 0; i < ncodes; i++) lengths[order[i]] = (uint8_t)inflate_take(s, 3);
  if (s->failed || !inflate_build(&code, lengths, LENGTH_CODES)) return false;
  memset(lengths, 0, sizeof lengths);
  if (!read_lengths(s, lengths, nliterals + ndistances, &code) || lengths[END] == 0) return false;
  return inflate_build(&literals, lengths, nliterals) && inflate_build(&distances, lengths + nliterals, ndistances) &&
         compressed(s, &literals, &distances);
}

bool ns_inflate(const char *from, size_t size, char *to, size_t room) {
  Stream s = {.from = (const unsigned char *)from, .size = size, .to = to, .room = room};
  for (bool last = false; !last;) {
    last = inflate_take(&s, 1);
    unsigned kind = inflate_take(&s, 2);
    if (s.failed) return false;
    bool good = kind == 0 ? stored(&s) : kind == 1 ? inflate_fixed(&s) : kind == 2 ? dynamic(&s) : false;
    if (!good) return false;
  }
  return s.used == room;
}
