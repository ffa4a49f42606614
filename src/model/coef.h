/*
** coef.h
** A coefficient of a model (a matrix or a vector): absent, constant, shared with its owner, or a function of time.
*/
#ifndef NS_MODEL_COEF_H
#define NS_MODEL_COEF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/function.h"
#include "linalg/sparse.h"

/*
** Where the numbers of a coefficient come from: entry (i, j) is data[i * row_stride + j * col_stride]. With a
** `version` the numbers may change later: whoever changes one adds 1 to *version, and the next ns_coef_update sees
** it. Numbers that are `live` are the state of another object, which a step changes without a word: each update compares them.
*/
typedef struct NsSource {
  const double *data;
  ptrdiff_t row_stride, col_stride;
  const uint64_t *version; /* NULL: read once */
  bool live;
} NsSource;

/*
** A rows x cols coefficient: `value` (column-major, contiguous) or `sparse` is what the engine computes with; both
** are NULL while the coefficient is absent. `version` counts the changes. A zero-initialised coefficient is absent
** and valid.
*/
typedef struct NsCoef {
  double *value;
  const NsSparse *sparse; /* borrowed, never changed */
  int rows, cols;
  uint64_t version;
  NsSource source;
  uint64_t seen;       /* *source.version at the last update */
  NsFunction function; /* of time: args[0] = z; value is rows x cols, column-major */
} NsCoef;

/* Whose coefficient it is, for messages: "relation", "clutch", "C" make "relation 'clutch': C[1][2] is nan". */
typedef struct NsCoefName {
  const char *noun, *owner, *letter;
} NsCoefName;

/* Whether the coefficient is given. */
bool ns_coef_given(const NsCoef *coef);

/* Whether it is a function of time. */
bool ns_coef_varies(const NsCoef *coef);

/* Gives it rows x cols numbers, read now and, if the source has a version, after each change. NS_ENOMEM. */
NsStatus ns_coef_set(NsCoef *coef, int rows, int cols, NsSource source);

/* Gives it a sparse matrix, which must live until the coefficient is set anew or cleared. */
void ns_coef_set_sparse(NsCoef *coef, const NsSparse *matrix);

/* Makes it a function of time. NS_ENOMEM. */
NsStatus ns_coef_set_function(NsCoef *coef, int rows, int cols, NsFunction function);

/* Makes it absent; also frees it. */
void ns_coef_clear(NsCoef *coef);

/*
** Brings value up to date: re-reads a source that changed, evaluates a function at t. NS_ENAN names the entry;
** NS_ECALLBACK when the function fails. Cheap when nothing changed.
*/
NsStatus ns_coef_update(NsCoef *coef, NsCoefName name, double t, const double *z, NsError *err);

/* Whether ns_coef_update has nothing to do: not given, sparse, or constant with a source that was not written since. */
static inline bool ns_coef_settled(const NsCoef *coef) {
  bool constant = !coef->function.value && !coef->source.live;
  return !coef->value || (constant && (!coef->source.version || *coef->source.version == coef->seen));
}

/* block (leading dimension ld) += factor * the coefficient; nothing when absent. */
void ns_coef_add_to(const NsCoef *coef, double factor, double *block, int ld);

/* out += factor * value * v; nothing when absent. */
void ns_coef_multiply_add(const NsCoef *coef, double factor, const double *v, double *out);

/* out_i += sum_j |c_ij v_j|; nothing when absent. */
void ns_coef_add_sizes(const NsCoef *coef, const double *v, double *out);

#endif
