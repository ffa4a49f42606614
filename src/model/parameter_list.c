/*
** parameter_list.c
** Lists parameters with their names.
*/
#include "model/parameter_list.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* ---- owners ---- */

NsParameterOwner ns_parameter_system(NsDs *ds) {
  return (NsParameterOwner){.fields = ds->class->model.fields, .object = ds, .name = ds->name, .ds = ds};
}

static const char *name_of_relation(const NsNsds *nsds, const NsRelation *relation) {
  for (int i = 0; i < nsds->ninteractions && !relation->name[0]; i++)
    if (nsds->interactions[i]->relation == relation) return nsds->interactions[i]->name;
  return relation->name;
}

NsParameterOwner ns_parameter_relation(const NsNsds *nsds, NsRelation *relation) {
  return (NsParameterOwner){
      .fields = relation->class->model.fields, .object = relation, .name = name_of_relation(nsds, relation)};
}

NsParameterOwner ns_parameter_law(const NsNsds *nsds, NsLaw *law) {
  NsParameterOwner owner = {.fields = law->class->fields, .object = law, .name = "", .law = true};
  for (int i = nsds->ninteractions - 1; i >= 0; i--)
    if (nsds->interactions[i]->law == law) owner.name = nsds->interactions[i]->name;
  return owner;
}

/* ---- adding ---- */

static NsStatus parameters_grow(NsParameterList *list, NsError *err) {
  int room = 2 * list->room + 16;
  NsParameter *of = ns_arena_take(list->arena, (size_t)room, sizeof *of);
  char(*name)[NS_PARAMETER_NAME] = ns_arena_take(list->arena, (size_t)room, sizeof *name);
  if (!of || !name) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  if (list->count > 0) memcpy(of, list->of, (size_t)list->count * sizeof *of);
  if (list->count > 0) memcpy(name, list->name, (size_t)list->count * sizeof *name);
  list->of = of, list->name = name, list->room = room;
  return NS_OK;
}

NsStatus ns_parameters_add(NsParameterList *list, NsParameter parameter, NsError *err, const char *format, ...) {
  if (list->count == list->room && parameters_grow(list, err) != NS_OK) return NS_ENOMEM;
  va_list args;
  va_start(args, format);
  ns_vprint(list->name[list->count], NS_PARAMETER_NAME, format, args);
  va_end(args);
  if (parameter.number && !isfinite(*parameter.number))
    return ns_fail(err, NS_EARG, "%s: %s is not finite: it has no derivative", list->who, list->name[list->count]);
  list->of[list->count++] = parameter;
  return NS_OK;
}

double ns_parameter_unit(const double *number, const double *all, int count) {
  double size = fabs(*number);
  int exponent;
  for (int k = 0; k < count && !(fabs(*number) > 0); k++)
    if (isfinite(all[k])) size = fmax(size, fabs(all[k]));
  if (!(size > 0)) return 1;
  (void)frexp(size, &exponent);
  return ldexp(1, exponent);
}

/* ---- initial values ---- */

/* The initial values from number `from` of a system on; the first one has the number `first` in its name, behind `stem`. */
static NsStatus add_initial_states(NsParameterList *list, const NsDs *ds, int from, int count, int first, const char *stem,
                                   NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < count && status == NS_OK; i++)
    status = ns_parameters_add(list, (NsParameter){.owner = ds, .state = from + i, .unit = 1}, err, "%s[%d]", stem, first + i);
  return status;
}

NsStatus ns_parameters_add_x0(NsParameterList *list, NsError *err) {
  NsStatus status = NS_OK;
  for (int d = 0, first = 1; d < list->nsds->nds && status == NS_OK; first += list->nsds->ds[d++]->n)
    status = add_initial_states(list, list->nsds->ds[d], 0, list->nsds->ds[d]->n, first, "x0", err);
  return status;
}

/* ---- z ---- */

