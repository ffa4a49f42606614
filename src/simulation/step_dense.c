/*
** step_dense.c
** Collects the dense output of a step, and joins the islands' dense outputs.
*/
#include "simulation/step_dense.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bernstein.h"
#include "ode/event_search.h"

/* ---- what a scheme tells ---- */

/* Makes room for one more entry of `size` numbers in *list; false: not enough memory. */
static bool dense_grow(double **list, long count, long room, size_t size) {
  if (count < room) return true;
  double *more = ns_resize(*list, (size_t)(2 * room + 8) * size, sizeof *more);
  if (more) *list = more;
  return more != NULL;
}

static NsStatus dense_take_side(void *context, double t, const double *values, NsError *err) {
  NsIslandDense *c = context;
  size_t n = (size_t)c->ncols;
  if (!dense_grow(&c->times, c->nsides, c->sides_room, 1) || !dense_grow(&c->sides, c->nsides, c->sides_room, n))
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (c->nsides == c->sides_room) c->sides_room = 2 * c->sides_room + 8;
  c->times[c->nsides] = t;
  double *side = c->sides + (size_t)c->nsides++ * n;
  memcpy(side, values, (size_t)c->told * sizeof *values);
  const NsSensitivity *s = c->sensitivity;
  if (s) ns_sensitivity_show(s->options, s->p, s->nx, s->X, side + c->told);
  return NS_OK;
}

static NsStatus dense_take_piece(void *context, double t_old, double t, const double *values, const double *defects,
                                 NsError *err) {
  NsIslandDense *c = context;
  size_t n = (size_t)c->ncols * NS_BERNSTEIN_SIZE, moved = (size_t)c->nx * NS_DEFECTS;
  if (!(t > t_old)) return NS_OK;
  if (!dense_grow(&c->spans, c->npieces, c->pieces_room, 2) || !dense_grow(&c->pieces, c->npieces, c->pieces_room, n) ||
      !dense_grow(&c->defects, c->npieces, c->pieces_room, moved))
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (c->npieces == c->pieces_room) c->pieces_room = 2 * c->pieces_room + 8;
  c->spans[2 * c->npieces] = t_old;
  c->spans[2 * c->npieces + 1] = t;
  for (size_t i = 0; i < moved; i++) c->defects[(size_t)c->npieces * moved + i] = defects ? defects[i] : NAN;
  double *piece = c->pieces + (size_t)c->npieces++ * n;
  size_t told = (size_t)c->told;
  const NsSensitivity *s = c->sensitivity;
  for (size_t k = 0; k < NS_BERNSTEIN_SIZE; k++, piece += c->ncols) {
    memcpy(piece, values + k * told, told * sizeof *values);
    if (s) ns_sensitivity_show(s->options, s->p, s->nx, s->nodes + k * (size_t)(s->nx * s->p), piece + told);
  }
  if (c->only_first) c->sink.piece = NULL;
  return c->watch ? c->watch(c->watch_context, t, err) : NS_OK;
}

/* ---- making ---- */

/* Fills the columns of an island's values in the whole graph. first_x, first_y: of each system and interaction. */
static void dense_place(NsIslandDense *c, const NsIsland *island, const int *first_x, const int *first_y, int nx, int m) {
  int p = c->sensitivity ? c->sensitivity->p - c->sensitivity->options->places : 0;
  const NsNsds *graph = island->graph;
  int at = 0, own = 0;
  for (int d = 0; d < graph->nds; d++)
    for (int i = 0; i < graph->ds[d]->n; i++) c->place[at++] = first_x[graph->ds[d]->index] + i;
  for (int e = 0; e < graph->ninteractions; e++) {
    int number = island->number ? island->number[e] : e;
    for (int i = 0; i < graph->interactions[e]->m; i++) c->place[at + own++] = nx + first_y[number] + i;
  }
  for (int i = 0; i < own; i++) c->place[at + own + i] = c->place[at + i] + m;
  for (int j = 0; j < p; j++)
    for (int i = 0; i < at; i++) c->place[c->told + i + j * at] = nx + 2 * m + c->place[i] + j * nx;
}

