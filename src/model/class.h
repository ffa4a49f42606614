/*
** class.h
** A class of model objects (systems, relations, boundary conditions) as scripts and plug-ins see it: its fields, its callbacks
** and the arguments of its constructor.
*/
#pragma once

#include "base/field.h"
#include "model/native.h"

enum { NS_NAME_SIZE = 64 }; /* bytes of an object's name, including the final zero byte */

/*
** A callback of a class. `args` has one letter for each argument between the time and the output: 'x', 'l' (lambda), 'v'
** (dx/dt, passed in the place of lambda), 'z' (parameters). The output is a rows x cols matrix, or a vector when cols is '1'.
** Sizes are letters too: 'n' states, 'm' multipliers, 'p' parameters, '3' three.
*/
typedef struct NsSlot {
  const char *name;  /* the method that a script overrides, "computeh"; called with self */
  const char *brief; /* the key in an option table, "h"; called without self */
  const char *args;
  const char *label; /* of the output: "y" */
  char rows, cols;
  NsNative native;
  const char *of; /* this slot is the Jacobian of the callback with this `brief`; NULL: it is no Jacobian */
  char by;        /* differentiated by 'x' or 'l'. `of` = own `brief`: the slot depends on `by`, but has no Jacobian slot */
} NsSlot;

/*
** A class of objects. `fields` lists the coefficients first. A COEF may be a function of time when a slot has its name and
** takes neither x nor lambda. A CALLBACK field is the NsFunction made of its slot and of the slots of its Jacobians. An option
** table takes the arguments, then the callbacks, then the fields that are not HIDDEN, LATE or RUN.
*/
typedef struct NsModelClass {
  const char *name; /* of the constructor: "FirstOrderLinearR" */
  const char *noun; /* the word for such an object in messages: "relation" */
  const NsField *fields;
  const NsSlot *slots;
  int nslots;
  const char *const *arguments; /* of the constructor, in order: names, ended by NULL. NULL: the arguments of the family */
  const char *x, *lambda;       /* names of the arguments x and lambda of the callbacks: "q" */
  const char *instead;          /* message for a coefficient that the class has not: it has this ("f") instead; NULL: no hint */
} NsModelClass;