/* Element i of a vector z, with the name of its owner in front. */
static NsStatus add_element_of_z(NsParameterList *list, double *z, int nz, int i, const char *stem, NsError *err) {
  NsParameter parameter = {.number = z + i, .unit = ns_parameter_unit(z + i, z, nz)};
  return ns_parameters_add(list, parameter, err, "%s%sz[%d]", stem, *stem ? "." : "", i + 1);
}

/* Adds a vector that is not among the parameters from `first` on. several: whether there is another one. */
static NsStatus add_own_z(NsParameterList *list, int first, double *z, int nz, const char *name, bool several, NsError *err) {
  NsStatus status = NS_OK;
  bool known = !z || nz == 0;
  for (int k = first; k < list->count; k++) known = known || list->of[k].number == z;
  for (int i = 0; i < nz && !known && status == NS_OK; i++) status = add_element_of_z(list, z, nz, i, several ? name : "", err);
  return status;
}

/* The number of different vectors z of the graph, up to 2. */
static int count_z(const NsNsds *nsds) {
  const double *one = NULL;
  int count = 0;
  for (int d = 0; d < nsds->nds; d++) {
    const double *z = nsds->ds[d]->z;
    if (z && z != one) count++, one = z;
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    const double *z = nsds->interactions[i]->relation->z;
    if (z && z != one) count++, one = z;
  }
  return count;
}

NsStatus ns_parameters_add_z(NsParameterList *list, NsError *err) {
  const NsNsds *nsds = list->nsds;
  bool several = count_z(nsds) > 1;
  int before = list->count;
  NsStatus status = NS_OK;
  for (int d = 0; d < nsds->nds && status == NS_OK; d++)
    status = add_own_z(list, before, nsds->ds[d]->z, nsds->ds[d]->nz, nsds->ds[d]->name, several, err);
  for (int i = 0; i < nsds->ninteractions && status == NS_OK; i++) {
    NsRelation *relation = nsds->interactions[i]->relation;
    status = add_own_z(list, before, relation->z, relation->nz, name_of_relation(nsds, relation), several, err);
  }
  if (status != NS_OK || list->count > before) return status;
  return ns_fail(err, NS_EARG, "%s: z: no system and no relation has parameters z", list->who);
}

/* ---- fields of objects ---- */

static bool is_parameter_field(const NsParameterOwner *o, const NsField *field) {
  if (field->type == NS_FIELD_COEF) return true;
  if (o->ds) return false;
  if (field->type == NS_FIELD_NUMBER) return true;
  if (field->type == NS_FIELD_POINT) return !(field->flags & NS_FIELD_STATE);
  return o->law && (field->type == NS_FIELD_VECTOR || field->type == NS_FIELD_MATRIX) && !(field->flags & NS_FIELD_HIDDEN);
}

/* *only: an optional index from 1 to `most`; 0: it is absent. */
static NsStatus take_index(const NsParameterList *list, const long long *index, int most, const char *field, int *only,
                           NsError *err) {
  *only = index ? (int)*index : 0;
  if (!index || (*index >= 1 && *index <= most)) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: %s: index %lld: expected 1..%d", list->who, field, *index, most);
}

/* The numbers of a coefficient; why they are no parameters. */
static NsStatus coefficient_numbers(const NsParameterList *list, const NsParameterOwner *o, const NsField *field, NsCoef *coef,
                                    double **data, NsError *err) {
  const char *who = list->who;
  if (!ns_coef_given(coef)) return ns_fail(err, NS_EARG, "%s: '%s' has no %s", who, o->name, field->name);
  if (coef->sparse)
    return ns_fail(err, NS_EARG, "%s: %s of '%s' is sparse; give it as a dense matrix", who, field->name, o->name);
  if (ns_coef_varies(coef))
    return ns_fail(err, NS_EARG, "%s: %s of '%s' is a function of time; let it depend on z and ask for z", who, field->name,
                   o->name);
  if (coef->source.live)
    return ns_fail(err, NS_EARG, "%s: %s of '%s' shows the state of another object", who, field->name, o->name);
  return *data = coef->value, NS_OK;
}

