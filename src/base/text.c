/*
** text.c
** Switches this thread to the C locale while the C library formats or reads.
*/
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* On Linux the C locale is a constant of the C library: newlocale returns it and allocates nothing. */
locale_t ns_locale_begin(void) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  return plain ? uselocale(plain) : (locale_t)0;
}

void ns_locale_end(locale_t before) {
  if (!before) return;
  locale_t plain = uselocale(before);
  freelocale(plain);
}

int ns_vprint(char *out, size_t size, const char *format, va_list args) {
  locale_t before = ns_locale_begin();
  int length = vsnprintf(out, size, format, args);
  ns_locale_end(before);
  return length;
}

int ns_print(char *out, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  int length = ns_vprint(out, size, format, args);
  va_end(args);
  return length;
}

int ns_print_short(char *to, double value) {
  if (isnan(value)) return (int)strlen(strcpy(to, "nan"));
  return ns_print(to, 32, "%.6g", value);
}

const char *ns_word_of_number(double value) {
  return isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double ns_read_double(const char *text, char **end) {
  locale_t before = ns_locale_begin();
  double x = strtod(text, end);
  ns_locale_end(before);
  return x;
}
