/*
** one_step_problem.c
** Assembles the laws into one problem, and solves it.
*/
#include "simulation/one_step_problem.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "simulation/merged.h"
#include "solvers/box/box_solver.h"
#include "solvers/contact/friction_chain.h"

/* Default tolerance of solutions. With frictional contacts NS_CONTACTS_TOLERANCE is used instead. */
#define DEFAULT_TOLERANCE 1e-11

/* Tolerance of the shifts of a projection, which measures what they have reached: each leaves this part of the violation at most. */
static const double shift_tolerance = 1e-6;

typedef struct Kind {
  const char *name;
  unsigned handles; /* NS_NEEDS_... of the laws that it takes */
} Kind;

static const Kind kinds[] = {
#define X(code, name, handles) {name, handles},
    NS_OSNSP_LIST(X)
#undef X
};

enum { ASKED = NS_FIELD_HIDDEN | NS_FIELD_CONSTANT };

const NsField ns_osnsp_fields[] = {NS_FIELD_A_NUMBER("tolerance", NsOsnsp, tolerance, 0, 0.1, ASKED),
                                   NS_FIELD_A_COUNT("most iterations", NsOsnsp, options.max_iterations, 0, 1 << 30, ASKED),
                                   NS_FIELD_A_METHOD("method", NsOsnsp, options.method, ASKED),
                                   NS_FIELD_A_NUMBER("relaxation", NsOsnsp, options.omega, 0, 2, ASKED),
                                   NS_FIELD_A_COUNT("dimension of contacts", NsOsnsp, dim, -(1 << 30), 1 << 30, ASKED),
                                   NS_FIELD_A_VECTOR("q", NsOsnsp, q, m, NS_FIELD_SHOWN),
                                   NS_FIELD_A_VECTOR("lambda", NsOsnsp, lambda, m, NS_FIELD_SHOWN),
                                   NS_FIELD_A_VECTOR("z", NsOsnsp, lambda, m, NS_FIELD_ALIAS),
                                   NS_FIELD_A_VECTOR("y", NsOsnsp, y, m, NS_FIELD_SHOWN),
                                   NS_FIELD_A_VECTOR("w", NsOsnsp, y, m, NS_FIELD_ALIAS),
                                   NS_FIELD_END};

const char *ns_osnsp_name(NsOsnspKind kind) {
  return kinds[kind].name;
}

bool ns_osnsp_of_contacts(NsOsnspKind kind) {
  return !(kinds[kind].handles & ~(unsigned)(NS_NEEDS_CONES | NS_NEEDS_ROLLING));
}

/* The cone with so many rows of a kind: with rolling rows, as many as tangents, or without; NULL: there is none. */
static const NsConeClass *osnsp_cone(NsOsnspKind kind, int dim) {
  if (!(kinds[kind].handles & NS_NEEDS_ROLLING)) return ns_cone_find(dim, 1);
  for (int discs = 2; discs <= NS_CONE_DISCS; discs++) {
    const NsConeClass *cone = ns_cone_find(dim, discs);
    if (cone && ns_cone_width(cone, 1) == ns_cone_width(cone, 0)) return cone;
  }
  return NULL;
}

bool ns_osnsp_takes_dimension(NsOsnspKind kind, int dim) {
  return osnsp_cone(kind, dim) != NULL;
}

const NsMethod *const *ns_osnsp_methods(const NsOsnsp *problem, unsigned *takes) {
  *takes = NS_TAKES_DENSE;
  if (!ns_osnsp_of_contacts(problem->kind)) return ns_box_methods;
  *takes = NS_TAKES_PLANE | NS_TAKES_SPACE;
  if (problem->dim) *takes = osnsp_cone(problem->kind, problem->dim)->takes;
  return ns_friction_methods;
}

NsStatus ns_osnsp_new(NsOsnsp **out, NsOsnspKind kind) {
  NsOsnsp *problem = *out = ns_alloc(1, sizeof *problem);
  if (!problem) return NS_ENOMEM;
  problem->kind = kind;
  problem->options = (NsBoxOptions){.tolerance = DEFAULT_TOLERANCE};
  return NS_OK;
}

