/*
** step_adjoint.c
** The record of a time-stepping run, and the adjoint pass.
*/
#include "integrators/step_adjoint.h"

#include <math.h>
#include <string.h>

#include "integrators/step_equations.h"
#include "integrators/step_tangent.h"
#include "linalg/dense.h"

/* The matrix is tested in one step of so many: a test takes four evaluations of the equations. 16: 1/4 evaluation a step. */
enum { BETWEEN_TESTS = 16 };

/* The matrix is exact when it differs from differences by less than this part of the unknowns' sizes: the errors of these. */
static const double BACK_EXACT = 1e-9;

/* ---- the record ---- */

/* The numbers of a step, one after the other: its length, whether it is implicit, the length of the step of the grid, the memories, the solution. */
static ptrdiff_t step_numbers(const NsStepEquations *T) {
  return 3 + 2 * (ptrdiff_t)T->n + T->nr + T->N + 2 * (ptrdiff_t)T->M;
}

static const char *why_not_back(const NsStepEquations *T) {
  if (T->settles) return "steps with a projection have no adjoint";
  bool carries = T->of->states || (T->lin->linear && T->system.Phi);
  if (!T->of->vjp || !carries) /* schemes without a vjp begin with a step of another kind, which has no transpose here */
    return "steps of this model have no adjoint in closed form";
  return NULL;
}

/* Space for the record. */
static NsStatus take_record(NsStepEquations *T, NsError *err) {
  NsStepAdjoint *adjoint = &T->adjoint;
  NsArena *arena = &T->arena;
  adjoint->memories = ns_arena_doubles(arena, 2 * (ptrdiff_t)T->n + T->nr);
  if (!T->s->options->adjoint) return adjoint->memories ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
  NS_ARENA_VECTORS(arena, T->n, &adjoint->mu_before);
  NS_ARENA_VECTORS(arena, T->nr, &adjoint->mu_r);
  adjoint->beta = ns_arena_doubles(arena, (ptrdiff_t)T->N + T->M);
  adjoint->product = ns_arena_doubles(arena, 2 * (ptrdiff_t)T->n + T->nr);
  adjoint->rates = ns_arena_doubles(arena, 2 * (ptrdiff_t)T->N);
  adjoint->of_law = ns_arena_take(arena, (size_t)T->p, sizeof *adjoint->of_law);
  for (int j = 0; j < T->p && adjoint->of_law; j++)
    for (int e = 0; e < T->graph->ninteractions && T->s->acts[j]; e++)
      adjoint->of_law[j] = adjoint->of_law[j] || (const void *)T->graph->interactions[e]->law == T->s->parameters[j].owner;
  memcpy(T->s->S, T->s->X, (size_t)T->s->nx * (size_t)T->p * sizeof *T->s->S);
  const char *why = why_not_back(T);
  if (why) return ns_run_tape_refuse(T->s->tape, why, err);
  return arena->failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
}

NsStatus ns_step_record(NsSensitivity *s, const NsScheme *scheme, const NsStep *step, NsError *err) {
  NsStatus status = s->lin ? NS_OK : ns_step_equations_new(s, scheme, err);
  NsStepEquations *T = s->lin;
  const NsStepPoint *point = &T->point;
  if (status == NS_OK && T->first && !T->adjoint.memories) T->t_first = step->t_k;
  if (status == NS_OK && !T->adjoint.memories) status = take_record(T, err);
  if (status != NS_OK) return status;
  double *u;
  T->step = *step;
  T->first = step->t_k == T->t_first;
  ns_step_take(T, scheme);
  status = ns_step_check_inputs(T, err);
  if (status == NS_OK) status = ns_run_tape_step(s->tape, step->t_k, step->t, step_numbers(T), &u, err);
  if (status != NS_OK) return status;
  *u++ = step->h;
  *u++ = step->implicit;
  *u++ = step->whole;
  const double *parts[] = {point->x_k, point->r_k, point->before, point->w, point->lambda};
  int counts[] = {T->n, T->nr, T->n, T->N, T->M};
  for (int k = 0; k < 5; u += counts[k++]) memcpy(u, parts[k], (size_t)counts[k] * sizeof *u);
  for (int i = 0; i < T->M; i++) u[i] = point->open[i];
  return NS_OK;
}

