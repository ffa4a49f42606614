/*
** repeat.c
** Steps with the data of the step before.
*/
#include <string.h>

#include "integrators/moreau_jean/moreau_jean.h"

static bool same_numbers(int n, const double *a, const double *b) {
  return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* Whether a system's part of a step depends on its state, its matrices and its force at the start alone. */
static bool repeats_system(const NsMjNode *node) {
  const NsMechanicalDs *ds = node->ds;
  if (ds->boundary || ns_mechanical_driven(ds) || !(node->linear || ns_mechanical_constant_forces(ds))) return false;
  return node->base.block->factored && node->base.block->key == ns_mechanical_matrix_version(ds) + 1;
}

/* Whether a contact that takes part has the law that the last problem has. */
static bool repeats_law(const NsMoreauJean *mj, const NsMjEdge *edge, const NsMixedGroup *group) {
  NsLawGroup own = ns_interaction_group(edge->base.inter, 0, false, mj->layout.part);
  if (group->slip.mu || own.reactions > 0 || !own.discs != !group->cone) return false;
  return own.discs ? same_numbers(own.discs, own.mu, group->mu) : own.lower == group->lower && own.upper == group->upper;
}

bool ns_mj_knows_lambda(const NsMoreauJean *mj) {
  bool same = true;
  for (int e = 0; e < mj->layout.nedges && same; e++) {
    const NsEdge *edge = &mj->edges[e].base;
    same = same_numbers(edge->m, mj->lambda + edge->row, edge->inter->lambda_k);
  }
  return same;
}

void ns_mj_note_start(NsMoreauJean *mj, bool same) {
  NsMjStart *start = &mj->start;
  const NsMjStart *last = &mj->last.start;
  int M = mj->layout.M, N = mj->layout.N;
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsEdge *edge = &mj->edges[e].base;
    memcpy(start->lambda + edge->row, edge->inter->lambda_k, (size_t)edge->m * sizeof *start->lambda);
    for (int i = 0; i < edge->m; i++)
      start->restitution[edge->row + i] = ns_law_restitution(edge->inter->law, i, mj->options.theta);
  }
  bool predicted = mj->base.predicted;
  mj->last.still = same && mj->last.ended && !mj->last.guessed && !predicted && mj->options.theta != 1 && mj->base.problem.W &&
                   same_numbers(mj->layout.Nx, start->q, last->q) && same_numbers(N, start->v, last->v) &&
                   same_numbers(N, start->F, last->F) && same_numbers(M, start->y, last->y) &&
                   same_numbers(M, start->u, last->u) && same_numbers(M, start->lambda, last->lambda) &&
                   same_numbers(M, start->restitution, last->restitution);
  mj->last.guessed = predicted;
}

bool ns_mj_repeats(NsScheme *scheme) {
  NsMoreauJean *mj = (NsMoreauJean *)scheme;
  bool repeats = mj->last.still;
  for (int d = 0; d < mj->layout.nnodes && repeats; d++) repeats = repeats_system(&mj->nodes[d]);
  for (int e = 0, g = 0; e < mj->layout.nedges && repeats; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    repeats = edge->contact && !edge->base.D && (edge->base.active < 0 || repeats_law(mj, edge, &mj->groups[g++]));
  }
  if (!repeats) return false;
  memcpy(mj->lambda, mj->start.lambda, (size_t)mj->layout.M * sizeof *mj->lambda);
  return mj->decided = mj->last.ended = scheme->sure = true;
}
