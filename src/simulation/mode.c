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
  *mode = (NsMode){.ts = mode->ts, .parameters = mode->parameters, .p = mode->p};
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
  NsStatus status = part->of->make(run, mode->parameters, mode->p, &part->lin, err);
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
  NS_ARENA_VECTORS(&mode->arena, mode->n, &mode->u, &mode->out);
  mode->J = ns_arena_matrix(&mode->arena, mode->n, mode->n);
  mode->P = ns_arena_matrix(&mode->arena, mode->n, mode->p);
  mode->known = ns_arena_take(&mode->arena, (size_t)mode->p, sizeof *mode->known);
  if (status == NS_OK && mode->arena.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status != NS_OK) return ns_mode_free(mode), status;
  mode->islands = ts->islands.of;
  mode->graph_version = ts->graph_version;
  return NS_OK;
}

/* ---- modes ---- */

size_t ns_mode_present(const NsMode *mode, void *to, const char **words) {
  size_t all = 0;
  for (const NsModePart *part = mode->parts; part < mode->parts + mode->count; part++) {
    size_t bytes;
    const void *block = part->of->block(part->run, &bytes);
    if (to) memcpy((char *)to + all, block, bytes);
    for (int k = 0; k < part->m && to; k++) words[part->row[k]] = part->of->word(part->run, k);
    all += bytes;
  }
  return all;
}

/* The unknowns of an island at x, in mode->u. */
static const double *mode_gather(NsMode *mode, const NsModePart *part, const double *x) {
  for (int i = 0; i < part->n; i++) mode->u[i] = x[part->x[i]];
  return mode->u;
}

NsStatus ns_mode_take(NsMode *mode, const void *block, size_t bytes, double t, const double *x, NsError *err) {
  bool fits = bytes == ns_mode_present(mode, NULL, NULL);
  NsStatus status = fits ? NS_OK : ns_fail(err, NS_EARG, "the mode is one of another model");
  for (const NsModePart *part = mode->parts; part < mode->parts + mode->count && status == NS_OK; part++) {
    status = part->of->take(part->lin->context, block, t, mode_gather(mode, part, x), err);
    (void)part->of->block(part->run, &bytes);
    block = (const char *)block + bytes;
  }
  return status;
}

