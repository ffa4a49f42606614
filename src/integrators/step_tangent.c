/*
** step_tangent.c
** The derivatives of a step: the solutions of its linear equations for each parameter, and what a step must not do.
*/
#include "integrators/step_tangent.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/step_equations.h"
#include "integrators/step_project.h"
#include "linalg/dense.h"
#include "model/first_order_ds.h"

/*
** The differences of order 2 with one and with two displacements may differ by three times this part of the unknowns' sizes. 1e-5: the
** difference of order 4 then has an error of about 1e-10.
*/
static const double ROUGH = 1e-5;

/*
** The error of a derivative dw is judged by |dw|, but by at least this part of w / e: w is the size of the unknown, and e displaces
** a number by its size. 1e-3: a derivative that is nearly 0 has three digits less than the others.
*/
static const double LEAST = 1e-3;

enum { TRIALS = 12 /* displacements that are tried: down to 4^-12 of the first */, CORRECTIONS = 8 };

/* The matrix is exact when a correction changes no unknown by more than this part of its derivative: the error of the differences. */
static const double EXACT = 1e-10;

/* ---- a solution ---- */

/* The largest part by which two solutions differ, of the unknowns' derivatives, or of their sizes by e. */
static double tangent_apart(const NsStepEquations *T, const double *dw, const double *dl, double e) {
  double most = 0;
  for (int i = 0; i < T->N; i++) {
    double off = fabs(dw[i] - T->room.far[i]) / 3, size = fmax(fabs(dw[i]), LEAST * T->sizes.w[i] / e);
    if (off > 0) most = fmax(most, off / size);
  }
  for (int i = 0; i < T->M; i++) {
    double off = fabs(dl[i] - T->room.far_l[i]) / 3, size = fmax(fabs(dl[i]), LEAST * T->sizes.lambda[i] / e);
    if (off > 0) most = fmax(most, off / size);
  }
  return most;
}

/*
** dw, dl: the solution for the equations' derivative along a direction, by differences of order 4 whose displacements get shorter
** until they are smooth; *part: of the reach that was good last.
*/
static NsStatus smooth_solution(NsStepEquations *T, const NsStepDirection *along, double *part, double *dw, double *dl,
                                NsError *err) {
  const NsStepRoom *room = &T->room;
  double reach = ns_step_reach(T, along), e = *part > 0 ? *part : NS_STEP_PART, best = INFINITY;
  NsStatus status = NS_OK;
  for (int trial = 0; trial < TRIALS; trial++, e /= 4) {
    status = ns_step_difference(T, ns_step_sample, along, T->N + T->M, e * reach, room->once, err);
    if (status == NS_OK) status = ns_step_difference(T, ns_step_sample, along, T->N + T->M, 2 * e * reach, room->twice, err);
    if (status != NS_OK && status != NS_ENAN && status != NS_ERETRY) return status;
    if (status != NS_OK) continue;
    ns_step_solve(T, room->once, dw, dl);
    ns_step_solve(T, room->twice, room->far, room->far_l);
    double rough = tangent_apart(T, dw, dl, reach);
    for (int i = 0; i < T->N; i++) dw[i] += (dw[i] - room->far[i]) / 3;
    for (int i = 0; i < T->M; i++) dl[i] += (dl[i] - room->far_l[i]) / 3;
    if (rough <= ROUGH) {
      *part = rough < ROUGH / 1024 ? fmin(2 * e, NS_STEP_PART) : e;
      return NS_OK;
    }
    bool helps = rough < best / 2;
    if (helps) {
      best = rough;
      memcpy(room->kept, dw, (size_t)T->N * sizeof *dw);
      memcpy(room->kept_l, dl, (size_t)T->M * sizeof *dl);
    } else if (best < 1.0 / 16) {
      break;
    }
  }
  if (best == INFINITY) return status;
  memcpy(dw, room->kept, (size_t)T->N * sizeof *dw);
  memcpy(dl, room->kept_l, (size_t)T->M * sizeof *dl);
  return NS_OK;
}

