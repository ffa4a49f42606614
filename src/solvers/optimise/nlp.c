/*
** nlp.c
** Values and derivatives of a sparse nonlinear program, from the tapes of its terms.
*/
#include "solvers/optimise/nlp.h"

#include <math.h>
#include <string.h>

#include "linalg/dense.h"

/* largest number of inputs of a term: the second derivatives of its tape are dense (200^2 / 2 numbers for each operation) */
enum { NLP_MOST_INPUTS = 200 };

/* ---- the pattern of a term ---- */

/* Which inputs a node depends on (deps, nodes x inputs), and which pairs of inputs have a second derivative (pairs). */
typedef struct NlpPattern {
  int inputs;
  bool *deps, *pairs;
} NlpPattern;

static void nlp_cross(NlpPattern *p, const bool *a, const bool *b) {
  for (int i = 0; i < p->inputs; i++)
    for (int j = 0; j < p->inputs && a[i]; j++)
      if (b[j]) p->pairs[i * p->inputs + j] = p->pairs[j * p->inputs + i] = true;
}

static void nlp_step_pattern(NlpPattern *p, const NsTapeStep *s, int node) {
  int n = p->inputs;
  bool binary = ns_tape_operations[s->op].arity == 2;
  bool *to = p->deps + (ptrdiff_t)node * n, *a = p->deps + (ptrdiff_t)s->a * n, *b = p->deps + (ptrdiff_t)s->b * n;
  for (int i = 0; i < n; i++) to[i] = a[i] || (binary && b[i]);
  bool linear = s->op == NS_TAPE_ADD || s->op == NS_TAPE_SUB || s->op == NS_TAPE_NEG;
  if (linear) return;
  if (s->op == NS_TAPE_MUL) nlp_cross(p, a, b);
  else nlp_cross(p, to, to);
}

/* The pattern of a tape, in the arena. */
static NlpPattern nlp_pattern(const NsTape *tape, NsArena *arena) {
  NsTapeView v = ns_tape_view(tape);
  int n = v.inputs, nodes = n + v.constants + v.steps;
  NlpPattern p = {n, ns_arena_take(arena, (size_t)nodes * (size_t)n + 1, sizeof(bool)),
                  ns_arena_take(arena, (size_t)n * (size_t)n + 1, sizeof(bool))};
  if (arena->failed) return p;
  for (int i = 0; i < n; i++) p.deps[(ptrdiff_t)i * n + i] = true;
  for (int k = 0; k < v.steps; k++) nlp_step_pattern(&p, &v.step[k], n + v.constants + k);
  return p;
}

/*
** Counts the places of a term's derivatives, and writes them where the lists are not NULL. Returns the numbers by *jacobian and
** *hessian.
*/
static void nlp_places(const NsNlp *nlp, const NsNlpTerm *t, const NlpPattern *p, bool write, int *jacobian, int *hessian) {
  NsTapeView v = ns_tape_view(t->tape);
  for (int o = 0; o < v.outputs; o++)
    for (int i = 0; i < p->inputs; i++) {
      if (t->row[o] < 0 || !p->deps[(ptrdiff_t)v.output[o] * p->inputs + i]) continue;
      if (write) {
        nlp->jacobian_row[*jacobian] = t->row[o];
        nlp->jacobian_column[*jacobian] = t->index[i];
        nlp->jacobian_slope[*jacobian] = o + i * v.outputs;
        nlp->jacobian_weight[*jacobian] = t->weight[o];
      }
      (*jacobian)++;
    }
  for (int j = 0; j < p->inputs; j++)
    for (int i = 0; i <= j; i++) {
      if (!p->pairs[i * p->inputs + j]) continue;
      int a = t->index[i], b = t->index[j];
      if (write) {
        nlp->hessian_row[*hessian] = a > b ? a : b;
        nlp->hessian_column[*hessian] = a > b ? b : a;
        nlp->hessian_pair[*hessian] = ns_jet_pair((NsJet){NS_JET_BOWL, p->inputs}, i, j);
      }
      (*hessian)++;
    }
}

/* ---- evaluation ---- */

static const double *nlp_gather(const NsNlp *nlp, const NsNlpTerm *t, const double *x) {
  int inputs = ns_tape_view(t->tape).inputs;
  for (int i = 0; i < inputs; i++) nlp->in[i] = x[t->index[i]];
  return nlp->in;
}

