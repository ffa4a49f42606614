/*
** arrays.c
** Functions that make and join vectors and matrices: zeros, eye, linspace, hstack, block, ...
*/
#include "bind/lua/open.h"

#include <limits.h>
#include <math.h>

#include "bind/array/elementwise.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/* ---- arguments ---- */

typedef struct Shape {
  lua_Integer rows, cols; /* cols -1: a vector */
  int next;               /* index of the argument after the shape */
} Shape;

/* Reads a shape at arg: (n), (rows, cols), {n} or {rows, cols}; `extra` arguments must follow. */
static Shape check_shape(lua_State *L, int arg, int extra, const char *who) {
  int count = lua_gettop(L) - extra - arg + 1;
  Shape s = {0, -1, arg + 1};
  bool flat = true;
  if (count == 1 && lua_istable(L, arg)) {
    int length = (int)lua_rawlen(L, arg);
    if (length != 1 && length != 2) nsl_bad(L, who, "shape", "{n} or {rows, columns}", arg);
    for (int i = 1; i <= length; i++) lua_rawgeti(L, arg, i);
    s.rows = nsl_integer(L, -length, who, "shape[1]");
    flat = length == 1;
    if (!flat) s.cols = nsl_integer(L, -1, who, "shape[2]");
    lua_pop(L, length);
  } else if (count == 1) {
    s.rows = nsl_integer(L, arg, who, "size");
  } else if (count == 2) {
    s.rows = nsl_integer(L, arg, who, "rows");
    s.cols = nsl_integer(L, arg + 1, who, "columns");
    s.next = arg + 2;
    flat = false;
  } else {
    luaL_error(L, "%s: expected a size, rows and columns, or {rows, columns}, got %d arguments", who, lua_gettop(L));
  }
  if (s.rows < 0 || (!flat && s.cols < 0)) luaL_error(L, "%s: a size must not be negative", who);
  return s;
}

static double *push_shape(lua_State *L, const Shape *s) {
  if (s->cols < 0) return nsl_push_vector(L, s->rows, NULL)->data;
  return nsl_push_matrix(L, s->rows, s->cols, NULL)->data;
}

static int filled(lua_State *L, const Shape *s, double value) {
  double *out = push_shape(L, s);
  lua_Integer count = s->cols < 0 ? s->rows : s->rows * s->cols;
  for (lua_Integer i = 0; i < count; i++) out[i] = value;
  return 1;
}

/* ---- constructors ---- */

static int f_zeros(lua_State *L) {
  Shape s = check_shape(L, 1, 0, "zeros");
  return filled(L, &s, 0);
}

static int f_ones(lua_State *L) {
  Shape s = check_shape(L, 1, 0, "ones");
  return filled(L, &s, 1);
}

/* full(n, x), full(rows, cols, x), full({rows, cols}, x) */
static int f_full(lua_State *L) {
  Shape s = check_shape(L, 1, 1, "full");
  if (lua_type(L, s.next) != LUA_TNUMBER) nsl_bad(L, "full", "value", "a number", s.next);
  return filled(L, &s, lua_tonumber(L, s.next));
}

static int f_eye(lua_State *L) {
  lua_Integer rows = nsl_integer(L, 1, "eye", "rows");
  lua_Integer cols = lua_isnoneornil(L, 2) ? rows : nsl_integer(L, 2, "eye", "columns");
  NslMatrix *m = nsl_push_matrix(L, rows, cols, NULL);
  for (int i = 0; i < m->rows && i < m->cols; i++) m->data[i + (ptrdiff_t)i * m->ld] = 1;
  return 1;
}

