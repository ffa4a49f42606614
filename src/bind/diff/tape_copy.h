/*
** tape_copy.h
** Copies of functions in Lua whose lines number their instructions: a hook learns a line, not an instruction.
*/
#pragma once

#include "bind/lua/object.h"

/* Instructions of Lua 5.4 (lopcodes.h) whose operands Lua compares or uses itself, or that read and assign variables, call, and make tables. */
enum {
  NSL_OP_GETUPVAL = 9,
  NSL_OP_SETUPVAL = 10,
  NSL_OP_GETTABLE = 12,
  NSL_OP_SETTABUP = 15,
  NSL_OP_SETTABLE = 16,
  NSL_OP_SETI = 17,
  NSL_OP_SETFIELD = 18,
  NSL_OP_NEWTABLE = 19,
  NSL_OP_EQ = 57,
  NSL_OP_EQK = 60,
  NSL_OP_EQI = 61,
  NSL_OP_CALL = 68,
  NSL_OP_TAILCALL = 69,
  NSL_OP_FORPREP = 74,
  NSL_OP_TFORCALL = 76
};

/*
** An instruction and its line in the source. number: the constant of EQK and EQI, nan: none; of SETTABUP: 1 when it assigns a constant, 0 when
** that is nil. text: the key of SETTABUP.
*/
typedef struct NslInstruction {
  uint32_t code;
  int line;
  double number;
  const char *text;
  size_t length;
} NslInstruction;

/* The instructions of copies: line first + i of a copy is at[i]. most: of `count`. */
typedef struct NslCode {
  int first, count, room, most;
  NslInstruction *at;
} NslCode;

static inline unsigned nsl_operand_a(uint32_t i) {
  return i >> 7 & 0xff;
}

static inline unsigned nsl_operand_b(uint32_t i) {
  return i >> 16 & 0xff;
}

static inline unsigned nsl_operand_c(uint32_t i) {
  return i >> 24;
}

static inline bool nsl_takes_constant(uint32_t i) {
  return i >> 15 & 1;
}

/*
** Pushes a copy of the Lua function at idx, with no variables of its own yet (upvalues), and appends its instructions to `code`. keep: the
** index of a table that holds the memory. False, and nothing is pushed: the bytecode has another format.
*/
bool nsl_push_copy(lua_State *L, NslCode *code, int keep, int idx);
