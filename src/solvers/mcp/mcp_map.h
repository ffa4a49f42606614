/*
** mcp_map.h
** The maps whose zeros are the solutions of a mixed complementarity problem.
*/
#pragma once

/*
** phi(a, b) = a + b - sqrt(a^2 + b^2), which is 0 if and only if 0 <= a _|_ b >= 0. da, db (may be NULL): an element of its
** generalised gradient. Computed without cancellation for small a b. Fischer, Optimization 24, 1992.
*/
double ns_fischer(double a, double b, double *da, double *db);

/*
** The map of a box component: phi(z - l, -phi(u - z, -f)); f itself if both bounds are infinite, 0 if they are equal. Its
** generalised derivative is *at_z e_i + *at_f (row i of J), with *at_z, *at_f >= 0. Billups, Algorithms for complementarity
** problems and generalized equations, thesis, Wisconsin 1995.
*/
double ns_fischer_box(double z, double f, double lower, double upper, double *at_z, double *at_f);
