/*
** matrix.c
** The matrix userdata: rows as cached views, live slices, methods, conversion from tables.
*/
#include "bind/array/matrix.h"
#include "bind/lua/open.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "bind/array/vector.h"
#include "bind/lua/reads.h"
#include "linalg/dense.h"

static const char *matrix_describe(lua_State *L, const void *object) {
  const NslMatrix *m = object;
  return lua_pushfstring(L, "%d x %d matrix", m->rows, m->cols);
}

const NslType nsl_matrix_type = {.name = "matrix", .describe = matrix_describe};

NslMatrix *nsl_test_matrix(lua_State *L, int idx) {
  return nsl_test(L, idx, &nsl_matrix_type);
}

NslMatrix *nsl_check_matrix(lua_State *L, int idx) {
  NslMatrix *m = nsl_check(L, idx, &nsl_matrix_type);
  nsl_matrix_alive(L, m);
  return m;
}

static inline bool matrix_is_dead(const NslMatrix *m) {
  return nsl_is_closed(&m->head);
}

/* Notes the read of a guarded matrix: of all numbers between the first and the last one. */
static void matrix_note(const NslMatrix *m) {
  ptrdiff_t n = m->rows > 0 && m->cols > 0 ? m->rows + (m->cols - 1) * (ptrdiff_t)m->ld : 0;
  nsl_note_numbers(&m->head, m->data, n, 1);
}

static const char *matrix_name_of(const NslMatrix *m) {
  return m->label ? m->label : "matrix";
}

void nsl_matrix_alive(lua_State *L, const NslMatrix *m) {
  if (nsl_is_guarded(&m->head)) matrix_note(m);
  nsl_view_alive(L, &m->head, m->label);
}

void nsl_matrix_writable(lua_State *L, const NslMatrix *m) {
  nsl_view_alive(L, &m->head, m->label);
  if (m->readonly) luaL_error(L, "%s is read-only", matrix_name_of(m));
}

static NslMatrix *push(lua_State *L, size_t numbers, int rows, int cols, int ld, const char *label) {
  NslMatrix *m = nsl_new(L, &nsl_matrix_type, sizeof *m + numbers * sizeof(double), 2);
  m->data = m->own;
  m->rows = rows;
  m->cols = cols;
  m->ld = ld;
  m->label = label;
  m->version = &m->own_version;
  return m;
}

NslMatrix *nsl_push_matrix(lua_State *L, lua_Integer rows, lua_Integer cols, const char *label) {
  const char *name = label ? label : "matrix";
  if (rows < 0 || cols < 0)
    luaL_error(L, "%s: expected sizes of 0 or more, got %I x %I", name, (LUAI_UACINT)rows, (LUAI_UACINT)cols);
  if (rows > INT_MAX || cols > INT_MAX || (cols > 0 && rows > (lua_Integer)(PTRDIFF_MAX / 16) / cols))
    luaL_error(L, "%s: size %I x %I is too large", name, (LUAI_UACINT)rows, (LUAI_UACINT)cols);
  return push(L, (size_t)rows * (size_t)cols, (int)rows, (int)cols, rows > 0 ? (int)rows : 1, label);
}

NslMatrix *nsl_push_matrix_view(lua_State *L, int owner_idx, double *data, int rows, int cols, int ld, const char *label,
                                uint64_t *version) {
  owner_idx = lua_absindex(L, owner_idx);
  NslMatrix *m = push(L, 0, rows, cols, ld, label);
  m->head.owner = nsl_root(L, owner_idx);
  m->data = data;
  if (version) m->version = version;
  lua_pushvalue(L, owner_idx);
  lua_setiuservalue(L, -2, 1);
  return m;
}

void nsl_matrix_read(const NslMatrix *m, double *to) {
  for (int j = 0; j < m->cols; j++) {
    const double *column = m->data + (ptrdiff_t)j * m->ld;
    for (int i = 0; i < m->rows; i++) *to++ = column[i];
  }
}

void nsl_matrix_write(NslMatrix *m, const double *from) {
  for (int j = 0; j < m->cols; j++) {
    double *column = m->data + (ptrdiff_t)j * m->ld;
    for (int i = 0; i < m->rows; i++) column[i] = *from++;
  }
  ++*m->version;
}

