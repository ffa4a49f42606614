/*
** error.h
** Error messages: the engine writes what went wrong and where, its caller reads it.
*/
#pragma once

#include "base/status.h"

enum { NS_ERROR_TEXT = 512 };

/* A failure with its message. `text` names the object, the time, the step and, in Newton, the iteration. */
typedef struct NsError {
  NsStatus status;
  char text[NS_ERROR_TEXT];
} NsError;

/*
** Stores status and the formatted text in err (NULL: nothing is stored) and returns status: use as
** `return ns_fail(err, NS_ESIZE, ...)`. A text that is too long is cut.
*/
NsStatus ns_fail(NsError *err, NsStatus status, const char *format, ...) __attribute__((cold, format(printf, 3, 4)));
