/*
** error.c
** Formatting of error texts.
*/
#include "base/error.h"

#include <stdarg.h>

#include "base/text.h"

NsStatus ns_fail(NsError *err, NsStatus status, const char *format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    ns_vprint(err->text, sizeof err->text, format, args);
    va_end(args);
    err->status = status;
  }
  return status;
}
