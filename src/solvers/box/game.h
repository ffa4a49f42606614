/*
** game.h
** Linear complementarity problems of two sides: M = [0 A; B' 0] in a suitable order, as those of bimatrix games are.
*/
#ifndef NS_SOLVERS_BOX_GAME_H
#define NS_SOLVERS_BOX_GAME_H

#include "base/arena.h"
#include "solvers/box/box.h"
#include "solvers/method.h"

/* The sides that the variables of a problem are on, and the parts that it falls into. */
typedef struct NsGame {
  int *part;    /* of each variable, 0 <= part < parts */
  bool *second; /* the side of each variable within its part */
  int *queue;   /* the variables, part by part */
  int parts;
} NsGame;

/* Takes the vectors for problems of up to nmax variables from the arena; the arena's `failed` tells. */
void ns_game_take(NsGame *game, NsArena *arena, int nmax);

/*
** Whether p has two sides: each z has a finite lower bound and no upper one, and no entry M_ij but 0 joins variables
** of one side (i = j included). Fills `game`; variables that no entry joins, also over others, are in parts of their
** own.
*/
bool ns_game_find(NsGame *game, const NsBoxProblem *p);

/*
** Whether p (lower bounds 0) is a game of one part, q < 0, in which not all costs M_ij / |q_i| between the sides are
** positive. A constant added to all of them leaves the equilibria as they are; *shift is one that makes them positive,
** and M (n x n) and q (n) the problem with it, its rows divided by |q_i|.
** Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, section 1.2.
*/
bool ns_game_shift(const NsGame *game, const NsBoxProblem *p, double *M, double *q, double *shift);

/* Turns z (n), a solution with the shift, into one without; false where a player's cost is not positive without it. */
bool ns_game_unshift(const NsGame *game, int n, double shift, double *z);

/* Paths of Lemke and Howson (pivot.h) for problems of two sides, each end polished; NS_ENOCONV at once for others. */
extern const NsMethod ns_box_lemke_howson;

#endif
