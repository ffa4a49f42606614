/*
** front_lu.c
** Multifrontal LU: ordering, fronts, factors.
*/
#include "linalg/front_lu.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <suitesparse/amd.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "linalg/work.h"

/*
** A front eliminates the groups at the positions from .. to - 1: `pivots` unknowns. Its border, list[border ..] of `count` groups with `rest`
** unknowns, gets its contribution. first: pivots of the fronts before. Factors: at `at` the columns of the pivots (pivots + rest rows), then the
** rows of the pivots in the border.
*/
typedef struct NsFront {
  int from, to, border, count, pivots, rest, parent, first;
  ptrdiff_t at;
} NsFront;

struct NsFrontLu {
  NsArena arena;
  int n, groups;
  int *first, *group, *ptr, *adj; /* first unknown of a group, group of an unknown; neighbours of groups, in either direction */
  int *row_start, *row_col;       /* by groups: the columns with entries in the rows of the group, and where they begin */
  int *entry;                     /* the place in A of the first of these entries of a column */
  bool *coupled, *now;            /* groups, as analysed and in a matrix */
  bool analysed;
  int count;                        /* coupled groups */
  int *whole;                       /* the order of all groups */
  int *order, *position;            /* group at a position; position of a group, -1: it is not coupled */
  int *parent, *head, *next, *mark; /* by position; mark: workspace */
  int *start;                       /* of the neighbours that come after a position, in list */
  int *list, room;                  /* room: of list */
  int *place;                       /* of a group in the front at work */
  NsFront *front;
  int fronts;
  double flops;
  double *factor, *stack, *y; /* y: n */
  ptrdiff_t factor_need, factor_room, stack_need, stack_room;
  int *map, map_need, map_room; /* rows of a contribution in the parent's front */
  lapack_int *swap;             /* n */
  const NsSparse *A;            /* borrowed */
};

/*
** FEW: groups that are eliminated together with the next one whatever zeros that stores, since a small front costs its calls. zeros_allowed: the
** part of zeros in the columns of larger fronts. Both for contacts of 1,000 spheres, where a factorisation takes 10 ms.
*/
enum { FEW = 3 };
static const double zeros_allowed = 0.25;

void ns_front_lu_free(NsFrontLu *lu) {
  if (!lu) return;
  ns_arena_release(&lu->arena);
  ns_free(lu->list);
  ns_free(lu->factor);
  ns_free(lu->stack);
  ns_free(lu->map);
  ns_free(lu);
}

/* ---- the pattern ---- */

/* Whether entry p of column j is the first one in the rows of its group. */
static bool front_begins(const NsFrontLu *lu, const NsSparse *A, int j, int p) {
  return p == A->colptr[j] || lu->group[A->row[p]] != lu->group[A->row[p - 1]];
}

static NsStatus front_rows(NsFrontLu *lu, const NsSparse *A) {
  int *start = lu->row_start, count = 0;
  for (int j = 0; j < A->cols; j++)
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++)
      if (front_begins(lu, A, j, p)) start[lu->group[A->row[p]] + 1]++, count++;
  NS_ARENA_INTS(&lu->arena, count, &lu->row_col, &lu->entry);
  if (lu->arena.failed) return NS_ENOMEM;
  for (int g = 0; g < lu->groups; g++) start[g + 1] += start[g];
  for (int j = 0; j < A->cols; j++)
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++) {
      if (!front_begins(lu, A, j, p)) continue;
      int k = start[lu->group[A->row[p]]]++;
      lu->row_col[k] = j, lu->entry[k] = p;
    }
  for (int g = lu->groups; g > 0; g--) start[g] = start[g - 1];
  start[0] = 0;
  return NS_OK;
}