NslMatrix *nsl_push_matrix_copy(lua_State *L, const NslMatrix *m) {
  NslMatrix *copy = nsl_push_matrix(L, m->rows, m->cols, NULL);
  nsl_matrix_alive(L, m);
  nsl_matrix_read(m, copy->data);
  return copy;
}

/* ---- rows ---- */

/* Pushes the table of row views at user value 2, after making it if necessary. */
static void push_row_cache(lua_State *L, int idx) {
  if (lua_getiuservalue(L, idx, 2) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setiuservalue(L, idx, 2);
}

/* Pushes the (cached) view of row i, from 0, of the matrix at idx, updated to the matrix's fields. */
static NslVector *push_matrix_row(lua_State *L, int idx, int i) {
  idx = lua_absindex(L, idx);
  NslMatrix *m = lua_touserdata(L, idx);
  push_row_cache(L, idx);
  if (lua_rawgeti(L, -1, i + 1) != LUA_TUSERDATA) {
    lua_pop(L, 1);
    nsl_push_vector_view(L, idx, m->data + i, m->cols, m->ld, m->label, m->version)->row = i + 1;
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, i + 1);
  }
  lua_remove(L, -2);
  NslVector *row = lua_touserdata(L, -1);
  row->data = m->data + i;
  row->readonly = m->readonly;
  return row;
}

static int bad_row(lua_State *L, const NslMatrix *m) {
  nsl_matrix_alive(L, m);
  if (lua_isinteger(L, 2))
    return luaL_error(L, "%s[%I]: row index out of range 1..%d", matrix_name_of(m), (LUAI_UACINT)lua_tointeger(L, 2), m->rows);
  const char *got = lua_type(L, 2) == LUA_TSTRING ? lua_pushfstring(L, "string '%s'", lua_tostring(L, 2)) : nsl_describe(L, 2);
  return luaL_error(L, "%s: row index must be an integer, got %s", matrix_name_of(m), got);
}

static inline NslMatrix *self_matrix(lua_State *L) {
  NslMatrix *m = lua_touserdata(L, 1);
  if (m && lua_rawlen(L, 1) >= sizeof *m && m->head.magic == NSL_MAGIC && m->head.type == &nsl_matrix_type) return m;
  return nsl_check_matrix(L, 1);
}

/* Pushes a cached row of the matrix at 1; false when there is none. May leave values below it. */
static inline bool push_known_row(lua_State *L, const NslMatrix *m, int i) {
  if (lua_getiuservalue(L, 1, 2) != LUA_TTABLE || lua_rawgeti(L, -1, i + 1) != LUA_TUSERDATA) return false;
  NslVector *row = lua_touserdata(L, -1);
  row->data = m->data + i;
  row->readonly = m->readonly;
  return true;
}

static int matrix_not_there(lua_State *L, const NslMatrix *m) {
  if (matrix_is_dead(m) || !nsl_ipairs_ends(L, m->rows)) return bad_row(L, m);
  return lua_pushnil(L), 1;
}

/* After how many reads of rows Lua takes them from the cache: this costs about 10 reads and 600 bytes. */
enum { OFTEN = 200 };

static int matrix_index(lua_State *L);

/* The __index of the cache of the rows of a matrix (upvalue 2), for what is not there. */
static int cached_row_index(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_replace(L, 1);
  return matrix_index(L);
}

static void index_by_cache(lua_State *L, NslMatrix *m) {
  push_row_cache(L, 1);
  nsl_index_by_table(L, cached_row_index);
  lua_pop(L, 1);
  m->reads = OFTEN + 1;
}

static int matrix_index(lua_State *L) {
  NslMatrix *m = self_matrix(L);
  int type = lua_type(L, 2), good;
  if (type == LUA_TNUMBER) {
    lua_Unsigned i = (lua_Unsigned)lua_tointegerx(L, 2, &good) - 1;
    if (!good || i >= (lua_Unsigned)m->rows || matrix_is_dead(m)) return matrix_not_there(L, m);
    if (m->reads < OFTEN) m->reads += !m->head.owner;
    else if (m->reads == OFTEN) index_by_cache(L, m);
    if (!push_known_row(L, m, (int)i)) push_matrix_row(L, 1, (int)i);
    return 1;
  }
  if (type != LUA_TSTRING) return bad_row(L, m);
  return nsl_element_method(L, nsl_matrix_type.name);
}