/* The numbers of a field, rows x cols; *version: of the coefficient. */
static NsStatus field_numbers(const NsParameterList *list, const NsParameterOwner *o, const NsField *field, double **data,
                              int *rows, int *cols, uint64_t **version, NsError *err) {
  void *place = ns_field_place(field, o->object);
  *rows = *cols = 1;
  *data = place;
  if (o->law && ns_law_field_varies(o->object, field))
    return ns_fail(err, NS_EARG, "%s: %s of '%s' is a function of %s; a parameter is a number", list->who, field->name, o->name,
                   ns_law_slides(o->object) ? "the slip" : "time");
  if (field->type == NS_FIELD_NUMBER) return NS_OK;
  if (field->type == NS_FIELD_POINT) return *rows = 3, NS_OK;
  if (field->type == NS_FIELD_COEF) {
    NsCoef *coef = place;
    *version = &coef->version;
    *rows = coef->rows, *cols = coef->cols > 0 ? coef->cols : 1;
    return coefficient_numbers(list, o, field, coef, data, err);
  }
  *rows = ns_field_rows(field, o->object);
  *cols = field->type == NS_FIELD_MATRIX ? ns_field_cols(field, o->object) : 1;
  *data = *(double **)place;
  return *data ? NS_OK : ns_fail(err, NS_EARG, "%s: '%s' has no %s", list->who, o->name, field->name);
}

/* Initial values by name: x0, and of mechanics q0 and velocity0. *found: the field is one. */
static NsStatus add_initial_field(NsParameterList *list, const NsParameterOwner *o, const char *field, const long long *index,
                                  bool *found, NsError *err) {
  bool mechanics = o->ds && ns_ds_family(o->ds) == NS_MECHANICS, velocity = mechanics && strcmp(field, "velocity0") == 0;
  bool coordinates = mechanics && strcmp(field, "q0") == 0;
  *found = velocity || coordinates || (o->ds && strcmp(field, "x0") == 0);
  if (!*found) return NS_OK;
  int from = velocity ? o->ds->nx : 0, count = coordinates ? o->ds->nx : o->ds->n - from, only;
  char stem[NS_PARAMETER_NAME];
  NsStatus status = take_index(list, index, count, field, &only, err);
  ns_print(stem, sizeof stem, "%s.%s", o->name, field);
  if (status != NS_OK) return status;
  return only > 0 ? add_initial_states(list, o->ds, from + only - 1, 1, only, stem, err)
                  : add_initial_states(list, o->ds, from, count, 1, stem, err);
}

/* z of a system or a relation. */
static NsStatus add_z_field(NsParameterList *list, const NsParameterOwner *o, const long long *index, NsError *err) {
  const NsRelation *relation = o->object;
  double *z = o->ds ? o->ds->z : relation->z;
  int nz = o->ds ? o->ds->nz : relation->nz, only;
  if (!z) return ns_fail(err, NS_EARG, "%s: '%s' has no z", list->who, o->name);
  NsStatus status = take_index(list, index, nz, "z", &only, err);
  for (int i = 0; i < nz && status == NS_OK; i++)
    if (only == 0 || i == only - 1) status = add_element_of_z(list, z, nz, i, o->name, err);
  return status;
}

/* Whether an entry in column j of the source has this number, `away` numbers behind its first one: the rows *from to *to, from 0. */
static bool rows_that_have(const NsCoef *coef, ptrdiff_t away, int j, int *from, int *to) {
  ptrdiff_t stride = coef->source.row_stride, rest = away - j * coef->source.col_stride;
  *from = 0, *to = coef->rows - 1;
  if (stride == 0) return rest == 0;
  if (rest % stride != 0 || rest / stride < 0 || rest / stride > *to) return false;
  return *from = *to = (int)(rest / stride), true;
}