/* Counts the groups of unknowns[begin .. end - 1] that have not been met yet as neighbours of g; stores them from `to` on, if it is not NULL. */
static int front_meet(NsFrontLu *lu, int g, const int *unknowns, int begin, int end, int *to) {
  int count = 0;
  for (int p = begin; p < end; p++) {
    int h = lu->group[unknowns[p]];
    if (lu->mark[h] == g + 1) continue;
    lu->mark[h] = g + 1;
    if (to) to[count] = h;
    count++;
  }
  return count;
}

/* Counts the neighbours of g, or stores them, by columns and rows. */
static int front_neighbours(NsFrontLu *lu, const NsSparse *A, int g, int *to) {
  int count = 0;
  lu->mark[g] = g + 1;
  for (int j = lu->first[g]; j < lu->first[g + 1]; j++)
    count += front_meet(lu, g, A->row, A->colptr[j], A->colptr[j + 1], to ? to + count : NULL);
  return count + front_meet(lu, g, lu->row_col, lu->row_start[g], lu->row_start[g + 1], to ? to + count : NULL);
}

static NsStatus front_pattern(NsFrontLu *lu, const NsSparse *A) {
  for (int g = 0; g < lu->groups; g++) lu->ptr[g + 1] = lu->ptr[g] + front_neighbours(lu, A, g, NULL);
  lu->adj = ns_arena_ints(&lu->arena, lu->ptr[lu->groups]);
  if (lu->arena.failed) return NS_ENOMEM;
  memset(lu->mark, 0, (size_t)lu->groups * sizeof *lu->mark);
  for (int g = 0; g < lu->groups; g++) front_neighbours(lu, A, g, lu->adj + lu->ptr[g]);
  return NS_OK;
}

/* AMD's order of all groups: a part of them has no more fill in it than all. */
static NsStatus front_amd(NsFrontLu *lu) {
  bool bad = lu->groups > 0 && amd_order(lu->groups, lu->ptr, lu->adj, lu->whole, NULL, NULL) < AMD_OK;
  return bad ? NS_ENOMEM : NS_OK;
}

NsStatus ns_front_lu_new(NsFrontLu **out, const NsSparse *A, int groups, const int *first) {
  *out = NULL;
  if (A->rows != A->cols || first[groups] != A->cols) return NS_ESIZE;
  NsFrontLu *lu = ns_alloc(1, sizeof *lu);
  if (!lu) return NS_ENOMEM;
  lu->n = A->cols, lu->groups = groups;
  NS_ARENA_INTS(&lu->arena, groups + 1, &lu->first, &lu->ptr, &lu->whole, &lu->order, &lu->position, &lu->parent, &lu->head,
                &lu->next, &lu->mark, &lu->start, &lu->place, &lu->row_start);
  lu->group = ns_arena_ints(&lu->arena, lu->n);
  lu->coupled = ns_arena_take(&lu->arena, (size_t)groups, sizeof *lu->coupled);
  lu->now = ns_arena_take(&lu->arena, (size_t)groups, sizeof *lu->now);
  lu->front = ns_arena_take(&lu->arena, (size_t)groups, sizeof *lu->front);
  lu->swap = ns_arena_take(&lu->arena, (size_t)lu->n, sizeof *lu->swap);
  lu->y = ns_arena_doubles(&lu->arena, lu->n);
  NsStatus status = lu->arena.failed ? NS_ENOMEM : NS_OK;
  if (!status) {
    memcpy(lu->first, first, (size_t)(groups + 1) * sizeof *first);
    for (int g = 0; g < groups; g++)
      for (int j = first[g]; j < first[g + 1]; j++) lu->group[j] = g;
    status = front_rows(lu, A);
    if (!status) status = front_pattern(lu, A);
    if (!status) status = front_amd(lu);
  }
  if (status) ns_front_lu_free(lu);
  else *out = lu;
  return status;
}

/* ---- the order ---- */

