/*
** heap_order.c
** The order in which a heap's groups are solved.
*/
#include "solvers/contact/heap_order.h"

#include <stdlib.h>
#include <string.h>

typedef struct HeapGraph {
  const NsMixedProblem *p;
  const int *first, *of;
  int *degree, *mark; /* ngroups: number of neighbours; the last visit */
  int visit;
} HeapGraph;

/* Appends the neighbours of g without the mark of this visit to list, which has `count`; list NULL: counts them. Returns the new count. */
static int heap_neighbours(HeapGraph *s, int g, int *list, int count) {
  const NsSparse *W = s->p->sparse;
  for (int k = W->colptr[s->first[g]], end = W->colptr[s->first[g] + s->p->groups[g].dim]; k < end; k++) {
    int h = s->of[W->row[k]];
    if (s->mark[h] == s->visit || W->value[k] == 0) continue;
    s->mark[h] = s->visit;
    if (list) list[count] = h;
    count++;
  }
  return count;
}

/* Sorts list by degree; groups of equal degree keep their order. Lists are short. */
static void sort_by_degree(const HeapGraph *s, int *list, int count) {
  for (int k = 1; k < count; k++) {
    int g = list[k], at = k;
    for (; at > 0 && s->degree[list[at - 1]] > s->degree[g]; at--) list[at] = list[at - 1];
    list[at] = g;
  }
}

/* Visits the groups that can be reached from `start`, breadth first; returns their number. */
static int heap_visit(HeapGraph *s, int start, int *list) {
  int count = 1;
  s->visit++;
  s->mark[start] = s->visit;
  list[0] = start;
  for (int k = 0; k < count; k++) {
    int from = count;
    count = heap_neighbours(s, list[k], list, count);
    sort_by_degree(s, list + from, count - from);
  }
  return count;
}

void ns_heap_order(const NsMixedProblem *p, const int *first, const int *of, int count, int *group, int *room) {
  HeapGraph s = {.p = p, .first = first, .of = of, .degree = room, .mark = room + p->ngroups};
  int *list = room + 2 * (size_t)p->ngroups, start = group[0];
  memset(s.mark, 0, (size_t)p->ngroups * sizeof *s.mark);
  for (int k = 0; k < count; k++) {
    s.visit++;
    s.degree[group[k]] = heap_neighbours(&s, group[k], NULL, 0);
    if (s.degree[group[k]] < s.degree[start]) start = group[k];
  }
  if (heap_visit(&s, start, list) != count) return; /* W couples some groups in one direction only: they stay as they are */
  if (heap_visit(&s, list[count - 1], list) == count) memcpy(group, list, (size_t)count * sizeof *group);
}
