/*
** native.h
** Callbacks in C, of shared libraries.
*/
#pragma once

#include <stdbool.h>

#include "io/library.h"

/*
** X(NAME, parameters, arguments): the C signatures of native callbacks, as in Siconos' plug-ins, and how they are called, in the words of
** NsNativeCall. Each size precedes its vector; `out` is the result; z has nz numbers.
*/
#define NS_NATIVE_LIST(X)                                                                                                      \
  X(DS_F, (double, unsigned, NsIn, double *, unsigned, double *), (t, n, x, out, nz, z))                                       \
  X(TIME, (double, unsigned, double *, unsigned, double *), (t, c->rows, out, nz, z))                                          \
  X(MATRIX, (double, unsigned, unsigned, double *, unsigned, double *), (t, c->rows, c->cols, out, nz, z))                     \
  X(TYPE1, (unsigned, double *, unsigned, double *, unsigned, double *),                                                       \
    (c->by_lambda ? m : n, c->by_lambda ? lambda : x, c->nout, out, nz, z))                                                    \
  X(TYPE2H, (unsigned, double *, unsigned, double *, unsigned, double *), (n, x, m, lambda, c->nout, out))                     \
  X(TYPE2G, (unsigned, double *, unsigned, double *), (m, lambda, c->nout, out))                                               \
  X(VALUE, (double, unsigned, double *, unsigned, double *, unsigned, double *, unsigned, double *),                           \
    (t, n, x, m, lambda, c->nout, out, nz, z))                                                                                 \
  X(JACOBIAN, (double, unsigned, double *, unsigned, double *, double *, unsigned, double *),                                  \
    (t, n, x, m, lambda, out, nz, z))                                                                                          \
  X(MASS, (unsigned, NsIn, double *, unsigned, double *), (n, x, out, nz, z))                                                  \
  X(FINT, (double, unsigned, NsIn, NsIn, double *, unsigned, double *), (t, n, x, lambda, out, nz, z))                         \
  X(MEXT, (double, double *, unsigned, double *), (t, out, nz, z))                                                             \
  X(MINT, (double, double *, double *, double *, unsigned, double *), (t, x, lambda, out, nz, z))                              \
  X(FGYR, (unsigned, NsIn, NsIn, double *, unsigned, double *), (n, x, lambda, out, nz, z))                                    \
  X(Q, (unsigned, NsIn, unsigned, double *, unsigned, double *), (n, x, m, out, nz, z))                                        \
  X(QT, (unsigned, NsIn, double, unsigned, double *, unsigned, double *), (n, x, t, m, out, nz, z))                            \
  X(QL, (unsigned, NsIn, unsigned, NsIn, double *, unsigned, double *), (n, x, m, lambda, out, nz, z))                         \
  X(QV, (unsigned, NsIn, unsigned, NsIn, double *, unsigned, double *), (n, x, n, lambda, out, nz, z))                         \
  X(QVT, (unsigned, NsIn, unsigned, NsIn, double, double *, unsigned, double *), (n, x, n, lambda, t, out, nz, z))

typedef const double *NsIn;

typedef enum NsNative {
#define X(name, parameters, arguments) NS_NATIVE_##name,
  NS_NATIVE_LIST(X)
#undef X
} NsNative;

/*
** A call at a point: n states or coordinates x, m multipliers lambda (or n rates in their place), nz parameters z; the output has nout numbers,
** or rows and columns. by_lambda: a function of lambda alone. Signatures declare inputs as pointers to what is not const, therefore these are.
*/
typedef struct NsNativeCall {
  double t, *x, *lambda, *z, *out;
  unsigned n, m, nz, nout, rows, cols;
  bool by_lambda;
} NsNativeCall;

/* Calls a function of this signature; its output is zero before. */
void ns_native_call(NsNative native, NsSymbol function, const NsNativeCall *call);
