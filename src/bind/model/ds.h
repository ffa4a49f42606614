/*
** ds.h
** What the files of the dynamical systems share.
*/
#ifndef NSL_MODEL_DS_H
#define NSL_MODEL_DS_H

#include "bind/model/coefficient.h"

/* The systems of first order, or those of mechanics. */
typedef struct NslDsFamily {
  const NslCalleeFamily *callee;
  int (*construct)(lua_State *L, const NsDsClass *class); /* pushes a system out of the arguments from 1 on; returns 1 */
  void (*add_methods)(lua_State *L);                      /* to the table on top: what the tables of fields do not make */
  const luaL_Reg *meta;
  const char *const *of_rotation; /* names of methods that only rigid bodies have; NULL: none */
} NslDsFamily;

/* Registers the classes of a family, and their constructors in the module at the top. */
void nsl_open_ds_family(lua_State *L, NsFamily which, const NslDsFamily *family);

/* Whether a type is one of the systems, of those of first order. */
bool nsl_is_ds(const NslType *type);
bool nsl_is_first_order(const NslType *type);

#define NSL_DS_NO_CALLBACK "%s: a %s has no %s callback"

/* For NslCalleeFamily: the engine's system; the version of its state. */
void *nsl_ds_object(NslCallee *callee);
uint64_t *nsl_ds_version(NslCallee *callee);

/* Pushes a userdata of so many bytes for a system of a class; gives it the engine's, with n states and m velocities for callbacks. */
NslDs *nsl_push_ds(lua_State *L, const NsDsClass *class, const NslCalleeFamily *family, size_t bytes);
void nsl_ds_start(lua_State *L, NslDs *self, NsDs *ds, int n, int m);

/* The system at 1, which must not be in the middle of a step. */
NslDs *nsl_check_idle_ds(lua_State *L, const char *what);

/* The mechanical system at idx; that at 1, which must not be in the middle of a step. */
NslDs *nsl_check_mechanical(lua_State *L, int idx);
NslDs *nsl_check_idle_mechanical(lua_State *L, const char *what);

/* Whether an interaction is linked to the system. */
bool nsl_ds_linked(const NslDs *self);

/* Gives the system at idx the parameters at stack index `value`. */
void nsl_set_ds_z(lua_State *L, int idx, int value, bool shared);

/* Pushes the live view of one of the vectors of the system at 1. Returns 1. */
int nsl_ds_view(lua_State *L, double *data, int n, const char *label, uint64_t *version);

/* Copies the vector or table at 2 into one of the system's own vectors. Returns 0. */
int nsl_ds_assign(lua_State *L, const NslDs *self, double *to, int n, const char *what);

/* __close and __gc: the graph that the system is in is of no use without it; finalizers of scripts find that closed. */
int nsl_ds_close(lua_State *L);
int nsl_ds_gc(lua_State *L);

/* Pushes "FirstOrderLinearDS 'clutch' with 4 states" for the system at 1. */
int nsl_ds_tostring(lua_State *L, int count, const char *one, const char *many);

/* What a solution has under a name already, "a field of solutions"; NULL: nothing. */
const char *nsl_meaning_in_solution(const char *name);

/* The system at `to` gets a clone of the boundary conditions of the one at `from`. */
void nsl_clone_boundary(lua_State *L, int from, int to);

#endif
