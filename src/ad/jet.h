/*
** jet.h
** Derivatives of higher order that go with a number: which there are, and what an operation adds to them.
*/
#ifndef NS_AD_JET_H
#define NS_AD_JET_H

#include "ad/curve.h"

/*
** What stands beside a value x, with u_1 .. u_m the variables. Griewank and Walther, Evaluating Derivatives, 2nd ed.,
** 2008, chapter 13.
**   SLOPES  x_u, m partials, as in ad/dual.h
**   LINE    x', x'': along a line, or a curve
**   TWIST   the same, then x_u, x'_u, x''_u for each variable
**   BOWL    x_u for each variable, then x_uw for all pairs of them: (1, 1), (1, 2), (2, 2), (1, 3) ...
*/
typedef enum NsJetKind { NS_JET_SLOPES, NS_JET_LINE, NS_JET_TWIST, NS_JET_BOWL } NsJetKind;

typedef struct NsJet {
  NsJetKind kind;
  int variables;
} NsJet;

/* How many derivatives there are; for BOWL, where that by the variables i <= j (from 0) stands. */
int ns_jet_size(NsJet jet);
int ns_jet_pair(NsJet jet, int i, int j);

/*
** out += what an operation of x and y (NULL: constant) has beside the sum of its slopes times theirs, which is in out
** already; vx, vy: the values. A term with a factor that is exactly 0 is 0. out is neither x nor y.
*/
void ns_jet_add(NsJet jet, double *out, NsBend bend, double vx, double vy, const double *x, const double *y);

#endif
