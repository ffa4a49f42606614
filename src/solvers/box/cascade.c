/*
** cascade.c
** Blocks of variables that act on later ones alone, one block after the other.
*/
/*
** The graph of the matrix has an edge from j to i where variable j is in row i. Its strong components, in an order in which no edge goes back, are
** blocks of a problem that is block triangular up to a permutation: the solution of a block goes into the constant parts of those behind it. What
** such a matrix multiplies from block to block does not matter then, while pivots on the whole matrix meet numbers of very different size.
** Assumptions: none; without two blocks there is no attempt. A block with several solutions may get one with which a later block has none; where
** those before it have but one, none is proved.
** Termination: after all blocks. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1, 1972; Cottle, Pang and Stone, The
** Linear Complementarity Problem, 2009, section 3.3 (matrices whose principal blocks are P).
*/
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/box/box_solver.h"
#include "solvers/box/dense_search.h"
#include "solvers/box/methods.h"
#include "solvers/box/one_variable.h"
#include "solvers/components.h"

typedef struct Cascade {
  NsBlocks blocks;
  double *z, *w, *error; /* n */
  NsArena room;          /* of one block */
  NsBox *box;
  int capacity;
  double *M, *vectors[6];
} Cascade;

static NsStatus cascade_reserve(void **work, NsSearch *search) {
  const NsBoxSearch *s = (const NsBoxSearch *)search;
  Cascade *c = *work = ns_alloc(1, sizeof *c);
  if (!c) return NS_ENOMEM;
  ns_blocks_take(&c->blocks, s->arena, s->nmax);
  c->z = ns_arena_doubles(s->arena, s->nmax);
  c->w = ns_arena_doubles(s->arena, s->nmax);
  c->error = ns_arena_doubles(s->arena, s->nmax);
  return NS_OK;
}

static void cascade_clear(Cascade *c) {
  ns_box_free(c->box);
  ns_arena_release(&c->room);
  c->box = NULL;
  c->capacity = 0;
}

static void cascade_release(void *work) {
  if (work) cascade_clear(work);
  ns_free(work);
}

/* ---- solving ---- */

static NsStatus cascade_room(Cascade *c, int n) {
  if (n <= c->capacity) return NS_OK;
  cascade_clear(c);
  c->M = ns_arena_matrix(&c->room, n, n);
  for (int i = 0; i < 6; i++) c->vectors[i] = ns_arena_doubles(&c->room, n);
  NsStatus status = c->room.failed ? NS_ENOMEM : ns_box_new(&c->box, n);
  if (status) cascade_clear(c);
  else c->capacity = n;
  return status;
}

/* Solves the block of these n variables; c->w has its constant part. */
static NsStatus cascade_solve_block(Cascade *c, const NsBoxProblem *p, const double *near, const int *member, int n) {
  NsSolverInfo info;
  NsStatus status = cascade_room(c, n);
  if (status) return status;
  double *q = c->vectors[0], *lower = c->vectors[1], *upper = c->vectors[2], *guess = c->vectors[3], *z = c->vectors[4];
  for (int k = 0; k < n; k++) {
    const double *from = p->M + (size_t)member[k] * (size_t)p->ldm;
    for (int i = 0; i < n; i++) c->M[i + (size_t)k * (size_t)n] = from[member[i]];
    q[k] = c->w[member[k]], lower[k] = p->lower[member[k]], upper[k] = p->upper[member[k]], guess[k] = near[member[k]];
  }
  const NsBoxProblem block = {n, c->M, n, q, lower, upper, p->faded};
  status = ns_box_solve(c->box, &block, guess, z, c->vectors[5], &info);
  for (int k = 0; k < n; k++) c->z[member[k]] = z[k];
  return status;
}

/*
** Whether block k, of one variable, has no solution because all before it have but one, whatever changes of the data the tolerance allows.
** c->error: by how much these changes move the constant parts; what they move z by is what they move its row by over its diagonal.
*/
static bool proves_none(Cascade *c, const NsBoxProblem *p, int k, double tolerance) {
  const NsBlocks *b = &c->blocks;
  for (int i = 0; i < p->n; i++) c->error[i] = tolerance * fabs(p->q[i]), c->w[i] = p->q[i];
  for (int l = b->count - 1; l >= k; l--) {
    int i = b->member[b->start[l]];
    const double *column = p->M + (size_t)i * (size_t)p->ldm;
    double diagonal = column[i], moved = diagonal > 0 ? c->error[i] / diagonal : 0;
    bool flat = diagonal == 0 && fabs(c->w[i]) > c->error[i] + p->faded;
    bool one = b->start[l + 1] - b->start[l] == 1 && (flat || (diagonal > 0 && l > k));
    if (!one) return false;
    for (int r = 0; l > k && r < p->n; r++) {
      c->w[r] += column[r] * c->z[i];
      c->error[r] += fabs(column[r]) * (moved + tolerance * fabs(c->z[i]));
    }
  }
  return true;
}

static NsOutcome cascade_run(void *work, NsSearch *search, int mode) {
  Cascade *c = work;
  NsBlocks *b = &c->blocks;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *p = s->p;
  NsOutcome out = {NS_ENOCONV, false, 0, "cascade"};
  (void)mode;
  ns_blocks_find(b, p);
  if (b->count == 1) return out;
  memcpy(c->w, p->q, (size_t)p->n * sizeof *c->w);
  for (int k = b->count - 1; k >= 0; k--, out.iterations++) {
    const int *member = b->member + b->start[k];
    int count = b->start[k + 1] - b->start[k], i = member[0];
    const NsOneVariable one = {p->M[i + (size_t)i * (size_t)p->ldm], c->w[i], p->lower[i], p->upper[i]};
    NsStatus status = count > 1 ? cascade_solve_block(c, p, s->near, member, count)
                                : ns_one_variable(&one, s->near[i], &c->z[i]);
    if (status == NS_EINTR || (status == NS_ENOSOL && count == 1 && proves_none(c, p, k, search->tolerance)))
      out.status = status;
    if (status) return out;
    for (int j = 0; j < count; j++) {
      const double *column = p->M + (size_t)member[j] * (size_t)p->ldm;
      double z = c->z[member[j]];
      for (int r = 0; z != 0 && r < p->n; r++) c->w[r] += column[r] * z;
    }
  }
  if (ns_dense_keep_point(s, c->z)) out.status = NS_OK;
  return out;
}

const NsMethod ns_box_cascade = {
    .takes = NS_TAKES_DENSE, .reserve = cascade_reserve, .release = cascade_release, .run = cascade_run};
