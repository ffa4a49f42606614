/*
** solution_pieces.c
** Keeps the smooth pieces of a run, and evaluates them.
*/
#include "simulation/solution_pieces.h"

#include <string.h>

#include "base/memory.h"
#include "ode/bernstein.h"
#include "ode/event_search.h"

NsStatus ns_solution_pieces_begin(NsSolutionPieces *pieces, const NsStepDense *dense, const int *column) {
  NsPieceList *list = ns_resize(pieces->list, (size_t)(pieces->count + dense->count), sizeof *list);
  if (!list) return NS_ENOMEM;
  pieces->list = list;
  pieces->open = pieces->count;
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    NsPieceList *l = &list[pieces->count];
    *l = (NsPieceList){.ncols = c->ncols, .column = ns_alloc((size_t)c->ncols, sizeof *l->column)};
    if (!l->column) return NS_ENOMEM;
    pieces->count++;
    for (int k = 0; k < c->ncols; k++) l->column[k] = column[c->place[k]];
  }
  return NS_OK;
}

NsStatus ns_solution_pieces_add(NsSolutionPieces *pieces, const NsStepDense *dense) {
  for (int i = 0; i < dense->count; i++) {
    const NsIslandDense *c = &dense->of[i];
    NsPieceList *l = &pieces->list[pieces->open + i];
    size_t size = (size_t)c->ncols * NS_BERNSTEIN_SIZE, more = (size_t)c->npieces;
    if (l->count + c->npieces > l->room) {
      long room = 2 * l->room + c->npieces + 8;
      double *spans = ns_resize(l->spans, 2 * (size_t)room, sizeof *spans);
      if (spans) l->spans = spans;
      double *values = spans ? ns_resize(l->values, (size_t)room * size, sizeof *values) : NULL;
      if (!values) return NS_ENOMEM;
      l->values = values;
      l->room = room;
    }
    if (more == 0) continue;
    memcpy(l->spans + 2 * l->count, c->spans, 2 * more * sizeof *l->spans);
    memcpy(l->values + (size_t)l->count * size, c->pieces, more * size * sizeof *l->values);
    l->count += c->npieces;
  }
  return NS_OK;
}

/* The piece of a list with t_old <= t <= t_end; -1: there is none. */
static long piece_around(const NsPieceList *l, double t) {
  long low = 0, high = l->count;
  while (low < high) {
    long middle = low + (high - low) / 2;
    if (l->spans[2 * middle + 1] >= t) high = middle;
    else low = middle + 1;
  }
  return low < l->count && l->spans[2 * low] <= t ? low : -1;
}

void ns_solution_pieces_at(const NsSolutionPieces *pieces, double t, double *values, bool *known) {
  for (int i = 0; i < pieces->count; i++) {
    const NsPieceList *l = &pieces->list[i];
    long p = piece_around(l, t);
    if (p < 0) continue;
    const double *nodes = l->values + (size_t)p * (size_t)l->ncols * NS_BERNSTEIN_SIZE;
    for (int k = 0; k < l->ncols; k++) {
      if (l->column[k] < 0) continue;
      NsDenseNodes one = {1, l->ncols, l->spans[2 * p], l->spans[2 * p + 1], nodes + k};
      NsDenseOutput dense = ns_dense_of_nodes(&one);
      (void)dense.at(dense.context, t, &values[l->column[k]], NULL);
      known[l->column[k]] = true;
    }
  }
}

void ns_solution_pieces_free(NsSolutionPieces *pieces) {
  for (int i = 0; i < pieces->count; i++) {
    ns_free(pieces->list[i].column);
    ns_free(pieces->list[i].spans);
    ns_free(pieces->list[i].values);
  }
  ns_free(pieces->list);
  *pieces = (NsSolutionPieces){0};
}
