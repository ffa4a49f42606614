/*
** sensitivity_trail.c
** The record of an event-driven run: pieces of smooth motion, and events as linear maps.
*/
#include "integrators/sensitivity_trail.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"

NsStatus ns_trail_new(NsSensitivity *s) {
  NsTrail *trail = s->trail = ns_alloc(1, sizeof *trail);
  if (!trail) return NS_ENOMEM;
  NsArena *arena = &trail->arena;
  int n = s->n, p = s->p;
  trail->A = ns_arena_matrix(arena, n, n);
  trail->B = ns_arena_matrix(arena, n, p);
  trail->acts = ns_arena_take(arena, (size_t)p, sizeof *trail->acts);
  trail->exact = ns_arena_take(arena, (size_t)p, sizeof *trail->exact);
  double **of_n[] = {&trail->T, &trail->mu, &trail->size, &trail->most, &trail->reach, &trail->x};
  for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++) *of_n[i] = ns_arena_doubles(arena, n);
  trail->g = ns_arena_doubles(arena, p);
  trail->sum = ns_arena_doubles(arena, p);
  trail->c = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE, n);
  trail->q = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE, p);
  trail->place = ns_arena_ints(arena, n);
  trail->at = -1;
  return arena->failed ? NS_ENOMEM : NS_OK;
}

void ns_trail_free(NsTrail *trail) {
  if (!trail) return;
  ns_variational_free(trail->variational);
  ns_free(trail->entries);
  ns_free(trail->spare);
  ns_arena_release(&trail->record);
  ns_arena_release(&trail->arena);
  ns_free(trail);
}

void ns_trail_drop(NsSensitivity *s, double t) {
  NsTrail *trail = s->trail;
  ns_arena_release(&trail->record);
  trail->count = trail->count_k = 0;
  trail->bytes = 0;
  trail->mode = trail->taken = NULL;
  s->t = s->t_k = t;
}

void ns_trail_again(NsSensitivity *s) {
  s->trail->taken = NULL;
  s->trail->at = s->trail->count - 1;
}

bool ns_trail_ends_with_event(const NsTrail *trail, double t) {
  return trail->count > 0 && trail->entries[trail->count - 1].event && trail->entries[trail->count - 1].t == t;
}

NsStatus ns_trail_refuse(NsTrail *trail, const char *why, NsError *err) {
  trail->refused = why;
  return ns_fail(err, NS_EARG, "sensitivities: the record of the run: %s", why);
}

void ns_trail_begin(NsTrail *trail, bool again) {
  if (again) trail->count = trail->count_k;
  else trail->count_k = trail->count;
}

static NsStatus trail_no_memory(NsError *err) {
  return ns_fail(err, NS_ENOMEM, "not enough memory for the record of the run");
}

/* Appends a copy of an entry. */
static NsStatus trail_append(NsTrail *trail, const NsTrailEntry *entry, NsError *err) {
  if (trail->arena.failed || trail->record.failed) return trail_no_memory(err);
  trail->bytes += sizeof *entry;
  if (trail->count == trail->room) {
    long room = 2 * trail->room + 64;
    NsTrailEntry *more = ns_resize(trail->entries, (size_t)room, sizeof *more);
    if (!more) return trail_no_memory(err);
    trail->entries = more, trail->room = room;
  }
  trail->entries[trail->count++] = *entry;
  return NS_OK;
}

/* Zeroed numbers of an entry; NULL: no memory. */
static double *trail_numbers(NsTrail *trail, ptrdiff_t count) {
  trail->bytes += (size_t)count * sizeof(double);
  return ns_arena_doubles(&trail->record, count);
}

static double *trail_copy(NsTrail *trail, const double *values, ptrdiff_t count) {
  double *copy = trail_numbers(trail, count);
  if (copy && count > 0) memcpy(copy, values, (size_t)count * sizeof *copy);
  return copy;
}

NsStatus ns_trail_step(NsTrail *trail, double t_old, double t, ptrdiff_t count, double **u, NsError *err) {
  NsTrailEntry entry = {.t_old = t_old, .t = t, .u = trail_numbers(trail, count)};
  *u = entry.u;
  return entry.u ? trail_append(trail, &entry, err) : trail_no_memory(err);
}

/* ---- smooth motion ---- */

