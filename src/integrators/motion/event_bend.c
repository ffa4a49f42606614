/*
** event_bend.c
** Derivatives of H = C T, of u = H v + dh/dt and of the bias, y'' at constant v, from the curvature of a relation. With w = T v and the
** rate of w at constant v, tau = -|omega|^2 / 4 e for a quaternion e, else 0:
**   bias = (the rate of C w + dh/dt along w, at fixed w) + C tau.
*/
#include "integrators/motion/event_bend.h"

#include <string.h>

typedef struct NsBendRoom {
  double *x, *v, *w, *tau;    /* nx, nv, nx, nx */
  double *second, *drift;     /* of NsRelationCurvature */
  double *by_w, *part, *more; /* m x nx: the derivative of the bias by w; m x nv; for the relation */
} NsBendRoom;

static ptrdiff_t bend_most(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

void ns_edge_bend_make(NsEdgeBend *bend, NsArena *arena, const NsEventDriven *ed) {
  const NsNsds *nsds = ed->run.base.nsds;
  ptrdiff_t nx = 0, slopes = 0, all = 0, room = 0;
  for (int e = 0; e < nsds->ninteractions; e++) {
    const NsInteraction *inter = nsds->interactions[e];
    nx = bend_most(nx, inter->nx);
    slopes = bend_most(slopes, (ptrdiff_t)inter->m * inter->nx);
    all = bend_most(all, (ptrdiff_t)inter->m * inter->nx * inter->nx);
    room = bend_most(room, (ptrdiff_t)ns_relation_curvature_room(inter->relation));
  }
  NsBendRoom *own = bend->room = ns_arena_take(arena, 1, sizeof *own);
  NS_ARENA_INTS(arena, (int)nx, &bend->q, &bend->v);
  bend->H_q = ns_arena_doubles(arena, all);
  NS_ARENA_VECTORS(arena, slopes, &bend->u_q, &bend->bias_q, &bend->bias_v);
  if (!own) return;
  NS_ARENA_VECTORS(arena, nx, &own->x, &own->v, &own->w, &own->tau);
  NS_ARENA_VECTORS(arena, slopes, &own->drift, &own->by_w, &own->part);
  own->second = ns_arena_doubles(arena, all);
  own->more = ns_arena_doubles(arena, room);
}

static const NsMechanicalDs *bent_system(const NsEventDriven *ed, int interaction, int part) {
  return (const NsMechanicalDs *)ed->run.base.nsds->interactions[interaction]->ds[part];
}

void ns_edge_bend_place(NsEdgeBend *bend, const NsEventDriven *ed, int interaction) {
  const NsInteraction *inter = ed->run.base.nsds->interactions[interaction];
  bend->m = inter->m, bend->nx = bend->nv = 0;
  bend->C = ns_motion_jacobian(ed->motion, interaction);
  for (int p = 0; p < inter->nds; p++) {
    const NsMechanicalDs *ds = bent_system(ed, interaction, p);
    int q = ns_motion_first_q(ed->motion, ds->base.node), v = ns_motion_first_v(ed->motion, ds->base.node);
    for (int j = 0; j < ds->nq; j++) bend->q[bend->nx++] = q + j;
    for (int j = 0; j < ds->nv; j++) bend->v[bend->nv++] = v + j;
  }
}

/* x, v, w and tau of the systems. */
static void gather_bend(const NsEdgeBend *bend, const NsEventDriven *ed, int interaction, const double *u) {
  NsBendRoom *r = bend->room;
  for (int j = 0; j < bend->nx; j++) r->x[j] = u[bend->q[j]];
  for (int j = 0; j < bend->nv; j++) r->v[j] = u[ed->Nq + bend->v[j]];
  memset(r->tau, 0, (size_t)bend->nx * sizeof *r->tau);
  for (int p = 0, x = 0, v = 0; x < bend->nx; p++) {
    const NsMechanicalDs *ds = bent_system(ed, interaction, p);
    const double *omega = r->v + v + 3;
    ns_mechanical_rate(ds, r->x + x, r->v + v, r->w + x);
    for (int j = 3; j < 7 && ns_mechanical_turns(ds); j++)
      r->tau[x + j] = -(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]) / 4 * r->x[x + j];
    x += ds->nq, v += ds->nv;
  }
}

