/*
** enumerate.h
** Tries all active sets of a small box problem: the reference for the other methods.
*/
#pragma once

#include "solvers/box/active.h"
#include "solvers/method.h"

enum { NS_ENUMERATE_MAX = 20, NS_ENUMERATE_STORE = 64 };

/* What an enumeration saw. */
typedef struct NsEnumeration {
  int tried;    /* active sets solved */
  int singular; /* of these, skipped with a block that is singular to rounding */
  int found;    /* different solutions, counted up to NS_ENUMERATE_STORE */
} NsEnumeration;

/*
** Tries the active sets of p in order (n <= NS_ENUMERATE_MAX; at most 3^n sets, 2^n for one-sided bounds). A branch is skipped
** when the places chosen so far give some w_i the wrong sign for all z in the box. z, w (n) become the solution nearest to
** `near` (n) in the 2-norm, the first one on a tie. Singular blocks are skipped: of a continuum of solutions only those points
** appear that are the unique solution of their active set (its vertices). `work` holds (NS_ENUMERATE_STORE + 2) n doubles,
** `set` n places. NS_OK; NS_ENOSOL: no set fits and none was singular, so there is no solution; NS_ESINGULAR: none fits, but
** some were skipped; NS_ETOOLARGE; NS_EINTR. Cottle, Pang and Stone 1992, section 1.3.
*/
NsStatus ns_enumerate(NsActive *a, const NsBoxProblem *p, const double *near, double *work, signed char *set, double *z,
                      double *w, NsEnumeration *seen);

/* Enumerates the scaled problem; the answer is the solution nearest to the guess. */
extern const NsMethod ns_box_enumerate;
