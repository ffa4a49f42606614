/*
** bytecode.c
** Reads the dump of a function of Lua 5.4, and writes it with other lines.
*/
#include "ad/bytecode.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* HEADER: bytes of a dump before the number of upvalues; NO_LINE: marks an instruction whose line is written in full (ldebug.h). */
enum { HEADER = 31, NO_LINE = -0x80 };

/* Types of constants in a dump (lobject.h). */
enum { DUMPED_NIL, DUMPED_INTEGER = 3, DUMPED_SHORT = 4, DUMPED_FLOAT = 19, DUMPED_LONG = 20 };

/* A dump being copied: what is left of it, where the copy goes, and the instructions that are learnt. */
typedef struct BytecodeCopy {
  const unsigned char *from, *end;
  unsigned char *to;
  bool bad;
  NsBytecode *code;
} BytecodeCopy;

static void copy_bytes(BytecodeCopy *c, size_t n) {
  if ((size_t)(c->end - c->from) < n) c->bad = true;
  if (c->bad) return;
  memcpy(c->to, c->from, n);
  c->to += n;
  c->from += n;
}

/* Reads a number: groups of 7 bits, the last one marked. */
static size_t bytecode_size(BytecodeCopy *c) {
  size_t x = 0;
  bool last = false;
  while (!last && c->from < c->end) {
    x = x << 7 | (*c->from & 0x7f);
    last = *c->from++ & 0x80;
  }
  c->bad = c->bad || !last;
  return c->bad ? 0 : x;
}

static void bytecode_write_size(BytecodeCopy *c, size_t x) {
  unsigned char digits[10];
  int n = 0;
  do digits[n++] = x & 0x7f;
  while ((x >>= 7) > 0);
  for (digits[0] |= 0x80; n > 0 && !c->bad;) *c->to++ = digits[--n];
}

static size_t copy_size(BytecodeCopy *c) {
  size_t x = bytecode_size(c);
  bytecode_write_size(c, x);
  return x;
}

static void copy_string(BytecodeCopy *c) {
  size_t size = copy_size(c);
  if (size > 0) copy_bytes(c, size - 1);
}

/* Copies the code and learns it; returns the number of instructions. */
static int copy_code(BytecodeCopy *c) {
  size_t n = copy_size(c);
  const unsigned char *code = c->from;
  copy_bytes(c, n * sizeof c->code->at->code);
  if (n > (size_t)(c->code->room - c->code->count)) c->bad = true;
  if (c->bad) return 0;
  for (size_t i = 0; i < n; i++) {
    NsInstruction *at = &c->code->at[c->code->count++];
    *at = (NsInstruction){.number = NAN};
    memcpy(&at->code, code + i * sizeof at->code, sizeof at->code);
    if (ns_opcode(at->code) == NS_OP_EQI) at->number = (int)ns_operand_b(at->code) - 127;
  }
  return (int)n;
}

/* A constant is copied, and learnt by the instructions of its function that use it. */
static void copy_constant(BytecodeCopy *c, NsInstruction *code, int n, unsigned number) {
  double value = NAN;
  int64_t integer;
  unsigned char type = c->from < c->end ? *c->from : 0;
  copy_bytes(c, 1);
  bool text = type == DUMPED_SHORT || type == DUMPED_LONG;
  const unsigned char *from = c->from;
  if (text) copy_string(c);
  else if (type == DUMPED_FLOAT || type == DUMPED_INTEGER) copy_bytes(c, 8);
  if (c->bad) return;
  if (type == DUMPED_FLOAT) memcpy(&value, from, sizeof value);
  if (type == DUMPED_INTEGER) memcpy(&integer, from, sizeof integer), value = (double)integer;
  if (type == DUMPED_INTEGER && (int64_t)value != integer) value = NAN;
  size_t length = 0;
  while (text && !(*from++ & 0x80)) continue;
  if (text) length = (size_t)(c->from - from);
  for (int i = 0; i < n; i++) {
    NsOpcode op = ns_opcode(code[i].code);
    if (op == NS_OP_SETTABUP && ns_takes_constant(code[i].code) && ns_operand_c(code[i].code) == number)
      code[i].number = type != DUMPED_NIL;
    if (ns_operand_b(code[i].code) != number) continue;
    if (op == NS_OP_EQK) code[i].number = value;
    if (op == NS_OP_SETTABUP && text) code[i].text = (const char *)from, code[i].length = length;
  }
}

/* Learns the lines of n instructions, and writes 1 as the distance of each from the last. */
static void copy_lines(BytecodeCopy *c, NsInstruction *code, int n, int line) {
  size_t known = bytecode_size(c);
  const signed char *steps = (const signed char *)c->from;
  if (c->bad || (known != 0 && known != (size_t)n) || (size_t)(c->end - c->from) < known) {
    c->bad = true;
    return;
  }
  c->from += known;
  bytecode_write_size(c, (size_t)n);
  memset(c->to, 1, (size_t)n);
  c->to += n;
  size_t absolute = bytecode_size(c);
  bytecode_write_size(c, 0);
  for (int i = 0; i < n; i++) {
    bool jump = known && steps[i] == NO_LINE && absolute > 0;
    if (jump) (void)bytecode_size(c), line = (int)bytecode_size(c), absolute--;
    else if (known) line += steps[i];
    code[i].line = line;
  }
  c->bad = c->bad || absolute > 0;
}

/* Copies a function; the first line of the copy is the number of its first instruction. */
static void copy_function(BytecodeCopy *c) {
  copy_string(c);
  int line = (int)bytecode_size(c), first = c->code->count;
  bytecode_write_size(c, (size_t)(c->code->first + first - 1));
  copy_size(c);
  copy_bytes(c, 3);
  int n = copy_code(c);
  size_t constants = copy_size(c);
  for (unsigned i = 0; i < constants && !c->bad; i++) copy_constant(c, c->code->at + first, n, i);
  copy_bytes(c, 3 * copy_size(c));
  size_t inner = copy_size(c);
  for (size_t i = 0; i < inner && !c->bad; i++) copy_function(c);
  copy_lines(c, c->code->at + first, n, line);
  size_t locals = c->bad ? 0 : copy_size(c);
  for (size_t i = 0; i < locals && !c->bad; i++) copy_string(c), copy_size(c), copy_size(c);
  size_t names = c->bad ? 0 : copy_size(c);
  for (size_t i = 0; i < names && !c->bad; i++) copy_string(c);
}

int ns_bytecode_most(size_t size) {
  return size / sizeof(uint32_t) < INT_MAX ? (int)(size / sizeof(uint32_t)) : INT_MAX;
}

size_t ns_bytecode_space(size_t size) {
  return 3 * size + 64;
}

NsStatus ns_bytecode_copy(NsBytecode *code, const unsigned char *dump, size_t size, unsigned char *to, size_t *length) {
  static const unsigned char begin[] = {0x1b, 'L', 'u', 'a', 0x54, 0, 0x19, 0x93, '\r', '\n', 0x1a, '\n', 4, 8, 8};
  int count = code->count;
  BytecodeCopy c = {dump, dump + size, to, false, code};
  if (size < HEADER + 1 || memcmp(dump, begin, sizeof begin) != 0) return NS_EARG;
  copy_bytes(&c, HEADER + 1);
  copy_function(&c);
  *length = (size_t)(c.to - to);
  NsStatus status = c.bad ? NS_EARG : code->count > code->most ? NS_ETOOLARGE : NS_OK;
  if (status != NS_OK) code->count = count;
  return status;
}
