/*
** internal.h
** nslua.internal: engine functions bound for specs alone. An installed build has neither this file nor the others of its folder.
*/
#pragma once

#include "base/field.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/* X(file): nsl_internal_file adds its functions, which the file describes, to the table on top of the stack. */
#define NSL_INTERNAL_LIST(X)                                                                                                   \
  X(base)                                                                                                                      \
  X(solvers)                                                                                                                   \
  X(mixed)                                                                                                                     \
  X(io)                                                                                                                        \
  X(views)                                                                                                                     \
  X(ad)                                                                                                                        \
  X(model)                                                                                                                     \
  X(fields)                                                                                                                    \
  X(classes)                                                                                                                   \
  X(tables)                                                                                                                    \
  X(laws)                                                                                                                      \
  X(tape)                                                                                                                      \
  X(linalg)                                                                                                                    \
  X(ode)                                                                                                                       \
  X(variational)                                                                                                               \
  X(fesd)                                                                                                                      \
  X(switching)                                                                                                                 \
  X(derivatives)

#define X(file) void nsl_internal_##file(lua_State *L);
NSL_INTERNAL_LIST(X)
#undef X

/* Pushes {NAME = true, bits = N} for the bits that are set; pushes the list of the fields of a table. */
void nsl_internal_push_bits(lua_State *L, unsigned bits, const char *const *names);
void nsl_internal_push_fields(lua_State *L, const NsField *table);

/*
** Copies of what a field of the table at idx holds, without checks of the values: n numbers (`missing` when absent), n integers, a matrix,
** a square one. What is pushed keeps them.
*/
double *nsl_internal_vector(lua_State *L, int idx, const char *name, int n, double missing);
int *nsl_internal_integers(lua_State *L, int idx, const char *name, int n);
NslMatrix *nsl_internal_matrix(lua_State *L, int idx, const char *name);
NslMatrix *nsl_internal_square(lua_State *L, int idx, const char *name);

/* Push a list of integers; set a field of the table on top to a list of numbers, of integers, of the texts up to NULL. */
void nsl_push_integers(lua_State *L, int n, const int *x);
void nsl_set_list(lua_State *L, const char *name, int n, const double *x);
void nsl_set_integers(lua_State *L, const char *name, int n, const int *x);
void nsl_set_texts(lua_State *L, const char *name, const char *const *texts);

/* Element i, from 1, of the list at idx: a number, an integer (0 for anything else). Whether a field of the table at idx is true. */
double nsl_list_number(lua_State *L, int idx, lua_Integer i);
int nsl_list_integer(lua_State *L, int idx, lua_Integer i);
bool nsl_field_flag(lua_State *L, int idx, const char *name);

/* Pushes n zeros as memory; the first n numbers of the list at idx (nil: zeros); raises what is not NS_OK by its name. */
double *nsl_internal_room(lua_State *L, int n);
double *nsl_internal_list(lua_State *L, int idx, int n);
void nsl_internal_check(lua_State *L, NsStatus status);
