/*
** trace.h
** The userdata that replace numbers, vectors and matrices while a callback is traced.
*/
#pragma once

#include "bind/diff/proxy.h"

/*
** The current trace, one for each Lua state. tape is NULL when there is none; tag identifies the trace. made_text: a value became text,
** which is for messages of errors alone: see nsl_refuse_text.
*/
typedef struct NslTracer {
  NsTape *tape;
  uint64_t tag, last;
  bool made_text, smooth; /* smooth: branches are refused */
} NslTracer;

/*
** What a number is in Lua. most: an integer whose modulus is at most this, inf: unknown; negative: a float. doubt (-1: none): an integer, as told
** by `most`, unless this node, a comparison, has the value `other`: math.max(0, x) is the integer 0 or the float x. zero: then 0 is the integer.
*/
typedef struct NslTracedKind {
  double most;
  int doubt;
  bool other, zero;
} NslTracedKind;

/* A number: a node of the tape. Immutable. */
typedef struct NslTraced {
  NslHead head;
  uint64_t tag;
  int node;
  NslTracedKind kind;
} NslTraced;

/* Element i (from 0) is node[i * base.step]. A write to an element sets *written. */
typedef struct NslTracedVector {
  NslProxyVector base;
  int *node;
  bool *written, own_written;
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

static inline NslTraced *nsl_test_traced(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_traced_type, sizeof(NslTraced));
}

static inline NslTracedVector *nsl_test_traced_vector(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_traced_vector_type, sizeof(NslTracedVector));
}

static inline NslTracedMatrix *nsl_test_traced_matrix(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_traced_matrix_type, sizeof(NslTracedMatrix));
}

/* Traced numbers as a kind of proxies; its values (upvalues) are the tracer and the three metatables. */
extern const NslProxy nsl_traces;
enum { NSL_TRACE_UPVALUES = 4, NSL_TRACER = 2 }; /* the second upvalue is the tracer */

/* Pushes these values, which are made once in a Lua state; returns the tracer. */
NslTracer *nsl_push_tracer(lua_State *L);

/* Push a vector of nodes first, first + 1, ..., or such a matrix, of the current trace; base: the tracer's index. */
NslTracedVector *nsl_push_traced_vector(lua_State *L, int base, int n, int first, const char *label);
NslTracedMatrix *nsl_push_traced_matrix(lua_State *L, int base, int rows, int cols, int first, const char *label);

/* Keeps the object at idx, whose address is an operand of the current trace, alive as long as the path (NSL_PATH_KEPT). */
void nsl_tracer_keep(lua_State *L, int idx);
/* Guards a node of the current trace. */
void nsl_guard(lua_State *L, NslTracer *tracer, int node);

/* Pushes the value of a node as a plain number, and guards it: an integer where the value changes in steps. */
void nsl_freeze(lua_State *L, NslTracer *tracer, int node);

/* Pushes the present value of the traced number at idx as text; raises, after the trace, that this is no part of a path. */
void nsl_push_traced_text(lua_State *L, NslTracer *tracer, int idx);
void nsl_refuse_text(lua_State *L, const NslTracer *tracer);