static void osnsp_release(NsOsnsp *problem) {
  ns_merged_free(problem->merged);
  problem->merged = NULL;
  ns_box_free(problem->solver);
  ns_sparse_box_free(problem->sparse);
  problem->sparse = NULL;
  problem->z = problem->w = NULL;
  problem->formed = 0;
  ns_polyhedron_free(problem->polyhedron);
  ns_mixed_free(problem->mixed);
  ns_mixed_free(problem->positions);
  problem->mixed = problem->positions = NULL;
  problem->groups = NULL;
  problem->edge = NULL;
  problem->ngroups = problem->capacity = 0;
  ns_arena_release(&problem->arena);
  problem->solver = NULL;
  problem->polyhedron = NULL;
  problem->rows = 0;
  problem->M = NULL;
  problem->wide = NULL;
  problem->m = 0;
}

bool ns_osnsp_has_contacts(const NsOsnsp *problem) {
  for (int g = 0; g < problem->ngroups; g++)
    if (problem->groups[g].cone) return true;
  return false;
}

NsStatus ns_osnsp_note_edges(NsOsnsp *problem, const NsNsds *nsds) {
  problem->edge = ns_arena_ints(&problem->arena, problem->capacity);
  if (!problem->edge) return NS_ENOMEM;
  for (int e = 0, row = 0; e < nsds->ninteractions; e++)
    for (int k = 0; k < nsds->interactions[e]->m; k++) problem->edge[row++] = e;
  return NS_OK;
}

void ns_osnsp_ask_like(NsOsnsp *problem, const NsOsnsp *other) {
  for (const NsField *field = ns_osnsp_fields; field->name; field++) {
    size_t bytes;
    if (!(field->flags & NS_FIELD_CONSTANT)) continue;
    const void *data = ns_field_data(field, other, &bytes);
    memcpy(ns_field_place(field, problem), data, bytes);
  }
  problem->asked = other->asked;
  problem->options.tolerance = other->options.tolerance;
}

void ns_osnsp_ask_tolerance(NsOsnsp *problem, double tolerance) {
  problem->tolerance = problem->options.tolerance = tolerance;
}

bool ns_osnsp_is_sparse(const NsOsnsp *problem) {
  return problem->merged ? ns_merged_sparse(problem->merged) : problem->sparse || problem->wide;
}

bool ns_osnsp_solved(const NsOsnsp *problem) {
  return problem->merged ? ns_merged_solved(problem->merged) : problem->M || ns_osnsp_is_sparse(problem);
}

const double *ns_osnsp_matrix(const NsOsnsp *problem) {
  return problem->merged ? ns_merged_matrix(problem->merged, problem->m) : problem->M;
}

const NsSparse *ns_osnsp_columns(const NsOsnsp *problem) {
  return problem->wide && problem->wide->n == problem->m ? problem->wide->sparse : NULL;
}

double ns_osnsp_tolerance(const NsOsnsp *problem) {
  double asked = problem->options.tolerance, left = problem->info.backward;
  if (ns_osnsp_has_contacts(problem) && problem->tolerance == 0) asked = NS_CONTACTS_TOLERANCE;
  return left < asked ? left : asked;
}

void ns_osnsp_forget(NsOsnsp *problem) {
  ns_merged_free(problem->merged);
  problem->merged = NULL;
  problem->wide = NULL;
  ns_sparse_box_free(problem->sparse);
  problem->sparse = NULL;
  problem->M = NULL;
}

void ns_osnsp_free(NsOsnsp *problem) {
  if (!problem) return;
  osnsp_release(problem);
  ns_free(problem);
}

/* The kinds to advise after a law with these needs was refused. Who uses cones also has contacts. */
static const char *advise(unsigned needs, unsigned handles) {
  if (needs & NS_NEEDS_POLYHEDRON) return "AVI";
  if (needs & NS_NEEDS_ROLLING) return "RollingFrictionContact or GenericMechanical";
  if (needs & NS_NEEDS_CONES) return "FrictionContact or GenericMechanical";
  if (handles & NS_NEEDS_CONES || needs & NS_NEEDS_REACTION) return "GenericMechanical";
  return needs & NS_NEEDS_BOX ? "Relay or MLCP" : "MLCP";
}

