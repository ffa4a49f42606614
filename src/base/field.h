/*
** field.h
** A table of an object's fields. Generic code reads it to get, set, show, copy, save and compare the fields.
*/
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* The type of the member at a field's offset. */
typedef enum NsFieldType {
  NS_FIELD_NUMBER,  /* double */
  NS_FIELD_COUNT,   /* int */
  NS_FIELD_FLAG,    /* bool */
  NS_FIELD_WORD,    /* int: index into the field's `words` */
  NS_FIELD_VECTOR,  /* double *, `rows` elements; NULL: not made yet */
  NS_FIELD_MATRIX,  /* double *, rows x cols, column-major; NULL: not made yet */
  NS_FIELD_LONG,    /* long */
  NS_FIELD_POINT,   /* double[3] */
  NS_FIELD_TEXT,    /* char[rows], ended by a zero byte */
  NS_FIELD_INDICES, /* int *, `rows` indices from 0 */
  NS_FIELD_METHOD,  /* const NsMethod * (solvers/method.h); NULL: the default */
  NS_FIELD_COEF,    /* NsCoef (model/coef.h), rows x cols; cols 0: a vector */
  NS_FIELD_CALLBACK /* NsFunction */
} NsFieldType;

enum {
  NS_FIELD_LIVE = 1 << 0,     /* scripts get a view of the numbers; without this flag, a copy */
  NS_FIELD_SETTER = 1 << 1,   /* scripts may set it, and may write through a live view */
  NS_FIELD_STATE = 1 << 2,    /* it changes in a run: checkpoints save and restore it */
  NS_FIELD_CONSTANT = 1 << 3, /* it identifies the model: a checkpoint with another value is rejected */
  NS_FIELD_SHOWN = 1 << 4,    /* tostring() shows a single number, display() an array */
  NS_FIELD_ALIAS = 1 << 5,    /* another name of a member; copying skips it */
  NS_FIELD_HIDDEN = 1 << 6,   /* scripts have no method for it: it is internal, or only an argument of the constructor */
  NS_FIELD_INFINITE = 1 << 7, /* infinite and nan are accepted; the object itself checks the value */
  NS_FIELD_OPTIONAL = 1 << 8, /* a NUMBER that may be left out: NAN in C, nil in scripts */
  NS_FIELD_ABOVE = 1 << 9,    /* a NUMBER in (least, most], not [least, most] */
  NS_FIELD_RUN = 1 << 10,     /* a reset sets it to 0 */
  NS_FIELD_LATE = 1 << 11,    /* only a setter sets it; it is no key of an option table */
  NS_FIELD_COUNTED = 1 << 12, /* a write to it adds 1 to the version of the object's state */
  NS_FIELD_TIMED = 1 << 13    /* of a law: a script may give a function of time in its place, when the law is made */
};

/*
** One field of a struct. A NUMBER or a COUNT lies in [least, most]. Numbers and array elements are finite, except with
** INFINITE. A table of fields ends with a NULL name.
*/
typedef struct NsField {
  const char *name;
  NsFieldType type;
  unsigned flags;
  size_t offset;
  double least, most;
  size_t rows, cols;        /* arrays and coefficients: the offsets of the int members that hold their sizes */
  const char *const *words; /* a WORD: its possible values, ended by NULL */
} NsField;

/* Entries of a table. Arguments: name; struct and member; range, or the members that hold the sizes; flags. */
#define NS_FIELD_ENTRY(name, type, flags, of, member, least, most, rows, cols)                                                 \
  { name, type, flags, offsetof(of, member), least, most, rows, cols, NULL }
#define NS_FIELD_A_NUMBER(name, of, member, least, most, flags)                                                                \
  NS_FIELD_ENTRY(name, NS_FIELD_NUMBER, flags, of, member, least, most, 0, 0)
#define NS_FIELD_A_COUNT(name, of, member, least, most, flags)                                                                 \
  NS_FIELD_ENTRY(name, NS_FIELD_COUNT, flags, of, member, least, most, 0, 0)
#define NS_FIELD_A_LONG(name, of, member, least, most, flags)                                                                  \
  NS_FIELD_ENTRY(name, NS_FIELD_LONG, flags, of, member, least, most, 0, 0)
