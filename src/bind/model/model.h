/*
** model.h
** The userdata of the model room: systems, relations, laws, interactions and their graph.
*/
#pragma once

#include "bind/call/callee.h"
#include "bind/lua/options.h"
#include "model/nsds.h"

typedef struct NslDs {
  NslCallee callee;
  NsDs *ds;
} NslDs;

typedef struct NslRelation {
  NslCallee callee;
  NsRelation *relation;
  NsFunction computeh; /* of a contact: the callback that sets its frame */
} NslRelation;

typedef struct NslLaw {
  NslHead head;
  NsLaw *law;
  NslHost *host;                               /* of its functions of time; NULL: it has none */
  struct NslBoundTraces *traces[NS_LAW_TIMED]; /* what stands for them (law_time.c); NULL: nothing does */
  bool seen;                                   /* nslua.compile has looked at them */
} NslLaw;

/* User values: 1 the law, 2 the relation, 3 the graph that it is linked in. */
typedef struct NslInteraction {
  NslHead head;
  NsInteraction *interaction;
} NslInteraction;

/* User value 1: a table that anchors everything in the graph, { ds = {...}, interactions = {...} }. */
typedef struct NslNsds {
  NslHead head;
  NsNsds *nsds;
} NslNsds;

/* Return the open object at idx; raise "dynamical system expected, got ..." for anything else. */
NslDs *nsl_check_ds(lua_State *L, int idx);
/* Whether a vector is a view of the state of a system or of an interaction. */
bool nsl_is_live(const NslVector *v);

bool nsl_is_relation(const NslType *type);
bool nsl_is_interaction(const NslType *type);
bool nsl_is_law(const NslType *type);
NslRelation *nsl_check_relation(lua_State *L, int idx);
NslLaw *nsl_check_law(lua_State *L, int idx);
NslInteraction *nsl_check_interaction(lua_State *L, int idx);
NslNsds *nsl_check_nsds(lua_State *L, int idx);

/*
** `callback` and `try` of compile_support (bind/simulation/model_compile.c) for the functions of a law; the interaction is the argument
** behind slot and time.
*/
int nsl_law_callback(lua_State *L);
int nsl_law_try(lua_State *L);

/* Whether nslua.compile has looked at the functions of a law, or there are none. */
static inline bool nsl_law_seen(const NslLaw *law) {
  return !law->host || law->seen;
}

/* Pushes the groups of a law's rows: a list of { dim, lower, upper, mu }. */
void nsl_push_law_groups(lua_State *L, const NsLaw *law);

/*
** Sets `coef` to the finite matrix (or, when cols is 0, the vector) at stack index `value`. A negative size means any size.
** shared: the value is not copied, so later changes of it are seen; the callee at idx keeps it alive.
*/
void nsl_set_coef(lua_State *L, int idx, NsCoef *coef, int value, int rows, int cols, const char *what, bool shared);

/*
** Copies the present numbers of `from` to `to`; a sparse matrix, which never changes, is shared. Does nothing for a function.
*/
void nsl_clone_coef(lua_State *L, const NsCoef *from, NsCoef *to);

/* Pushes a copy of a coefficient's present value; as a vector when it has one column and as_vector; nil when absent. */
int nsl_push_coef(lua_State *L, const NsCoef *coef, bool as_vector);

/* Sets the name in an engine object's buffer to the string at stack index `value`. */
int nsl_set_name(lua_State *L, char *buffer, int value, const char *who);

/*
** Sets the parameters z of a callee. shared: keeps the vector at `value`, else copies it. linked: z must keep its size. A
** vector with a stride other than 1 is always copied; raises when it is a view of an object of the model, since the copy would
** not follow it.
*/
void nsl_set_z(lua_State *L, int idx, double **z, int *nz, int value, bool linked, bool shared);

/*
** Pushes a view of the parameters of the object at idx, nil when there are none. The view keeps the vector alive when other
** parameters are set, and raises when the object is closed.
*/
int nsl_push_z(lua_State *L, int idx, double *z, int nz);

/* Push clones: same parameters and callbacks, a state of their own, in no graph. */
void nsl_clone_ds(lua_State *L, int idx);
void nsl_clone_relation(lua_State *L, int idx);
void nsl_clone_law(lua_State *L, int idx);

/* Pops what a contact in space follows, which lives as long as the contact at idx. */
void nsl_relation_keep(lua_State *L, int idx);

/* Looks the methods (callbacks) of the boundary conditions of the system at idx up again. */
void nsl_find_boundary_methods(lua_State *L, int idx);

/*
** Calls f for each system (inter NULL), then for each relation, at stack index `callee`, of the graph that is user value `graph` of the object at
** idx, until one returns false: whether none did.
*/
typedef bool NslCalleeVisit(lua_State *L, int callee, NsInteraction *inter, void *context);
bool nsl_each_callee(lua_State *L, int idx, int graph, NslCalleeVisit *f, void *context);
