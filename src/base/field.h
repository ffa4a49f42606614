/*
** field.h
** The fields of an object as a table: what is needed to get, set, show, copy, keep and compare them.
*/
#ifndef NS_BASE_FIELD_H
#define NS_BASE_FIELD_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What lies at a field's offset. */
typedef enum NsFieldType {
  NS_FIELD_NUMBER,  /* double */
  NS_FIELD_COUNT,   /* int */
  NS_FIELD_FLAG,    /* bool */
  NS_FIELD_WORD,    /* int: the place of one of the field's words */
  NS_FIELD_VECTOR,  /* double *, `rows` of them; NULL: not made yet */
  NS_FIELD_MATRIX,  /* double *, rows x cols, column-major; NULL: not made yet */
  NS_FIELD_LONG,    /* long */
  NS_FIELD_POINT,   /* double[3] */
  NS_FIELD_TEXT,    /* char[rows], ended by a zero byte */
  NS_FIELD_INDICES, /* int *, `rows` of them, from 0 */
  NS_FIELD_METHOD,  /* const NsMethod * (solvers/method.h); NULL: the default */
  NS_FIELD_COEF,    /* NsCoef (model/coef.h), rows x cols; cols 0: a vector */
  NS_FIELD_CALLBACK /* NsFunction */
} NsFieldType;

enum {
  NS_FIELD_LIVE = 1 << 0,     /* a script gets a view of the numbers; without it, a copy */
  NS_FIELD_SETTER = 1 << 1,   /* a script may set it; a live view may be written */
  NS_FIELD_STATE = 1 << 2,    /* it changes in a run: a checkpoint holds it and gives it back */
  NS_FIELD_CONSTANT = 1 << 3, /* it belongs to the identity of the model: a checkpoint of another value is refused */
  NS_FIELD_SHOWN = 1 << 4,    /* tostring() shows it when it is one number, display() when it is an array */
  NS_FIELD_ALIAS = 1 << 5,    /* another name of the same place; what is to be copied is under the first name */
  NS_FIELD_HIDDEN = 1 << 6,   /* scripts have no method for it; it is copied, or an argument of a constructor */
  NS_FIELD_INFINITE = 1 << 7, /* any number may be given, also infinite ones; the object checks what they mean */
  NS_FIELD_OPTIONAL = 1 << 8, /* a NUMBER that need not be given: it is NAN then, and nil for scripts */
  NS_FIELD_ABOVE = 1 << 9,    /* a NUMBER that is more than `least`, not equal to it */
  NS_FIELD_RUN = 1 << 10,     /* a part of the run: a reset makes it 0 */
  NS_FIELD_LATE = 1 << 11,    /* a setter alone gives it; it is no key of an option table */
  NS_FIELD_COUNTED = 1 << 12  /* who writes it adds 1 to the version of the object's state */
};

/*
** One field of a struct. A NUMBER or a COUNT lies in [least, most], and is finite, as are the elements of arrays; INFINITE
** takes any. A table of fields ends with a NULL name.
*/
typedef struct NsField {
  const char *name;
  NsFieldType type;
  unsigned flags;
  size_t offset;
  double least, most;
  size_t rows, cols;        /* of arrays and coefficients: the offsets of the ints that tell their sizes */
  const char *const *words; /* of a WORD: those that it may be, up to NULL */
} NsField;

/* Entries of a table: the name, the struct and its member, the range or the members with the sizes, the flags. */
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

/* The entry of that name; NULL: none. A name with a '?' at its end counts as without. */
const NsField *ns_field_find(const NsField *fields, const char *name);

/* Whether the field is a VECTOR or a MATRIX. */
bool ns_field_is_array(const NsField *field);

/* Where the member itself lies in the object. */
static inline void *ns_field_place(const NsField *field, const void *object) {
  return (char *)(size_t)object + field->offset;
}

/* Its numbers of rows and columns, of a coefficient those that the object wants; a number has 1 and 1, a coefficient that is a vector 0 columns. */
int ns_field_rows(const NsField *field, const void *object);
int ns_field_cols(const NsField *field, const void *object);

/*
** Where its data lie in the object, and how many bytes they are; NULL and 0: an array that is not made yet. Coefficients and
** callbacks, which are more than their bytes, have 0.
*/
void *ns_field_data(const NsField *field, const void *object, size_t *bytes);

/* Makes the array of a field that has none, all zero, of the sizes that the object has now. False: no memory. */
bool ns_field_make(const NsField *field, void *object, NsArena *arena);

/*
** Copies all fields of one object to another of the same struct; arrays that it has not yet are made in the arena.
** False: no memory. The numbers that tell sizes must be fields, before the arrays.
*/
bool ns_fields_copy(const NsField *fields, const void *from, void *to, NsArena *arena);

/* Makes all data of the fields with the flag 0. */
void ns_fields_clear(const NsField *fields, void *object, unsigned flag);

/* Calls visitor(context, name, data, bytes) for each field that has the flag, in the order of the table. */
void ns_fields_walk(const NsField *fields, void *object, unsigned flag,
                    void (*visitor)(void *context, const char *name, void *data, size_t bytes), void *context);

#endif
