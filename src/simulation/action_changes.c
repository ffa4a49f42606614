/*
** action_changes.c
** Comparison of what actions may change in a model before and after them, one field after the other.
*/
#include "simulation/action_changes.h"

#include <string.h>

#include "base/memory.h"

/* ---- copies ---- */

static NsStatus action_copy(NsActionCopy *copy, const void *data, size_t size) {
  if (size > copy->room) {
    char *bytes = ns_resize(copy->bytes, size, 1);
    if (!bytes) return NS_ENOMEM;
    copy->bytes = bytes;
    copy->room = size;
  }
  if (size > 0) memcpy(copy->bytes, data, size);
  copy->size = size;
  return NS_OK;
}

static bool action_copy_is(const NsActionCopy *copy, const void *data, size_t size) {
  return copy->size == size && (size == 0 || memcmp(copy->bytes, data, size) == 0);
}

/* ---- the fields ---- */

static NsCoef *changed_coef(const NsActionChange *c) {
  return c->field->type == NS_FIELD_COEF ? ns_field_place(c->field, c->object) : NULL;
}

/* The present bytes of the field. A coefficient that is absent, sparse, a function, or the state of another object has none. */
static void *changed_data(const NsActionChange *c, size_t *size) {
  NsCoef *coef = changed_coef(c);
  *size = 0;
  if (!coef) return ns_field_data(c->field, c->object, size);
  if (!coef->value || ns_coef_varies(coef) || coef->source.live) return NULL;
  if (!ns_coef_settled(coef)) { /* a script has written into its source */
    NsError unheard;
    (void)ns_coef_update(coef, (NsCoefName){c->noun, c->name, c->field->name}, 0, NULL, &unheard);
  }
  *size = (size_t)coef->rows * (size_t)coef->cols * sizeof(double);
  return coef->value;
}

static bool holds_doubles(const NsActionChange *c) {
  return c->field->type == NS_FIELD_COEF || c->field->type == NS_FIELD_NUMBER || ns_field_is_array(c->field);
}

static void free_change(NsActionChange *c) {
  NsActionCopy *copies[] = {&c->now, &c->before, &c->left, &c->touched};
  for (int i = 0; i < 4; i++) ns_free(copies[i]->bytes);
}

/* The change of this field in the list, which is taken from it; else a new one without changes. */
static NsActionChange take_change(NsActionChanges *old, const NsField *field, void *object) {
  for (int i = 0; i < old->count; i++) {
    NsActionChange found = old->of[i];
    if (found.field != field || found.object != object) continue;
    old->of[i] = (NsActionChange){0};
    return found;
  }
  return (NsActionChange){.field = field, .object = object};
}

/* Appends the fields of an object that actions may change, unless it is in the list already. */
static NsStatus list_object(NsActionChanges *list, NsActionChanges *old, const NsField *fields, void *object, bool law,
                            const char *noun, const char *name) {
  for (int i = 0; i < list->count; i++)
    if (list->of[i].object == object) return NS_OK;
  for (const NsField *field = fields; field->name; field++) {
    bool z = ns_field_is_array(field) && strcmp(field->name, "z") == 0 && !law;
    bool coef = field->type == NS_FIELD_COEF && !(field->flags & NS_FIELD_ALIAS);
    if (!(law ? (field->flags & NS_FIELD_STATE) != 0 : z || coef)) continue;
    NsActionChange *of = ns_resize(list->of, (size_t)list->count + 1, sizeof *of);
    if (!of) return NS_ENOMEM;
    list->of = of;
    of[list->count] = take_change(old, field, object);
    of[list->count].law = law;
    of[list->count].noun = noun, of[list->count++].name = name;
  }
  return NS_OK;
}

