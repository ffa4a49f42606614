/*
** model.c
** For the specs alone: derivatives of a relation's output along a motion, its second derivatives, a step's matrix.
*/
#include "internal.h"

#include <string.h>

#include "bind/array/sparse.h"
#include "bind/model/model.h"
#include "integrators/triplets.h"
#include "model/components.h"
#include "model/native.h"

typedef NsStatus (*Derivative)(const NsRelation *, const NsRelationPoint *, const double *, double *, double *, NsError *);

static NsStatus spec_model_rate(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room, double *out,
                                NsError *err) {
  (void)qdot;
  return ns_relation_add_rate(rel, at, room, out, err);
}

static NsStatus spec_model_bias(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room, double *out,
                                NsError *err) {
  return ns_relation_add_bias(rel, at, qdot, NULL, room, out, err);
}

/* Arguments: (relation, t, q, qdot [, lambda]) of a linked relation. Pushes the vector that f adds to zeros. */
static int spec_model_evaluate(lua_State *L, Derivative f) {
  NslRelation *self = nsl_check_relation(L, 1);
  const NsRelation *rel = self->relation;
  NsError err = {0};
  luaL_argcheck(L, rel->m >= 0, 1, "not linked");
  lua_settop(L, 5);
  if (lua_isnil(L, 5)) nsl_push_vector(L, rel->m, "lambda"), lua_replace(L, 5);
  const double *q = nsl_to_vector(L, 3, rel->nx, "bias", "q")->data;
  const double *qdot = nsl_to_vector(L, 4, rel->nx, "bias", "qdot")->data;
  const double *lambda = nsl_to_vector(L, 5, rel->m, "bias", "lambda")->data;
  size_t size = ns_relation_bias_room(rel) + NS_DIFFERENCE_ROOM * (size_t)rel->m;
  double *room = nsl_push_vector(L, (int)size, NULL)->data;
  NslVector *out = nsl_push_vector(L, rel->m, NULL);
  NsRelationPoint at = {luaL_checknumber(L, 2), q, lambda, rel->z, false};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL, NULL);
  NsStatus status = f(rel, &at, qdot, room, out->data, &err);
  nsl_leave(self->callee.host, edge);
  return status == NS_OK ? 1 : nsl_raise_step(L, &err);
}

static int relation_bias(lua_State *L) {
  return spec_model_evaluate(L, spec_model_bias);
}

static int relation_rate(lua_State *L) {
  return spec_model_evaluate(L, spec_model_rate);
}

/* relation_second(relation, t, q): the second derivatives of the output (m x nx x nx) and of its drift (m x nx); or nil. */
static int relation_second(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  const NsRelation *rel = self->relation;
  luaL_argcheck(L, rel->m >= 0, 1, "not linked");
  const double *q = nsl_to_vector(L, 3, rel->nx, "second", "q")->data;
  const double *lambda = nsl_push_vector(L, rel->m, NULL)->data;
  double *room = nsl_push_vector(L, rel->nx + 3 * rel->m, NULL)->data;
  NslVector *second = nsl_push_vector(L, rel->m * rel->nx * rel->nx, NULL);
  NslVector *drift = nsl_push_vector(L, rel->m * rel->nx, NULL);
  NsRelationPoint at = {luaL_checknumber(L, 2), q, lambda, rel->z, false};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL, NULL);
  bool good = ns_relation_second(rel, &at, room, second->data, drift->data);
  nsl_leave(self->callee.host, edge);
  return good ? 2 : (lua_pushnil(L), 1);
}

/*
** relation_curvature(relation, t, q, w): C, then second, drift and third of ns_relation_curvature, each as a vector in the order of its
** columns; C and nil where they are unknown.
*/
static int spec_relation_curvature(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  const NsRelation *rel = self->relation;
  luaL_argcheck(L, rel->m >= 0, 1, "not linked");
  const double *q = nsl_to_vector(L, 3, rel->nx, "curvature", "q")->data;
  const double *w = nsl_to_vector(L, 4, rel->nx, "curvature", "w")->data;
  const double *lambda = nsl_push_vector(L, rel->m, NULL)->data;
  double *room = nsl_push_vector(L, (int)ns_relation_curvature_room(rel), NULL)->data;
  double *C = nsl_push_vector(L, rel->m * rel->nx, NULL)->data;
  NsRelationCurvature out = {nsl_push_vector(L, rel->m * rel->nx * rel->nx, NULL)->data,
                             nsl_push_vector(L, rel->m * rel->nx, NULL)->data,
                             nsl_push_vector(L, rel->m * rel->nx, NULL)->data};
  NsRelationPoint at = {luaL_checknumber(L, 2), q, lambda, rel->z, false};
  NsError err = {0};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL, NULL);
  NsStatus status = ns_relation_C(rel, &at, C, &err);
  bool good = status == NS_OK && ns_relation_curvature(rel, &at, w, room, &out);
  nsl_leave(self->callee.host, edge);
  if (good) return 4;
  lua_pop(L, 3);
  return lua_pushnil(L), 2;
}

/* One piece of triplets(), and where its numbers are. */
typedef struct Piece {
  NsCoef coef;
  NsRectangle part;
  double factor;
  int row, col;
  bool transposed;
} Piece;

typedef struct Pieces {
  const Piece *of;
  int count;
} Pieces;

