/*
** identity.c
** Describes a model and its simulation as text, and compares two descriptions.
*/
#include "simulation/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/mechanical_ds.h"

enum { LINE_BYTES = 512 };

/* The first line of a text has the number of the layout of the state: a change of what is saved, or of its order, counts it up. */
enum { LAYOUT = 7 };

/* The start of a line that a reader may ignore. */
static const char constants[] = "constants of ";

void ns_text_append(NsText *text, const void *bytes, size_t size) {
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

__attribute__((format(printf, 2, 3))) static void add_line(NsText *text, const char *format, ...) {
  char line[LINE_BYTES];
  va_list args;
  va_start(args, format);
  int length = ns_vprint(line, sizeof line - 1, format, args);
  va_end(args);
  if (length > (int)sizeof line - 2) length = (int)sizeof line - 2;
  line[length] = '\n';
  ns_text_append(text, line, (size_t)length + 1);
}

/* ---- hashes ---- */

static void hash_numbers(uint64_t *hash, const double *v, long n) {
  ns_hash_bytes(hash, v, (size_t)n * sizeof *v);
}

static void hash_sparse(uint64_t *hash, const NsSparse *A) {
  int nnz = ns_sparse_nnz(A);
  ns_hash_bytes(hash, A->colptr, ((size_t)A->cols + 1) * sizeof *A->colptr);
  ns_hash_bytes(hash, A->row, (size_t)nnz * sizeof *A->row);
  hash_numbers(hash, A->value, nnz);
}

/* Hash of the numbers of a coefficient; they may belong to another object. */
static uint64_t hash_of_coef(const NsCoef *c) {
  uint64_t hash = NS_HASH_START;
  const NsSource *s = &c->source;
  if (c->sparse) hash_sparse(&hash, c->sparse);
  else if (!s->version) hash_numbers(&hash, c->value, (long)c->rows * c->cols);
  else
    for (ptrdiff_t j = 0; j < c->cols; j++)
      for (ptrdiff_t i = 0; i < c->rows; i++) hash_numbers(&hash, s->data + i * s->row_stride + j * s->col_stride, 1);
  return hash;
}

/* ---- fields ---- */

/* An object: the start of its lines, "dynamical system 1 'ds 1'", and the text after a field's name, " of its law". */
typedef struct Owner {
  NsText *text;
  char name[NS_NAME_SIZE + 40];
  const char *of;
  bool shape; /* its counts describe the structure of the model: their lines may not be ignored */
} Owner;

static bool coef_value(const NsCoef *c, char *value) {
  if (!ns_coef_given(c)) return false;
  if (ns_coef_varies(c)) snprintf(value, LINE_BYTES, "a function of time");
  else if (c->source.live) snprintf(value, LINE_BYTES, "a view of a state");
  else snprintf(value, LINE_BYTES, "%d x %d %016" PRIx64, c->rows, c->cols, hash_of_coef(c));
  return true;
}

static void array_value(const NsField *field, const void *object, const void *data, size_t bytes, char *value) {
  uint64_t hash = NS_HASH_START;
  ns_hash_bytes(&hash, data, bytes);
  snprintf(value, LINE_BYTES, "%d x %d %016" PRIx64, ns_field_rows(field, object), ns_field_cols(field, object), hash);
}

/* Prints the value of a field; false when it has none. */
static bool field_value(const NsField *field, const void *object, char *value) {
  size_t bytes;
  const void *data = ns_field_data(field, object, &bytes);
  if (!data) return false;
  const double *x = data;
  switch (field->type) {
    case NS_FIELD_NUMBER: ns_print(value, LINE_BYTES, "%.17g", *x); break;
    case NS_FIELD_POINT: ns_print(value, LINE_BYTES, "%.17g %.17g %.17g", x[0], x[1], x[2]); break;
    case NS_FIELD_COUNT: snprintf(value, LINE_BYTES, "%d", *(const int *)data); break;
    case NS_FIELD_LONG: snprintf(value, LINE_BYTES, "%ld", *(const long *)data); break;
    case NS_FIELD_FLAG: snprintf(value, LINE_BYTES, "%s", *(const bool *)data ? "yes" : "no"); break;
    case NS_FIELD_WORD: snprintf(value, LINE_BYTES, "%s", field->words[*(const int *)data]); break;
    case NS_FIELD_METHOD:
      snprintf(value, LINE_BYTES, "%s", *(const NsMethod *const *)data ? (*(const NsMethod *const *)data)->name : "default");
      break;
    case NS_FIELD_TEXT: snprintf(value, LINE_BYTES, "'%s'", (const char *)data); break;
    case NS_FIELD_CALLBACK: snprintf(value, LINE_BYTES, "a callback"); return ((const NsFunction *)data)->value != NULL;
    case NS_FIELD_COEF: return coef_value(data, value);
    case NS_FIELD_VECTOR:
    case NS_FIELD_MATRIX:
    case NS_FIELD_INDICES: array_value(field, object, data, bytes, value);
  }
  return true;
}

/* Writes a line for each CONSTANT field. */
static void describe_fields(const Owner *owner, const NsField *fields, const void *object) {
  char value[LINE_BYTES];
  for (const NsField *field = fields; field->name; field++) {
    if (!(field->flags & NS_FIELD_CONSTANT) || !field_value(field, object, value)) continue;
    const char *begin = owner->shape && field->type == NS_FIELD_COUNT ? "" : constants;
    add_line(owner->text, "%s%s: %s%s: %s", begin, owner->name, field->name, owner->of, value);
  }
}

static Owner owner_of(NsText *text, const char *noun, int number, const char *name) {
  Owner owner = {.text = text, .of = ""};
  if (number > 0) snprintf(owner.name, sizeof owner.name, "%s %d '%s'", noun, number, name);
  else snprintf(owner.name, sizeof owner.name, "%s", noun);
  return owner;
}

/* ---- the run ---- */

static void describe_part(NsText *text, const char *name, const NsField *fields, const void *object) {
  Owner owner = owner_of(text, name, 0, NULL);
  describe_fields(&owner, fields, object);
}

static void describe_run(NsText *text, const NsTimeStepping *ts) {
  describe_part(text, "the integrator", ts->integrator->class->fields, ts->integrator);
  describe_part(text, "Newton's method", ns_newton_fields, &ts->newton);
  describe_part(text, "the projection", ns_projection_fields, &ts->projection);
  describe_part(text, "adaptive stepping", ns_adaptive_fields, &ts->adaptive);
  add_line(text, "%sthe one-step problem: %s", constants, ns_osnsp_name(ts->problem->kind));
  describe_part(text, "the one-step problem", ns_osnsp_fields, ts->problem);
}

static void hash_piece(void *context, const char *name, void *data, size_t bytes) {
  (void)name;
  ns_hash_bytes(context, data, bytes);
}

static void describe_time(NsText *text, const NsTimeStepping *ts) {
  const NsTimeGrid *grid = ts->grid;
  add_line(text, "%s%s", ns_integrator_name(ts->integrator), ts->class->projection);
  if (!grid->points) add_line(text, "times: from %.17g, steps of %.17g", grid->t0, grid->h);
  uint64_t hash = NS_HASH_START;
  ns_fields_walk(ns_time_grid_fields, ts->grid, NS_FIELD_CONSTANT, hash_piece, &hash);
  if (grid->points) add_line(text, "times: %d points %016" PRIx64, grid->npoints, hash);
}

/* ---- the model ---- */

static void describe_system(NsText *text, const NsDs *ds) {
  const char *kind = ns_ds_family(ds) == NS_FIRST_ORDER ? "of first order" : ns_ds_class_name(ds);
  char prescribed[40] = "";
  Owner owner = owner_of(text, "dynamical system", ds->index + 1, ds->name);
  if (ds->nreaction > 0) snprintf(prescribed, sizeof prescribed, ", %d velocities prescribed", ds->nreaction);
  add_line(text, "%s: %s, %d states%s", owner.name, kind, ds->n, prescribed);
  if (ds->nz > 0) add_line(text, "%s: %d parameters", owner.name, ds->nz);
  describe_fields(&owner, ds->class->model.fields, ds);
  const NsBoundary *boundary = ns_ds_family(ds) == NS_MECHANICS ? ((const NsMechanicalDs *)ds)->boundary : NULL;
  owner.of = " of its boundary condition";
  if (boundary) describe_fields(&owner, boundary->class->fields, boundary);
}

static void describe_interaction(NsText *text, const NsInteraction *inter, int number) {
  char others[NS_INTERACTION_SYSTEMS * sizeof " and 2147483647"] = "";
  Owner owner = owner_of(text, "interaction", number, inter->name);
  for (int p = 1, used = 0; p < inter->nds; p++)
    used += snprintf(others + used, sizeof others - (size_t)used, " and %d", inter->ds[p]->index + 1);
  add_line(text, "%s: %s of %d, %s, of dynamical system %d%s", owner.name, ns_law_name(inter->law), inter->m,
           ns_relation_class_name(inter->relation), inter->ds[0]->index + 1, others);
  if (inter->relation->nz > 0) add_line(text, "%s: %d parameters of its relation", owner.name, inter->relation->nz);
  Owner law = owner;
  law.of = " of its law";
  law.shape = true;
  describe_fields(&law, inter->law->class->fields, inter->law);
  describe_fields(&owner, inter->relation->class->model.fields, inter->relation);
}

static void describe_event(NsText *text, const NsUserEvent *event, int number) {
  Owner owner = owner_of(text, "event", number, event->name);
  add_line(text, "%s", owner.name);
  describe_fields(&owner, ns_user_event_fields, event);
  for (int i = 0; event->discrete && i < event->discrete->count; i++)
    add_line(text, "%s: discrete state '%s' of size %d", owner.name, event->discrete->states[i].name,
             event->discrete->states[i].size);
}

void ns_identity_describe(NsText *text, const NsTimeStepping *ts) {
  const NsNsds *nsds = ts->nsds;
  add_line(text, "layout %d", LAYOUT);
  describe_time(text, ts);
  add_line(text, "%d dynamical systems, %d interactions", nsds->nds, nsds->ninteractions);
  for (int i = 0; i < nsds->nds; i++) describe_system(text, nsds->ds[i]);
  for (int i = 0; i < nsds->ninteractions; i++) describe_interaction(text, nsds->interactions[i], i + 1);
  describe_run(text, ts);
  for (int e = 0; e < ts->user.count; e++) describe_event(text, &ts->user.of[e], e + 1);
}

/* ---- two of them ---- */

/* One line of a text, without the line end. */
typedef struct Line {
  const char *at, *end; /* the rest of the text, including this line, begins at `at` */
  size_t length;
} Line;

static void measure_line(Line *line) {
  const char *stop = memchr(line->at, '\n', (size_t)(line->end - line->at));
  line->length = (size_t)((stop ? stop : line->end) - line->at);
}

static bool is_constant(const Line *line) {
  return line->length >= sizeof constants - 1 && memcmp(line->at, constants, sizeof constants - 1) == 0;
}

/* Measures the present line; `pass`: skips lines of constants first. */
static void identity_settle(Line *line, bool pass) {
  for (measure_line(line); pass && is_constant(line); measure_line(line))
    line->at += line->length + (line->at + line->length < line->end);
}

static void identity_advance(Line *line, bool pass) {
  line->at += line->length + (line->at + line->length < line->end);
  identity_settle(line, pass);
}

static bool same_line(const Line *a, const Line *b) {
  return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

NsStatus ns_identity_compare(const NsText *here, const char *there, size_t size, const char *path, bool any_constants,
                             NsError *err) {
  Line a = {here->bytes, here->bytes + here->size, 0}, b = {there, there + size, 0};
  measure_line(&a);
  measure_line(&b);
  if (!same_line(&a, &b)) /* the layout */
    return ns_fail(err, NS_EARG, "'%s' was written by another version of nslua", path);
  identity_settle(&a, any_constants);
  identity_settle(&b, any_constants);
  for (; a.at < a.end || b.at < b.end; identity_advance(&a, any_constants), identity_advance(&b, any_constants))
    if (!same_line(&a, &b))
      return ns_fail(err, NS_EARG, "'%s' is of another model: it has \"%.*s\", here is \"%.*s\"%s", path, (int)b.length, b.at,
                     (int)a.length, a.at,
                     is_constant(&a) || is_constant(&b) ? "; load_state(file, {constants = false}) takes it all the same" : "");
  return NS_OK;
}