/* Adds the rows of the constraints (or of the objective) to `to`. */
static void nlp_values(NsNlp *nlp, const double *x, bool objective, double *to) {
  for (int e = 0; e < nlp->nentries; e++)
    if ((nlp->row[e] < 0) == objective) to[objective ? 0 : nlp->row[e]] += nlp->value[e] * x[nlp->column[e]];
  for (int k = 0; k < nlp->nterms; k++) {
    const NsNlpTerm *t = &nlp->terms[k];
    int outputs = ns_tape_view(t->tape).outputs;
    bool any = false;
    for (int o = 0; o < outputs; o++) any = any || (t->row[o] < 0) == objective;
    if (!any) continue;
    ns_tape_value(t->tape, nlp_gather(nlp, t, x), nlp->out);
    for (int o = 0; o < outputs; o++)
      if ((t->row[o] < 0) == objective) to[objective ? 0 : t->row[o]] += t->weight[o] * nlp->out[o];
  }
}

static bool nlp_objective(NsNlp *nlp, const double *x, double *f) {
  *f = 0;
  nlp_values(nlp, x, true, f);
  return isfinite(*f);
}

static bool nlp_constraints(NsNlp *nlp, const double *x, double *c) {
  memset(c, 0, (size_t)nlp->m * sizeof *c);
  nlp_values(nlp, x, false, c);
  return ns_is_finite(nlp->m, 1, c, nlp->m);
}

static bool nlp_gradient(NsNlp *nlp, const double *x, double *gradient) {
  memset(gradient, 0, (size_t)nlp->n * sizeof *gradient);
  for (int e = 0; e < nlp->nentries; e++)
    if (nlp->row[e] < 0) gradient[nlp->column[e]] += nlp->value[e];
  for (int k = 0; k < nlp->nterms; k++) {
    const NsNlpTerm *t = &nlp->terms[k];
    NsTapeView v = ns_tape_view(t->tape);
    bool any = false;
    for (int o = 0; o < v.outputs; o++) any = any || t->row[o] < 0;
    if (!any) continue;
    ns_tape_jacobian(t->tape, nlp_gather(nlp, t, x), 0, v.inputs, nlp->slopes);
    for (int o = 0; o < v.outputs; o++)
      for (int i = 0; i < v.inputs && t->row[o] < 0; i++)
        gradient[t->index[i]] += t->weight[o] * nlp->slopes[o + (ptrdiff_t)i * v.outputs];
  }
  return ns_is_finite(nlp->n, 1, gradient, nlp->n);
}

/* Affine entries come first, then the entries of the terms. */
static bool nlp_jacobian(NsNlp *nlp, const double *x, double *values) {
  int at = 0;
  for (int e = 0; e < nlp->nentries; e++)
    if (nlp->row[e] >= 0) values[at++] = nlp->value[e];
  for (int k = 0; k < nlp->nterms; k++) {
    const NsNlpTerm *t = &nlp->terms[k];
    NsTapeView v = ns_tape_view(t->tape);
    if (nlp->jacobian_of[k] == nlp->jacobian_of[k + 1]) continue;
    ns_tape_jacobian(t->tape, nlp_gather(nlp, t, x), 0, v.inputs, nlp->slopes);
    for (at = nlp->jacobian_of[k]; at < nlp->jacobian_of[k + 1]; at++)
      values[at] = nlp->jacobian_weight[at] * nlp->slopes[nlp->jacobian_slope[at]];
  }
  return ns_is_finite(nlp->njacobian, 1, values, nlp->njacobian);
}

static bool nlp_hessian(NsNlp *nlp, const double *x, double factor, const double *lambda, double *values) {
  for (int k = 0; k < nlp->nterms; k++) {
    const NsNlpTerm *t = &nlp->terms[k];
    NsTapeView v = ns_tape_view(t->tape);
    if (nlp->hessian_of[k] == nlp->hessian_of[k + 1]) continue;
    NsJet jet = {NS_JET_BOWL, v.inputs};
    ptrdiff_t size = ns_jet_size(jet);
    memset(nlp->room, 0, (size_t)size * (size_t)v.inputs * sizeof *nlp->room);
    for (int i = 0; i < v.inputs; i++) nlp->room[i * size + i] = 1;
    ns_tape_jet(t->tape, jet, nlp_gather(nlp, t, x), nlp->room);
    for (int at = nlp->hessian_of[k]; at < nlp->hessian_of[k + 1]; at++) {
      values[at] = 0;
      for (int o = 0; o < v.outputs; o++) {
        double scale = t->weight[o] * (t->row[o] < 0 ? factor : lambda[t->row[o]]);
        if (scale != 0) values[at] += scale * nlp->room[v.output[o] * size + nlp->hessian_pair[at]];
      }
    }
  }
  return ns_is_finite(nlp->nhessian, 1, values, nlp->nhessian);
}