NsStatus ns_action_changes_list(NsActionChanges *changes, NsNsds *nsds) {
  NsActionChanges list = {.version = nsds->version + 1};
  NsStatus status = NS_OK;
  if (changes->version == list.version) return NS_OK;
  for (int i = 0; i < nsds->nds && status == NS_OK; i++) {
    NsDs *ds = nsds->ds[i];
    status = list_object(&list, changes, ds->class->model.fields, ds, false, NS_DS_NOUN, ds->name);
  }
  for (int i = 0; i < nsds->ninteractions && status == NS_OK; i++) {
    NsInteraction *inter = nsds->interactions[i];
    const NsField *fields = inter->relation->class->model.fields;
    status = list_object(&list, changes, inter->law->class->fields, inter->law, true, "law", inter->name);
    if (status == NS_OK) status = list_object(&list, changes, fields, inter->relation, false, NS_RELATION_NOUN, inter->name);
  }
  ns_action_changes_clear(changes);
  *changes = list;
  return status;
}

void ns_action_changes_clear(NsActionChanges *changes) {
  for (int i = 0; i < changes->count; i++) free_change(&changes->of[i]);
  ns_free(changes->of);
  *changes = (NsActionChanges){0};
}

/* ---- an action ---- */

NsStatus ns_action_changes_begin(NsActionChanges *changes, NsNsds *nsds) {
  NsStatus status = ns_action_changes_list(changes, nsds);
  for (int i = 0; i < changes->count && status == NS_OK; i++) {
    NsActionChange *c = &changes->of[i];
    size_t size;
    const void *data = changed_data(c, &size);
    status = action_copy(&c->now, data, size);
    if (!c->changed && changed_coef(c)) c->source = changed_coef(c)->source.data;
  }
  return status;
}

/* Notes which doubles the action has changed. */
static NsStatus touch_numbers(NsActionChange *c, const void *data, size_t size) {
  size_t n = size / sizeof(double);
  if (!holds_doubles(c)) return NS_OK;
  if (c->touched.size < n) {
    size_t had = c->touched.size;
    if (n > c->touched.room) {
      char *bytes = ns_resize(c->touched.bytes, n, 1);
      if (!bytes) return NS_ENOMEM;
      c->touched.bytes = bytes, c->touched.room = n;
    }
    memset(c->touched.bytes + had, 0, n - had);
    c->touched.size = n;
  }
  for (size_t k = 0; k < n; k++) {
    size_t at = k * sizeof(double);
    bool same = at + sizeof(double) <= c->now.size && memcmp(c->now.bytes + at, (const char *)data + at, sizeof(double)) == 0;
    if (!same) c->touched.bytes[k] = 1;
  }
  return NS_OK;
}

NsStatus ns_action_changes_end(NsActionChanges *changes) {
  NsStatus status = NS_OK;
  for (int i = 0; i < changes->count && status == NS_OK; i++) {
    NsActionChange *c = &changes->of[i];
    size_t size;
    const void *data = changed_data(c, &size);
    if (action_copy_is(&c->now, data, size)) continue;
    if (!c->changed) status = action_copy(&c->before, c->now.bytes, c->now.size);
    if (status == NS_OK) status = action_copy(&c->left, data, size);
    if (status == NS_OK) status = touch_numbers(c, data, size);
    c->changed = true;
  }
  return status;
}

/* The field becomes the copy. */
static void put_copy(NsActionChange *c, const NsActionCopy *copy, NsNsds *nsds) {
  NsCoef *coef = changed_coef(c);
  size_t size;
  void *data = changed_data(c, &size);
  if (coef && copy->size == 0) {
    if (size > 0) ns_coef_clear(coef), nsds->version++;
    return;
  }
  if (size != copy->size) return;
  if (size > 0) memcpy(data, copy->bytes, size);
  if (!coef) return;
  const NsSource *s = &coef->source;
  if (s->version && s->data == c->source) { /* the object that shares its numbers had them before: it gets them back */
    for (int j = 0; j < coef->cols; j++)
      for (int k = 0; k < coef->rows; k++)
        ((double *)(size_t)s->data)[k * s->row_stride + j * s->col_stride] = coef->value[k + (size_t)j * (size_t)coef->rows];
    coef->seen = ++*(uint64_t *)(size_t)s->version;
  } else {
    coef->source = (NsSource){0};
  }
  coef->version++;
}

