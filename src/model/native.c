/*
** native.c
** Calls of functions in shared libraries.
*/
#include "model/native.h"

#include <string.h>

void ns_native_call(NsNative native, NsSymbol function, const NsNativeCall *c) {
  double t = c->t, *x = c->x, *lambda = c->lambda, *z = c->z, *out = c->out;
  unsigned n = c->n, m = c->m, nz = c->nz;
  memset(out, 0, c->nout * sizeof *out);
  switch (native) {
#define X(name, parameters, arguments)                                                                                         \
  case NS_NATIVE_##name: ((void(*) parameters)function) arguments; break;
    NS_NATIVE_LIST(X)
#undef X
  }
}
