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
  ns_lu_free(T->system.lu);
  ns_lu_free(T->projection.lu);
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
  NsStepPoint *point = &T->point;
  NsStepSizes *sizes = &T->sizes;
  NsStepModes *modes = &T->modes;
  NsStepSystem *system = &T->system;
  NsStepProjection *projection = &T->projection;
  NsStepRoom *room = &T->room;
  NsArena *arena = &T->arena;
  int n = T->n, nr = T->nr, N = T->N, M = T->M, p = T->p, state = n + nr > N + M ? n + nr : N + M;
  NS_ARENA_VECTORS(arena, n, &point->x_k, &point->before, &sizes->x);
  NS_ARENA_VECTORS(arena, nr, &point->r_k);
  NS_ARENA_VECTORS(arena, N, &point->graph_w, &point->w, &sizes->w, &room->dw, &room->far, &room->kept);
  NS_ARENA_VECTORS(arena, M, &point->lambda, &modes->y, &modes->y_start, &sizes->y_terms, &sizes->lambda, &room->dy, &room->row,
                   &room->dl, &room->far_l, &room->kept_l);
  NS_ARENA_VECTORS(arena, state, &room->sample, &room->once, &room->twice);
  NS_ARENA_VECTORS(arena, p, &T->numbers, &room->weights, &room->mix_weights, &room->parts);
  room->unit = ns_arena_doubles(arena, N > M ? N : M);
  room->mix = ns_arena_doubles(arena, 2 * (ptrdiff_t)n + nr + N + M);
  point->open = ns_arena_take(arena, (size_t)M, sizeof *point->open);
  modes->touches = ns_arena_take(arena, (size_t)M, sizeof *modes->touches);
  modes->mode = ns_arena_take(arena, (size_t)M, sizeof *modes->mode);
  modes->before = ns_arena_take(arena, (size_t)M, sizeof *modes->mode);
  T->seen = ns_arena_take(arena, (size_t)p, sizeof *T->seen);
  T->R = ns_arena_matrix(arena, nr, p);
  T->before_slope = ns_arena_matrix(arena, n, p);
  NsSensitivityColumns *columns = &T->s->columns;
  columns->memory[0] = T->R, columns->memory_rows[0] = nr;
  columns->memory[1] = T->before_slope, columns->memory_rows[1] = n;
  room->x_new = ns_arena_matrix(arena, n, p);
  room->r_new = ns_arena_matrix(arena, nr, p);
  system->P = ns_arena_matrix(arena, M, M);
  system->P_before = ns_arena_matrix(arena, M, M);
  system->K = ns_arena_matrix(arena, M, M);
  system->C = ns_arena_matrix(arena, M, N);
  if (T->settles) {
    projection->gaps = ns_arena_doubles(arena, M);
    projection->rho = ns_arena_doubles(arena, N);
    projection->matrix = ns_arena_matrix(arena, M, M);
    projection->dw = ns_arena_matrix(arena, N, p);
    projection->dl = ns_arena_matrix(arena, M, p);
  }
  if (ns_step_memories(T) <= MOST_MEMORIES && !T->settles)
    system->Phi = ns_arena_matrix(arena, ns_step_memories_after(T), ns_step_memories(T));
}

