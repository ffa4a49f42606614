/*
** account.c
** The energies of a step: works of the systems and of the multipliers.
*/
#include "integrators/moreau_jean/moreau_jean.h"

bool ns_mj_is_impact(const NsLaw *law, int i) {
  return !law->class->viscous && !ns_law_has_friction(law, i);
}

/* What the work of row i of a law counts as. */
static double *work_of(const NsLaw *law, int i, NsEnergyAccount *account) {
  return law->class->viscous ? &account->damping : ns_mj_is_impact(law, i) ? &account->impacts : &account->friction;
}

/* Adds the works of the multipliers (lambda times mean velocity of y). After a projection rows without a place take no part, and have a lambda. */
static void account_contacts(const NsMoreauJean *mj, NsEnergyAccount *account) {
  for (int e = 0; e < mj->layout.nedges; e++) {
    const NsMjEdge *edge = &mj->edges[e];
    for (int i = 0; i < edge->base.m; i++) {
      double mean = 0, weight = edge->base.weight;
      for (int p = 0; p < edge->base.nparts; p++) {
        const NsMjNode *node = &mj->nodes[edge->base.parts[p].node];
        for (int j = 0; j < node->ds->nv; j++)
          mean += edge->base.parts[p].H[i + (size_t)j * (size_t)edge->base.m] * 0.5 *
                  (mj->v[node->base.v + j] + mj->start.v[node->base.v + j]);
      }
      *work_of(edge->base.inter->law, i, account) += weight * mj->lambda[edge->base.row + i] * mean;
    }
  }
}

/* Moves the work of a linearised step's residual, which is no work of forces, from `forces` to `numerical`. */
static void account_residual(const NsMoreauJean *mj, const NsMjNode *node, NsEnergyAccount *account) {
  int from = node->base.v, to = from + node->ds->nv;
  double theta = mj->options.theta, work = 0;
  for (int i = from; i < to; i++) work += (theta * mj->v[i] + (1 - theta) * mj->start.v[i]) * mj->rho[i];
  account->forces -= work;
  account->numerical += work;
}

static NsStatus account_system(NsMoreauJean *mj, const NsMjNode *node, NsEnergyAccount *account, NsError *err) {
  int q = node->base.x, v = node->base.v;
  NsEnergyStep step = {mj->t_k,   mj->t, mj->h, mj->options.theta, mj->start.q + q,   mj->start.v + v, mj->q + q, mj->v + v,
                       mj->p + v, NULL,  NULL,  node->M,           mj->room.work + v, mj->rho + v,     mj->F + v};
  double before = 0, after = 0;
  if (node->ds->boundary) step.held = mj->held + v;
  if (mj->settle.projected) step.q = mj->settle.q_free + q;
  if (mj->settle.combined) step.acting = mj->q + q;
  if (ns_mj_leaves_residual(mj)) account_residual(mj, node, account); /* first: rho is workspace of the next call */
  NsStatus status = ns_energy_add(node->ds, &step, account, err);
  if (status != NS_OK || !mj->settle.projected) return status;
  const double *places[] = {mj->settle.q_free + q, mj->q + q};
  for (int i = 0; i < 2 && status == NS_OK; i++) {
    double kinetic = 0, potential = 0, *sum = i == 0 ? &before : &after;
    status = ns_mechanical_potential_at(node->ds, mj->t, places[i], &potential, err);
    if (status == NS_OK && node->M) status = ns_mechanical_kinetic_at(node->ds, mj->t, places[i], mj->v + v, &kinetic, err);
    *sum = kinetic + potential;
  }
  account->numerical += after - before;
  return status;
}

NsStatus ns_mj_account(NsMoreauJean *mj, NsEnergyAccount *account, NsError *err) {
  NsEnergyAccount sum = *account;
  for (int d = 0; d < mj->layout.nnodes; d++) {
    NsStatus status = account_system(mj, &mj->nodes[d], &sum, err);
    if (status != NS_OK) return status;
  }
  account_contacts(mj, &sum);
  *account = sum;
  return NS_OK;
}
