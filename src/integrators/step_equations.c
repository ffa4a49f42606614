/*
** step_equations.c
** The equations of a step: the linearisation, its points, differences, the linear system.
*/
#include "integrators/step_equations.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"

/* A linear model with up to so many memories has the matrix Phi: its product takes less time than the equations. */
enum { MOST_MEMORIES = 256 };

static void tangent_free(void *lin) {
  NsStepEquations *T = lin;
  if (!T) return;
  ns_scheme_free(T->lin);
  ns_lu_free(T->lu);
  ns_lu_free(T->positions);
  ns_arena_release(&T->arena);
  ns_free(T);
}

int ns_step_memories(const NsStepEquations *T) {
  return T->n + (T->input ? T->nr : 0) + (T->of->before_states ? T->n : 0);
}

int ns_step_memories_after(const NsStepEquations *T) {
  return T->n + (T->input ? T->nr : 0);
}

static void tangent_take_vectors(NsStepEquations *T) {
  NsArena *arena = &T->arena;
  int n = T->n, nr = T->nr, N = T->N, M = T->M, p = T->p, state = n + nr > N + M ? n + nr : N + M;
  NS_LAYOUT_VECTORS(arena, n, &T->x_k, &T->before, &T->most);
  NS_LAYOUT_VECTORS(arena, nr, &T->r_k);
  NS_LAYOUT_VECTORS(arena, N, &T->graph_w, &T->w, &T->w_most, &T->dw, &T->far, &T->kept);
  NS_LAYOUT_VECTORS(arena, M, &T->lambda, &T->y, &T->y_start, &T->y_terms, &T->lambda_most, &T->dy, &T->row, &T->dl, &T->far_l,
                    &T->kept_l);
  NS_LAYOUT_VECTORS(arena, state, &T->sample, &T->once, &T->twice);
  NS_LAYOUT_VECTORS(arena, p, &T->numbers, &T->weights, &T->mix_weights, &T->parts);
  T->unit = ns_arena_doubles(arena, N > M ? N : M);
  T->mix = ns_arena_doubles(arena, 2 * (ptrdiff_t)n + nr + N + M);
  T->open = ns_arena_take(arena, (size_t)M, sizeof *T->open);
  T->touches = ns_arena_take(arena, (size_t)M, sizeof *T->touches);
  T->mode = ns_arena_take(arena, (size_t)M, sizeof *T->mode);
  T->mode_before = ns_arena_take(arena, (size_t)M, sizeof *T->mode);
  T->seen = ns_arena_take(arena, (size_t)p, sizeof *T->seen);
  T->R = ns_arena_matrix(arena, nr, p);
  T->before_slope = ns_arena_matrix(arena, n, p);
  T->x_new = ns_arena_matrix(arena, n, p);
  T->r_new = ns_arena_matrix(arena, nr, p);
  T->P = ns_arena_matrix(arena, M, M);
  T->P_before = ns_arena_matrix(arena, M, M);
  T->K = ns_arena_matrix(arena, M, M);
  T->C = ns_arena_matrix(arena, M, N);
  if (T->settles) {
    T->gaps = ns_arena_doubles(arena, M);
    T->rho = ns_arena_doubles(arena, N);
    T->positions_matrix = ns_arena_matrix(arena, M, M);
    T->dw_all = ns_arena_matrix(arena, N, p);
    T->dl_all = ns_arena_matrix(arena, M, p);
  }
  if (ns_step_memories(T) <= MOST_MEMORIES && !T->settles)
    T->Phi = ns_arena_matrix(arena, ns_step_memories_after(T), ns_step_memories(T));
}