void ns_action_changes_revert(NsActionChanges *changes, NsNsds *nsds) {
  for (int i = 0; i < changes->count; i++) {
    size_t size;
    const void *data = changed_data(&changes->of[i], &size);
    if (!action_copy_is(&changes->of[i].now, data, size)) put_copy(&changes->of[i], &changes->of[i].now, nsds);
  }
}

/* Undoes the changes of the numbers that are as the last action has left them. False: out of memory, or the field is no list of numbers. */
static bool undo_numbers(NsActionChange *c, NsNsds *nsds) {
  size_t size;
  const char *data = changed_data(c, &size);
  bool listed = holds_doubles(c) && c->left.size == size && c->before.size == size && c->touched.size == size / sizeof(double);
  if (!listed || action_copy(&c->now, data, size) != NS_OK) return false;
  for (size_t at = 0; at < size; at += sizeof(double))
    if (c->touched.bytes[at / sizeof(double)] && memcmp(data + at, c->left.bytes + at, sizeof(double)) == 0)
      memcpy(c->now.bytes + at, c->before.bytes + at, sizeof(double));
  if (!action_copy_is(&c->now, data, size)) put_copy(c, &c->now, nsds);
  return true;
}

void ns_action_changes_undo(NsActionChanges *changes, NsNsds *nsds) {
  for (int i = 0; i < changes->count; i++) {
    NsActionChange *c = &changes->of[i];
    size_t size;
    const void *data = changed_data(c, &size);
    if (c->changed && !undo_numbers(c, nsds) && action_copy_is(&c->left, data, size)) put_copy(c, &c->before, nsds);
    c->changed = false;
  }
}

/* ---- other simulations ---- */

NsStatus ns_action_changes_copy(const NsActionChanges *from, NsActionChanges *to, NsNsds *nsds) {
  NsStatus status = ns_action_changes_list(to, nsds);
  for (int i = 0; i < from->count && i < to->count && status == NS_OK; i++) {
    const NsActionChange *f = &from->of[i];
    NsActionChange *t = &to->of[i];
    t->changed = f->changed;
    status = action_copy(&t->before, f->before.bytes, f->before.size);
    if (status == NS_OK) status = action_copy(&t->left, f->left.bytes, f->left.size);
    if (status == NS_OK) status = action_copy(&t->touched, f->touched.bytes, f->touched.size);
  }
  return status;
}

void ns_action_changes_exchange(NsActionChanges *changes) {
  for (int i = 0; i < changes->count; i++) {
    NsActionChange *c = &changes->of[i];
    NsCoef *coef = changed_coef(c);
    if (!coef || !c->changed || ns_coef_varies(coef) || coef->sparse) continue;
    NsSource source = coef->source;
    double *value = coef->value;
    if (c->before.size == 0) coef->value = c->hidden, c->hidden = value;
    size_t size = (size_t)coef->rows * (size_t)coef->cols * sizeof *value;
    for (size_t k = 0; k < size && c->before.size == size; k++) {
      char byte = ((char *)value)[k];
      ((char *)value)[k] = c->before.bytes[k], c->before.bytes[k] = byte;
    }
    coef->source = c->aside, c->aside = source;
  }
}

/* ---- bytes ---- */

void ns_action_changes_write(const NsActionChanges *changes, NsVisitor visitor, void *context) {
  int count = 0;
  for (int i = 0; i < changes->count; i++) count += changes->of[i].changed;
  visitor(context, "changes", &count, sizeof count);
  for (int i = 0; i < changes->count; i++) {
    const NsActionChange *c = &changes->of[i];
    const NsActionCopy *copies[] = {&c->before, &c->left, &c->touched};
    if (!c->changed) continue;
    visitor(context, "change", &i, sizeof i);
    for (int k = 0; k < 3; k++) {
      visitor(context, "size", (void *)(size_t)&copies[k]->size, sizeof copies[k]->size);
      visitor(context, "bytes", copies[k]->bytes, copies[k]->size);
    }
  }
}

