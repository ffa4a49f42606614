/*
** step_course.c
** Collects the course of a step, and joins the islands' courses.
*/
#include "simulation/step_course.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ode/bernstein.h"
#include "ode/event_search.h"

/* ---- what a scheme tells ---- */

/* Makes room for one more entry of `size` numbers in *list; false: not enough memory. */
static bool course_grow(double **list, long count, long room, size_t size) {
  if (count < room) return true;
  double *more = ns_resize(*list, (size_t)(2 * room + 8) * size, sizeof *more);
  if (more) *list = more;
  return more != NULL;
}

static NsStatus course_take_side(void *context, double t, const double *values, NsError *err) {
  NsIslandCourse *c = context;
  size_t n = (size_t)c->ncols;
  if (!course_grow(&c->times, c->nsides, c->sides_room, 1) || !course_grow(&c->sides, c->nsides, c->sides_room, n))
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (c->nsides == c->sides_room) c->sides_room = 2 * c->sides_room + 8;
  c->times[c->nsides] = t;
  double *side = c->sides + (size_t)c->nsides++ * n;
  memcpy(side, values, (size_t)c->told * sizeof *values);
  if (c->sensitivity) memcpy(side + c->told, c->sensitivity->X, (n - (size_t)c->told) * sizeof *values);
  return NS_OK;
}

static NsStatus course_take_piece(void *context, double t_old, double t, const double *values, NsError *err) {
  NsIslandCourse *c = context;
  size_t n = (size_t)c->ncols * NS_BERNSTEIN_SIZE;
  if (!(t > t_old)) return NS_OK;
  if (!course_grow(&c->spans, c->npieces, c->pieces_room, 2) || !course_grow(&c->pieces, c->npieces, c->pieces_room, n))
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (c->npieces == c->pieces_room) c->pieces_room = 2 * c->pieces_room + 8;
  c->spans[2 * c->npieces] = t_old;
  c->spans[2 * c->npieces + 1] = t;
  double *piece = c->pieces + (size_t)c->npieces++ * n;
  size_t told = (size_t)c->told, more = (size_t)c->ncols - told;
  for (size_t k = 0; k < NS_BERNSTEIN_SIZE; k++, piece += c->ncols) {
    memcpy(piece, values + k * told, told * sizeof *values);
    if (more > 0) memcpy(piece + told, c->sensitivity->nodes + k * more, more * sizeof *values);
  }
  if (c->only_first) c->trace.piece = NULL;
  return c->watch ? c->watch(c->watch_context, t, err) : NS_OK;
}

/* ---- making ---- */

