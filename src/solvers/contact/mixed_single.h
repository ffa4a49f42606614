/*
** mixed_single.h
** Problems that need no iteration: one contact alone, and a guess that is an answer.
*/
#pragma once

#include "solvers/contact/mixed_search.h"

/* One contact by its cone (cone.h); has one mode. */
extern const NsMethod ns_mixed_single;

/* Takes the guess as a candidate; has one mode. */
extern const NsMethod ns_mixed_guess;