/* diag(v [, k]): the matrix with v on diagonal k, above the main one when k > 0; diag(A [, k]): a copy of diagonal k. */
static int f_diag(lua_State *L) {
  lua_settop(L, 2);
  NsGrid g = nsl_to_grid(L, 1, "diag", "argument");
  lua_Integer k = lua_isnil(L, 2) ? 0 : nsl_integer(L, 2, "diag", "offset");
  if (k < -INT_MAX || k > INT_MAX) return luaL_error(L, "diag: offset %I is too large", (LUAI_UACINT)k);
  ptrdiff_t down = k < 0 ? (ptrdiff_t)-k : 0, right = k > 0 ? (ptrdiff_t)k : 0;
  if (g.vector) {
    NslMatrix *m = nsl_push_matrix(L, g.rows + down + right, g.rows + down + right, NULL);
    nsl_vector_alive(L, nsl_test_vector(L, 1));
    for (int i = 0; i < g.rows; i++) m->data[i + down + (i + right) * m->ld] = g.data[i * g.rs];
    return 1;
  }
  ptrdiff_t n = g.rows - down < g.cols - right ? g.rows - down : g.cols - right;
  double *out = nsl_push_vector(L, n > 0 ? n : 0, NULL)->data;
  nsl_matrix_alive(L, nsl_test_matrix(L, 1));
  for (ptrdiff_t i = 0; i < n; i++) out[i] = g.data[i + down + (i + right) * g.cs];
  return 1;
}

/* linspace(a, b [, n = 50]): n equally spaced numbers from a to b, both ends exact. */
static int f_linspace(lua_State *L) {
  double a = nsl_finite(L, 1, "linspace", "start"), b = nsl_finite(L, 2, "linspace", "stop");
  lua_Integer n = lua_isnoneornil(L, 3) ? 50 : nsl_integer(L, 3, "linspace", "n");
  if (n < 0) return luaL_error(L, "linspace: n: expected 0 or more, got %I", (LUAI_UACINT)n);
  NslVector *v = nsl_push_vector(L, n, NULL);
  double way = b - a, last = v->n - 1, step = v->n < 2 ? 0 : isfinite(way) ? way / last : b / last - a / last;
  for (int i = 0; i < v->n; i++) v->data[i] = a + i * step;
  if (v->n > 1) v->data[v->n - 1] = b;
  return 1;
}

/* arange(stop), arange(start, stop [, step]): start + i step, ceil((stop - start) / step) of them. */
static int f_arange(lua_State *L) {
  bool alone = lua_gettop(L) < 2;
  double start = alone ? 0 : nsl_finite(L, 1, "arange", "start");
  double stop = nsl_finite(L, alone ? 1 : 2, "arange", "stop");
  double step = lua_isnoneornil(L, 3) ? 1 : nsl_finite(L, 3, "arange", "step");
  if (step == 0) return luaL_error(L, "arange: step must not be 0");
  double count = ceil((stop - start) / step);
  if (count > INT_MAX) return nsl_error(L, "arange: %f elements are too many", count);
  NslVector *v = nsl_push_vector(L, count > 0 ? (lua_Integer)count : 0, NULL);
  for (int i = 0; i < v->n; i++) v->data[i] = start + i * step;
  return 1;
}

static lua_Integer repeats(lua_State *L, int idx, const char *what) {
  lua_Integer n = nsl_integer(L, idx, "tile", what);
  if (n < 0 || n > INT_MAX) luaL_error(L, "tile: %s: expected 0 or more, got %I", what, (LUAI_UACINT)n);
  return n;
}

/* tile(x, n): n copies of x side by side; tile(x, r, c): an r x c array of copies. A vector is one row. */
static int f_tile(lua_State *L) {
  NsGrid g = nsl_to_grid(L, 1, "tile", "argument");
  bool flat = g.vector && lua_gettop(L) < 3;
  lua_Integer r = lua_gettop(L) < 3 ? 1 : repeats(L, 2, "rows");
  lua_Integer c = lua_gettop(L) < 3 ? repeats(L, 2, "n") : repeats(L, 3, "columns");
  if (g.vector) g.cols = g.rows, g.rows = 1, g.cs = g.rs, g.rs = 0;
  double *out = flat ? nsl_push_vector(L, g.cols * c, NULL)->data : nsl_push_matrix(L, g.rows * r, g.cols * c, NULL)->data;
  nsl_grid(L, 1, &(NsGrid){0});
  ns_grid_tile(&g, r, c, out);
  return 1;
}