/* Adds to dw, dl the solution for what the equations still change along the direction with them. *change: its part of dw, dl. */
static NsStatus correct_solution(NsStepEquations *T, NsStepDirection along, double *dw, double *dl, double *change,
                                 NsError *err) {
  const NsStepRoom *room = &T->room;
  along.w = dw;
  along.lambda = dl;
  NsStatus status = ns_step_derivative(T, ns_step_sample, &along, T->N + T->M, room->once, err);
  if (status != NS_OK) return status;
  ns_step_solve(T, room->once, room->far, room->far_l);
  double reach = ns_step_reach(T, &along);
  *change = 0;
  for (int i = 0; i < T->N; i++) {
    dw[i] += room->far[i];
    if (room->far[i] != 0) *change = fmax(*change, fabs(room->far[i]) / fmax(fabs(dw[i]), LEAST * T->sizes.w[i] / reach));
  }
  for (int i = 0; i < T->M; i++) {
    dl[i] += room->far_l[i];
    if (room->far_l[i] != 0)
      *change = fmax(*change, fabs(room->far_l[i]) / fmax(fabs(dl[i]), LEAST * T->sizes.lambda[i] / reach));
  }
  return NS_OK;
}

/* ---- the steps of a linear model ---- */

/* Changes when a matrix of the model does. */
static uint64_t matrices_key(const NsStepEquations *T) {
  uint64_t key = 1;
  for (int d = 0; d < T->graph->nds; d++) {
    const NsDs *ds = T->graph->ds[d];
    key += ns_ds_family(ds) == NS_MECHANICS ? ns_mechanical_matrix_version((const NsMechanicalDs *)ds)
                                            : ns_first_order_matrix_version((const NsFirstOrderDs *)ds);
  }
  for (int e = 0; e < T->graph->ninteractions; e++) key += ns_relation_matrix_version(T->graph->interactions[e]->relation);
  return key;
}

/* A direction whose memories a vector gives, in the order of Phi. */
static NsStepDirection memory_direction(const NsStepEquations *T, const double *memory) {
  const double *r = memory + T->n, *before = r + (T->input ? T->nr : 0);
  return (NsStepDirection){.x = memory, .r = T->input ? r : NULL, .before = T->of->before_states ? before : NULL};
}

static NsStatus solve_along(NsStepEquations *T, const NsStepDirection *along, int j, double *x, double *r, NsError *err);

NsStatus ns_step_form_steps(NsStepEquations *T, NsError *err) {
  const NsStepRoom *room = &T->room;
  int count = ns_step_memories(T), after = ns_step_memories_after(T);
  NsStatus status = NS_OK;
  memset(room->mix, 0, (size_t)count * sizeof *room->mix);
  for (int i = 0; i < count && status == NS_OK; i++) {
    double *column = T->system.Phi + (ptrdiff_t)i * after;
    NsStepDirection along = memory_direction(T, room->mix);
    room->mix[i] = 1;
    status = solve_along(T, &along, -1, column, column + T->n, err);
    room->mix[i] = 0;
  }
  T->system.carried = status == NS_OK;
  return status;
}

/* x, r: the derivatives after the step from the derivatives of the memories before it. */
static void carry_linear(NsStepEquations *T, const NsStepDirection *along, double *x, double *r) {
  const NsStepRoom *room = &T->room;
  int after = ns_step_memories_after(T), nr = T->input ? T->nr : 0;
  const double *Phi = T->system.Phi;
  const double *parts[] = {along->x, along->r, along->before};
  int counts[] = {T->n, nr, T->of->before_states ? T->n : 0};
  memset(room->once, 0, (size_t)after * sizeof *room->once);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < counts[k]; i++, Phi += after)
      if (parts[k][i] != 0) ns_dense_axpy(after, parts[k][i], Phi, room->once);
  memcpy(x, room->once, (size_t)T->n * sizeof *x);
  memcpy(r, room->once + T->n, (size_t)nr * sizeof *r);
}

/* ---- a column ---- */

static NsStepDirection column_direction(const NsStepEquations *T, int j) {
  const NsStepRoom *room = &T->room;
  memset(room->weights, 0, (size_t)T->p * sizeof *room->weights);
  room->weights[j] = T->s->acts[j] ? 1 : 0;
  return (NsStepDirection){.x = T->s->X + (ptrdiff_t)j * T->n,
                           .r = T->input ? T->R + (ptrdiff_t)j * T->nr : NULL,
                           .before = T->of->before_states ? T->before_slope + (ptrdiff_t)j * T->n : NULL,
                           .p = T->s->acts[j] ? room->weights : NULL};
}

