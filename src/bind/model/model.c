/*
** model.c
** What the userdata of this room share: coefficients, names, parameters.
*/
#include "bind/model/model.h"

#include <stdio.h>

#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

bool nsl_is_live(const NslVector *v) {
  return v->head.owner && v->head.owner->stepped;
}

static NsSource vector_source(const NslVector *v, bool shared) {
  return (NsSource){v->data, v->stride, 0, shared ? v->version : NULL, shared && nsl_is_live(v)};
}

static NsSource matrix_source(const NslMatrix *m, bool shared) {
  return (NsSource){m->data, 1, m->ld, shared ? m->version : NULL, false};
}

void nsl_set_coef(lua_State *L, int idx, NsCoef *coef, int value, int rows, int cols, const char *what, bool shared) {
  NslCallee *callee = lua_touserdata(L, idx);
  const char *who = callee->head.type->name;
  bool was_given = ns_coef_given(coef);
  NsStatus status;
  lua_pushvalue(L, value);
  int copy = lua_gettop(L);
  const NsSparse *sparse = cols == 0 ? NULL : nsl_test_sparse(L, copy);
  if (sparse) {
    if ((rows >= 0 && sparse->rows != rows) || (cols >= 0 && sparse->cols != cols)) {
      const char *expected = rows >= 0 && cols >= 0 ? lua_pushfstring(L, "a %d x %d matrix", rows, cols) : "another size";
      nsl_bad(L, who, what, expected, copy);
    }
    ns_coef_set_sparse(coef, sparse);
    shared = true;
    was_given = false;
    status = NS_OK;
  } else if (cols == 0) {
    NslVector *v = nsl_to_finite_vector(L, copy, rows, who, what);
    status = ns_coef_set(coef, v->n, 1, vector_source(v, shared));
  } else {
    NslMatrix *m = nsl_to_finite_matrix(L, copy, rows, cols, who, what);
    status = ns_coef_set(coef, m->rows, m->cols, matrix_source(m, shared));
  }
  if (status != NS_OK) luaL_error(L, "not enough memory");
  if (shared) nsl_anchor(L, idx, what, copy);
  lua_settop(L, copy - 1);
  NsNsds *nsds = (NsNsds *)callee->nsds;
  if (nsds && !was_given) nsds->version++;
  if (nsds) nsds->values++;
}

/* The present numbers of a coefficient, to be copied. */
static NsSource present_source(const NsCoef *coef) {
  const NsSource *s = &coef->source;
  if (s->version) return (NsSource){s->data, s->row_stride, s->col_stride, NULL, false};
  return (NsSource){coef->value, 1, coef->rows, NULL, false};
}

void nsl_clone_coef(lua_State *L, const NsCoef *from, NsCoef *to) {
  if (from->sparse) {
    ns_coef_set_sparse(to, from->sparse);
  } else if (from->value && !ns_coef_varies(from)) {
    if (ns_coef_set(to, from->rows, from->cols, present_source(from)) != NS_OK) luaL_error(L, "not enough memory");
  }
}

int nsl_push_coef(lua_State *L, const NsCoef *coef, bool as_vector) {
  if (coef->sparse) return nsl_push_sparse(L, coef->sparse), 1;
  if (!coef->value) return lua_pushnil(L), 1;
  NsSource from = present_source(coef);
  double *to = as_vector ? nsl_push_vector(L, coef->rows, NULL)->data : nsl_push_matrix(L, coef->rows, coef->cols, NULL)->data;
  for (ptrdiff_t j = 0; j < coef->cols; j++)
    for (ptrdiff_t i = 0; i < coef->rows; i++) *to++ = from.data[i * from.row_stride + j * from.col_stride];
  return 1;
}

int nsl_set_name(lua_State *L, char *buffer, int value, const char *who) {
  if (lua_type(L, value) != LUA_TSTRING) nsl_bad(L, who, "name", "a string", value);
  snprintf(buffer, NS_NAME_SIZE, "%s", lua_tostring(L, value));
  return 0;
}

void nsl_set_z(lua_State *L, int idx, double **z, int *nz, int value, bool linked, bool shared) {
  NslCallee *callee = lua_touserdata(L, idx);
  const char *who = callee->head.type->name;
  if (linked && callee->nz == 0) luaL_error(L, "%s: z: it is linked, without parameters z: give it z before", who);
  lua_pushvalue(L, value);
  int copy = lua_gettop(L);
  NslVector *v = nsl_to_finite_vector(L, copy, linked ? callee->nz : -1, who, "z");
  if (shared && v->stride != 1 && nsl_is_live(v))
    luaL_error(L,
               "%s: z: expected all elements or neighbours of a live view, got one in %d, which would not follow it (give "
               "more of them, or copy())",
               who, (int)v->stride);
  if (!shared || v->stride != 1) {
    NslVector *own = nsl_push_vector(L, v->n, "z");
    nsl_vector_read(v, own->data);
    v = own;
  }
  nsl_anchor(L, idx, "z", -1);
  *z = v->data;
  *nz = v->n;
  if (callee->nsds) ((NsNsds *)callee->nsds)->values++;
  lua_settop(L, copy - 1);
}

int nsl_push_z(lua_State *L, int idx, double *z, int nz) {
  if (!z) return lua_pushnil(L), 1;
  nsl_push_vector_view(L, idx, z, nz, 1, "z", NULL);
  lua_createtable(L, 2, 0);
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, 1);
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_getfield(L, -1, "anchor z");
  lua_rawseti(L, -3, 2);
  lua_pop(L, 1);
  lua_setiuservalue(L, -2, 1);
  return 1;
}
