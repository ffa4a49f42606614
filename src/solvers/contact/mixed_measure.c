/*
** mixed_measure.c
** Products, and the measure of a candidate for a problem of rows and contacts.
*/
#include "solvers/contact/mixed_measure.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

/* growth: limit of |W| |z| + |q| in units of `explained`. 1e4: a quarter of the digits. */
static const double growth = 1e4;

static NsStatus look_at_row(const NsMixedGroup *group, NsMixedKinds *kinds) {
  if (group->dim != 1) return NS_EARG;
  if (isnan(group->lower) || isnan(group->upper)) return NS_ENAN;
  if (!(group->lower <= group->upper) || group->lower == INFINITY || group->upper == -INFINITY) return NS_EARG;
  kinds->uniform = false;
  if (ns_mixed_equation(group)) kinds->equations++;
  else kinds->bounded++;
  return NS_OK;
}

static NsStatus look_at_contact(const NsMixedGroup *group, NsMixedKinds *kinds) {
  const NsConeClass *cone = group->cone;
  for (int k = 0; k < cone->discs; k++) {
    if (!(fabs(group->mu[k]) <= DBL_MAX)) return NS_ENAN;
    if (group->mu[k] < 0) return NS_EARG;
  }
  if (kinds->contacts++ == 0 || kinds->cone == cone) kinds->cone = cone;
  else kinds->cone = kinds->cone ? ns_cone_join(kinds->cone, cone) : NULL, kinds->uniform = false;
  if (cone->dim > kinds->most) kinds->most = cone->dim;
  kinds->takes &= cone->takes;
  return NS_OK;
}

NsStatus ns_mixed_look(const NsMixedProblem *p, NsMixedKinds *kinds) {
  int rows = 0;
  *kinds = (NsMixedKinds){.most = 1, .takes = NS_TAKES_PLANE | NS_TAKES_SPACE, .uniform = true};
  for (int g = 0; g < p->ngroups; g++) {
    const NsMixedGroup *group = &p->groups[g];
    NsStatus status = group->cone ? look_at_contact(group, kinds) : look_at_row(group, kinds);
    if (status) return status;
    rows += group->dim;
  }
  if (rows != p->n || (!p->W && (p->sparse->rows != p->n || p->sparse->cols != p->n))) return NS_EARG;
  return NS_OK;
}

double ns_mixed_entry(const NsMixedProblem *p, int i, int j) {
  return p->W ? p->W[i + (size_t)j * (size_t)p->n] : ns_sparse_get(p->sparse, i, j);
}

void ns_mixed_block(const NsMixedProblem *p, int row, int dim, double *block) {
  for (int j = 0; j < dim; j++)
    for (int i = 0; i < dim; i++) block[i + j * dim] = ns_mixed_entry(p, row + i, row + j);
}

double ns_mixed_block_size(const NsMixedProblem *p, int row, int dim) {
  double block[NS_CONE_MOST * NS_CONE_MOST], most = 0;
  ns_mixed_block(p, row, dim, block);
  for (int i = 0; i < dim; i++) {
    double sum = 0;
    for (int j = 0; j < dim; j++) sum += fabs(block[i + j * dim]);
    most = ns_larger(most, sum);
  }
  return most;
}

static double largest_of_row(const NsMixedProblem *p, int row) {
  double most = 0;
  for (int j = 0; j < p->n; j++) most = ns_larger(most, fabs(ns_mixed_entry(p, row, j)));
  return most;
}

static void take_steps(NsMixedView *v) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    int dim = v->p.groups[g].dim;
    double size = v->p.groups[g].cone ? ns_mixed_block_size(&v->p, row, dim) : ns_larger(ns_mixed_entry(&v->p, row, row), 0);
    for (int i = 0; !(size >= DBL_MIN) && i < dim; i++) size = largest_of_row(&v->p, row + i);
    v->rho[g] = size >= DBL_MIN ? 1 / size : 1;
  }
}

static double finite_part(double bound) {
  return fabs(bound) <= DBL_MAX ? fabs(bound) : 0;
}

/* The expected size of the unknowns of a group, from the data. */
static double expected(const NsMixedView *v, int g, int row) {
  const NsMixedGroup *group = &v->p.groups[g];
  double most = group->cone ? 0 : ns_larger(finite_part(group->lower), finite_part(group->upper));
  for (int i = 0; i < group->dim; i++) most = ns_larger(most, v->rho[g] * fabs(v->p.q[row + i]));
  return most;
}

