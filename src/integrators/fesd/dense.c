/*
** dense.c
** Tells the dense output of an accepted step (NsDenseSink): each finite element is a smooth piece, and between elements with different
** modes there are the values before and after the switch. Between nodes states and outputs are the polynomials through the
** start, the stages and the end, multipliers of active rows those through the stages.
*/
#include <string.h>

#include "integrators/fesd/fesd.h"
#include "ode/bernstein.h"

/* The distinct nodes of an element, from `begin` on: their indices and places. Returns how many there are. */
static int distinct_nodes(const NsFesd *w, int begin, int *index, double *place) {
  int n = 0;
  for (int k = begin; k <= w->tableau.s + 1; k++) {
    if (n > 0 && w->node[k] == place[n - 1]) continue;
    index[n] = k;
    place[n++] = w->node[k];
  }
  return n;
}

void ns_fesd_interpolate(const NsFesd *w, int begin, double place, int count, const double *values, double *out) {
  int index[NS_FESD_NODES];
  double node[NS_FESD_NODES] = {0}, weight[NS_FESD_NODES];
  int n = distinct_nodes(w, begin, index, node);
  ns_tableau_weights(n, node, place, weight);
  memset(out, 0, (size_t)count * sizeof *out);
  for (int k = 0; k < n; k++)
    for (int i = 0; i < count; i++) out[i] += weight[k] * values[(size_t)index[k] * (size_t)count + (size_t)i];
}

/* Writes the row of an element at a place in [0, 1]: x, lambda, y. */
static NsStatus fesd_dense_element(NsFesd *w, const NsFesdElement *e, double place, double *row, NsError *err) {
  NsStatus status = ns_fesd_bounds(w, e->t + place * e->h, w->guess.lower, w->guess.upper, err);
  ns_fesd_interpolate(w, 0, place, w->N, e->x, row);
  ns_fesd_interpolate(w, 1, place, w->m, e->lambda, row + w->N);
  ns_fesd_interpolate(w, 0, place, w->m, e->y, row + w->N + w->m);
  for (int a = 0; a < w->m; a++) {
    if (e->mode[a] == MODE_LOWER) row[w->N + a] = w->guess.lower[a];
    if (e->mode[a] == MODE_UPPER) row[w->N + a] = w->guess.upper[a];
  }
  return status;
}

static NsStatus fesd_dense_switch(NsFesd *w, const NsDenseSink *sink, const NsFesdElement *from, const NsFesdElement *to,
                                  NsError *err) {
  bool same = to->t == from->t + from->h && memcmp(from->mode, to->mode, (size_t)w->m * sizeof *to->mode) == 0;
  if (same) return NS_OK;
  NsStatus status = fesd_dense_element(w, from, 1, w->values, err);
  if (status == NS_OK) status = sink->side(sink->context, from->t + from->h, w->values, err);
  if (status == NS_OK) status = fesd_dense_element(w, to, 0, w->values, err);
  return status == NS_OK ? sink->side(sink->context, to->t, w->values, err) : status;
}

static NsStatus fesd_dense_piece(NsFesd *w, const NsDenseSink *sink, const NsFesdElement *e, double end, NsError *err) {
  int columns = w->N + 2 * w->m;
  NsStatus status = NS_OK;
  for (int j = 0; j < NS_BERNSTEIN_SIZE && status == NS_OK; j++)
    status = fesd_dense_element(w, e, ns_bernstein_node(j), w->values + (ptrdiff_t)j * columns, err);
  return status != NS_OK ? status : sink->piece(sink->context, e->t, end, w->values, NULL, err);
}

NsStatus ns_fesd_dense(NsFesd *w, const NsDenseSink *sink, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < w->count && status == NS_OK; i++) {
    const NsFesdElement *e = w->elements[i];
    double end = i + 1 < w->count ? e->t + e->h : w->t_end;
    if (sink->piece) status = fesd_dense_piece(w, sink, e, end, err);
    if (status == NS_OK && i + 1 < w->count) status = fesd_dense_switch(w, sink, e, w->elements[i + 1], err);
  }
  return status;
}
