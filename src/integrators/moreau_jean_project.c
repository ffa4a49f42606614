/*
** moreau_jean_project.c
** The projection of the coordinates on the constraints.
*/
#include <math.h>
#include <string.h>

#include "integrators/moreau_jean_parts.h"

/* The rows of an interaction that the coordinates must keep: all of an equation, the normal of a contact. */
static int constrained_rows(const NsMjEdge *edge) {
  const NsLaw *law = edge->inter->law;
  if (edge->at_position || law->kind == NS_LAW_RELAY) return 0;
  return law->kind == NS_LAW_FRICTION ? 1 : law->kind == NS_LAW_MIXED ? law->equalities : edge->m;
}

double ns_moreau_jean_violation(const NsMoreauJean *mj) {
  double most = 0;
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; i < constrained_rows(edge); i++) {
      double y = mj->y[edge->row + i];
      most = fmax(most, edge->unilateral ? -y : fabs(y));
    }
  }
  return most;
}

/* Which rows take part: those of equations, those of contacts that did or that penetrate. */
static void number_positions(NsMoreauJean *mj) {
  mj->problem.n = mj->problem.ngroups = 0;
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    NsMjEdge *edge = &mj->edges[e];
    int rows = constrained_rows(edge);
    bool took_part = edge->active >= 0;
    for (int i = 0; i < rows && !took_part; i++) took_part = mj->y[edge->row + i] < 0;
    edge->active = rows > 0 && took_part ? mj->problem.n : -1;
    for (int i = 0; edge->active >= 0 && i < rows; i++) {
      mj->groups[mj->problem.ngroups++] = (NsMixedGroup){1, edge->unilateral ? 0 : -INFINITY, INFINITY, 0};
      mj->qvec[mj->problem.n] = mj->y[edge->row + i];
      mj->group_edge[mj->problem.n++] = e;
    }
  }
}

static void put_positions(const NsMoreauJean *mj, const NsMjSink *sink) {
  for (int d = 0; d < mj->nsds->nds; d++)
    for (int x = 0; x < mj->nodes[d].nedges; x++)
      for (int y = 0; y < mj->nodes[d].nedges; y++) {
        const NsMjEdge *a = &mj->edges[mj->nodes[d].edges[x]], *b = &mj->edges[mj->nodes[d].edges[y]];
        if (a->active < 0 || b->active < 0) continue;
        ns_mj_put_coupling(mj, a, ns_mj_part_of(a, d), constrained_rows(a), b, ns_mj_part_of(b, d), constrained_rows(b), sink);
      }
}

static void put_sparse_positions(const void *context, NsTriplets *t) {
  const NsMoreauJean *mj = context;
  NsMjSink sink = {NULL, mj->problem.n, t};
  put_positions(mj, &sink);
}

NsStatus ns_moreau_jean_positions(NsMoreauJean *mj, const NsMixedProblem **problem, NsError *err) {
  if (!mj->projected) memcpy(mj->q_free, mj->q, (size_t)mj->Nq * sizeof *mj->q);
  mj->projected = true;
  mj->matrix_formed = false; /* the room of the step's matrix is used */
  ns_mj_straighten(mj);
  number_positions(mj);
  for (int e = 0; e < mj->nsds->ninteractions; e++) ns_mj_solve_parts(mj, &mj->edges[e], true);
  int n = mj->problem.n;
  mj->problem.q = mj->qvec;
  mj->problem.W = n <= DENSE_ROWS ? mj->matrix : NULL;
  mj->problem.sparse = NULL;
  *problem = &mj->problem;
  if (n <= DENSE_ROWS) {
    NsMjSink sink = {mj->matrix, n, NULL};
    memset(mj->matrix, 0, (size_t)n * (size_t)n * sizeof *mj->matrix);
    put_positions(mj, &sink);
    return NS_OK;
  }
  NsStatus status = ns_triplets_form(&mj->sparse, n, put_sparse_positions, mj);
  mj->problem.sparse = mj->sparse;
  return status == NS_OK ? NS_OK : ns_fail(err, status, "the projection: %s", ns_status_message(status));
}

NsStatus ns_moreau_jean_shift(NsMoreauJean *mj, const double *nu, NsError *err) {
  memset(mj->work, 0, (size_t)mj->Nv * sizeof *mj->work);
  for (int e = 0; e < mj->nsds->ninteractions; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int p = 0; edge->active >= 0 && p < edge->nparts; p++) {
      const NsMjNode *node = &mj->nodes[edge->parts[p].node];
      for (int i = 0; i < constrained_rows(edge); i++)
        for (int j = 0; j < node->ds->nv; j++)
          mj->work[node->v + j] +=
              nu[edge->active + i] * edge->parts[p].X[j + (size_t)i * (size_t)node->ds->nv];
    }
  }
  for (int d = 0; d < mj->nsds->nds; d++) {
    const NsMjNode *node = &mj->nodes[d];
    ns_mechanical_move(node->ds, mj->q + node->q, mj->work + node->v, 1, mj->q + node->q);
  }
  return ns_mj_evaluate_outputs(mj, true, err);
}
