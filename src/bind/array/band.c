/*
** band.c
** The banded matrix userdata: entries, product, and a factorisation that is renewed when entries change.
*/
#include "bind/lua/open.h"
#include "linalg/band.h"

#include <limits.h>

#include "bind/array/linear_systems.h"
#include "bind/array/band.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

static const NslType band_type = {.name = "band matrix"};

typedef struct NslBand {
  NslHead head;
  NsBand *A;
  NsBandLu *lu;  /* NULL before the first solve */
  bool factored; /* lu belongs to the present A */
  double rcond;
} NslBand;

static NslBand *check_band(lua_State *L, int idx) {
  return nsl_check(L, idx, &band_type);
}

static int band_gc(lua_State *L) {
  NslBand *self = nsl_test(L, 1, &band_type);
  if (!self) return 0;
  self->head.closed = true;
  ns_band_lu_free(self->lu);
  ns_band_free(self->A);
  self->lu = NULL;
  self->A = NULL;
  return 0;
}

static int bind_band_size_of(lua_State *L, int idx, const char *what, lua_Integer limit) {
  lua_Integer n = nsl_integer(L, idx, "band", what);
  if (n < 0 || n > limit)
    luaL_error(L, "band: %s: expected an integer in 0..%I, got %I", what, (LUAI_UACINT)limit, (LUAI_UACINT)n);
  return (int)n;
}

/* Returns the band matrix on top of the stack as the only result. */
static int bind_band_finish(lua_State *L, const NslBand *self) {
  nsl_count_memory(L, (size_t)self->A->ld * (size_t)self->A->n * sizeof(double));
  return 1;
}

static int from_matrix(lua_State *L) {
  NslMatrix *m = nsl_to_finite_matrix(L, 1, -1, -1, "band", "A");
  int kl, ku;
  if (m->rows != m->cols) return nsl_bad(L, "band", "A", "a square matrix", 1);
  NslBand *self = nsl_new(L, &band_type, sizeof *self, 0);
  nsl_matrix_alive(L, m);
  ns_band_widths(m->rows, m->data, m->ld, &kl, &ku);
  nsl_check_status(L, ns_band_new(&self->A, m->rows, kl, ku), "band");
  ns_band_from_dense(self->A, m->data, m->ld);
  return bind_band_finish(L, self);
}

/* ns.band(n, kl, ku): zeros; ns.band(A): the narrowest band that holds a square matrix */
static int new_band(lua_State *L) {
  if (lua_type(L, 1) != LUA_TNUMBER) return from_matrix(L);
  int n = bind_band_size_of(L, 1, "n", INT_MAX - 1), last = n > 0 ? n - 1 : 0;
  int kl = bind_band_size_of(L, 2, "kl", last), ku = bind_band_size_of(L, 3, "ku", last);
  NslBand *self = nsl_new(L, &band_type, sizeof *self, 0);
  nsl_check_status(L, ns_band_new(&self->A, n, kl, ku), "band");
  return bind_band_finish(L, self);
}

/* The entry at row and column in arguments 2 and 3, from 1; NULL outside the band. */
static double *bind_band_place(lua_State *L, const NslBand *self, const char *who) {
  lua_Integer i = nsl_integer(L, 2, who, "row index"), j = nsl_integer(L, 3, who, "column index");
  int n = self->A->n;
  if (i < 1 || i > n || j < 1 || j > n)
    luaL_error(L, "%s: (%I, %I) is outside a %d x %d band matrix", who, (LUAI_UACINT)i, (LUAI_UACINT)j, n, n);
  return ns_band_at(self->A, (int)i - 1, (int)j - 1);
}

static int bind_band_get(lua_State *L) {
  const double *entry = bind_band_place(L, check_band(L, 1), "get");
  return lua_pushnumber(L, entry ? *entry : 0), 1;
}

static int bind_band_set(lua_State *L) {
  NslBand *self = check_band(L, 1);
  double *entry = bind_band_place(L, self, "set"), value = nsl_finite(L, 4, "set", "value");
  if (!entry)
    return luaL_error(L, "set: (%d, %d) is outside the band (kl %d, ku %d)", (int)lua_tointeger(L, 2), (int)lua_tointeger(L, 3),
                      self->A->kl, self->A->ku);
  *entry = value;
  self->factored = false;
  lua_settop(L, 1);
  return 1;
}

static int bind_band_rows(lua_State *L) {
  return lua_pushinteger(L, check_band(L, 1)->A->n), 1;
}

static int bind_band_shape(lua_State *L) {
  bind_band_rows(L);
  bind_band_rows(L);
  return 2;
}

/* A:widths() -> kl, ku */
static int bind_band_widths(lua_State *L) {
  NslBand *self = check_band(L, 1);
  lua_pushinteger(L, self->A->kl);
  lua_pushinteger(L, self->A->ku);
  return 2;
}