/* Fills the columns of an island's values in the whole graph. first_x, first_y: of each system and interaction. */
static void course_place(NsIslandCourse *c, const NsIsland *island, const int *first_x, const int *first_y, int nx, int m) {
  int p = c->sensitivity ? c->sensitivity->p : 0;
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

static NsStatus course_make_island(NsStepCourse *course, NsIslandCourse *c, const NsIsland *island,
                                   const NsSensitivity *sensitivity) {
  const NsNsds *graph = island->graph;
  int m = 0;
  for (int d = 0; d < graph->nds; d++) c->nx += graph->ds[d]->n;
  for (int e = 0; e < graph->ninteractions; e++) m += graph->interactions[e]->m;
  c->sensitivity = sensitivity;
  c->told = c->nx + 2 * m;
  c->ncols = c->told + (sensitivity ? c->nx * sensitivity->p : 0);
  c->place = ns_arena_ints(&course->arena, c->ncols);
  c->trace = (NsTrace){c, course_take_side, NULL};
  return course->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_step_course_new(NsStepCourse *course, const NsNsds *nsds, const NsIslands *islands,
                            const NsSensitivities *sensitivities) {
  NsStatus status = NS_OK;
  int m = 0;
  *course = (NsStepCourse){0};
  int *first_x = ns_arena_ints(&course->arena, nsds->nds), *first_y = ns_arena_ints(&course->arena, nsds->ninteractions);
  course->of = ns_arena_take(&course->arena, (size_t)islands->count, sizeof *course->of);
  if (course->arena.failed) return ns_step_course_free(course), NS_ENOMEM;
  course->count = islands->count;
  for (int d = 0; d < nsds->nds; course->nx += nsds->ds[d++]->n) first_x[d] = course->nx;
  for (int e = 0; e < nsds->ninteractions; m += nsds->interactions[e++]->m) first_y[e] = m;
  course->m = m;
  course->ncols = course->nx + 2 * m + (sensitivities ? course->nx * sensitivities->p : 0);
  course->row = ns_arena_doubles(&course->arena, course->ncols);
  for (int i = 0; i < course->count && status == NS_OK; i++) {
    status = course_make_island(course, &course->of[i], &islands->of[i], sensitivities ? sensitivities->of[i] : NULL);
    if (status == NS_OK) course_place(&course->of[i], &islands->of[i], first_x, first_y, course->nx, m);
  }
  if (status == NS_OK && !course->arena.failed) return NS_OK;
  ns_step_course_free(course);
  return NS_ENOMEM;
}

void ns_step_course_free(NsStepCourse *course) {
  for (int i = 0; i < course->count; i++) {
    ns_free(course->of[i].spans);
    ns_free(course->of[i].pieces);
    ns_free(course->of[i].times);
    ns_free(course->of[i].sides);
  }
  ns_arena_release(&course->arena);
  *course = (NsStepCourse){0};
}

void ns_step_course_begin(NsStepCourse *course, double from, double to, NsPieces pieces) {
  course->from = from;
  course->to = to;
  for (int i = 0; i < course->count; i++) {
    course->of[i].npieces = course->of[i].nsides = 0;
    course->of[i].only_first = pieces == NS_PIECES_FIRST;
    course->of[i].trace.piece = pieces != NS_PIECES_NONE ? course_take_piece : NULL;
  }
}

void ns_step_course_watch(NsStepCourse *course, NsPieceWatch watch, void *context) {
  for (int i = 0; i < course->count; i++) {
    course->of[i].watch = watch;
    course->of[i].watch_context = context;
  }
}

bool ns_step_course_has_sides(const NsStepCourse *course) {
  for (int i = 0; i < course->count; i++)
    if (course->of[i].nsides > 0) return true;
  return false;
}

bool ns_step_course_is_smooth(const NsStepCourse *course) {
  for (int i = 0; i < course->count; i++)
    if (course->of[i].npieces == 0 || course->of[i].only_first) return false;
  return course->count > 0;
}

/* ---- values ---- */

/* The first piece that ends at t or later (`before`), or later than t; npieces when there is none. */
static long course_piece(const NsIslandCourse *c, double t, bool before) {
  long low = 0, high = c->npieces;
  while (low < high) {
    long middle = low + (high - low) / 2;
    double end = c->spans[2 * middle + 1];
    if (before ? end >= t : end > t) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* One value of an island at t; `p`: the piece of course_piece. */
static void course_value(const NsIslandCourse *c, long p, double t, int n, double *values) {
  size_t size = (size_t)c->ncols, last = size * NS_BERNSTEIN_DEGREE, whole = size * NS_BERNSTEIN_SIZE;
  if (p < c->npieces && t >= c->spans[2 * p]) {
    NsNodeCourse nodes = {n, c->ncols, c->spans[2 * p], c->spans[2 * p + 1], c->pieces + (size_t)p * whole};
    NsCourse course = ns_node_course(&nodes);
    (void)course.at(course.context, t, values, NULL);
    return;
  }
  const double *left = p > 0 ? c->pieces + (size_t)(p - 1) * whole + last : NULL;
  const double *right = p < c->npieces ? c->pieces + (size_t)p * whole : left;
  double a = p > 0 ? c->spans[2 * p - 1] : 0, b = p < c->npieces ? c->spans[2 * p] : a;
  double s = left && b > a ? (t - a) / (b - a) : 0;
  for (int i = 0; i < n; i++) values[i] = left ? left[i] + s * (right[i] - left[i]) : right[i];
}

void ns_step_course_at(const NsStepCourse *course, double t, bool before, bool states, double *values) {
  for (int i = 0; i < course->count; i++) {
    const NsIslandCourse *c = &course->of[i];
    int n = states ? c->nx : c->ncols;
    if (c->npieces == 0) continue;
    course_value(c, course_piece(c, t, before), t, n, course->row);
    for (int j = 0; j < n; j++) values[c->place[j]] = course->row[j];
  }
}

double ns_step_course_next(const NsStepCourse *course, double t) {
  double next = course->to;
  for (int i = 0; i < course->count; i++) {
    const NsIslandCourse *c = &course->of[i];
    long p = course_piece(c, t, false);
    if (p < c->npieces && c->spans[2 * p] > t) next = fmin(next, c->spans[2 * p]);
    else if (p < c->npieces) next = fmin(next, c->spans[2 * p + 1]);
  }
  return next;
}

/* ---- sides ---- */

/* The first time of the sides from position at[i] on of each island; INFINITY: none is left. */
static double first_side(const NsStepCourse *course, const long *at) {
  double t = INFINITY;
  for (int i = 0; i < course->count; i++)
    if (at[i] < course->of[i].nsides) t = fmin(t, course->of[i].times[at[i]]);
  return t;
}

/* The number of sides of an island at time t, from position `at` on. */
static long sides_at(const NsIslandCourse *c, long at, double t) {
  long count = 0;
  while (at + count < c->nsides && c->times[at + count] == t) count++;
  return count;
}

/*
** The values of row j of the events at t: row 0 is before all of them; row j > 0 is after the j-th event of each island that
** has so many, and after the last of the others. Sides come in pairs.
*/
static void side_values(const NsStepCourse *course, const long *at, double t, long j, double *values) {
  ns_step_course_at(course, t, j == 0, false, values);
  for (int i = 0; i < course->count; i++) {
    const NsIslandCourse *c = &course->of[i];
    long count = sides_at(c, at[i], t), mine = 2 * j - 1;
    if (count == 0) continue;
    if (mine < 0) mine = 0;
    if (mine >= count) mine = count - 1;
    const double *side = c->sides + (size_t)(at[i] + mine) * (size_t)c->ncols;
    for (int k = 0; k < c->ncols; k++) values[c->place[k]] = side[k];
  }
}

NsStatus ns_step_course_sides(NsStepCourse *course, NsSideRow row, void *context, NsError *err) {
  long *at = ns_alloc((size_t)course->count, sizeof *at);
  double *values = ns_alloc((size_t)course->ncols, sizeof *values);
  NsStatus status = (at || course->count == 0) && (values || course->ncols == 0) ? NS_OK : NS_ENOMEM;
  if (status != NS_OK) ns_fail(err, status, "not enough memory");
  for (double t; status == NS_OK && (t = first_side(course, at)) < INFINITY;) {
    long rows = 0;
    for (int i = 0; i < course->count; i++) {
      long mine = (sides_at(&course->of[i], at[i], t) + 1) / 2;
      if (mine > rows) rows = mine;
    }
    for (long j = 0; j <= rows && status == NS_OK; j++) {
      side_values(course, at, t, j, values);
      status = row(context, t, j > 0, values, err);
    }
    for (int i = 0; i < course->count; i++) at[i] += sides_at(&course->of[i], at[i], t);
  }
  ns_free(at);
  ns_free(values);
  return status;
}
