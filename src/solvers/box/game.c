/*
** game.c
** The two sides of a bimatrix game, from the pattern of its matrix.
*/
#include "solvers/box/game.h"
#include "solvers/box/methods.h"

#include <math.h>

#include "solvers/box/dense_search.h"
#include "solvers/box/pivot.h"

/* PATHS: attempts, each from another label. MOST_PIVOTS + MOST_EACH n: limit of pivots; some paths are exponentially long. */
enum { PATHS = 8, MOST_PIVOTS = 1000, MOST_EACH = 20 };

/* Allocates for problems of up to nmax variables from the arena; check the arena's `failed`. */
static void game_take(NsGame *game, NsArena *arena, int nmax) {
  NS_ARENA_INTS(arena, nmax, &game->part, &game->queue);
  game->second = ns_arena_take(arena, (size_t)nmax, sizeof *game->second);
  game->parts = 0;
}

static double game_entry(const NsBoxProblem *p, int i, int j) {
  return p->M[i + (size_t)j * (size_t)p->ldm];
}

/* Puts the neighbours of variable i on the other side; false if one is already on the same side. */
static bool colour_neighbours(NsGame *game, const NsBoxProblem *p, int i, int *count) {
  for (int j = 0; j < p->n; j++) {
    if (game_entry(p, i, j) == 0 && game_entry(p, j, i) == 0) continue;
    if (game->part[j] < 0) {
      game->part[j] = game->part[i];
      game->second[j] = !game->second[i];
      game->queue[(*count)++] = j;
    } else if (game->second[j] == game->second[i]) {
      return false;
    }
  }
  return true;
}

/*
** Whether p is a game: every z_i has a finite lower bound and no upper bound, and M_ij = 0 for i, j on the same side (also i =
** j). Fills `game`; variables that are not connected by nonzero entries, directly or indirectly, are in different parts.
*/
static bool game_find(NsGame *game, const NsBoxProblem *p) {
  int count = 0, done = 0;
  game->parts = 0;
  for (int i = 0; i < p->n; i++) {
    if (game_entry(p, i, i) != 0 || p->lower[i] == -INFINITY || p->upper[i] < INFINITY) return false;
    game->part[i] = -1;
  }
  for (int first = 0; first < p->n; first++) {
    if (game->part[first] >= 0) continue;
    game->part[first] = game->parts++;
    game->second[first] = false;
    game->queue[count++] = first;
    while (done < count)
      if (!colour_neighbours(game, p, game->queue[done++], &count)) return false;
  }
  return true;
}

/* The least and the largest cost between the sides. */
static void cost_range(const NsGame *game, const NsBoxProblem *p, double *least, double *most) {
  *least = INFINITY, *most = -INFINITY;
  for (int j = 0; j < p->n; j++)
    for (int i = 0; i < p->n; i++) {
      if (game->second[i] == game->second[j]) continue;
      double cost = game_entry(p, i, j) / -p->q[i];
      if (cost < *least) *least = cost;
      if (cost > *most) *most = cost;
    }
}

/*
** Shifts the costs M_ij / |q_i| between the sides by a constant, which leaves the equilibria unchanged. True when p (lower
** bounds 0, q < 0) is a game of one part with a cost that is not positive. Then *shift makes all costs positive, and M (n x n)
** and q (n) are the shifted problem with rows divided by |q_i|. Cottle, Pang and Stone, The Linear Complementarity Problem,
** 1992, section 1.2.
*/
static bool game_shift(const NsGame *game, const NsBoxProblem *p, double *M, double *q, double *shift) {
  double least, most;
  int n = p->n;
  if (game->parts != 1) return false;
  for (int i = 0; i < n; i++)
    if (!(p->q[i] < 0) || p->lower[i] != 0) return false;
  cost_range(game, p, &least, &most);
  if (least > 0) return false;
  *shift = 0.125 * (most - least) - least;
  for (int j = 0; j < n; j++) {
    q[j] = -1;
    for (int i = 0; i < n; i++)
      M[i + (size_t)j * (size_t)n] = game->second[i] == game->second[j] ? 0 : game_entry(p, i, j) / -p->q[i] + *shift;
  }
  return *shift < INFINITY;
}

/* If a player's equal costs are c, the z of the other player sum to 1 / (c + shift) with the shift and to 1 / c without. */
static bool game_unshift(const NsGame *game, int n, double shift, double *z) {
  double sum[2] = {0, 0};
  for (int i = 0; i < n; i++) sum[game->second[i]] += z[i];
  for (int i = 0; i < n; i++) z[i] /= 1 - shift * sum[game->second[i]];
  return 1 - shift * sum[0] > 0 && 1 - shift * sum[1] > 0;
}

/* ---- the method ---- */

typedef struct GamePaths {
  NsGame game;
  NsPivot *pivot;
  double *M, *q; /* of the shifted game */
  double *z;
  signed char *set;
} GamePaths;

static NsStatus game_reserve(void **work, NsSearch *search) {
  NsDenseSearch *s = (NsDenseSearch *)search;
  GamePaths *m = *work = ns_arena_take(s->box.arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  game_take(&m->game, s->box.arena, s->box.nmax);
  m->M = ns_arena_matrix(s->box.arena, s->box.nmax, s->box.nmax);
  NS_ARENA_VECTORS(s->box.arena, s->box.nmax, &m->q, &m->z);
  m->set = ns_arena_take(s->box.arena, (size_t)s->box.nmax, 1);
  return ns_pivot_new(&m->pivot, s->box.nmax, s->active->lu);
}

static void game_release(void *work) {
  if (work) ns_pivot_free(((GamePaths *)work)->pivot);
}

static NsOutcome game_run(void *work, NsSearch *search, int mode) {
  GamePaths *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  NsOutcome out = {NS_ENOCONV, false, 0, "lemke-howson"};
  double shift;
  (void)mode;
  if (!game_find(&m->game, s->p)) return out;
  const NsBoxProblem *fair = ns_dense_fair(s);
  bool shifted = game_shift(&m->game, fair, m->M, m->q, &shift);
  NsBoxProblem game = {fair->n, m->M, fair->n, m->q, fair->lower, fair->upper, fair->faded};
  int limit = ns_box_limit(&s->box, MOST_PIVOTS + MOST_EACH * fair->n);
  for (int k = 0; k < PATHS; k++) {
    NsGameStart start = {(int)((long long)k * fair->n / PATHS), k % 2 == 0};
    out.status = ns_pivot_game(m->pivot, shifted ? &game : fair, &m->game, &start, limit, m->z, m->set, &out.iterations);
    if (out.status != NS_OK) return out;
    if (shifted && !game_unshift(&m->game, fair->n, shift, m->z)) continue;
    if (ns_dense_polish(s, m->z, m->set)) return out;
  }
  return out.status = NS_ENOCONV, out;
}

/* Lemke-Howson paths (pivot.h) for games, each end polished; NS_ENOCONV at once for other problems. */
const NsMethod ns_box_lemke_howson = {
    .takes = NS_TAKES_DENSE, .reserve = game_reserve, .release = game_release, .run = game_run};
