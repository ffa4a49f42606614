/*
** sensitivity_tape.c
** The record of an event-driven run: pieces of smooth motion, and events as linear maps.
*/
#include "integrators/sensitivity_tape.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"

NsStatus ns_run_tape_new(NsSensitivity *s) {
  NsRunTape *tape = s->tape = ns_alloc(1, sizeof *tape);
  if (!tape) return NS_ENOMEM;
  NsArena *arena = &tape->arena;
  int n = s->n, p = s->p;
  tape->A = ns_arena_matrix(arena, n, n);
  tape->B = ns_arena_matrix(arena, n, p);
  tape->acts = ns_arena_take(arena, (size_t)p, sizeof *tape->acts);
  tape->exact = ns_arena_take(arena, (size_t)p, sizeof *tape->exact);
  NS_ARENA_VECTORS(arena, n, &tape->T, &tape->mu, &tape->size, &tape->most, &tape->reach, &tape->x);
  NS_ARENA_VECTORS(arena, p, &tape->g, &tape->sum);
  tape->c = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE, n);
  tape->q = ns_arena_matrix(arena, NS_BERNSTEIN_SIZE, p);
  tape->place = ns_arena_ints(arena, n);
  for (int i = 0; i < n && tape->place; i++) tape->place[i] = i;
  tape->at = -1;
  return arena->failed ? NS_ENOMEM : NS_OK;
}

void ns_run_tape_free(NsRunTape *tape) {
  if (!tape) return;
  ns_variational_free(tape->equations.variational);
  ns_free(tape->entries);
  ns_free(tape->spare);
  ns_arena_release(&tape->record);
  ns_arena_release(&tape->arena);
  ns_free(tape);
}

void ns_run_tape_drop(NsSensitivity *s, double t) {
  NsRunTape *tape = s->tape;
  ns_arena_release(&tape->record);
  tape->count = tape->count_k = 0;
  tape->bytes = 0;
  tape->mode = tape->taken = NULL;
  s->t = s->t_k = t;
}

void ns_run_tape_again(NsSensitivity *s) {
  s->tape->taken = NULL;
  s->tape->at = s->tape->count - 1;
}

bool ns_run_tape_ends_with_event(const NsRunTape *tape, double t) {
  return tape->count > 0 && tape->entries[tape->count - 1].event && tape->entries[tape->count - 1].t == t;
}

NsStatus ns_run_tape_refuse(NsRunTape *tape, const char *why, NsError *err) {
  tape->refused = why;
  return ns_fail(err, NS_EARG, "sensitivities: the record of the run: %s", why);
}

void ns_run_tape_begin(NsRunTape *tape, bool again) {
  if (again) tape->count = tape->count_k;
  else tape->count_k = tape->count;
}

static NsStatus tape_no_memory(NsError *err) {
  return ns_fail(err, NS_ENOMEM, "not enough memory for the record of the run");
}

static NsStatus tape_append(NsRunTape *tape, const NsRunTapeEntry *entry, NsError *err) {
  if (tape->arena.failed || tape->record.failed) return tape_no_memory(err);
  tape->bytes += sizeof *entry;
  if (tape->count == tape->room) {
    long room = 2 * tape->room + 64;
    NsRunTapeEntry *more = ns_resize(tape->entries, (size_t)room, sizeof *more);
    if (!more) return tape_no_memory(err);
    tape->entries = more, tape->room = room;
  }
  tape->entries[tape->count++] = *entry;
  return NS_OK;
}

/* Zeroed numbers of an entry; NULL: no memory. */
static double *tape_numbers(NsRunTape *tape, ptrdiff_t count) {
  tape->bytes += (size_t)count * sizeof(double);
  return ns_arena_doubles(&tape->record, count);
}

static double *tape_copy(NsRunTape *tape, const double *values, ptrdiff_t count) {
  double *copy = tape_numbers(tape, count);
  if (copy && count > 0) memcpy(copy, values, (size_t)count * sizeof *copy);
  return copy;
}

NsStatus ns_run_tape_step(NsRunTape *tape, double t_old, double t, ptrdiff_t count, double **u, NsError *err) {
  NsRunTapeEntry entry = {.t_old = t_old, .t = t, .u = tape_numbers(tape, count)};
  *u = entry.u;
  return entry.u ? tape_append(tape, &entry, err) : tape_no_memory(err);
}

/* ---- smooth motion ---- */

