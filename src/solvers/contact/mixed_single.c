/*
** mixed_single.c
** One contact alone, as its cone solves it; the guess as a candidate.
*/
/*
** Assumptions: the problem is one contact.
** Termination: at once. Without a solution, the next method starts from a projected step.
*/
#include "solvers/contact/mixed_search.h"

static NsOutcome single_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {.solver = "exact", .iterations = 1};
  const NsMixedView *v = &s->v;
  NsConeContact contact;
  double block[NS_CONE_MOST * NS_CONE_MOST];
  (void)work, (void)mode;
  ns_mixed_copy(s, s->z, s->best);
  ns_mixed_block(&v->p, 0, v->p.n, block);
  ns_cone_contact_set(&contact, v->kinds.cone, block, v->p.groups[0].mu, v->rho[0]);
  if (contact.cone->solve(&contact, v->p.q, s->z)) return ns_mixed_candidate(s, NS_OK, &info);
  ns_mixed_copy(s, s->best, s->z);
  return ns_mixed_outcome(s, NS_ENOCONV, &info);
}

static NsOutcome mixed_guess_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {.solver = "guess", .warm = true};
  (void)work, (void)mode;
  ns_mixed_copy(s, s->z, s->best);
  return ns_mixed_candidate(s, NS_OK, &info);
}

/* One contact by its cone (cone.h); has one mode. */
const NsMethod ns_mixed_single = {
    .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE, .needs = "one contact", .run = single_run};

/* Takes the guess as a candidate; has one mode. */
const NsMethod ns_mixed_guess = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                 .run = mixed_guess_run};
