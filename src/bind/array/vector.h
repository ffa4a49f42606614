/*
** vector.h
** The vector userdata: n doubles of its own, or a live view of another object's.
*/
#pragma once

#include <string.h>

#include "bind/lua/object.h"
#include "linalg/array_text.h"
#include "linalg/samples.h"

/*
** Element i (from 0) is data[i * stride]. A view has an owner, anchored in user value 1, whose storage does not move; when the
** owner is closed the view raises. Every write adds 1 to *version (never NULL): the owner's counter for a view, otherwise
** own_version. `label` is the vector's name in messages ("r", "x0"; static storage; NULL: "vector"). An argument of callbacks, which
** nsl_vector_load alone writes, has `reads` > 0 until its elements are read from Lua's table (user value 1); then the bits of `mirrored`
** tell which elements that table holds.
*/
typedef struct NslVector {
  NslHead head;
  double *data;
  ptrdiff_t stride;
  int n, row; /* row: its number, from 1, when it is a row of a matrix; else 0 */
  bool readonly;
  uint8_t reads;
  uint64_t mirrored;
  const char *label;
  uint64_t *version;
  uint64_t own_version;
  double own[];
} NslVector;

/*
** nsl_vector_argument makes a new vector an argument of callbacks: it is read-only, and Lua reads its numbers from a table when they are few.
** nsl_vector_load sets the numbers of such an argument, which is on top of the stack.
*/
void nsl_vector_argument(NslVector *v);
void nsl_vector_reload(lua_State *L, NslVector *v, const double *from);
static inline void nsl_vector_load(lua_State *L, NslVector *v, const double *from) {
  int i = 0;
  while (i < v->n && memcmp(&v->data[i], &from[i], sizeof *from) == 0) i++;
  if (i < v->n) nsl_vector_reload(L, v, from);
}

extern const NslType nsl_vector_type;

/* The vector at idx or NULL; raises nothing. */
NslVector *nsl_test_vector(lua_State *L, int idx);

/* The open vector at idx, else an error. */
NslVector *nsl_check_vector(lua_State *L, int idx);

/* Raises when the vector or its owner is closed: "vector 'x' belongs to a closed FirstOrderLinearDS". */
void nsl_vector_alive(lua_State *L, const NslVector *v);

/* Pushes a new zeroed vector of n elements with storage of its own. Raises when n < 0 or too large. */
NslVector *nsl_push_vector(lua_State *L, lua_Integer n, const char *label);

/* Pushes a contiguous copy of a vector, without a label. */
NslVector *nsl_push_vector_copy(lua_State *L, const NslVector *v);

/* Pushes a view of n doubles of the object at owner_idx (with an NslHead). version NULL: it has a counter of its own. */
NslVector *nsl_push_vector_view(lua_State *L, int owner_idx, double *data, int n, ptrdiff_t stride, const char *label,
                                uint64_t *version);

/*
** Makes sure that idx holds a vector of n doubles, finite or not; n < 0 accepts any length. A vector stays as it is; a table
** of numbers, or a number when n is 1, is converted, and the vector replaces it. Otherwise raises "WHO: WHAT: expected a
** vector of N, got ..."; an element that is no number is named: "WHO: x0[3]: ...".
*/
NslVector *nsl_to_vector(lua_State *L, int idx, int n, const char *who, const char *what);

/* As nsl_to_vector, and every element must be finite: "WHO: x0[2] is nan". */
NslVector *nsl_to_finite_vector(lua_State *L, int idx, int n, const char *who, const char *what);

/* Sets a field of the table on top of the stack to a vector of n numbers. */
void nsl_set_vector(lua_State *L, const char *name, int n, const double *x);

/* Pushes the text of the elements of a view, if it is still open then; returns 1. */
int nsl_push_text(lua_State *L, const NslHead *view, size_t (*write)(char *to, const NsGrid *of), const NsGrid *of);

/* Copies the elements to / from a contiguous array of v->n doubles (nsl_vector_write counts as a write). */
void nsl_vector_read(const NslVector *v, double *to);
void nsl_vector_write(NslVector *v, const double *from);

/*
** Reads elements 1 to n of the table at idx into to[i * stride] (to NULL: only checks them). An error names the element: "WHO:
** x0[3]: expected a number, got string"; without "WHO: " when who is NULL.
*/
void nsl_table_numbers(lua_State *L, int idx, int n, double *to, ptrdiff_t stride, const char *who, const char *what);

/* Raises "WHO: WHAT[i] is nan" for an element that is not finite (i from 1). */
void nsl_vector_must_be_finite(lua_State *L, const NslVector *v, const char *who, const char *what);

/* The method v:assign(source), v at 1 and source at 2; may also be called from another C function. */
int nsl_vector_assign(lua_State *L);

/* Element i, from 0; nothing is checked. */
static inline double nsl_element(const NslVector *v, int i) {
  return v->data[(ptrdiff_t)i * v->stride];
}

/* The elements of an open vector, for the engine. */
NsSamples nsl_samples(lua_State *L, const NslVector *v);

/* Raises "LABEL is read-only" unless the vector may be written. */
void nsl_vector_writable(lua_State *L, const NslVector *v);

/* The index at stack index 2 into a vector of n, from 0; -1 when it is not valid (nsl_bad_index raises the reason). */
static inline int nsl_index(lua_State *L, int n) {
  int good = 0;
  lua_Unsigned i = lua_type(L, 2) == LUA_TNUMBER ? (lua_Unsigned)lua_tointegerx(L, 2, &good) - 1 : 0;
  return good && i < (lua_Unsigned)n ? (int)i : -1;
}

/* Whether ipairs asks for the index at 2 and it is n + 1: it then gets nil, others an error. For metamethods of reading. */
bool nsl_ipairs_ends(lua_State *L, int n);

/* Raises "NAME[4]: index out of range 1..3", or that the index at stack index 2 is no integer, or that the vector is empty. */
int nsl_bad_index(lua_State *L, const char *name, int n);

/* Converts the index at arg (from 1, or from -1 at the end) to one from 0; raises "LABEL: WHAT index K out of range 1..n". */
int nsl_position(lua_State *L, int arg, int n, const char *label, const char *what);

/* Reads the bounds of a slice at arg and arg + 1 (default: all). Returns its start, from 0; *count may be 0. */
int nsl_slice(lua_State *L, int arg, int n, lua_Integer step, const char *label, int *count);

/*
** Registers a type with elements, its metamethods and methods: `index` becomes a closure with the table of methods as upvalue.
** nsl_push_element_methods pushes this table, so that other files can add methods.
*/
void nsl_register_elements(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods,
                           lua_CFunction index);
void nsl_push_element_methods(lua_State *L, const NslType *type);

/*
** Inside an __index of such a type: gives the object at 1 a metatable of its own, in which __index is the table on top of the stack: what this
** holds, Lua reads without a call of C, in a fifth of the time. For the rest `index` is called, with the table at 1, the methods as
** upvalue 1 and the object as upvalue 2.
*/
void nsl_index_by_table(lua_State *L, lua_CFunction index);

/* Inside such an index: pushes the method whose name, a string, is at 2, and returns 1; raises where there is none. */
int nsl_element_method(lua_State *L, const char *type);

/*
** For a symmetric method self:name(other): when other (at index 2) is a foreign userdata with a method of that name, pushes
** the result of other:name(self) and returns true. Otherwise returns false.
*/
bool nsl_delegate_method(lua_State *L, const char *name);
