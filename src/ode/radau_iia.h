/*
** radau_iia.h
** The coefficients of the Radau IIA method with three stages, of order 5.
*/
#pragma once

/*
** The nodes, and the transformation A^-1 = T L T^-1 of the method's matrix A, L = [MU, 0, 0; 0, ALPHA, BETA; 0, -BETA, ALPHA].
** Acting on w1 + i w2, the second block is the factor ALPHA - i BETA. Hairer and Wanner, Solving Ordinary Differential
** Equations II, 2nd ed., sections IV.5 and IV.8.
*/
#define NS_RADAU_SQRT6 2.449489742783178098197284074705891
#define NS_RADAU_MU    3.637834252744495732208418513577775
#define NS_RADAU_ALPHA 2.681082873627752133895790743211112
#define NS_RADAU_BETA  3.050430199247410569426377624787569

static const double ns_radau_nodes[3] = {(4 - NS_RADAU_SQRT6) / 10, (4 + NS_RADAU_SQRT6) / 10, 1};

/* The weights of the differences (stage i - y) in the error estimate. */
static const double ns_radau_estimate[3] = {(-13 - 7 * NS_RADAU_SQRT6) / 3, (-13 + 7 * NS_RADAU_SQRT6) / 3, -1.0 / 3};

static const double ns_radau_T[3][3] = {
    {0.09443876248897524, -0.14125529502095421, 0.03002919410514742},
    {0.25021312296533332, 0.20412935229379994, -0.38294211275726192},
    {1, 1, 0},
};

static const double ns_radau_inverse_T[3][3] = {
    {4.17871859155190428, 0.32768282076106237, 0.52337644549944951},
    {-4.17871859155190428, -0.32768282076106237, 0.47662355450055044},
    {0.50287263494578682, -2.57192694985560522, 0.59603920482822492},
};

/* An entry of T w or T^-1 z: one row of the matrix times three numbers. */
static inline double ns_radau_mix(const double row[3], double a, double b, double c) {
  return row[0] * a + row[1] * b + row[2] * c;
}

/*
** value (4) = at s, the Lagrange polynomials of a step's start and nodes; slope (4) = their derivatives by s; s in units of
** the step.
*/
void ns_radau_basis(double s, double *value, double *slope);

/* Row a (3) of the inverse of the method's matrix: gives the derivative at node a of the polynomial through 0 and the stages. */
void ns_radau_slope_row(int a, double *row);
