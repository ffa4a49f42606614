/*
** game.h
** Bimatrix games: linear complementarity problems whose variables have two sides, M = [0 A; B' 0] up to the order of variables.
*/
#pragma once

#include "base/arena.h"
#include "solvers/box/box.h"

/* The side of each variable, and the connected parts of the problem. */
typedef struct NsGame {
  int *part;    /* of each variable, 0 <= part < parts */
  bool *second; /* the side of each variable within its part */
  int *queue;   /* the variables, part by part */
  int parts;
} NsGame;