/* explained += |W_j| e for the rows j of a group whose unknowns have the expected size e, which v->size[row] keeps. */
static void explain(NsMixedView *v, int g, int row, double e) {
  const NsMixedProblem *p = &v->p;
  v->size[row] = e;
  for (int j = row; j < row + p->groups[g].dim; j++) {
    int from = p->W ? 0 : p->sparse->colptr[j], to = p->W ? p->n : p->sparse->colptr[j + 1];
    const double *value = p->W ? p->W + (size_t)j * (size_t)p->n : p->sparse->value;
    for (int k = from; k < to; k++) v->explained[p->W ? k : p->sparse->row[k]] += fabs(value[k]) * e;
  }
}

/*
** Groups without data of their own, or with data below the rounding of what others explain (velocities of rounding, as of joints of a robot in free
** fall), get the size that others explain, from neighbour to neighbour. It is bounded by energy, e^2 / rho, a quantity
** that all groups share whatever their units: at most the largest of the data's, which is `most` squared. Whether there was one.
*/
static bool explain_others(NsMixedView *v, double most, bool backwards) {
  bool any = false;
  for (int k = 0, row = backwards ? v->p.n : 0; k < v->p.ngroups; k++) {
    int g = backwards ? v->p.ngroups - 1 - k : k, dim = v->p.groups[g].dim;
    if (backwards) row -= dim;
    double e = 0;
    for (int i = row; i < row + dim; i++) e = ns_larger(e, v->rho[g] * v->explained[i]);
    e = ns_smaller(e, most * sqrt(v->rho[g]));
    if (e > 0 && v->size[row] <= DBL_EPSILON * e) explain(v, g, row, e), any = true;
    if (!backwards) row += dim;
  }
  return any;
}

void ns_mixed_prepare(NsMixedView *v) {
  double most = 0;
  take_steps(v);
  if (v->kinds.uniform) return;
  for (int i = 0; i < v->p.n; i++) v->explained[i] = fabs(v->p.q[i]);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    double e = expected(v, g, row);
    explain(v, g, row, e);
    most = ns_larger(most, e / sqrt(v->rho[g]));
  }
  for (bool backwards = false; explain_others(v, most, backwards);) backwards = !backwards;
}

void ns_mixed_product(const NsMixedProblem *p, const double *z, double *w) {
  size_t n = (size_t)p->n;
  memcpy(w, p->q, n * sizeof *w);
  if (ns_mixed_sparse(p)) {
    ns_sparse_gemv(1, p->sparse, z, 1, w);
    return;
  }
  for (size_t j = 0; j < n; j++) {
    const double *column = p->W + j * n, zj = z[j];
    for (size_t i = 0; zj != 0 && i < n; i++) w[i] += column[i] * zj;
  }
}

/* w += W_j x, size += |W_j x|; load likewise if j is a row. */
static void mixed_measure_add_column(const NsMixedView *v, int j, double x, bool row, double *w) {
  const NsMixedProblem *p = &v->p;
  double *size = v->size, *load = v->load;
  if (x == 0) return;
  bool sparse = ns_mixed_sparse(p);
  int from = sparse ? p->sparse->colptr[j] : 0, to = sparse ? p->sparse->colptr[j + 1] : p->n;
  const double *value = sparse ? p->sparse->value : p->W + (size_t)j * (size_t)p->n;
  for (int k = from; k < to; k++) {
    int i = sparse ? p->sparse->row[k] : k;
    double term = value[k] * x;
    w[i] += term;
    size[i] += fabs(term);
    if (row) load[i] += fabs(term);
  }
}

static void product_and_sizes(const NsMixedView *v, const double *z, double *w) {
  for (int i = 0; i < v->p.n; i++) {
    w[i] = v->p.q[i];
    v->size[i] = v->load[i] = fabs(w[i]);
  }
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = 0; i < v->p.groups[g].dim; i++) mixed_measure_add_column(v, row + i, z[row + i], !v->p.groups[g].cone, w);
}

/* The violation of the law of a row; INFINITY outside the bounds and for NaN. */
static double mixed_measure_violation(const NsMixedGroup *row, double z, double w) {
  if (w != w || !(z >= row->lower && z <= row->upper)) return INFINITY;
  if (row->lower == row->upper) return 0;
  if (z == row->lower) return ns_larger(-w, 0);
  return z == row->upper ? ns_larger(w, 0) : fabs(w);
}

