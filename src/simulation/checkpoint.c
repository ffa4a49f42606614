/*
** checkpoint.c
** Writes the state of a simulation as bytes, and reads it back.
*/
#include "simulation/checkpoint.h"

#include <string.h>

#include "base/memory.h"
#include "simulation/identity.h"

/* ---- the state ---- */

/* An NsWalk over all state of fixed size. */
static void walk(void *object, NsVisitor visitor, void *context) {
  NsTimeStepping *ts = object;
  ns_ts_visit(ts, visitor, context);
  ns_nsds_visit_laws(ts->nsds, visitor, context);
}

static void write_piece(void *context, const char *name, void *data, size_t bytes) {
  (void)name;
  ns_text_append(context, data, bytes);
}

static void put_state(NsText *text, NsTimeStepping *ts) {
  walk(ts, write_piece, text);
  ns_action_changes_write(&ts->changes, write_piece, text);
  ns_text_append(text, &ts->log.count, sizeof ts->log.count);
  ns_text_append(text, &ts->log.kept, sizeof ts->log.kept);
  ns_text_append(text, ts->log.events, (size_t)ts->log.count * sizeof *ts->log.events);
}

/* Describes the model as it was before actions have changed it. */
static void describe_model(NsText *text, NsTimeStepping *ts) {
  ns_action_changes_exchange(&ts->changes);
  ns_identity_describe(text, ts);
  ns_action_changes_exchange(&ts->changes);
}

static void put_origin(NsText *text, const NsOrigin *origin) {
  uint64_t size = origin->size;
  ns_text_append(text, &size, sizeof size);
  ns_text_append(text, origin->bytes, origin->size);
}

/* What links contacts that come and go, and then what each interaction is to it. */
static void put_links(NsText *text, const NsNsds *nsds) {
  if (nsds->origin.size == 0) return;
  put_origin(text, &nsds->origin);
  for (int i = 0; i < nsds->ninteractions; i++) put_origin(text, &nsds->interactions[i]->origin);
}