/* by_w: second w by either index, and twice the drift. bias_q begins with what second tau gives. */
static void bend_along(const NsEdgeBend *bend) {
  const NsBendRoom *r = bend->room;
  ptrdiff_t m = bend->m, nx = bend->nx;
  for (ptrdiff_t e = 0; e < m * nx; e++) r->by_w[e] = 2 * r->drift[e];
  for (ptrdiff_t k = 0; k < nx; k++)
    for (ptrdiff_t j = 0; j < nx; j++)
      for (ptrdiff_t i = 0; i < m; i++) {
        double bent = r->second[i + m * (j + nx * k)];
        r->by_w[i + m * k] += bent * r->w[j];
        r->by_w[i + m * j] += bent * r->w[k];
        bend->bias_q[i + m * k] += bent * r->tau[j];
      }
}

/* The parts of one system, whose first coordinate and velocity are x and v of the interaction. */
static void bend_system(const NsEdgeBend *bend, const NsMechanicalDs *ds, int x, int v) {
  const NsBendRoom *r = bend->room;
  ptrdiff_t m = bend->m, nv = bend->nv;
  int rows = bend->m;
  for (ptrdiff_t k = 0; k < bend->nx; k++)
    ns_mechanical_to_velocity(ds, r->x + x, rows, r->second + m * (x + bend->nx * k), bend->H_q + m * (v + nv * k));
  ns_mechanical_to_velocity(ds, r->x + x, rows, r->by_w + m * x, bend->bias_v + m * v);
  if (!ns_mechanical_turns(ds)) return;
  const double *omega = r->v + v + 3, *C = bend->C + m * x;
  double square = omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2];
  for (ptrdiff_t k = 3; k < 7; k++) { /* T changes with the quaternion, and is linear in it */
    double unit[7] = {0}, rate[7];
    unit[k] = 1;
    ns_mechanical_to_velocity(ds, unit, rows, C, r->part);
    for (ptrdiff_t e = 3 * m; e < 6 * m; e++) bend->H_q[e + m * (v + nv * (x + k))] += r->part[e];
    ns_mechanical_rate(ds, unit, r->v + v, rate);
    for (ptrdiff_t i = 0; i < m; i++) {
      double sum = -square / 4 * C[i + m * k];
      for (ptrdiff_t l = 3; l < 7; l++) sum += r->by_w[i + m * (x + l)] * rate[l];
      bend->bias_q[i + m * (x + k)] += sum;
      for (ptrdiff_t j = 0; j < 3; j++) bend->bias_v[i + m * (v + 3 + j)] -= omega[j] / 2 * C[i + m * k] * r->x[x + k];
    }
  }
}

bool ns_edge_bend_take(NsEdgeBend *bend, const NsEventDriven *ed, int interaction, double t, const double *u) {
  const NsInteraction *inter = ed->run.base.nsds->interactions[interaction];
  const NsBendRoom *r = bend->room;
  double *none = bend->u_q; /* m: lambda, zeros */
  ns_edge_bend_place(bend, ed, interaction);
  gather_bend(bend, ed, interaction, u);
  ptrdiff_t m = bend->m, nx = bend->nx, nv = bend->nv;
  memset(none, 0, (size_t)m * sizeof *none);
  NsRelationPoint at = {t, r->x, none, inter->z, false};
  NsRelationCurvature curvature = {r->second, r->drift, bend->bias_q};
  if (!ns_relation_curvature(inter->relation, &at, r->w, r->more, &curvature)) return false;
  bend_along(bend);
  for (int p = 0, x = 0, v = 0; x < nx; p++) {
    const NsMechanicalDs *ds = bent_system(ed, interaction, p);
    bend_system(bend, ds, x, v);
    x += ds->nq, v += ds->nv;
  }
  memcpy(bend->u_q, r->drift, (size_t)(m * nx) * sizeof *bend->u_q);
  for (ptrdiff_t k = 0; k < nx; k++)
    for (ptrdiff_t j = 0; j < nv; j++)
      for (ptrdiff_t i = 0; i < m; i++) bend->u_q[i + m * k] += bend->H_q[i + m * (j + nv * k)] * r->v[j];
  return true;
}
