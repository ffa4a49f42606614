/*
** class.h
** What scripts and plug-ins may give an object of a class of the model: its fields, its callbacks, the arguments of its
** constructor.
*/
#ifndef NS_MODEL_CLASS_H
#define NS_MODEL_CLASS_H

#include "base/field.h"

enum { NS_NAME_SIZE = 64 }; /* bytes of the name of an object, with the zero at its end */

/* How a native callback is called: the C types of Siconos' plug-ins. n: sizes, in the order in which the vectors stand. */
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
** A callback that a class has. `args` lists what stands between the time and the output: 'x', 'l' (lambda), 'v' (the rate
** of x, in the place of lambda at a point), 'z'; the arguments' names are those of the class. The output is a rows x cols
** matrix, or a vector where cols is '1'; 'n' stands for the states, 'm' for the multipliers, 'p' for the parameters, '3'
** for that number.
*/
typedef struct NsSlot {
  const char *name;  /* "computeh": the method of a class of scripts */
  const char *brief; /* "h": the key in an option table; called without self */
  const char *args;
  const char *label; /* of the output: "y" */
  char rows, cols;
  NsNative native;
  const char *of; /* it is the Jacobian of the callback with this brief; its own: that depends on `by`, and no callback gives */
  char by;        /* the Jacobian, by 'x' or by 'l'. NULL: it is none */
} NsSlot;

/*
** A class of objects. Its fields are in one table, the coefficients first. A COEF with the name of a slot that takes neither x
** nor lambda may be a function of time. A CALLBACK is the function that its slot and those of its Jacobians make. Option
** tables take the arguments, the callbacks and the fields that are not HIDDEN, LATE or RUN, in this order.
*/
typedef struct NsModelClass {
  const char *name; /* of the constructor, "FirstOrderLinearR" */
  const char *noun; /* what messages call an object, "relation" */
  const NsField *fields;
  const NsSlot *slots;
  int nslots;
  const char *const *arguments; /* of the constructor by position: names up to NULL; NULL: those of the family */
  const char *x, *lambda;       /* what callbacks call their arguments */
  const char *instead;          /* what it has in place of a coefficient that is asked for, "f"; NULL: nothing */
} NsModelClass;

#endif
