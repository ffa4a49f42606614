/*
** motion_energy.c
** Power and energy of stacked mechanical systems.
*/
#include "integrators/motion.h"

#include <string.h>

void ns_motion_power(const NsMotion *motion, const double *v, double *forces, double *damping) {
  const NsMotionView *view = ns_motion_view(motion);
  const NsNsds *nsds = ns_motion_nsds(motion);
  *forces = *damping = 0;
  for (int i = 0; i < view->Nv; i++) *forces += view->F[i] * v[i];
  for (int d = 0; d < nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)nsds->ds[d];
    if (ns_coef_given(&ds->C)) {
      double *w = ds->room;
      memset(w, 0, (size_t)ds->nv * sizeof *w);
      ns_coef_multiply_add(&ds->C, 1, v, w);
      for (int i = 0; i < ds->nv; i++) *damping -= v[i] * w[i];
    }
    v += ds->nv;
  }
  for (int i = 0; i < view->m; i++) {
    const NsInteraction *inter = nsds->interactions[ns_motion_interaction(motion, i)];
    *damping -= ns_law_viscous(inter->law) * view->u[i] * view->u[i];
  }
}

bool ns_motion_driven(const NsMotion *motion, int n, const int *rows) {
  const NsNsds *nsds = ns_motion_nsds(motion);
  for (int d = 0; d < nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)nsds->ds[d];
    if (ns_mechanical_driven(ds) || ds->fint_function.value || ds->mint_function.value) return true;
  }
  for (int k = 0; k < n; k++) {
    const NsInteraction *inter = nsds->interactions[ns_motion_interaction(motion, rows[k])];
    if (inter->relation->hdot.value || ns_law_varies(inter->law)) return true;
  }
  return false;
}

NsStatus ns_motion_energy(NsMotion *motion, double t, const double *q, const double *v, double *kinetic, double *potential,
                          NsError *err) {
  const NsNsds *nsds = ns_motion_nsds(motion);
  NsStatus status = NS_OK;
  *kinetic = *potential = 0;
  for (int i = 0; i < nsds->nds && status == NS_OK; i++) {
    NsMechanicalDs *ds = (NsMechanicalDs *)nsds->ds[i];
    double T = 0, V = 0;
    status = ns_ds_update(&ds->base, t, err);
    if (status == NS_OK) status = ns_mechanical_kinetic_at(ds, t, q, v, &T, err);
    if (status == NS_OK) status = ns_mechanical_potential_at(ds, t, q, &V, err);
    *kinetic += T;
    *potential += V;
    q += ds->nq;
    v += ds->nv;
  }
  return status;
}