static void put_pieces(const void *context, NsTriplets *t) {
  const Pieces *all = context;
  for (int i = 0; i < all->count; i++) {
    const Piece *p = &all->of[i];
    ns_triplets_put_coef(t, &p->coef, p->factor, p->part, p->row, p->col, p->transposed);
  }
}

/* Reads the piece on top: coef (dense, sparse or none), factor, part = {row, rows, col, cols}, row, col, transposed. */
static void read_piece(lua_State *L, Piece *p) {
  int piece = lua_gettop(L), row, rows, col, cols;
  *p = (Piece){.factor = 0};
  nsl_internal_take(L, piece, NULL, "factor. row: col: transposed?", &p->factor, &p->row, &p->col, &p->transposed);
  lua_getfield(L, piece, "part");
  nsl_internal_take(L, -1, NULL, "row: rows: col: cols:", &row, &rows, &col, &cols);
  p->part = (NsRectangle){row, rows, col, cols};
  lua_getfield(L, piece, "coef");
  p->coef.sparse = lua_isnil(L, -1) ? NULL : nsl_test_sparse(L, -1);
  if (!p->coef.sparse && !lua_isnil(L, -1)) {
    NslMatrix *m = nsl_to_matrix(L, lua_gettop(L), -1, -1, "triplets", "coef");
    p->coef.value = m->data;
    p->coef.rows = m->rows;
    p->coef.cols = m->cols;
  }
  lua_settop(L, piece);
}

/* triplets(n, pieces): the sparse n x n sum of all pieces, and the number of triplets. */
static int triplets(lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1), count = (int)luaL_len(L, 2);
  Piece *of = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *of, 0);
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, 2, i + 1);
    read_piece(L, &of[i]);
    lua_pop(L, 1);
  }
  Pieces all = {of, count};
  NsTriplets counted = {0};
  NsSparse *matrix = NULL;
  put_pieces(&all, &counted);
  if (ns_triplets_form(&matrix, n, put_pieces, &all) != NS_OK) return luaL_error(L, "not enough memory");
  nsl_push_sparse(L, matrix);
  ns_sparse_free(matrix);
  lua_pushinteger(L, (lua_Integer)counted.count);
  return 2;
}

/* graph_components(nsds): the number of components, and the list of each system's component (from 1). */
static int graph_components(lua_State *L) {
  const NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  int *of = lua_newuserdatauv(L, ((size_t)nsds->nds + 1) * sizeof *of, 0);
  lua_pushinteger(L, ns_nsds_components(nsds, of));
  for (int d = 0; d < nsds->nds; d++) of[d]++;
  nsl_push_integers(L, nsds->nds, of);
  return 2;
}

/* ---- native callbacks ---- */

/* Functions of four signatures, which write what they were given. */
static void native_matrix(double t, unsigned rows, unsigned cols, double *out, unsigned nz, double *z) {
  memcpy(out, (double[]){t, rows, cols, nz, z[0]}, 5 * sizeof *out);
}

static void native_type1(unsigned nin, double *in, unsigned nout, double *out, unsigned nz, double *z) {
  memcpy(out, (double[]){nin, in[0], nout, nz, z[0]}, 5 * sizeof *out);
}

static void native_value(double t, unsigned n, double *x, unsigned m, double *lambda, unsigned nout, double *out, unsigned nz,
                         double *z) {
  memcpy(out, (double[]){t, n, x[0], m, lambda[0], nout, nz, z[0]}, 8 * sizeof *out);
}

static void native_qvt(unsigned n, const double *q, unsigned again, const double *v, double t, double *out, unsigned nz,
                       double *z) {
  memcpy(out, (double[]){n, q[0], again, v[0], t, nz, z[0]}, 7 * sizeof *out);
}

/* native(name, by_lambda): the output of a call at t = 0.5, x = 1 (n = 2), lambda = 3 (m = 4), z = 5 (nz = 6), nout = 9, 7 rows, 8 columns. */
static int native(lua_State *L) {
  static const char *const names[] = {"MATRIX", "TYPE1", "VALUE", "QVT", NULL};
  static const NsNative kinds[] = {NS_NATIVE_MATRIX, NS_NATIVE_TYPE1, NS_NATIVE_VALUE, NS_NATIVE_QVT};
  const NsSymbol functions[] = {(NsSymbol)native_matrix, (NsSymbol)native_type1, (NsSymbol)native_value, (NsSymbol)native_qvt};
  double x = 1, lambda = 3, z = 5, *out = nsl_push_vector(L, 9, NULL)->data;
  NsNativeCall call = {.t = 0.5, .x = &x, .lambda = &lambda, .z = &z, .out = out, .n = 2, .m = 4, .nz = 6, .nout = 9};
  int k = luaL_checkoption(L, 1, NULL, names);
  call.rows = 7, call.cols = 8, call.by_lambda = lua_toboolean(L, 2);
  for (int i = 0; i < 9; i++) out[i] = -1;
  return ns_native_call(kinds[k], functions[k], &call), 1;
}

void nsl_internal_model(lua_State *L) {
  nsl_set_cfunction(L, "graph_components", graph_components);
  nsl_set_cfunction(L, "relation_bias", relation_bias);
  nsl_set_cfunction(L, "relation_rate", relation_rate);
  nsl_set_cfunction(L, "relation_second", relation_second);
  nsl_set_cfunction(L, "relation_curvature", spec_relation_curvature);
  nsl_set_cfunction(L, "triplets", triplets);
  nsl_set_cfunction(L, "native", native);
}
