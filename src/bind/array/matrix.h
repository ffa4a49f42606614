/*
** matrix.h
** The matrix userdata: column-major doubles of its own, or a live view of another object's.
*/
#pragma once

#include "bind/lua/object.h"
#include "bind/array/vector.h"

/*
** Entry (i, j), from 0, is data[i + j * ld]. Owner, version and label as in NslVector. User value 1 anchors the owner, user
** value 2 caches the row views (so E[i][j] = v allocates only once). After many reads of a matrix with storage of its own (`reads`),
** Lua takes its rows from that cache.
*/
typedef struct NslMatrix {
  NslHead head;
  double *data;
  int rows, cols, ld;
  bool readonly;
  short reads;
  const char *label;
  uint64_t *version;
  uint64_t own_version;
  double own[];
} NslMatrix;

extern const NslType nsl_matrix_type;

NslMatrix *nsl_test_matrix(lua_State *L, int idx);
NslMatrix *nsl_check_matrix(lua_State *L, int idx);
void nsl_matrix_alive(lua_State *L, const NslMatrix *m);

/* Pushes a new zeroed rows x cols matrix. Raises when a size is negative or the product too large. */
NslMatrix *nsl_push_matrix(lua_State *L, lua_Integer rows, lua_Integer cols, const char *label);

/* Pushes a view of doubles that belong to the object at owner_idx. version may be NULL. */
NslMatrix *nsl_push_matrix_view(lua_State *L, int owner_idx, double *data, int rows, int cols, int ld, const char *label,
                                uint64_t *version);

/*
** Makes sure that idx holds a rows x cols matrix; a negative size accepts any. A matrix stays as it is. These are converted,
** and the result replaces them: a table of rows; a flat table or a vector, when one of the sizes is 1 or both are free (then
** it is one row); a number (1 x 1). Otherwise raises "WHO: WHAT: expected a 4 x 4 matrix, got ...", naming a ragged row or an
** entry that is no number.
*/
NslMatrix *nsl_to_matrix(lua_State *L, int idx, int rows, int cols, const char *who, const char *what);

/* As nsl_to_matrix, and every entry must be finite: "WHO: A[1][2] is nan". */
NslMatrix *nsl_to_finite_matrix(lua_State *L, int idx, int rows, int cols, const char *who, const char *what);

/* Raises "LABEL is read-only" unless the matrix may be written. */
void nsl_matrix_writable(lua_State *L, const NslMatrix *m);

/* Pushes a copy of the matrix with storage of its own. */
NslMatrix *nsl_push_matrix_copy(lua_State *L, const NslMatrix *m);

/* Copies the matrix to / from a contiguous column-major array of rows * cols doubles (nsl_matrix_write counts as a write). */
void nsl_matrix_read(const NslMatrix *m, double *to);
void nsl_matrix_write(NslMatrix *m, const double *from);