/* size[i]; with rows in the problem at most growth * explained[i]. */
static double counted(const NsMixedView *v, const double *size, int i) {
  return v->kinds.uniform ? size[i] : ns_smaller(size[i], growth * v->explained[i]);
}

/* The largest force of a contact; the largest rho |q|, including the contribution of rows, of a contact. */
typedef struct ContactSizes {
  double forces, data;
} ContactSizes;

static ContactSizes contact_sizes(const NsMixedView *v, const double *z) {
  ContactSizes s = {DBL_MIN, DBL_MIN};
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = row; v->p.groups[g].cone && i < row + v->p.groups[g].dim; i++) {
      s.forces = ns_larger(s.forces, fabs(z[i]));
      s.data = ns_larger(s.data, v->rho[g] * counted(v, v->load, i));
    }
  return s;
}

/*
** The error of a contact over its terms: over their largest, limited by the largest force or datum of all contacts. For a heap
** with a tolerance chosen by the caller: over force plus load, as for a row.
*/
static double contact_error(const NsMixedView *v, int g, int row, ContactSizes s, const double *z, const double *w) {
  const NsMixedGroup *group = &v->p.groups[g];
  double rho = v->rho[g], terms = 0, error = ns_friction_error(group->cone, group->mu, rho, z + row, w + row);
  for (int i = row; i < row + group->dim; i++) {
    double force = fabs(z[i]), load = rho * v->size[i];
    terms = ns_larger(terms, v->early ? force + load : ns_larger(force, load));
  }
  if (terms < NS_FADED && error < NS_FADED) return 0;
  return ns_friction_own_error(error, terms, v->early ? terms : s.forces, s.data);
}

/*
** Where all terms of a row are rounding, as of joints that a blow does not move, its error is no smaller: this part of the largest terms of the
** problem, as velocities of equal energy, counts as 0.
*/
static const double ROUNDING = 4 * DBL_EPSILON;

/* The largest sqrt(rho) (|W| |z| + |q|) of a row of the problem. */
static double largest_terms(const NsMixedView *v) {
  double most = 0;
  for (int g = 0, row = 0; g < v->p.ngroups && !v->kinds.uniform; row += v->p.groups[g++].dim)
    for (int i = row; i < row + v->p.groups[g].dim; i++) most = ns_larger(most, sqrt(v->rho[g]) * counted(v, v->size, i));
  return most;
}

static double row_error(const NsMixedView *v, int g, int row, double most, const double *z, const double *w) {
  double error = mixed_measure_violation(&v->p.groups[g], z[row], w[row]);
  bool faded = v->size[row] < NS_FADED && error < NS_FADED;
  if (error == 0 || faded || sqrt(v->rho[g]) * error <= ROUNDING * most) return 0;
  return error / counted(v, v->size, row);
}

double ns_mixed_errors(const NsMixedView *v, const double *z, double *w, double *errors) {
  double worst = 0;
  product_and_sizes(v, z, w);
  ContactSizes sizes = contact_sizes(v, z);
  double most = largest_terms(v);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    double error = v->p.groups[g].cone ? contact_error(v, g, row, sizes, z, w) : row_error(v, g, row, most, z, w);
    if (!(error <= DBL_MAX)) error = INFINITY;
    if (errors) errors[g] = error;
    worst = ns_larger(worst, error);
  }
  return worst;
}

double ns_mixed_measure(const NsMixedView *v, const double *z, double *w) {
  return ns_mixed_errors(v, z, w, NULL);
}

double ns_mixed_residual(const NsMixedView *v, const double *z, const double *w, double *relative) {
  double worst = 0, scale = DBL_MIN;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    const NsMixedGroup *group = &v->p.groups[g];
    double error = group->cone ? ns_friction_error(group->cone, group->mu, v->rho[g], z + row, w + row)
                               : fabs(z[row] - ns_box_clamp(z[row] - v->rho[g] * w[row], group->lower, group->upper));
    if (!(error <= worst)) worst = error;
    for (int i = 0; i < group->dim; i++)
      scale = ns_larger(scale, ns_larger(fabs(z[row + i]), v->rho[g] * fabs(v->p.q[row + i])));
  }
  *relative = worst / scale;
  return worst;
}