/* E[i] = src: the same as E[i]:assign(src). */
static int matrix_newindex(lua_State *L) {
  NslMatrix *m = self_matrix(L);
  int good = 0;
  lua_Unsigned i = lua_type(L, 2) == LUA_TNUMBER ? (lua_Unsigned)lua_tointegerx(L, 2, &good) - 1 : 0;
  nsl_matrix_writable(L, m);
  if (!good || i >= (lua_Unsigned)m->rows) return bad_row(L, m);
  lua_settop(L, 3);
  push_matrix_row(L, 1, (int)i);
  lua_replace(L, 1);
  lua_remove(L, 2);
  nsl_vector_assign(L);
  return 0;
}

static int next_row(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 0 || i >= m->rows) return lua_pushnil(L), 1;
  lua_pushinteger(L, i + 1);
  push_matrix_row(L, 1, (int)i);
  return 2;
}

static int matrix_pairs(lua_State *L) {
  nsl_check_matrix(L, 1);
  lua_pushcfunction(L, next_row);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

static int matrix_tostring(lua_State *L) {
  const NslMatrix *m = nsl_check(L, 1, &nsl_matrix_type);
  if (matrix_is_dead(m)) return lua_pushliteral(L, "matrix (closed)"), 1;
  if (m->rows == 0 || m->cols == 0) return lua_pushfstring(L, "[ ] (%d x %d)", m->rows, m->cols), 1;
  return nsl_push_text(L, &m->head, ns_matrix_text, &(NsGrid){m->data, m->rows, m->cols, 1, m->ld, false});
}

/* ---- conversion ---- */

/* Pushes "a 4 x 4 matrix", "a matrix of 4 rows", ... */
static const char *wanted(lua_State *L, int rows, int cols) {
  if (rows >= 0 && cols >= 0) return lua_pushfstring(L, "a %d x %d matrix", rows, cols);
  if (rows >= 0) return lua_pushfstring(L, "a matrix of %d rows", rows);
  if (cols >= 0) return lua_pushfstring(L, "a matrix of %d columns", cols);
  return lua_pushstring(L, "a matrix");
}

static int bad_matrix(lua_State *L, int idx, int rows, int cols, const char *who, const char *what) {
  const char *got = nsl_describe(L, idx), *expected = wanted(L, rows, cols);
  return luaL_error(L, "%s: %s: expected %s, got %s", who, what, expected, got);
}

static bool matrix_fits(int rows, int cols, size_t r, size_t c) {
  return (rows < 0 || r == (size_t)rows) && (cols < 0 || c == (size_t)cols);
}

/* The shape for a flat list of n numbers: a column when only a column was asked for, else a row. False when they do not fit. */
static bool flat_shape(int rows, int cols, size_t n, size_t *r, size_t *c) {
  bool column = cols == 1 && rows != 1;
  if (rows != 1 && cols != 1 && !(rows < 0 && cols < 0)) return false;
  *r = column ? n : 1;
  *c = column ? 1 : n;
  return n <= INT_MAX && matrix_fits(rows, cols, *r, *c);
}

/* Length of the row on top of the stack; -1 when it is neither a table nor a vector. */
static lua_Integer row_length(lua_State *L) {
  const NslVector *v = nsl_test_vector(L, -1);
  if (v) return v->n;
  return lua_istable(L, -1) ? (lua_Integer)lua_rawlen(L, -1) : -1;
}

/* Checks that row i (from 0), on top of the stack, has m->cols numbers, and stores it. */
static void store_row(lua_State *L, NslMatrix *m, int i, const char *who, const char *what) {
  lua_Integer length = row_length(L);
  int row = lua_gettop(L);
  const char *name = lua_pushfstring(L, "%s[%d]", what, i + 1);
  if (length < 0) luaL_error(L, "%s: %s: expected a row of %d numbers, got %s", who, name, m->cols, nsl_describe(L, row));
  if (length != m->cols) luaL_error(L, "%s: %s: expected %d numbers, got %I", who, name, m->cols, (LUAI_UACINT)length);
  const NslVector *v = nsl_test_vector(L, row);
  if (v) {
    nsl_vector_alive(L, v);
    for (int j = 0; j < m->cols; j++) m->data[i + (ptrdiff_t)j * m->ld] = v->data[j * v->stride];
  } else {
    nsl_table_numbers(L, row, m->cols, m->data + i, m->ld, who, name);
  }
  lua_settop(L, row - 1);
}

static void from_rows(lua_State *L, int idx, int rows, int cols, const char *who, const char *what) {
  size_t r = lua_rawlen(L, idx);
  lua_rawgeti(L, idx, 1);
  lua_Integer c = r > 0 ? row_length(L) : cols > 0 ? cols : 0;
  lua_pop(L, 1);
  if (r > 0 && c < 0) {
    lua_rawgeti(L, idx, 1);
    luaL_error(L, "%s: %s[1]: expected a row of numbers, got %s", who, what, nsl_describe(L, -1));
  }
  if (rows >= 0 && r != (size_t)rows) {
    const char *expected = wanted(L, rows, cols);
    luaL_error(L, "%s: %s: expected %s, got %I x %I table", who, what, expected, (LUAI_UACINT)r, (LUAI_UACINT)c);
  }
  NslMatrix *m = nsl_push_matrix(L, (lua_Integer)r, cols >= 0 ? cols : c, NULL);
  for (int i = 0; i < m->rows; i++) {
    lua_rawgeti(L, idx, i + 1);
    store_row(L, m, i, who, what);
  }
}

static void from_flat(lua_State *L, int idx, int rows, int cols, const char *who, const char *what) {
  const NslVector *v = nsl_test_vector(L, idx);
  size_t n = v ? (size_t)v->n : lua_rawlen(L, idx), r = 0, c = 0;
  if (!flat_shape(rows, cols, n, &r, &c)) bad_matrix(L, idx, rows, cols, who, what);
  NslMatrix *m = nsl_push_matrix(L, (lua_Integer)r, (lua_Integer)c, NULL);
  if (v) {
    nsl_vector_alive(L, v);
    nsl_vector_read(v, m->data);
  } else {
    nsl_table_numbers(L, idx, (int)n, m->data, 1, who, what);
  }
}

static bool is_flat(lua_State *L, int idx) {
  int type = lua_rawgeti(L, idx, 1);
  lua_pop(L, 1);
  return type == LUA_TNUMBER;
}

NslMatrix *nsl_to_matrix(lua_State *L, int idx, int rows, int cols, const char *who, const char *what) {
  idx = lua_absindex(L, idx);
  NslMatrix *m = nsl_test_matrix(L, idx);
  int type = lua_type(L, idx);
  if (m) {
    if (!matrix_fits(rows, cols, (size_t)m->rows, (size_t)m->cols)) bad_matrix(L, idx, rows, cols, who, what);
    nsl_matrix_alive(L, m);
    return m;
  }
  if (type == LUA_TNUMBER && matrix_fits(rows, cols, 1, 1)) nsl_push_matrix(L, 1, 1, NULL)->data[0] = lua_tonumber(L, idx);
  else if (nsl_test_vector(L, idx) || (type == LUA_TTABLE && is_flat(L, idx))) from_flat(L, idx, rows, cols, who, what);
  else if (type == LUA_TTABLE) from_rows(L, idx, rows, cols, who, what);
  else bad_matrix(L, idx, rows, cols, who, what);
  lua_replace(L, idx);
  return lua_touserdata(L, idx);
}

NslMatrix *nsl_to_finite_matrix(lua_State *L, int idx, int rows, int cols, const char *who, const char *what) {
  NslMatrix *m = nsl_to_matrix(L, idx, rows, cols, who, what);
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++) {
      char text[32];
      double x = m->data[i + (ptrdiff_t)j * m->ld];
      if (isfinite(x)) continue;
      ns_print_short(text, x);
      luaL_error(L, "%s: %s[%d][%d] is %s", who, what, i + 1, j + 1, text);
    }
  return m;
}

