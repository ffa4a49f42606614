/*
** identity.c
** The description of a model and of how it is run, and the comparison of two of them.
*/
#include "simulation/identity.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

enum { LINE_BYTES = 512 };

/* What the first line of a text begins with, and the number of its layout. */
static const char layout[] = "layout ";
enum { LAYOUT = 3 };

/* What a line begins with that may be passed over. */
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

/* FNV-1a of 64 bits; Fowler, Noll and Vo. */
#define HASH_START UINT64_C(14695981039346656037)

static void hash_bytes(uint64_t *hash, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
}

static void hash_numbers(uint64_t *hash, const double *v, long n) {
  hash_bytes(hash, v, (size_t)n * sizeof *v);
}

static uint64_t hash_of_numbers(const double *v, long n) {
  uint64_t hash = HASH_START;
  hash_numbers(&hash, v, n);
  return hash;
}

static void hash_sparse(uint64_t *hash, const NsSparse *A) {
  int nnz = ns_sparse_nnz(A);
  hash_bytes(hash, A->colptr, ((size_t)A->cols + 1) * sizeof *A->colptr);
  hash_bytes(hash, A->row, (size_t)nnz * sizeof *A->row);
  hash_numbers(hash, A->value, nnz);
}

/* Of the numbers that its owner shares, else of its own. */
static uint64_t hash_of_coef(const NsCoef *c) {
  uint64_t hash = HASH_START;
  const NsSource *s = &c->source;
  if (c->sparse) hash_sparse(&hash, c->sparse);
  else if (!s->version) hash_numbers(&hash, c->value, (long)c->rows * c->cols);
  else
    for (ptrdiff_t j = 0; j < c->cols; j++)
      for (ptrdiff_t i = 0; i < c->rows; i++) hash_numbers(&hash, s->data + i * s->row_stride + j * s->col_stride, 1);
  return hash;
}

/* ---- options ---- */

/* An option: what it is called, its type, where it is. */
typedef struct Field {
  const char *what;
  enum { REAL, FLAG, WHOLE, METHOD } type;
  size_t offset;
} Field;

static const Field newton_fields[] = {
    {"most iterations", WHOLE, offsetof(NsNewtonOptions, max_iterations)},
    {"relative tolerance", REAL, offsetof(NsNewtonOptions, rtol)},
    {"absolute tolerance", REAL, offsetof(NsNewtonOptions, atol)},
    {"absolute residual", REAL, offsetof(NsNewtonOptions, absolute)},
    {"most parts of a step", WHOLE, offsetof(NsNewtonOptions, max_substeps)},
};

static const Field projection_fields[] = {
    {"tolerance", REAL, offsetof(NsProjectionOptions, tolerance)},
    {"most iterations", WHOLE, offsetof(NsProjectionOptions, max_iterations)},
    {"tolerance in units", FLAG, offsetof(NsProjectionOptions, absolute)},
};

static const Field problem_fields[] = {
    {"tolerance", REAL, offsetof(NsOsnsp, options.tolerance)},
    {"most iterations", WHOLE, offsetof(NsOsnsp, options.max_iterations)},
    {"method", METHOD, offsetof(NsOsnsp, options.method)},
    {"relaxation", REAL, offsetof(NsOsnsp, options.omega)},
    {"dimension of contacts", WHOLE, offsetof(NsOsnsp, dim)},
};

static const char *identity_method(const NsMethod *method) {
  return method ? method->name : "default";
}

