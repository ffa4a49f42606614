/*
** audit.c
** Compares given Jacobians with exact ones; finds wrong mass matrices.
*/
#include "model/audit.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/text.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

enum { MOST_ENTRIES = 20 };

/* Adds a line to the audit's text; one for which there is no memory counts, and is lost. */
__attribute__((format(printf, 2, 3))) static void audit_complain(NsAudit *audit, const char *format, ...) {
  char line[320];
  va_list args;
  va_start(args, format);
  ns_vprint(line, sizeof line, format, args);
  va_end(args);
  size_t length = strlen(line);
  char *longer = ns_resize(audit->text, audit->size + length + 2, 1);
  audit->told++;
  if (!longer) return;
  audit->text = longer;
  memcpy(longer + audit->size, line, length);
  memcpy(longer + audit->size + length, "\n", 2);
  audit->size += length + 1;
}

void ns_audit_clear(NsAudit *audit) {
  ns_free(audit->text);
  audit->text = NULL;
  audit->size = 0;
}

void ns_audit_move(double *to, const double *from, int n, int trial) {
  for (int i = 0; i < n; i++) {
    double fraction = fmod(0.618034 * (i + 1) * trial, 1.0);
    to[i] = from[i] + trial * (0.25 + fraction) * fmax(0.5, 0.1 * fabs(from[i]));
  }
}

double ns_audit_time(const NsAudit *audit, int trial) {
  return audit->t + (audit->T - audit->t) * trial / (NS_AUDIT_POINTS - 1);
}

/* ---- comparisons ---- */

/* What is compared: one Jacobian of one function or, with cols = 0, the derivative of a vector by time. */
typedef struct Comparison {
  NsAudit *audit;
  int which, by;
  const char *label; /* "Jacgx" */
  int rows, cols;
  double *given, *exact;
} Comparison;

/*
** Whether two exact values of entry (i, j) agree up to rounding: relative difference <= AGREED, or difference times |x_j| <=
** ROUNDINGS roundings of the row's largest other term |J_ik x_k|. x: the point; NULL: no columns. Both bounds: chosen by
** experience on the specs.
*/
#define AGREED 1e-9
enum { ROUNDINGS = 64 };

static bool audit_agree(const Comparison *a, const double *x, int i, int j) {
  double given = a->given[i + j * a->rows], exact = a->exact[i + j * a->rows], apart = fabs(given - exact), row = 0;
  if (apart <= AGREED * fmax(fabs(given), fabs(exact))) return true;
  for (int k = 0; x && k < a->cols; k++) {
    double size = fmax(fabs(a->given[i + k * a->rows]), fabs(a->exact[i + k * a->rows]));
    if (k != j) row = fmax(row, size * fabs(x[k]));
  }
  return x && x[j] != 0 && apart * fabs(x[j]) <= ROUNDINGS * DBL_EPSILON * row;
}

/* The same when one of the values comes from differences: to 1e-4 of the largest entry, or of 1. */
static bool agree_roughly(const Comparison *a, int i, int j) {
  double scale = 1;
  for (int k = 0, count = a->rows * (a->cols > 0 ? a->cols : 1); k < count; k++) scale = fmax(scale, fabs(a->exact[k]));
  return fabs(a->given[i + j * a->rows] - a->exact[i + j * a->rows]) <= 1e-4 * scale;
}

/* Finds the entry (i, j) with the largest difference among those that disagree; false when all agree. */
static bool worst_entry(const Comparison *a, const double *x, bool exact, int *row, int *col) {
  double most = 0;
  for (int j = 0, cols = a->cols > 0 ? a->cols : 1; j < cols; j++)
    for (int i = 0; i < a->rows; i++) {
      double difference = fabs(a->given[i + j * a->rows] - a->exact[i + j * a->rows]);
      if (difference <= most || (exact ? audit_agree(a, x, i, j) : agree_roughly(a, i, j))) continue;
      most = difference;
      *row = i;
      *col = j;
    }
  return most > 0;
}

