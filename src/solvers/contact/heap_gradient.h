/*
** heap_gradient.h
** Accelerated projected gradient steps for rows and contacts.
*/
#pragma once

#include "base/arena.h"
#include "solvers/contact/heap_blocks.h"

/* Where the steps for a problem stand: they go on from one run to the next. Zeros: at no point. */
typedef struct NsHeapGradient {
  NsArena arena;
  int capacity;
  double *r, *wr;       /* n: the last point, and W r + q */
  double *y, *wy;       /* n: where the next step starts */
  double *next, *wnext; /* n: the point of this step */
  double *best, *w;     /* n: the best point; workspace */
  double *shift;        /* ngroups: sum mu_D |u_D| that is held in the steps */
  bool fresh;           /* no step has been taken from r */
  double length, momentum;
  double least, fell; /* the measure of `best`; what it was when it last fell by much, */
  int since;          /* and the shifts after that */
} NsHeapGradient;

void ns_heap_gradient_release(NsHeapGradient *f);

/* Puts the next run at z. NS_ENOMEM. */
NsStatus ns_heap_gradient_begin(NsHeapGradient *f, const NsMixedView *v, const double *z);

/*
** Steps until one shift has settled, at most `most`; returns their number. *measure: of the point that is reached. f->best is the best point of all
** runs from where they began.
*/
int ns_heap_gradient_run(NsHeapGradient *f, const NsHeapBlocks *heap, int most, double *measure);

/* Whether the runs make no progress any more. */
bool ns_heap_gradient_stalled(const NsHeapGradient *f);
