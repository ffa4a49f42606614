/*
** counterpart.h
** Where a number of an object is in a clone of it.
*/
#pragma once

#include "model/state.h"

/* Calls the visitor for each array of an object; the arrays of a clone come in the same order. */
typedef void (*NsArraysWalk)(const void *object, NsVisitor visitor, void *context);

/* The address in `to`, the clone of `from`, that corresponds to the address `at` in `from`; NULL: there is none. */
double *ns_counterpart(NsArraysWalk walk, const void *from, const void *to, const double *at);