/* ns.matrix{{...}, ...}, ns.matrix(rows, cols), ns.matrix(m), ns.matrix(v) (one row) */
static int new_matrix(lua_State *L) {
  if (lua_gettop(L) == 2) {
    lua_Integer rows = nsl_integer(L, 1, "matrix", "rows"), cols = nsl_integer(L, 2, "matrix", "columns");
    nsl_push_matrix(L, rows, cols, NULL);
    return 1;
  }
  if (lua_gettop(L) != 1 || lua_type(L, 1) == LUA_TNUMBER)
    return luaL_error(L, "matrix: expected a table of rows, a matrix, or the numbers of rows and columns");
  NslMatrix *m = nsl_test_matrix(L, 1);
  if (m) nsl_push_matrix_copy(L, m);
  else nsl_to_matrix(L, 1, -1, -1, "matrix", "argument");
  return 1;
}

/* ---- methods ---- */

static int matrix_rows(lua_State *L) {
  return lua_pushinteger(L, nsl_check_matrix(L, 1)->rows), 1;
}

static int matrix_cols(lua_State *L) {
  return lua_pushinteger(L, nsl_check_matrix(L, 1)->cols), 1;
}

static int matrix_shape(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  lua_pushinteger(L, m->rows);
  lua_pushinteger(L, m->cols);
  return 2;
}

