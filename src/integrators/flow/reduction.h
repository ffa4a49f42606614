/*
** reduction.h
** Index reduction: equations R(t, s, w) = 0 that do not determine w are replaced by their time derivatives.
*/
#pragma once

#include "integrators/flow/rank.h"

/* Largest number of differentiations: index 4 (an output whose third derivative has lambda). */
enum { NS_REDUCTION_LEVELS = 3 };

/*
** nw equations R^0 for nw unknowns w, with s' = F(t, s, w). Level k + 1 keeps the pivot rows of R^k, and replaces each other
** row by the combination Z' (R^k_t + R^k_s F), where Z' R^k_w = 0. At the last level R_w is regular, or the combinations left
** are redundant: they do not depend on s either. Matrices are column-major.
** Gear, SIAM J. Sci. Stat. Comput. 9, 1988; Hairer and Wanner, Solving Ordinary Differential Equations II, section VII.2.
*/
typedef struct NsReduction {
  int nw, nd, levels;
  bool deficient;                       /* w is not determined: columns rank .. nw - 1 of the last level are free */
  NsRank rank[NS_REDUCTION_LEVELS + 1]; /* of R_w of each level */
  double *Rs[NS_REDUCTION_LEVELS + 1];  /* nw x nd: R_s of each level */
  double *Rs_terms;                     /* nw x nd: of the present level */
  double *Rw, *Rw_terms;                /* nw x nw: of the present level, and the terms of each entry */
  double *v, *v_terms;                  /* nw, workspace */
  double *row, *row_terms;              /* nd */
} NsReduction;

/* Allocates for nw equations and nd differential states in the arena; test arena->failed afterwards. */
void ns_reduction_take(NsReduction *r, NsArena *arena, int nw, int nd);

/* s' = F: Fs (nd x nd), Fw (nd x nw), and the terms of their entries. */
typedef struct NsReductionRates {
  const double *Fs, *Fs_terms, *Fw, *Fw_terms;
  const bool *without; /* nw: the derivative of a row of level 0 counts as one without w; NULL: none */
} NsReductionRates;

/*
** Begins with R^0: the caller has filled Rs[0], Rs_terms, Rw and Rw_terms. True when there is another level, which
** ns_reduction_next forms; it needs Fs only for a second one (Fs NULL is allowed at level 0: then Rs of level 1 is not set).
*/
bool ns_reduction_begin(NsReduction *r, int nw, int nd);
bool ns_reduction_next(NsReduction *r, const NsReductionRates *rates);
