/*
** identity.h
** Describes a model and its simulation as text. Two simulations with the same text go the same way from the same state.
*/
#pragma once

#include <stddef.h>

#include "simulation/time_stepping.h"

/* A growing string; `failed` is set when memory runs out. A zeroed one is empty. The caller frees `bytes` with ns_free. */
typedef struct NsText {
  char *bytes;
  size_t size, capacity;
  bool failed;
} NsText;

void ns_text_append(NsText *text, const void *bytes, size_t size);

/*
** Appends the description, one line per item: integrator and weights, grid, kind, the name and size of every system, law and
** relation, and how they are linked. Lines that begin with "constants of" give the options of integrator, Newton's method,
** projection and one-step problem, and a hash of each coefficient; a reader may ignore these lines. Values that a callback has
** captured are not part of the description. Parameters of laws and z are state.
*/
void ns_identity_describe(NsText *text, const NsTimeStepping *ts);

/*
** NS_EARG naming the first line in which `there` (size bytes, file `path`) differs, or another version of nslua where the first
** line, the layout of the state, is another one. any_constants: ignores constants.
*/
NsStatus ns_identity_compare(const NsText *here, const char *there, size_t size, const char *path, bool any_constants,
                             NsError *err);
