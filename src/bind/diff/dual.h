/*
** dual.h
** The userdata that replace numbers and vectors while a callback is differentiated.
*/
#pragma once

#include "ad/jet.h"
#include "bind/diff/proxy.h"

/*
** A number with np partials; immutable. `tag` identifies the evaluation: duals of two evaluations don't mix, since their
** partials belong to different variables. The two highest bits of the tag are the kind of ad/jet.h that the partials have.
*/
enum { NSL_JET_SHIFT = 62 };

typedef struct NslDual {
  NslHead head;
  uint64_t tag;
  double value;
  int np;
  double d[];
} NslDual;

/* Element i (from 0) is at e[i * base.step]: value, np partials; with zero partials it reads as a plain number. */
typedef struct NslDualVector {
  NslProxyVector base;
  double *e;
  int np;
  bool busy; /* in use by a pass */
  double own[];
} NslDualVector;

extern const NslType nsl_dual_type, nsl_dual_vector_type;

/* The kind of proxies that duals are; its values (upvalues) are the two metatables. */
extern const NslProxy nsl_duals;
enum { NSL_DUAL_VALUES = 2 };

static inline NslDual *nsl_test_dual(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_dual_type, sizeof(NslDual));
}

static inline NslDualVector *nsl_test_dual_vector(lua_State *L, int idx) {
  return nsl_test_fast(L, idx, &nsl_dual_vector_type, sizeof(NslDualVector));
}

/* Element i: its value, then its partials. */
static inline double *nsl_dual_at(const NslDualVector *v, int i) {
  return v->e + i * v->base.step;
}

/* Pushes a dual, its partials not initialised; meta is the stack index of the metatable of duals. */
NslDual *nsl_push_dual(lua_State *L, int meta, uint64_t tag, int np);

/* Pushes a zeroed dual vector; meta is the index of the metatable of dual vectors. */
NslDualVector *nsl_push_dual_vector(lua_State *L, int meta, uint64_t tag, int n, int np, const char *label);

/* Stores the number or dual at idx into element i of v, or raises "LABEL[i]: number expected, got ...". Ignores readonly. */
void nsl_dual_vector_store(lua_State *L, NslDualVector *v, int i, int idx);

/* Makes the two metatables and pushes them. */
void nsl_dual_register(lua_State *L);
