/*
** triplets.c
** Collects the entries of a sparse matrix.
*/
#include "integrators/triplets.h"

void ns_triplets_put(NsTriplets *t, int i, int j, double v) {
  if (t->i) {
    t->i[t->count] = i;
    t->j[t->count] = j;
    t->v[t->count] = v;
  }
  t->count++;
}

static void triplets_put(NsTriplets *t, int row, int col, int i, int j, double v, bool transposed) {
  ns_triplets_put(t, row + (transposed ? j : i), col + (transposed ? i : j), v);
}

void ns_triplets_put_coef(NsTriplets *t, const NsCoef *c, double factor, NsRectangle part, int row, int col, bool transposed) {
  const NsSparse *s = c->sparse;
  for (int j = 0; s && j < part.cols; j++)
    for (int p = s->colptr[part.col + j]; p < s->colptr[part.col + j + 1]; p++) {
      int i = s->row[p] - part.row;
      if (i >= 0 && i < part.rows) triplets_put(t, row, col, i, j, factor * s->value[p], transposed);
    }
  for (int j = 0; c->value && j < part.cols; j++)
    for (int i = 0; i < part.rows; i++) {
      double v = c->value[part.row + i + (size_t)(part.col + j) * (size_t)c->rows];
      if (v != 0) triplets_put(t, row, col, i, j, factor * v, transposed);
    }
}

NsStatus ns_triplets_form(NsSparse **out, int n, void (*fill)(const void *context, NsTriplets *t), const void *context) {
  NsArena room = {0};
  NsTriplets t = {0};
  NsSparse *matrix = NULL;
  fill(context, &t);
  ptrdiff_t count = t.count;
  t = (NsTriplets){0, ns_arena_ints(&room, count), ns_arena_ints(&room, count), ns_arena_doubles(&room, count)};
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  if (status == NS_OK) {
    fill(context, &t);
    status = ns_sparse_from_triplets(&matrix, n, n, count, t.i, t.j, t.v);
  }
  ns_arena_release(&room);
  if (status != NS_OK) return status;
  ns_sparse_free(*out);
  *out = matrix;
  return NS_OK;
}