NsStatus ns_ts_save(NsTimeStepping *ts, const char *path, const char *note, size_t note_size, NsError *err) {
  NsText identity = {0}, state = {0}, links = {0};
  if (ts->part.divided && ts->user.count == 0 && ts->computed)
    return ns_fail(err, NS_EARG, "contacts have divided the step at t=%.10g: call nextStep first", ts->part.from);
  if (ts->part.divided && ts->user.count == 0)
    return ns_fail(err, NS_EARG, "the step is divided at t=%.10g by an event that has been removed; compute its rest first",
                   ts->part.from);
  NsStatus status = ns_ts_prepare(ts, err);
  if (status != NS_OK) return status;
  describe_model(&identity, ts);
  put_state(&state, ts);
  put_links(&links, ts->nsds);
  NsCheckpoint pieces = {.identity = identity.bytes,
                         .identity_size = identity.size,
                         .note = (char *)(size_t)note,
                         .note_size = note ? note_size : 0,
                         .state = state.bytes,
                         .state_size = state.size,
                         .links = links.bytes,
                         .links_size = links.size};
  if (identity.failed || state.failed || links.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  else status = ns_checkpoint_write(path, &pieces, err);
  ns_free(identity.bytes);
  ns_free(state.bytes);
  ns_free(links.bytes);
  return status;
}

/* ---- back ---- */

typedef struct Reader {
  const char *at;
  size_t left;
} Reader;

static void run_checkpoint_measure(void *context, const char *name, void *data, size_t bytes) {
  (void)name, (void)data;
  *(size_t *)context += bytes;
}

static void run_checkpoint_take(void *context, const char *name, void *data, size_t bytes) {
  Reader *reader = context;
  (void)name;
  if (bytes) memcpy(data, reader->at, bytes);
  reader->at += bytes;
  reader->left -= bytes;
}

/* Reads the log at the end of the state; an empty log is NULL with 0 events. *bad: the bytes are no log. */
static NsStatus take_log(Reader *reader, NsEventLog *log, bool *bad) {
  *log = (NsEventLog){0};
  *bad = reader->left < 2 * sizeof(long);
  if (*bad) return NS_OK;
  run_checkpoint_take(reader, "count", &log->count, sizeof log->count);
  run_checkpoint_take(reader, "kept", &log->kept, sizeof log->kept);
  size_t count = (size_t)log->count;
  *bad = log->count < 0 || log->kept < 0 || log->kept > log->count || reader->left % sizeof(NsEvent) != 0 ||
         reader->left / sizeof(NsEvent) != count;
  if (*bad || count == 0) return NS_OK;
  log->events = ns_alloc(count, sizeof *log->events);
  if (!log->events) return NS_ENOMEM;
  log->capacity = log->count;
  run_checkpoint_take(reader, "events", log->events, count * sizeof *log->events);
  return NS_OK;
}

/* Reads the number of the step, and whether the next step is computed: ns_ts_visit visits them first. */
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

/* Takes over the whole state, or changes nothing. */
static NsStatus run_checkpoint_take_state(NsTimeStepping *ts, const NsCheckpoint *pieces, const char *path, NsError *err) {
  size_t size = 0;
  NsEventLog log;
  bool bad = false;
  walk(ts, run_checkpoint_measure, &size);
  if (pieces->state_size < size)
    return ns_fail(err, NS_EARG, "'%s' was written by another version of nslua: its state is shorter", path);
  Reader reader = {pieces->state + size, pieces->state_size - size}, changes = reader;
  NsStatus status = ns_action_changes_read(&ts->changes, ts->nsds, false, &reader.at, &reader.left, &bad);
  if (status == NS_OK && !bad) status = take_log(&reader, &log, &bad);
  if (status != NS_OK) return ns_fail(err, status, "not enough memory");
  if (bad) return ns_fail(err, NS_EARG, "'%s' was written by another version of nslua: its state is longer", path);
  reader = (Reader){pieces->state, size};
  walk(ts, run_checkpoint_take, &reader);
  status = ns_action_changes_read(&ts->changes, ts->nsds, true, &changes.at, &changes.left, &bad);
  ns_ts_own(ts);
  ns_event_log_clear(&ts->log);
  ts->log = log;
  for (int i = 0; i < ts->nsds->nds; i++) ts->nsds->ds[i]->x_version++;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "not enough memory");
}

/* Reads a file of this model; the caller clears it. */
static NsStatus read_model(NsTimeStepping *ts, const char *path, bool any_constants, NsCheckpoint *pieces, long *k,
                           bool *computed, NsError *err) {
  NsText identity = {0};
  NsStatus status = ns_checkpoint_read(path, pieces, err);
  if (status != NS_OK) return status;
  describe_model(&identity, ts);
  if (identity.failed) status = ns_fail(err, NS_ENOMEM, "not enough memory");
  if (status == NS_OK)
    status = ns_identity_compare(&identity, pieces->identity, pieces->identity_size, path, any_constants, err);
  if (status == NS_OK) status = take_step(ts, pieces, path, k, computed, err);
  ns_free(identity.bytes);
  if (status != NS_OK) ns_checkpoint_clear(pieces);
  return status;
}

NsStatus ns_ts_peek(NsTimeStepping *ts, const char *path, long *k, bool *computed, NsError *err) {
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
  status = ns_ts_prepare_anew(ts, err); /* the next steps must not depend on the contents of the workspace */
  if (status == NS_OK) status = run_checkpoint_take_state(ts, pieces, path, err);
  ts->output_known = status == NS_OK;
  if (status == NS_OK) ts->nsds->now = ts->computed ? ns_ts_next_time(ts) : ns_ts_time(ts);
  if (status != NS_OK) ns_checkpoint_clear(pieces);
  return status;
}
