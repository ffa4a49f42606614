/*
** stand_in.h
** Numbers and vectors that stand in for those of a callback while it is differentiated (dual) or traced: what both kinds share.
*/
#ifndef NSL_DIFF_STAND_IN_H
#define NSL_DIFF_STAND_IN_H

#include "ad/tape.h"
#include "bind/lua/object.h"

/*
** The head of a vector. Element i (from 0) lies i * step elements behind the first. The tag tells one evaluation from another:
** numbers of two do not mix. A view (a slice, a row of a matrix) has the object that it looks at in user value 1.
*/
typedef struct NslStandInVector {
  NslHead head;
  uint64_t tag;
  int n;
  ptrdiff_t step;
  bool readonly;
  const char *label;
} NslStandInVector;

/* What an operation reads: a number (step 0) or a vector, plain or of the kind that stands in. A matrix is only told by its kind. */
typedef struct NslOperand {
  enum { NSL_OTHER, NSL_NUMBER, NSL_VECTOR, NSL_MATRIX } kind;
  bool stands_in;
  int n, np;
  ptrdiff_t step;
  const double *value, *d; /* of plain and of dual numbers; the np derivatives of the latter */
  const int *node;         /* of traced numbers */
  uint64_t tag;
  double number;
} NslOperand;

/*
** A kind of stand-ins. Its functions are called from within closures that nsl_stand_in_type makes: upvalue 1 is the kind,
** `values` more are its own, and then there is the function's number. Stack indices are those of Lua's arguments.
*/
typedef struct NslStandIn {
  const NslType *number, *vector, *matrix; /* matrix: NULL where there is none */
  int values;
  const char *readonly;                                 /* the error of a write, with the name of the vector (%s) */
  const char *mixed;                                    /* the error of two operands with two tags */
  const char *of_numbers, *of_matrices, *of_remainders; /* what is said of operands that are none, of a matrix, of v % w */
  void (*check)(lua_State *L, uint64_t tag);            /* raises for the tag of an earlier evaluation; NULL: none is known */
  lua_CFunction operate;                                /* the operators: of numbers itself, else by nsl_stand_in_arithmetic */
  void (*apply)(lua_State *L, NsTapeOp op, int a, int b); /* pushes op of what stands there; raises unless they are numbers */
  void (*read)(lua_State *L, int idx, NslOperand *o);     /* a number or vector of this kind */
  int (*product)(lua_State *L, bool matrix_first);        /* pushes the product of a matrix and a vector at 1 and 2 */

  /* Push a vector of n elements, which belongs with the operand; a view of elements first, first + step ...; element i. */
  NslStandInVector *(*push_vector)(lua_State *L, const NslOperand *like, int n);
  NslStandInVector *(*push_view)(lua_State *L, NslStandInVector *v, int first, ptrdiff_t step, int count);
  void (*push_element)(lua_State *L, const NslStandInVector *v, int i);

  /* Element i of v becomes the number at idx (false: it is none), element j of an operand, op of two elements (b NULL: of one). */
  bool (*store)(lua_State *L, NslStandInVector *v, int i, int idx);
  void (*copy)(lua_State *L, NslStandInVector *v, int i, const NslOperand *from, int j);
  void (*combine)(lua_State *L, NslStandInVector *v, int i, NsTapeOp op, const NslOperand *a, int ia, const NslOperand *b,
                  int ib);

  void (*refuse_choice)(
      lua_State *L);            /* raises for a number that stands in as an index; NULL: it is a wrong index like others */
  int (*missing)(lua_State *L); /* the method at 2, which vectors of this kind do not have */

  bool records_steps;              /* math.floor and the like give numbers of this kind, else plain ones */
  void (*logarithm)(lua_State *L); /* math.log of the numbers at 1 and 2; NULL: by the operations LOG, LOG2, LOG10 and DIV */
  int (*extreme)(lua_State *L, NsTapeOp op);                   /* math.max and math.min of the arguments */
  void (*push_value)(lua_State *L, int idx, const char *what); /* of the number at idx; or raises that `what` it has none */
} NslStandIn;

/* The same as nsl_test, for the hot path: `least` is the size of the type's struct. */
static inline void *nsl_test_fast(lua_State *L, int idx, const NslType *type, size_t least) {
  NslHead *head = lua_touserdata(L, idx);
  if (!head || lua_rawlen(L, idx) < least) return NULL;
  return head->magic == NSL_MAGIC && head->type == type ? head : NULL;
}

/* From inside a closure: its kind. */
static inline const NslStandIn *nsl_stand_in(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* From inside a closure: which of the functions with one body it is. */
static inline int nsl_stand_in_which(lua_State *L) {
  return (int)lua_tointeger(L, lua_upvalueindex(nsl_stand_in(L)->values + 2));
}

/* From inside a closure: the vector that stands in at idx; raises for anything else. */
NslStandInVector *nsl_check_stand_in(lua_State *L, int idx);

/* From inside a closure: the index at 2, from 0, into n elements of what is called `name`. */
int nsl_stand_in_index(lua_State *L, const char *name, int n);

/* From inside a closure: pushes op of what stands at 1 and 2, one of them a vector; raises where that is not defined. */
int nsl_stand_in_arithmetic(lua_State *L, NsTapeOp op);

/* From inside a closure: reads what stands at idx. Plain vectors are open. */
void nsl_read_operand(lua_State *L, int idx, NslOperand *o);

/*
** From inside a closure: the argument at idx as a vector of n elements, in an evaluation that `like` is of; a table of numbers is
** converted in its slot.
*/
void nsl_read_vector_argument(lua_State *L, int idx, const NslOperand *like, int n, const char *who, NslOperand *o);

/* Stores the number at idx as element i of v, or raises "LABEL[i]: number expected, got ...". */
void nsl_stand_in_store(lua_State *L, const NslStandIn *kind, NslStandInVector *v, int i, int idx);

/* A plain vector may be a view whose owner was closed by a finaliser during an allocation: raises when that at idx is closed. */
void nsl_operand_alive(lua_State *L, int idx);

/*
** Gives the metatable at stack index `meta` arithmetic, its own metamethods and, where `methods` is not NULL, an __index: `index` on the table
** of methods, which is the last upvalue then.
*/
void nsl_stand_in_type(lua_State *L, const NslStandIn *kind, int first, int meta, const NslVariant *own,
                       const NslVariant *methods, lua_CFunction index);

/* The same for the metatable of vectors, with all that vectors of both kinds have. */
void nsl_stand_in_vector_type(lua_State *L, const NslStandIn *kind, int first, int meta, const NslVariant *own,
                              const NslVariant *methods);

/* From inside an __index of nsl_stand_in_type: pushes the method at 2; false when there is none. */
bool nsl_push_stand_in_method(lua_State *L);

#endif
