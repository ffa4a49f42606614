/*
** coef.h
** A coefficient of a model (a matrix or a vector): absent, constant, shared with its owner, or a function of time.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/function.h"
#include "linalg/sparse.h"

/*
** The source of a coefficient's numbers, borrowed: entry (i, j) is data[i * row_stride + j * col_stride]. If `version` is
** given, whoever changes a number adds 1 to *version, and the next ns_coef_update reads the numbers again. `live`: the numbers
** are the state of another object, which steps change without a version; each update compares them.
*/
typedef struct NsSource {
  const double *data;
  ptrdiff_t row_stride, col_stride;
  const uint64_t *version; /* NULL: read once */
  bool live;
} NsSource;

/*
** A rows x cols coefficient. The engine computes with `value` (column-major, contiguous) or with `sparse`; both are NULL while
** the coefficient is absent. `version` counts the changes. A zero-initialised coefficient is valid and absent.
*/
typedef struct NsCoef {
  double *value;
  const NsSparse *sparse; /* borrowed, never changed */
  int rows, cols;
  uint64_t version;
  NsSource source;
  const uint64_t *watched; /* source.version, or of the coefficients that each update reads anew; NULL: nothing can change it */
  uint64_t seen;           /* *watched at the last update */
  NsFunction function;     /* of time: args[0] = z; value is rows x cols, column-major */
} NsCoef;

/* The coefficient's name in messages: "relation", "clutch", "C" make "relation 'clutch': C[1][2] is nan". */
typedef struct NsCoefName {
  const char *noun, *owner, *letter;
} NsCoefName;

/* Whether the coefficient is given. */
static inline bool ns_coef_given(const NsCoef *coef) {
  return coef->value || coef->sparse;
}

/* Whether `number` is one of its numbers (not of a sparse matrix): entry (*i, *j), counted from 0; a vector has the column 0. */
bool ns_coef_entry(const NsCoef *coef, const double *number, int *i, int *j);

/* Whether it is a function of time. */
static inline bool ns_coef_varies(const NsCoef *coef) {
  return coef->function.value != NULL;
}

/* Sets rows x cols numbers; the source is read now and, if it has a version or is live, after each change. NS_ENOMEM. */
NsStatus ns_coef_set(NsCoef *coef, int rows, int cols, NsSource source);

/* Sets a sparse matrix, borrowed until the coefficient is set again or cleared. */
void ns_coef_set_sparse(NsCoef *coef, const NsSparse *matrix);

/* Makes it a function of time. NS_ENOMEM. */
NsStatus ns_coef_set_function(NsCoef *coef, int rows, int cols, NsFunction function);

/* Keeps the present numbers, whatever they were read or computed from. */
void ns_coef_freeze(NsCoef *coef);

/* Frees the numbers; the coefficient is absent then. */
void ns_coef_clear(NsCoef *coef);

/*
** Brings `value` up to date: reads a changed source again, or evaluates the function at t. NS_ENAN (the message names the
** entry), NS_ECALLBACK.
*/
NsStatus ns_coef_update(NsCoef *coef, NsCoefName name, double t, const double *z, NsError *err);

/* Whether ns_coef_update has nothing to do: absent, sparse, or constant with an unchanged source. */
static inline bool ns_coef_settled(const NsCoef *coef) {
  return !coef->watched || *coef->watched == coef->seen;
}

/* block (leading dimension ld) += factor * the coefficient; an absent coefficient adds nothing. */
void ns_coef_add_to(const NsCoef *coef, double factor, double *block, int ld);

/* out += factor * the matrix * v, for a coefficient with numbers (`value`). */
void ns_coef_dense_multiply_add(const NsCoef *coef, double factor, const double *v, double *out);

/* out += factor * value * v; an absent coefficient adds nothing. */
static inline void ns_coef_multiply_add(const NsCoef *coef, double factor, const double *v, double *out) {
  if (coef->value) ns_coef_dense_multiply_add(coef, factor, v, out);
  else if (coef->sparse) ns_sparse_gemv(factor, coef->sparse, v, 1, out);
}

/* out_i += sum_j |c_ij v_j|; an absent coefficient adds nothing. */
void ns_coef_add_sizes(const NsCoef *coef, const double *v, double *out);