static bool tangent_moves_nothing(const NsStepEquations *T, const NsStepDirection *d) {
  return !d->p && ns_zero_numbers(d->x, T->n) && (!d->r || ns_zero_numbers(d->r, T->nr)) &&
         (!d->before || ns_zero_numbers(d->before, T->n));
}

/* dw, dl: the solution for a direction; j: its parameter. */
static NsStatus step_solve_column(NsStepEquations *T, const NsStepDirection *along, int j, double *dw, double *dl,
                                  NsError *err) {
  double *once = T->room.once, change = INFINITY;
  bool inexact = T->system.inexact;
  if (ns_step_affine(T, along)) {
    NsStatus status = ns_step_difference(T, ns_step_sample, along, T->N + T->M, ns_step_reach(T, along), once, err);
    if (status == NS_OK) ns_step_solve(T, once, dw, dl);
    return status;
  }
  NsStatus status = smooth_solution(T, along, &T->room.parts[j], dw, dl, err);
  for (int k = 0; k < CORRECTIONS && status == NS_OK && inexact && change > EXACT; k++)
    status = correct_solution(T, *along, dw, dl, &change, err);
  if (status == NS_OK && inexact && change > 1e3 * EXACT)
    return ns_fail(err, NS_ENOCONV, "sensitivities: the equations of the step to t=%.10g have no solution for S", T->step.t);
  return status;
}

/* Keeps dw and dl of parameter j for the projection. */
static void keep_column(const NsStepEquations *T, int j, const double *dw, const double *dl) {
  memcpy(T->projection.dw + (ptrdiff_t)j * T->N, dw, (size_t)T->N * sizeof *dw);
  memcpy(T->projection.dl + (ptrdiff_t)j * T->M, dl, (size_t)T->M * sizeof *dl);
}

/*
** x, r: the derivatives after the step along a direction; j: its parameter, -1: none. Before a projection: dw and dl are kept instead.
*/
static NsStatus solve_along(NsStepEquations *T, const NsStepDirection *from, int j, double *x, double *r, NsError *err) {
  const NsStepRoom *room = &T->room;
  NsStepDirection along = *from;
  NsStatus status = step_solve_column(T, &along, j, room->dw, room->dl, err);
  if (status != NS_OK) return status;
  if (T->settles) return keep_column(T, j, room->dw, room->dl), NS_OK;
  if (T->of->states) {
    for (int d = 0, i = 0; d < T->graph->nds; i += T->graph->ds[d++]->n)
      memcpy(x + i, room->dw + T->layout->nodes[d]->v, (size_t)T->graph->ds[d]->n * sizeof *x);
    if (!T->input) return NS_OK;
  }
  along.w = room->dw;
  along.lambda = room->dl;
  status = ns_step_derivative(T, ns_step_sample_state, &along, T->n + (T->input ? T->nr : 0), room->once, err);
  if (status != NS_OK) return status;
  if (!T->of->states) memcpy(x, room->once, (size_t)T->n * sizeof *x);
  memcpy(r, room->once + T->n, (size_t)(T->input ? T->nr : 0) * sizeof *r);
  return NS_OK;
}

/* The derivatives after the step by parameter j. */
static NsStatus step_column(NsStepEquations *T, int j, NsError *err) {
  const NsStepRoom *room = &T->room;
  NsStepDirection along = column_direction(T, j);
  double *x = room->x_new + (ptrdiff_t)j * T->n, *r = room->r_new + (ptrdiff_t)j * T->nr;
  memset(x, 0, (size_t)T->n * sizeof *x);
  memset(r, 0, (size_t)T->nr * sizeof *r);
  memset(room->dw, 0, (size_t)T->N * sizeof *room->dw);
  memset(room->dl, 0, (size_t)T->M * sizeof *room->dl);
  if (tangent_moves_nothing(T, &along)) {
    if (T->settles) keep_column(T, j, room->dw, room->dl);
    return NS_OK;
  }
  if (T->system.carried && !along.p) return carry_linear(T, &along, x, r), NS_OK;
  return solve_along(T, &along, j, x, r, err);
}