/* meshgrid(x, y): matrices X and Y with #y rows and #x columns, X[i][j] = x[j], Y[i][j] = y[i]. */
static int f_meshgrid(lua_State *L) {
  lua_settop(L, 2);
  NslVector *x = nsl_to_vector(L, 1, -1, "meshgrid", "x"), *y = nsl_to_vector(L, 2, -1, "meshgrid", "y");
  double *X = nsl_push_matrix(L, y->n, x->n, NULL)->data, *Y = nsl_push_matrix(L, y->n, x->n, NULL)->data;
  nsl_vector_alive(L, x);
  nsl_vector_alive(L, y);
  for (int j = 0; j < x->n; j++)
    for (int i = 0; i < y->n; i++) {
      *X++ = x->data[j * x->stride];
      *Y++ = y->data[i * y->stride];
    }
  return 2;
}

/* reshape(x, n), reshape(x, rows, cols): a copy, read and filled row by row; rows or cols may be -1. */
static int f_reshape(lua_State *L) {
  NsGrid g = nsl_to_grid(L, 1, "reshape", "argument");
  lua_Integer count = (lua_Integer)g.rows * g.cols;
  if (lua_gettop(L) == 2 && !lua_istable(L, 2)) {
    lua_Integer n = nsl_integer(L, 2, "reshape", "size");
    if (n != count && n != -1) return luaL_error(L, "reshape: %s does not fill %I", nsl_describe(L, 1), (LUAI_UACINT)n);
    double *out = nsl_push_vector(L, count, NULL)->data;
    nsl_grid(L, 1, &g);
    ns_grid_by_rows(&g, out, 1, (int)count);
    return 1;
  }
  if (lua_istable(L, 2)) {
    lua_rawgeti(L, 2, 1);
    lua_rawgeti(L, 2, 2);
    lua_remove(L, 2);
  }
  lua_settop(L, 3);
  lua_getfield(L, 1, "reshape");
  lua_insert(L, 1);
  lua_call(L, 3, 1);
  return 1;
}

/* ---- joining ---- */

/* Leaves one table of the parts at index 1; f(a, b, ...) means f{a, b, ...}. Returns their number, at least 1. */
static int array_check_parts(lua_State *L, const char *who) {
  int count = lua_gettop(L);
  if (count != 1 || !lua_istable(L, 1)) {
    lua_createtable(L, count, 0);
    lua_insert(L, 1);
    for (int i = count; i >= 1; i--) lua_rawseti(L, 1, i);
  } else {
    /* Converted parts go to a copy; the caller's table does not change. */
    count = (int)lua_rawlen(L, 1);
    lua_createtable(L, count, 0);
    for (int i = 1; i <= count; i++) {
      lua_rawgeti(L, 1, i);
      lua_rawseti(L, 2, i);
    }
    lua_remove(L, 1);
  }
  if (count == 0) luaL_error(L, "%s: nothing to join", who);
  return count;
}

/* The grid of part i, converted in the table of parts. The table keeps it alive. */
static NsGrid array_part(lua_State *L, int i, const char *who) {
  NsGrid g;
  if (lua_rawgeti(L, 1, i) == LUA_TUSERDATA && nsl_grid(L, -1, &g)) {
    lua_pop(L, 1);
    return g;
  }
  const char *what = lua_pushfstring(L, "part %d", i);
  lua_insert(L, -2);
  g = nsl_to_grid(L, -1, who, what);
  lua_rawseti(L, 1, i);
  lua_pop(L, 1);
  return g;
}

static bool all_vectors(lua_State *L, int count, const char *who) {
  bool all = true;
  for (int i = 1; i <= count; i++) all = array_part(L, i, who).vector && all;
  return all;
}