/*
** Complains about the entries of `given` that disagree with the entries of `exact` (computed exactly, or by differences). Each wrong entry
** is told once: it is corrected in the copy, and the next one is searched. x: as for audit_agree.
*/
static void tell_differences(const Comparison *a, const double *x, double t, bool exact) {
  int i, j;
  for (int n = 0; n < MOST_ENTRIES && worst_entry(a, x, exact, &i, &j); n++) {
    int at = i + j * a->rows;
    char place[32] = "";
    if (a->cols > 0) snprintf(place, sizeof place, "[%d]", j + 1);
    audit_complain(a->audit, "%s[%d]%s: given %.10g, exact %.10g (t=%g)", a->label, i + 1, place, a->given[at], a->exact[at],
                   t);
    a->given[at] = a->exact[at];
  }
}

static NsStatus compare_exact(const Comparison *a, double t, const double *const *args) {
  bool exact;
  if (a->audit->exact(a->audit->context, a->which, a->by, t, args, a->exact, &exact) != 0) return NS_ECALLBACK;
  tell_differences(a, args[a->by == NS_BY_X ? 0 : 1], t, exact);
  return NS_OK;
}

static bool audit_given(const NsAudit *audit, const char *callback, const NsCoef *coef) {
  return (coef && ns_coef_given(coef)) || audit->given(audit->context, callback);
}

/* ---- relations ---- */

static const struct {
  const char *callback;
  int which, by;
  size_t coef; /* its place in the relation */
  NsStatus (*evaluate)(const NsRelation *, const NsRelationPoint *, double *, NsError *);
} relation_jacobians[] = {
    {"computeJachx", 0, NS_BY_X, offsetof(NsRelation, C), ns_relation_C},
    {"computeJachlambda", 0, NS_BY_LAMBDA, offsetof(NsRelation, D), ns_relation_D},
    {"computeJacglambda", 1, NS_BY_LAMBDA, offsetof(NsRelation, B), ns_relation_B},
    {"computeJacgx", 1, NS_BY_X, offsetof(NsRelation, K), ns_relation_K},
};

enum { RELATION_JACOBIANS = sizeof relation_jacobians / sizeof *relation_jacobians };

/* The name of callback c; in mechanics the Jacobian by x is the one by q. */
static const char *relation_callback(const NsRelation *rel, int c) {
  return c == 0 && ns_relation_family(rel) == NS_MECHANICS ? "computeJachq" : relation_jacobians[c].callback;
}

static bool relation_given(const NsAudit *audit, const NsRelation *rel, int c) {
  const NsFunction *f = relation_jacobians[c].which == 0 ? &rel->h : &rel->g;
  const NsCoef *coef = (const NsCoef *)(const void *)((const char *)rel + relation_jacobians[c].coef);
  return f->value && audit_given(audit, relation_callback(rel, c), coef);
}

/* The points of a relation's trials, and workspace. */
typedef struct RelationTrials {
  double *state, *x, *lambda, *one, *other, *room;
} RelationTrials;

static NsStatus compare_relation(const Comparison *a, const NsInteraction *inter, int c, const RelationTrials *at,
                                 NsError *err) {
  const NsRelation *rel = inter->relation;
  NsStatus status = NS_OK;
  for (int trial = 0, before = a->audit->told; trial < NS_AUDIT_POINTS && status == NS_OK && a->audit->told == before;
       trial++) {
    ns_audit_move(at->x, at->state, rel->nx, trial);
    ns_audit_move(at->lambda, inter->lambda, rel->m, trial);
    NsRelationPoint point = {a->audit->t, at->x, at->lambda, inter->z, false};
    const double *args[NS_FUNCTION_ARGS] = {at->x, at->lambda, inter->z};
    status = relation_jacobians[c].evaluate(rel, &point, a->given, err);
    if (status == NS_OK) status = compare_exact(a, a->audit->t, args);
  }
  return status;
}

