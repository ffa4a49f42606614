/*
** field.h
** Generates the methods of a userdata type from its table of fields: getters, setters, tostring, display, constructors.
*/
#pragma once

#include "base/field.h"
#include "bind/lua/object.h"

/*
** A type whose objects have fields. It and the table of fields must live as long as the Lua state: closures hold their
** addresses. check: returns the open object at idx, of this type or its family, or raises; object: the struct that has the
** fields; verify: checks that the fields fit together after one was set (NULL: no check); given: called with each field that a
** script sets (NULL: none).
*/
typedef struct NslFieldOwner {
  const NslType *type;
  NslHead *(*check)(lua_State *L, int idx);
  void *(*object)(NslHead *head);
  NsStatus (*verify)(const void *object, NsError *err);
  const char *element; /* name in messages of one element of an array that a script sets, "bound" */
  void (*given)(void *object, const NsField *field);
} NslFieldOwner;

/*
** Adds the accessors to the methods of a registered type: NAME() for each field that is not HIDDEN; setNAME(value) for each
** SETTER, and setNAME(i, value) when it is a vector. A LIVE vector without SETTER is a read-only view.
*/
void nsl_add_field_methods(lua_State *L, const NslFieldOwner *owner, const NsField *fields);

/* Pushes and returns the name of the setter of a field: "setTheta". */
const char *nsl_push_setter_name(lua_State *L, const char *field);

/* Pushes the value of a field of the object at 1: a number, a boolean, a string; for an array a view or a copy. */
void nsl_push_field(lua_State *L, const NsField *field, const void *object);

/*
** Reads the value at idx into a field; an array that does not exist yet is made in the arena. An INFINITE vector also takes
** one number for all elements. Another value raises "WHO: WHAT: expected a number in [-1, 1], got 1.5".
*/
void nsl_read_field(lua_State *L, int idx, const NsField *field, void *object, NsArena *arena, const char *who,
                    const char *what);

/*
** Reads the arguments of a constructor, from idx to the top, into the fields listed in `names` (up to NULL), in this order. A
** name that ends with '?' is optional: its argument may be nil or absent; when there are fewer arguments than names, optional
** ones at the beginning are skipped too. Too many arguments raise "WHO: expected at most 2 arguments, got 3".
*/
void nsl_read_fields(lua_State *L, int idx, const char *const *names, const NsField *fields, void *object, NsArena *arena,
                     const char *who);

/*
** Pushes a text with the values of fields. text NULL: the SHOWN fields that are one number, ", e = 0.5". Otherwise `text` with
** each {field} replaced by its value (for an array its first element).
*/
void nsl_push_field_words(lua_State *L, const NsField *fields, const void *object, const char *text);

/* display() of the object at 1: its tostring, then the SHOWN arrays. Returns 0. */
int nsl_display_fields(lua_State *L, const NslFieldOwner *owner, const NsField *fields);

/* Ends a display() of the object at 1: its tostring is at 2, labels and values follow; adds the SHOWN arrays. Returns 0. */
int nsl_display_more(lua_State *L, const NslFieldOwner *owner, const NsField *fields);