static int array_join_vectors(lua_State *L, int count, const char *who) {
  lua_Integer total = 0;
  for (int i = 1; i <= count; i++) total += array_part(L, i, who).rows;
  double *out = nsl_push_vector(L, total, NULL)->data;
  for (int i = 1; i <= count; i++) {
    NsGrid g = array_part(L, i, who);
    ns_grid_copy(&g, out, 1, 0);
    out += g.rows;
  }
  return 1;
}

static NsGrid as_row(NsGrid g) {
  return g.vector ? (NsGrid){g.data, 1, g.rows, 0, g.rs, false} : g;
}

/* Joins the parts vertically (a vector is a row) or horizontally (a vector is a column). */
static int stack(lua_State *L, int count, bool vertical, const char *who) {
  lua_Integer length = 0, side = 0;
  for (int i = 1; i <= count; i++) {
    NsGrid g = vertical ? as_row(array_part(L, i, who)) : array_part(L, i, who);
    int across = vertical ? g.cols : g.rows;
    if (i > 1 && across != side)
      return luaL_error(L, "%s: part %d has %d %s, expected %d", who, i, across, vertical ? "columns" : "rows", (int)side);
    side = across;
    length += vertical ? g.rows : g.cols;
  }
  NslMatrix *m = vertical ? nsl_push_matrix(L, length, side, NULL) : nsl_push_matrix(L, side, length, NULL);
  double *to = m->data;
  for (int i = 1; i <= count; i++) {
    NsGrid g = vertical ? as_row(array_part(L, i, who)) : array_part(L, i, who);
    ns_grid_copy(&g, to, 1, m->ld);
    to += vertical ? g.rows : (ptrdiff_t)g.cols * m->ld;
  }
  return 1;
}

static int f_hstack(lua_State *L) {
  int count = array_check_parts(L, "hstack");
  if (all_vectors(L, count, "hstack")) return array_join_vectors(L, count, "hstack");
  return stack(L, count, false, "hstack");
}

static int f_vstack(lua_State *L) {
  return stack(L, array_check_parts(L, "vstack"), true, "vstack");
}

/* concatenate{a, b, ...}: vectors end to end, matrices vertically. */
static int f_concatenate(lua_State *L) {
  int count = array_check_parts(L, "concatenate");
  if (all_vectors(L, count, "concatenate")) return array_join_vectors(L, count, "concatenate");
  return stack(L, count, true, "concatenate");
}

/* ---- block ---- */

typedef struct Blocks {
  int rows, cols;      /* blocks in each direction */
  int *height, *width; /* -1 while unknown */
} Blocks;

/* Pushes block (i, j), from 1, of the rows at index 1, converting a table in place; true when the block is a number. */
static bool array_push_block(lua_State *L, int i, int j) {
  lua_rawgeti(L, 1, i);
  lua_rawgeti(L, -1, j);
  if (lua_type(L, -1) != LUA_TNUMBER && !nsl_test_matrix(L, -1)) {
    const char *what = lua_pushfstring(L, "[%d][%d]", i, j);
    lua_insert(L, -2);
    if (nsl_test_vector(L, -1)) nsl_bad(L, "block", what, "a matrix (v:row() or v:column() make one)", -1);
    if (!lua_istable(L, -1)) nsl_bad(L, "block", what, "a matrix or 0", -1);
    nsl_to_matrix(L, -1, -1, -1, "block", what);
    lua_remove(L, -2);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, j);
  }
  lua_remove(L, -2);
  if (lua_type(L, -1) == LUA_TNUMBER) return true;
  nsl_check_matrix(L, -1);
  return false;
}

