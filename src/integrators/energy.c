/*
** energy.c
** The energy balance of a step: of the theta scheme, and of two-step schemes.
*/
#include "integrators/energy.h"

#include <string.h>

#include "base/memory.h"

/* left' A right; 0 when the coefficient is absent. room (n) is workspace. */
static double bilinear(const NsCoef *A, const double *left, const double *right, double *room, int n) {
  if (!ns_coef_given(A)) return 0;
  memset(room, 0, (size_t)n * sizeof *room);
  ns_coef_multiply_add(A, 1, right, room);
  return ns_dot_numbers(left, room, n);
}

static void energy_add(NsMechanicalDs *ds, const NsEnergyStep *s, double kinetic, double potential, NsEnergyAccount *account) {
  int n = ds->nv;
  double theta = s->theta, h = s->h, *impulse = s->impulse, *mean = s->mean, *room = s->room;
  for (int i = 0; i < n; i++) mean[i] = s->v[i] - s->v_k[i];
  ns_mechanical_mass_times(ds, s->M, mean, impulse);
  double momentum = 0.5 * (ns_dot_numbers(s->v, impulse, n) + ns_dot_numbers(s->v_k, impulse, n));
  for (int i = 0; i < n; i++) impulse[i] -= s->p[i];
  for (int i = 0; s->held && i < n; i++) {
    impulse[i] -= s->held[i];
    account->boundary += s->held[i] * 0.5 * (s->v[i] + s->v_k[i]);
  }
  for (int i = 0; i < n; i++) mean[i] = theta * s->v[i] + (1 - theta) * s->v_k[i];
  double all = ns_dot_numbers(mean, impulse, n), damping = -h * bilinear(&ds->C, mean, mean, room, n);
  const double *acting = s->acting ? s->acting : s->q;
  double at_k = bilinear(&ds->K, mean, s->q_k, room, n), at_end = bilinear(&ds->K, mean, acting, room, n);
  double elastic = -h * (theta * at_end + (1 - theta) * at_k);
  double stored = 0.5 * (bilinear(&ds->K, s->q, s->q, room, n) - bilinear(&ds->K, s->q_k, s->q_k, room, n));
  account->damping += damping;
  account->forces += all - damping - elastic + (potential - stored);
  account->numerical += 0.5 * (ns_dot_numbers(s->v, impulse, n) + ns_dot_numbers(s->v_k, impulse, n)) -
                        all;                       /* error in the impulse of the forces */
  account->numerical += elastic + stored;          /* error in K */
  if (s->M) account->forces += kinetic - momentum; /* the change of the inertia belongs to the gyroscopic forces */
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
  if (status == NS_OK) energy_add(ds, s, kinetic[1] - kinetic[0], potential[1] - potential[0], account);
  return status;
}

/* ---- two-step schemes ---- */

/* Means over two positions: the potential energy, q' K q / 2, and the potential of a constant fExt. */
typedef struct Means {
  double potential, stored, lifted;
} Means;

static NsStatus take_means(NsMechanicalDs *ds, double t, const double *a, const double *b, double *room, Means *means,
                           NsError *err) {
  const double *q[] = {a, b};
  NsStatus status = NS_OK;
  *means = (Means){0};
  for (int i = 0; i < 2 && status == NS_OK; i++) {
    double potential = 0;
    status = ns_mechanical_potential_at(ds, t, q[i], &potential, err);
    means->potential += 0.5 * potential;
    means->stored += 0.25 * bilinear(&ds->K, q[i], q[i], room, ds->nv);
    if (ds->fext.value && !ns_coef_varies(&ds->fext)) means->lifted -= 0.5 * ns_dot_numbers(ds->fext.value, q[i], ds->nv);
  }
  return status;
}

