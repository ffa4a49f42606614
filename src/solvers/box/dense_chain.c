/*
** dense_chain.c
** The chains of methods for dense problems. A new method is one line in the list of methods.h, and one in a chain if it is to be used by default.
*/
#include "solvers/box/methods.h"

#include <math.h>

#include "solvers/box/dense_search.h"
#include "solvers/box/principal.h"

const NsMethod *const ns_box_methods[] = {
#define X(name) &ns_box_##name,
    NS_BOX_METHOD_LIST(X)
#undef X
        NULL,
};

/*
** FEW: number of variables up to which all active sets are tried (at most 3^12). SWEPT: number of variables above which sweeps
** come before that, since they are faster than 3^8 sets. ORDERED, BLOCKS: numbers of variables up to which a problem without a guess
** is tried in the given units, where balancing costs as much as the pivots: by pivots in order, above by exchanges of blocks.
*/
enum { FEW = 12, SWEPT = 7, ORDERED = 24, BLOCKS = 64 };

static int variables(const NsSearch *search) {
  return ((const NsBoxSearch *)search)->n;
}

static bool cold(const NsSearch *search) {
  return ((const NsBoxSearch *)search)->cold && variables(search) > 2;
}

static bool warm(const NsSearch *search) {
  return !((const NsBoxSearch *)search)->cold || variables(search) <= 2;
}

/* With a guess; without one for a matrix of middle size, unless a corner is 0, as in a band. */
static bool blocks_first(const NsSearch *search) {
  const NsBoxProblem *p = ((const NsDenseSearch *)search)->p;
  return warm(search) || (p->n > ORDERED && p->n <= BLOCKS && p->M[p->n - 1] != 0);
}

static int count_free(const NsSearch *search) {
  const NsBoxProblem *p = ((const NsDenseSearch *)search)->p;
  int count = 0;
  for (int i = 0; i < p->n; i++) count += p->lower[i] == -INFINITY && p->upper[i] == INFINITY;
  return count;
}

/* Without a guess, few variables, none of them free. */
static bool cold_and_bounded(const NsSearch *search) {
  return cold(search) && variables(search) <= ORDERED && count_free(search) == 0;
}

/* Without a guess, with more variables than a few pivots solve; the first row and column tell that one acts on another, which does not act on it. */
static bool cold_cascade(const NsSearch *search) {
  const NsBoxProblem *p = ((const NsDenseSearch *)search)->p;
  if (!cold(search) || p->n <= FEW) return false;
  for (int i = 1; i < p->n; i++)
    if ((p->M[i] != 0) != (p->M[(size_t)i * (size_t)p->ldm] != 0)) return true;
  return false;
}

static bool two(const NsSearch *search) {
  return variables(search) == 2;
}

static bool above_two(const NsSearch *search) {
  return variables(search) > 2;
}

static bool few(const NsSearch *search) {
  return variables(search) <= FEW;
}

static bool few_above_two(const NsSearch *search) {
  return few(search) && above_two(search);
}

/* Two equations alone are left to the others, which tell that they are singular. */
static bool few_to_branch(const NsSearch *search) {
  return few(search) && (above_two(search) || count_free(search) < 2);
}

static bool few_swept(const NsSearch *search) {
  return few(search) && variables(search) > SWEPT;
}

static bool many(const NsSearch *search) {
  return !few(search);
}

/* Problems for branch and bound; where all bounds are finite, Lemke's paths can not end on a ray, and large trees do not end. */
static bool many_to_branch(const NsSearch *search) {
  const NsBoxProblem *p = ((const NsDenseSearch *)search)->p;
  bool infinite = false;
  for (int i = 0; i < p->n; i++) infinite |= !(p->lower[i] > -INFINITY && p->upper[i] < INFINITY);
  return many(search) && p->n <= NS_BRANCH_MOST && (infinite || p->n <= BLOCKS);
}

/* Problems whose trees may end with more work. */
static bool blocks_to_branch(const NsSearch *search) {
  return many(search) && variables(search) <= BLOCKS;
}

const NsChainStep ns_box_chain_given[] = {
    {.method = &ns_box_cascade, .when = cold_cascade},
    {.method = &ns_box_active_set, .when = blocks_first},
    {.method = &ns_box_guess, .when = warm},
    {.method = &ns_box_principal, .when = cold_and_bounded, .mode = NS_PRINCIPAL_IN_ORDER},
    {0},
};

/*
** Smooth methods come last, for problems on which pivoting fails: dependent equations of free variables, singular matrices
** with entries of very different size, matrices that are not monotone. An answer that only meets the tolerance is kept, and
** the chain continues.
*/
const NsChainStep ns_box_chain_balanced[] = {
    {.method = &ns_box_banded, .when = cold, .mode = NS_BANDED_SHORT},
    {.method = &ns_box_predict, .when = cold},
    {.method = &ns_box_enumerate, .when = two},
    {.method = &ns_box_principal, .when = above_two, .mode = NS_PRINCIPAL_MIXED},
    {.method = &ns_box_lemke_howson, .when = above_two},
    {.method = &ns_box_cascade, .when = above_two},

    {.method = &ns_box_lemke, .when = few, .tells = true},
    {.method = &ns_box_pgs, .when = few_swept},
    {.method = &ns_box_enumerate, .when = few},
    {.method = &ns_box_branch, .when = few_to_branch},
    {.method = &ns_box_newton_min, .when = few, .exact = true},
    {.method = &ns_box_newton_fb, .when = few_above_two, .exact = true},
    {.method = &ns_box_interior, .when = few_above_two, .exact = true},
    {.method = &ns_box_proximal, .when = few_above_two, .exact = true},

    {.method = &ns_box_lemke, .when = many, .mode = NS_LEMKE_FIRST, .tells = true},
    {.method = &ns_box_lemke, .when = many, .mode = NS_LEMKE_COVERS},
    {.method = &ns_box_branch, .when = many_to_branch},
    {.method = &ns_box_newton_min, .when = many, .exact = true},
    {.method = &ns_box_newton_fb, .when = many, .exact = true},
    {.method = &ns_box_interior, .when = many, .exact = true},
    {.method = &ns_box_proximal, .when = many},
    {.method = &ns_box_lemke, .when = many, .mode = NS_LEMKE_OTHERS},
    {.method = &ns_box_branch, .when = blocks_to_branch, .mode = NS_BRANCH_LONG},
    {.method = &ns_box_pgs, .when = many},
    {0},
};
