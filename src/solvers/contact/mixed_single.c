/*
** mixed_single.c
** One contact alone in closed form; the guess as a candidate.
*/
/*
** Assumptions: the problem is one contact. In the plane its modes are tried, in space the roots of a quartic are found.
** Termination: at once. Without an exact solution, the next method starts from a projected step.
** Bonnefon and Daviet, Quartic formulation of Coulomb 3D frictional contact, INRIA RT-0400, 2011.
*/
#include "solvers/contact/mixed_single.h"

#include "solvers/contact/friction_local.h"

static NsOutcome single_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {.solver = "exact", .iterations = 1};
  const NsMixedView *v = &s->v;
  NsContact contact;
  double block[9];
  (void)work, (void)mode;
  ns_mixed_copy(s, s->z, s->best);
  ns_mixed_block(&v->p, 0, v->p.n, block);
  ns_contact_set(&contact, v->p.n, block, v->p.groups[0].mu, v->rho[0]);
  bool exact = v->p.n == 2 ? ns_contact_solve2(&contact, v->p.q, s->z) : ns_contact_solve3(&contact, v->p.q, s->z);
  if (exact) return ns_mixed_candidate(s, NS_OK, &info);
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

const NsMethod ns_mixed_single = {
    .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE, .needs = "one contact", .run = single_run};

const NsMethod ns_mixed_guess = {.takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                 .run = mixed_guess_run};
