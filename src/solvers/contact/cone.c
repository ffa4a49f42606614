/*
** cone.c
** What all cones of contacts share: projections, natural maps, and the derivative for Newton's method, disc by disc.
*/
#include "solvers/contact/cone.h"

#include <string.h>

#include "solvers/residual.h"

#define X(name) &ns_cone_##name,
const NsConeClass *const ns_cones[NS_CONES] = {NS_CONE_LIST(X)};
#undef X

const NsConeClass *ns_cone_find(int dim, int discs) {
  for (int k = 0; k < NS_CONES; k++)
    if (ns_cones[k]->dim == dim && ns_cones[k]->discs == discs) return ns_cones[k];
  return NULL;
}

int ns_cone_index(const NsConeClass *cone) {
  int k = 0;
  while (ns_cones[k] != cone) k++;
  return k;
}

/* ---- embedding ---- */

static bool cone_embeds(const NsConeClass *cone, const NsConeClass *into) {
  for (int k = 0; k < cone->discs; k++)
    if (k >= into->discs || ns_cone_width(cone, k) > ns_cone_width(into, k)) return false;
  return true;
}

const NsConeClass *ns_cone_join(const NsConeClass *a, const NsConeClass *b) {
  if (!a || a == b) return b;
  for (int k = 0; k < NS_CONES; k++)
    if (cone_embeds(a, ns_cones[k]) && cone_embeds(b, ns_cones[k])) return ns_cones[k];
  return NULL;
}

int ns_cone_embed(const NsConeClass *cone, const NsConeClass *into, int i) {
  int k = cone->discs - 1;
  while (k >= 0 && i < cone->first[k]) k--;
  return k < 0 ? i : i - cone->first[k] + into->first[k];
}

int ns_cone_source(const NsConeClass *cone, const NsConeClass *into, int i) {
  for (int from = 0; from < cone->dim; from++)
    if (ns_cone_embed(cone, into, from) == i) return from;
  return -1;
}

/* ---- projections ---- */

double ns_cone_slip(const NsConeClass *cone, const double *mu, const double *u) {
  double sum = mu[0] * ns_disc_length(u + 1, ns_cone_width(cone, 0));
  for (int k = 1; k < cone->discs; k++) sum += mu[k] * ns_disc_length(u + cone->first[k], ns_cone_width(cone, k));
  return sum;
}

/*
** The normal of the nearest point minimises (n - x_0)^2 + sum max(0, t_D - mu_D n)^2. The discs that are cut are found from all
** of them: to take away one that is not cut makes n larger, so that it stays uncut.
*/
static double cone_normal(const NsConeClass *cone, const double *mu, double x0, const double *t, bool *cut) {
  double normal = 0;
  for (int left = cone->discs, last = 0; left != last;) {
    double pull = 0, weight = 0;
    for (int k = 0; k < cone->discs; k++)
      if (cut[k]) pull += mu[k] * t[k], weight += mu[k] * mu[k];
    normal = (x0 + pull) / (1 + weight);
    last = left;
    for (int k = 0; k < cone->discs && left > 1; k++)
      if (cut[k] && t[k] <= mu[k] * normal) cut[k] = false, left--;
  }
  return normal;
}

void ns_cone_project(const NsConeClass *cone, const double *mu, double *x) {
  double t[NS_CONE_DISCS], reach = 0;
  bool inside = x[0] >= 0, cut[NS_CONE_DISCS];
  for (int k = 0; k < cone->discs; k++) {
    t[k] = ns_disc_length(x + cone->first[k], ns_cone_width(cone, k));
    inside = inside && t[k] <= mu[k] * x[0];
    reach += mu[k] * t[k];
    cut[k] = true;
  }
  if (inside) return;
  if (reach <= -x[0]) {
    for (int i = 0; i < cone->dim; i++) x[i] = 0;
    return;
  }
  x[0] = cone_normal(cone, mu, x[0], t, cut);
  for (int k = 0; k < cone->discs; k++)
    for (int i = cone->first[k]; cut[k] && t[k] > 0 && i < cone->first[k + 1]; i++) x[i] *= mu[k] * x[0] / t[k];
}

void ns_cone_admit(const NsConeClass *cone, const double *mu, double *x) {
  x[0] = ns_larger(x[0], 0);
  for (int k = 0; k < cone->discs; k++) {
    double length = ns_disc_length(x + cone->first[k], ns_cone_width(cone, k)), bound = mu[k] * x[0];
    for (int i = cone->first[k]; length > bound && i < cone->first[k + 1]; i++) x[i] *= bound / length;
  }
}

/* ---- natural maps ---- */

void ns_cone_clip(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x) {
  for (int i = 0; i < cone->dim; i++) x[i] = r[i] - rho * u[i];
  ns_cone_admit(cone, mu, x);
}

