/* placeholder until the real one lands */
#include "solvers/mixed.h"
#include <math.h>
#include "base/memory.h"
#include "solvers/friction_local.h"
struct NsMixed { NsMixedOptions o; };
NsStatus ns_mixed_new(NsMixed **out) { *out = ns_alloc(1, sizeof **out); return *out ? NS_OK : NS_ENOMEM; }
void ns_mixed_free(NsMixed *s) { ns_free(s); }
NsMixedOptions *ns_mixed_options(NsMixed *s) { return &s->o; }
NsStatus ns_mixed_solve(NsMixed *s, const NsMixedProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info) {
  (void)s; *info = (NsSolverInfo){.status = NS_ENOCONV};
  if (p->ngroups == 1 && p->groups[0].dim == 2) { NsContact c; double rho = 1 / p->W[0]; ns_contact_set(&c, 2, p->W, p->groups[0].mu, rho);
    z[0]=guess[0]; z[1]=guess[1];
    if (ns_contact_solve2(&c, p->q, z)) { info->status = NS_OK; for (int i=0;i<2;i++) w[i]=p->q[i]+p->W[i]*z[0]+p->W[i+2]*z[1]; } }
  return info->status;
}
