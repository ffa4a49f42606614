/*
** coef.c
** Coefficients: constant, shared, or functions of time.
*/
#include "model/coef.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/memory.h"
#include "linalg/small.h"

/* What coefficients watch that each update reads or computes anew: a number that none of them has seen. */
static const uint64_t always = UINT64_MAX;

bool ns_coef_entry(const NsCoef *coef, const double *number, int *i, int *j) {
  ptrdiff_t cols = coef->cols > 0 ? coef->cols : 1, count = coef->rows * cols;
  if (!coef->value || number < coef->value || number >= coef->value + count) return false;
  *i = (int)((number - coef->value) % coef->rows);
  *j = (int)((number - coef->value) / coef->rows);
  return true;
}

static NsStatus resize(NsCoef *coef, int rows, int cols) {
  coef->sparse = NULL;
  coef->seen = 0;
  if (coef->value && coef->rows == rows && coef->cols == cols) return NS_OK;
  double *value = ns_alloc((size_t)rows * (size_t)cols, sizeof *value);
  if (!value) return NS_ENOMEM;
  ns_free(coef->value);
  coef->value = value;
  coef->rows = rows;
  coef->cols = cols;
  return NS_OK;
}

static void read_source(NsCoef *coef) {
  const NsSource *s = &coef->source;
  for (int j = 0; j < coef->cols; j++)
    for (int i = 0; i < coef->rows; i++)
      coef->value[i + (size_t)j * (size_t)coef->rows] = s->data[i * s->row_stride + j * s->col_stride];
  coef->seen = s->version ? *s->version : 0;
  coef->version++;
}

/* Whether the numbers of a source are unchanged since they were last read. */
static bool is_as_read(const NsCoef *coef) {
  const NsSource *s = &coef->source;
  if (!s->live) return !s->version || *s->version == coef->seen;
  for (int j = 0; j < coef->cols; j++)
    for (int i = 0; i < coef->rows; i++)
      if (coef->value[i + (size_t)j * (size_t)coef->rows] != s->data[i * s->row_stride + j * s->col_stride]) return false;
  return true;
}

NsStatus ns_coef_set(NsCoef *coef, int rows, int cols, NsSource source) {
  NsStatus status = resize(coef, rows, cols);
  if (status != NS_OK) return status;
  coef->source = source;
  coef->watched = source.live ? &always : source.version;
  coef->function = (NsFunction){0};
  read_source(coef);
  return NS_OK;
}

void ns_coef_set_sparse(NsCoef *coef, const NsSparse *matrix) {
  ns_coef_clear(coef);
  coef->sparse = matrix;
  coef->rows = matrix->rows;
  coef->cols = matrix->cols;
}

NsStatus ns_coef_set_function(NsCoef *coef, int rows, int cols, NsFunction function) {
  NsStatus status = resize(coef, rows, cols);
  if (status != NS_OK) return status;
  coef->source = (NsSource){0};
  coef->watched = &always;
  coef->function = function;
  coef->version++;
  return NS_OK;
}

void ns_coef_freeze(NsCoef *coef) {
  coef->watched = coef->source.version = NULL;
  coef->source.live = false;
  coef->function = (NsFunction){0};
}

void ns_coef_clear(NsCoef *coef) {
  uint64_t version = coef->version + 1;
  ns_free(coef->value);
  *coef = (NsCoef){.version = version};
}

static NsStatus check_finite(const NsCoef *coef, NsCoefName name, NsError *err) {
  for (int j = 0; j < coef->cols; j++)
    for (int i = 0; i < coef->rows; i++) {
      double v = coef->value[i + (size_t)j * (size_t)coef->rows];
      if (isfinite(v)) continue;
      const char *word = ns_word_of_number(v);
      if (coef->cols == 1)
        return ns_fail(err, NS_ENAN, "%s '%s': %s[%d] is %s", name.noun, name.owner, name.letter, i + 1, word);
      return ns_fail(err, NS_ENAN, "%s '%s': %s[%d][%d] is %s", name.noun, name.owner, name.letter, i + 1, j + 1, word);
    }
  return NS_OK;
}

static NsStatus coef_evaluate(NsCoef *coef, NsCoefName name, double t, const double *z, NsError *err) {
  memset(coef->value, 0, (size_t)coef->rows * (size_t)coef->cols * sizeof(double));
  coef->version++;
  NsStatus status = ns_callback_status(coef->function.value(coef->function.context, t, &z, coef->value));
  if (status == NS_OK) return check_finite(coef, name, err);
  return ns_fail(err, status, "%s '%s': %s failed at t=%g", name.noun, name.owner, name.letter, t);
}

NsStatus ns_coef_update(NsCoef *coef, NsCoefName name, double t, const double *z, NsError *err) {
  if (coef->function.value) return coef_evaluate(coef, name, t, z, err);
  if (is_as_read(coef)) return NS_OK;
  read_source(coef);
  NsStatus status = check_finite(coef, name, err);
  if (status != NS_OK && coef->source.version)
    coef->seen = *coef->source.version - 1; /* the next update reads and rejects the numbers again */
  return status;
}

void ns_coef_add_to(const NsCoef *coef, double factor, double *block, int ld) {
  const NsSparse *s = coef->sparse;
  for (int j = 0; s && j < s->cols; j++)
    for (int p = s->colptr[j]; p < s->colptr[j + 1]; p++) block[s->row[p] + (size_t)j * (size_t)ld] += factor * s->value[p];
  for (int j = 0; coef->value && j < coef->cols; j++)
    for (int i = 0; i < coef->rows; i++)
      block[i + (size_t)j * (size_t)ld] += factor * coef->value[i + (size_t)j * (size_t)coef->rows];
}

void ns_coef_dense_multiply_add(const NsCoef *coef, double factor, const double *v, double *out) {
#define MULTIPLY(n) ns_small_multiply_add(coef->value, factor, v, out, n, coef->cols)
  NS_SMALL_OR_BODY_SWITCH(coef->rows, MULTIPLY)
}

void ns_coef_add_sizes(const NsCoef *coef, const double *v, double *out) {
  const NsSparse *A = coef->sparse;
  for (int j = 0; A && j < A->cols; j++)
    for (int k = A->colptr[j]; k < A->colptr[j + 1]; k++) out[A->row[k]] += fabs(A->value[k] * v[j]);
  for (int j = 0; coef->value && j < coef->cols; j++) {
    const double *column = coef->value + (size_t)j * (size_t)coef->rows;
    for (int i = 0; i < coef->rows; i++) out[i] += fabs(column[i] * v[j]);
  }
}