NsStatus ns_osnsp_accepts(const NsOsnsp *problem, const NsNsds *nsds, NsError *err) {
  const Kind *kind = &kinds[problem->kind];
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    unsigned needs = ns_law_needs(inter->law);
    /* the scheme refuses these, or finds their impulses, or makes equations of them */
    if (needs & ~(kind->handles | NS_NEEDS_EXCHANGE | NS_NEEDS_VISCOUS))
      return ns_fail(err, NS_EARG, "%s: interaction '%s' has a %s; use %s", kind->name, inter->name, ns_law_name(inter->law),
                     advise(needs, kind->handles));
    if (problem->dim > 0 && ns_law_group(inter->law, 0, false).discs > 0 && problem->dim != inter->law->size)
      return ns_fail(err, NS_EARG, "%s(%d): interaction '%s' is a contact of dimension %d", kind->name, problem->dim,
                     inter->name, inter->law->size);
  }
  return NS_OK;
}

/* Joins the rows of the polyhedral laws in one polyhedron. */
static NsStatus take_polyhedra(NsOsnsp *problem, const NsNsds *nsds, int m) {
  int rows = 0, row = 0, column = 0;
  for (int i = 0; i < nsds->ninteractions; i++) rows += nsds->interactions[i]->law->rows;
  if (rows == 0) return NS_OK;
  problem->rows = rows;
  problem->H = ns_arena_matrix(&problem->arena, rows, m);
  NS_ARENA_VECTORS(&problem->arena, rows, &problem->K, &problem->mu);
  if (problem->arena.failed) return NS_ENOMEM;
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsLaw *law = nsds->interactions[i]->law;
    for (int r = 0; r < law->rows; r++) {
      problem->K[row + r] = law->K[r];
      for (int j = 0; j < law->size; j++)
        problem->H[row + r + (size_t)(column + j) * (size_t)rows] = law->H[r + (size_t)j * (size_t)law->rows];
    }
    row += law->rows;
    column += law->size;
  }
  return ns_polyhedron_new(&problem->polyhedron, m, rows);
}

/* Takes memory for vectors and the solver. states < 0: a dense solver; else the sparse solver is made with its matrix. */
static NsStatus osnsp_take_solver(NsOsnsp *problem, const NsNsds *nsds, int m, int states) {
  if (states >= 0) {
    NS_ARENA_VECTORS(&problem->arena, states + m, &problem->z, &problem->w);
    return problem->arena.failed ? NS_ENOMEM : NS_OK;
  }
  bool mechanics = nsds->nds > 0 && ns_ds_family(nsds->ds[0]) == NS_MECHANICS; /* the dense solver gets few rows */
  NsStatus status = ns_box_new(&problem->solver, mechanics && m > NS_MIXED_DENSE_ROWS ? NS_MIXED_DENSE_ROWS : m);
  if (status == NS_OK && mechanics) {
    problem->groups = ns_arena_take(&problem->arena, (size_t)m, sizeof *problem->groups);
    NS_ARENA_VECTORS(&problem->arena, m, &problem->shift, &problem->shifted);
    status = problem->arena.failed ? NS_ENOMEM : ns_mixed_new(&problem->mixed);
    if (status == NS_OK) status = ns_mixed_new(&problem->positions);
  }
  return status == NS_OK ? take_polyhedra(problem, nsds, m) : status;
}

static void osnsp_take_rows(NsOsnsp *problem, int m) {
  NS_ARENA_VECTORS(&problem->arena, m, &problem->q, &problem->lower, &problem->upper, &problem->lambda, &problem->y);
  problem->m = problem->capacity = m;
}

NsStatus ns_osnsp_take_vectors(NsOsnsp *problem, const NsNsds *nsds, int m) {
  osnsp_release(problem);
  osnsp_take_rows(problem, m);
  problem->groups = ns_arena_take(&problem->arena, (size_t)m, sizeof *problem->groups);
  NsStatus status = problem->arena.failed ? NS_ENOMEM : take_polyhedra(problem, nsds, m);
  if (status != NS_OK) osnsp_release(problem);
  return status;
}

