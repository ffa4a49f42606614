/*
** flow_mode.h
** The mode of a flow, and what it remembers of the run. Private to flow/.
*/
#pragma once

#include "integrators/flow/flow.h"

/*
** A mode, with the multipliers and the algebraic states that the search for them begins with, is one block: `bytes` bytes from `t_k` on. To
** keep and to visit it is to do so with the block.
*/
typedef struct NsFlowMode {
  int n;
  size_t bytes;
  double *lambda;  /* m */
  NsRowMode *rows; /* m */
  double *a;       /* na: algebraic states; room for n */

  /* the block begins; the arrays follow it */
  double t_k, h; /* the start and the length of the step of the grid that ns_flow_begin was told */
} NsFlowMode;

/* Takes memory; NULL: no memory. resize: there are na algebraic states, which become 0. */
NsFlowMode *ns_flow_mode_new(NsArena *arena, int n, int m);
void ns_flow_mode_resize(NsFlowMode *mode, int na);

/* The block. A copy of it, from another mode of these sizes or from where it was kept, makes the mode that one. */
void *ns_flow_mode_block(const NsFlowMode *mode);
void ns_flow_mode_take(NsFlowMode *mode, const void *block);

/* The last evaluated point, and sizes in the run: one block of numbers. */
typedef struct NsFlowMemory {
  double *block;
  size_t bytes;
  double *x, *s;       /* n, nd: the point */
  double *size;        /* nd: the largest |s| in the run so far, at ends of steps and at events */
  double *a_size;      /* na: the size of algebraic states in the run, see mode_signs.c */
  double *a_most;      /* na: the largest |a| in the run so far, at the same times */
  double *lambda_size; /* m: the size of lambda in the run, see mode_signs.c */
  double *lambda_most; /* m: the largest |lambda| in the run */
  double *y_way;       /* m: what y changes in a step of the grid by its explicit dependence on time; 0: not yet known */
  double *strength;    /* m: the largest sum of |d(dy/dt)/dlambda| in the run, at starts of motions, see flow_tangent.c */
} NsFlowMemory;

/* Takes memory; test arena->failed afterwards. */
void ns_flow_memory_make(NsFlowMemory *memory, NsArena *arena, int n, int m);