/* The order of the coupled groups. */
static void front_order(NsFrontLu *lu) {
  lu->count = 0;
  for (int k = 0; k < lu->groups; k++) {
    int g = lu->whole[k];
    lu->position[g] = lu->coupled[g] ? lu->count : -1;
    if (lu->coupled[g]) lu->order[lu->count++] = g;
  }
}

/* The elimination tree, by positions; -1: a root. */
static void front_tree(NsFrontLu *lu) {
  int *ancestor = lu->mark;
  for (int k = 0; k < lu->count; k++) {
    int g = lu->order[k];
    lu->parent[k] = ancestor[k] = -1;
    for (int p = lu->ptr[g]; p < lu->ptr[g + 1]; p++) {
      int i = lu->position[lu->adj[p]];
      while (i >= 0 && i < k) {
        int up = ancestor[i];
        ancestor[i] = k;
        if (up < 0) lu->parent[i] = k;
        i = up;
      }
    }
  }
}

/* Puts the groups in a postorder of the tree, and numbers it anew. */
static void front_postorder(NsFrontLu *lu, int *now, int *back) {
  int count = lu->count, done = 0;
  for (int k = 0; k < count; k++) lu->head[k] = -1;
  for (int k = count - 1; k >= 0; k--)
    if (lu->parent[k] >= 0) lu->next[k] = lu->head[lu->parent[k]], lu->head[lu->parent[k]] = k;
  for (int root = 0; root < count; root++) {
    if (lu->parent[root] >= 0) continue;
    for (int k = root; k >= 0;) {
      if (lu->head[k] >= 0) {
        int child = lu->head[k];
        lu->head[k] = lu->next[child];
        k = child;
        continue;
      }
      back[done] = k, now[k] = done++;
      k = k == root ? -1 : lu->parent[k];
    }
  }
  for (int k = 0; k < count; k++) lu->mark[k] = lu->order[back[k]];
  for (int k = 0; k < count; k++) lu->head[k] = lu->parent[back[k]] < 0 ? -1 : now[lu->parent[back[k]]];
  memcpy(lu->order, lu->mark, (size_t)count * sizeof *lu->order);
  memcpy(lu->parent, lu->head, (size_t)count * sizeof *lu->parent);
  for (int k = 0; k < count; k++) lu->position[lu->order[k]] = k;
}

/* ---- the fronts ---- */

/* The neighbours of each position that come after it when those before are eliminated. */
static NsStatus front_structure(NsFrontLu *lu) {
  int used = 0;
  for (int k = 0; k < lu->count; k++) lu->head[k] = lu->mark[k] = -1;
  for (int k = 0; k < lu->count; k++) {
    if (used > INT_MAX / 2 - lu->count) return NS_ETOOLARGE;
    if (lu->room < used + lu->count) {
      int room = 2 * (used + lu->count);
      int *list = ns_resize(lu->list, (size_t)room, sizeof *list);
      if (!list) return NS_ENOMEM;
      lu->list = list, lu->room = room;
    }
    int g = lu->order[k];
    lu->start[k] = used;
    lu->mark[k] = k;
    for (int p = lu->ptr[g]; p < lu->ptr[g + 1]; p++) {
      int i = lu->position[lu->adj[p]];
      if (i > k) lu->mark[i] = k, lu->list[used++] = i;
    }
    for (int c = lu->head[k]; c >= 0; c = lu->next[c])
      for (int p = lu->start[c]; p < lu->start[c + 1]; p++) {
        int i = lu->list[p];
        if (lu->mark[i] != k) lu->mark[i] = k, lu->list[used++] = i;
      }
    lu->start[k + 1] = used;
    if (lu->parent[k] >= 0) lu->next[k] = lu->head[lu->parent[k]], lu->head[lu->parent[k]] = k;
  }
  return NS_OK;
}

static int front_width(const NsFrontLu *lu, int position) {
  int g = lu->order[position];
  return lu->first[g + 1] - lu->first[g];
}