/* Compares hDot with the derivative of h by time, at later times too. */
static NsStatus compare_rate(const Comparison *a, const NsInteraction *inter, const RelationTrials *at, NsError *err) {
  const NsRelation *rel = inter->relation;
  size_t bytes = (size_t)rel->m * sizeof *a->given;
  NsStatus status = NS_OK;
  for (int trial = 0, before = a->audit->told; trial < NS_AUDIT_POINTS && a->audit->told == before; trial++) {
    bool exact;
    ns_audit_move(at->x, at->state, rel->nx, trial);
    NsRelationPoint point = {ns_audit_time(a->audit, trial), at->x, inter->lambda, inter->z, false};
    memset(a->given, 0, bytes);
    memset(a->exact, 0, bytes);
    status = ns_relation_add_rate(rel, &point, at->room, a->given, err);
    if (status == NS_OK) status = ns_relation_add_rate_of_h(rel, &point, at->room, a->exact, &exact, err);
    if (status != NS_OK) return status;
    tell_differences(a, NULL, point.t, exact);
  }
  return NS_OK;
}

static NsStatus relation_trials(NsAudit *audit, NsInteraction *inter, NsArena *arena, NsError *err) {
  const NsRelation *rel = inter->relation;
  int nx = rel->nx, m = rel->m, most = nx > m ? nx : m;
  RelationTrials at = {ns_arena_doubles(arena, nx),        ns_arena_doubles(arena, nx),
                       ns_arena_doubles(arena, m),         ns_arena_matrix(arena, most, most),
                       ns_arena_matrix(arena, most, most), ns_arena_doubles(arena, NS_DIFFERENCE_ROOM * (ptrdiff_t)m)};
  if (arena->failed) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  for (int i = 0, first = 0; i < inter->nds; first += inter->ds[i++]->nx)
    memcpy(at.state + first, inter->ds[i]->x, (size_t)inter->ds[i]->nx * sizeof *at.x);
  NsStatus status = NS_OK;
  for (int c = 0; c < RELATION_JACOBIANS && status == NS_OK; c++) {
    int which = relation_jacobians[c].which, by = relation_jacobians[c].by;
    if (!relation_given(audit, rel, c)) continue;
    Comparison a = {.audit = audit, .which = which, .by = by, .label = relation_callback(rel, c) + strlen("compute")};
    a.rows = which == 0 ? m : nx, a.cols = by == NS_BY_X ? nx : m;
    a.given = at.one, a.exact = at.other;
    status = compare_relation(&a, inter, c, &at, err);
  }
  Comparison rate = {.audit = audit, .label = "hDot", .rows = m, .given = at.one, .exact = at.other};
  return status == NS_OK && rel->hdot.value && rel->h.value ? compare_rate(&rate, inter, &at, err) : status;
}

NsStatus ns_audit_relation(NsAudit *audit, NsInteraction *inter, NsError *err) {
  NsArena arena = {0};
  NsStatus status = relation_trials(audit, inter, &arena, err);
  ns_arena_release(&arena);
  return status;
}

bool ns_audit_relation_given(const NsAudit *audit, const NsRelation *rel) {
  for (int c = 0; c < RELATION_JACOBIANS; c++)
    if (relation_given(audit, rel, c)) return true;
  return rel->hdot.value && rel->h.value;
}

/* ---- masses ---- */

/* A mass matrix: a constant sparse one, or nv x nv numbers. */
typedef struct AuditedMass {
  NsAudit *audit;
  int n, most; /* most: complaints of the audit beyond which no more are made */
  double t;
  const NsSparse *sparse; /* NULL: dense */
  const double *dense;
} AuditedMass;

static double mass_entry(const AuditedMass *M, int i, int j) {
  return M->sparse ? ns_sparse_get(M->sparse, i, j) : M->dense[i + (size_t)j * (size_t)M->n];
}