static int bind_band_tomatrix(lua_State *L) {
  NslBand *self = check_band(L, 1);
  NslMatrix *out = nsl_push_matrix(L, self->A->n, self->A->n, NULL);
  ns_band_to_dense(self->A, out->data, out->ld);
  return 1;
}

static int band_mul(lua_State *L) {
  NslBand *self = nsl_test(L, 1, &band_type);
  if (!self || nsl_is_closed(&self->head) || lua_isnumber(L, 2)) {
    const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2);
    return luaL_error(L, "%s * %s: a band matrix multiplies vectors and matrices from the left", left, right);
  }
  int nrhs, n = self->A->n;
  double *x = nsl_push_rhs(L, 2, n, "band matrix *", &nrhs);
  lua_pushvalue(L, -1);
  NslMatrix *m = nsl_test_matrix(L, -1);
  double *y = m ? nsl_push_matrix(L, n, nrhs, NULL)->data : nsl_push_vector(L, n, NULL)->data;
  for (int k = 0; k < nrhs; k++) ns_band_gemv(self->A, x + (size_t)k * (size_t)n, y + (size_t)k * (size_t)n);
  return 1;
}

static void bind_band_factor(lua_State *L, NslBand *self, const char *who) {
  const NsBand *A = self->A;
  bool first = !self->lu;
  if (self->factored) return;
  NsStatus status = self->lu ? NS_OK : ns_band_lu_new(&self->lu, A->n, A->kl, A->ku);
  if (!status) status = ns_band_lu_factor(self->lu, A);
  if (status == NS_ESINGULAR) nsl_raise_singular(L, who, "row", ns_band_lu_singular_row(self->lu));
  nsl_check_status(L, status, who);
  self->rcond = ns_band_lu_rcond(self->lu);
  self->factored = true;
  if (first) nsl_count_memory(L, (size_t)(A->ld + A->kl) * (size_t)A->n * sizeof(double));
}

/* Pushes the solution of A x = b, or A' x = b, for the right-hand side at index 2. */
static void bind_band_push_solution(lua_State *L, NslBand *self, bool transposed, const char *who) {
  int nrhs, n = self->A->n;
  bind_band_factor(L, self, who);
  nsl_refuse_rcond(L, who, self->rcond);
  double *x = nsl_push_rhs(L, 2, n, who, &nrhs);
  if (transposed) ns_band_lu_solve_transposed(self->lu, nrhs, x, n);
  else ns_band_lu_solve(self->lu, nrhs, x, n);
}

bool nsl_solve_band(lua_State *L, int *results) {
  if (!nsl_test(L, 1, &band_type)) return false;
  NslBand *self = check_band(L, 1);
  lua_settop(L, 3);
  *results = nsl_wants_rcond(L, 3, "solve") ? 2 : 1;
  bind_band_push_solution(L, self, false, "solve");
  if (*results == 2) lua_pushnumber(L, self->rcond);
  return true;
}

/* A:tsolve(b): A' x = b */
static int bind_band_tsolve(lua_State *L) {
  NslBand *self = check_band(L, 1);
  lua_settop(L, 2);
  bind_band_push_solution(L, self, true, "tsolve");
  return 1;
}

static int bind_band_solve(lua_State *L) {
  int results = 0;
  check_band(L, 1);
  nsl_solve_band(L, &results);
  return results;
}

static int bind_band_rcond(lua_State *L) {
  NslBand *self = check_band(L, 1);
  bind_band_factor(L, self, "rcond");
  return lua_pushnumber(L, self->rcond), 1;
}

static int band_tostring(lua_State *L) {
  NslBand *self = nsl_test(L, 1, &band_type);
  if (!self || !self->A) return lua_pushliteral(L, "band matrix (closed)"), 1;
  int n = self->A->n;
  lua_pushfstring(L, "%d x %d band matrix (kl %d, ku %d)", n, n, self->A->kl, self->A->ku);
  if (n == 0 || n > 12) return 1;
  bind_band_tomatrix(L);
  const char *head = lua_tostring(L, -2), *grid = luaL_tolstring(L, -1, NULL);
  return lua_pushfstring(L, "%s\n%s", head, grid), 1;
}

static const luaL_Reg band_meta[] = {
    {"__gc", band_gc},   {"__close", band_gc},      {"__tostring", band_tostring},
    {"__mul", band_mul}, {"__len", bind_band_rows}, {"__call", bind_band_get},
    {NULL, NULL},
};

#define ROW(name)                                                                                                              \
  { #name, bind_band_##name }
static const luaL_Reg band_methods[] = {ROW(get),      ROW(set),    ROW(rows),   {"cols", bind_band_rows},
                                        ROW(shape),    ROW(widths), ROW(solve),  ROW(rcond),
                                        ROW(tomatrix), ROW(tsolve), {NULL, NULL}};

void nsl_open_band(lua_State *L) {
  nsl_register_type(L, &band_type, band_meta, band_methods);
  nsl_set_cfunction(L, "band", new_band);
}