/* Leaves a copy of the rows at index 1 and returns the counts; a list of blocks is one row. */
static Blocks check_blocks(lua_State *L) {
  Blocks b = {0};
  lua_settop(L, 1);
  if (!lua_istable(L, 1) || lua_rawlen(L, 1) == 0) nsl_bad(L, "block", "argument", "a table of rows of blocks", 1);
  bool single = lua_rawgeti(L, 1, 1) != LUA_TTABLE;
  lua_pop(L, 1);
  if (single) {
    lua_createtable(L, 1, 0);
    lua_insert(L, 1);
    lua_rawseti(L, 1, 1);
  }
  b.rows = (int)lua_rawlen(L, 1);
  lua_createtable(L, b.rows, 0);
  for (int i = 1; i <= b.rows; i++) {
    if (lua_rawgeti(L, 1, i) != LUA_TTABLE)
      luaL_error(L, "block: row %d: expected a table of blocks, got %s", i, nsl_describe(L, -1));
    int count = (int)lua_rawlen(L, -1);
    if (i > 1 && count != b.cols) luaL_error(L, "block: row %d: expected %d blocks, got %d", i, b.cols, count);
    b.cols = count;
    lua_createtable(L, count, 0);
    for (int j = 1; j <= count; j++) {
      lua_rawgeti(L, -2, j);
      lua_rawseti(L, -2, j);
    }
    lua_rawseti(L, 2, i);
    lua_pop(L, 1);
  }
  lua_remove(L, 1);
  return b;
}

static void array_agree(lua_State *L, int *known, int size, int i, int j, const char *what) {
  if (*known >= 0 && *known != size) luaL_error(L, "block: [%d][%d] has %d %s, expected %d", i, j, size, what, *known);
  *known = size;
}

/* Takes the sizes of block rows and columns from the matrices; one with numbers only has size 1. */
static void measure_blocks(lua_State *L, Blocks *b) {
  for (int i = 0; i < b->rows; i++) b->height[i] = -1;
  for (int j = 0; j < b->cols; j++) b->width[j] = -1;
  for (int i = 0; i < b->rows; i++)
    for (int j = 0; j < b->cols; j++) {
      if (!array_push_block(L, i + 1, j + 1)) {
        const NslMatrix *m = nsl_check_matrix(L, -1);
        array_agree(L, &b->height[i], m->rows, i + 1, j + 1, "rows");
        array_agree(L, &b->width[j], m->cols, i + 1, j + 1, "columns");
      }
      lua_pop(L, 1);
    }
  for (int i = 0; i < b->rows; i++) b->height[i] = b->height[i] < 0 ? 1 : b->height[i];
  for (int j = 0; j < b->cols; j++) b->width[j] = b->width[j] < 0 ? 1 : b->width[j];
}

static void array_place_block(lua_State *L, const Blocks *b, int i, int j, double *to, int ld) {
  NsGrid g;
  if (array_push_block(L, i + 1, j + 1)) {
    double x = lua_tonumber(L, -1);
    bool one = b->height[i] == 1 && b->width[j] == 1;
    if (x != 0 && !one)
      nsl_error(L, "block: [%d][%d]: only 0 fills a %d x %d block, got %f", i + 1, j + 1, b->height[i], b->width[j], x);
    if (one) *to = x;
  } else if (nsl_grid(L, -1, &g)) {
    ns_grid_copy(&g, to, 1, ld);
  }
  lua_pop(L, 1);
}

/* block{{A, B}, {C, D}}: joins blocks; 0 is a zero block whose size follows from its neighbours. */
static int f_block(lua_State *L) {
  Blocks b = check_blocks(L);
  lua_Integer rows = 0, cols = 0;
  b.height = lua_newuserdatauv(L, (size_t)(b.rows + b.cols + 1) * sizeof(int), 0);
  b.width = b.height + b.rows;
  measure_blocks(L, &b);
  for (int i = 0; i < b.rows; i++) rows += b.height[i];
  for (int j = 0; j < b.cols; j++) cols += b.width[j];
  NslMatrix *m = nsl_push_matrix(L, rows, cols, NULL);
  double *column = m->data;
  for (int j = 0; j < b.cols; j++) {
    double *to = column;
    for (int i = 0; i < b.rows; i++) {
      array_place_block(L, &b, i, j, to, m->ld);
      to += b.height[i];
    }
    column += (ptrdiff_t)b.width[j] * m->ld;
  }
  return 1;
}

/* ---- functions of vectors ---- */

