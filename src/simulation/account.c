/*
** account.c
** The energy of the mechanical systems, and the account of what has changed it.
*/
#include "simulation/time_stepping.h"

/* Kinetic and potential energy of the present state, which is that at t. */
static NsStatus energy_at(NsTimeStepping *ts, double t, double *kinetic, double *potential, NsError *err) {
  NsStatus status = NS_OK;
  bool any = false;
  *kinetic = *potential = 0;
  for (int i = 0; i < ts->nsds->nds && status == NS_OK; i++) {
    NsMechanicalDs *ds = (NsMechanicalDs *)ts->nsds->ds[i];
    double T = 0, V = 0;
    if (ns_ds_family(ts->nsds->ds[i]) != NS_MECHANICS) continue;
    any = true;
    if (ts->integrator->class->energy) {
      status = ts->integrator->class->energy(ds, t, &T, &V, err);
    } else {
      status = ns_mechanical_kinetic(ds, t, &T, err);
      if (status == NS_OK) status = ns_mechanical_potential(ds, t, &V, err);
    }
    *kinetic += T;
    *potential += V;
  }
  if (!any && ts->nsds->nds > 0)
    return ns_fail(err, NS_EARG, "energy: dynamical system '%s' is a first-order one", ts->nsds->ds[0]->name);
  return status;
}

NsStatus ns_ts_energy(NsTimeStepping *ts, double *kinetic, double *potential, NsError *err) {
  return energy_at(ts, ns_ts_time(ts), kinetic, potential, err);
}

void ns_ts_account(NsTimeStepping *ts) {
  ts->accounting = true;
  ts->total_known = false;
  ts->energy = ts->energy_k = (NsEnergyAccount){0};
}

NsStatus ns_ts_account_total(NsTimeStepping *ts, double t, NsError *err) {
  double kinetic, potential;
  NsStatus status = energy_at(ts, t, &kinetic, &potential, err);
  ts->total_known = status == NS_OK;
  if (ts->total_known) ts->total = kinetic + potential;
  return status;
}

NsStatus ns_ts_account_changes(NsTimeStepping *ts, NsError *err) {
  bool known = ts->total_known;
  double before = ts->total;
  if (!ts->accounting) return NS_OK;
  NsStatus status = ns_ts_account_total(ts, ns_ts_time(ts), err);
  if (status == NS_OK && known) ts->energy.forces += ts->total - before;
  return status;
}