/* The present mode; pieces of one mode share it. */
static NsStatus tape_keep_mode(NsRunTape *tape, const NsLinearisation *lin, NsError *err) {
  size_t size = lin->mode_bytes;
  if (tape->spare_size != size || !tape->spare) {
    ns_free(tape->spare);
    tape->spare = ns_alloc(size + 1, 1);
    tape->spare_size = size;
    tape->mode = NULL;
  }
  if (!tape->spare) return tape_no_memory(err);
  lin->keep(lin->context, tape->spare);
  if (tape->mode && memcmp(tape->mode, tape->spare, size) == 0) return NS_OK;
  void *mode = ns_arena_take(&tape->record, size, 1);
  tape->bytes += size;
  if (!mode) return tape_no_memory(err);
  tape->mode = memcpy(mode, tape->spare, size);
  return NS_OK;
}

NsStatus ns_run_tape_piece(NsSensitivity *s, const NsLinearisation *lin, const NsDenseOutput *dense, NsError *err) {
  NsRunTape *tape = s->tape;
  double a = dense->t_old, b = dense->t;
  if (s->n != s->nx) return ns_run_tape_refuse(tape, "M is singular", err);
  tape->lin = lin;
  NsRunTapeEntry entry = {.t_old = a, .t = b, .u = tape_numbers(tape, NS_BERNSTEIN_SIZE * (ptrdiff_t)s->n)};
  NsStatus status = entry.u ? tape_keep_mode(tape, lin, err) : tape_no_memory(err);
  for (int k = 0; k < NS_BERNSTEIN_SIZE && status == NS_OK; k++) {
    double t = k + 1 == NS_BERNSTEIN_SIZE ? b : a + ns_bernstein_node(k) * (b - a);
    status = dense->at(dense->context, t, entry.u + (ptrdiff_t)k * s->n, err);
  }
  if (status == NS_OK) status = ns_sensitivity_note(s, lin, a, entry.u, err);
  entry.mode = tape->mode;
  return status == NS_OK ? tape_append(tape, &entry, err) : status;
}

/* ---- events ---- */

/* An event begins at t, with no effect yet. */
static void tape_event_begin(NsSensitivity *s, double t) {
  NsRunTape *tape = s->tape;
  s->told = 0;
  tape->event = (NsRunTapeEntry){.t_old = t, .t = t, .event = true};
  tape->mapped = false;
  memset(tape->T, 0, (size_t)s->n * sizeof *tape->T);
}

void ns_run_tape_restart(NsSensitivity *s, double t) {
  tape_event_begin(s, t);
}

/* The derivatives of a guard by u and the parameters (n + p), divided by its rate: minus the derivatives of its time. */
static NsStatus tape_guard(NsSensitivity *s, const NsLinearisation *lin, int guard, double t, const double *u,
                           NsGuardSlope *slope, double *g, NsError *err) {
  NsStatus status = ns_sensitivity_guard(s, lin, guard, t, u, slope, g + s->n, err);
  memcpy(g, s->value, (size_t)s->n * sizeof *g);
  for (int i = 0; i < s->n + s->p && !slope->grazes; i++) g[i] /= slope->rate;
  return status;
}

NsStatus ns_run_tape_event(NsSensitivity *s, const NsLinearisation *lin, const NsLinearisationGuard *guards, int count,
                           double t, const double *u, NsError *err) {
  NsRunTape *tape = s->tape;
  int size = s->n + s->p;
  double *g = tape_numbers(tape, size), *other = count > 1 ? tape_numbers(tape, size) : NULL;
  if (tape->record.failed) return tape_no_memory(err);
  tape_event_begin(s, t);
  NsStatus status = NS_OK;
  for (int k = 0; k < count && status == NS_OK; k++) {
    NsGuardSlope slope;
    status = tape_guard(s, lin, guards[k].k, t, u, &slope, k == 0 ? g : other, err);
    if (status != NS_OK) return status;
    if (k == 0 && !slope.grazes) tape->event.timed = true, tape->event.gu = g, tape->event.gp = g + s->n;
    if (s->options->one_sided) break;
    if (slope.grazes) return ns_sensitivity_grazes(t, guards[k].name, err);
    if (k > 0 && !ns_sensitivity_one_event(size, g, other)) return ns_run_tape_refuse(tape, "events are simultaneous", err);
  }
  return status;
}

void ns_run_tape_enter(NsSensitivity *s) {
  if (s->tape->event.timed) memcpy(s->tape->T, s->f, (size_t)s->n * sizeof *s->f);
}