/* Adds (copies NULL: counts) the entries of coefficients of `owner` that have a number from `source`, which is an element of the script's. */
static void add_copies(NsParameter *parameter, const double *source, const NsField *fields, void *owner) {
  for (const NsField *field = fields; field->name; field++) {
    NsCoef *coef = field->type == NS_FIELD_COEF ? ns_field_place(field, owner) : NULL;
    if (!coef || !coef->value || !coef->source.version || ns_coef_varies(coef)) continue;
    intptr_t bytes = (intptr_t)source - (intptr_t)coef->source.data, width = sizeof *source;
    int from, to;
    for (int j = 0; j < (coef->cols > 0 ? coef->cols : 1) && bytes % width == 0; j++) {
      if (!rows_that_have(coef, bytes / width, j, &from, &to)) continue;
      for (double *copy = coef->value + (ptrdiff_t)j * coef->rows + from; from <= to; from++, copy++) {
        if (copy == parameter->number) continue;
        if (parameter->copies) parameter->copies[parameter->ncopies] = (NsParameterCopy){copy, &coef->version, 0, owner};
        parameter->ncopies++;
      }
    }
  }
}

/* An interaction by its relation. */
typedef struct RelationUse {
  uintptr_t relation;
  int e;
} RelationUse;

static int by_relation(const void *a, const void *b) {
  const RelationUse *x = a, *y = b;
  return x->relation != y->relation ? (x->relation > y->relation) - (x->relation < y->relation) : (x->e > y->e) - (x->e < y->e);
}

/* Finds the interactions that are the first ones with their relation. NS_ENOMEM. */
static NsStatus find_first_uses(NsParameterList *list) {
  int count = list->nsds->ninteractions;
  if (list->first || count == 0) return NS_OK;
  RelationUse *uses = ns_arena_take(list->arena, (size_t)count, sizeof *uses);
  list->first = ns_arena_take(list->arena, (size_t)count, sizeof *list->first);
  if (!uses || !list->first) return NS_ENOMEM;
  for (int e = 0; e < count; e++) uses[e] = (RelationUse){(uintptr_t)list->nsds->interactions[e]->relation, e};
  qsort(uses, (size_t)count, sizeof *uses, by_relation);
  for (int k = 0; k < count; k++) list->first[uses[k].e] = k == 0 || uses[k].relation != uses[k - 1].relation;
  return NS_OK;
}

/* All copies of entry (i, j) of a coefficient that the script has given as an array that it keeps. NS_ENOMEM. */
static NsStatus find_copies(NsParameterList *list, NsParameter *parameter, const NsCoef *coef, int i, int j) {
  const NsNsds *nsds = list->nsds;
  const double *source = coef->source.data + i * coef->source.row_stride + j * coef->source.col_stride;
  parameter->copies = NULL, parameter->ncopies = 0;
  if (coef->source.version && find_first_uses(list) != NS_OK) return NS_ENOMEM;
  for (int pass = 0; pass < 2 && coef->source.version; pass++) {
    int count = parameter->ncopies + 1;
    if (pass > 0) parameter->copies = ns_arena_take(list->arena, (size_t)count, sizeof *parameter->copies);
    if (pass > 0 && !parameter->copies) return NS_ENOMEM;
    parameter->ncopies = 0;
    for (int d = 0; d < nsds->nds; d++) add_copies(parameter, source, nsds->ds[d]->class->model.fields, nsds->ds[d]);
    for (int e = 0; e < nsds->ninteractions; e++) {
      NsRelation *relation = nsds->interactions[e]->relation;
      if (list->first[e]) add_copies(parameter, source, relation->class->model.fields, relation);
    }
  }
  if (parameter->copies) parameter->copies[parameter->ncopies++] = (NsParameterCopy){.number = (double *)source};
  return NS_OK;
}

