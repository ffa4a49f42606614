/*
** checkpoint.c
** The description of a model, the walk of its state into bytes and back.
*/
#include "simulation/checkpoint.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/first_order_ds.h"

enum { LINE_BYTES = 512 };

/* Bytes that grow; `failed` when there was no memory. */
typedef struct Text {
  char *bytes;
  size_t size, capacity;
  bool failed;
} Text;

static void append(Text *text, const void *bytes, size_t size) {
  if (text->failed || size == 0) return;
  if (text->capacity - text->size < size) {
    size_t capacity = 2 * (text->capacity + size);
    char *grown = ns_resize(text->bytes, capacity, 1);
    text->failed = grown == NULL;
    if (!grown) return;
    text->bytes = grown;
    text->capacity = capacity;
  }
  memcpy(text->bytes + text->size, bytes, size);
  text->size += size;
}

__attribute__((format(printf, 2, 3))) static void add_line(Text *text, const char *format, ...) {
  char line[LINE_BYTES];
  va_list args;
  va_start(args, format);
  int length = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  line[length] = '\n';
  append(text, line, (size_t)length + 1);
}

/* ---- the hash of the constants ---- */

/* FNV-1a of 64 bits; Fowler, Noll and Vo. */
#define HASH_START UINT64_C(14695981039346656037)

static void hash_bytes(uint64_t *hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
}

/* The same for a walk over fields. */
static void hash_piece(void *hash, const char *name, void *data, size_t size) {
  (void)name;
  hash_bytes(hash, data, size);
}

static void hash_word(uint64_t *hash, uint64_t word) {
  hash_bytes(hash, &word, sizeof word);
}

static void hash_numbers(uint64_t *hash, const double *v, int n) {
  hash_bytes(hash, v, (size_t)n * sizeof *v);
}

static void hash_sparse(uint64_t *hash, const NsSparse *A) {
  int nnz = ns_sparse_nnz(A);
  hash_bytes(hash, A->colptr, ((size_t)A->cols + 1) * sizeof *A->colptr);
  hash_bytes(hash, A->row, (size_t)nnz * sizeof *A->row);
  hash_numbers(hash, A->value, nnz);
}

/* The numbers that its owner shares, else its own; a function of time counts as such. */
static void hash_coef(uint64_t *hash, const NsCoef *c) {
  hash_word(hash, ns_coef_varies(c) ? 1 : ns_coef_given(c) ? 2 : 3);
  if (ns_coef_varies(c) || !ns_coef_given(c)) return;
  hash_word(hash, (uint64_t)c->rows << 32 | (uint64_t)c->cols);
  if (c->sparse) {
    hash_sparse(hash, c->sparse);
  } else if (!c->source.version) {
    hash_numbers(hash, c->value, c->rows * c->cols);
  } else {
    for (int j = 0; j < c->cols; j++)
      for (int i = 0; i < c->rows; i++)
        hash_numbers(hash, c->source.data + i * c->source.row_stride + j * c->source.col_stride, 1);
  }
}

static void hash_boundary(uint64_t *hash, const NsBoundary *b) {
  hash_word(hash, b ? (uint64_t)b->n : 0);
  if (!b) return;
  for (int i = 0; i < b->n; i++) hash_word(hash, (uint64_t)b->index[i]);
  hash_coef(hash, &b->velocity);
  if (b->harmonic) hash_numbers(hash, b->harmonic, 4 * b->n);
}

static uint64_t hash_of_system(const NsDs *ds) {
  uint64_t hash = HASH_START;
  if (ds->family == NS_FIRST_ORDER) {
    const NsFirstOrderDs *s = (const NsFirstOrderDs *)ds;
    const NsCoef *coefs[] = {&s->M, &s->A, &s->b, &s->jacobian_f};
    for (size_t i = 0; i < sizeof coefs / sizeof *coefs; i++) hash_coef(&hash, coefs[i]);
    hash_word(&hash, s->f.value != NULL);
  } else {
    const NsMechanicalDs *s = (const NsMechanicalDs *)ds;
    const NsCoef *coefs[] = {&s->mass, &s->K, &s->C, &s->fext, &s->fint, &s->fgyr, &s->mext};
    for (size_t i = 0; i < sizeof coefs / sizeof *coefs; i++) hash_coef(&hash, coefs[i]);
    hash_word(&hash, (s->mass_function.value != NULL) + 2 * (s->fint_function.value != NULL) +
                         4 * (s->fgyr_function.value != NULL) + 8 * (s->mint_function.value != NULL));
    hash_boundary(&hash, s->boundary);
  }
  return hash;
}