/* ---- checks ---- */

/* NS_EARG when a row that is 0 at the start of the run moves with a parameter. */
static NsStatus check_start(NsStepEquations *T, NsError *err) {
  bool any = false;
  for (int r = 0; r < T->M; r++) any = any || T->modes.touches[r];
  NsStatus status = NS_OK;
  for (int j = 0; j < T->p && any && !T->rows.one_sided && status == NS_OK; j++) {
    NsStepDirection along = column_direction(T, j);
    if (tangent_moves_nothing(T, &along)) continue;
    status = ns_step_derivative(T, ns_step_sample_start, &along, T->M, T->room.once, err);
    double reach = ns_step_reach(T, &along);
    for (int r = 0; r < T->M && status == NS_OK; r++)
      if (T->modes.touches[r] && fabs(T->room.once[r]) * reach > 0x1p-30 * T->sizes.y_terms[r])
        return ns_step_undecided(&T->rows, r, T->step.t_k, err);
  }
  ns_step_restore(T);
  return status;
}

/* y_start is known, except in the first step, where it is y at the time at which the run starts. */
static NsStatus check_modes(NsStepEquations *T, NsError *err) {
  const NsStepModes *modes = &T->modes;
  NsStatus status = ns_step_modes(&T->rows, T->step.t, err);
  if (status == NS_OK && modes->compares) status = ns_step_same_modes(&T->rows, modes->before, modes->t_compared, err);
  if (status == NS_OK && T->first) status = ns_step_sample_start(T, NULL, 0, modes->y_start, err);
  if (status == NS_OK && (T->first || ns_step_has_contacts(T->graph)))
    status = ns_step_steady(&T->rows, modes->y_start, T->first, T->step.t, modes->touches, err);
  return status == NS_OK && T->first ? check_start(T, err) : status;
}

/* ---- the step ---- */

/* Evaluates and linearises the linearisation at the solution. */
static NsStatus linearise_solution(NsStepEquations *T, NsError *err) {
  NsStatus status = ns_step_place(T, NULL, 0, false, err);
  if (status == NS_OK && ns_step_has_contacts(T->graph) && !T->first) status = T->of->before(T->lin, T->modes.y_start, err);
  if (status == NS_OK) status = T->of->equations(T->lin, T->room.sample, T->modes.y, err);
  if (status == NS_OK) status = T->lin->class->linearize(T->lin, true, err);
  return status == NS_OK ? ns_step_measure_states(T, err) : status;
}

NsStatus ns_step_prepare(NsStepEquations *T, NsError *err) {
  NsStepSystem *system = &T->system;
  T->rows.part = ns_step_part(&T->step);
  ns_step_tell_length(T->graph, &T->step);
  NsStatus status = linearise_solution(T, err);
  if (status != NS_OK) return status;
  ns_sensitivity_doubt(T->s, T->s->known);
  uint64_t key = matrices_key(T);
  bool same = !ns_step_take_matrix(T) && T->linear && system->formed == T->lin->factorizations && system->key == key &&
              system->h_formed == T->step.h;
  system->key = key;
  if (!same) system->carried = false;
  if (!same) ns_step_respond(T);
  ns_step_measure(T);
  status = check_modes(T, err);
  if (status == NS_OK && T->first) status = linearise_solution(T, err);
  if (status == NS_OK && same && system->Phi && !system->carried) return ns_step_form_steps(T, err);
  if (status != NS_OK || same) return status;
  bool slips = false;
  for (int r = 0; r < T->M; r++) slips = slips || T->modes.mode[r] == NS_STEP_SLIPS;
  slips = slips || ns_step_slides(&T->rows);
  T->linear = T->lin->linear && !slips;
  system->formed = T->lin->factorizations;
  system->h_formed = T->step.h;
  return ns_step_form(T, err);
}

