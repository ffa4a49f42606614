/*
** tape_watch.h
** Watches a function in Lua, instruction by instruction, while it is traced: what Lua does with a number without asking it.
*/
#pragma once

#include "bind/diff/trace_numbers.h"

/*
** Lua asks a number-like object about `x < 1`, and not about `x == 1`, t[x], the limit of a loop, type(x). While a watch is on, a hook looks
** at each instruction of a copy of the function: it records a guard and lets the instruction have the plain number. It refuses side effects
** by name: assignments to variables of the script, print and its kind. The copy has the same code and shares its variables; its lines number
** the instructions, which is how the hook knows where it is. (A hook learns a line, not an instruction.) The functions that the copy
** calls are copied, too; those that C calls by itself (a metamethod in Lua) are not watched. Bytecode of Lua 5.4; without it (another
** format) nothing is watched.
*/
typedef struct NslWatch NslWatch;

/* Pushes a new watch and begins it; ends it, also after an error. Watches nest. lenient: side effects are let happen. exact: nothing that
** was there before the trace is written to, not even by traced values. */
NslWatch *nsl_watch_begin(lua_State *L, NslTracer *tracer, bool lenient, bool exact);
void nsl_watch_end(lua_State *L, NslWatch *watch);

/* Replaces the Lua function on top of the stack by its watched copy; without a watch it stays. */
void nsl_watch_function(lua_State *L);

/* Replaces the numbers of instructions in the message on top of the stack by lines. */
void nsl_watch_place(lua_State *L, const NslWatch *watch);

/*
** Appends the variables of the script (upvalues) that were met by the watch at index `at`, with the values (numbers, booleans, strings, nil)
** that they had, to a list: the stack of a thread that never runs. nsl_watch_same: whether they have these values still.
*/
void nsl_watch_variables(lua_State *L, int at, lua_State *list);
bool nsl_watch_same(lua_State *list);