/* Sorts a short list, which consists of some sorted parts. */
static void sort_positions(int *list, int count) {
  for (int k = 1; k < count; k++) {
    int position = list[k], at = k;
    for (; at > 0 && list[at - 1] > position; at--) list[at] = list[at - 1];
    list[at] = position;
  }
}

/* Puts positions together in fronts: each with the next one, its parent, if this stores few zeros. mark becomes the front of a position. */
static void front_merge(NsFrontLu *lu) {
  lu->fronts = 0;
  for (int k = 0, from = 0, zeros = 0; k < lu->count; k++) {
    int own = lu->start[k + 1] - lu->start[k];
    bool joins = k > from && lu->parent[k - 1] == k;
    if (joins) {
      int columns = k - from, more = 0;
      for (int c = from; c < k; c++) more += own + (k - c) - (lu->start[c + 1] - lu->start[c]);
      double all = (double)(columns + 1) * (own + 1) + columns * (columns + 1) / 2.0;
      zeros = more;
      joins = columns < FEW || zeros <= zeros_allowed * all;
    }
    if (k > 0 && !joins) from = k, lu->fronts++;
    lu->mark[k] = lu->fronts;
    lu->front[lu->fronts] = (NsFront){.from = from, .to = k + 1, .border = lu->start[k], .count = own};
  }
  if (lu->count > 0) lu->fronts++;
  for (int f = 0; f < lu->fronts; f++) sort_positions(lu->list + lu->front[f].border, lu->front[f].count);
}

/* Makes room for `need` numbers, and for one where none is needed: NULL has no place for a copy of no bytes. */
static NsStatus front_room(double **numbers, ptrdiff_t *room, ptrdiff_t need) {
  if (*numbers && need <= *room) return NS_OK;
  ptrdiff_t wanted = need + need / 4 + 1;
  double *more = ns_resize(*numbers, (size_t)wanted, sizeof *more);
  if (!more) return NS_ENOMEM;
  *numbers = more, *room = wanted;
  return NS_OK;
}

/* Sizes, places and parents of the fronts, the operations and the memory that they need. */
static void front_sizes(NsFrontLu *lu) {
  ptrdiff_t stack = 0;
  int first = 0;
  lu->flops = 0;
  lu->factor_need = lu->stack_need = lu->map_need = 0;
  for (int f = 0; f < lu->fronts; f++) {
    NsFront *s = &lu->front[f];
    for (int k = s->from; k < s->to; k++) s->pivots += front_width(lu, k);
    for (int k = 0; k < s->count; k++) s->rest += front_width(lu, lu->list[s->border + k]);
    s->parent = lu->parent[s->to - 1] < 0 ? -1 : lu->mark[lu->parent[s->to - 1]];
    s->at = lu->factor_need, s->first = first;
    first += s->pivots;
    double p = s->pivots, r = s->rest;
    lu->flops += 2 * p * p * p / 3 + 2 * p * p * r + 2 * p * r * r;
    lu->factor_need += (ptrdiff_t)s->pivots * (s->pivots + 2 * (ptrdiff_t)s->rest);
    lu->map_need = ns_max(lu->map_need, s->rest);
  }
  for (int f = 0; f < lu->fronts; f++) lu->head[f] = -1;
  for (int f = 0; f < lu->fronts; f++) {
    NsFront *s = &lu->front[f];
    ptrdiff_t own = (ptrdiff_t)s->rest * s->rest;
    stack += own;
    if (stack > lu->stack_need) lu->stack_need = stack;
    for (int c = lu->head[f]; c >= 0; c = lu->next[c]) stack -= (ptrdiff_t)lu->front[c].rest * lu->front[c].rest;
    if (s->parent >= 0) lu->next[f] = lu->head[s->parent], lu->head[s->parent] = f;
  }
}

