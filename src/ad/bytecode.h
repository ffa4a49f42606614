/*
** bytecode.h
** Bytecode of Lua 5.4: instructions, and copies of functions whose lines number them (a hook learns a line, not an instruction).
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Instructions of Lua 5.4 (lopcodes.h) whose operands Lua compares or uses itself, or that read and assign variables, call, and make tables. */
typedef enum NsOpcode {
  NS_OP_GETUPVAL = 9,
  NS_OP_SETUPVAL = 10,
  NS_OP_GETTABLE = 12,
  NS_OP_SETTABUP = 15,
  NS_OP_SETTABLE = 16,
  NS_OP_SETI = 17,
  NS_OP_SETFIELD = 18,
  NS_OP_NEWTABLE = 19,
  NS_OP_EQ = 57,
  NS_OP_EQK = 60,
  NS_OP_EQI = 61,
  NS_OP_CALL = 68,
  NS_OP_TAILCALL = 69,
  NS_OP_FORPREP = 74,
  NS_OP_TFORCALL = 76
} NsOpcode;

/*
** An instruction and its line in the source. number: the constant of EQK and EQI, nan: none; of SETTABUP: 1 when it assigns a constant, 0 when
** that is nil. text: the key of SETTABUP, in the memory of the dump.
*/
typedef struct NsInstruction {
  uint32_t code;
  int line;
  double number;
  const char *text;
  size_t length;
} NsInstruction;

/* The instructions of copies, in the caller's memory for `room` of them: line first + i of a copy is at[i]. most: of `count`. */
typedef struct NsBytecode {
  int first, count, room, most;
  NsInstruction *at;
} NsBytecode;

static inline NsOpcode ns_opcode(uint32_t i) {
  return (NsOpcode)(i & 0x7f);
}

static inline unsigned ns_operand_a(uint32_t i) {
  return i >> 7 & 0xff;
}

static inline unsigned ns_operand_b(uint32_t i) {
  return i >> 16 & 0xff;
}

static inline unsigned ns_operand_c(uint32_t i) {
  return i >> 24;
}

static inline bool ns_takes_constant(uint32_t i) {
  return i >> 15 & 1;
}

/* The distance of the jump that stands after a comparison. */
static inline int ns_jump_of(uint32_t i) {
  return (int)(i >> 7) - 0xffffff;
}

/* The most instructions that a dump of `size` bytes can have, and the bytes that its copy needs at most. */
int ns_bytecode_most(size_t size);
size_t ns_bytecode_space(size_t size);

/*
** Copies the dump of a function (lua_dump, with its lines) to `to`, where ns_bytecode_space(size) bytes are, with the number of each instruction
** as its line, and appends the instructions, for which there is room, to `code`. *length: the bytes of the copy. NS_EARG: the dump has another
** format; NS_ETOOLARGE: there would be more than code->most instructions. Then `code` is as it was.
*/
NsStatus ns_bytecode_copy(NsBytecode *code, const unsigned char *dump, size_t size, unsigned char *to, size_t *length);