static void audit_diagonal(const AuditedMass *M) {
  for (int i = 0; i < M->n && M->audit->told < M->most; i++) {
    double m = mass_entry(M, i, i);
    if (!(m > 0)) audit_complain(M->audit, "mass[%d][%d]: expected a positive number, got %.10g (t=%g)", i + 1, i + 1, m, M->t);
  }
}

/* Compares an element with its mirror image, relative to the scale of both rows. */
static void audit_opposite(const AuditedMass *M, int i, int j) {
  double a = mass_entry(M, i, j), b = mass_entry(M, j, i);
  double scale = fmax(fmax(fabs(a), fabs(b)), sqrt(fabs(mass_entry(M, i, i) * mass_entry(M, j, j))));
  if (fabs(a - b) > 1e-9 * scale && M->audit->told < M->most)
    audit_complain(M->audit, "mass[%d][%d]: expected %.10g as in mass[%d][%d] (a mass matrix is symmetric), got %.10g (t=%g)",
                   i + 1, j + 1, b, j + 1, i + 1, a, M->t);
}

/* Checks the symmetry. Each pair is told once, at the element above the diagonal. */
static void audit_symmetry(const AuditedMass *M) {
  const NsSparse *A = M->sparse;
  for (int j = 0; j < M->n; j++) {
    for (int i = 0; !A && i < j; i++) audit_opposite(M, i, j);
    for (int k = A ? A->colptr[j] : 0; A && k < A->colptr[j + 1]; k++) {
      int i = A->row[k];
      if (i < j) audit_opposite(M, i, j);
      else if (i > j && ns_sparse_get(A, j, i) == 0) audit_opposite(M, j, i);
    }
  }
}

/* Checks the mass. The diagonal is checked at the state only: the system may never reach the other points. */
static NsStatus audit_mass(NsAudit *audit, const NsMechanicalDs *ds, NsArena *arena, NsError *err) {
  int before = audit->told;
  AuditedMass M = {.audit = audit, .n = ds->nv, .most = before + MOST_ENTRIES, .t = audit->t, .sparse = ds->mass.sparse};
  bool varies = ds->mass_function.value != NULL;
  if (!varies && !ns_coef_given(&ds->mass)) return NS_OK;
  double *q = ns_arena_doubles(arena, ds->nq), *dense = M.sparse ? NULL : ns_arena_matrix(arena, ds->nv, ds->nv);
  if (arena->failed) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  M.dense = dense;
  NsStatus status = M.sparse ? NS_OK : ns_mechanical_mass(ds, audit->t, ds->q, dense, err);
  if (status != NS_OK) return status;
  audit_diagonal(&M);
  audit_symmetry(&M);
  for (int trial = 1; varies && trial < NS_AUDIT_POINTS && audit->told == before; trial++) {
    NsError unheard;
    ns_audit_move(q, ds->q, ds->nq, trial);
    if (ns_mechanical_mass(ds, audit->t, q, dense, &unheard) == NS_OK) audit_symmetry(&M);
  }
  return NS_OK;
}

/* ---- systems ---- */

static const struct {
  const char *callback, *label;
  int which, by; /* function: 1 fInt, 2 fGyr or mInt */
} mechanical_jacobians[NS_FORCE_PARTS] = {
    [NS_FINT_BY_Q] = {"computeJacobianFIntq", "JacobianFIntq", 1, 0},
    [NS_FINT_BY_V] = {"computeJacobianFIntqDot", "JacobianFIntqDot", 1, 1},
    [NS_FGYR_BY_Q] = {"computeJacobianFGyrq", "JacobianFGyrq", 2, 0},
    [NS_FGYR_BY_V] = {"computeJacobianFGyrqDot", "JacobianFGyrqDot", 2, 1},
    [NS_MINT_BY_Q] = {"computeJacobianMIntq", "JacobianMIntq", 2, 0},
    [NS_MINT_BY_V] = {"computeJacobianMIntv", "JacobianMIntv", 2, 1},
};

