/*
** energy.c
** The account of the energy in a step of the theta scheme.
*/
#include "integrators/energy.h"

#include <string.h>

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* left' A right with room for n numbers; 0 when the coefficient is absent. */
static double bilinear(const NsCoef *A, const double *left, const double *right, double *room, int n) {
  if (!ns_coef_given(A)) return 0;
  memset(room, 0, (size_t)n * sizeof *room);
  ns_coef_multiply_add(A, 1, right, room);
  return dot(left, room, n);
}

static void add(NsMechanicalDs *ds, const NsEnergyStep *s, double kinetic, double potential,
                NsEnergyAccount *account) {
  int n = ds->nv;
  double theta = s->theta, h = s->h, *impulse = s->impulse, *mean = s->mean, *room = s->room;
  for (int i = 0; i < n; i++) mean[i] = s->v[i] - s->v_k[i];
  ns_mechanical_mass_times(ds, s->M, mean, impulse);
  double momentum = 0.5 * (dot(s->v, impulse, n) + dot(s->v_k, impulse, n));
  for (int i = 0; i < n; i++) impulse[i] -= s->p[i];
  for (int i = 0; s->held && i < n; i++) {
    impulse[i] -= s->held[i];
    account->boundary += s->held[i] * 0.5 * (s->v[i] + s->v_k[i]);
  }
  for (int i = 0; i < n; i++) mean[i] = theta * s->v[i] + (1 - theta) * s->v_k[i];
  double all = dot(mean, impulse, n), damping = -h * bilinear(&ds->C, mean, mean, room, n);
  const double *acting = s->acting ? s->acting : s->q;
  double at_k = bilinear(&ds->K, mean, s->q_k, room, n), at_end = bilinear(&ds->K, mean, acting, room, n);
  double elastic = -h * (theta * at_end + (1 - theta) * at_k);
  double stored = 0.5 * (bilinear(&ds->K, s->q, s->q, room, n) - bilinear(&ds->K, s->q_k, s->q_k, room, n));
  account->damping += damping;
  account->forces += all - damping - elastic + (potential - stored);
  account->numerical += 0.5 * (dot(s->v, impulse, n) + dot(s->v_k, impulse, n)) - all; /* of the forces' impulse */
  account->numerical += elastic + stored;                                                /* of K */
  if (s->M) account->forces += kinetic - momentum; /* the inertia's change goes with the gyroscopic forces */
}

NsStatus ns_energy_add(NsMechanicalDs *ds, const NsEnergyStep *s, NsEnergyAccount *account, NsError *err) {
  double kinetic[2] = {0, 0}, potential[2];
  const double *q[] = {s->q_k, s->q}, *v[] = {s->v_k, s->v};
  NsStatus status = NS_OK;
  for (int i = 0; i < 2 && status == NS_OK; i++) {
    double t = i == 0 ? s->t_k : s->t;
    if (s->M) status = ns_mechanical_kinetic_at(ds, t, q[i], v[i], &kinetic[i], err);
    if (status == NS_OK) status = ns_mechanical_potential_at(ds, t, q[i], &potential[i], err);
  }
  if (status == NS_OK && s->M) status = ns_mechanical_mass(ds, s->t, s->acting ? s->acting : s->q, s->M, err);
  if (status == NS_OK) add(ds, s, kinetic[1] - kinetic[0], potential[1] - potential[0], account);
  return status;
}
