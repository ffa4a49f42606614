/*
** trace.h
** The userdata that stand for numbers, vectors and matrices while a callback is traced.
*/
#ifndef NSL_DIFF_TRACE_H
#define NSL_DIFF_TRACE_H

#include "ad/tape.h"
#include "bind/lua/object.h"

/* The trace under way; one for a Lua state. tape is NULL when there is none; tag tells one trace from another. */
typedef struct NslTracer {
  NsTape *tape;
  uint64_t tag, last;
} NslTracer;

/* A number: a node of the tape. Immutable. */
typedef struct NslTraced {
  NslHead head;
  uint64_t tag;
  int node;
} NslTraced;

/*
** Element i (from 0) is the node node[i * step]. A view (a slice, a row of a matrix) has the object that it looks at in
** user value 1. *written is set when an element is.
*/
typedef struct NslTracedVector {
  NslHead head;
  uint64_t tag;
  int *node, n;
  ptrdiff_t step;
  bool readonly, *written, own_written;
  const char *label;
  int own[];
} NslTracedVector;

/* Entry (i, j), from 0, is own[i + j * rows]. */
typedef struct NslTracedMatrix {
  NslHead head;
  uint64_t tag;
  int rows, cols;
  bool readonly, written;
  const char *label;
  int own[];
} NslTracedMatrix;

extern const NslType nsl_traced_type, nsl_traced_vector_type, nsl_traced_matrix_type;

NslTraced *nsl_test_traced(lua_State *L, int idx);
NslTracedVector *nsl_test_traced_vector(lua_State *L, int idx);
NslTracedMatrix *nsl_test_traced_matrix(lua_State *L, int idx);

/*
** Every function of these files is a closure on the tracer and the metatables. Code elsewhere has them on the stack in
** this order, the first at `base`.
*/
enum { NSL_TRACER = 1, NSL_TRACED_META, NSL_TRACED_VECTOR_META, NSL_TRACED_MATRIX_META, NSL_TRACE_UPVALUES = 4 };

/* Pushes the tracer and the metatables, made once for a state; returns the tracer. */
NslTracer *nsl_push_tracer(lua_State *L);

/*
** Push a number, a vector of nodes first, first + 1 .., and a matrix of such, of the trace under way; base: the stack
** index of the tracer.
*/
void nsl_push_traced(lua_State *L, int base, int node);
NslTracedVector *nsl_push_traced_vector(lua_State *L, int base, int n, int first, const char *label);
NslTracedMatrix *nsl_push_traced_matrix(lua_State *L, int base, int rows, int cols, int first, const char *label);

/*
** From inside a closure of these files: the node of the number or traced number at idx, -1 when it is neither. Raises for a
** value of another trace.
*/
int nsl_traced_node(lua_State *L, int idx);

/* From inside a closure of these files: records an operation and pushes its result. */
int nsl_record(lua_State *L, NsTapeOp op, int a, int b);

/* The node of a constant; raises when there is no memory. */
int nsl_constant_node(lua_State *L, NslTracer *tracer, double value);

/* Raises "compile: WHAT of a traced value: a traced callback ...". */
int nsl_untraceable(lua_State *L, const char *what);

/* The metamethods of arithmetic, for all three types: elementwise where there is a vector. */
extern const luaL_Reg nsl_traced_arithmetic[];

/* Sets the metamethods and methods of vectors and matrices; the tracer and the metatables are on top, and stay. */
void nsl_traced_vector_register(lua_State *L);

/*
** Pushes the table that maps each function of the math library to one that takes traced numbers too and is otherwise
** the same. Expects the tracer and the metatables on top of the stack, and leaves them below the table.
*/
void nsl_trace_math(lua_State *L);

#endif