/* The entry at row and column in arguments 2 and 3, from 1. */
static double *matrix_entry(lua_State *L, NslMatrix *m) {
  lua_Integer i = nsl_integer(L, 2, matrix_name_of(m), "row index"), j = nsl_integer(L, 3, matrix_name_of(m), "column index");
  if (i < 1 || i > m->rows || j < 1 || j > m->cols)
    luaL_error(L, "%s(%I, %I): index out of range of a %d x %d matrix", matrix_name_of(m), (LUAI_UACINT)i, (LUAI_UACINT)j,
               m->rows, m->cols);
  return m->data + (i - 1) + (ptrdiff_t)(j - 1) * m->ld;
}

static int matrix_get(lua_State *L) {
  return lua_pushnumber(L, *matrix_entry(L, nsl_check_matrix(L, 1))), 1;
}

static int matrix_set(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  nsl_matrix_writable(L, m);
  double *to = matrix_entry(L, m);
  if (lua_type(L, 4) != LUA_TNUMBER)
    return luaL_error(L, "%s(%I, %I): number expected, got %s", matrix_name_of(m), (LUAI_UACINT)lua_tointeger(L, 2),
                      (LUAI_UACINT)lua_tointeger(L, 3), nsl_describe(L, 4));
  *to = lua_tonumber(L, 4);
  ++*m->version;
  lua_settop(L, 1);
  return 1;
}

static int matrix_row(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  push_matrix_row(L, 1, nsl_position(L, 2, m->rows, matrix_name_of(m), "row"));
  return 1;
}

static int push_vector_view(lua_State *L, NslMatrix *m, double *data, int n, ptrdiff_t stride) {
  NslVector *v = nsl_push_vector_view(L, 1, data, n, stride, m->label, m->version);
  v->readonly = m->readonly;
  return 1;
}

static int matrix_column(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  int j = nsl_position(L, 2, m->cols, matrix_name_of(m), "column");
  return push_vector_view(L, m, m->data + (ptrdiff_t)j * m->ld, m->rows, 1);
}

static int matrix_diagonal(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  return push_vector_view(L, m, m->data, m->rows < m->cols ? m->rows : m->cols, (ptrdiff_t)m->ld + 1);
}

static int matrix_slice(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  int rows, cols;
  lua_settop(L, 5);
  int i = nsl_slice(L, 2, m->rows, 1, matrix_name_of(m), &rows), j = nsl_slice(L, 4, m->cols, 1, matrix_name_of(m), &cols);
  double *data = m->data + (rows > 0 && cols > 0 ? i + (ptrdiff_t)j * m->ld : 0);
  NslMatrix *view = nsl_push_matrix_view(L, 1, data, rows, cols, m->ld, m->label, m->version);
  view->readonly = m->readonly;
  return 1;
}

static int matrix_copy(lua_State *L) {
  nsl_push_matrix_copy(L, nsl_check_matrix(L, 1));
  return 1;
}

/* Converts or copies the source first: a bad source writes nothing, and overlapping views are safe. */
static int matrix_assign(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1), *from;
  nsl_matrix_writable(L, m);
  lua_settop(L, 2);
  from = nsl_to_matrix(L, 2, m->rows, m->cols, "assign", matrix_name_of(m));
  if (from->head.owner || m->head.owner) from = nsl_push_matrix_copy(L, from);
  double *to = m->data;
  nsl_matrix_writable(L, m);
  for (int j = 0; j < m->cols; j++)
    for (int i = 0; i < m->rows; i++) to[i + (ptrdiff_t)j * m->ld] = from->data[i + (ptrdiff_t)j * from->ld];
  ++*m->version;
  lua_settop(L, 1);
  return 1;
}

