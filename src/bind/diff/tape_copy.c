/*
** tape_copy.c
** Copies of functions in Lua: their dump, with other lines.
*/
#include "bind/diff/tape_copy.h"

#include <math.h>
#include <string.h>

/* HEADER: bytes of a dump before the number of upvalues; NO_LINE: marks an instruction whose line is written in full (ldebug.h). */
enum { HEADER = 31, NO_LINE = -0x80 };

/* Types of constants in a dump (lobject.h). */
enum { DUMPED_NIL, DUMPED_INTEGER = 3, DUMPED_SHORT = 4, DUMPED_FLOAT = 19, DUMPED_LONG = 20 };

/* A dump being copied: what is left of it, where the copy goes, and the instructions that are learnt. */
typedef struct Copy {
  const unsigned char *from, *end;
  unsigned char *to;
  bool bad;
  lua_State *L;
  NslCode *code;
  int keep; /* stack index of a table that keeps memory alive */
} Copy;

static void copy_bytes(Copy *c, size_t n) {
  if ((size_t)(c->end - c->from) < n) c->bad = true;
  if (c->bad) return;
  memcpy(c->to, c->from, n);
  c->to += n;
  c->from += n;
}

/* Reads a number: groups of 7 bits, the last one marked. */
static size_t read_size(Copy *c) {
  size_t x = 0;
  bool last = false;
  while (!last && c->from < c->end) {
    x = x << 7 | (*c->from & 0x7f);
    last = *c->from++ & 0x80;
  }
  c->bad = c->bad || !last;
  return c->bad ? 0 : x;
}

static void write_size(Copy *c, size_t x) {
  unsigned char digits[10];
  int n = 0;
  do digits[n++] = x & 0x7f;
  while ((x >>= 7) > 0);
  for (digits[0] |= 0x80; n > 0 && !c->bad;) *c->to++ = digits[--n];
}

static size_t copy_size(Copy *c) {
  size_t x = read_size(c);
  write_size(c, x);
  return x;
}

static void copy_string(Copy *c) {
  size_t size = copy_size(c);
  if (size > 0) copy_bytes(c, size - 1);
}

/* Makes room for more instructions. */
static void copy_grow(Copy *c, size_t more) {
  NslCode *code = c->code;
  if ((size_t)code->count + more > (size_t)code->most)
    luaL_error(c->L, "compile: the callback and the functions that it calls have more than %d instructions", code->most);
  if ((size_t)code->room >= (size_t)code->count + more) return;
  code->room = 2 * code->room + (int)more;
  NslInstruction *at = lua_newuserdatauv(c->L, (size_t)code->room * sizeof *at, 0);
  if (code->count > 0) memcpy(at, code->at, (size_t)code->count * sizeof *at);
  code->at = at;
  lua_rawseti(c->L, c->keep, 0);
}

/* Copies the code and learns it; returns the number of instructions. */
static int copy_code(Copy *c) {
  size_t n = copy_size(c);
  const unsigned char *code = c->from;
  copy_bytes(c, n * sizeof c->code->at->code);
  if (c->bad) return 0;
  copy_grow(c, n);
  for (size_t i = 0; i < n; i++) {
    NslInstruction *at = &c->code->at[c->code->count++];
    *at = (NslInstruction){.number = NAN};
    memcpy(&at->code, code + i * sizeof at->code, sizeof at->code);
    if ((at->code & 0x7f) == NSL_OP_EQI) at->number = (int)nsl_operand_b(at->code) - 127;
  }
  return (int)n;
}