/* The present mode; pieces of one mode share it. */
static NsStatus trail_keep_mode(NsTrail *trail, const NsFrozen *frozen, NsError *err) {
  size_t size = frozen->mode_bytes;
  if (trail->spare_size != size || !trail->spare) {
    ns_free(trail->spare);
    trail->spare = ns_alloc(size + 1, 1);
    trail->spare_size = size;
    trail->mode = NULL;
  }
  if (!trail->spare) return trail_no_memory(err);
  frozen->keep(frozen->context, trail->spare);
  if (trail->mode && memcmp(trail->mode, trail->spare, size) == 0) return NS_OK;
  void *mode = ns_arena_take(&trail->record, size, 1);
  trail->bytes += size;
  if (!mode) return trail_no_memory(err);
  trail->mode = memcpy(mode, trail->spare, size);
  return NS_OK;
}

NsStatus ns_trail_piece(NsSensitivity *s, const NsFrozen *frozen, const NsCourse *course, NsError *err) {
  NsTrail *trail = s->trail;
  double a = course->t_old, b = course->t;
  if (s->n != s->nx) return ns_trail_refuse(trail, "M is singular", err);
  trail->frozen = frozen;
  NsTrailEntry entry = {.t_old = a, .t = b, .u = trail_numbers(trail, NS_BERNSTEIN_SIZE * (ptrdiff_t)s->n)};
  NsStatus status = entry.u ? trail_keep_mode(trail, frozen, err) : trail_no_memory(err);
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++) {
    double t = k + 1 == NS_BERNSTEIN_SIZE ? b : a + ns_bernstein_node(k) * (b - a);
    status = course->at(course->context, t, entry.u + (ptrdiff_t)k * s->n, err);
  }
  if (status == NS_OK) status = ns_sensitivity_note(s, frozen, a, entry.u, err);
  entry.mode = trail->mode;
  return status == NS_OK ? trail_append(trail, &entry, err) : status;
}

/* ---- events ---- */

/* An event begins at t, with no effect yet. */
static void trail_event_begin(NsSensitivity *s, double t) {
  NsTrail *trail = s->trail;
  s->told = 0;
  trail->event = (NsTrailEntry){.t_old = t, .t = t, .event = true};
  trail->mapped = false;
  memset(trail->T, 0, (size_t)s->n * sizeof *trail->T);
}

void ns_trail_restart(NsSensitivity *s, double t) {
  trail_event_begin(s, t);
}

/* The derivatives of a guard by u and the parameters (n + p), divided by its rate: minus those of its time. */
static NsStatus trail_guard(NsSensitivity *s, const NsFrozen *frozen, const NsFrozenGuard *guard, double t, const double *u,
                            NsGuardSlope *slope, double *g, NsError *err) {
  guard->choose(frozen->context, guard->guard);
  NsStatus status = ns_sensitivity_slope(s, frozen, guard->value, t, u, slope, err);
  memcpy(g, s->value, (size_t)s->n * sizeof *g);
  memset(g + s->n, 0, (size_t)s->p * sizeof *g);
  memset(s->trail->exact, 0, (size_t)s->p * sizeof *s->trail->exact);
  if (status == NS_OK && frozen->vjp_guard) status = frozen->vjp_guard(frozen->context, t, u, g + s->n, s->trail->exact, err);
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    if (s->acts[j] && !s->trail->exact[j])
      status = ns_sensitivity_along(s, frozen, guard->value, 1, t, u, 0, NULL, j, &g[s->n + j], err);
  }
  for (int i = 0; i < s->n + s->p && !slope->grazes; i++) g[i] /= slope->rate;
  return status;
}

NsStatus ns_trail_event(NsSensitivity *s, const NsFrozen *frozen, const NsFrozenGuard *guards, int count, double t,
                        const double *u, NsError *err) {
  NsTrail *trail = s->trail;
  int size = s->n + s->p;
  double *g = trail_numbers(trail, size), *other = count > 1 ? trail_numbers(trail, size) : NULL;
  if (trail->record.failed) return trail_no_memory(err);
  trail_event_begin(s, t);
  NsStatus status = NS_OK;
  for (int k = 0; k < count && status == NS_OK; k++) {
    NsGuardSlope slope;
    status = trail_guard(s, frozen, &guards[k], t, u, &slope, k == 0 ? g : other, err);
    if (status != NS_OK) return status;
    if (k == 0 && !slope.grazes) trail->event.timed = true, trail->event.gu = g, trail->event.gp = g + s->n;
    if (s->options->one_sided) break;
    if (slope.grazes) return ns_sensitivity_grazes(t, guards[k].name, err);
    if (k > 0 && !ns_sensitivity_one_event(size, g, other)) return ns_trail_refuse(trail, "events are simultaneous", err);
  }
  return status;
}

void ns_trail_enter(NsSensitivity *s) {
  if (s->trail->event.timed) memcpy(s->trail->T, s->f, (size_t)s->n * sizeof *s->f);
}