NsStatus ns_parameters_add_field(NsParameterList *list, const NsParameterOwner *o, const char *name,
                                 const long long *const index[2], NsError *err) {
  bool initial;
  NsStatus status = add_initial_field(list, o, name, index[0], &initial, err);
  if (initial || status != NS_OK) return status;
  if (!o->law && strcmp(name, "z") == 0) return add_z_field(list, o, index[0], err);
  const NsField *field = ns_field_find(o->fields, name);
  if (!field || !is_parameter_field(o, field))
    return ns_fail(err, NS_EARG, "%s: '%s' has no number '%s' that may be a parameter", list->who, o->name, name);
  NsParameter parameter = {.owner = o->object};
  int rows, cols, row = 0, col = 0;
  double *data;
  status = field_numbers(list, o, field, &data, &rows, &cols, &parameter.version, err);
  if (status == NS_OK) status = take_index(list, index[0], rows, name, &row, err);
  if (status == NS_OK) status = take_index(list, index[1], cols, name, &col, err);
  const double zero = 0, unit_of_zeros = status == NS_OK ? ns_parameter_unit(&zero, data, rows * cols) : 1;
  for (int k = 0; status == NS_OK && k < rows * cols; k++) {
    int i = k / cols, j = k % cols;
    if ((row > 0 && i != row - 1) || (col > 0 && j != col - 1)) continue;
    parameter.number = data + i + (ptrdiff_t)j * rows;
    parameter.unit = fabs(*parameter.number) > 0 ? ns_parameter_unit(parameter.number, NULL, 0) : unit_of_zeros;
    if (field->type == NS_FIELD_COEF) status = find_copies(list, &parameter, ns_field_place(field, o->object), i, j);
    if (status != NS_OK) return ns_fail(err, status, "%s", ns_status_message(status));
    if (field->cols > 0) status = ns_parameters_add(list, parameter, err, "%s.%s[%d][%d]", o->name, name, i + 1, j + 1);
    else if (field->type != NS_FIELD_NUMBER)
      status = ns_parameters_add(list, parameter, err, "%s.%s[%d]", o->name, name, i + 1);
    else status = ns_parameters_add(list, parameter, err, "%s.%s", o->name, name);
  }
  return status;
}

/* ---- numbers that move together ---- */

NsStatus ns_parameters_add_together(NsParameterList *list, const NsParameterList *numbers, const double *weights,
                                    const char *name, NsError *err) {
  NsParameterMove *moves = ns_arena_take(list->arena, (size_t)numbers->count, sizeof *moves);
  NsParameter parameter = {.number = ns_arena_doubles(list->arena, 1), .unit = INFINITY, .moves = moves};
  if (list->arena->failed) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  for (int k = 0; k < numbers->count; k++) {
    const NsParameter *number = &numbers->of[k];
    bool of_law = false;
    for (int i = 0; i < list->nsds->ninteractions; i++)
      of_law = of_law || (const void *)list->nsds->interactions[i]->law == number->owner;
    if (!number->number || of_law)
      return ns_fail(err, NS_EARG, "%s: %s: %s is %s, which moves alone", list->who, name, numbers->name[k],
                     of_law ? "a number of a law" : "an initial value");
    if (weights[k] == 0) continue;
    parameter.unit = fmin(parameter.unit, number->unit / fabs(weights[k]));
    moves[parameter.nmoves++] = (NsParameterMove){.of = *number, .weight = weights[k]};
  }
  if (parameter.nmoves == 0) return ns_fail(err, NS_EARG, "%s: %s: expected a weight other than 0", list->who, name);
  parameter.owner = moves[0].of.owner;
  if (!parameter.owner) parameter.owner = list->nsds->ds[0]; /* of z: it acts on the graph all the same */
  return ns_parameters_add(list, parameter, err, "%s", name);
}