/* Adds a column's direction, as long as it displaces numbers by their sizes, to `mix`. */
static void add_to_mix(NsStepEquations *T, int j) {
  const NsStepRoom *room = &T->room;
  NsStepDirection along = column_direction(T, j);
  double sign = j % 3 == 1 ? -1 : 1, e = sign * ns_step_reach(T, &along), *at = room->mix;
  const double *parts[] = {along.x, along.r, along.before, room->dw, room->dl};
  int counts[] = {T->n, T->nr, T->n, T->N, T->M};
  for (int k = 0; k < 5; at += counts[k++])
    for (int i = 0; i < counts[k] && parts[k]; i++) at[i] += e * parts[k][i];
  room->mix_weights[j] = T->s->acts[j] ? e : 0;
}

/* Whether the equations do not change along the sum of all columns: then the matrix is exact. */
static NsStatus test_matrix(NsStepEquations *T, bool *exact, NsError *err) {
  const NsStepRoom *room = &T->room;
  const double *x = room->mix, *r = x + T->n, *before = r + T->nr, *w = before + T->n, *lambda = w + T->N;
  NsStepDirection along = {x, T->input ? r : NULL, T->of->before_states ? before : NULL, w, lambda, room->mix_weights};
  NsStatus status = ns_step_derivative(T, ns_step_sample, &along, T->N + T->M, room->once, err);
  ns_step_restore(T);
  if (status != NS_OK) return status;
  ns_step_solve(T, room->once, room->far, room->far_l);
  *exact = true;
  for (int i = 0; i < T->N; i++) *exact = *exact && fabs(room->far[i]) <= EXACT * T->p * fmax(T->sizes.w[i], fabs(w[i]));
  for (int i = 0; i < T->M; i++)
    *exact = *exact && fabs(room->far_l[i]) <= EXACT * T->p * fmax(T->sizes.lambda[i], fabs(lambda[i]));
  return NS_OK;
}

static NsStatus carry_columns(NsStepEquations *T, NsError *err) {
  NsStatus status = NS_OK;
  bool tests = !T->linear && !T->system.inexact, exact = true;
  if (tests) memset(T->room.mix, 0, (size_t)(2 * T->n + T->nr + T->N + T->M) * sizeof *T->room.mix);
  for (int j = 0; j < T->p && status == NS_OK; j++) {
    status = step_column(T, j, err);
    if (T->s->acts[j]) ns_step_restore(T);
    if (tests && status == NS_OK) add_to_mix(T, j);
  }
  if (!tests || status != NS_OK) return status;
  status = test_matrix(T, &exact, err);
  T->system.inexact = !exact;
  return status == NS_OK && T->system.inexact ? carry_columns(T, err) : status;
}

/* x_new: through the projection. It linearises the linearisation at other points. */
static NsStatus settle_columns(NsStepEquations *T, NsError *err) {
  const NsStepRoom *room = &T->room;
  NsStatus status = linearise_solution(T, err);
  if (status == NS_OK) status = ns_step_project_begin(T, err);
  for (int j = 0; j < T->p && status == NS_OK; j++) {
    NsStepDirection along = column_direction(T, j);
    if (tangent_moves_nothing(T, &along)) continue;
    along.w = T->projection.dw + (ptrdiff_t)j * T->N;
    along.lambda = T->projection.dl + (ptrdiff_t)j * T->M;
    status = ns_step_smooth_derivative(T, ns_step_sample_settled, &along, T->n, room->once, err);
    if (status == NS_OK) memcpy(room->x_new + (ptrdiff_t)j * T->n, room->once, (size_t)T->n * sizeof *room->once);
    ns_step_restore(T);
  }
  T->system.formed = -1;
  return status;
}

NsStatus ns_step_check_inputs(const NsStepEquations *T, NsError *err) {
  if (!T->first || !T->input || ns_zero_numbers(T->point.r_k, T->nr)) return NS_OK;
  return ns_fail(
      err, NS_EARG,
      "sensitivities: the run begins with multipliers of a consistent start, which gamma < 1 weights: start without it, "
      "or use EventDriven with a %s",
      ns_scheme_runge_kutta_text);
}