static int matrix_totable(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  lua_createtable(L, m->rows, 0);
  for (int i = 0; i < m->rows; i++) {
    lua_createtable(L, m->cols, 0);
    nsl_matrix_alive(L, m);
    for (int j = 0; j < m->cols; j++) {
      lua_pushnumber(L, m->data[i + (ptrdiff_t)j * m->ld]);
      lua_rawseti(L, -2, j + 1);
    }
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

static int matrix_transpose(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  double *out = nsl_push_matrix(L, m->cols, m->rows, NULL)->data;
  nsl_matrix_alive(L, m);
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++) *out++ = m->data[i + (ptrdiff_t)j * m->ld];
  return 1;
}

/* E:norm(kind): "fro" (default), 1 (columns) or math.huge (rows) */
static int matrix_norm(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  bool fro = lua_isnoneornil(L, 2) || (lua_type(L, 2) == LUA_TSTRING && strcmp(lua_tostring(L, 2), "fro") == 0);
  double p = lua_type(L, 2) == LUA_TNUMBER ? lua_tonumber(L, 2) : 0, norm = 0;
  if (fro) norm = ns_dense_norm_fro(m->rows, m->cols, m->data, 1, m->ld);
  else if (p == 1) norm = ns_dense_norm_one(m->rows, m->cols, m->data, 1, m->ld);
  else if (p == HUGE_VAL) norm = ns_dense_norm_inf(m->rows, m->cols, m->data, 1, m->ld);
  else return nsl_bad(L, "norm", "kind", "\"fro\", 1 or math.huge", 2);
  return lua_pushnumber(L, norm), 1;
}

static int matrix_trace(lua_State *L) {
  NslMatrix *m = nsl_check_matrix(L, 1);
  double sum = 0;
  if (m->rows != m->cols) return nsl_bad(L, "trace", "self", "a square matrix", 1);
  for (int i = 0; i < m->rows; i++) sum += m->data[i + (ptrdiff_t)i * m->ld];
  return lua_pushnumber(L, sum), 1;
}

/* ---- methods of vectors that give matrices ---- */

static int method_outer(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1), *w = nsl_to_vector(L, 2, -1, "outer", "argument");
  double *out = nsl_push_matrix(L, v->n, w->n, NULL)->data;
  nsl_vector_alive(L, v);
  nsl_vector_alive(L, w);
  for (int j = 0; j < w->n; j++)
    for (int i = 0; i < v->n; i++) *out++ = v->data[i * v->stride] * w->data[j * w->stride];
  return 1;
}

static int vector_row(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  double *out = nsl_push_matrix(L, 1, v->n, NULL)->data;
  nsl_vector_alive(L, v);
  nsl_vector_read(v, out);
  return 1;
}

static int vector_column(lua_State *L) {
  NslVector *v = nsl_check_vector(L, 1);
  double *out = nsl_push_matrix(L, v->n, 1, NULL)->data;
  nsl_vector_alive(L, v);
  nsl_vector_read(v, out);
  return 1;
}

static const luaL_Reg matrix_meta[] = {
    {"__newindex", matrix_newindex}, {"__len", matrix_rows},          {"__call", matrix_get},
    {"__pairs", matrix_pairs},       {"__tostring", matrix_tostring}, {NULL, NULL},
};

static const luaL_Reg vector_methods[] = {
    {"outer", method_outer}, {"row", vector_row}, {"column", vector_column}, {NULL, NULL}};

#define ROW(name)                                                                                                              \
  { #name, matrix_##name }
static const luaL_Reg matrix_methods[] = {ROW(get),    ROW(set),      ROW(rows),      ROW(cols),   ROW(shape),  ROW(row),
                                          ROW(column), ROW(diagonal), ROW(slice),     ROW(copy),   ROW(assign), ROW(totable),
                                          ROW(norm),   ROW(trace),    ROW(transpose), {NULL, NULL}};

void nsl_open_matrix(lua_State *L) {
  nsl_register_elements(L, &nsl_matrix_type, matrix_meta, matrix_methods, matrix_index);
  nsl_push_element_methods(L, &nsl_vector_type);
  luaL_setfuncs(L, vector_methods, 0);
  lua_pop(L, 1);
  nsl_set_cfunction(L, "matrix", new_matrix);
}