#define NS_FIELD_A_FLAG(name, of, member, flags)  NS_FIELD_ENTRY(name, NS_FIELD_FLAG, flags, of, member, 0, 1, 0, 0)
#define NS_FIELD_A_POINT(name, of, member, flags) NS_FIELD_ENTRY(name, NS_FIELD_POINT, flags, of, member, 0, 0, 0, 0)
#define NS_FIELD_A_TEXT(name, of, member, flags)                                                                               \
  NS_FIELD_ENTRY(name, NS_FIELD_TEXT, flags, of, member, 0, 0, sizeof(((of *)0)->member), 0)
#define NS_FIELD_A_METHOD(name, of, member, flags) NS_FIELD_ENTRY(name, NS_FIELD_METHOD, flags, of, member, 0, 0, 0, 0)
#define NS_FIELD_A_WORD(name, of, member, words, flags)                                                                        \
  { name, NS_FIELD_WORD, flags, offsetof(of, member), 0, 0, 0, 0, words }
#define NS_FIELD_A_VECTOR(name, of, member, size, flags)                                                                       \
  NS_FIELD_ENTRY(name, NS_FIELD_VECTOR, flags, of, member, 0, 0, offsetof(of, size), 0)
#define NS_FIELD_A_MATRIX(name, of, member, rows, cols, flags)                                                                 \
  NS_FIELD_ENTRY(name, NS_FIELD_MATRIX, flags, of, member, 0, 0, offsetof(of, rows), offsetof(of, cols))
#define NS_FIELD_INDEX_LIST(name, of, member, size, flags)                                                                     \
  NS_FIELD_ENTRY(name, NS_FIELD_INDICES, flags, of, member, 0, 0, offsetof(of, size), 0)
#define NS_FIELD_A_COEF(name, of, member, rows, cols, flags)                                                                   \
  NS_FIELD_ENTRY(name, NS_FIELD_COEF, flags, of, member, 0, 0, offsetof(of, rows), offsetof(of, cols))
#define NS_FIELD_A_COEF_VECTOR(name, of, member, rows, flags)                                                                  \
  NS_FIELD_ENTRY(name, NS_FIELD_COEF, flags, of, member, 0, 0, offsetof(of, rows), 0)
#define NS_FIELD_A_CALLBACK(name, of, member, flags) NS_FIELD_ENTRY(name, NS_FIELD_CALLBACK, flags, of, member, 0, 0, 0, 0)
#define NS_FIELD_END                                                                                                           \
  { NULL, NS_FIELD_NUMBER, 0, 0, 0, 0, 0, 0, NULL }

/* The entry with this name; NULL: none. A '?' at the end of the name is ignored. */
const NsField *ns_field_find(const NsField *fields, const char *name);

/* Whether the field is a VECTOR or a MATRIX. */
bool ns_field_is_array(const NsField *field);

/* The address of the member in the object. */
static inline void *ns_field_place(const NsField *field, const void *object) {
  return (char *)(size_t)object + field->offset;
}

/* The numbers of rows and columns (of a coefficient: the required ones); a number: 1 and 1; a vector coefficient: 0 columns. */
int ns_field_rows(const NsField *field, const void *object);
int ns_field_cols(const NsField *field, const void *object);

/*
** The address of the field's data, and their number of bytes. NULL and 0: an array that is not made yet. A coefficient or a
** callback has 0 bytes, because its bytes cannot be copied.
*/
void *ns_field_data(const NsField *field, const void *object, size_t *bytes);

/* Allocates a field's array, if it has none: all zero, with the present sizes in the object. False: out of memory. */
bool ns_field_make(const NsField *field, void *object, NsArena *arena);

/*
** Copies all fields to another object of the same struct; missing arrays are allocated in the arena. The members that hold
** sizes must be fields too, before the arrays. False: out of memory.
*/
bool ns_fields_copy(const NsField *fields, const void *from, void *to, NsArena *arena);

/* Sets the data of all fields with the flag to 0. */
void ns_fields_clear(const NsField *fields, void *object, unsigned flag);

/* Calls visitor(context, name, data, bytes) for each field that has the flag, in the order of the table. */
void ns_fields_walk(const NsField *fields, void *object, unsigned flag,
                    void (*visitor)(void *context, const char *name, void *data, size_t bytes), void *context);
