/*
** pgs.h
** Projected Gauss-Seidel for boxes.
*/
#pragma once

#include "solvers/box/box.h"
#include "solvers/method.h"

/* Sweeps, then the active set at their end. NS_EARG: a diagonal entry is not positive. */
extern const NsMethod ns_box_pgs;

/* For large symmetric M with a positive diagonal: the active set after 6 to 14 sweeps, once it stops changing. */
extern const NsMethod ns_box_predict;
