/*
** smooth.h
** A smooth vector function of x, as the optimisers see it.
*/
#pragma once

#include "base/error.h"

/*
** f(x) has m values, x has n elements. evaluate writes the values f (NULL: not wanted) and the Jacobian J (m x n,
** column-major; NULL: not wanted). It returns NS_OK, or a failure with its text in the NsError of the call; then the optimiser
** ends. Values that are not finite are no failure: they make the optimiser take a shorter step.
*/
typedef struct NsSmooth {
  int n, m;
  void *context;
  NsStatus (*evaluate)(void *context, const double *x, double *f, double *J);
} NsSmooth;