NsStatus ns_step_equations_new(NsSensitivity *s, const NsScheme *scheme, NsError *err) {
  NsStepEquations *T = s->lin = ns_alloc(1, sizeof *T);
  if (!T) return ns_fail(err, NS_ENOMEM, "not enough memory");
  s->free_lin = tangent_free;
  T->s = s;
  T->p = s->p;
  T->graph = scheme->nsds;
  T->read = scheme->class->tangent;
  T->system.formed = -1;
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
  if (T->arena.failed || ns_lu_new(&T->system.lu, T->M) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  T->rows = (NsStepRows){T->graph,        T->point.open, T->modes.y, T->point.lambda,      T->sizes.y_terms,
                         T->sizes.lambda, T->modes.mode, 1,          s->options->one_sided};
  return NS_OK;
}

/* ---- the point ---- */

/* Writes the memories of the systems: the memories of the step plus e times a direction. */
static void tangent_write_memories(const NsStepEquations *T, const NsStepDirection *along, double e) {
  for (int d = 0, i = 0, k = 0; d < T->graph->nds; d++) {
    NsDs *ds = T->graph->ds[d];
    for (int j = 0; j < ds->n; j++) ds->x_k[j] = T->point.x_k[i + j] + (along && along->x ? e * along->x[i + j] : 0);
    for (int j = 0; j < ds->n && T->of->before_states && ds->x_before; j++)
      ds->x_before[j] = T->point.before[i + j] + (along && along->before ? e * along->before[i + j] : 0);
    for (int j = 0; j < ds->nr; j++) ds->r_k[j] = T->point.r_k[k + j] + (along && along->r ? e * along->r[k + j] : 0);
    i += ds->n;
    k += ds->nr;
  }
}

static void tangent_write_parameters(const NsStepEquations *T, const double *p, double e) {
  NsSensitivity *s = T->s;
  for (int j = 0; j < T->p; j++) {
    if (!s->acts[j] || p[j] == 0) continue;
    ns_sensitivity_set(s, &s->parameters[j], T->numbers[j] + e * p[j], T->seen[j]);
  }
}

void ns_step_restore(const NsStepEquations *T) {
  for (int j = 0; j < T->p; j++)
    if (T->s->acts[j]) ns_sensitivity_restore(&T->s->parameters[j], T->numbers[j], T->seen[j]);
}

void ns_step_take(NsStepEquations *T, const NsScheme *scheme) {
  const NsStepPoint *point = &T->point;
  const NsStepSizes *sizes = &T->sizes;
  T->read->read(scheme, point->graph_w, point->lambda, point->open);
  for (int d = 0, i = 0, k = 0; d < T->graph->nds; d++) {
    const NsDs *ds = T->graph->ds[d];
    memcpy(point->x_k + i, ds->x_k, (size_t)ds->n * sizeof(double));
    memcpy(point->r_k + k, ds->r_k, (size_t)ds->nr * sizeof(double));
    if (T->of->before_states && ds->x_before) memcpy(point->before + i, ds->x_before, (size_t)ds->n * sizeof(double));
    memcpy(point->w + T->layout->nodes[d]->v, point->graph_w + k, (size_t)ds->nr * sizeof(double));
    for (int j = 0; j < ds->n; j++) sizes->x[i + j] = fmax(sizes->x[i + j], fabs(ds->x_k[j]));
    for (int j = 0; j < ds->nr; j++) {
      int at = T->layout->nodes[d]->v + j, last = i + ds->n - ds->nr + j, state = T->of->coordinates ? i + j : last;
      double change = fabs(point->w[at] - point->x_k[state]), size = fmax(fabs(point->w[at]), change);
      sizes->w[at] = fmax(sizes->w[at], size);
      if (T->of->states) sizes->x[state] = fmax(sizes->x[state], size);
      if (T->of->coordinates) sizes->x[last] = fmax(sizes->x[last], change / T->step.h); /* the velocity */
    }
    i += ds->n;
    k += ds->nr;
  }
  for (int i = 0; i < T->M; i++) sizes->lambda[i] = fmax(sizes->lambda[i], fabs(point->lambda[i]));
  for (int j = 0; j < T->p; j++) {
    const NsParameter *parameter = &T->s->parameters[j];
    T->numbers[j] = parameter->number ? *parameter->number : 0;
    T->seen[j] = parameter->version ? *parameter->version : 0;
  }
}

NsStatus ns_step_measure_states(NsStepEquations *T, NsError *err) {
  const NsStepRoom *room = &T->room;
  if (T->of->states) return NS_OK;
  NsStatus status = T->of->state(T->lin, room->once, room->once + T->n, err);
  for (int i = 0; i < T->n && status == NS_OK; i++)
    T->sizes.x[i] = fmax(T->sizes.x[i], fmax(fabs(room->once[i]), fabs(room->once[i] - T->point.x_k[i])));
  return status;
}

NsStatus ns_step_place(NsStepEquations *T, const NsStepDirection *along, double e, bool at_start, NsError *err) {
  const NsStepPoint *point = &T->point;
  const NsStepRoom *room = &T->room;
  NsStep step = T->step;
  if (at_start) step.t = step.t_k;
  tangent_write_memories(T, along, e);
  if (along && along->p) tangent_write_parameters(T, along->p, e);
  NsStatus status = T->lin->class->begin(T->lin, &step, err);
  const double *w = point->w, *lambda = point->lambda;
  if (along && along->w) {
    for (int i = 0; i < T->N; i++) room->unit[i] = point->w[i] + e * along->w[i];
    w = room->unit;
  }
  if (along && along->lambda) {
    for (int i = 0; i < T->M; i++) room->row[i] = point->lambda[i] + e * along->lambda[i];
    lambda = room->row;
  }
  if (status == NS_OK) T->of->place(T->lin, w, lambda, point->open);
  return status;
}

NsStatus ns_step_sample(NsStepEquations *T, const NsStepDirection *along, double e, double *out, NsError *err) {
  NsStatus status = ns_step_place(T, along, e, false, err);
  if (status == NS_OK) status = T->of->equations(T->lin, out, T->room.dy, err);
  if (status != NS_OK) return status;
  ns_step_law_rows(&T->rows, T->room.dy, along && along->lambda ? T->room.row : T->point.lambda, out + T->N);
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
  const NsStepSizes *sizes = &T->sizes;
  double reach = tangent_reach(INFINITY, T->n, sizes->x, along->x);
  reach = tangent_reach(reach, T->n, sizes->x, along->before);
  reach = tangent_reach(reach, T->N, sizes->w, along->w);
  reach = tangent_reach(reach, T->M, sizes->lambda, along->lambda);
  for (int j = 0; j < T->p && along->p; j++)
    if (along->p[j] != 0 && T->s->acts[j]) reach = fmin(reach, T->s->parameters[j].unit / fabs(along->p[j]));
  return isfinite(reach) ? reach : 1;
}

NsStatus ns_step_difference(NsStepEquations *T, NsStepSampler sampler, const NsStepDirection *along, int count, double e,
                            double *out, NsError *err) {
  NsStatus status = sampler(T, along, e, out, err);
  if (status == NS_OK) status = sampler(T, along, -e, T->room.sample, err);
  for (int i = 0; i < count && status == NS_OK; i++) out[i] = (out[i] - T->room.sample[i]) / (2 * e);
  return status;
}

/* Whether the number is one of a viscous law: the equations have its inverse. */
static bool step_is_viscous(const NsNsds *graph, const NsParameter *parameter) {
  for (int e = 0; e < graph->ninteractions; e++)
    if (parameter->owner == graph->interactions[e]->law && graph->interactions[e]->law->class->viscous) return true;
  return false;
}

bool ns_step_affine(const NsStepEquations *T, const NsStepDirection *along) {
  bool affine = T->linear && !(along->p && T->of->curved);
  for (int j = 0; j < T->p && affine && along->p; j++)
    affine = along->p[j] == 0 || !T->s->acts[j] ||
             (T->s->parameters[j].owner && !ns_parameter_aside(&T->s->parameters[j]) && /* z: an argument of functions */
              !step_is_viscous(T->rows.graph, &T->s->parameters[j]));
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
  if (status == NS_OK) status = ns_step_difference(T, sampler, along, count, 2 * NS_STEP_PART * reach, T->room.twice, err);
  for (int i = 0; i < count && status == NS_OK; i++) out[i] += (out[i] - T->room.twice[i]) / 3;
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
  NsStepSystem *system = &T->system;
  const NsStepProblem *problem = &T->lin->problem;
  size_t M = (size_t)T->M;
  double *P = system->P;
  system->P = system->P_before, system->P_before = P;
  memset(system->P, 0, M * M * sizeof *system->P);
  for (int a = 0; a < T->layout->nedges; a++)
    for (int b = 0; b < T->layout->nedges; b++) {
      const NsEdge *to = T->layout->edges[a], *from = T->layout->edges[b];
      for (int j = 0; to->active >= 0 && from->active >= 0 && j < from->m; j++)
        for (int i = 0; i < to->m; i++) {
          int row = to->active + i, col = from->active + j;
          system->P[(size_t)(to->row + i) + (size_t)(from->row + j) * M] =
              problem->W ? problem->W[row + (size_t)col * (size_t)problem->n] : ns_sparse_get(problem->sparse, row, col);
        }
    }
  return memcmp(system->P, P, M * M * sizeof *P) != 0;
}

NsStatus ns_step_form(NsStepEquations *T, NsError *err) {
  const NsStepSystem *system = &T->system;
  const NsStepRoom *room = &T->room;
  size_t M = (size_t)T->M;
  for (size_t j = 0; j < M; j++) {
    memset(room->row, 0, M * sizeof *room->row);
    room->row[j] = 1;
    ns_step_law_change(&T->rows, system->P + j * M, room->row, system->K + j * M);
  }
  if (M == 0) return NS_OK;
  NsStatus status = ns_lu_factor_fair(system->lu, system->K, T->M);
  if (status == NS_OK) return NS_OK;
  int row = ns_lu_singular_row(system->lu), e = 0;
  while (row >= 0 && e + 1 < T->layout->nedges && T->layout->edges[e + 1]->row <= row) e++;
  return ns_fail(err, NS_ESINGULAR,
                 "sensitivities: the multipliers of '%s' are not unique in the step to t=%.10g: the step has no derivative",
                 T->graph->interactions[e]->name, T->step.t);
}

void ns_step_solve(NsStepEquations *T, const double *b, double *dw, double *dl) {
  const NsStepRoom *room = &T->room;
  for (int i = 0; i < T->N; i++) dw[i] = -b[i];
  T->of->divide(T->lin, dw);
  if (T->M == 0) return;
  memset(dl, 0, (size_t)T->M * sizeof *dl);
  ns_dense_gemv(false, T->M, T->N, 1, T->system.C, T->M, dw, 1, 0, room->dy, 1);
  memset(room->row, 0, (size_t)T->M * sizeof *room->row);
  ns_step_law_change(&T->rows, room->dy, room->row, dl);
  for (int i = 0; i < T->M; i++) dl[i] = -b[T->N + i] - dl[i];
  ns_lu_solve(T->system.lu, 1, dl, T->M);
  tangent_add_impulses(T, dl, dw);
}

void ns_step_respond(NsStepEquations *T) {
  const NsStepRoom *room = &T->room;
  memset(room->unit, 0, (size_t)T->N * sizeof *room->unit);
  for (int i = 0; i < T->N && T->M > 0; i++) {
    room->unit[i] = 1;
    T->of->respond(T->lin, room->unit, T->system.C + (ptrdiff_t)i * T->M);
    room->unit[i] = 0;
  }
}

void ns_step_measure(NsStepEquations *T) {
  const NsStepSizes *sizes = &T->sizes;
  memset(sizes->y_terms, 0, (size_t)T->M * sizeof *sizes->y_terms);
  for (int i = 0; i < T->N; i++)
    for (int r = 0; r < T->M; r++) sizes->y_terms[r] += fabs(T->system.C[r + (ptrdiff_t)i * T->M]) * sizes->w[i];
  for (int j = 0; j < T->M; j++) /* what the multipliers keep at 0 is 0 up to the rounding of their terms */
    for (int r = 0; r < T->M; r++) sizes->y_terms[r] += fabs(T->system.P[r + (ptrdiff_t)j * T->M]) * sizes->lambda[j];
}
