/*
** field.h
** The methods of a userdata type out of the table of its fields: getters, setters, tostring, display, constructors.
*/
#ifndef NSL_ARRAY_FIELD_H
#define NSL_ARRAY_FIELD_H

#include "base/field.h"
#include "bind/lua/object.h"

/*
** A type whose objects have fields. It and the table of the fields live as long as the Lua state: closures have their addresses.
** check: the open object at idx, of this type or one of its family, else an error; object: the struct with the fields;
** verify: whether the arrays go together after one of them was set (NULL: always); given: is told each field that a script has
** set (NULL: nobody is).
*/
typedef struct NslFieldOwner {
  const NslType *type;
  NslHead *(*check)(lua_State *L, int idx);
  void *(*object)(NslHead *head);
  NsStatus (*verify)(const void *object, NsError *err);
  const char *element; /* what messages call one number of an array that is set, "bound" */
  void (*given)(void *object, const NsField *field);
} NslFieldOwner;

/*
** Adds to the methods of the (registered) type: NAME() for each field that is not HIDDEN, and setNAME(value) where it has a
** SETTER, setNAME(i, value) for an element of a vector. A LIVE vector without SETTER is a read-only view.
*/
void nsl_add_field_methods(lua_State *L, const NslFieldOwner *owner, const NsField *fields);

/* Pushes, and returns, the name of the method that sets a field: "setTheta". */
const char *nsl_push_setter_name(lua_State *L, const char *field);

/* Pushes the value of a field of the object at 1: a number, a flag, a word; of an array a view or a copy. */
void nsl_push_field(lua_State *L, const NsField *field, const void *object);

/*
** Reads the value at idx into a field, whose array is made in the arena when there is none. An INFINITE vector takes one
** number for all elements. A value that is no such one raises "WHO: WHAT: expected a number in [-1, 1], got 1.5".
*/
void nsl_read_field(lua_State *L, int idx, const NsField *field, void *object, NsArena *arena, const char *who,
                    const char *what);

/*
** Reads the arguments of a constructor, which stand from idx to the top, into the fields that `names` tells, in order, up to
** NULL. A name that ends with '?' may be left out (nil) after the others, or before them when fewer arguments than names
** came. More arguments than names raise "WHO: expected at most 2 arguments, got 3".
*/
void nsl_read_fields(lua_State *L, int idx, const char *const *names, const NsField *fields, void *object, NsArena *arena,
                     const char *who);

/*
** Pushes the words that tell the SHOWN fields that are one number, ", e = 0.5"; or the text with the value of each {field}
** in it, of an array the first element. text NULL: the former.
*/
void nsl_push_field_words(lua_State *L, const NsField *fields, const void *object, const char *text);

/* display() of the object at 1: its tostring, then the SHOWN arrays. Returns 0. */
int nsl_display_fields(lua_State *L, const NslFieldOwner *owner, const NsField *fields);

/* The end of a display() of the object at 1, whose tostring is at 2, with labels and values behind it: adds the SHOWN arrays. Returns 0. */
int nsl_display_more(lua_State *L, const NslFieldOwner *owner, const NsField *fields);

#endif
