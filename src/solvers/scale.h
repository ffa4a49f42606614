/*
** scale.h
** Row and column scaling of a box problem by powers of two: exact, and the box stays a box.
*/
#pragma once

#include "base/arena.h"
#include "solvers/box/box.h"

/*
** A scaled copy: M'_ij = 2^(r_i + c_j) M_ij, q'_i = 2^r_i q_i, z'_i = 2^-c_i z_i, bounds like z. Positive factors
** keep the signs of z - l, u - z and w, so that active sets of the two problems are the same.
*/
typedef struct NsBoxScaled {
  NsBoxProblem problem; /* points at the arrays below */
  double *M, *q, *lower, *upper;
  int *row, *col;       /* exponents r and c */
  int *exponent, *step; /* n x n and 2 n, workspace */
} NsBoxScaled;

/* Allocates for up to nmax variables from the arena; check the arena's `failed`. */
void ns_box_scaled_take(NsBoxScaled *s, NsArena *arena, int nmax);

/* Whether scaling is unnecessary: the largest entry of every nonzero row and column of M is within 2^-6 .. 2^6. */
bool ns_box_well_scaled(const NsBoxProblem *p);

/*
** Fills s from p so that the largest entry of each nonzero row and column of M' is within a factor of about 2 of 1. An
** integer version of Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices, RAL-TR-2001-034.
*/
void ns_box_scale(NsBoxScaled *s, const NsBoxProblem *p);

/* Converts z' (n) of the scaled problem to z (n) of p; a value at a scaled bound becomes exactly the bound of p. */
void ns_box_unscale(const NsBoxScaled *s, const NsBoxProblem *p, const double *scaled, double *z);