static void load_step(NsStepEquations *T, const NsRunTapeEntry *entry) {
  const NsStepPoint *point = &T->point;
  const double *u = entry->u;
  T->step = (NsStep){.t_k = entry->t_old, .t = entry->t, .h = u[0], .implicit = u[1] != 0, .whole = u[2]};
  T->first = entry->t_old == T->t_first;
  u += 3;
  double *parts[] = {point->x_k, point->r_k, point->before, point->w, point->lambda};
  int counts[] = {T->n, T->nr, T->n, T->N, T->M};
  for (int k = 0; k < 5; u += counts[k++]) memcpy(parts[k], u, (size_t)counts[k] * sizeof *u);
  for (int i = 0; i < T->M; i++) point->open[i] = u[i] != 0;
}

/* The parameters' values, which a displacement changes. */
static void load_numbers(NsStepEquations *T) {
  for (int j = 0; j < T->p; j++) {
    const NsParameter *parameter = &T->s->parameters[j];
    T->numbers[j] = parameter->number ? *parameter->number : 0;
    T->seen[j] = parameter->version ? *parameter->version : 0;
  }
}

/* Copies the memories of the systems to `kept`, or back. */
static void swap_memories(const NsStepEquations *T, double *kept, bool back) {
  for (int d = 0; d < T->graph->nds; d++) {
    NsDs *ds = T->graph->ds[d];
    double *of[] = {ds->x_k, ds->r_k, ds->x_before};
    int counts[] = {ds->n, ds->nr, ds->n};
    for (int k = 0; k < 3; kept += counts[k++]) {
      if (!of[k]) continue;
      if (back) memcpy(of[k], kept, (size_t)counts[k] * sizeof *kept);
      else memcpy(kept, of[k], (size_t)counts[k] * sizeof *kept);
    }
  }
}

/* ---- steps in parts ---- */

