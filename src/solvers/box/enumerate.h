/*
** enumerate.h
** All active sets of a small box problem, one after another: the oracle.
*/
#ifndef NS_SOLVERS_BOX_ENUMERATE_H
#define NS_SOLVERS_BOX_ENUMERATE_H

#include "solvers/box/active.h"
#include "solvers/method.h"

enum { NS_ENUMERATE_MAX = 20, NS_ENUMERATE_STORE = 64 };

/* What an enumeration saw. */
typedef struct NsEnumeration {
  int tried;    /* active sets solved */
  int singular; /* of these, skipped because their block was singular to rounding */
  int found;    /* different solutions, counted up to NS_ENUMERATE_STORE */
} NsEnumeration;

/*
** Tries every active set of p (n <= NS_ENUMERATE_MAX, at most 3^n; 2^n for one-sided bounds), those left out whose
** places for some components already give a w the wrong sign for all z in the box, and leaves in z, w (n)
** the solution nearest in the 2-norm to `near` (n), the first in order on a tie. Singular blocks are skipped: a
** continuum of solutions shows only through those of its points that are the only ones of their active set (its
** vertices). `work` has room for (NS_ENUMERATE_STORE + 2) n doubles, set for n. NS_OK; NS_ENOSOL when no set fits
** and none was singular (there is no solution); NS_ESINGULAR when none fits but some were skipped; NS_ETOOLARGE;
** NS_EINTR. Cottle, Pang and Stone 1992, section 1.3.
*/
NsStatus ns_enumerate(NsActive *a, const NsBoxProblem *p, const double *near, double *work, signed char *set, double *z,
                      double *w, NsEnumeration *seen);

/* All active sets of the scaled problem; the solution nearest to the guess. */
extern const NsMethod ns_box_enumerate;

#endif
