/*
** mode.h
** The motion of a model in a given mode, at every state, whatever the signs of its guards: rates, guards, resets and their derivatives, as
** ns.dynamics asks for them. The modes are those of an EventDriven; each island has its own (integrators/hybrid/hybrid.h, NsGivenMode).
**
** States x are those of all systems in the graph's order, rows those of all interactions. A mode is one block of bytes.
*/
#ifndef NS_SIMULATION_MODE_H
#define NS_SIMULATION_MODE_H

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
  const NsIsland *islands; /* that it is made for; NULL: none */
  int n, m, count;         /* states, rows, islands */
  NsModePart *parts;
  double *u, *other, *rate, *after, *ways, *J; /* workspace: n each, 2 m, n x n */
  NsArena arena;
} NsMode;

/* `mode` itself is the caller's. */
void ns_mode_free(NsMode *mode);

/* Makes it for the present graph of mode->ts; nothing happens where it is. NS_EARG: no EventDriven, or see NsGivenMode; the statuses of a step. */
NsStatus ns_mode_make(NsMode *mode, NsError *err);

/*
** The present mode of the simulation, which has been made: the number of its bytes, and, where `to` is not NULL, these. word: of a row, NULL for
** one that can't be followed.
*/
size_t ns_mode_present(const NsMode *mode, void *to);
const char *ns_mode_word(const NsMode *mode, int row);

/* The mode becomes one that was present; (t, x) is a point of it. What follows is in that mode. NS_EARG: its size is another one. */
NsStatus ns_mode_take(NsMode *mode, const void *block, size_t bytes, double t, const double *x, NsError *err);

/* rate (n) = x'. Behind x there may be `columns` vectors of n numbers: behind the rate are then F_x times these. J (n x n) = F_x. */
NsStatus ns_mode_rate(NsMode *mode, double t, const double *x, int columns, double *rate, NsError *err);
NsStatus ns_mode_jacobian(NsMode *mode, double t, const double *x, double *J, bool *exact, NsError *err);

/* Guard k >= 0 of the mode: the kind of its event, and *row; NULL: it has none. *row < 0: there are no more. */
const char *ns_mode_watched(const NsMode *mode, int k, int *row);

/* The value of a guard; gx (n) = its derivative by x, where *exact. */
NsStatus ns_mode_guard(NsMode *mode, int k, double t, const double *x, double *value, NsError *err);
NsStatus ns_mode_slope(NsMode *mode, int k, double t, const double *x, double *gx, bool *exact, NsError *err);

/*
** An impact of row `hit`. ways (2 m) = how the rows take part in the one that leads from x before to x after; not *known: the states do not
** tell. reset: x after such an impact, and A (n x n; NULL: not wanted) = its derivative, where *exact.
*/
NsStatus ns_mode_impact(NsMode *mode, int hit, double t, const double *before, const double *after, double *ways, bool *known,
                        NsError *err);
NsStatus ns_mode_reset(NsMode *mode, int hit, const double *ways, double t, const double *x, double *after, double *A,
                       bool *exact, NsError *err);

#endif
