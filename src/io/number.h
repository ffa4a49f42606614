/*
** number.h
** Doubles as text: short, exact, fast.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { NS_NUMBER_TEXT = 32 };

/*
** Writes x into out (at least NS_NUMBER_TEXT bytes) and returns the length; no terminating zero. Whole numbers up to
** 2^53 are written as integers, others as the first of %.15g, %.16g, %.17g that reads back as x; nan, inf and -inf
** by name. The decimal point is a point in every locale.
*/
size_t ns_number_format(char *out, double x);

/*
** Reads the `length` bytes at text as one decimal number, correctly rounded: digits with an optional point, exponent and sign,
** or inf or nan in any case; blanks around are allowed. False for anything else.
*/
bool ns_number_parse(const char *text, size_t length, double *x);
