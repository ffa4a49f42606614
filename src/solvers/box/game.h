/*
** game.h
** Bimatrix games: linear complementarity problems whose variables have two sides, M = [0 A; B' 0] up to the order of variables.
*/
#ifndef NS_SOLVERS_BOX_GAME_H
#define NS_SOLVERS_BOX_GAME_H

#include "base/arena.h"
#include "solvers/box/box.h"
#include "solvers/method.h"

/* The side of each variable, and the connected parts of the problem. */
typedef struct NsGame {
  int *part;    /* of each variable, 0 <= part < parts */
  bool *second; /* the side of each variable within its part */
  int *queue;   /* the variables, part by part */
  int parts;
} NsGame;

/* Allocates for problems of up to nmax variables from the arena; check the arena's `failed`. */
void ns_game_take(NsGame *game, NsArena *arena, int nmax);

/*
** Whether p is a game: every z_i has a finite lower bound and no upper bound, and M_ij = 0 for i, j on the same side (also i =
** j). Fills `game`; variables that are not connected by nonzero entries, directly or indirectly, are in different parts.
*/
bool ns_game_find(NsGame *game, const NsBoxProblem *p);

/*
** Shifts the costs M_ij / |q_i| between the sides by a constant, which leaves the equilibria unchanged. True when p (lower
** bounds 0, q < 0) is a game of one part with a cost that is not positive. Then *shift makes all costs positive, and M (n x n)
** and q (n) are the shifted problem with rows divided by |q_i|. Cottle, Pang and Stone, The Linear Complementarity Problem,
** 1992, section 1.2.
*/
bool ns_game_shift(const NsGame *game, const NsBoxProblem *p, double *M, double *q, double *shift);

/* Turns a solution z (n) of the shifted problem into one of p; false when a player's cost is not positive without the shift. */
bool ns_game_unshift(const NsGame *game, int n, double shift, double *z);

/* Lemke-Howson paths (pivot.h) for games, each end polished; NS_ENOCONV at once for other problems. */
extern const NsMethod ns_box_lemke_howson;

#endif
