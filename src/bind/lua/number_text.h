/*
** number_text.h
** Numbers as text in messages and printed arrays; number_support for the Lua side.
*/
#pragma once

#include "bind/lua/object.h"

/* Writes a number as %.6g, "nan", "inf" or "-inf", to a buffer of at least 32 characters; returns its length. */
int nsl_format_number(char *to, double value);