/* ---- preparation ---- */

static NsStatus nlp_take(NsNlp *nlp, NsArena *arena, NsError *err) {
  int inputs = 0, outputs = 0;
  ptrdiff_t room = 0;
  for (int k = 0; k < nlp->nterms; k++) {
    NsTapeView v = ns_tape_view(nlp->terms[k].tape);
    if (v.inputs > NLP_MOST_INPUTS)
      return ns_fail(err, NS_ETOOLARGE,
                     "a nonlinear term has %d variables, at most %d are possible: introduce a variable for a part of it",
                     v.inputs, NLP_MOST_INPUTS);
    ptrdiff_t size = ns_jet_size((NsJet){NS_JET_BOWL, v.inputs}) * (ptrdiff_t)(v.inputs + v.constants + v.steps);
    room = size > room ? size : room;
    inputs = v.inputs > inputs ? v.inputs : inputs;
    outputs = v.outputs > outputs ? v.outputs : outputs;
  }
  nlp->in = ns_arena_doubles(arena, inputs);
  nlp->out = ns_arena_doubles(arena, outputs);
  nlp->slopes = ns_arena_matrix(arena, inputs, outputs);
  nlp->room = ns_arena_doubles(arena, room);
  NS_ARENA_INTS(arena, nlp->nterms + 1, &nlp->jacobian_of, &nlp->hessian_of);
  return arena->failed ? NS_ENOMEM : NS_OK;
}

/* Counts the places, or writes them. */
static NsStatus nlp_all_places(NsNlp *nlp, bool write) {
  int jacobian = 0, hessian = 0;
  NlpPattern p = {0, NULL, NULL};
  NsArena patterns = {0};
  const NsTape *last = NULL;
  for (int e = 0; e < nlp->nentries; e++) {
    if (nlp->row[e] < 0) continue;
    if (write) nlp->jacobian_row[jacobian] = nlp->row[e], nlp->jacobian_column[jacobian] = nlp->column[e];
    jacobian++;
  }
  for (int k = 0; k < nlp->nterms && !patterns.failed; k++) {
    if (nlp->terms[k].tape != last) {
      ns_arena_release(&patterns);
      patterns = (NsArena){0};
      p = nlp_pattern(last = nlp->terms[k].tape, &patterns);
      if (patterns.failed) break;
    }
    nlp->jacobian_of[k] = jacobian;
    nlp->hessian_of[k] = hessian;
    nlp_places(nlp, &nlp->terms[k], &p, write, &jacobian, &hessian);
  }
  NsStatus status = patterns.failed ? NS_ENOMEM : NS_OK;
  ns_arena_release(&patterns);
  nlp->jacobian_of[nlp->nterms] = nlp->njacobian = jacobian;
  nlp->hessian_of[nlp->nterms] = nlp->nhessian = hessian;
  return status;
}

NsStatus ns_nlp_prepare(NsNlp *nlp, NsArena *arena, NsError *err) {
  NsStatus status = nlp_take(nlp, arena, err);
  if (status == NS_OK) status = nlp_all_places(nlp, false);
  if (status == NS_OK) {
    NS_ARENA_INTS(arena, nlp->njacobian, &nlp->jacobian_row, &nlp->jacobian_column, &nlp->jacobian_slope);
    nlp->jacobian_weight = ns_arena_doubles(arena, nlp->njacobian);
    NS_ARENA_INTS(arena, nlp->nhessian, &nlp->hessian_pair, &nlp->hessian_row, &nlp->hessian_column);
    status = arena->failed ? NS_ENOMEM : nlp_all_places(nlp, true);
  }
  nlp->objective = nlp_objective;
  nlp->gradient = nlp_gradient;
  nlp->constraints = nlp_constraints;
  nlp->jacobian = nlp_jacobian;
  nlp->hessian = nlp_hessian;
  if (status == NS_ENOMEM) ns_fail(err, status, "not enough memory");
  return status;
}
