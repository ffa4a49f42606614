/*
** identity.h
** What a run depends on besides its state, as text: two simulations with the same text go the same way from the same state.
*/
#ifndef NS_SIMULATION_IDENTITY_H
#define NS_SIMULATION_IDENTITY_H

#include <stddef.h>

#include "simulation/time_stepping.h"

/* Bytes that grow; `failed` when there was no memory. A zero-initialised one is empty and valid; its bytes are freed by ns_free. */
typedef struct NsText {
  char *bytes;
  size_t size, capacity;
  bool failed;
} NsText;

void ns_text_append(NsText *text, const void *bytes, size_t size);

/*
** Appends a line for each thing: integrator and weights, grid, the kind, name and size of every system, law and relation, what is
** linked to what; and lines that begin with "constants of", which a reader may choose to pass over: options of integrator, Newton's
** method, projection and one-step problem, and a hash of each coefficient that is given, with its name. What a callback has captured
** cannot be seen. Parameters of laws and z are state.
*/
void ns_identity_describe(NsText *text, const NsTimeStepping *ts);

/*
** NS_EARG at the first line in which the text `there` (size bytes, of the file at `path`) is not `here`; any_constants: lines of
** constants are passed over.
*/
NsStatus ns_identity_compare(const NsText *here, const char *there, size_t size, const char *path, bool any_constants,
                             NsError *err);

#endif