void ns_cone_shift(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, double *x) {
  for (int i = 0; i < cone->dim; i++) x[i] = r[i] - rho * u[i];
  for (int k = 0; k < cone->discs; k++) x[0] -= rho * mu[k] * ns_disc_length(u + cone->first[k], ns_cone_width(cone, k));
  cone->project(cone, mu, x);
}

/* ---- Newton's method ---- */

/* A disc of a closed contact: projects x = r_D - rho u_D on the disc of radius mu normal. */
static void disc_piece(const NsConeClass *cone, int k, double mu, double normal, const double *x, NsConePiece *out) {
  int from = cone->first[k], to = cone->first[k + 1], dim = cone->dim;
  double length = ns_disc_length(x + from, to - from), radius = mu * normal;
  if (length < radius || (length == radius && mu > 0)) {
    for (int i = from; i < to; i++) out->point[i] = x[i], out->D[i + i * dim] = 1;
    return;
  }
  double part = length > 0 ? radius / length : 0;
  for (int i = from; i < to; i++) {
    double along = length > 0 ? x[i] / length : 0;
    out->point[i] = part * x[i];
    out->D[i] = mu * along;
    for (int j = from; j < to && to - from > 1; j++)
      out->D[i + j * dim] = part * ((i == j) - (length > 0 ? along * x[j] / length : 0));
  }
}

void ns_cone_piece(const NsConeClass *cone, const double *mu, double rho, const double *r, const double *u, NsConePiece *out) {
  int dim = cone->dim;
  double x[NS_CONE_MOST], normal = r[0] - rho * u[0];
  memset(out->D, 0, (size_t)(dim * dim) * sizeof *out->D);
  for (int i = 0; i < dim; i++) x[i] = r[i] - rho * u[i], out->point[i] = 0;
  if (normal > 0) {
    out->D[0] = 1;
    out->point[0] = normal;
    for (int k = 0; k < cone->discs; k++) disc_piece(cone, k, mu[k], normal, x, out);
  }
  for (int i = 0; i < dim; i++) out->F[i] = r[i] - out->point[i];
}

void ns_cone_snap(const NsConeClass *cone, const double *mu, const NsConePiece *s, const double *z, double *to) {
  bool closed = s->point[0] > 0 && z[0] > 0;
  to[0] = closed ? z[0] : 0;
  for (int k = 0; k < cone->discs; k++) {
    int from = cone->first[k], width = ns_cone_width(cone, k);
    bool sticks = closed && s->D[from + from * cone->dim] == 1 && s->D[from] == 0;
    double slip = ns_disc_length(s->point + from, width);
    for (int i = from; i < from + width; i++)
      to[i] = sticks ? z[i] : closed && slip > 0 ? mu[k] * z[0] * s->point[i] / slip : 0;
  }
}

/* ---- one contact ---- */

void ns_cone_contact_set(NsConeContact *c, const NsConeClass *cone, const double *W, const double *mu, double rho) {
  c->cone = cone;
  c->W = W;
  for (int k = 0; k < cone->discs; k++) c->mu[k] = mu[k];
  c->rho = rho;
  if (cone->prepare) cone->prepare(c);
}

void ns_cone_contact_step(const NsConeContact *c, const double *b, double *r) {
  int dim = c->cone->dim;
  double u[NS_CONE_MOST] = {0};
  for (int i = 0; i < dim; i++) {
    u[i] = b[i];
    for (int j = 0; j < dim; j++) u[i] += c->W[i + j * dim] * r[j];
  }
  u[0] += ns_cone_slip(c->cone, c->mu, u);
  for (int i = 0; i < dim; i++) r[i] -= c->rho * u[i];
  c->cone->project(c->cone, c->mu, r);
}

/* regular: a pivot below this part of the largest entry is zero. 1e-13: rounding. */
static const double regular = 1e-13;

static void cone_swap(double *a, double *b) {
  double t = *a;
  *a = *b;
  *b = t;
}

bool ns_cone_linear(int n, double *A, double *x) {
  double most = 0;
  for (int k = 0; k < n * n; k++) most = ns_larger(most, fabs(A[k]));
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(A[i + k * n]) > fabs(A[pivot + k * n])) pivot = i;
    if (!(fabs(A[pivot + k * n]) > regular * most)) return false;
    for (int j = k; j < n; j++) cone_swap(&A[k + j * n], &A[pivot + j * n]);
    cone_swap(&x[k], &x[pivot]);
    for (int i = k + 1; i < n; i++) {
      double f = A[i + k * n] / A[k + k * n];
      for (int j = k + 1; j < n; j++) A[i + j * n] -= f * A[k + j * n];
      x[i] -= f * x[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) x[k] -= A[k + j * n] * x[j];
    x[k] /= A[k + k * n];
  }
  return true;
}
