/*
** sparse_sets.c
** A method that follows active sets.
*/
#include "solvers/box/methods.h"

#include "solvers/box/sparse_search.h"

/* Limits of sets. REPAIRS: with a guess or few variables. FEW_REPAIRS: else, since interior point takes only 20 to 50 steps. */
enum { REPAIRS = 60, FEW_REPAIRS = 15 };

static NsOutcome sparse_sets_run(void *work, NsSearch *search, int mode) {
  NsSparseSearch *s = (NsSparseSearch *)search;
  NsOutcome out = {NS_ENOCONV, false, 0, "active set"};
  double *z = ((NsBoxPoint *)work)->z;
  const NsBoxMap *map = &s->as_map;
  bool few = s->box.cold && s->box.n >= NS_SPARSE_LARGE;
  (void)mode;
  s->box.start(&s->box, z);
  for (int i = 0; i < s->box.n; i++)
    s->set[i] = z[i] <= map->lower[i] ? NS_AT_LOWER : z[i] >= map->upper[i] ? NS_AT_UPPER : NS_BETWEEN;
  out.status = ns_sparse_follow_sets(s, z, ns_box_limit(&s->box, few ? FEW_REPAIRS : REPAIRS), &out.iterations);
  if (out.status == NS_ENOSOL)
    out.status = NS_ENOCONV; /* the set uses an infinite bound; this proves nothing about the problem */
  return out;
}

/*
** Follows active sets (ns_sparse_follow_sets) from the set of the guess, or of 0 without a guess. For many variables without a
** guess it tries only few sets: when a free boundary has far to move, each set moves it by one point.
*/
const NsMethod ns_sparse_sets = {.takes = NS_TAKES_SPARSE, .reserve = ns_box_point_reserve, .run = sparse_sets_run};
