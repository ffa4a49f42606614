/*
** philox.h
** Random numbers: Philox4x32-10, a counter-based generator. The same seed gives the same bits on every machine.
*/
#pragma once

#include <stdint.h>

/*
** A position in a sequence of 64-bit words. Word number `draw` (from 0) is a function of (seed, stream, draw) alone: streams of
** one seed are independent sequences, and any word can be computed without the ones before it. Salmon, Moraes, Dror and Shaw,
** Parallel random numbers: as easy as 1, 2, 3, SC11, 2011.
*/
typedef struct NsPhilox {
  uint64_t seed, stream, draw;
} NsPhilox;

/* A multiple of 2^-53 in [0, 1), all equally likely; uses one word. */
double ns_philox_uniform(NsPhilox *p);

/* An integer in [least, most], all equally likely; least <= most. Uses one word, seldom more. */
int64_t ns_philox_integer(NsPhilox *p, int64_t least, int64_t most);

/*
** A number of the normal distribution with mean 0 and standard deviation 1: the inverse of its distribution function at one
** uniform number, with a relative error of 1e-15; uses one word. It is computed by additions, multiplications, divisions and
** square roots alone, which have the same bits on every machine. Wichura, Algorithm AS 241, Applied Statistics 37, 1988.
*/
double ns_philox_normal(NsPhilox *p);

/* The inverse of the normal distribution function, for 0 < u < 1. */
double ns_normal_quantile(double u);
