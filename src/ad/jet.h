/*
** jet.h
** Jets: a number with its derivatives of higher order; the terms that an operation adds to them.
*/
#pragma once

#include "ad/curve.h"

/*
** The derivatives stored with a value x; u_1 .. u_m are the variables. Griewank and Walther, Evaluating Derivatives, 2nd ed.,
** 2008, chapter 13.
**   SLOPES  x_u for each variable, as in ad/dual.h
**   LINE    x', x'': along a line, or a curve
**   TWIST   x', x'', then x_u, x'_u, x''_u for each variable
**   BOWL    x_u for each variable, then x_uw for all pairs of them: (1, 1), (1, 2), (2, 2), (1, 3) ...
*/
typedef enum NsJetKind { NS_JET_SLOPES, NS_JET_LINE, NS_JET_TWIST, NS_JET_BOWL } NsJetKind;

typedef struct NsJet {
  NsJetKind kind;
  int variables;
} NsJet;

/* The number of derivatives; the index of the derivative by the variables i <= j (from 0) in a BOWL. */
int ns_jet_size(NsJet jet);
int ns_jet_pair(NsJet jet, int i, int j);

/* The jet of a kind that has `size` derivatives. */
NsJet ns_jet_of(NsJetKind kind, int size);

/*
** out += the terms of an operation with its second and third derivatives; out already has dx x + dy y. x and y are the
** operands' derivatives (NULL: constant), vx and vy their values. A term with a factor of exactly 0 is 0. out must not be x or
** y.
*/
void ns_jet_add(NsJet jet, double *out, NsBend bend, double vx, double vy, const double *x, const double *y);