NsStatus ns_osnsp_prepare(NsOsnsp *problem, const NsNsds *nsds, int states, NsError *err) {
  NsStatus status = ns_osnsp_accepts(problem, nsds, err);
  if (status != NS_OK) return status;
  int m = 0;
  osnsp_release(problem);
  for (int i = 0; i < nsds->ninteractions; i++) m += nsds->interactions[i]->m;
  osnsp_take_rows(problem, m);
  problem->states = states;
  if (!problem->arena.failed && osnsp_take_solver(problem, nsds, m, states) == NS_OK) return NS_OK;
  osnsp_release(problem);
  return ns_fail(err, NS_ENOMEM, "not enough memory");
}

void ns_osnsp_read_bounds(NsOsnsp *problem, const NsNsds *nsds) {
  double *lower = problem->lower, *upper = problem->upper;
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsLaw *law = nsds->interactions[i]->law;
    ns_copy_numbers(lower, law->lower, law->size);
    ns_copy_numbers(upper, law->upper, law->size);
    lower += law->size;
    upper += law->size;
  }
}

/* Solves the rows with their bounds; M is set. q is kept afterwards, since a copy of numbers just written waits for them. */
static NsStatus solve_rows(NsOsnsp *problem, const double *q, const double *guess) {
  NsStatus status;
  if (problem->polyhedron) {
    NsAvi avi = {problem->m, problem->rows, problem->M, q, problem->H, problem->K, problem->lower, problem->upper};
    *ns_polyhedron_options(problem->polyhedron) = problem->options;
    status = ns_polyhedron_solve(problem->polyhedron, &avi, guess, problem->lambda, problem->y, problem->mu, &problem->info);
  } else {
    NsBoxProblem box = {problem->m, problem->M, problem->m, q, problem->lower, problem->upper, 0};
    *ns_box_options(problem->solver) = problem->options;
    if (ns_osnsp_of_contacts(problem->kind)) ns_box_options(problem->solver)->method = NULL;
    status = ns_box_solve(problem->solver, &box, guess, problem->lambda, problem->y, &problem->info);
  }
  ns_copy_numbers(problem->q, q, problem->m);
  return status;
}

/*
** Reads the bounds of every row; tangents of a contact are free. Returns false when all groups are single rows with bounds that are numbers.
** *depends: some friction depends on the answer.
*/
static bool osnsp_read_groups(NsOsnsp *problem, const NsStepProblem *p, bool *depends) {
  bool contacts = false;
  *depends = false;
  memcpy(problem->groups, p->groups, (size_t)p->ngroups * sizeof *p->groups);
  problem->ngroups = p->ngroups;
  for (int g = 0, row = 0; g < p->ngroups; row += p->groups[g++].dim) {
    const NsMixedGroup *group = &p->groups[g];
    problem->lower[row] = group->cone ? 0 : group->lower;
    problem->upper[row] = group->cone ? INFINITY : group->upper;
    for (int i = 1; i < group->dim; i++) problem->lower[row + i] = -INFINITY, problem->upper[row + i] = INFINITY;
    *depends = *depends || ns_mixed_depends(group);
    contacts = contacts || group->cone || *depends;
  }
  return contacts;
}

/* Whether all groups are contacts of one cone. */
static bool contacts_of_one_cone(const NsStepProblem *p) {
  for (int g = 0; g < p->ngroups; g++)
    if (!p->groups[g].cone || p->groups[g].cone != p->groups[0].cone) return false;
  return true;
}

static NsMixedProblem mixed_problem(const NsStepProblem *p) {
  return (NsMixedProblem){p->n, p->ngroups, p->groups, p->W, p->sparse, p->q};
}

