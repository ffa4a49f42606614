/*
** flush.c
** Which solids of one owner lie beside each other with faces in one plane, and their flat parts.
*/
#include "contact/flush.h"

#include <stdlib.h>

#include "base/memory.h"

/* Parts of the size of the smaller solid, and of the distance from the origin, within which faces are in one plane: some roundings of places. */
static const double level = 1e-9, place_rounding = 1e-13;

/* A part in the order of the search: its owner, and where its ball begins along the first axis. */
typedef struct FlushEntry {
  const void *owner;
  double low;
  int part;
} FlushEntry;

/* Two parts beside each other; each pair is there in both orders. */
typedef struct FlushPair {
  int part, other;
} FlushPair;

typedef struct FlushSearch {
  const NsFlushPart *parts;
  FlushPair *pairs;
  int npairs, capacity;
  NsNarrow narrow;
} FlushSearch;

static bool flush_is_plain(const NsSolid *s) {
  return s && s->nfaces > 2 && s->radius == 0 && !(s->ring.R > 0);
}

static double flush_slack(const NsSolid *a, const NsSolid *b) {
  return level * fmin(a->around, b->around) + place_rounding * (ns_length3(a->centre) + ns_length3(b->centre));
}

/* Whether the corners of the face g of b are in the plane of the face f of a. */
static bool flush_in_plane(const NsSolid *a, int f, const NsSolid *b, int g, double slack) {
  const NsSolidFace *face = &b->faces[g];
  for (int k = 0; k < face->count; k++) {
    const double *p = b->vertices + 3 * (ptrdiff_t)b->loop[face->first + k];
    if (!(fabs(ns_dot3(a->faces[f].normal, p) - a->faces[f].offset) <= slack)) return false;
  }
  return true;
}

static bool flush_level(const NsSolid *a, int f, const NsSolid *b, int g, double slack) {
  return ns_dot3(a->faces[f].normal, b->faces[g].normal) > 0 && flush_in_plane(a, f, b, g, slack) &&
         flush_in_plane(b, g, a, f, slack);
}

static bool flush_any_level(const NsSolid *a, const NsSolid *b, double slack) {
  for (int f = 0; f < a->nfaces; f++)
    for (int g = 0; g < b->nfaces; g++)
      if (flush_level(a, f, b, g, slack)) return true;
  return false;
}

/* *meet: whether two solids have faces in one plane, and no way between them. */
static NsStatus flush_meet(NsNarrow *w, const NsSolid *a, const NsSolid *b, bool *meet) {
  const NsPose here = ns_pose(NULL, 0, 0);
  double slack = flush_slack(a, b), far = a->around + b->around + slack, way[3], pa[3], pb[3], n[3], distance = INFINITY;
  *meet = false;
  ns_sub3(a->centre, b->centre, way);
  if (!(ns_dot3(way, way) <= far * far) || !flush_any_level(a, b, slack)) return NS_OK;
  NsStatus status = ns_narrow_distance(w, (NsPlaced){a, &here}, (NsPlaced){b, &here}, &distance, pa, pb, n);
  return *meet = distance <= slack, status;
}

static NsStatus flush_note(FlushSearch *s, int part, int other) {
  if (s->npairs == s->capacity) {
    FlushPair *more = ns_resize(s->pairs, 2 * (size_t)s->capacity + 16, sizeof *more);
    if (!more) return NS_ENOMEM;
    s->pairs = more, s->capacity = 2 * s->capacity + 16;
  }
  return s->pairs[s->npairs++] = (FlushPair){part, other}, NS_OK;
}

static int flush_compare_entries(const void *a, const void *b) {
  const FlushEntry *x = a, *y = b;
  if (x->owner != y->owner) return (uintptr_t)x->owner < (uintptr_t)y->owner ? -1 : 1;
  if (x->low != y->low) return x->low < y->low ? -1 : 1;
  return (x->part > y->part) - (x->part < y->part);
}

static int flush_compare_pairs(const void *a, const void *b) {
  const FlushPair *x = a, *y = b;
  int one = x->part != y->part ? x->part : x->other, two = x->part != y->part ? y->part : y->other;
  return (one > two) - (one < two);
}

/* All pairs, found along the first axis, in the order of the parts. */
static NsStatus flush_pairs(FlushSearch *s, int n, FlushEntry *list) {
  NsStatus status = NS_OK;
  qsort(list, (size_t)n, sizeof *list, flush_compare_entries);
  for (int i = 0; i < n && status == NS_OK; i++) {
    const NsSolid *a = s->parts[list[i].part].solid;
    double high = list[i].low + 2 * a->around;
    for (int j = i + 1; j < n && status == NS_OK && list[j].owner == list[i].owner; j++) {
      const NsSolid *b = s->parts[list[j].part].solid;
      bool meet = false;
      if (!(list[j].low <= high + flush_slack(a, b))) break;
      status = flush_meet(&s->narrow, a, b, &meet);
      if (meet && status == NS_OK) status = flush_note(s, list[i].part, list[j].part);
      if (meet && status == NS_OK) status = flush_note(s, list[j].part, list[i].part);
    }
  }
  if (s->npairs > 0) qsort(s->pairs, (size_t)s->npairs, sizeof *s->pairs, flush_compare_pairs);
  return status;
}

