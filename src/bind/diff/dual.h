/*
** dual.h
** The userdata that stand for numbers and vectors while a callback is differentiated.
*/
#ifndef NSL_DIFF_DUAL_H
#define NSL_DIFF_DUAL_H

#include "ad/jet.h"
#include "bind/lua/object.h"

/*
** A number with np partials. `tag` tells one evaluation from another: duals of two do not mix, since their partials
** are by different variables. Immutable. The two highest bits of the tag tell what of ad/jet.h the partials are.
*/
enum { NSL_JET_SHIFT = 62 };

typedef struct NslDual {
  NslHead head;
  uint64_t tag;
  double value;
  int np;
  double d[];
} NslDual;

/*
** n elements; element i (from 0) is e[i * step]: its value, then np partials. An input is read-only; a slice is a
** live view whose user value 1 anchors the vector it looks at. An element whose partials are all zero reads as a
** plain number.
*/
typedef struct NslDualVector {
  NslHead head;
  uint64_t tag;
  double *e;
  ptrdiff_t step;
  int n, np;
  bool readonly, busy; /* busy: a pass that goes on has it */
  const char *label;
  double own[];
} NslDualVector;

extern const NslType nsl_dual_type, nsl_dual_vector_type;

/* What np partials under a tag are. */
NsJet nsl_jet_of(uint64_t tag, int np);

/* ns_jet_add on them; does nothing where they are of first order. */
static inline void nsl_jet_add(uint64_t tag, int np, double *out, NsBend bend, double vx, double vy, const double *x,
                               const double *y) {
  if (tag >> NSL_JET_SHIFT) ns_jet_add(nsl_jet_of(tag, np), out, bend, vx, vy, x, y);
}

/*
** Every function of these files is a closure on the two metatables (upvalues 1 and 2), so that a dual is made
** without looking one up. Code elsewhere pushes them first and passes their stack indices as `meta`.
*/
enum { NSL_DUAL_META = 1, NSL_DUAL_VECTOR_META = 2, NSL_DUAL_UPVALUES = 2 };

/* The same as nsl_test, for the hot path: `least` is the size of the type's struct. */
static inline void *nsl_test_fast(lua_State *L, int idx, const NslType *type, size_t least) {
  NslHead *head = lua_touserdata(L, idx);
  if (!head || lua_rawlen(L, idx) < least) return NULL;
  return head->magic == NSL_MAGIC && head->type == type ? head : NULL;
}

static inline NslDual *nsl_test_dual(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_dual_type, sizeof(NslDual));
}

static inline NslDualVector *nsl_test_dual_vector(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_dual_vector_type, sizeof(NslDualVector));
}

/* Pushes a dual with partials not set; meta is the index of the metatable of duals. */
NslDual *nsl_push_dual(lua_State *L, int meta, uint64_t tag, int np);

/* Pushes a zeroed dual vector; meta is the index of the metatable of dual vectors. */
NslDualVector *nsl_push_dual_vector(lua_State *L, int meta, uint64_t tag, int n, int np, const char *label);

/*
** From inside a closure of these files: pushes slope's value with the partials dx x + dy y (NULL: constant). bend:
** the second derivatives of the operation, which jets need; a and b: the values of
** the operands.
*/
void nsl_push_slope(lua_State *L, const NslDual *x, const NslDual *y, NsSlope slope, NsBend bend, double a, double b);

/* Raises when the two come from different evaluations. */
void nsl_same_tag(lua_State *L, uint64_t a, uint64_t b);

/*
** Stores the number or dual at idx into element i of v; raises "LABEL[i]: number expected, got ...". Does not look
** at readonly.
*/
void nsl_dual_vector_store(lua_State *L, NslDualVector *v, int i, int idx);

/* Pushes element i (from 0) as a dual, or as a number when its partials are all 0; meta as in nsl_push_dual. */
void nsl_push_dual_element(lua_State *L, int meta, const NslDualVector *v, int i);

/* Arithmetic with a dual vector among the operands (vector file), called by the metamethods of both types. */
typedef struct NslDualOp {
  NsBinary slope;
  NsBend bend;
  char sign;
  int op; /* LUA_OPADD ... */
} NslDualOp;

int nsl_dual_vector_arithmetic(lua_State *L, const NslDualOp *op);

/* The metamethods of arithmetic, comparison aside, for both types. */
extern const luaL_Reg nsl_dual_arithmetic[];

/* Makes the metatables, pushed in the order of the upvalues. */
void nsl_dual_register(lua_State *L);
void nsl_dual_vector_register(lua_State *L);

/*
** Pushes the table that maps each function of the math library, and string.format, to one that takes duals too and
** is otherwise the same. Expects the two metatables on top of the stack, and leaves them below the table.
*/
void nsl_dual_math(lua_State *L);

/*
** Whether the replacement at idx was given a dual since the last `forget` of all those in the map; always true of
** those that would take a dual for something else without an error (type, tointeger).
*/
bool nsl_dual_math_used(lua_State *L, int idx);
void nsl_dual_math_forget(lua_State *L, int map);

/* Makes it count as used. */
void nsl_dual_math_remember(lua_State *L, int idx);

#endif