NsStatus ns_step_equations_new(NsSensitivity *s, const NsScheme *scheme, NsError *err) {
  NsStepEquations *T = s->lin = ns_alloc(1, sizeof *T);
  if (!T) return ns_fail(err, NS_ENOMEM, "not enough memory");
  s->free_lin = tangent_free;
  T->s = s;
  T->p = s->p;
  T->graph = scheme->nsds;
  T->read = scheme->class->tangent;
  T->formed = -1;
  T->first = true;
  NsSchemePlan plan = {.lin = true};
  NsStatus status = T->read->lin->create(&T->lin, scheme->integrator, T->graph, &plan);
  if (status != NS_OK) return ns_fail(err, status, "not enough memory");
  T->of = T->lin->class->tangent;
  T->layout = T->of->layout(T->lin);
  T->n = s->nx;
  T->input = T->of->input && T->of->input(scheme->integrator);
  T->settles = s->options->settles > 0;
  T->N = T->layout->N;
  T->M = T->layout->M;
  for (int d = 0; d < T->graph->nds; d++) T->nr += T->graph->ds[d]->nr;
  tangent_take_vectors(T);
  if (T->arena.failed || ns_lu_new(&T->lu, T->M) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  T->rows = (NsStepRows){T->graph, T->open, T->y, T->lambda, T->y_terms, T->lambda_most, T->mode, 1, s->options->one_sided};
  return NS_OK;
}

/* ---- the point ---- */

/* Writes the memories of the systems: those of the step plus e times a direction. */
static void tangent_write_memories(const NsStepEquations *T, const NsStepDirection *along, double e) {
  for (int d = 0, i = 0, k = 0; d < T->graph->nds; d++) {
    NsDs *ds = T->graph->ds[d];
    for (int j = 0; j < ds->n; j++) ds->x_k[j] = T->x_k[i + j] + (along && along->x ? e * along->x[i + j] : 0);
    for (int j = 0; j < ds->n && T->of->before_states && ds->x_before; j++)
      ds->x_before[j] = T->before[i + j] + (along && along->before ? e * along->before[i + j] : 0);
    for (int j = 0; j < ds->nr; j++) ds->r_k[j] = T->r_k[k + j] + (along && along->r ? e * along->r[k + j] : 0);
    i += ds->n;
    k += ds->nr;
  }
}

static void tangent_write_parameters(const NsStepEquations *T, const double *p, double e) {
  NsSensitivity *s = T->s;
  for (int j = 0; j < T->p; j++) {
    if (!s->acts[j] || p[j] == 0) continue;
    ns_sensitivity_set(s, s->parameters[j].number, T->numbers[j] + e * p[j], s->parameters[j].version, T->seen[j]);
  }
}

void ns_step_restore(const NsStepEquations *T) {
  for (int j = 0; j < T->p; j++) {
    const NsParameter *parameter = &T->s->parameters[j];
    if (!T->s->acts[j]) continue;
    *parameter->number = T->numbers[j];
    if (parameter->version) *parameter->version = T->seen[j];
  }
}

void ns_step_take(NsStepEquations *T, const NsScheme *scheme) {
  T->read->read(scheme, T->graph_w, T->lambda, T->open);
  for (int d = 0, i = 0, k = 0; d < T->graph->nds; d++) {
    const NsDs *ds = T->graph->ds[d];
    memcpy(T->x_k + i, ds->x_k, (size_t)ds->n * sizeof(double));
    memcpy(T->r_k + k, ds->r_k, (size_t)ds->nr * sizeof(double));
    if (T->of->before_states && ds->x_before) memcpy(T->before + i, ds->x_before, (size_t)ds->n * sizeof(double));
    memcpy(T->w + T->layout->nodes[d]->v, T->graph_w + k, (size_t)ds->nr * sizeof(double));
    for (int j = 0; j < ds->n; j++) T->most[i + j] = fmax(T->most[i + j], fabs(ds->x_k[j]));
    for (int j = 0; j < ds->nr; j++) {
      int at = T->layout->nodes[d]->v + j, last = i + ds->n - ds->nr + j, state = T->of->coordinates ? i + j : last;
      double change = fabs(T->w[at] - T->x_k[state]), size = fmax(fabs(T->w[at]), change);
      T->w_most[at] = fmax(T->w_most[at], size);
      if (T->of->states) T->most[state] = fmax(T->most[state], size);
      if (T->of->coordinates) T->most[last] = fmax(T->most[last], change / T->step.h); /* the velocity */
    }
    i += ds->n;
    k += ds->nr;
  }
  for (int i = 0; i < T->M; i++) T->lambda_most[i] = fmax(T->lambda_most[i], fabs(T->lambda[i]));
  for (int j = 0; j < T->p; j++) {
    const NsParameter *parameter = &T->s->parameters[j];
    T->numbers[j] = parameter->number ? *parameter->number : 0;
    T->seen[j] = parameter->version ? *parameter->version : 0;
  }
}

NsStatus ns_step_measure_states(NsStepEquations *T, NsError *err) {
  if (T->of->states) return NS_OK;
  NsStatus status = T->of->state(T->lin, T->once, T->once + T->n, err);
  for (int i = 0; i < T->n && status == NS_OK; i++)
    T->most[i] = fmax(T->most[i], fmax(fabs(T->once[i]), fabs(T->once[i] - T->x_k[i])));
  return status;
}

NsStatus ns_step_place(NsStepEquations *T, const NsStepDirection *along, double e, bool at_start, NsError *err) {
  NsStep step = T->step;
  if (at_start) step.t = step.t_k;
  tangent_write_memories(T, along, e);
  if (along && along->p) tangent_write_parameters(T, along->p, e);
  NsStatus status = T->lin->class->begin(T->lin, &step, err);
  const double *w = T->w, *lambda = T->lambda;
  if (along && along->w) {
    for (int i = 0; i < T->N; i++) T->unit[i] = T->w[i] + e * along->w[i];
    w = T->unit;
  }
  if (along && along->lambda) {
    for (int i = 0; i < T->M; i++) T->row[i] = T->lambda[i] + e * along->lambda[i];
    lambda = T->row;
  }
  if (status == NS_OK) T->of->place(T->lin, w, lambda, T->open);
  return status;
}

NsStatus ns_step_sample(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err) {
  NsStatus status = ns_step_place(T, along, e, false, err);
  if (status == NS_OK) status = T->of->equations(T->lin, out, T->dy, err);
  if (status != NS_OK) return status;
  ns_step_law_rows(&T->rows, T->dy, along && along->lambda ? T->row : T->lambda, out + T->N);
  return NS_OK;
}

NsStatus ns_step_sample_start(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err) {
  NsStatus status = ns_step_place(T, along, e, true, err);
  return status == NS_OK ? T->of->before(T->lin, out, err) : status;
}

NsStatus ns_step_sample_state(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err) {
  NsStatus status = ns_step_place(T, along, e, false, err);
  return status == NS_OK ? T->of->state(T->lin, out, out + T->n, err) : status;
}

/* ---- differences ---- */

static double tangent_reach(double reach, int count, const double *size, const double *slope) {
  for (int i = 0; i < count && slope; i++)
    if (slope[i] != 0 && size[i] > 0) reach = fmin(reach, size[i] / fabs(slope[i]));
  return reach;
}

double ns_step_reach(const NsStepEquations *T, const NsStepDirection *along) {
  double reach = tangent_reach(INFINITY, T->n, T->most, along->x);
  reach = tangent_reach(reach, T->n, T->most, along->before);
  reach = tangent_reach(reach, T->N, T->w_most, along->w);
  reach = tangent_reach(reach, T->M, T->lambda_most, along->lambda);
  for (int j = 0; j < T->p && along->p; j++)
    if (along->p[j] != 0 && T->s->acts[j]) reach = fmin(reach, T->s->parameters[j].unit / fabs(along->p[j]));
  return isfinite(reach) ? reach : 1;
}

NsStatus ns_step_difference(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count, double e,
                            double *out, NsError *err) {
  NsStatus status = sampler(T, along, e, out, err);
  if (status == NS_OK) status = sampler(T, along, -e, T->sample, err);
  for (int i = 0; i < count && status == NS_OK; i++) out[i] = (out[i] - T->sample[i]) / (2 * e);
  return status;
}

bool ns_step_affine(const NsStepEquations *T, const NsStepDirection *along) {
  bool affine = T->linear && !(along->p && T->of->curved);
  for (int j = 0; j < T->p && affine && along->p; j++)
    affine = along->p[j] == 0 || !T->s->acts[j] || T->s->parameters[j].owner; /* z: an argument of functions */
  return affine;
}

NsStatus ns_step_derivative(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count, double *out,
                            NsError *err) {
  if (!ns_step_affine(T, along)) return ns_step_smooth_derivative(T, sampler, along, count, out, err);
  return ns_step_difference(T, sampler, along, count, ns_step_reach(T, along), out, err);
}

NsStatus ns_step_smooth_derivative(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count,
                                   double *out, NsError *err) {
  double reach = ns_step_reach(T, along);
  NsStatus status = ns_step_difference(T, sampler, along, count, NS_STEP_PART * reach, out, err);
  if (status == NS_OK) status = ns_step_difference(T, sampler, along, count, 2 * NS_STEP_PART * reach, T->twice, err);
  for (int i = 0; i < count && status == NS_OK; i++) out[i] += (out[i] - T->twice[i]) / 3;
  return status;
}

/* ---- the linear system ---- */

static void tangent_add_impulses(const NsStepEquations *T, const double *dl, double *dw) {
  for (int e = 0; e < T->layout->nedges; e++) {
    const NsEdge *edge = T->layout->edges[e];
    for (int t = 0; edge->active >= 0 && t < edge->ntouched; t++) {
      int n = edge->touched[t]->n, o = edge->touched[t]->offset;
      for (int j = 0; j < edge->m; j++) {
        double f = edge->weight * dl[edge->row + j];
        const double *X = edge->X[t] + (size_t)j * (size_t)n;
        for (int i = 0; f != 0 && i < n; i++) dw[o + i] += f * X[i];
      }
    }
  }
}

bool ns_step_take_matrix(NsStepEquations *T) {
  const NsStepProblem *problem = T->lin->class->problem(T->lin);
  size_t M = (size_t)T->M;
  double *P = T->P;
  T->P = T->P_before, T->P_before = P;
  memset(T->P, 0, M * M * sizeof *T->P);
  for (int a = 0; a < T->layout->nedges; a++)
    for (int b = 0; b < T->layout->nedges; b++) {
      const NsEdge *to = T->layout->edges[a], *from = T->layout->edges[b];
      for (int j = 0; to->active >= 0 && from->active >= 0 && j < from->m; j++)
        for (int i = 0; i < to->m; i++) {
          int row = to->active + i, col = from->active + j;
          T->P[(size_t)(to->row + i) + (size_t)(from->row + j) * M] = problem->W
                                                                          ? problem->W[row + (size_t)col * (size_t)problem->n]
                                                                          : ns_sparse_get(problem->sparse, row, col);
        }
    }
  return memcmp(T->P, P, M * M * sizeof *P) != 0;
}

NsStatus ns_step_form(NsStepEquations *T, NsError *err) {
  size_t M = (size_t)T->M;
  for (size_t j = 0; j < M; j++) {
    memset(T->row, 0, M * sizeof *T->row);
    T->row[j] = 1;
    ns_step_law_change(&T->rows, T->P + j * M, T->row, T->K + j * M);
  }
  if (M == 0) return NS_OK;
  NsStatus status = ns_lu_factor_fair(T->lu, T->K, T->M);
  if (status == NS_OK) return NS_OK;
  int row = ns_lu_singular_row(T->lu), e = 0;
  while (row >= 0 && e + 1 < T->layout->nedges && T->layout->edges[e + 1]->row <= row) e++;
  return ns_fail(err, NS_ESINGULAR,
                 "sensitivities: the multipliers of '%s' are not unique in the step to t=%.10g: the step has no derivative",
                 T->graph->interactions[e]->name, T->step.t);
}

void ns_step_solve(NsStepEquations *T, const double *b, double *dw, double *dl) {
  for (int i = 0; i < T->N; i++) dw[i] = -b[i];
  T->of->divide(T->lin, dw);
  if (T->M == 0) return;
  memset(dl, 0, (size_t)T->M * sizeof *dl);
  ns_dense_gemv(false, T->M, T->N, 1, T->C, T->M, dw, 1, 0, T->dy, 1);
  memset(T->row, 0, (size_t)T->M * sizeof *T->row);
  ns_step_law_change(&T->rows, T->dy, T->row, dl);
  for (int i = 0; i < T->M; i++) dl[i] = -b[T->N + i] - dl[i];
  ns_lu_solve(T->lu, 1, dl, T->M);
  tangent_add_impulses(T, dl, dw);
}

void ns_step_respond(NsStepEquations *T) {
  memset(T->unit, 0, (size_t)T->N * sizeof *T->unit);
  for (int i = 0; i < T->N && T->M > 0; i++) {
    T->unit[i] = 1;
    T->of->respond(T->lin, T->unit, T->C + (ptrdiff_t)i * T->M);
    T->unit[i] = 0;
  }
}

void ns_step_measure(NsStepEquations *T) {
  memset(T->y_terms, 0, (size_t)T->M * sizeof *T->y_terms);
  for (int i = 0; i < T->N; i++)
    for (int r = 0; r < T->M; r++) T->y_terms[r] += fabs(T->C[r + (ptrdiff_t)i * T->M]) * T->w_most[i];
}
