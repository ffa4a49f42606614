/*
** pivot.h
** Lemke's method for boxes: complementary pivoting along a covering variable, lexicographic; Lemke-Howson for games.
*/
#ifndef NS_SOLVERS_BOX_PIVOT_H
#define NS_SOLVERS_BOX_PIVOT_H

#include "base/arena.h"
#include "solvers/box/active.h"
#include "solvers/box/game.h"
#include "solvers/method.h"

/* Where a path starts and what covers it. */
typedef struct NsPivotStart {
  bool upper;     /* start at the upper bounds where these are finite; else at the lower ones where these are */
  bool varied;    /* fixed unequal positive covering numbers instead of ones */
  double compact; /* when > 0: infinite bounds become this many times the size of the data */
} NsPivotStart;

/* Workspace for problems of up to nmax variables; see pivot.c. */
typedef struct NsPivot NsPivot;

/* lu (made for order nmax) is borrowed, used with other orders and must outlive the workspace. NS_ENOMEM. */
NsStatus ns_pivot_new(NsPivot **pivot, int nmax, NsLu *lu);
void ns_pivot_free(NsPivot *pivot);

/*
** Follows one path for a problem whose M has entries of about 1 (see scale.h) and whose bounds all differ. The
**   system is w = M z + q + d t,  t >= 0,  d_i = +1 where z_i starts at its lower bound (w_i >= 0 basic), -1 at its
** upper one (w_i <= 0 basic); t starts so large that all w have their sign, and falls until it leaves at 0. Whenever
** w_i leaves at 0, z_i enters from its bound; whenever z_i leaves at a bound, w_i enters with that bound's sign; an
** entering z_i may reach its other bound first (a bound flip, no change of basis). Free variables are in the basis
** from the start, their w_i = 0 out of it. Ties are decided lexicographically. NS_OK: `set` (n) is the active set at
** t = 0 and z (n) the vertex, to be polished by ns_active_try. NS_ERAY: t can not fall further;
** NS_ESINGULAR: the free variables fit in no basis,
** or a basis is singular to rounding; NS_EMAXITER: max_pivots were taken; NS_EINTR.
** *pivots is the number of pivots. The path of a problem with finite bounds can not end on a ray, whatever M: see
** pivot.c.
** Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, sections 4.4 and 4.9; Cao and Ferris, A pivotal
** method for affine variational inequalities, Math. Oper. Res. 21, 1996.
*/
NsStatus ns_pivot_path(NsPivot *pivot, const NsBoxProblem *p, const NsPivotStart *start, int max_pivots, double *z,
                       signed char *set, int *pivots);

/* Where the paths of a game start. */
typedef struct NsGameStart {
  int label;   /* the first label to be tried is the first from this number on */
  bool untied; /* q is moved by about 1e-9 of its size, and so are z and perhaps set */
} NsGameStart;

/*
** The method of Lemke and Howson for a problem of two sides, scaled likewise: part after part, along paths on which
** one label k alone is missing (the covering vector is -e_k), with at most max_pivots pivots each and up to eight
** labels. With A, B > 0 and q < 0 no path ends on a ray. Labels are left out where no ray leads in: z_k must raise all
** w of the other side that are negative and lower none, and so must the z of the last of these. As ns_pivot_path;
** NS_ENOCONV: no label can be used.
** Lemke and Howson, Equilibrium points of bimatrix games, SIAM J. Appl. Math. 12, 1964; Cottle, Pang and Stone,
** section 4.4.
*/
NsStatus ns_pivot_game(NsPivot *pivot, const NsBoxProblem *p, const NsGame *game, const NsGameStart *start, int max_pivots,
                       double *z, signed char *set, int *pivots);

/* After NS_ERAY: the direction of z (n) along the ray. Borrowed, until the next path. */
const double *ns_pivot_ray(const NsPivot *pivot);

/*
** Paths from several starts on the scaled problem, each end polished. The outcome of a failure is that of the first path. Mode
** NS_LEMKE_FIRST: the first path alone; NS_LEMKE_OTHERS: all but that.
*/
extern const NsMethod ns_box_lemke;
enum { NS_LEMKE_FIRST = 1, NS_LEMKE_OTHERS = 2 };

#endif