/* Makes memory for the factors: an analysis alone, which tells the operations, takes none. */
static NsStatus front_take(NsFrontLu *lu) {
  NsStatus status = front_room(&lu->factor, &lu->factor_room, lu->factor_need);
  if (!status) status = front_room(&lu->stack, &lu->stack_room, lu->stack_need);
  if (!status && lu->map_need > lu->map_room) {
    int *map = ns_resize(lu->map, (size_t)lu->map_need, sizeof *map);
    if (map) lu->map = map, lu->map_room = lu->map_need;
    else status = NS_ENOMEM;
  }
  return status;
}

NsStatus ns_front_lu_analyse(NsFrontLu *lu, const bool *coupled) {
  size_t bytes = (size_t)lu->groups * sizeof *coupled;
  bool same = lu->analysed;
  for (int g = 0; same && g < lu->groups; g++) same = lu->coupled[g] == (!coupled || coupled[g]);
  if (same) return NS_OK;
  lu->analysed = false;
  if (coupled) memcpy(lu->coupled, coupled, bytes);
  for (int g = 0; !coupled && g < lu->groups; g++) lu->coupled[g] = true;
  front_order(lu);
  front_tree(lu);
  front_postorder(lu, lu->start, lu->place);
  NsStatus status = front_structure(lu);
  if (status) return status;
  front_merge(lu);
  front_sizes(lu);
  lu->analysed = true;
  return NS_OK;
}

double ns_front_lu_flops(const NsFrontLu *lu) {
  return lu->flops;
}

/* ---- factors ---- */

/* The parts of a front at work: columns of the pivots, their rows in the border, and the contribution. */
typedef struct FrontParts {
  int pivots, rest, high; /* high = pivots + rest */
  double *columns, *rows, *contribution;
} FrontParts;

static FrontParts front_parts(const NsFrontLu *lu, const NsFront *s, double *contribution) {
  double *columns = lu->factor + s->at;
  int high = s->pivots + s->rest;
  return (FrontParts){s->pivots, s->rest, high, columns, columns + (ptrdiff_t)high * s->pivots, contribution};
}

/* Gives the groups of a front their places in it. */
static void front_place(NsFrontLu *lu, const NsFront *s) {
  int at = 0;
  for (int k = s->from; k < s->to; k++) lu->place[lu->order[k]] = at, at += front_width(lu, k);
  for (int k = 0; k < s->count; k++)
    lu->place[lu->order[lu->list[s->border + k]]] = at, at += front_width(lu, lu->list[s->border + k]);
}

/* Adds the entries of A in column j, a pivot's. Entries of a group follow each other. */
static void front_load_column(const NsFrontLu *lu, const NsSparse *A, const NsFront *s, int j, double *column) {
  for (int p = A->colptr[j], end = A->colptr[j + 1]; p < end;) {
    int g = lu->group[A->row[p]], last = lu->first[g + 1];
    double *to = lu->position[g] < s->from ? NULL : column + lu->place[g] - lu->first[g];
    for (; p < end && A->row[p] < last; p++)
      if (to) to[A->row[p]] += A->value[p];
  }
}

/* Adds those in the rows of a group of pivots that are in the border. */
static void front_load_rows(const NsFrontLu *lu, const NsSparse *A, const NsFront *s, int own, FrontParts t) {
  for (int q = lu->row_start[own]; q < lu->row_start[own + 1]; q++) {
    int j = lu->row_col[q], g = lu->group[j], end = A->colptr[j + 1];
    if (lu->position[g] < s->to) continue;
    double *to = t.rows + (ptrdiff_t)t.pivots * (lu->place[g] - t.pivots + j - lu->first[g]) + lu->place[own] - lu->first[own];
    for (int p = lu->entry[q]; p < end && A->row[p] < lu->first[own + 1]; p++) to[A->row[p]] += A->value[p];
  }
}

