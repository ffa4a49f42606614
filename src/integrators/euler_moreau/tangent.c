/*
** tangent.c
** The derivatives of a step of the theta-gamma scheme: see NsSchemeTangent.
*/
#include <string.h>

#include "integrators/euler_moreau/euler_moreau.h"

/* gamma < 1 weights r_k, too. */
static bool em_tangent_input(const NsIntegrator *integrator) {
  const NsEulerMoreauOptions *options = (const NsEulerMoreauOptions *)integrator;
  return options->gamma != 1 && !options->gamma_in_relation;
}

static void em_tangent_read(const NsScheme *scheme, double *w, double *lambda, bool *open) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)scheme;
  for (int i = 0; i < em->layout.nnodes; w += em->nodes[i++].base.n)
    memcpy(w, em->x + em->nodes[i].base.v, (size_t)em->nodes[i].base.n * sizeof *w);
  memcpy(lambda, em->lambda, (size_t)em->layout.M * sizeof *lambda);
  memset(open, 0, (size_t)em->layout.M * sizeof *open);
}

static const NsLayout *em_tangent_layout(const NsScheme *lin) {
  return &((const NsEulerMoreau *)lin)->layout;
}

static void em_tangent_place(NsScheme *lin, const double *w, const double *lambda, const bool *open) {
  NsEulerMoreau *em = (NsEulerMoreau *)lin;
  (void)open;
  for (int i = 0; i < em->layout.nnodes; i++) em->nodes[i].f_known = 0;
  memcpy(em->x, w, (size_t)em->layout.N * sizeof *w);
  memcpy(em->lambda, lambda, (size_t)em->layout.M * sizeof *lambda);
}

static NsStatus em_tangent_equations(NsScheme *lin, double *rho, double *y, NsError *err) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)lin;
  NsStatus status = lin->class->evaluate(lin, err);
  memcpy(rho, em->rho, (size_t)em->layout.N * sizeof *rho);
  memcpy(y, em->y, (size_t)em->layout.M * sizeof *y);
  return status;
}

static NsStatus em_tangent_before(NsScheme *lin, double *y, NsError *err) {
  NsEulerMoreau *em = (NsEulerMoreau *)lin;
  memcpy(em->x, em->x_k, (size_t)em->layout.N * sizeof *em->x);
  NsStatus status = lin->class->evaluate(lin, err);
  memcpy(y, em->y, (size_t)em->layout.M * sizeof *y);
  return status;
}

static void em_tangent_divide(const NsScheme *lin, double *w) {
  ns_layout_solve(&((const NsEulerMoreau *)lin)->layout, w);
}

static void em_tangent_respond(const NsScheme *lin, const double *dw, double *dy) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)lin;
  memset(dy, 0, (size_t)em->layout.M * sizeof *dy);
  for (int e = 0; e < em->layout.nedges; e++) {
    const NsEmEdge *edge = &em->edges[e];
    int m = edge->base.m;
    for (int p = 0; p < edge->base.nparts; p++) {
      const NsEmNode *node = &em->nodes[edge->base.parts[p].node];
      const double *C = edge->C + (size_t)edge->base.parts[p].at * (size_t)m;
      for (int k = 0; k < node->base.n; k++) {
        double f = em->weight_y * dw[node->base.v + k];
        for (int i = 0; f != 0 && i < m; i++) dy[edge->base.row + i] += f * C[i + (size_t)k * (size_t)m];
      }
    }
  }
}

static NsStatus em_tangent_state(NsScheme *lin, double *x, double *r, NsError *err) {
  const NsEulerMoreau *em = (const NsEulerMoreau *)lin;
  NsStatus status = lin->class->evaluate(lin, err);
  for (int i = 0; i < em->layout.nnodes; i++) {
    size_t n = (size_t)em->nodes[i].base.n;
    memcpy(x, em->x + em->nodes[i].base.v, n * sizeof *x);
    memcpy(r, em->r + em->nodes[i].base.v, n * sizeof *r);
    x += n, r += n;
  }
  return status;
}

const NsSchemeTangent ns_em_tangent = {.lin = &ns_scheme_euler_moreau,
                                       .input = em_tangent_input,
                                       .states = true,
                                       .read = em_tangent_read,
                                       .layout = em_tangent_layout,
                                       .place = em_tangent_place,
                                       .equations = em_tangent_equations,
                                       .before = em_tangent_before,
                                       .divide = em_tangent_divide,
                                       .respond = em_tangent_respond,
                                       .state = em_tangent_state,
                                       .vjp = ns_em_vjp};
