/*
** field.c
** Walks over tables of fields.
*/
#include "base/field.h"

#include <string.h>

/* The number of bytes of a field that is no array, by type. */
static const size_t scalar_bytes[NS_FIELD_CALLBACK + 1] = {
    [NS_FIELD_NUMBER] = sizeof(double), [NS_FIELD_COUNT] = sizeof(int), [NS_FIELD_FLAG] = sizeof(bool),
    [NS_FIELD_WORD] = sizeof(int),      [NS_FIELD_LONG] = sizeof(long), [NS_FIELD_POINT] = 3 * sizeof(double),
    [NS_FIELD_METHOD] = sizeof(void *)};

const NsField *ns_field_find(const NsField *fields, const char *name) {
  size_t length = strcspn(name, "?");
  for (; fields->name; fields++)
    if (strlen(fields->name) == length && memcmp(fields->name, name, length) == 0) return fields;
  return NULL;
}

bool ns_field_is_array(const NsField *field) {
  return field->type == NS_FIELD_VECTOR || field->type == NS_FIELD_MATRIX;
}

static int int_at(const void *object, size_t offset) {
  return *(const int *)((const char *)object + offset);
}

int ns_field_rows(const NsField *field, const void *object) {
  bool several = ns_field_is_array(field) || field->type == NS_FIELD_INDICES || field->type == NS_FIELD_COEF;
  return several ? int_at(object, field->rows) : field->type == NS_FIELD_POINT ? 3 : 1;
}

int ns_field_cols(const NsField *field, const void *object) {
  if (field->type == NS_FIELD_COEF) return field->cols ? int_at(object, field->cols) : 0;
  return field->type == NS_FIELD_MATRIX ? int_at(object, field->cols) : 1;
}

void *ns_field_data(const NsField *field, const void *object, size_t *bytes) {
  void *at = ns_field_place(field, object);
  size_t one = field->type == NS_FIELD_INDICES ? sizeof(int) : sizeof(double);
  *bytes = field->type == NS_FIELD_TEXT ? field->rows : scalar_bytes[field->type];
  if (!ns_field_is_array(field) && field->type != NS_FIELD_INDICES) return at;
  void *array = *(void **)at;
  *bytes = array ? (size_t)ns_field_rows(field, object) * (size_t)ns_field_cols(field, object) * one : 0;
  return array;
}

bool ns_field_make(const NsField *field, void *object, NsArena *arena) {
  double **array = (double **)(void *)((char *)object + field->offset);
  if (!ns_field_is_array(field) || *array) return true;
  *array = ns_arena_matrix(arena, ns_field_rows(field, object), ns_field_cols(field, object));
  return *array != NULL;
}

bool ns_fields_copy(const NsField *fields, const void *from, void *to, NsArena *arena) {
  for (; fields->name; fields++) {
    size_t bytes, room;
    if (fields->flags & NS_FIELD_ALIAS) continue;
    const void *data = ns_field_data(fields, from, &bytes);
    if (data && !ns_field_make(fields, to, arena)) return false;
    if (bytes > 0) memcpy(ns_field_data(fields, to, &room), data, bytes);
  }
  return true;
}

void ns_fields_clear(const NsField *fields, void *object, unsigned flag) {
  for (; fields->name; fields++) {
    size_t bytes;
    void *data = fields->flags & flag ? ns_field_data(fields, object, &bytes) : NULL;
    if (data) memset(data, 0, bytes);
  }
}

void ns_fields_walk(const NsField *fields, void *object, unsigned flag,
                    void (*visitor)(void *context, const char *name, void *data, size_t bytes), void *context) {
  for (; fields->name; fields++) {
    size_t bytes;
    void *data = fields->flags & flag ? ns_field_data(fields, object, &bytes) : NULL;
    if (data) visitor(context, fields->name, data, bytes);
  }
}
