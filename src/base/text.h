/*
** text.h
** Numbers as text, the same in every locale: a decimal point, no grouping of digits. The engine always uses these functions,
** because printf and strtod depend on the host's locale.
*/
#pragma once

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* Like snprintf and vsnprintf. */
int ns_print(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int ns_vprint(char *out, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* Writes a number as %.6g, "nan", "inf" or "-inf", to a buffer of at least 32 characters; returns its length. */
int ns_print_short(char *to, double value);

/* The word for a number that is not finite: "nan", "inf" or "-inf". */
const char *ns_word_of_number(double value);

/* Like strtod. */
double ns_read_double(const char *text, char **end);

/*
** Switch this thread to the C locale and back; ns_locale_end takes the result of ns_locale_begin. Other threads are not
** affected.
*/
locale_t ns_locale_begin(void);
void ns_locale_end(locale_t before);
