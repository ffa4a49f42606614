/*
** proxy.h
** A proxy replaces a callback's number or vector: a dual when it is differentiated, a traced number when it is traced. This
** is the code that both kinds share.
*/
#pragma once

#include "ad/tape.h"
#include "bind/lua/object.h"

/*
** The head of a proxy vector. Element i (from 0) is i * step elements after the first. `tag` identifies the evaluation:
** numbers of two evaluations don't mix. A view (a slice, a row of a matrix) keeps the object that it shows in user value 1.
*/
typedef struct NslProxyVector {
  NslHead head;
  uint64_t tag;
  int n;
  ptrdiff_t step;
  bool readonly;
  const char *label;
} NslProxyVector;

/* An operand: a number (step 0) or a vector, plain or a proxy. Of a matrix only the kind is set. */
typedef struct NslOperand {
  enum { NSL_OTHER, NSL_NUMBER, NSL_VECTOR, NSL_MATRIX } kind;
  bool stands_in;
  int n, np;
  ptrdiff_t step;
  const double *value, *d; /* value: of plain numbers and duals; d: the np derivatives of duals */
  const int *node;         /* of traced numbers */
  uint64_t tag;
  double number;
} NslOperand;

/*
** A kind of proxies. Its functions are called inside closures made by nsl_proxy_type: upvalue 1 is the kind, the next
** `values` upvalues belong to the kind, the last is the function's number. Stack indices are as in the Lua function,
** from its first argument.
*/
typedef struct NslProxy {
  const NslType *number, *vector, *matrix; /* matrix: NULL where there is none */
  int values;
  const char *readonly;                                 /* error for a write to a read-only vector (%s: its name) */
  const char *mixed;                                    /* error for two operands with different tags */
  const char *of_numbers, *of_matrices, *of_remainders; /* errors for operands that are no numbers, for a matrix, for v % w */
  void (*check)(lua_State *L, uint64_t tag);            /* raises when the tag is of an earlier evaluation; NULL: no check */
  lua_CFunction operate; /* the metamethods of operators: numbers are handled there, others by nsl_proxy_arithmetic */
  void (*apply)(lua_State *L, NsTapeOp op, int a, int b); /* pushes op of the numbers at a and b; raises for others */
  void (*read)(lua_State *L, int idx, NslOperand *o);     /* a number or vector of this kind */
  int (*product)(lua_State *L, bool matrix_first);        /* pushes the product of the matrix and the vector at 1 and 2 */

  /* Push: a vector of n elements for the evaluation of `like`; a view of the elements first, first + step ...; element i. */
  NslProxyVector *(*push_vector)(lua_State *L, const NslOperand *like, int n);
  NslProxyVector *(*push_view)(lua_State *L, NslProxyVector *v, int first, ptrdiff_t step, int count);
  void (*push_element)(lua_State *L, const NslProxyVector *v, int i);

  /* Set element i of v: to the number at idx (false: none); to element j of an operand; to op of elements (b NULL: of one). */
  bool (*store)(lua_State *L, NslProxyVector *v, int i, int idx);
  void (*copy)(lua_State *L, NslProxyVector *v, int i, const NslOperand *from, int j);
  void (*combine)(lua_State *L, NslProxyVector *v, int i, NsTapeOp op, const NslOperand *a, int ia, const NslOperand *b,
                  int ib);

  int (*missing)(lua_State *L); /* raises for a method (its name is at 2) that this kind lacks */

  bool records_steps;                        /* math.floor and the like return proxies, else plain numbers */
  void (*logarithm)(lua_State *L);           /* math.log of the numbers at 1 and 2; NULL: uses LOG, LOG2, LOG10 and DIV */
  int (*extreme)(lua_State *L, NsTapeOp op); /* math.max and math.min of the arguments */
  void (*push_value)(lua_State *L, int idx,
                     const char *what); /* pushes the value of the number at idx; or raises that `what` has none */
} NslProxy;

/* As nsl_test, but faster: `least` is the size of the type's struct. */
static inline void *nsl_test_fast(lua_State *L, int idx, const NslType *type, size_t least) {
  NslHead *head = lua_touserdata(L, idx);
  if (!head || lua_rawlen(L, idx) < least) return NULL;
  return head->magic == NSL_MAGIC && head->type == type ? head : NULL;
}

/* Inside a closure: its kind. */
static inline const NslProxy *nsl_proxy(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* Inside a closure: the number of the function, among those with the same body. */
static inline int nsl_proxy_which(lua_State *L) {
  return (int)lua_tointeger(L, lua_upvalueindex(nsl_proxy(L)->values + 2));
}

/* Inside a closure: the proxy vector at idx; raises for anything else. */
NslProxyVector *nsl_check_proxy(lua_State *L, int idx);

/* Inside a closure: the index at stack index 2, from 0, into n elements; messages call them `name`. */
int nsl_proxy_index(lua_State *L, const char *name, int n);

/* Inside a closure: pushes op of the values at 1 and 2, of which one is a vector; raises where op is not defined. */
int nsl_proxy_arithmetic(lua_State *L, NsTapeOp op);

/* Inside a closure: reads the value at idx. Plain vectors are open. */
void nsl_read_operand(lua_State *L, int idx, NslOperand *o);

/* Inside a closure: reads the argument at idx as a vector of n, in the evaluation of `like`; converts a table in its slot. */
void nsl_read_vector_argument(lua_State *L, int idx, const NslOperand *like, int n, const char *who, NslOperand *o);

/* Stores the number at idx as element i of v, or raises "LABEL[i]: number expected, got ...". */
void nsl_proxy_store(lua_State *L, const NslProxy *kind, NslProxyVector *v, int i, int idx);

/* Raises when the plain vector at idx is closed: an allocation may run a finaliser that closes its owner. */
void nsl_operand_alive(lua_State *L, int idx);

/*
** Fills the metatable at stack index `meta`: arithmetic, the metamethods `own`, and, if `methods` is not NULL, `index` as
** __index with the table of methods as its last upvalue.
*/
void nsl_proxy_type(lua_State *L, const NslProxy *kind, int first, int meta, const NslVariant *own, const NslVariant *methods,
                    lua_CFunction index);

/* The same for a metatable of vectors, with everything that vectors of both kinds have. */
void nsl_proxy_vector_type(lua_State *L, const NslProxy *kind, int first, int meta, const NslVariant *own,
                           const NslVariant *methods);

/* Inside an __index made by nsl_proxy_type: pushes the method whose name is at 2; false when there is none. */
bool nsl_push_proxy_method(lua_State *L);
