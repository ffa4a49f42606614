/*
** mixed_contacts.c
** Contacts of one cone, without rows: makes their block matrix and calls the chain of friction_chain.h.
*/
/*
** Assumptions: no rows; all contacts have one cone. Up to SLOTS contacts all blocks are stored, so the pattern
** depends only on the number of contacts, and a problem with a number of contacts seen before allocates nothing.
** Termination: as in the chain.
*/
#include "solvers/contact/mixed_contacts.h"

#include "base/memory.h"
#include "solvers/contact/friction_chain.h"

/* SLOTS: each number of contacts up to this has its own chain, so that steps with few contacts allocate nothing. */
enum { SLOTS = 8 };

/* A chain for contacts and its matrix. */
typedef struct Slot {
  NsFrictionChain *chain;
  NsBlock *W;
} Slot;

struct NsMixedContacts {
  Slot slot[NS_CONES][SLOTS + 1]; /* by cone and number of contacts (full pattern); index 0: all larger problems */
};

static void release_slot(Slot *slot) {
  if (!slot->W) return;
  ns_friction_chain_free(slot->chain);
  ns_block_free(slot->W);
  *slot = (Slot){NULL, NULL};
}

static void mixed_contacts_clear(NsMixedContacts *s) {
  for (int c = 0; c < NS_CONES; c++)
    for (int k = 0; k <= SLOTS; k++) release_slot(&s->slot[c][k]);
  *s = (NsMixedContacts){0};
}

/* Copies a dense W into a matrix with all blocks. */
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

/* The block (I, J); NULL if it is not in the pattern. */
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

/* Copies the values of p into the pattern of W; false: the pattern lacks a block. */
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

/* Makes a matrix with all blocks of p, or only with its nonzero blocks. */
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

/* Finds or makes the slot for v and fills its matrix. If v->contacts is set, always makes the slot again. */
static NsStatus take_slot(NsMixedContacts *s, const NsMixedView *v, Slot **out) {
  int nc = v->kinds.contacts;
  bool few = nc <= SLOTS, keep = !v->contacts;
  Slot *slot = *out = &s->slot[ns_cone_index(v->kinds.cone)][few ? nc : 0];
  if (keep && slot->W && slot->W->nb == nc && fill_blocks(&v->p, slot->W)) return NS_OK;
  release_slot(slot);
  NsStatus status = make_blocks(&v->p, v->kinds.cone->dim, keep && few, &slot->W);
  if (!status) status = ns_friction_chain_new(&slot->chain, v, slot->W);
  if (status) release_slot(slot);
  return status;
}

NsStatus ns_mixed_contacts_solve(NsMixedContacts *s, const NsMixedView *v, double *z, double *w, NsSolverInfo *info) {
  Slot *slot;
  NsStatus status = take_slot(s, v, &slot);
  return status ? status : ns_friction_chain_solve(slot->chain, v, slot->W, z, w, info);
}

/* ---- the method ---- */

static NsStatus mixed_contacts_reserve(void **work, NsSearch *search) {
  (void)search;
  return (*work = ns_alloc(1, sizeof(NsMixedContacts))) ? NS_OK : NS_ENOMEM;
}

static void mixed_contacts_release(void *work) {
  if (work) mixed_contacts_clear(work);
  ns_free(work);
}

static NsOutcome mixed_contacts_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {0};
  (void)mode;
  ns_mixed_copy(s, s->z, s->best);
  NsStatus status = ns_mixed_contacts_solve(work, &s->v, s->z, s->w, &info);
  for (int i = 0; i < s->v.p.n; i++) s->z[i] += 0; /* turns a force of -0 into 0 */
  if (status == NS_ETOOLARGE || status == NS_ENOSOL || status == NS_ERAY) s->verdict = status;
  return ns_mixed_candidate(s, status, &info);
}

const NsMethod ns_mixed_contacts = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                    .needs = "contacts of one cone alone",
                                    .reserve = mixed_contacts_reserve,
                                    .release = mixed_contacts_release,
                                    .run = mixed_contacts_run};