static void front_load(const NsFrontLu *lu, const NsSparse *A, const NsFront *s, FrontParts t) {
  double *column = t.columns;
  for (int k = s->from; k < s->to; k++) {
    int own = lu->order[k];
    for (int j = lu->first[own]; j < lu->first[own + 1]; j++, column += t.high) front_load_column(lu, A, s, j, column);
    front_load_rows(lu, A, s, own, t);
  }
}

/* Adds the contribution of a child. */
static void front_extend(NsFrontLu *lu, const NsFront *child, const double *from, FrontParts t) {
  int at = 0;
  for (int k = 0; k < child->count; k++) {
    int position = lu->list[child->border + k], place = lu->place[lu->order[position]];
    for (int i = 0, width = front_width(lu, position); i < width; i++) lu->map[at++] = place + i;
  }
  int upper_rows = 0;
  while (upper_rows < child->rest && lu->map[upper_rows] < t.pivots) upper_rows++;
  for (int j = 0; j < child->rest; j++, from += child->rest) {
    int c = lu->map[j];
    double *upper = c < t.pivots ? t.columns + (ptrdiff_t)t.high * c : t.rows + (ptrdiff_t)t.pivots * (c - t.pivots);
    double *lower = c < t.pivots ? upper : t.contribution + (ptrdiff_t)t.rest * (c - t.pivots) - t.pivots;
    for (int i = 0; i < upper_rows; i++) upper[lu->map[i]] += from[i];
    for (int i = upper_rows; i < child->rest; i++) lower[lu->map[i]] += from[i];
  }
}

/* Eliminates the pivots of a front. NS_ESINGULAR. */
static NsStatus front_eliminate(FrontParts t, lapack_int *swap) {
  bool entered = ns_blas_enter();
  int failed = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, t.pivots, t.pivots, t.columns, t.high, swap);
  bool good = failed == 0;
  for (int k = 0; good && k < t.pivots; k++) good = fabs(t.columns[k + (ptrdiff_t)k * t.high]) <= DBL_MAX;
  if (good && t.rest > 0) {
    LAPACKE_dlaswp_work(LAPACK_COL_MAJOR, t.rest, t.rows, t.pivots, 1, t.pivots, swap, 1);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, t.pivots, t.rest, 1, t.columns, t.high, t.rows,
                t.pivots);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, t.rest, t.pivots, 1, t.columns, t.high,
                t.columns + t.pivots, t.high);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, t.rest, t.rest, t.pivots, -1, t.columns + t.pivots, t.high, t.rows,
                t.pivots, 1, t.contribution, t.rest);
  }
  ns_blas_leave(entered);
  return good ? NS_OK : NS_ESINGULAR;
}

/* Groups whose rows are those of the identity are not coupled. */
static void front_find_coupled(NsFrontLu *lu, const NsSparse *A) {
  memset(lu->now, 0, (size_t)lu->groups * sizeof *lu->now);
  for (int j = 0; j < lu->n; j++)
    for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++)
      if (A->value[p] != (A->row[p] == j)) lu->now[lu->group[A->row[p]]] = true;
}

int ns_front_lu_sign(const NsFrontLu *lu) {
  int sign = 1;
  for (int f = 0; f < lu->fronts; f++) {
    const FrontParts t = front_parts(lu, &lu->front[f], NULL);
    const lapack_int *swap = lu->swap + lu->front[f].first;
    for (int k = 0; k < t.pivots; k++)
      if ((t.columns[k + (ptrdiff_t)k * t.high] < 0) != (swap[k] != k + 1)) sign = -sign;
  }
  return sign;
}