/* Before the first map: A is the identity, B is 0. */
static void trail_map_begin(NsSensitivity *s) {
  NsTrail *trail = s->trail;
  size_t n = (size_t)s->n;
  if (trail->mapped) return;
  trail->mapped = true;
  memset(trail->A, 0, n * n * sizeof *trail->A);
  memset(trail->B, 0, n * (size_t)s->p * sizeof *trail->B);
  memset(trail->acts, 0, (size_t)s->p * sizeof *trail->acts);
  for (size_t i = 0; i < n; i++) trail->A[i + i * n] = 1;
}

/* M = the derivative of a map by u, by differences. */
static NsStatus trail_map_differences(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap map, double t, const double *u,
                                      double *M, NsError *err) {
  NsStatus status = NS_OK;
  memset(s->direction, 0, (size_t)s->n * sizeof *s->direction);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    s->direction[i] = 1;
    status = ns_sensitivity_along(s, frozen, map, s->n, t, u, 0, s->direction, -1, M + (ptrdiff_t)i * s->n, err);
    s->direction[i] = 0;
  }
  return status;
}

/* column (n) = M column, with s->direction as workspace. */
static void trail_map_column(NsSensitivity *s, const double *M, double *column) {
  memcpy(s->direction, column, (size_t)s->n * sizeof *column);
  ns_dense_gemv(false, s->n, s->n, 1, M, s->n, s->direction, 1, 0, column, 1);
}

NsStatus ns_trail_map(NsSensitivity *s, const NsFrozen *frozen, NsFrozenMap map, double t, const double *u, NsError *err) {
  NsTrail *trail = s->trail;
  ptrdiff_t n = s->n;
  bool exact, timed = trail->event.timed;
  double *M = s->J, *change = s->value;
  NsStatus status = ns_sensitivity_map_terms(s, frozen, map, t, u, M, s->Pt, &exact, err);
  if (status == NS_OK && !exact) status = trail_map_differences(s, frozen, map, t, u, M, err);
  if (status == NS_OK && !exact && timed) status = ns_sensitivity_along(s, frozen, map, s->n, t, u, 1, NULL, -1, change, err);
  if (status != NS_OK) return status;
  trail_map_begin(s);
  for (int i = 0; i < n; i++) trail_map_column(s, M, trail->A + i * n);
  if (timed) trail_map_column(s, M, trail->T);
  for (int i = 0; i < n && !exact && timed; i++) trail->T[i] += change[i];
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double *column = trail->B + (ptrdiff_t)j * n;
    if (!trail->acts[j] && !s->acts[j]) continue;
    trail_map_column(s, M, column);
    if (s->acts[j] && !s->known[j]) status = ns_sensitivity_along(s, frozen, map, s->n, t, u, 0, NULL, j, change, err);
    for (int i = 0; i < n && s->acts[j]; i++) column[i] += s->known[j] ? s->Pt[i + j * n] : change[i];
    for (int i = 0; i < n; i++) trail->acts[j] = trail->acts[j] || column[i] != 0;
  }
  return status;
}

/* The columns of B that are not 0. */
static void trail_keep_columns(NsSensitivity *s) {
  NsTrail *trail = s->trail;
  NsTrailEntry *e = &trail->event;
  ptrdiff_t n = s->n;
  int count = 0;
  for (int j = 0; j < s->p; j++) count += trail->acts[j];
  e->column = ns_arena_ints(&trail->record, count);
  e->B = trail_numbers(trail, n * count);
  trail->bytes += (size_t)count * sizeof *e->column;
  for (int j = 0; j < s->p && !trail->record.failed; j++) {
    if (!trail->acts[j]) continue;
    memcpy(e->B + e->columns * n, trail->B + j * n, (size_t)n * sizeof *e->B);
    e->column[e->columns++] = j;
  }
}

NsStatus ns_trail_leave(NsSensitivity *s, const double *rate_after, NsError *err) {
  NsTrail *trail = s->trail;
  NsTrailEntry *e = &trail->event;
  for (int i = 0; i < s->n && e->timed; i++) trail->T[i] -= rate_after[i];
  if (e->timed) e->T = trail_copy(trail, trail->T, s->n);
  if (trail->mapped) {
    e->A = trail_copy(trail, trail->A, (ptrdiff_t)s->n * s->n);
    trail_keep_columns(s);
  }
  return trail_append(trail, e, err);
}

void ns_trail_undo(NsSensitivity *s) {
  trail_event_begin(s, s->trail->event.t);
}
