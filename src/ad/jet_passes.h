/*
** jet_passes.h
** Higher derivatives of a function of n variables with `rows` values, in passes of at most 16 variables.
*/
#pragma once

#include "ad/jet.h"

/*
** find gives the derivatives `all` (ns_jet_size(jet) for each value) for the derivatives of the variables, `seed` (as many for each
** variable), and of the time, tdot. seed and all are workspace: ns_jet_most(n) doubles for each variable, and for each value.
*/
typedef struct NsJetPasses {
  int n, rows;
  double tdot;
  void (*find)(void *context, double tdot, NsJet jet, const double *seed, double *all);
  void *context;
  double *seed, *all;
} NsJetPasses;

/* The most derivatives of a value in one pass. */
ptrdiff_t ns_jet_most(int n);

/*
** Along q(s) = q + s v + s^2 / 2 a (a NULL: 0) and t + s tdot, at s = 0: second (rows) = the second derivative in s; slope, rate, bend (rows
** x n each) = the derivatives by q of the value, of its first and of its second derivative in s. NULL: not wanted.
*/
void ns_jets_twist(const NsJetPasses *passes, const double *v, const double *a, double *second, double *slope, double *rate,
                   double *bend);

/* H = the second derivatives at fixed time: of weight . value (n x n) or, with weight NULL, of each value (rows x n x n). */
void ns_jets_bowl(const NsJetPasses *passes, const double *weight, double *H);
