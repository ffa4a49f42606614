/*
** philox.h
** Random numbers: Philox4x32-10, a counter-based generator. The same seed gives the same bits on every machine.
*/
#pragma once

#include <stdbool.h>
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

/* (1 - u) a + u b with u of ns_philox_uniform. */
double ns_philox_between(NsPhilox *p, double a, double b);

/* An integer in [least, most], all equally likely; least <= most. Uses one word, seldom more. */
int64_t ns_philox_integer(NsPhilox *p, int64_t least, int64_t most);

/*
** A number of the normal distribution with mean 0 and standard deviation 1: the inverse of its distribution function at one
** uniform number, with a relative error of 1e-15; uses one word. It is computed by additions, multiplications, divisions and
** square roots alone, which have the same bits on every machine. Wichura, Algorithm AS 241, Applied Statistics 37, 1988.
*/
double ns_philox_normal(NsPhilox *p);

/* Writes x (n): the numbers 1 to n in random order. Fisher and Yates; Knuth, The Art of Computer Programming 2, 3.4.2. */
void ns_philox_permutation(NsPhilox *p, int n, double *x);

/* The position as a text, and back: ns_philox_read is false, and leaves *p alone, for a text ns_philox_print does not write. */
enum { NS_PHILOX_TEXT = 100 };
void ns_philox_print(const NsPhilox *p, char text[NS_PHILOX_TEXT]);
bool ns_philox_read(const char *text, NsPhilox *p);

/* The inverse of the normal distribution function, for 0 < u < 1. */
double ns_normal_quantile(double u);
