/*
** model.h
** The userdata of the model room: systems, relations, laws, interactions and their graph.
*/
#ifndef NSL_MODEL_MODEL_H
#define NSL_MODEL_MODEL_H

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
  NsFunction computeh; /* of a contact: sets its frame */
} NslRelation;

typedef struct NslLaw {
  NslHead head;
  NsLaw *law;
} NslLaw;

/* User values: 1 the law, 2 the relation, 3 the graph it is linked in. */
typedef struct NslInteraction {
  NslHead head;
  NsInteraction *interaction;
} NslInteraction;

/* User value 1: a table that anchors everything in the graph, { ds = {...}, interactions = {...} }. */
typedef struct NslNsds {
  NslHead head;
  NsNsds *nsds;
} NslNsds;

/* The open object of a type (of any class of it) at idx, else an error "dynamical system expected, got ...". */
NslDs *nsl_check_ds(lua_State *L, int idx);
/* Whether a vector is a view of the state of a system or of an interaction. */
bool nsl_is_live(const NslVector *v);

bool nsl_is_relation(const NslType *type);
bool nsl_is_interaction(const NslType *type);
NslRelation *nsl_check_relation(lua_State *L, int idx);
NslLaw *nsl_check_law(lua_State *L, int idx);
NslInteraction *nsl_check_interaction(lua_State *L, int idx);
NslNsds *nsl_check_nsds(lua_State *L, int idx);

/*
** Gives `coef` the matrix (or, with cols 0, the vector) at stack index `value`; shared: later changes of it are seen,
** and it is kept alive by the callee at idx. Sizes that are negative are free. The value must be finite.
*/
void nsl_set_coef(lua_State *L, int idx, NsCoef *coef, int value, int rows, int cols, const char *what, bool shared);

/*
** Gives `to` the present numbers of `from`: a copy, but for a sparse matrix, which never changes. Not of a function.
*/
void nsl_clone_coef(lua_State *L, const NsCoef *from, NsCoef *to);

/*
** Pushes a copy of a coefficient's present value (a vector when it has one column and `as_vector`), nil when absent.
*/
int nsl_push_coef(lua_State *L, const NsCoef *coef, bool as_vector);

/* name() and setName(string) on an engine object's name buffer. */
int nsl_set_name(lua_State *L, char *buffer, int value, const char *who);

/*
** The shared z of a callee: setzPtr(v) keeps v; z() gives it back. linked: its size is fixed. Of a vector that skips elements the
** values are copied; raises when that is a view of an object of the model, since z would stay behind it.
*/
void nsl_set_z(lua_State *L, int idx, double **z, int *nz, int value, bool linked, bool shared);

/*
** Pushes a view of the parameters of the object at idx, nil when there are none; it keeps them when others are
** set, and raises when the object is closed.
*/
int nsl_push_z(lua_State *L, int idx, double *z, int nz);

/* Pushes clones: same parameters and callbacks, state of its own, in no graph. */
void nsl_clone_ds(lua_State *L, int idx);
void nsl_clone_relation(lua_State *L, int idx);
void nsl_clone_law(lua_State *L, int idx);

/* Looks the methods of the boundary conditions of the system at idx up again. */
void nsl_find_boundary_methods(lua_State *L, int idx);

void nsl_open_boundary(lua_State *L);
void nsl_open_first_order_ds(lua_State *L);
void nsl_open_mechanical_ds(lua_State *L);
void nsl_open_relation(lua_State *L);
void nsl_open_law(lua_State *L);
void nsl_open_interaction(lua_State *L);
void nsl_open_nsds(lua_State *L);

#endif