static uint64_t hash_of_interaction(const NsInteraction *inter) {
  uint64_t hash = HASH_START;
  const NsRelation *r = inter->relation;
  const NsCoef *coefs[] = {&r->C, &r->D, &r->B, &r->K, &r->F, &r->e};
  for (size_t i = 0; i < sizeof coefs / sizeof *coefs; i++) hash_coef(&hash, coefs[i]);
  hash_word(&hash, (r->h.value != NULL) + 2 * (r->g.value != NULL));
  ns_fields_walk(inter->law->class->fields, inter->law, NS_FIELD_CONSTANT, hash_piece, &hash);
  return hash;
}

/* ---- the description ---- */

static void describe_time(Text *text, const NsTimeStepping *ts) {
  const NsTimeGrid *grid = ts->grid;
  const NsIntegrator *osi = ts->integrator;
  uint64_t hash = HASH_START;
  hash_numbers(&hash, &osi->euler_moreau.theta, 1);
  hash_numbers(&hash, &osi->euler_moreau.gamma, 1);
  hash_numbers(&hash, &osi->moreau_jean.theta, 1);
  hash_numbers(&hash, &osi->moreau_jean.gamma, 1);
  hash_numbers(&hash, &osi->schatzman_paoli.theta, 1);
  hash_numbers(&hash, &osi->events.rtol, 1);
  hash_numbers(&hash, &osi->events.atol, 1);
  const char *projection = ts->kind == NS_DIRECT_PROJECTION     ? " with projection"
                           : ts->kind == NS_COMBINED_PROJECTION ? " with the combined projection"
                                                                : "";
  add_line(text, "%s%s, weights %016" PRIx64, ns_integrator_name(osi->kind), projection, hash);
  hash = HASH_START;
  if (grid->points) hash_numbers(&hash, grid->points, (int)grid->npoints);
  if (grid->points) add_line(text, "times: %ld points %016" PRIx64, grid->npoints, hash);
  else add_line(text, "times: from %.17g, steps of %.17g", grid->t0, grid->h);
}

/* Two lines for an object, the second for its constants, which may be left out of a comparison. */
static void describe_system(Text *text, const NsDs *ds) {
  const char *kind = ds->family == NS_FIRST_ORDER ? "of first order" : ns_mechanical_name(((const NsMechanicalDs *)ds)->kind);
  char prescribed[40] = "";
  if (ds->nreaction > 0) snprintf(prescribed, sizeof prescribed, ", %d velocities prescribed", ds->nreaction);
  add_line(text, "dynamical system %d '%s': %s, %d states%s", ds->index + 1, ds->name, kind, ds->n, prescribed);
  add_line(text, "constants of dynamical system %d '%s': %016" PRIx64, ds->index + 1, ds->name, hash_of_system(ds));
}

static void describe_interaction(Text *text, const NsInteraction *inter, int number) {
  char second[NS_NAME_SIZE + 8] = "";
  if (inter->nds == 2) snprintf(second, sizeof second, " and %d", inter->ds[1]->index + 1);
  add_line(text, "interaction %d '%s': %s of %d, %s, of dynamical system %d%s", number, inter->name,
           ns_law_name(inter->law), inter->m, ns_relation_kind_name(inter->relation->kind), inter->ds[0]->index + 1,
           second);
  add_line(text, "constants of interaction %d '%s': %016" PRIx64, number, inter->name, hash_of_interaction(inter));
}

