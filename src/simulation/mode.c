/*
** mode.c
** The given modes of all islands, one after the other, in the orders of the graph.
*/
#include "simulation/mode.h"

#include <string.h>

void ns_mode_free(NsMode *mode) {
  for (int i = 0; i < mode->count; i++)
    if (mode->parts[i].lin) mode->parts[i].of->drop(mode->parts[i].lin->context);
  ns_arena_release(&mode->arena);
  *mode = (NsMode){.ts = mode->ts};
}

/* ---- making ---- */

/* The place of each unknown and of each row of an island in the whole graph. */
static void mode_places(const NsMode *mode, NsModePart *part, const NsNsds *graph) {
  const NsNsds *nsds = mode->ts->nsds;
  int *place = part->row + part->m; /* of state i, system after system, among the unknowns */
  for (int i = 0; i < part->n; i++) place[i] = i;
  if (part->lin->place) part->lin->place(part->lin->context, place);
  for (int d = 0, i = 0; d < graph->nds; d++) {
    int first = 0;
    for (int e = 0; e < graph->ds[d]->index; e++) first += nsds->ds[e]->n;
    for (int j = 0; j < graph->ds[d]->n; j++) part->x[place[i++]] = first + j;
  }
  for (int e = 0, i = 0; e < graph->ninteractions; e++) {
    int first = 0;
    for (int k = 0; nsds->interactions[k] != graph->interactions[e]; k++) first += nsds->interactions[k]->m;
    for (int j = 0; j < graph->interactions[e]->m; j++) part->row[i++] = first + j;
  }
}

static NsStatus mode_part(NsMode *mode, NsModePart *part, const NsIsland *island, NsError *err) {
  NsHybrid *run = (NsHybrid *)island->scheme;
  for (int d = 0; d < island->graph->nds; d++) part->n += island->graph->ds[d]->n;
  for (int e = 0; e < island->graph->ninteractions; e++) part->m += island->graph->interactions[e]->m;
  part->x = ns_arena_ints(&mode->arena, part->n);
  part->row = ns_arena_ints(&mode->arena, part->m + part->n);
  part->run = run;
  part->of = run->class->given;
  if (!part->of) return ns_fail(err, NS_EARG, "expected an EventDriven");
  if (mode->arena.failed) return ns_fail(err, NS_ENOMEM, "not enough memory");
  NsStatus status = part->of->make(run, &part->lin, err);
  if (status != NS_OK) return status;
  mode_places(mode, part, island->graph);
  for (int row = 0; row >= 0; part->guards++) (void)part->of->watched(part->lin->context, part->guards, &row);
  part->guards--;
  mode->n += part->n, mode->m += part->m;
  return NS_OK;
}

NsStatus ns_mode_make(NsMode *mode, NsError *err) {
  NsTimeStepping *ts = mode->ts;
  NsStatus status = ts->class->locates ? ns_ts_prepare(ts, err) : ns_fail(err, NS_EARG, "expected an EventDriven");
  if (status != NS_OK || (mode->islands == ts->islands.of && mode->graph_version == ts->graph_version)) return status;
  ns_mode_free(mode);
  mode->parts = ns_arena_take(&mode->arena, (size_t)ts->islands.count, sizeof *mode->parts);
  for (int i = 0; i < ts->islands.count && status == NS_OK && mode->parts; i++, mode->count++)
    status = mode_part(mode, &mode->parts[i], &ts->islands.of[i], err);
  double **of_states[] = {&mode->u, &mode->other, &mode->rate, &mode->after};
  for (size_t i = 0; i < sizeof of_states / sizeof *of_states; i++) *of_states[i] = ns_arena_doubles(&mode->arena, mode->n);
  mode->ways = ns_arena_doubles(&mode->arena, 2 * (ptrdiff_t)mode->m);
  mode->J = ns_arena_matrix(&mode->arena, mode->n, mode->n);
  if (status == NS_OK && mode->arena.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status != NS_OK) return ns_mode_free(mode), status;
  mode->islands = ts->islands.of;
  mode->graph_version = ts->graph_version;
  return NS_OK;
}