/* A constant is copied, and learnt by the instructions of its function that use it. */
static void copy_constant(Copy *c, NslInstruction *code, int n, unsigned number) {
  double value = NAN;
  lua_Integer integer;
  unsigned char type = c->from < c->end ? *c->from : 0;
  copy_bytes(c, 1);
  bool text = type == DUMPED_SHORT || type == DUMPED_LONG;
  const unsigned char *from = c->from;
  if (text) copy_string(c);
  else if (type == DUMPED_FLOAT || type == DUMPED_INTEGER) copy_bytes(c, 8);
  if (c->bad) return;
  if (type == DUMPED_FLOAT) memcpy(&value, from, sizeof value);
  if (type == DUMPED_INTEGER) memcpy(&integer, from, sizeof integer), value = (double)integer;
  if (type == DUMPED_INTEGER && (lua_Integer)value != integer) value = NAN;
  size_t length = 0;
  while (text && !(*from++ & 0x80)) continue;
  if (text) length = (size_t)(c->from - from);
  for (int i = 0; i < n; i++) {
    unsigned op = code[i].code & 0x7f;
    if (op == NSL_OP_SETTABUP && nsl_takes_constant(code[i].code) && nsl_operand_c(code[i].code) == number)
      code[i].number = type != DUMPED_NIL;
    if (nsl_operand_b(code[i].code) != number) continue;
    if (op == NSL_OP_EQK) code[i].number = value;
    if (op == NSL_OP_SETTABUP && text) code[i].text = (const char *)from, code[i].length = length;
  }
}

/* Learns the lines of n instructions, and writes 1 as the distance of each from the last. */
static void copy_lines(Copy *c, NslInstruction *code, int n, int line) {
  size_t known = read_size(c);
  const signed char *steps = (const signed char *)c->from;
  if (c->bad || (known != 0 && known != (size_t)n) || (size_t)(c->end - c->from) < known) {
    c->bad = true;
    return;
  }
  c->from += known;
  write_size(c, (size_t)n);
  memset(c->to, 1, (size_t)n);
  c->to += n;
  size_t absolute = read_size(c);
  write_size(c, 0);
  for (int i = 0; i < n; i++) {
    bool jump = known && steps[i] == NO_LINE && absolute > 0;
    if (jump) (void)read_size(c), line = (int)read_size(c), absolute--;
    else if (known) line += steps[i];
    code[i].line = line;
  }
  c->bad = c->bad || absolute > 0;
}

/* Copies a function; the first line of the copy is the number of its first instruction. */
static void copy_function(Copy *c) {
  copy_string(c);
  int line = (int)read_size(c), first = c->code->count;
  write_size(c, (size_t)(c->code->first + first - 1));
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

/* A place for a dump; at NULL: only its size is wanted. */
typedef struct Dump {
  unsigned char *at;
  size_t size;
} Dump;

static int copy_take_dump(lua_State *L, const void *bytes, size_t n, void *data) {
  Dump *dump = data;
  (void)L;
  if (dump->at && n > 0) memcpy(dump->at + dump->size, bytes, n);
  dump->size += n;
  return 0;
}

bool nsl_push_copy(lua_State *L, NslCode *code, int keep, int idx) {
  static const unsigned char begin[] = {0x1b, 'L', 'u', 'a', 0x54, 0, 0x19, 0x93, '\r', '\n', 0x1a, '\n', 4, 8, 8};
  Dump dump = {NULL, 0};
  int top = lua_gettop(L), count = code->count;
  lua_pushvalue(L, idx);
  (void)lua_dump(L, copy_take_dump, &dump, 0);
  size_t size = dump.size;
  dump = (Dump){lua_newuserdatauv(L, 4 * size + 64, 0), 0};
  lua_rawseti(L, keep, (lua_Integer)lua_rawlen(L, keep) + 1);
  (void)lua_dump(L, copy_take_dump, &dump, 0);
  Copy c = {dump.at, dump.at + size, dump.at + size, size < HEADER + 1, L, code, keep};
  if (c.bad || memcmp(dump.at, begin, sizeof begin) != 0) return lua_settop(L, top), false;
  copy_bytes(&c, HEADER + 1);
  copy_function(&c);
  if (c.bad) code->count = count;
  bool good = !c.bad && luaL_loadbufferx(L, (const char *)dump.at + size, (size_t)(c.to - dump.at) - size, "=", "b") == LUA_OK;
  if (good) lua_replace(L, top + 1);
  lua_settop(L, top + good);
  return good;
}
