/*
** tape_source.h
** A closed tape as C source: a function for the values and one for the Jacobian.
*/
#ifndef NS_AD_TAPE_SOURCE_H
#define NS_AD_TAPE_SOURCE_H

#include "ad/tape.h"

/* The functions of the source: tape_value and, where it is not too long, tape_jacobian. */
typedef void NsTapeValue(const double *in, double *out);
typedef void NsTapeJacobian(const double *in, double *jac);

/* The largest tape that is worth a compiler's time, in operations; the longest Jacobian, in partial derivatives. */
enum { NS_TAPE_SOURCE_STEPS = 4000, NS_TAPE_SOURCE_PARTIALS = 20000 };

/*
** *source = C source of
**   void tape_value(const double *in, double *out);
**   void tape_jacobian(const double *in, double *jac);   the Jacobian by all inputs: column-major, one row for each output
** to be freed with ns_free. It includes no header. The Jacobian is that of forward mode; the operations are those of
** the tape, one statement each. *jacobian: whether it has one. NS_ESIZE: the tape is too long; NS_ENOMEM.
*/
NsStatus ns_tape_source(const NsTape *tape, char **source, bool *jacobian);

#endif