/* The kinetic energy for the velocity w: the mean over the mass matrices at two positions. */
static NsStatus take_kinetic(NsMechanicalDs *ds, double t, const double *a, const double *b, const double *w, double *kinetic,
                             NsError *err) {
  double first = 0, second = 0;
  NsStatus status = ns_mechanical_kinetic_at(ds, t, a, w, &first, err);
  second = first;
  if (status == NS_OK && a != b && !ns_mechanical_constant_mass(ds))
    status = ns_mechanical_kinetic_at(ds, t, b, w, &second, err);
  *kinetic = 0.5 * (first + second);
  return status;
}

NsStatus ns_energy_staggered(NsMechanicalDs *ds, double t, double *kinetic, double *potential, NsError *err) {
  double h, other = 0;
  const double *before = ns_ds_before(&ds->base, &h);
  NsStatus status = ns_ds_update(&ds->base, t, err);
  for (int i = 0; i < ds->nv; i++) ds->pace[i] = before ? (ds->q[i] - before[i]) / h : ds->v[i];
  if (!before) before = ds->q;
  if (status == NS_OK) status = take_kinetic(ds, t, before, ds->q, ds->pace, kinetic, err);
  if (status == NS_OK) status = ns_mechanical_potential_at(ds, t, ds->q, potential, err);
  if (status == NS_OK) status = ns_mechanical_potential_at(ds, t, before, &other, err);
  *potential = 0.5 * (*potential + other);
  return status;
}

/* Adds the works of the step at its velocity `mean`. kinetic: change of the kinetic energy; before, after: of the step. */
static void energy_add_works(NsMechanicalDs *ds, const NsEnergyTwoSteps *s, double kinetic, const Means *before,
                             const Means *after, NsEnergyAccount *account) {
  int n = ds->nv;
  double part = s->q_m ? 1 : 0.5, momentum = ns_dot_numbers(s->mean, s->impulse, n),
         work = part * ns_dot_numbers(s->mean, s->p, n);
  double all = momentum - work, potential = after->potential - before->potential;
  double damping = -part * s->h * bilinear(&ds->C, s->mean, s->v, s->room, n);
  double known = -part * s->h * bilinear(&ds->K, s->mean, s->middle, s->room, n);
  double stored = after->stored - before->stored + after->lifted - before->lifted;
  if (ds->fext.value && !ns_coef_varies(&ds->fext)) known += part * s->h * ns_dot_numbers(s->mean, ds->fext.value, n);
  account->impacts += work;
  account->damping += damping;
  account->forces += all - damping - known + (potential - stored) + (kinetic - momentum);
  account->numerical += known + stored;
}

NsStatus ns_energy_add_two_steps(NsMechanicalDs *ds, const NsEnergyTwoSteps *s, NsEnergyAccount *account, NsError *err) {
  const double *start = s->q_m ? s->q_m : s->q_k;
  double kinetic[2];
  Means before, after;
  for (int i = 0; i < ds->nv; i++) s->mean[i] = s->q_m ? (s->q_k[i] - s->q_m[i]) / s->h : s->v_k[i];
  NsStatus status = take_kinetic(ds, s->t, start, s->q_k, s->mean, &kinetic[0], err);
  for (int i = 0; i < ds->nv; i++) ds->pace[i] = (s->q[i] - s->q_k[i]) / s->h;
  if (status == NS_OK) status = take_kinetic(ds, s->t, s->q_k, s->q, ds->pace, &kinetic[1], err);
  if (status == NS_OK) status = take_means(ds, s->t, start, s->q_k, s->room, &before, err);
  if (status == NS_OK) status = take_means(ds, s->t, s->q_k, s->q, s->room, &after, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < ds->nv; i++) {
    double change = ds->pace[i] - s->mean[i];
    s->mean[i] += 0.5 * change;
    ds->pace[i] = change;
  }
  ns_mechanical_mass_times(ds, s->M, ds->pace, s->impulse);
  energy_add_works(ds, s, kinetic[1] - kinetic[0], &before, &after, account);
  return NS_OK;
}
