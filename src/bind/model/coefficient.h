/*
** coefficient.h
** What systems, relations and boundary conditions have in common, out of the tables of their classes: coefficients,
** callbacks, parameters, names; option tables, clones, display().
*/
#ifndef NSL_MODEL_COEFFICIENT_H
#define NSL_MODEL_COEFFICIENT_H

#include "bind/model/model.h"

/* For NslCalleeFamily's bind: hands callbacks, and coefficients that are functions of time, to the engine's object. NS_ENOMEM. */
NsStatus nsl_bind_fields(NslCallee *callee);

/* The coefficient of that name; NULL: the class has none. */
NsCoef *nsl_coefficient(NslCallee *callee, const char *name);

/* Gives the callee at idx the coefficient at `value`: numbers or, where the class has a callback of its name, a function. */
void nsl_set_coefficient(lua_State *L, int idx, const char *name, int value, bool shared);

/* Takes away the callback of a slot (-1: none) of the callee at idx, when there is one. */
void nsl_take_callback_away(lua_State *L, int idx, int slot);

/* Raises for a key of the option table at `options` that the class does not know. */
void nsl_check_keys(lua_State *L, int options, const NsModelClass *kind);

/*
** Gives the callee at idx its name, parameters, coefficients and callbacks out of the option table at `options`, but for the
** arguments by position and the callback `except` (NULL: none). Other fields are the caller's.
*/
void nsl_apply_options(lua_State *L, int options, int idx, const char *except);

/* Pushes a copy of the finite vector or table at idx; of n elements when n >= 0. */
NslVector *nsl_push_flat(lua_State *L, int idx, int n, const char *who, const char *what);

/* Gives the callee at `to`, of the same class, what the one at `from` was given. */
void nsl_clone_fields(lua_State *L, int from, int to);

/*
** Adds to the table on top the methods that the class has: name, setName; z, setz and setzPtr; of each coefficient C, setC
** and setCPtr; of each live vector x and, with a SETTER, setX; of each callback setComputehFunction.
*/
void nsl_add_class_methods(lua_State *L, const NslCalleeFamily *family, const NsModelClass *kind);

/* Pushes a copy of the table at `methods` for a class of the family, without the setters of members that the class has not. */
void nsl_copy_methods(lua_State *L, int methods, const NslCalleeFamily *family, const NsModelClass *class);

/* Takes methods out of the table on top; NULL ends their names. */
void nsl_drop_methods(lua_State *L, const char *const *names);

/* Adds another name for the methods of a coefficient: NAME (NULL: none) and SETTER, which shares what it is given. */
void nsl_add_coefficient_alias(lua_State *L, const NslCalleeFamily *family, const char *coefficient, const char *name,
                               const char *setter);

/* setComputehFunction and its like on the object at 1, whose type has been checked: the callback of that name. Returns 0. */
int nsl_set_callback(lua_State *L, NslCallee *callee, const char *name, const char *who);

/* display() of the callee at 1, which has been checked: its tostring, then each SHOWN field. Returns 0. */
int nsl_display_callee(lua_State *L, NslCallee *callee);

#endif