/* ---- modes ---- */

size_t ns_mode_present(const NsMode *mode, void *to) {
  size_t all = 0;
  for (int i = 0; i < mode->count; i++) {
    size_t bytes;
    const void *block = mode->parts[i].of->block(mode->parts[i].run, &bytes);
    if (to) memcpy((char *)to + all, block, bytes);
    all += bytes;
  }
  return all;
}

const char *ns_mode_word(const NsMode *mode, int row) {
  for (int i = 0; i < mode->count; i++)
    for (int k = 0; k < mode->parts[i].m; k++)
      if (mode->parts[i].row[k] == row) return mode->parts[i].of->word(mode->parts[i].run, k);
  return NULL;
}

/* u (n) = the unknowns of an island at x. */
static void mode_gather(const NsModePart *part, const double *x, double *u) {
  for (int i = 0; i < part->n; i++) u[i] = x[part->x[i]];
}

static void mode_scatter(const NsModePart *part, const double *u, double *x) {
  for (int i = 0; i < part->n; i++) x[part->x[i]] = u[i];
}

/* The same of a matrix of the island, into one of all states. */
static void mode_scatter_matrix(const NsMode *mode, const NsModePart *part, const double *A, double *to) {
  for (ptrdiff_t j = 0; j < part->n; j++)
    for (ptrdiff_t i = 0; i < part->n; i++) to[part->x[i] + part->x[j] * (ptrdiff_t)mode->n] = A[i + j * part->n];
}

NsStatus ns_mode_take(NsMode *mode, const void *block, size_t bytes, double t, const double *x, NsError *err) {
  NsStatus status = bytes == ns_mode_present(mode, NULL) ? NS_OK : ns_fail(err, NS_EARG, "the mode is one of another model");
  for (int i = 0; i < mode->count && status == NS_OK; i++) {
    const NsModePart *part = &mode->parts[i];
    size_t own;
    (void)part->of->block(part->run, &own);
    mode_gather(part, x, mode->u);
    status = part->of->take(part->lin->context, block, t, mode->u, err);
    block = (const char *)block + own;
  }
  return status;
}

/* ---- motion ---- */

/* J of an island in mode->J, at mode->u. */
static NsStatus part_jacobian(NsMode *mode, const NsModePart *part, double t, const double *x, bool *exact, NsError *err) {
  mode_gather(part, x, mode->u);
  return part->lin->terms(part->lin->context, t, mode->u, mode->J, NULL, NULL, exact, err);
}

NsStatus ns_mode_rate(NsMode *mode, double t, const double *x, int columns, double *rate, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < mode->count && status == NS_OK; i++) {
    const NsModePart *part = &mode->parts[i];
    mode_gather(part, x, mode->u);
    status = part->lin->rate(part->lin->context, t, mode->u, mode->rate, err);
    mode_scatter(part, mode->rate, rate);
    bool exact = true;
    if (status == NS_OK && columns > 0) status = part_jacobian(mode, part, t, x, &exact, err);
    if (!exact) status = ns_fail(err, NS_EARG, "the derivatives of the rates are not exact");
    for (ptrdiff_t c = 1; c <= columns && status == NS_OK; c++) {
      const double *column = x + c * mode->n;
      double *to = rate + c * mode->n;
      for (int a = 0; a < part->n; a++) {
        double sum = 0;
        for (int b = 0; b < part->n; b++) sum += mode->J[a + (ptrdiff_t)b * part->n] * column[part->x[b]];
        to[part->x[a]] = sum;
      }
    }
  }
  return status;
}

NsStatus ns_mode_jacobian(NsMode *mode, double t, const double *x, double *J, bool *exact, NsError *err) {
  NsStatus status = NS_OK;
  *exact = true;
  memset(J, 0, (size_t)mode->n * (size_t)mode->n * sizeof *J);
  for (int i = 0; i < mode->count && status == NS_OK && *exact; i++) {
    status = part_jacobian(mode, &mode->parts[i], t, x, exact, err);
    if (status == NS_OK && *exact) mode_scatter_matrix(mode, &mode->parts[i], mode->J, J);
  }
  return status;
}