NsStatus ns_step_tangent(NsSensitivity *s, const NsScheme *scheme, const NsStep *step, NsError *err) {
  NsStatus status = s->lin ? NS_OK : ns_step_equations_new(s, scheme, err);
  if (status != NS_OK) return status;
  NsStepEquations *T = s->lin;
  T->step = *step;
  if (T->first) T->t_first = step->t_k;
  ns_step_take(T, scheme);
  status = ns_step_check_inputs(T, err);
  return status == NS_OK ? ns_step_carry_columns(T, err) : status;
}

NsStatus ns_step_carry_columns(NsStepEquations *T, NsError *err) {
  NsStepModes *modes = &T->modes;
  NsSensitivity *s = T->s;
  modes->compares = !T->first;
  modes->t_compared = T->step.t;
  NsStatus status = ns_step_prepare(T, err);
  if (status == NS_OK) status = carry_columns(T, err);
  if (status == NS_OK && T->settles) status = settle_columns(T, err);
  ns_step_restore(T);
  NsError unheard;
  NsStatus back = ns_step_place(T, NULL, 0, false, status == NS_OK ? err : &unheard);
  if (status != NS_OK || back != NS_OK) return status != NS_OK ? status : back;
  memcpy(T->before_slope, s->X, (size_t)T->n * (size_t)T->p * sizeof *s->X);
  memcpy(s->X, T->room.x_new, (size_t)T->n * (size_t)T->p * sizeof *s->X);
  memcpy(T->R, T->room.r_new, (size_t)T->nr * (size_t)T->p * sizeof *T->R);
  memcpy(modes->before, modes->mode, (size_t)T->M * sizeof *modes->mode);
  T->first = false;
  return NS_OK;
}

static bool is_parameter(const NsSensitivity *s, const double *number) {
  for (int j = 0; j < s->p; j++)
    if (s->parameters[j].number == number) return true;
  return false;
}

/* NS_EARG when a coefficient of an object shows a state that it does not belong to, and which is no parameter. */
static NsStatus check_coefficients(const NsSensitivity *s, const NsField *fields, const void *object, const char *name,
                                   NsError *err) {
  for (const NsField *field = fields; field->name; field++) {
    const NsCoef *coef = field->type == NS_FIELD_COEF ? ns_field_place(field, (void *)object) : NULL;
    if (!coef || !coef->source.live || is_parameter(s, coef->source.data)) continue;
    return ns_fail(err, NS_EARG, "run: sensitivities: %s of '%s' shows the state of another object: write a relation instead",
                   field->name, name);
  }
  return NS_OK;
}

static NsStatus tangent_check_graph(const NsSensitivity *s, const NsNsds *graph, NsError *err) {
  NsStatus status = NS_OK;
  for (int d = 0; d < graph->nds && status == NS_OK; d++)
    status = check_coefficients(s, graph->ds[d]->class->model.fields, graph->ds[d], ns_ds_name(graph->ds[d]), err);
  for (int e = 0; e < graph->ninteractions && status == NS_OK; e++) {
    const NsInteraction *inter = graph->interactions[e];
    status = check_coefficients(s, inter->relation->class->model.fields, inter->relation, inter->name, err);
    if (status == NS_OK && ns_law_needs(inter->law) & NS_NEEDS_REACTION)
      return ns_fail(err, NS_EARG,
                     "run: sensitivities: the friction of '%s' follows the reaction, and its steps have no derivative",
                     inter->name);
    if (status == NS_OK && ns_law_needs(inter->law) & NS_NEEDS_POLYHEDRON)
      return ns_fail(err, NS_EARG,
                     "run: sensitivities: the law of '%s' is a %s, whose steps have no derivative; use EventDriven with a %s",
                     inter->name, ns_law_name(inter->law), ns_scheme_runge_kutta_text);
  }
  return status;
}

NsStatus ns_step_tangent_check(const NsSensitivity *s, const NsScheme *scheme, NsError *err) {
  const NsSchemeTangent *of = scheme->class->tangent->lin->tangent;
  const char *why = of->refuses ? of->refuses(scheme->integrator) : NULL;
  if (!why) return tangent_check_graph(s, scheme->nsds, err);
  return ns_fail(err, NS_EARG, "run: sensitivities: a %s %s has no derivative of its steps; use EventDriven with a %s",
                 scheme->class->name, why, ns_scheme_runge_kutta_text);
}
