/*
** law.c
** The functions of all nonsmooth laws.
*/
#include "model/law.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

const NsLawClass *const ns_law_classes[] = {
#define X(name) &ns_law_##name,
    NS_LAW_LIST(X)
#undef X
};

NsStatus ns_law_new(NsLaw **out, const NsLawClass *class) {
  NsLaw *law = *out = ns_alloc(1, class->bytes);
  if (!law) return NS_ENOMEM;
  law->class = class;
  return NS_OK;
}

void ns_law_free(NsLaw *law) {
  if (!law) return;
  ns_arena_release(&law->arena);
  ns_free(law);
}

static NsLawInterval bounds_of_row(const NsLaw *law, int row) {
  if (law->class->bounds) return law->class->bounds(law, row);
  bool tangent = law->class->joint && row > 0;
  return (NsLawInterval){tangent || row < law->equalities ? -INFINITY : 0, INFINITY};
}

/* Makes the bounds that no argument has set. */
static NsStatus make_bounds(NsLaw *law) {
  bool lower = !law->lower, upper = !law->upper;
  if (lower) law->lower = ns_arena_doubles(&law->arena, law->size);
  if (upper) law->upper = ns_arena_doubles(&law->arena, law->size);
  if (law->arena.failed) return NS_ENOMEM;
  for (int i = 0; i < law->size; i++) {
    NsLawInterval of = bounds_of_row(law, i);
    if (lower) law->lower[i] = of.lower;
    if (upper) law->upper[i] = of.upper;
  }
  return NS_OK;
}

NsStatus ns_law_complete(NsLaw *law, NsError *err) {
  if (law->size == 0 && strcmp(law->class->arguments[0], "size?") == 0) law->size = 1;
  NsStatus status = law->class->complete ? law->class->complete(law, err) : NS_OK;
  if (status != NS_OK) return status;
  if (make_bounds(law) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  return ns_law_check(law, err);
}

NsStatus ns_law_clone(NsLaw **out, const NsLaw *from) {
  NsStatus status = ns_law_new(out, from->class);
  if (status != NS_OK) return status;
  if (ns_fields_copy(from->class->fields, from, *out, &(*out)->arena)) return NS_OK;
  ns_law_free(*out);
  *out = NULL;
  return NS_ENOMEM;
}

const char *ns_law_name(const NsLaw *law) {
  return law->class->name;
}

unsigned ns_law_needs(const NsLaw *law) {
  unsigned needs = law->class->needs;
  int in_plane = needs & NS_NEEDS_ROLLING ? 3 : 2; /* rows of a contact with one tangent */
  if ((needs & NS_NEEDS_CONE) == NS_NEEDS_CONE) needs ^= law->size == in_plane ? NS_NEEDS_CONE_3D : NS_NEEDS_CONE_2D;
  return law->class->needs_more ? needs | law->class->needs_more(law) : needs;
}

bool ns_law_in_plane(const NsLaw *law) {
  return (ns_law_needs(law) & NS_NEEDS_CONE_2D) != 0;
}

bool ns_law_has_friction(const NsLaw *law, int i) {
  return law->class->joint ? i > 0 : (ns_law_needs(law) & NS_NEEDS_BOX) != 0;
}

bool ns_law_unilateral(const NsLaw *law) {
  return law->class->unilateral;
}

NsLawGroup ns_law_group(const NsLaw *law, int row, bool open) {
  if (open) return (NsLawGroup){.dim = 1};
  if (law->class->group) return law->class->group(law, row);
  return (NsLawGroup){.dim = 1, .lower = law->lower[row], .upper = law->upper[row]};
}

NsLawFriction ns_law_friction_at(const NsLaw *law, double u, const double *number) {
  if (law->class->friction) return law->class->friction(law, u, number);
  return (NsLawFriction){.mu = ns_law_group(law, 0, false).mu[0]};
}

double ns_law_viscous(const NsLaw *law) {
  return law->class->viscous ? law->class->viscous(law) : 0;
}

double ns_law_restitution(const NsLaw *law, int row, double theta) {
  return law->class->restitution ? law->class->restitution(law, row, theta) : 0;
}

int ns_law_constrained(const NsLaw *law) {
  if (law->class->constrained) return law->class->constrained(law);
  return law->class->joint ? 1 : law->size;
}

const NsField *ns_law_timed_field(const NsLawClass *class, int k) {
  for (const NsField *field = class->fields; field->name; field++)
    if (field->flags & NS_FIELD_TIMED && k-- == 0) return field;
  return NULL;
}

int ns_law_timed_index(const NsLawClass *class, const NsField *field) {
  int k = 0;
  const NsField *timed;
  while ((timed = ns_law_timed_field(class, k)) && timed != field) k++;
  return timed ? k : -1;
}

double ns_law_timed_placeholder(const NsField *field) {
  if (!ns_field_is_array(field)) return field->least;
  return field->offset == offsetof(NsLaw, upper) ? INFINITY : -INFINITY;
}

bool ns_law_field_varies(const NsLaw *law, const NsField *field) {
  for (int k = 0; k < NS_LAW_TIMED; k++) {
    const NsField *timed = ns_law_timed_field(law->class, k);
    if (timed && timed->offset == field->offset) return law->time.varies[k];
  }
  return false;
}

NsStatus ns_law_check(const NsLaw *law, NsError *err) {
  if (law->closed) return ns_fail(err, NS_ECLOSED, "%s is closed", ns_law_name(law));
  for (int i = 0; i < law->size; i++) {
    double lb = law->lower[i], ub = law->upper[i];
    if (lb <= ub && lb < INFINITY && ub > -INFINITY) continue;
    if (isnan(lb) || isnan(ub))
      return ns_fail(err, NS_EARG, "%s: %s[%d] is nan", ns_law_name(law), isnan(lb) ? "lb" : "ub", i + 1);
    if (lb == INFINITY || ub == -INFINITY)
      return ns_fail(err, NS_EARG, "%s: the bounds lb[%d] = %g, ub[%d] = %g contain no number", ns_law_name(law), i + 1, lb,
                     i + 1, ub);
    return ns_fail(err, NS_EARG, "%s: lb[%d] = %g is above ub[%d] = %g", ns_law_name(law), i + 1, lb, i + 1, ub);
  }
  return NS_OK;
}

int ns_law_gaps(const NsLaw *law) {
  bool impact = law->class->unilateral && law->class->goes_with == NS_WITH_VELOCITIES;
  return impact ? ns_law_constrained(law) : 0;
}

/* Whether lambda is in P, up to rounding: a row may be violated by 1e-12 times the sum of |its terms| and |K_r|. */
static bool in_polyhedron(const NsLaw *law, const double *lambda) {
  for (int r = 0; r < law->rows; r++) {
    double value = 0, size = fabs(law->K[r]);
    for (int j = 0; j < law->size; j++) {
      double term = law->H[r + (size_t)j * (size_t)law->rows] * lambda[j];
      value += term;
      size += fabs(term);
    }
    if (!(value >= law->K[r] - 1e-12 * size)) return false;
  }
  return true;
}

void ns_law_project(const NsLaw *law, double *lambda) {
  if (law->rows > 0 && !in_polyhedron(law, lambda)) memcpy(lambda, law->inside, (size_t)law->size * sizeof *lambda);
  for (int i = 0; i < law->size; i++) {
    if (lambda[i] < law->lower[i]) lambda[i] = law->lower[i];
    if (lambda[i] > law->upper[i]) lambda[i] = law->upper[i];
  }
}