/* Solves the problem of groups of rows. */
static NsStatus solve_groups(NsOsnsp *problem, const NsStepProblem *p) {
  problem->m = p->n;
  problem->M = p->W;
  problem->wide = p->W ? NULL : p;
  if (p->n == 0) {
    problem->ngroups = 0;
    problem->info = (NsSolverInfo){.status = NS_OK, .solver = "none"};
    return NS_OK;
  }
  if (problem->edge && p->interaction) memcpy(problem->edge, p->interaction, (size_t)p->n * sizeof *problem->edge);
  memcpy(problem->q, p->q, (size_t)p->n * sizeof *p->q);
  bool depends;
  if (!osnsp_read_groups(problem, p, &depends) && p->W) return solve_rows(problem, p->q, p->guess);
  NsMixedProblem mixed = mixed_problem(p);
  NsMixedOptions *options = ns_mixed_options(problem->mixed);
  options->max_iterations = problem->options.max_iterations;
  options->tolerance = problem->tolerance;
  options->keep = problem->again;
  options->steady = problem->slow;
  options->method = ns_osnsp_of_contacts(problem->kind) ? problem->options.method : NULL;
  options->contacts = options->method != NULL;
  if (options->contacts && !contacts_of_one_cone(p)) {
    problem->info = (NsSolverInfo){.status = NS_EARG, .residual = INFINITY, .relative = INFINITY, .solver = "none"};
    return NS_EARG;
  }
  if (!depends) return ns_mixed_solve(problem->mixed, &mixed, p->guess, problem->lambda, problem->y, &problem->info);
  NsStatus status = ns_mixed_slip_solve(problem->mixed, &mixed, p->groups, p->guess, problem->lambda, problem->y,
                                        &problem->info);
  (void)osnsp_read_groups(problem, p, &depends);
  return status;
}

NsStatus ns_osnsp_solve_positions(NsOsnsp *problem, const NsStepProblem *p) {
  NsSolverInfo info;
  NsMixedProblem mixed = mixed_problem(p);
  ns_mixed_options(problem->positions)->tolerance = shift_tolerance;
  return ns_mixed_solve(problem->positions, &mixed, NULL, problem->shift, problem->shifted, &info);
}

/* Makes the sparse solver for a matrix and the requested method. Its other options are set before each solve. */
static NsStatus take_sparse(NsOsnsp *problem, const NsSparse *M, long formed) {
  bool fits = problem->sparse && problem->formed == formed &&
              ns_sparse_box_options(problem->sparse)->method == problem->options.method;
  if (!fits) {
    ns_sparse_box_free(problem->sparse);
    problem->sparse = NULL;
    NsStatus status = ns_sparse_box_new(&problem->sparse, M, &problem->options);
    problem->info = (NsSolverInfo){.status = status, .residual = INFINITY, .relative = INFINITY};
    if (status != NS_OK) return status;
    problem->formed = formed;
  }
  *ns_sparse_box_options(problem->sparse) = problem->options;
  return NS_OK;
}

static NsStatus solve_states(NsOsnsp *problem, const NsStepProblem *p) {
  int states = p->n - problem->m;
  size_t bytes = (size_t)problem->m * sizeof(double);
  if (take_sparse(problem, p->sparse, p->formed) != NS_OK) return problem->info.status;
  NsStatus status = ns_sparse_box_solve(problem->sparse, p->q, p->lower, p->upper, p->guess, problem->z, problem->w,
                                        &problem->info);
  memcpy(problem->q, p->q + states, bytes);
  memcpy(problem->lambda, problem->z + states, bytes);
  memcpy(problem->y, problem->w + states, bytes);
  return status;
}

NsStatus ns_osnsp_solve(NsOsnsp *problem, const NsStepProblem *p, const double **solution) {
  bool states = p->lower && !p->W;
  size_t bytes = (size_t)problem->m * sizeof(double);
  *solution = states ? problem->z : problem->lambda;
  if (states) return solve_states(problem, p);
  if (p->groups) return solve_groups(problem, p);
  if (p->lower) memcpy(problem->lower, p->lower, bytes), memcpy(problem->upper, p->upper, bytes);
  problem->M = p->W;
  return solve_rows(problem, p->q, p->guess);
}

void ns_osnsp_show(NsOsnsp *problem, const NsStepProblem *p, const NsSolverInfo *info) {
  problem->M = p->W;
  memcpy(problem->q, p->q, (size_t)p->n * sizeof *p->q);
  problem->info = *info;
}
