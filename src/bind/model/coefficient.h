/*
** coefficient.h
** What systems, relations and boundary conditions share, driven by the tables of their classes: coefficients, callbacks,
** parameters, names; option tables, clones, display().
*/
#pragma once

#include "bind/model/model.h"

/* For NslCalleeFamily's bind: gives the engine's object the callbacks and the coefficients of time. NS_ENOMEM. */
NsStatus nsl_bind_fields(NslCallee *callee);

/* The coefficient of that name; NULL: the class has none. */
NsCoef *nsl_coefficient(NslCallee *callee, const char *name);

/* Sets a coefficient of the callee at idx: numbers or, when the class has a callback of that name, a function. */
void nsl_set_coefficient(lua_State *L, int idx, const char *name, int value, bool shared);

/* The same for a setter whose name ends in Ptr: the model follows the numbers of its argument, which a plain number has none of. */
void nsl_share_coefficient(lua_State *L, int idx, const char *name, int value);

/* Removes the callback of a slot (-1: none) of the callee at idx, if there is one. */
void nsl_take_callback_away(lua_State *L, int idx, int slot);

/* Raises when the option table at `options` has a key that the class does not know. */
void nsl_check_keys(lua_State *L, int options, const NsModelClass *kind);

/*
** Sets name, parameters, coefficients and callbacks of the callee at idx from the option table at `options`; skips arguments by
** position and the callback `except` (NULL: none). Other options are left to the caller.
*/
void nsl_apply_options(lua_State *L, int options, int idx, const char *except);

/* Pushes a copy of the vector or table at idx, which must be finite and, when n >= 0, have n elements. */
NslVector *nsl_push_flat(lua_State *L, int idx, int n, const char *who, const char *what);

/* Copies everything that was set on the callee at `from` to the callee at `to`, which has the same class. */
void nsl_clone_fields(lua_State *L, int from, int to);

/*
** Adds the methods of a class to the table on top: name, setName; z, setz, setzPtr; for a coefficient C: C, setC, setCPtr; for
** a live vector x: x and, with the flag SETTER, setX; for a callback computeh: setComputehFunction.
*/
void nsl_add_class_methods(lua_State *L, const NslCalleeFamily *family, const NsModelClass *kind);

/* Pushes a copy of the family's methods (the table at `methods`), without setters of members that the class lacks. */
void nsl_copy_methods(lua_State *L, int methods, const NslCalleeFamily *family, const NsModelClass *class);

/* Removes methods from the table on top; `names` ends with NULL. */
void nsl_drop_methods(lua_State *L, const char *const *names);

/* Adds aliases of a coefficient's methods: `name` for the getter (NULL: none), `setter` for the setter that shares. */
void nsl_add_coefficient_alias(lua_State *L, const NslCalleeFamily *family, const char *coefficient, const char *name,
                               const char *setter);

/* The body of setComputehFunction and its like, for callback `name` of the object at 1, which is checked. Returns 0. */
int nsl_set_callback(lua_State *L, NslCallee *callee, const char *name, const char *who);

/* display() of the callee at 1, whose type has been checked: its tostring, then each field with the flag SHOWN. Returns 0. */
int nsl_display_callee(lua_State *L, NslCallee *callee);
