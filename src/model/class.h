/*
** class.h
** A class of model objects (systems, relations, boundary conditions) as scripts and plug-ins see it: its fields, its callbacks
** and the arguments of its constructor.
*/
#pragma once

#include "base/field.h"

enum { NS_NAME_SIZE = 64 }; /* bytes of an object's name, including the final zero byte */

/* The C signature of a native callback, as in Siconos' plug-ins. Each size precedes its vector; `out` is the result. */
typedef enum NsNative {
  NS_NATIVE_DS_F,     /* (double t, unsigned n, const double *x, double *out, unsigned nz, double *z) */
  NS_NATIVE_TIME,     /* (double t, unsigned n, double *out, unsigned nz, double *z) */
  NS_NATIVE_MATRIX,   /* (double t, unsigned rows, unsigned cols, double *out, unsigned nz, double *z) */
  NS_NATIVE_TYPE1,    /* (unsigned nin, double *in, unsigned nout, double *out, unsigned nz, double *z) */
  NS_NATIVE_TYPE2H,   /* (unsigned nx, double *x, unsigned m, double *lambda, unsigned nout, double *out) */
  NS_NATIVE_TYPE2G,   /* (unsigned m, double *lambda, unsigned nout, double *out) */
  NS_NATIVE_VALUE,    /* (double t, unsigned nx, double *x, unsigned m, double *lambda, unsigned nout, double *out,
                         unsigned nz, double *z) */
  NS_NATIVE_JACOBIAN, /* (double t, unsigned nx, double *x, unsigned m, double *lambda, double *out, unsigned nz,
                         double *z) */
  NS_NATIVE_MASS,     /* (unsigned n, const double *q, double *out, unsigned nz, double *z) */
  NS_NATIVE_FINT,     /* (double t, unsigned n, const double *q, const double *v, double *out, unsigned nz, double *z) */
  NS_NATIVE_MEXT,     /* (double t, double *out, unsigned nz, double *z) */
  NS_NATIVE_MINT,     /* (double t, double *q, double *v, double *out, unsigned nz, double *z) */
  NS_NATIVE_FGYR,     /* (unsigned n, const double *q, const double *v, double *out, unsigned nz, double *z) */
  NS_NATIVE_Q,        /* (unsigned nq, const double *q, unsigned m, double *out, unsigned nz, double *z) */
  NS_NATIVE_QT,       /* (unsigned nq, const double *q, double t, unsigned m, double *out, unsigned nz, double *z) */
  NS_NATIVE_QL,       /* (unsigned nq, const double *q, unsigned m, const double *lambda, double *out, unsigned nz,
                         double *z) */
  NS_NATIVE_QV,       /* (unsigned nq, const double *q, unsigned nq, const double *qdot, double *out, unsigned nz,
                         double *z) */
  NS_NATIVE_QVT       /* (unsigned nq, const double *q, unsigned nq, const double *qdot, double t, double *out,
                         unsigned nz, double *z) */
} NsNative;

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
