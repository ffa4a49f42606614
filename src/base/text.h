/*
** text.h
** Numbers as text, the same in every locale: a decimal point, no groups of digits. The engine formats numbers by these
** functions alone, and not by printf's own, which follow the locale that the host has set.
*/
#ifndef NS_BASE_TEXT_H
#define NS_BASE_TEXT_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

/* As snprintf, and as vsnprintf. */
int ns_print(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int ns_vprint(char *out, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));

/* As strtod: the decimal point is a point. */
double ns_read_double(const char *text, char **end);

/*
** Between ns_locale_begin and ns_locale_end, which takes what the former gave, this thread formats and reads as in the C
** locale. Other threads are not touched.
*/
locale_t ns_locale_begin(void);
void ns_locale_end(locale_t before);

#endif
