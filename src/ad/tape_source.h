/*
** tape_source.h
** C source of a closed tape: functions for the values, for the Jacobian, and for one sweep in reverse mode.
*/
#pragma once

#include "ad/tape.h"

/* The types of the functions in the source: tape_value, and tape_jacobian unless it is too long. */
typedef void NsTapeValue(const double *in, double *out);
typedef void NsTapeJacobian(const double *in, double *jac);
typedef void NsTapeVjp(const double *in, const double *weight, double *bar);

/*
** STEPS: most operations of a tape; PARTIALS: most partial derivatives of a Jacobian. They limit the time of the C compiler;
** chosen by experience.
*/
enum { NS_TAPE_SOURCE_STEPS = 4000, NS_TAPE_SOURCE_PARTIALS = 20000 };

/*
** *source = C source of
**   void tape_value(const double *in, double *out);      the outputs, then the values of the guards' nodes
**   void tape_jacobian(const double *in, double *jac);   the Jacobian by all inputs: column-major, one row for each output
** Free it with ns_free. The source includes no header; it has one statement for each operation, and a Jacobian in forward mode.
** *jacobian: whether it has tape_jacobian. NS_ESIZE: the tape is too long; NS_ENOMEM.
*/
NsStatus ns_tape_source(const NsTape *tape, char **source, bool *jacobian);

/*
** As ns_tape_source, with one function, which computes what ns_tape_vjp does, in reverse mode:
**   void tape_vjp(const double *in, const double *weight, double *bar);
** Where a slope is not finite some of bar may be nan.
*/
NsStatus ns_tape_vjp_source(const NsTape *tape, char **source);