static void describe(Text *text, const NsTimeStepping *ts) {
  const NsNsds *nsds = ts->nsds;
  describe_time(text, ts);
  add_line(text, "%d dynamical systems, %d interactions", nsds->nds, nsds->ninteractions);
  for (int i = 0; i < nsds->nds; i++) describe_system(text, nsds->ds[i]);
  for (int i = 0; i < nsds->ninteractions; i++) describe_interaction(text, nsds->interactions[i], i + 1);
}

static size_t line_length(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (size_t)((stop ? stop : end) - at);
}

/* NS_EARG at the first line that differs. */
static NsStatus compare(const Text *here, const NsCheckpoint *there, const char *path, bool any_constants, NsError *err) {
  static const char constants[] = "constants of ";
  const char *a = here->bytes, *b = there->identity, *a_end = a + here->size, *b_end = b + there->identity_size;
  while (a < a_end || b < b_end) {
    size_t m = line_length(a, a_end), n = line_length(b, b_end), skipped = any_constants ? sizeof constants - 1 : 0;
    bool same = m == n && memcmp(a, b, m) == 0;
    bool skip = skipped && m >= skipped && n >= skipped && memcmp(a, constants, skipped) == 0 &&
                memcmp(b, constants, skipped) == 0;
    if (!same && !skip)
      return ns_fail(err, NS_EARG, "'%s' is of another model: it has \"%.*s\", here is \"%.*s\"", path, (int)n, b, (int)m, a);
    a += m + (a + m < a_end);
    b += n + (b + n < b_end);
  }
  return NS_OK;
}

/* ---- the state ---- */

static void visit_laws(NsNsds *nsds, NsVisitor visitor, void *context) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsLaw *law = nsds->interactions[i]->law;
    ns_fields_walk(law->class->fields, law, NS_FIELD_STATE, visitor, context);
  }
}

/* All state of a fixed size: an NsWalk. */
static void walk(void *object, NsVisitor visitor, void *context) {
  NsTimeStepping *ts = object;
  ns_ts_visit(ts, visitor, context);
  ns_islands_visit(&ts->islands, visitor, context);
  visit_laws(ts->nsds, visitor, context);
}

static void write_piece(void *context, const char *name, void *data, size_t bytes) {
  (void)name;
  append(context, data, bytes);
}

static void put_state(Text *text, NsTimeStepping *ts) {
  walk(ts, write_piece, text);
  append(text, &ts->log.count, sizeof ts->log.count);
  append(text, &ts->log.kept, sizeof ts->log.kept);
  append(text, ts->log.events, (size_t)ts->log.count * sizeof *ts->log.events);
}

