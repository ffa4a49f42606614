/*
** trace_numbers.h
** Traced numbers: constants, guards, and arithmetic of those that are integers in Lua, or may be, in a closure of the traced types.
*/
#pragma once

#include "bind/diff/trace.h"

static const NslTracedKind nsl_float_kind = {-1, -1, false, false};

static inline bool nsl_is_whole(NslTracedKind kind) {
  return kind.most >= 0 && kind.doubt < 0;
}

/* Pushes a number of the current trace, a float; base: the tracer's index. */
void nsl_push_traced(lua_State *L, int base, int node);

/* The node of a constant; raises when there is no memory. */
int nsl_constant_node(lua_State *L, NslTracer *tracer, double value);

/* Guards a node for the sake of the trace itself: it is no branch of the script (nsl_guard). */
void nsl_guard_silently(lua_State *L, NslTracer *tracer, int node);

/* What the number or traced number at idx is. */
NslTracedKind nsl_traced_kind(lua_State *L, int idx);

/* Pushes a traced number of this kind; returns 1. */
int nsl_push_kind(lua_State *L, int node, NslTracedKind kind);

/* Ends the doubt by a guard: from here on the path has an integer, or a float. */
NslTracedKind nsl_settle_kind(lua_State *L, NslTracedKind kind);

/* Sees to it, by a guard or an error, that an integer, of which *most is known, is one that a double holds exactly. */
void nsl_bound_integer(lua_State *L, int node, double *most);

/* Refuses a plain integer at idx that a double may not hold. */
void nsl_check_constant(lua_State *L, int idx);

/* The kind of the largest or smallest of two numbers of these kinds; chosen: the comparison by which it is the second one. */
NslTracedKind nsl_extreme_kind(lua_State *L, NslTracedKind ka, NslTracedKind kb, int chosen, bool zero_first);

/* Pushes op of the numbers at 1 and 2 (nodes a, b) where both are or may be integers; false: it is one of floats, and nothing is pushed. */
bool nsl_push_whole(lua_State *L, NsTapeOp op, int a, int b);