static bool mechanical_given(const NsAudit *audit, const NsMechanicalDs *ds, int i) {
  const NsFunction *f = i < NS_FGYR_BY_Q ? &ds->fint_function : i < NS_MINT_BY_Q ? &ds->fgyr_function : &ds->mint_function;
  const NsCoef *coef = i < NS_FORCE_JACOBIANS ? &ds->force_jacobian[i] : NULL;
  return f->value && audit_given(audit, mechanical_jacobians[i].callback, coef);
}

bool ns_audit_system_given(const NsAudit *audit, const NsDs *ds) {
  const NsFirstOrderDs *first = (const NsFirstOrderDs *)ds;
  if (ns_ds_family(ds) == NS_FIRST_ORDER) return first->f.value && audit_given(audit, "computeJacobianfx", &first->jacobian_f);
  bool found = false;
  for (int i = 0; i < NS_FORCE_PARTS; i++) found = found || mechanical_given(audit, (const NsMechanicalDs *)ds, i);
  return found;
}

/* Compares one Jacobian of a system: number i of a mechanical one; -1: of first order. x holds the trial points. */
static NsStatus compare_system(const Comparison *a, const NsDs *ds, int i, double *x, double *room, NsError *err) {
  NsStatus status = NS_OK;
  double t = a->audit->t;
  for (int trial = 0, before = a->audit->told; trial < NS_AUDIT_POINTS && status == NS_OK && a->audit->told == before;
       trial++) {
    const double *args[NS_FUNCTION_ARGS] = {x, x + ds->nx, ds->z};
    ns_audit_move(x, ds->x, ds->n, trial);
    if (i < 0) status = ns_first_order_jacobian((const NsFirstOrderDs *)ds, t, x, false, a->given, err);
    else status = ns_mechanical_force_jacobian((const NsMechanicalDs *)ds, i, t, x, args[1], room, a->given, err);
    if (status == NS_OK) status = compare_exact(a, t, args);
  }
  return status;
}

static NsStatus system_trials(NsAudit *audit, NsDs *ds, NsArena *arena, NsError *err) {
  bool mechanical = ns_ds_family(ds) == NS_MECHANICS;
  const NsMechanicalDs *body = mechanical ? (const NsMechanicalDs *)ds : NULL;
  NsStatus status = mechanical ? audit_mass(audit, body, arena, err) : NS_OK;
  if (status != NS_OK || !ns_audit_system_given(audit, ds)) return status;
  double *x = ns_arena_doubles(arena, ds->n), *room = ns_arena_matrix(arena, ds->n, ds->n);
  Comparison a = {audit,
                  0,
                  NS_BY_X,
                  "Jacobianfx",
                  ds->n,
                  ds->n,
                  ns_arena_matrix(arena, ds->n, ds->n),
                  ns_arena_matrix(arena, ds->n, ds->n)};
  if (arena->failed) return ns_fail(err, NS_ENOMEM, "%s", ns_status_message(NS_ENOMEM));
  if (!mechanical) return compare_system(&a, ds, -1, x, room, err);
  for (int i = 0; i < NS_FORCE_PARTS && status == NS_OK; i++) {
    if (!mechanical_given(audit, body, i)) continue;
    a.which = mechanical_jacobians[i].which;
    a.by = mechanical_jacobians[i].by;
    a.label = mechanical_jacobians[i].label;
    a.rows = i < NS_MINT_BY_Q ? body->nv : 3;
    a.cols = a.by == 0 ? body->nq : body->nv;
    status = compare_system(&a, ds, i, x, room, err);
  }
  return status;
}

NsStatus ns_audit_system(NsAudit *audit, NsDs *ds, NsError *err) {
  NsArena arena = {0};
  NsStatus status = system_trials(audit, ds, &arena, err);
  ns_arena_release(&arena);
  return status;
}