/* Whether the corner v lies between a point of an edge and a point of another solid on the line of this edge. */
static bool flush_is_inner(const NsSolid *s, const NsFlush *f, int v) {
  const double *p = s->vertices + 3 * (ptrdiff_t)v;
  for (int g = 0; g < s->nfaces; g++) {
    const int *loop = s->loop + s->faces[g].first;
    int count = s->faces[g].count;
    for (int k = 0; k < count; k++) {
      double way[3], beyond[3];
      int next = loop[(k + 1) % count];
      if (loop[k] != v && next != v) continue;
      ns_sub3(s->vertices + 3 * (ptrdiff_t)(loop[k] == v ? next : loop[k]), p, way);
      ns_unit3(way);
      ns_add3(p, -4 * f->slack, way, beyond);
      for (int j = 0; j < f->n; j++)
        if (ns_solid_holds(f->beside[j], beyond, f->slack)) return true;
    }
  }
  return false;
}

/* Gives the faces in the plane of the face `face` of part `first`, which go on in each other, this one as their first; stack: of parts. */
static void flush_spread(const FlushSearch *s, const int *start, NsFlush **all, int first, int face, int *stack) {
  const NsSolid *own = s->parts[first].solid;
  int waiting = 1, alone = 1;
  stack[0] = first, all[first]->faces[face] = (NsFlushFace){first, face, own};
  while (waiting > 0) {
    int part = stack[--waiting];
    for (int k = start[part]; k < start[part + 1]; k++) {
      int other = s->pairs[k].other;
      const NsSolid *b = s->parts[other].solid;
      for (int g = 0; g < b->nfaces; g++) {
        if (all[other]->faces[g].solid || !flush_level(own, face, b, g, all[first]->slack)) continue;
        all[other]->faces[g] = (NsFlushFace){first, face, own};
        stack[waiting++] = other, alone = 0;
      }
    }
  }
  if (alone) all[first]->faces[face].shape = -1;
}

/* Makes what is beside the part, whose pairs are from `first` on. */
static void flush_make(const FlushSearch *s, NsArena *arena, int part, int first, int count, NsFlush *f) {
  const NsSolid *own = s->parts[part].solid;
  f->n = count;
  f->beside = ns_arena_take(arena, (size_t)count, sizeof *f->beside);
  f->faces = ns_arena_take(arena, (size_t)own->nfaces, sizeof *f->faces);
  f->inner = ns_arena_take(arena, (size_t)own->nvertices, sizeof *f->inner);
  for (int k = 0; k < count && !arena->failed; k++) {
    f->beside[k] = s->parts[s->pairs[first + k].other].solid;
    f->slack = fmax(f->slack, flush_slack(own, f->beside[k]));
  }
  for (int v = 0; v < own->nvertices && !arena->failed; v++) f->inner[v] = flush_is_inner(own, f, v);
}

/* start: of each part the first of its pairs. */
static NsStatus flush_fill(const FlushSearch *s, int n, int *start, int *stack, NsArena *arena, NsFlush **all) {
  for (int i = 0, k = 0; i <= n; i++) {
    start[i] = k;
    while (k < s->npairs && s->pairs[k].part == i) k++;
  }
  for (int i = 0; i < n && !arena->failed; i++) {
    if (start[i + 1] == start[i]) continue;
    all[i] = ns_arena_take(arena, 1, sizeof *all[i]);
    if (all[i]) flush_make(s, arena, i, start[i], start[i + 1] - start[i], all[i]);
  }
  for (int i = 0; i < n && !arena->failed; i++)
    for (int f = 0; all[i] && f < s->parts[i].solid->nfaces; f++)
      if (!all[i]->faces[f].solid) flush_spread(s, start, all, i, f, stack);
  for (int i = 0; i < n && !arena->failed; i++)
    for (int f = 0; all[i] && f < s->parts[i].solid->nfaces; f++)
      if (all[i]->faces[f].shape < 0) all[i]->faces[f].solid = NULL;
  return arena->failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_flush_find(int n, const NsFlushPart *parts, NsArena *arena, NsFlush ***flush) {
  FlushSearch s = {.parts = parts};
  NsArena work = {0};
  FlushEntry *list = ns_arena_take(&work, (size_t)n, sizeof *list);
  int count = 0, room = 1;
  *flush = NULL;
  for (int i = 0; i < n && list; i++) {
    const NsSolid *solid = parts[i].solid;
    if (!flush_is_plain(solid)) continue;
    list[count++] = (FlushEntry){parts[i].owner, solid->centre[0] - solid->around, i}, room += solid->nfaces;
  }
  NsStatus status = work.failed ? NS_ENOMEM : flush_pairs(&s, count, list);
  if (status == NS_OK && s.npairs > 0) {
    int *start = ns_arena_ints(&work, n + 1), *stack = ns_arena_ints(&work, room);
    *flush = ns_arena_take(arena, (size_t)n, sizeof **flush);
    status = work.failed || arena->failed ? NS_ENOMEM : flush_fill(&s, n, start, stack, arena, *flush);
  }
  ns_arena_release(&work);
  ns_narrow_free(&s.narrow), ns_free(s.pairs);
  return status;
}
