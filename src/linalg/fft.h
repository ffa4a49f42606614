/*
** fft.h
** Discrete Fourier transforms of any length.
*/
#pragma once

#include <stdbool.h>

#include "base/status.h"

/*
** X_k = sum_j x_j exp(-2 pi i j k / n), in place, on n complex numbers (re, im); backward: exp(+2 pi i j k / n) / n. Mixed
** radix for the prime factors up to 31 (Cooley and Tukey 1965), the chirp transform for others (Bluestein 1970). Each root of
** unity is rounded by itself, so that the relative error in the 2-norm grows like eps log n. NS_ENOMEM.
*/
NsStatus ns_fft(int n, double *re, double *im, bool backward);

/* Fills (re, im), the transform of a real signal, n numbers, from its first n / 2 + 1: the others are their conjugates. */
void ns_fft_mirror(int n, const double *half_re, const double *half_im, double *re, double *im);

/* The frequency of number k of the transform of n samples at distance d; `half`: of the first n / 2 + 1, none negative. */
double ns_fft_frequency(int n, int k, double d, bool half);