/* x * factor for a number, a vector, a matrix, a table, or any object that can be multiplied. */
static int array_scaled(lua_State *L, double factor, const char *who) {
  lua_settop(L, 1);
  nsl_to_array(L, 1, who, "argument");
  if (lua_type(L, 1) != LUA_TNUMBER && lua_type(L, 1) != LUA_TUSERDATA)
    return nsl_bad(L, who, "argument", "a number, a vector or a matrix", 1);
  lua_pushnumber(L, factor);
  lua_arith(L, LUA_OPMUL);
  return 1;
}

static const double PI = 3.14159265358979323846;

static int f_deg2rad(lua_State *L) {
  return array_scaled(L, PI / 180, "deg2rad");
}
static int f_rad2deg(lua_State *L) {
  return array_scaled(L, 180 / PI, "rad2deg");
}

/* f(a, ...) as a:f(...); a table stands for a vector or matrix. */
static int as_method(lua_State *L, const char *name) {
  nsl_to_array(L, 1, name, "argument");
  if (lua_type(L, 1) != LUA_TUSERDATA) return nsl_bad(L, name, "argument", "a vector", 1);
  if (lua_getfield(L, 1, name) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    return nsl_bad(L, name, "argument", "a vector", 1);
  }
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

static int f_cross(lua_State *L) {
  return as_method(L, "cross");
}
static int f_outer(lua_State *L) {
  return as_method(L, "outer");
}

/* dot(v, w): the scalar product; with a matrix, the matrix product. */
static int f_dot(lua_State *L) {
  lua_settop(L, 2);
  nsl_to_array(L, 1, "dot", "argument");
  nsl_to_array(L, 2, "dot", "argument");
  if (!nsl_test_matrix(L, 1) && !nsl_test_matrix(L, 2)) return as_method(L, "dot");
  lua_arith(L, LUA_OPMUL);
  return 1;
}

static int f_isvector(lua_State *L) {
  luaL_checkany(L, 1);
  return lua_pushboolean(L, nsl_test_vector(L, 1) != NULL), 1;
}

static int f_ismatrix(lua_State *L) {
  luaL_checkany(L, 1);
  return lua_pushboolean(L, nsl_test_matrix(L, 1) != NULL), 1;
}

/* ns.vector(n), ns.vector{...}, ns.vector(v), ns.vector(matrix with one row or column) */
static int f_vector(lua_State *L) {
  NslMatrix *m = nsl_test_matrix(L, 1);
  if (lua_gettop(L) != 1)
    return luaL_error(L, "vector: expected a size, a table of numbers or a vector, got %d arguments", lua_gettop(L));
  if (lua_type(L, 1) == LUA_TNUMBER) {
    nsl_push_vector(L, nsl_integer(L, 1, "vector", "size"), NULL);
    return 1;
  }
  if (m && (m->rows == 1 || m->cols == 1)) {
    NslVector *v = nsl_push_vector(L, (lua_Integer)m->rows * m->cols, NULL);
    nsl_matrix_alive(L, m);
    nsl_matrix_read(m, v->data);
    return 1;
  }
  NslVector *from = nsl_test_vector(L, 1);
  if (!from && !lua_istable(L, 1)) return nsl_bad(L, "vector", "argument", "a size, a table of numbers or a vector", 1);
  if (!from) return nsl_to_vector(L, 1, -1, "vector", "argument"), 1;
  return nsl_push_vector_copy(L, from), 1;
}

#define ROW(name)                                                                                                              \
  { #name, f_##name }
static const luaL_Reg functions[] = {ROW(vector),      ROW(zeros),   ROW(ones),     ROW(full),     ROW(eye),     ROW(diag),
                                     ROW(linspace),    ROW(arange),  ROW(tile),     ROW(hstack),   ROW(vstack),  ROW(block),
                                     ROW(concatenate), ROW(reshape), ROW(meshgrid), ROW(deg2rad),  ROW(rad2deg), ROW(outer),
                                     ROW(dot),         ROW(cross),   ROW(isvector), ROW(ismatrix), {NULL, NULL}};

void nsl_open_arrays(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