static NsStatus dense_make_island(NsStepDense *dense, NsIslandDense *c, const NsIsland *island,
                                  const NsSensitivity *sensitivity) {
  const NsNsds *graph = island->graph;
  int m = 0;
  for (int d = 0; d < graph->nds; d++) c->nx += graph->ds[d]->n;
  for (int e = 0; e < graph->ninteractions; e++) m += graph->interactions[e]->m;
  c->sensitivity = sensitivity;
  c->told = c->nx + 2 * m;
  c->ncols = c->told + (sensitivity ? c->nx * (sensitivity->p - sensitivity->options->places) : 0);
  c->place = ns_arena_ints(&dense->arena, c->ncols);
  c->sink = (NsDenseSink){.context = c, .side = dense_take_side};
  return dense->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_step_dense_new(NsStepDense *dense, const NsNsds *nsds, const NsIslands *islands,
                           const NsSensitivities *sensitivities) {
  NsStatus status = NS_OK;
  int m = 0;
  *dense = (NsStepDense){0};
  int *first_x = ns_arena_ints(&dense->arena, nsds->nds), *first_y = ns_arena_ints(&dense->arena, nsds->ninteractions);
  dense->of = ns_arena_take(&dense->arena, (size_t)islands->count, sizeof *dense->of);
  if (dense->arena.failed) return ns_step_dense_free(dense), NS_ENOMEM;
  dense->count = islands->count;
  for (int d = 0; d < nsds->nds; dense->nx += nsds->ds[d++]->n) first_x[d] = dense->nx;
  for (int e = 0; e < nsds->ninteractions; m += nsds->interactions[e++]->m) first_y[e] = m;
  dense->m = m;
  dense->ncols = dense->nx + 2 * m + (sensitivities ? dense->nx * (sensitivities->p - sensitivities->options.places) : 0);
  dense->row = ns_arena_doubles(&dense->arena, dense->ncols);
  for (int i = 0; i < dense->count && status == NS_OK; i++) {
    status = dense_make_island(dense, &dense->of[i], &islands->of[i], sensitivities ? sensitivities->of[i] : NULL);
    if (status == NS_OK) dense_place(&dense->of[i], &islands->of[i], first_x, first_y, dense->nx, m);
  }
  if (status == NS_OK && !dense->arena.failed) return NS_OK;
  ns_step_dense_free(dense);
  return NS_ENOMEM;
}

void ns_step_dense_free(NsStepDense *dense) {
  for (int i = 0; i < dense->count; i++) {
    ns_free(dense->of[i].spans);
    ns_free(dense->of[i].pieces);
    ns_free(dense->of[i].defects);
    ns_free(dense->of[i].times);
    ns_free(dense->of[i].sides);
  }
  ns_arena_release(&dense->arena);
  *dense = (NsStepDense){0};
}

void ns_step_dense_begin(NsStepDense *dense, double from, double to, NsPieces pieces) {
  dense->from = from;
  dense->to = to;
  for (int i = 0; i < dense->count; i++) {
    dense->of[i].npieces = dense->of[i].nsides = 0;
    dense->of[i].only_first = pieces == NS_PIECES_FIRST;
    dense->of[i].sink.piece = pieces != NS_PIECES_NONE ? dense_take_piece : NULL;
  }
}

void ns_step_dense_want_defects(NsStepDense *dense, bool wanted) {
  for (int i = 0; i < dense->count; i++) dense->of[i].sink.wants_defects = wanted;
}

void ns_step_dense_watch(NsStepDense *dense, NsPieceWatch watch, void *context) {
  for (int i = 0; i < dense->count; i++) {
    dense->of[i].watch = watch;
    dense->of[i].watch_context = context;
  }
}

bool ns_step_dense_has_sides(const NsStepDense *dense) {
  for (int i = 0; i < dense->count; i++)
    if (dense->of[i].nsides > 0) return true;
  return false;
}

bool ns_step_dense_is_smooth(const NsStepDense *dense) {
  for (int i = 0; i < dense->count; i++)
    if (dense->of[i].npieces == 0 || dense->of[i].only_first) return false;
  return dense->count > 0;
}

/* ---- values ---- */

/* The first piece that ends at t or later (`before`), or later than t; npieces when there is none. */
static long dense_piece(const NsIslandDense *c, double t, bool before) {
  long low = 0, high = c->npieces;
  while (low < high) {
    long middle = low + (high - low) / 2;
    double end = c->spans[2 * middle + 1];
    if (before ? end >= t : end > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* One value of an island at t; `p`: the piece of dense_piece. */
static void dense_value(const NsIslandDense *c, long p, double t, int n, double *values) {
  size_t size = (size_t)c->ncols, last = size * NS_BERNSTEIN_DEGREE, whole = size * NS_BERNSTEIN_SIZE;
  if (p < c->npieces && t >= c->spans[2 * p]) {
    NsDenseNodes nodes = {n, c->ncols, c->spans[2 * p], c->spans[2 * p + 1], c->pieces + (size_t)p * whole};
    NsDenseOutput dense = ns_dense_of_nodes(&nodes);
    (void)dense.at(dense.context, t, values, NULL);
    return;
  }
  const double *left = p > 0 ? c->pieces + (size_t)(p - 1) * whole + last : NULL;
  const double *right = p < c->npieces ? c->pieces + (size_t)p * whole : left;
  double a = p > 0 ? c->spans[2 * p - 1] : 0, b = p < c->npieces ? c->spans[2 * p] : a;
  double s = left && b > a ? (t - a) / (b - a) : 0;
  for (int i = 0; i < n; i++) values[i] = left ? left[i] + s * (right[i] - left[i]) : right[i];
}

void ns_step_dense_at(const NsStepDense *dense, double t, bool before, bool states, double *values) {
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    int n = states ? c->nx : c->ncols;
    if (c->npieces == 0) continue;
    dense_value(c, dense_piece(c, t, before), t, n, dense->row);
    for (int j = 0; j < n; j++) values[c->place[j]] = dense->row[j];
  }
}

void ns_step_dense_defects(const NsStepDense *dense, double t, int k, double *defects) {
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    long p = dense_piece(c, t, true);
    for (int j = 0; j < c->nx; j++)
      defects[c->place[j]] = p < c->npieces ? c->defects[((size_t)p * NS_DEFECTS + (size_t)k) * (size_t)c->nx + (size_t)j]
                                            : NAN;
  }
}

double ns_step_dense_next(const NsStepDense *dense, double t) {
  double next = dense->to;
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    long p = dense_piece(c, t, false);
    if (p < c->npieces && c->spans[2 * p] > t) next = fmin(next, c->spans[2 * p]);
    else if (p < c->npieces) next = fmin(next, c->spans[2 * p + 1]);
  }
  return next;
}

/* ---- sides ---- */

/* The first time of the sides from position at[i] on of each island; INFINITY: none is left. */
static double first_side(const NsStepDense *dense, const long *at) {
  double t = INFINITY;
  for (int i = 0; i < dense->count; i++)
    if (at[i] < dense->of[i].nsides) t = fmin(t, dense->of[i].times[at[i]]);
  return t;
}

/* The number of sides of an island at time t, from position `at` on. */
static long sides_at(const NsIslandDense *c, long at, double t) {
  long count = 0;
  while (at + count < c->nsides && c->times[at + count] == t) count++;
  return count;
}

/*
** The values of row j of the events at t: row 0 is before all of them; row j > 0 is after the j-th event of each island that
** has so many, and after the last of the others. Sides come in pairs.
*/
static void side_values(const NsStepDense *dense, const long *at, double t, long j, double *values) {
  ns_step_dense_at(dense, t, j == 0, false, values);
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    long count = sides_at(c, at[i], t), mine = 2 * j - 1;
    if (count == 0) continue;
    if (mine < 0) mine = 0;
    if (mine >= count) mine = count - 1;
    const double *side = c->sides + (size_t)(at[i] + mine) * (size_t)c->ncols;
    for (int k = 0; k < c->ncols; k++) values[c->place[k]] = side[k];
  }
}

NsStatus ns_step_dense_sides(NsStepDense *dense, NsSideRow row, void *context, NsError *err) {
  long *at = ns_alloc((size_t)dense->count, sizeof *at);
  double *values = ns_alloc((size_t)dense->ncols, sizeof *values);
  NsStatus status = (at || dense->count == 0) && (values || dense->ncols == 0) ? NS_OK : NS_ENOMEM;
  if (status != NS_OK) ns_fail(err, status, "not enough memory");
  for (double t; status == NS_OK && (t = first_side(dense, at)) < INFINITY;) {
    long rows = 0;
    for (int i = 0; i < dense->count; i++) {
      long mine = (sides_at(&dense->of[i], at[i], t) + 1) / 2;
      if (mine > rows) rows = mine;
    }
    for (long j = 0; j <= rows && status == NS_OK; j++) {
      side_values(dense, at, t, j, values);
      status = row(context, t, j > 0, values, err);
    }
    for (int i = 0; i < dense->count; i++) at[i] += sides_at(&dense->of[i], at[i], t);
  }
  ns_free(at);
  ns_free(values);
  return status;
}