/* The island of a guard, whose number there is *k; NULL: there is no such guard. */
static const NsModePart *part_of_guard(const NsMode *mode, int *k) {
  for (int i = 0; i < mode->count; *k -= mode->parts[i++].guards)
    if (*k < mode->parts[i].guards) return &mode->parts[i];
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

/* ---- maps ---- */

/* What a map is asked for: see NsModeMap. single: the map has one number alone, not as many as there are states. */
typedef struct ModeMap {
  const double *x; /* with what is behind it */
  int columns;
  bool back, single;
  double *out;
  bool *exact;
} ModeMap;

/* The derivatives by the parameters in mode->P (rows x p), 0 for those that do not act; not exact where one that is asked for is unknown. */
static void map_parameters(const NsMode *mode, const NsModePart *part, int rows, const ModeMap *map) {
  for (ptrdiff_t j = 0; j < mode->p; j++) {
    bool acts = mode->parameters[j].number && ns_parameter_of(&mode->parameters[j], part->run->base.nsds);
    if (!acts || !mode->known[j]) memset(mode->P + j * rows, 0, (size_t)rows * sizeof *mode->P);
    for (ptrdiff_t c = 0; c < map->columns && acts && !mode->known[j]; c++)
      *map->exact = *map->exact && !map->back && map->x[mode->n + c * (mode->n + mode->p) + mode->n + j] == 0;
  }
}

/* The derivative along a direction, of row a of the J and P of an island with `rows` rows. */
static double map_along(const NsMode *mode, const NsModePart *part, int a, int rows, const double *J, const double *direction) {
  double sum = 0;
  for (ptrdiff_t b = 0; b < part->n; b++) sum += J[a + b * rows] * direction[part->x[b]];
  for (ptrdiff_t j = 0; j < mode->p; j++) sum += mode->P[a + j * rows] * direction[mode->n + j];
  return sum;
}

/* Adds to `to` (n + p) the derivatives of `weight` times row a. */
static void map_add_back(const NsMode *mode, const NsModePart *part, int a, int rows, const double *J, double weight,
                         double *to) {
  for (ptrdiff_t b = 0; b < part->n; b++) to[part->x[b]] += weight * J[a + b * rows];
  for (ptrdiff_t j = 0; j < mode->p; j++) to[mode->n + j] += weight * mode->P[a + j * rows];
}

/* The derivatives of an island's map, whose matrices are J and mode->P, go behind its value in map->out. */
static void map_derive(const NsMode *mode, const NsModePart *part, const double *J, const ModeMap *map) {
  ptrdiff_t n = mode->n, width = n + mode->p, numbers = map->single ? 1 : n;
  int rows = map->single ? 1 : part->n;
  if (map->columns > 0) map_parameters(mode, part, rows, map);
  for (ptrdiff_t c = 0; c < map->columns; c++) {
    const double *given = map->x + n + c * (map->back ? numbers : width);
    double *to = map->out + numbers + c * (map->back || !map->single ? width : 1);
    for (int b = 0; b < part->n && map->back; b++) to[part->x[b]] = 0;
    for (int a = 0; a < rows; a++) {
      int place = map->single ? 0 : part->x[a];
      if (map->back) map_add_back(mode, part, a, rows, J, given[place], to);
      else to[place] = map_along(mode, part, a, rows, J, given);
    }
  }
}

NsStatus ns_mode_rate(NsMode *mode, int k, const double *ways, double t, const double *x, int columns, bool back, double *out,
                      bool *exact, NsError *err) {
  ModeMap map = {x, columns, back, false, out, exact};
  NsStatus status = NS_OK;
  double *P = mode->p > 0 ? mode->P : NULL;
  (void)k, (void)ways;
  *exact = true;
  memset(out, 0, (size_t)(mode->n + columns * (mode->n + mode->p)) * sizeof *out);
  for (const NsModePart *part = mode->parts; part < mode->parts + mode->count && status == NS_OK && *exact; part++) {
    const double *u = mode_gather(mode, part, x);
    status = part->lin->rate(part->lin->context, t, u, mode->out, err);
    if (status == NS_OK && columns > 0)
      status = part->lin->terms(part->lin->context, t, u, mode->J, P, mode->known, exact, err);
    for (int a = 0; a < part->n && status == NS_OK; a++) out[part->x[a]] = mode->out[a];
    if (status == NS_OK) map_derive(mode, part, mode->J, &map);
  }
  return status;
}

NsStatus ns_mode_guard(NsMode *mode, int k, const double *ways, double t, const double *x, int columns, bool back, double *out,
                       bool *exact, NsError *err) {
  ModeMap map = {x, columns, back, true, out, exact};
  const NsModePart *part = part_of_guard(mode, &k);
  bool still;
  (void)ways;
  *exact = true;
  if (!part) return ns_fail(err, NS_EARG, "there is no such guard");
  void *lin = part->lin->context;
  const double *u = mode_gather(mode, part, x);
  NsStatus status = part->lin->guard(lin, k, t, u, out, err);
  if (status != NS_OK || columns == 0) return status;
  status = part->lin->slope(lin, k, t, u, mode->out, &still, exact, err);
  if (status == NS_OK && mode->p > 0) status = part->lin->vjp_guard(lin, k, t, u, mode->P, mode->known, err);
  if (back) memset(out + 1, 0, (size_t)(columns * (mode->n + mode->p)) * sizeof *out);
  if (status == NS_OK) map_derive(mode, part, mode->out, &map);
  return status;
}

NsStatus ns_mode_reset(NsMode *mode, int k, const double *ways, double t, const double *x, int columns, bool back, double *out,
                       bool *exact, NsError *err) {
  ModeMap map = {x, columns, back, false, out, exact};
  const NsModePart *part = part_of_guard(mode, &k);
  ptrdiff_t n = mode->n, width = n + mode->p, given = back ? n : width;
  *exact = true;
  if (!part || !part->of->reset) return ns_fail(err, NS_EARG, "the guard has no impacts");
  const double *u = mode_gather(mode, part, x);
  double *A = columns > 0 ? mode->J : NULL;
  NsStatus status = part->of->reset(part->lin->context, ways, t, u, mode->out, A, exact, mode->P, mode->known, err);
  memset(out, 0, (size_t)(n + columns * width) * sizeof *out);
  memcpy(out, x, (size_t)n * sizeof *out);
  for (ptrdiff_t c = 0; c < columns; c++) memcpy(out + n + c * width, x + n + c * given, (size_t)given * sizeof *out);
  for (int a = 0; a < part->n && status == NS_OK; a++) out[part->x[a]] = mode->out[a];
  if (status == NS_OK) map_derive(mode, part, mode->J, &map);
  return status;
}

NsStatus ns_mode_impact(NsMode *mode, int k, double t, const double *before, const double *after, double *ways, bool *known,
                        NsError *err) {
  const NsModePart *part = part_of_guard(mode, &k);
  if (!part || !part->of->impact) return ns_fail(err, NS_EARG, "the guard has no impacts");
  for (int i = 0; i < part->n; i++) mode->out[i] = after[part->x[i]];
  return part->of->impact(part->lin->context, k, t, mode_gather(mode, part, before), mode->out, ways, known, err);
}