NsStatus ns_ts_save(NsTimeStepping *ts, const char *path, const char *note, size_t note_size, NsError *err) {
  Text identity = {0}, state = {0};
  NsStatus status = ns_ts_prepare(ts, err);
  if (status != NS_OK) return status;
  describe(&identity, ts);
  put_state(&state, ts);
  NsCheckpoint pieces = {.identity = identity.bytes, .identity_size = identity.size, .note = (char *)(size_t)note,
                         .note_size = note ? note_size : 0, .state = state.bytes, .state_size = state.size};
  if (identity.failed || state.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  else status = ns_checkpoint_write(path, &pieces, err);
  ns_free(identity.bytes);
  ns_free(state.bytes);
  return status;
}

/* ---- back ---- */

typedef struct Reader {
  const char *at;
  size_t left;
} Reader;

static void measure(void *context, const char *name, void *data, size_t bytes) {
  (void)name, (void)data;
  *(size_t *)context += bytes;
}

static void take(void *context, const char *name, void *data, size_t bytes) {
  Reader *reader = context;
  (void)name;
  if (bytes) memcpy(data, reader->at, bytes);
  reader->at += bytes;
  reader->left -= bytes;
}

/* The log at the end of the state; NULL and 0 when it is empty. *bad when the bytes are not those of a log. */
static NsStatus take_log(Reader *reader, NsEventLog *log, bool *bad) {
  *log = (NsEventLog){0};
  *bad = reader->left < 2 * sizeof(long);
  if (*bad) return NS_OK;
  take(reader, "count", &log->count, sizeof log->count);
  take(reader, "kept", &log->kept, sizeof log->kept);
  size_t count = (size_t)log->count;
  *bad = log->count < 0 || log->kept < 0 || log->kept > log->count || reader->left % sizeof(NsEvent) != 0 ||
         reader->left / sizeof(NsEvent) != count;
  if (*bad || count == 0) return NS_OK;
  log->events = ns_alloc(count, sizeof *log->events);
  if (!log->events) return NS_ENOMEM;
  log->capacity = log->count;
  take(reader, "events", log->events, count * sizeof *log->events);
  return NS_OK;
}

/* The number of the step, and whether the next is computed, are what ns_ts_visit walks first. */
static NsStatus take_step(const NsTimeStepping *ts, const NsCheckpoint *pieces, const char *path, long *k, bool *computed,
                          NsError *err) {
  *k = -1;
  *computed = false;
  if (pieces->state_size >= sizeof *k + sizeof *computed) {
    memcpy(k, pieces->state, sizeof *k);
    *computed = pieces->state[sizeof *k] != 0;
  }
  if (*k >= 0 && *k <= ts->nsteps) return NS_OK;
  return ns_fail(err, NS_EARG, "'%s' is at step %ld, this simulation ends with step %ld", path, *k, ts->nsteps);
}

/* Takes the state over, whole or not at all. */
static NsStatus take_state(NsTimeStepping *ts, const NsCheckpoint *pieces, const char *path, NsError *err) {
  size_t size = 0;
  NsEventLog log;
  bool bad = false;
  walk(ts, measure, &size);
  if (pieces->state_size < size) return ns_fail(err, NS_EARG, "'%s' is of another model: its state is shorter", path);
  Reader reader = {pieces->state + size, pieces->state_size - size};
  NsStatus status = take_log(&reader, &log, &bad);
  if (status != NS_OK) return ns_fail(err, status, "not enough memory");
  if (bad) return ns_fail(err, NS_EARG, "'%s' is of another model: its state is longer", path);
  reader = (Reader){pieces->state, size};
  walk(ts, take, &reader);
  ns_ts_own(ts);
  ns_event_log_clear(&ts->log);
  ts->log = log;
  for (int i = 0; i < ts->nsds->nds; i++) ts->nsds->ds[i]->x_version++;
  return NS_OK;
}

/* Reads a file of this model, to be cleared. */
static NsStatus read_model(const NsTimeStepping *ts, const char *path, bool any_constants, NsCheckpoint *pieces, long *k,
                           bool *computed, NsError *err) {
  Text identity = {0};
  NsStatus status = ns_checkpoint_read(path, pieces, err);
  if (status != NS_OK) return status;
  describe(&identity, ts);
  if (identity.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status == NS_OK) status = compare(&identity, pieces, path, any_constants, err);
  if (status == NS_OK) status = take_step(ts, pieces, path, k, computed, err);
  ns_free(identity.bytes);
  if (status != NS_OK) ns_checkpoint_clear(pieces);
  return status;
}

NsStatus ns_ts_peek(const NsTimeStepping *ts, const char *path, long *k, bool *computed, NsError *err) {
  NsCheckpoint pieces;
  NsStatus status = read_model(ts, path, false, &pieces, k, computed, err);
  if (status == NS_OK) ns_checkpoint_clear(&pieces);
  return status;
}

NsStatus ns_ts_load(NsTimeStepping *ts, const char *path, bool any_constants, NsCheckpoint *pieces, NsError *err) {
  long k;
  bool computed;
  NsStatus status = read_model(ts, path, any_constants, pieces, &k, &computed, err);
  if (status != NS_OK) return status;
  ts->ready = false; /* what follows is to know nothing of what the workspace did before */
  status = ns_ts_prepare(ts, err);
  if (status == NS_OK) status = take_state(ts, pieces, path, err);
  if (status != NS_OK) ns_checkpoint_clear(pieces);
  return status;
}
