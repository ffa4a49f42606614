/*
** ds.h
** What the files of the dynamical systems share.
*/
#pragma once

#include "bind/model/coefficient.h"

/* The first-order systems, or the mechanical ones. */
typedef struct NslDsFamily {
  const NslCalleeFamily *callee;
  int (*construct)(lua_State *L, const NsDsClass *class); /* pushes a system made from the arguments from 1 on; returns 1 */
  void (*add_methods)(lua_State *L); /* adds the methods that no table of fields makes to the table on top */
  const luaL_Reg *meta;
  const char *const *of_rotation; /* names of methods that only rigid bodies have; NULL: none */
} NslDsFamily;

/* Registers the classes of a family, and their constructors in the module on top of the stack. */
void nsl_open_ds_family(lua_State *L, NsFamily which, const NslDsFamily *family);

/* Whether a type is a dynamical system; whether it is a first-order one. */
bool nsl_is_ds(const NslType *type);
bool nsl_is_first_order(const NslType *type);

#define NSL_DS_NO_CALLBACK "%s: a %s has no %s callback"

/* For NslCalleeFamily: the engine's system; the version counter of its state. */
void *nsl_ds_object(NslCallee *callee);
uint64_t *nsl_ds_version(NslCallee *callee);

/*
** Make a system: the first pushes its userdata of `bytes` bytes, the second gives it `ds`; callbacks take n states, m
** velocities.
*/
NslDs *nsl_push_ds(lua_State *L, const NsDsClass *class, const NslCalleeFamily *family, size_t bytes);
void nsl_ds_start(lua_State *L, NslDs *self, NsDs *ds, int n, int m);

/* The system at 1; raises when it is in the middle of a step. */
NslDs *nsl_check_idle_ds(lua_State *L, const char *what);

/* The mechanical system at idx; the one at 1, which raises in the middle of a step. */
NslDs *nsl_check_mechanical(lua_State *L, int idx);
NslDs *nsl_check_idle_mechanical(lua_State *L, const char *what);

/* Whether an interaction is linked to the system. */
bool nsl_ds_linked(const NslDs *self);

/* Sets the parameters z of the system at idx from stack index `value`; shared: the vector there is kept, not copied. */
void nsl_set_ds_z(lua_State *L, int idx, int value, bool shared);

/* Pushes a live view of one of the vectors of the system at 1. Returns 1. */
int nsl_ds_view(lua_State *L, double *data, int n, const char *label, uint64_t *version);

/* Copies the vector or table at 2 into one of the system's own vectors. Returns 0. */
int nsl_ds_assign(lua_State *L, const NslDs *self, double *to, int n, const char *what);

/* __close and __gc: close the system's graph too, which needs it; finalizers of scripts find the graph closed. */
int nsl_ds_close(lua_State *L);
int nsl_ds_gc(lua_State *L);

/* Pushes "FirstOrderLinearDS 'clutch' with 4 states" for the system at 1. */
int nsl_ds_tostring(lua_State *L, int count, const char *one, const char *many);

/* What the name already means in a solution, as "a field of solutions"; NULL: nothing. */
const char *nsl_meaning_in_solution(const char *name);

/* Gives the system at `to` a clone of the boundary conditions of the system at `from`. */
void nsl_clone_boundary(lua_State *L, int from, int to);