/* Takes `size` bytes, or sets *bad. */
static const char *take_bytes(const char **at, size_t *left, size_t size, bool *bad) {
  const char *here = *at;
  if (*bad || size > *left) return *bad = true, NULL;
  *at += size;
  *left -= size;
  return here;
}

/* A coefficient that actions have changed gets the numbers that the last of them has left. */
static NsStatus put_left(NsActionChange *c, NsNsds *nsds) {
  NsCoef *coef = changed_coef(c);
  if (!coef || c->left.size == 0) return NS_OK;
  int rows = ns_field_rows(c->field, c->object), cols = ns_field_cols(c->field, c->object);
  if (cols == 0) cols = 1;
  if (c->left.size != (size_t)rows * (size_t)cols * sizeof(double)) return NS_OK;
  if (!ns_coef_given(coef)) nsds->version++;
  return ns_coef_set(coef, rows, cols, (NsSource){.data = (const double *)(const void *)c->left.bytes, 1, rows, NULL, false});
}

/* Takes a copy of bytes, with its size before it; NULL: only looks at it. */
static NsStatus take_action_copy(NsActionCopy *copy, const char **at, size_t *left, bool *bad) {
  size_t size = 0;
  const char *bytes = take_bytes(at, left, sizeof size, bad);
  if (bytes) memcpy(&size, bytes, sizeof size);
  bytes = take_bytes(at, left, size, bad);
  return copy && !*bad ? action_copy(copy, bytes, size) : NS_OK;
}

NsStatus ns_action_changes_read(NsActionChanges *changes, NsNsds *nsds, bool apply, const char **at, size_t *left, bool *bad) {
  int count = 0, i = 0;
  NsStatus status = ns_action_changes_list(changes, nsds);
  const char *bytes = take_bytes(at, left, sizeof count, bad);
  if (bytes) memcpy(&count, bytes, sizeof count);
  for (int k = 0; k < changes->count && apply; k++) changes->of[k].changed = false;
  for (; count > 0 && status == NS_OK && !*bad; count--) {
    if ((bytes = take_bytes(at, left, sizeof i, bad))) memcpy(&i, bytes, sizeof i);
    *bad = *bad || i < 0 || i >= changes->count;
    NsActionChange *c = *bad ? NULL : &changes->of[i];
    NsActionCopy *copies[] = {&c->before, &c->left, &c->touched};
    for (int k = 0; k < 3 && status == NS_OK && !*bad; k++) status = take_action_copy(apply ? copies[k] : NULL, at, left, bad);
    if (apply && status == NS_OK && !*bad) c->changed = true, status = put_left(c, nsds);
  }
  return status;
}

/* ---- numbers ---- */

bool ns_action_changes_next(const NsActionChanges *changes, int *c, int *k, const NsActionChange **other) {
  for (; *c < changes->count; ++*c, *k = -1) {
    const NsActionChange *change = &changes->of[*c];
    if (!change->changed) continue;
    if (*k < 0 && (!holds_doubles(change) || change->before.size != change->left.size)) *other = change;
    while (++*k < (int)change->touched.size)
      if (change->touched.bytes[*k]) return true;
  }
  return false;
}

double *ns_action_changes_number(const NsActionChanges *changes, int c, int k, uint64_t **version) {
  size_t size;
  if (c >= changes->count) return NULL;
  double *numbers = changed_data(&changes->of[c], &size);
  NsCoef *coef = changed_coef(&changes->of[c]);
  *version = coef ? &coef->version : NULL;
  return (size_t)k < size / sizeof(double) ? numbers + k : NULL;
}
