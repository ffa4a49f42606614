/*
** internal.h
** nslua.internal: engine functions bound for specs alone. They are in the module of the build directory, not in the installed one.
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
  X(derivatives)                                                                                                               \
  X(derived)

#define X(file) void nsl_internal_##file(lua_State *L);
NSL_INTERNAL_LIST(X)
#undef X

/* Pushes {NAME = true, bits = N} for the bits that are set; pushes the list of the fields of a table. */
void nsl_internal_push_bits(lua_State *L, unsigned bits, const char *const *names);
void nsl_internal_push_fields(lua_State *L, const NsField *table);

/*
** Reads fields of the table at idx. names: "M# q* tolerance.=1e-9 sparse?", a name, a kind, and a default behind '='; then an address for each:
**   #  a square matrix, which sets *n: double **       @  any matrix: NslMatrix **
**   *  *n numbers: double **                           %  *n integers: int **
**   .  a number: double *      :  an integer: int *    ?  whether it is true: bool *
** Arrays are copies, which stay on the stack; values are not checked. What is absent is its default, else 0.
*/
void nsl_internal_take(lua_State *L, int idx, int *n, const char *names, ...);

/*
** Sets fields of the table on top. names: "z* row% status!"; then a value for each:
**   *  a vector of n: const double *   ~  a list of n: const double *   %  a list of n: const int *   #  an n x n matrix: const double *
**   .  double   :  int   ?  bool   !  NsStatus, as its name   $  const char *
*/
void nsl_internal_give(lua_State *L, int n, const char *names, ...);

/* Push a list of integers; set a field of the table on top to the list of the texts up to NULL. */
void nsl_push_integers(lua_State *L, int n, const int *x);
void nsl_set_texts(lua_State *L, const char *name, const char *const *texts);

/* Element i, from 1, of the list at idx: a number, an integer (0 for anything else). */
double nsl_list_number(lua_State *L, int idx, lua_Integer i);
int nsl_list_integer(lua_State *L, int idx, lua_Integer i);

/* Pushes n zeros as memory; the first n numbers of the list at idx (nil: zeros); raises what is not NS_OK by its name. */
double *nsl_internal_room(lua_State *L, int n);
double *nsl_internal_list(lua_State *L, int idx, int n);
void nsl_internal_check(lua_State *L, NsStatus status);
