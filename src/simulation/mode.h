/*
** mode.h
** The motion of a model in a given mode, at every state, whatever the signs of its guards: rates, guards and resets with their derivatives, as
** ns.dynamics asks for them. Modes belong to an EventDriven; each island has its own (integrators/hybrid/hybrid.h, NsGivenMode).
**
** States x belong to all systems in the graph's order, rows to all interactions. A mode is one block of bytes.
*/
#pragma once

#include "integrators/hybrid/hybrid.h"
#include "simulation/time_stepping.h"

/* An island. */
typedef struct NsModePart {
  NsHybrid *run; /* borrowed: for the present mode */
  const NsGivenMode *of;
  NsLinearisation *lin;
  int n, m;   /* states, rows */
  int *x;     /* n: the state in the order of the graph that is unknown i of the island */
  int *row;   /* m: the row of the graph */
  int guards; /* numbers of guards */
} NsModePart;

typedef struct NsMode {
  NsTimeStepping *ts; /* borrowed: an EventDriven */
  uint64_t graph_version;
  const NsIsland *islands;       /* that it is made for; NULL: none */
  int n, m, count;               /* states, rows, islands */
  const NsParameter *parameters; /* p, borrowed: numbers of the model */
  int p;
  NsModePart *parts;
  double *u, *out, *J, *P; /* workspace: n, n, n x n, n x p */
  bool *known;             /* p */
  NsArena arena;
} NsMode;

/* `mode` itself is the caller's. */
void ns_mode_free(NsMode *mode);

/* Makes it for the present graph of mode->ts; nothing happens where it is. NS_EARG: no EventDriven, or see NsGivenMode; the statuses of a step. */
NsStatus ns_mode_make(NsMode *mode, NsError *err);

/* The present mode of the simulation: the number of its bytes. `to` (NULL: not wanted) receives these, words (m) as NsGivenMode has them. */
size_t ns_mode_present(const NsMode *mode, void *to, const char **words);

/* The mode becomes one that was present; (t, x) is a point of it. What follows is in that mode. NS_EARG: its size is another one. */
NsStatus ns_mode_take(NsMode *mode, const void *block, size_t bytes, double t, const double *x, NsError *err);

/* Guard k >= 0 of the mode: the kind of its event, and *row; NULL: it has none. *row < 0: there are no more. */
const char *ns_mode_watched(const NsMode *mode, int k, int *row);

/*
** out = a map at (t, x). rate (n): x'. guard (1 number): guard k. reset (n): x after the impact of guard k in which the rows take part as
** in `ways`. Behind x there may be `columns` directions of n states and p parameters: behind the value are then the derivatives
** along these, where *exact. The derivatives of rate and reset have n + p numbers as well: for the parameters 0, and what they were.
** back: behind x are weights of the numbers of the map in their place, and behind the value the n + p derivatives of the weighted sums. The
** matrices are made once for all columns.
*/
typedef NsStatus NsModeMap(NsMode *mode, int k, const double *ways, double t, const double *x, int columns, bool back,
                           double *out, bool *exact, NsError *err);
NsModeMap ns_mode_rate, ns_mode_guard, ns_mode_reset;

/* ways (2 m) = how rows take part in an impact of guard k that leads from x before to x after; not *known: the states do not tell. */
NsStatus ns_mode_impact(NsMode *mode, int k, double t, const double *before, const double *after, double *ways, bool *known,
                        NsError *err);