/* ---- guards ---- */

/* The island of a guard, whose number there is *k; NULL: there is no such guard. */
static const NsModePart *part_of_guard(const NsMode *mode, int *k) {
  for (int i = 0; i < mode->count; i++) {
    if (*k < mode->parts[i].guards) return &mode->parts[i];
    *k -= mode->parts[i].guards;
  }
  return NULL;
}

const char *ns_mode_watched(const NsMode *mode, int k, int *row) {
  const NsModePart *part = part_of_guard(mode, &k);
  *row = -1;
  if (!part) return NULL;
  const char *event = part->of->watched(part->lin->context, k, row);
  *row = part->row[*row];
  return event;
}

NsStatus ns_mode_guard(NsMode *mode, int k, double t, const double *x, double *value, NsError *err) {
  const NsModePart *part = part_of_guard(mode, &k);
  if (!part) return ns_fail(err, NS_EARG, "there is no such guard");
  mode_gather(part, x, mode->u);
  return part->lin->guard(part->lin->context, k, t, mode->u, value, err);
}

NsStatus ns_mode_slope(NsMode *mode, int k, double t, const double *x, double *gx, bool *exact, NsError *err) {
  const NsModePart *part = part_of_guard(mode, &k);
  bool still;
  if (!part) return ns_fail(err, NS_EARG, "there is no such guard");
  mode_gather(part, x, mode->u);
  memset(gx, 0, (size_t)mode->n * sizeof *gx);
  NsStatus status = part->of->slope(part->lin->context, k, t, mode->u, mode->other, &still, exact, err);
  if (status == NS_OK && *exact) mode_scatter(part, mode->other, gx);
  return status;
}

/* ---- impacts ---- */

/* The island of a row that impacts, whose number there is *row; NULL: it has none. */
static const NsModePart *part_of_impact(const NsMode *mode, int *row) {
  for (int i = 0; i < mode->count; i++)
    for (int k = 0; k < mode->parts[i].m; k++)
      if (mode->parts[i].row[k] == *row) return *row = k, mode->parts[i].of->impact ? &mode->parts[i] : NULL;
  return NULL;
}

NsStatus ns_mode_impact(NsMode *mode, int hit, double t, const double *before, const double *after, double *ways, bool *known,
                        NsError *err) {
  const NsModePart *part = part_of_impact(mode, &hit);
  if (!part) return ns_fail(err, NS_EARG, "the row has no impacts");
  mode_gather(part, before, mode->u);
  mode_gather(part, after, mode->after);
  memset(ways, 0, 2 * (size_t)mode->m * sizeof *ways);
  NsStatus status = part->of->impact(part->lin->context, hit, t, mode->u, mode->after, mode->ways, known, err);
  for (int k = 0; k < part->m; k++) memcpy(ways + 2 * part->row[k], mode->ways + 2 * k, 2 * sizeof *ways);
  return status;
}

NsStatus ns_mode_reset(NsMode *mode, int hit, const double *ways, double t, const double *x, double *after, double *A,
                       bool *exact, NsError *err) {
  const NsModePart *part = part_of_impact(mode, &hit);
  if (!part) return ns_fail(err, NS_EARG, "the row has no impacts");
  mode_gather(part, x, mode->u);
  for (int k = 0; k < part->m; k++) memcpy(mode->ways + 2 * k, ways + 2 * part->row[k], 2 * sizeof *ways);
  NsStatus status = part->of->reset(part->lin->context, mode->ways, t, mode->u, mode->after, A ? mode->J : NULL, exact, err);
  if (status != NS_OK) return status;
  memmove(after, x, (size_t)mode->n * sizeof *after);
  mode_scatter(part, mode->after, after);
  if (!A || !*exact) return NS_OK;
  memset(A, 0, (size_t)mode->n * (size_t)mode->n * sizeof *A);
  for (ptrdiff_t i = 0; i < mode->n; i++) A[i + i * mode->n] = 1;
  mode_scatter_matrix(mode, part, mode->J, A);
  return NS_OK;
}