NsStatus ns_front_lu_factor(NsFrontLu *lu, const NsSparse *A) {
  front_find_coupled(lu, A);
  NsStatus status = ns_front_lu_analyse(lu, lu->now);
  if (!status) status = front_take(lu);
  double *top = lu->stack;
  lu->A = A;
  for (int f = 0; !status && f < lu->fronts; f++) {
    const NsFront *s = &lu->front[f];
    FrontParts t = front_parts(lu, s, top);
    size_t own = (size_t)t.rest * (size_t)t.rest;
    memset(t.columns, 0, (size_t)t.pivots * (size_t)(t.high + t.rest) * sizeof *t.columns);
    memset(top, 0, own * sizeof *top);
    front_place(lu, s);
    front_load(lu, A, s, t);
    for (int c = lu->head[f]; c >= 0; c = lu->next[c]) {
      top -= (ptrdiff_t)lu->front[c].rest * lu->front[c].rest;
      front_extend(lu, &lu->front[c], top, t);
    }
    status = front_eliminate(t, lu->swap + s->first);
    memmove(top, t.contribution, own * sizeof *top);
    top += own;
  }
  return status;
}

/* Puts the unknowns of the pivots of a front into y, or takes them from it. */
static void front_exchange(const NsFrontLu *lu, const NsFront *s, double *x, double *y, bool take) {
  int at = 0;
  for (int k = s->from; k < s->to; k++)
    for (int j = lu->first[lu->order[k]]; j < lu->first[lu->order[k] + 1]; j++, at++) {
      if (take) x[j] = y[at];
      else y[at] = x[j];
    }
}

/* x += the part of y at the border. */
static void front_spread(const NsFrontLu *lu, const NsFront *s, const double *y, double *x) {
  for (int k = 0; k < s->count; k++) {
    int g = lu->order[lu->list[s->border + k]];
    for (int j = lu->first[g]; j < lu->first[g + 1]; j++) x[j] += *y++;
  }
}

static void front_forwards(const NsFrontLu *lu, const NsFront *s, double *x) {
  FrontParts t = front_parts(lu, s, NULL);
  double *y = lu->y, *border = y + t.pivots;
  front_exchange(lu, s, x, y, false);
  memset(border, 0, (size_t)t.rest * sizeof *y);
  for (int k = 0; k < t.pivots; k++) {
    int other = lu->swap[s->first + k] - 1;
    double z = y[other];
    y[other] = y[k], y[k] = z;
  }
  for (int k = 0; k < t.pivots; k++) {
    const double *column = t.columns + (ptrdiff_t)k * t.high;
    for (int i = k + 1; i < t.high; i++) y[i] -= column[i] * y[k];
  }
  front_exchange(lu, s, x, y, true);
  front_spread(lu, s, border, x);
}

static void front_backwards(const NsFrontLu *lu, const NsFront *s, double *x) {
  FrontParts t = front_parts(lu, s, NULL);
  double *y = lu->y;
  const double *row = t.rows;
  front_exchange(lu, s, x, y, false);
  for (int k = 0; k < s->count; k++) {
    int g = lu->order[lu->list[s->border + k]];
    for (int j = lu->first[g]; j < lu->first[g + 1]; j++, row += t.pivots)
      for (int i = 0; i < t.pivots; i++) y[i] -= row[i] * x[j];
  }
  for (int k = t.pivots - 1; k >= 0; k--) {
    const double *column = t.columns + (ptrdiff_t)k * t.high;
    y[k] /= column[k];
    for (int i = 0; i < k; i++) y[i] -= column[i] * y[k];
  }
  front_exchange(lu, s, x, y, true);
}

void ns_front_lu_solve(NsFrontLu *lu, double *x) {
  const NsSparse *A = lu->A;
  for (int g = 0; g < lu->groups; g++)
    for (int j = lu->first[g]; !lu->coupled[g] && j < lu->first[g + 1]; j++)
      for (int p = A->colptr[j]; p < A->colptr[j + 1]; p++)
        if (lu->coupled[lu->group[A->row[p]]]) x[A->row[p]] -= A->value[p] * x[j];
  for (int f = 0; f < lu->fronts; f++) front_forwards(lu, &lu->front[f], x);
  for (int f = lu->fronts - 1; f >= 0; f--) front_backwards(lu, &lu->front[f], x);
}