/* Before the first map: A is the identity, B is 0. */
static void tape_map_begin(NsSensitivity *s) {
  NsRunTape *tape = s->tape;
  size_t n = (size_t)s->n;
  if (tape->mapped) return;
  tape->mapped = true;
  memset(tape->A, 0, n * n * sizeof *tape->A);
  memset(tape->B, 0, n * (size_t)s->p * sizeof *tape->B);
  memset(tape->acts, 0, (size_t)s->p * sizeof *tape->acts);
  for (size_t i = 0; i < n; i++) tape->A[i + i * n] = 1;
}

/* M = the derivative of a map by u, by differences. */
static NsStatus tape_map_differences(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t,
                                     const double *u, double *M, NsError *err) {
  NsStatus status = NS_OK;
  memset(s->direction, 0, (size_t)s->n * sizeof *s->direction);
  for (int i = 0; i < s->n && status == NS_OK; i++) {
    s->direction[i] = 1;
    status = ns_sensitivity_along(s, lin, map, 0, s->n, t, u, 0, s->direction, -1, M + (ptrdiff_t)i * s->n, err);
    s->direction[i] = 0;
  }
  return status;
}

/* column (n) = M column, with s->direction as workspace. */
static void tape_map_column(NsSensitivity *s, const double *M, double *column) {
  memcpy(s->direction, column, (size_t)s->n * sizeof *column);
  ns_dense_gemv(false, s->n, s->n, 1, M, s->n, s->direction, 1, 0, column, 1);
}

NsStatus ns_run_tape_map(NsSensitivity *s, const NsLinearisation *lin, NsLinearisationMap map, double t, const double *u,
                         NsError *err) {
  NsRunTape *tape = s->tape;
  ptrdiff_t n = s->n;
  bool exact, timed = tape->event.timed;
  double *M = s->piece.J, *change = s->value;
  NsStatus status = ns_sensitivity_map_terms(s, lin, map, t, u, M, s->columns.P, &exact, err);
  if (status == NS_OK && !exact) status = tape_map_differences(s, lin, map, t, u, M, err);
  if (status == NS_OK && !exact && timed) status = ns_sensitivity_along(s, lin, map, 0, s->n, t, u, 1, NULL, -1, change, err);
  if (status != NS_OK) return status;
  tape_map_begin(s);
  for (int i = 0; i < n; i++) tape_map_column(s, M, tape->A + i * n);
  if (timed) tape_map_column(s, M, tape->T);
  for (int i = 0; i < n && !exact && timed; i++) tape->T[i] += change[i];
  for (int j = 0; j < s->p && status == NS_OK; j++) {
    double *column = tape->B + (ptrdiff_t)j * n;
    if (!tape->acts[j] && !s->acts[j]) continue;
    tape_map_column(s, M, column);
    if (s->acts[j] && !s->known[j]) status = ns_sensitivity_along(s, lin, map, 0, s->n, t, u, 0, NULL, j, change, err);
    for (int i = 0; i < n && s->acts[j]; i++) column[i] += s->known[j] ? s->columns.P[i + j * n] : change[i];
    for (int i = 0; i < n; i++) tape->acts[j] = tape->acts[j] || column[i] != 0;
  }
  return status;
}

/* The columns of B that are not 0. */
static void tape_keep_columns(NsSensitivity *s) {
  NsRunTape *tape = s->tape;
  NsRunTapeEntry *e = &tape->event;
  ptrdiff_t n = s->n;
  int count = 0;
  for (int j = 0; j < s->p; j++) count += tape->acts[j];
  e->column = ns_arena_ints(&tape->record, count);
  e->B = tape_numbers(tape, n * count);
  tape->bytes += (size_t)count * sizeof *e->column;
  for (int j = 0; j < s->p && !tape->record.failed; j++) {
    if (!tape->acts[j]) continue;
    memcpy(e->B + e->columns * n, tape->B + j * n, (size_t)n * sizeof *e->B);
    e->column[e->columns++] = j;
  }
}

NsStatus ns_run_tape_leave(NsSensitivity *s, const double *rate_after, NsError *err) {
  NsRunTape *tape = s->tape;
  NsRunTapeEntry *e = &tape->event;
  for (int i = 0; i < s->n && e->timed; i++) tape->T[i] -= rate_after[i];
  if (e->timed) e->T = tape_copy(tape, tape->T, s->n);
  if (tape->mapped) {
    e->A = tape_copy(tape, tape->A, (ptrdiff_t)s->n * s->n);
    tape_keep_columns(s);
  }
  return tape_append(tape, e, err);
}

void ns_run_tape_undo(NsSensitivity *s) {
  tape_event_begin(s, s->tape->event.t);
}
