/*
** mixed_contacts.c
** Contacts of one dimension alone: their matrix in blocks, for the chain of friction_chain.h.
**
** Assumptions: no rows; all contacts in the plane, or all in space. Up to NS_MIXED_SLOTS contacts the blocks are all
** stored, so that the number of contacts alone is the pattern, and a problem of as many contacts as one before needs no memory.
*/
#include <string.h>

#include "solvers/contact/friction_chain.h"
#include "solvers/contact/mixed_methods.h"

static void release_slot(NsMixedSlot *slot) {
  ns_friction_chain_free(slot->chain);
  ns_block_free(slot->W);
  *slot = (NsMixedSlot){NULL, NULL};
}

void ns_mixed_contacts_release(NsMixedContacts *s) {
  for (int k = 0; k <= NS_MIXED_SLOTS; k++) release_slot(&s->slot[0][k]), release_slot(&s->slot[1][k]);
  ns_arena_release(&s->arena);
  *s = (NsMixedContacts){0};
}

static NsStatus mixed_contacts_reserve(NsMixedContacts *s, int nc) {
  if (nc <= s->capacity) return NS_OK;
  ns_arena_release(&s->arena);
  s->capacity = 0;
  s->mu = ns_arena_doubles(&s->arena, nc);
  if (s->arena.failed) return ns_arena_release(&s->arena), NS_ENOMEM;
  s->capacity = nc;
  return NS_OK;
}

/* All blocks there: W as it is. */
static void copy_blocks(const NsMixedProblem *p, NsBlock *W) {
  int dim = W->dim;
  double *to = W->value;
  for (int I = 0; I < W->nb; I++)
    for (int J = 0; J < W->nb; J++) {
      const double *from = p->W + (size_t)(I * dim) + (size_t)(J * dim) * (size_t)p->n;
      for (int j = 0; j < dim; j++, from += p->n)
        for (int i = 0; i < dim; i++) *to++ = from[i];
    }
}

/* The block (I, J); NULL where there is none. */
static double *find_block(const NsBlock *W, int I, int J) {
  int low = W->rowptr[I], high = W->rowptr[I + 1] - 1, size = W->dim * W->dim;
  while (low <= high) {
    int middle = low + (high - low) / 2;
    if (W->col[middle] == J) return W->value + (size_t)middle * (size_t)size;
    if (W->col[middle] < J) low = middle + 1;
    else high = middle - 1;
  }
  return NULL;
}

/* The values of p into the pattern of W; false: there is no block for one of them. */
static bool fill_blocks(const NsMixedProblem *p, NsBlock *W) {
  int dim = W->dim;
  if (p->W && ns_block_count(W) == W->nb * W->nb) return copy_blocks(p, W), true;
  memset(W->value, 0, (size_t)ns_block_count(W) * (size_t)(dim * dim) * sizeof(double));
  for (int j = 0; j < p->n; j++) {
    int from = p->W ? 0 : p->sparse->colptr[j], to = p->W ? p->n : p->sparse->colptr[j + 1];
    const double *value = p->W ? p->W + (size_t)j * (size_t)p->n : p->sparse->value;
    for (int k = from; k < to; k++) {
      int i = p->W ? k : p->sparse->row[k];
      if (value[k] == 0) continue;
      double *block = find_block(W, i / dim, j / dim);
      if (!block) return false;
      block[i % dim + j % dim * dim] = value[k];
    }
  }
  return true;
}

/* A matrix with the blocks of p that are not zero, or with all of them. */
static NsStatus make_blocks(const NsMixedProblem *p, int dim, bool full, NsBlock **out) {
  if (!full && p->W) return ns_block_from_dense(out, dim, p->n, p->W, p->n);
  if (!full) return ns_block_from_sparse(out, dim, p->sparse);
  NsArena room = {0};
  int nc = p->n / dim, *i = ns_arena_ints(&room, nc * nc), *j = ns_arena_ints(&room, nc * nc);
  double *zeros = ns_arena_doubles(&room, nc * nc);
  NsStatus status = room.failed ? NS_ENOMEM : NS_OK;
  for (int k = 0; !status && k < nc * nc; k++) i[k] = k % nc * dim, j[k] = k / nc * dim;
  if (!status) status = ns_block_from_triplets(out, dim, p->n, (ptrdiff_t)nc * nc, i, j, zeros);
  ns_arena_release(&room);
  if (!status) fill_blocks(p, *out);
  return status;
}

/* The slot of this size or pattern, its matrix filled and in *p. One method alone keeps nothing from problem to problem. */
static NsStatus take_slot(NsMixedContacts *s, const NsMixedView *v, NsFriction *p, NsFrictionChain **chain) {
  bool few = p->nc <= NS_MIXED_SLOTS, keep = v->contacts == NS_CONTACTS_MIXED;
  NsMixedSlot *slot = &s->slot[p->dim - 2][few ? p->nc : 0];
  if (keep && slot->W && slot->W->nb == p->nc && fill_blocks(&v->p, slot->W)) {
    p->W = slot->W;
    *chain = slot->chain;
    return NS_OK;
  }
  release_slot(slot);
  NsStatus status = make_blocks(&v->p, p->dim, keep && few, &slot->W);
  p->W = slot->W;
  if (!status) status = ns_friction_chain_new(&slot->chain, p, v->contacts);
  if (status) release_slot(slot);
  *chain = slot->chain;
  return status;
}

NsStatus ns_mixed_contacts(NsMixedContacts *s, const NsMixedView *v, double *z, double *w, NsSolverInfo *info) {
  NsFrictionChain *chain;
  NsFriction p = {v->kinds.dim, v->kinds.contacts, NULL, v->rho, NULL, v->p.q};
  NsStatus status = mixed_contacts_reserve(s, p.nc);
  if (status) return status;
  for (int g = 0; g < p.nc; g++) s->mu[g] = v->p.groups[g].mu;
  p.mu = s->mu;
  status = take_slot(s, v, &p, &chain);
  return status ? status : ns_friction_chain_solve(chain, v, &p, z, w, info);
}
