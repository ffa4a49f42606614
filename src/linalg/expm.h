/*
** expm.h
** The exponential of a matrix.
*/
#pragma once

#include "base/status.h"

/*
** E = exp(A) by scaling, a Pade approximant of degree 3 to 13, and squaring: Higham, The scaling and squaring
** method for the matrix exponential revisited, SIAM J. Matrix Anal. Appl. 26(4), 2005. A is n x n, E n x n and
** packed. NS_ENAN when A is not finite, NS_ETOOLARGE when exp(A) overflows, NS_ENOMEM.
*/
NsStatus ns_expm(int n, const double *A, int lda, double *E);