static void describe_options(NsText *text, const char *whose, const Field *fields, size_t count, const void *object) {
  for (size_t i = 0; i < count; i++) {
    const Field *f = &fields[i];
    const void *at = (const char *)object + f->offset;
    char value[40];
    if (f->type == REAL) ns_print(value, sizeof value, "%.17g", *(const double *)at);
    else if (f->type == FLAG) snprintf(value, sizeof value, "%s", *(const bool *)at ? "yes" : "no");
    else if (f->type == METHOD) snprintf(value, sizeof value, "%s", identity_method(*(const NsMethod *const *)at));
    else snprintf(value, sizeof value, "%d", *(const int *)at);
    add_line(text, "%s%s: %s: %s", constants, whose, f->what, value);
  }
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The CONSTANT fields of the integrator, each a number, a flag or a word. */
static void describe_integrator(NsText *text, const NsIntegrator *osi) {
  for (const NsField *field = osi->class->fields; field->name; field++) {
    size_t bytes;
    const void *data = ns_field_data(field, osi, &bytes);
    char value[40];
    if (!(field->flags & NS_FIELD_CONSTANT)) continue;
    if (field->type == NS_FIELD_NUMBER) ns_print(value, sizeof value, "%.17g", *(const double *)data);
    else if (field->type == NS_FIELD_FLAG) snprintf(value, sizeof value, "%s", *(const bool *)data ? "yes" : "no");
    else if (field->type == NS_FIELD_WORD) snprintf(value, sizeof value, "%s", field->words[*(const int *)data]);
    else snprintf(value, sizeof value, "%d", *(const int *)data);
    add_line(text, "%sthe integrator: %s: %s", constants, field->name, value);
  }
}

static void describe_run(NsText *text, const NsTimeStepping *ts) {
  describe_integrator(text, ts->integrator);
  describe_options(text, "Newton's method", newton_fields, COUNT(newton_fields), &ts->newton);
  describe_options(text, "the projection", projection_fields, COUNT(projection_fields), &ts->projection);
  add_line(text, "%sthe one-step problem: %s", constants, ns_osnsp_name(ts->problem->kind));
  describe_options(text, "the one-step problem", problem_fields, COUNT(problem_fields), ts->problem);
}

static void describe_time(NsText *text, const NsTimeStepping *ts) {
  const NsTimeGrid *grid = ts->grid;
  const char *projection = ts->kind == NS_DIRECT_PROJECTION     ? " with projection"
                           : ts->kind == NS_COMBINED_PROJECTION ? " with the combined projection"
                                                                : "";
  add_line(text, "%s%s", ns_integrator_name(ts->integrator), projection);
  if (!grid->points) add_line(text, "times: from %.17g, steps of %.17g", grid->t0, grid->h);
  else add_line(text, "times: %ld points %016" PRIx64, grid->npoints, hash_of_numbers(grid->points, grid->npoints));
}

/* ---- the model ---- */

/* An object of the model, "dynamical system 1 'ds 1'". */
typedef struct Owner {
  NsText *text;
  char name[NS_NAME_SIZE + 40];
} Owner;

static Owner owner_of(NsText *text, const char *noun, int number, const char *name) {
  Owner owner = {.text = text};
  snprintf(owner.name, sizeof owner.name, "%s %d '%s'", noun, number, name);
  return owner;
}

static void describe_coef(const Owner *owner, const char *letter, const NsCoef *c) {
  if (!ns_coef_given(c)) return;
  if (ns_coef_varies(c)) add_line(owner->text, "%s%s: %s: a function of time", constants, owner->name, letter);
  else if (c->source.live) add_line(owner->text, "%s%s: %s: a view of a state", constants, owner->name, letter);
  else
    add_line(owner->text, "%s%s: %s: %d x %d %016" PRIx64, constants, owner->name, letter, c->rows, c->cols, hash_of_coef(c));
}

/* Numbers that are few. */
static void describe_numbers(const Owner *owner, const char *what, const double *v, int n) {
  char line[LINE_BYTES] = "";
  size_t length = 0;
  for (int i = 0; i < n && length + 30 < sizeof line; i++)
    length += (size_t)ns_print(line + length, sizeof line - length, " %.17g", v[i]);
  add_line(owner->text, "%s%s: %s:%s", constants, owner->name, what, line);
}

static void describe_callback(const Owner *owner, const char *what, const NsFunction *f) {
  if (f->value) add_line(owner->text, "%s%s: %s: a callback", constants, owner->name, what);
}

static void describe_boundary(const Owner *owner, const NsBoundary *b) {
  if (!b) return;
  uint64_t hash = HASH_START;
  hash_bytes(&hash, b->index, (size_t)b->n * sizeof *b->index);
  add_line(owner->text, "%s%s: prescribed velocities: %d %016" PRIx64, constants, owner->name, b->n, hash);
  if (b->harmonic)
    add_line(owner->text, "%s%s: prescribed velocities: harmonic %016" PRIx64, constants, owner->name,
             hash_of_numbers(b->harmonic, 4L * b->n));
  else describe_coef(owner, "prescribed velocities", &b->velocity);
}

static void describe_first_order(const Owner *owner, const NsFirstOrderDs *s) {
  describe_coef(owner, "M", &s->M);
  describe_coef(owner, "A", &s->A);
  describe_coef(owner, "b", &s->b);
  describe_coef(owner, "jacobianfx", &s->jacobian_f);
  describe_callback(owner, "f", &s->f);
}

static void describe_mechanical(const Owner *owner, const NsMechanicalDs *s) {
  static const char *const jacobians[NS_FORCE_JACOBIANS] = {"jacobianFIntq", "jacobianFIntqDot", "jacobianFGyrq",
                                                            "jacobianFGyrqDot"};
  describe_coef(owner, "mass", &s->mass);
  describe_coef(owner, "K", &s->K);
  describe_coef(owner, "C", &s->C);
  describe_coef(owner, "fExt", &s->fext);
  describe_coef(owner, "fInt", &s->fint);
  describe_coef(owner, "fGyr", &s->fgyr);
  describe_coef(owner, "mExt", &s->mext);
  for (int i = 0; i < NS_FORCE_JACOBIANS; i++) describe_coef(owner, jacobians[i], &s->force_jacobian[i]);
  describe_callback(owner, "mass", &s->mass_function);
  describe_callback(owner, "fInt", &s->fint_function);
  describe_callback(owner, "fGyr", &s->fgyr_function);
  describe_callback(owner, "mInt", &s->mint_function);
  describe_callback(owner, "potential", &s->potential);
  if (s->moment_inertial) add_line(owner->text, "%s%s: mExt in the inertial frame", constants, owner->name);
  describe_boundary(owner, s->boundary);
}

static void describe_system(NsText *text, const NsDs *ds) {
  const char *kind = ns_ds_family(ds) == NS_FIRST_ORDER ? "of first order" : ns_ds_class_name(ds);
  char prescribed[40] = "";
  Owner owner = owner_of(text, "dynamical system", ds->index + 1, ds->name);
  if (ds->nreaction > 0) snprintf(prescribed, sizeof prescribed, ", %d velocities prescribed", ds->nreaction);
  add_line(text, "%s: %s, %d states%s", owner.name, kind, ds->n, prescribed);
  if (ds->nz > 0) add_line(text, "%s: %d parameters", owner.name, ds->nz);
  if (ns_ds_family(ds) == NS_FIRST_ORDER) describe_first_order(&owner, (const NsFirstOrderDs *)ds);
  else describe_mechanical(&owner, (const NsMechanicalDs *)ds);
}

static void describe_contact(const Owner *owner, const NsContact *c) {
  if (!c || c->shape == NS_CONTACT_USER) return;
  add_line(owner->text, "%s%s: shape: %s", constants, owner->name, ns_contact_shape_name(c->shape));
  describe_numbers(owner, "R", &c->R1, 1);
  describe_numbers(owner, "R2", &c->R2, 1);
  describe_numbers(owner, "corner", c->corner, 3);
  describe_numbers(owner, "point", c->point, 3);
  describe_numbers(owner, "normal", c->normal, 3);
}

static void describe_relation(const Owner *owner, const NsRelation *r) {
  describe_coef(owner, "C", &r->C);
  describe_coef(owner, "D", &r->D);
  describe_coef(owner, "B", &r->B);
  describe_coef(owner, "K", &r->K);
  describe_coef(owner, "F", &r->F);
  describe_coef(owner, "e", &r->e);
  describe_callback(owner, "h", &r->h);
  describe_callback(owner, "g", &r->g);
  describe_callback(owner, "hDot", &r->hdot);
  describe_callback(owner, "dotJachq", &r->dotjac);
  describe_contact(owner, r->contact);
}

/* The CONSTANT fields of a law: a count as it is, numbers by their hash. */
static void describe_law(const Owner *owner, const NsLaw *law) {
  for (const NsField *field = law->class->fields; field->name; field++) {
    size_t bytes;
    const void *data = field->flags & NS_FIELD_CONSTANT ? ns_field_data(field, law, &bytes) : NULL;
    uint64_t hash = HASH_START;
    if (!data) continue;
    hash_bytes(&hash, data, bytes);
    if (field->type == NS_FIELD_COUNT)
      add_line(owner->text, "%s: %s of its law: %d", owner->name, field->name, *(const int *)data);
    else
      add_line(owner->text, "%s%s: %s of its law: %d x %d %016" PRIx64, constants, owner->name, field->name,
               ns_field_rows(field, law), ns_field_cols(field, law), hash);
  }
}

static void describe_interaction(NsText *text, const NsInteraction *inter, int number) {
  char second[NS_NAME_SIZE + 8] = "";
  Owner owner = owner_of(text, "interaction", number, inter->name);
  if (inter->nds == 2) snprintf(second, sizeof second, " and %d", inter->ds[1]->index + 1);
  add_line(text, "%s: %s of %d, %s, of dynamical system %d%s", owner.name, ns_law_name(inter->law), inter->m,
           ns_relation_class_name(inter->relation), inter->ds[0]->index + 1, second);
  if (inter->relation->nz > 0) add_line(text, "%s: %d parameters of its relation", owner.name, inter->relation->nz);
  describe_law(&owner, inter->law);
  describe_relation(&owner, inter->relation);
}

void ns_identity_describe(NsText *text, const NsTimeStepping *ts) {
  const NsNsds *nsds = ts->nsds;
  add_line(text, "%s%d", layout, LAYOUT);
  describe_time(text, ts);
  add_line(text, "%d dynamical systems, %d interactions", nsds->nds, nsds->ninteractions);
  for (int i = 0; i < nsds->nds; i++) describe_system(text, nsds->ds[i]);
  for (int i = 0; i < nsds->ninteractions; i++) describe_interaction(text, nsds->interactions[i], i + 1);
  describe_run(text, ts);
}

/* ---- two of them ---- */

/* One line of a text, without its end. */
typedef struct Line {
  const char *at, *end; /* the rest of the text begins at `at`, with the line */
  size_t length;
} Line;

static void measure_line(Line *line) {
  const char *stop = memchr(line->at, '\n', (size_t)(line->end - line->at));
  line->length = (size_t)((stop ? stop : line->end) - line->at);
}

static bool is_constant(const Line *line) {
  return line->length >= sizeof constants - 1 && memcmp(line->at, constants, sizeof constants - 1) == 0;
}

/* Goes to the next line, or the first one that is not of constants. */
static void identity_settle(Line *line, bool pass) {
  for (measure_line(line); pass && is_constant(line); measure_line(line))
    line->at += line->length + (line->at + line->length < line->end);
}

static void identity_advance(Line *line, bool pass) {
  line->at += line->length + (line->at + line->length < line->end);
  identity_settle(line, pass);
}

NsStatus ns_identity_compare(const NsText *here, const char *there, size_t size, const char *path, bool any_constants,
                             NsError *err) {
  Line a = {here->bytes, here->bytes + here->size, 0}, b = {there, there + size, 0};
  if (size < sizeof layout - 1 || memcmp(there, layout, sizeof layout - 1) != 0)
    return ns_fail(err, NS_EARG, "'%s' was written by an earlier version of nslua", path);
  identity_settle(&a, any_constants);
  identity_settle(&b, any_constants);
  for (; a.at < a.end || b.at < b.end; identity_advance(&a, any_constants), identity_advance(&b, any_constants))
    if (a.length != b.length || memcmp(a.at, b.at, a.length) != 0)
      return ns_fail(err, NS_EARG, "'%s' is of another model: it has \"%.*s\", here is \"%.*s\"%s", path, (int)b.length, b.at,
                     (int)a.length, a.at,
                     is_constant(&a) || is_constant(&b) ? "; load_state(file, {constants = false}) takes it all the same" : "");
  return NS_OK;
}