NsStatus ns_step_divide(NsSensitivity *s, NsError *err) {
  if (!s->tape && ns_run_tape_new(s) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  s->pending = true;
  return NS_OK;
}

long ns_step_recorded(const NsSensitivity *s) {
  return s->tape->count;
}

void ns_step_forget(NsSensitivity *s, long count) {
  s->tape->count = count;
}

NsStatus ns_step_join_parts(NsSensitivity *s, NsError *err) {
  NsStepEquations *T = s->lin;
  NsStatus status = NS_OK;
  s->pending = false;
  if (s->options->adjoint) return NS_OK;
  load_numbers(T);
  swap_memories(T, T->adjoint.memories, false);
  for (long k = 0; k < s->tape->count && status == NS_OK; k++) {
    load_step(T, &s->tape->entries[k]);
    status = ns_step_carry_columns(T, err);
  }
  swap_memories(T, T->adjoint.memories, true);
  ns_run_tape_drop(s, T->step.t);
  return status;
}

/* ---- a step ---- */

/* beta (N + M) = -A^-T (weights of dw, dl). */
static NsStatus back_solve(NsStepEquations *T, const double *of_w, const double *of_l, double *beta, NsError *err) {
  NsStepAdjoint *adjoint = &T->adjoint;
  const NsStepRoom *room = &T->room;
  ptrdiff_t size = (ptrdiff_t)T->N + T->M;
  if (!adjoint->inverse) adjoint->inverse = ns_arena_matrix(&T->arena, size, size);
  if (!adjoint->inverse) return ns_fail(err, NS_ENOMEM, "not enough memory");
  if (!adjoint->inverse_known) {
    memset(room->once, 0, (size_t)size * sizeof *room->once);
    for (ptrdiff_t i = 0; i < size; i++) {
      double *column = adjoint->inverse + i * size;
      room->once[i] = 1;
      ns_step_solve(T, room->once, column, column + T->N);
      room->once[i] = 0;
    }
    adjoint->inverse_known = true;
  }
  for (ptrdiff_t i = 0; i < size; i++) {
    const double *column = adjoint->inverse + i * size;
    beta[i] = ns_dense_dot(T->N, of_w, 1, column, 1) + ns_dense_dot(T->M, of_l, 1, column + T->N, 1);
  }
  return NS_OK;
}

/* Whether the matrix belongs to the equations, along one direction. */
static NsStatus back_test(NsStepEquations *T, NsError *err) {
  const NsStepSizes *sizes = &T->sizes;
  const NsStepRoom *room = &T->room;
  if (T->linear || T->adjoint.since++ % BETWEEN_TESTS != 0) return NS_OK;
  for (int i = 0; i < T->N; i++) room->dw[i] = (i % 3 == 1 ? -1 : 1) * sizes->w[i];
  for (int i = 0; i < T->M; i++) room->dl[i] = (i % 3 == 1 ? -1 : 1) * sizes->lambda[i];
  NsStepDirection along = {.w = room->dw, .lambda = room->dl};
  NsStatus status = ns_step_derivative(T, ns_step_sample, &along, T->N + T->M, room->once, err);
  if (status != NS_OK) return status;
  ns_step_solve(T, room->once, room->far, room->far_l);
  bool exact = true;
  for (int i = 0; i < T->N; i++) exact = exact && fabs(room->far[i] + room->dw[i]) <= BACK_EXACT * sizes->w[i];
  for (int i = 0; i < T->M; i++) exact = exact && fabs(room->far_l[i] + room->dl[i]) <= BACK_EXACT * sizes->lambda[i];
  if (exact) return ns_step_place(T, NULL, 0, false, err);
  return ns_run_tape_refuse(T->s->tape, "the matrix of the steps is not exact", err);
}

/* g += the derivative of beta . equations by parameter j, by a difference. */
static NsStatus back_difference(NsStepEquations *T, int j, NsError *err) {
  const NsStepRoom *room = &T->room;
  memset(room->weights, 0, (size_t)T->p * sizeof *room->weights);
  room->weights[j] = 1;
  NsStepDirection along = {.p = room->weights};
  NsStatus status = ns_step_derivative(T, ns_step_sample, &along, T->N + T->M, room->once, err);
  ns_step_restore(T);
  if (status == NS_OK) T->s->tape->g[j] += ns_dense_dot(T->N + T->M, T->adjoint.beta, 1, room->once, 1);
  return status;
}

/* The derivatives by bounds of laws: a row at a bound has lambda - bound. */
static void back_bounds(NsStepEquations *T, bool *known) {
  const double *beta = T->adjoint.beta + T->N;
  for (int j = 0; j < T->p; j++) {
    const NsParameter *parameter = &T->s->parameters[j];
    if (ns_parameter_aside(parameter)) continue;
    for (int e = 0, row = 0; e < T->graph->ninteractions && T->adjoint.of_law[j]; row += T->graph->interactions[e++]->m) {
      const NsInteraction *inter = T->graph->interactions[e];
      const double *number = parameter->number;
      ptrdiff_t lower = number - inter->law->lower, upper = number - inter->law->upper;
      if ((const void *)inter->law != parameter->owner || ns_law_group(inter->law, 0, false).discs > 0) continue;
      bool is_lower = lower >= 0 && lower < inter->law->size, is_upper = upper >= 0 && upper < inter->law->size;
      if (!is_lower && !is_upper) continue;
      ptrdiff_t i = is_lower ? lower : upper;
      known[j] = true;
      if (T->modes.mode[row + i] == (is_lower ? NS_STEP_LOWER : NS_STEP_UPPER))
        T->s->tape->g[j] -= ns_interaction_share(inter, T->rows.part) * beta[row + i];
    }
  }
}

/* mu of linear models: Phi' mu. */
static void back_carry(NsStepEquations *T, double *mu) {
  const NsStepAdjoint *adjoint = &T->adjoint;
  int after = ns_step_memories_after(T), count = ns_step_memories(T);
  for (int i = 0; i < count; i++) {
    const double *column = T->system.Phi + (ptrdiff_t)i * after;
    adjoint->product[i] = ns_dense_dot(T->n, column, 1, mu, 1);
    if (T->input) adjoint->product[i] += ns_dense_dot(T->nr, column + T->n, 1, adjoint->mu_r, 1);
  }
  const double *r = adjoint->product + T->n, *before = r + (T->input ? T->nr : 0);
  for (int i = 0; i < T->n; i++) mu[i] = adjoint->product[i] + adjoint->mu_before[i];
  for (int i = 0; i < T->nr && T->input; i++) adjoint->mu_r[i] = r[i];
  for (int i = 0; i < T->n && T->of->before_states; i++) adjoint->mu_before[i] = before[i];
}

/*
** *columns (rows x count): the derivatives of `rows` numbers after the step, from `first` on in (states, r), by the first `count`
** numbers of (w, lambda). They are kept for a linear model.
*/
static NsStatus back_form(NsStepEquations *T, double **columns, int first, int rows, int count, NsError *err) {
  const NsStepRoom *room = &T->room;
  NsStatus status = NS_OK;
  if (!*columns) *columns = ns_arena_matrix(&T->arena, rows, count);
  if (!*columns) return ns_fail(err, NS_ENOMEM, "not enough memory");
  memset(room->far, 0, (size_t)T->N * sizeof *room->far), memset(room->far_l, 0, (size_t)T->M * sizeof *room->far_l);
  for (int i = 0; i < count && status == NS_OK; i++) {
    double *unit = i < T->N ? &room->far[i] : &room->far_l[i - T->N];
    NsStepDirection along = {.w = i < T->N ? room->far : NULL, .lambda = i < T->N ? NULL : room->far_l};
    *unit = 1;
    status = ns_step_derivative(T, ns_step_sample_state, &along, first + rows, room->once, err);
    *unit = 0;
    if (status == NS_OK) memcpy(*columns + (ptrdiff_t)i * rows, room->once + first, (size_t)rows * sizeof *room->once);
  }
  return status == NS_OK ? ns_step_place(T, NULL, 0, false, err) : status;
}

/* of_w: the weights of dw for the weights of the states after the step. */
static NsStatus back_weights(NsStepEquations *T, const double *mu, double *of_w, NsError *err) {
  if (T->of->states) {
    for (int d = 0, i = 0; d < T->graph->nds; i += T->graph->ds[d++]->n)
      memcpy(of_w + T->layout->nodes[d]->v, mu + i, (size_t)T->graph->ds[d]->n * sizeof *of_w);
    return NS_OK;
  }
  bool known = T->adjoint.toward && T->adjoint.inverse_known;
  NsStatus status = known ? NS_OK : back_form(T, &T->adjoint.toward, 0, T->n, T->N, err);
  for (int i = 0; i < T->N && status == NS_OK; i++)
    of_w[i] = ns_dense_dot(T->n, T->adjoint.toward + (ptrdiff_t)i * T->n, 1, mu, 1);
  return status;
}

/* Adds the derivatives by w and lambda of r after the step. */
static NsStatus back_add_inputs(NsStepEquations *T, double *of_w, double *of_l, NsError *err) {
  NsStepAdjoint *adjoint = &T->adjoint;
  bool known = adjoint->by_inputs && adjoint->inverse_known;
  NsStatus status = known ? NS_OK : back_form(T, &adjoint->by_inputs, T->n, T->nr, T->N + T->M, err);
  for (int i = 0; i < T->N + T->M && status == NS_OK; i++)
    *(i < T->N ? &of_w[i] : &of_l[i - T->N]) += ns_dense_dot(T->nr, adjoint->by_inputs + (ptrdiff_t)i * T->nr, 1, adjoint->mu_r,
                                                             1);
  return status;
}

/* The closed forms: new mu and mu_r, and the derivatives by the parameters. */
static NsStatus vjp_step(NsStepEquations *T, const double *of_r, bool memories, double *mu, bool *known, NsError *err) {
  const NsStepAdjoint *adjoint = &T->adjoint;
  NsSensitivity *s = T->s;
  double *x = adjoint->rates, *r_k = x + T->N;
  for (int i = 0; i < T->M; i++) T->room.row[i] = T->modes.mode[i] == NS_STEP_ACTIVE ? adjoint->beta[T->N + i] : 0;
  memset(adjoint->rates, 0, 2 * (size_t)T->N * sizeof *adjoint->rates);
  NsStepVjp vjp = {.eta = adjoint->beta,
                   .psi = T->room.row,
                   .r = of_r,
                   .x = memories ? x : NULL,
                   .r_k = memories ? r_k : NULL,
                   .parameters = s->parameters,
                   .p = T->p,
                   .g = s->least,
                   .known = known};
  memset(s->least, 0, (size_t)T->p * sizeof *s->least);
  NsStatus status = T->of->vjp(T->lin, &vjp, err);
  ns_sensitivity_doubt(s, known);
  if (status == NS_ENOSOL) return ns_run_tape_refuse(s->tape, "steps of this model have no adjoint in closed form", err);
  for (int j = 0; j < T->p; j++)
    if (known[j]) s->tape->g[j] += s->least[j];
  for (int d = 0, i = 0; d < T->graph->nds && memories; i += T->graph->ds[d++]->n) {
    size_t bytes = (size_t)T->graph->ds[d]->n * sizeof *mu;
    memcpy(mu + i, x + T->layout->nodes[d]->v, bytes);
    memcpy(adjoint->mu_r + i, r_k + T->layout->nodes[d]->v, bytes);
  }
  return status;
}

/* Goes back through the loaded step, whose matrix is known. */
static NsStatus back_through(NsStepEquations *T, NsError *err) {
  NsSensitivity *s = T->s;
  double *mu = s->tape->mu, *of_w = T->room.kept, *of_l = T->room.kept_l, *of_r = s->direction;
  bool driven = false, *known = s->known, inputs = false;
  ns_sensitivity_doubt(s, known);
  for (int j = 0; j < T->p; j++) driven = driven || s->acts[j], known[j] = false;
  if (T->system.carried && !driven) return back_carry(T, mu), NS_OK;
  NsStatus status = back_weights(T, mu, of_w, err);
  memset(of_l, 0, (size_t)T->M * sizeof *of_l);
  for (int d = 0, k = 0; d < T->graph->nds && T->input; k += T->graph->ds[d++]->nr)
    memcpy(of_r + T->layout->nodes[d]->v, T->adjoint.mu_r + k, (size_t)T->graph->ds[d]->nr * sizeof *of_r);
  for (int i = 0; i < T->nr && T->input; i++) inputs = inputs || T->adjoint.mu_r[i] != 0;
  if (status == NS_OK && inputs) status = back_add_inputs(T, of_w, of_l, err);
  if (status == NS_OK) status = back_solve(T, of_w, of_l, T->adjoint.beta, err);
  if (status == NS_OK) status = back_test(T, err);
  if (status == NS_OK && T->of->vjp) status = vjp_step(T, inputs ? of_r : NULL, !T->system.carried, mu, known, err);
  if (status == NS_OK) back_bounds(T, known);
  for (int j = 0; j < T->p && status == NS_OK; j++)
    if (s->acts[j] && !known[j]) status = back_difference(T, j, err);
  if (status == NS_OK && T->system.carried) back_carry(T, mu);
  return status;
}

/*
** Linear models need Phi: it is formed where the matrix of a step is the matrix of the step after it, and in each step in which friction in
** space, or with a coefficient that depends on the slip, makes the matrix depend on the solution.
*/
static NsStatus back_prepare(NsStepEquations *T, NsError *err) {
  long formed = T->system.formed;
  uint64_t key = T->system.key;
  bool again = T->linear, carried = T->system.carried;
  NsStatus status = ns_step_prepare(T, err);
  if (status == NS_OK && T->system.carried && !carried)
    status = ns_step_place(T, NULL, 0, false, err); /* Phi has displaced it */
  if (status != NS_OK) return status;
  bool same = again && T->linear && formed == T->system.formed && key == T->system.key && T->system.carried;
  if (!same) T->adjoint.inverse_known = false;
  if ((T->of->vjp && T->of->states) || T->system.carried) return NS_OK;
  if (!T->lin->linear) return ns_run_tape_refuse(T->s->tape, "steps of this model have no adjoint in closed form", err);
  status = ns_step_form_steps(T, err);
  return status == NS_OK ? ns_step_place(T, NULL, 0, false, err) : status;
}

/* ---- the adjoint pass ---- */

void ns_step_adjoint_start(NsSensitivity *s) {
  NsRunTape *tape = s->tape;
  NsStepEquations *T = s->lin;
  NsStepAdjoint *adjoint = &T->adjoint;
  tape->at = tape->count - 1;
  memset(tape->mu, 0, (size_t)s->nx * sizeof *tape->mu);
  memset(tape->g, 0, (size_t)s->p * sizeof *tape->g);
  if (!T) return;
  memset(adjoint->mu_r, 0, (size_t)T->nr * sizeof *adjoint->mu_r);
  memset(adjoint->mu_before, 0, (size_t)T->n * sizeof *adjoint->mu_before);
  T->modes.compares = false;
  T->system.formed = -1;
  adjoint->t = tape->count > 0 ? tape->entries[tape->count - 1].t : INFINITY; /* clocks may act at the end of the run */
}

NsStatus ns_step_adjoint_to(NsSensitivity *s, double t, bool *reached, NsError *err) {
  NsRunTape *tape = s->tape;
  NsStepEquations *T = s->lin;
  NsStepModes *modes = &T->modes;
  NsStepAdjoint *adjoint = &T->adjoint;
  NsStatus status = NS_OK;
  *reached = true;
  if (!T) return NS_OK;
  load_numbers(T);
  swap_memories(T, adjoint->memories, false);
  while (status == NS_OK && tape->at >= 0 && tape->entries[tape->at].t_old >= t) {
    load_step(T, &tape->entries[tape->at]);
    status = back_prepare(T, err);
    if (status == NS_OK) status = back_through(T, err);
    memcpy(modes->before, modes->mode, (size_t)T->M * sizeof *modes->mode);
    modes->compares = true;
    modes->t_compared = T->step.t;
    adjoint->t = T->step.t_k;
    tape->at--;
  }
  ns_step_restore(T);
  swap_memories(T, adjoint->memories, true);
  *reached = status != NS_OK || adjoint->t <= t;
  return status;
}
