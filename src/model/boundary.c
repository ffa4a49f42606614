/*
** boundary.c
** Prescribed velocities.
*/
#include "model/boundary.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* ---- classes ---- */

#define FIELDS                                                                                                                 \
  NS_FIELD_A_COEF_VECTOR("prescribedVelocity", NsBoundary, velocity, n, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT),                  \
      NS_FIELD_A_TEXT("name", NsBoundary, name, NS_FIELD_SETTER),                                                              \
      NS_FIELD_INDEX_LIST("velocityIndices", NsBoundary, index, n, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT)

static const NsField fields[] = {FIELDS, NS_FIELD_END};
static const NsField harmonic_fields[] = {
    FIELDS, NS_FIELD_A_VECTOR("harmonic", NsBoundary, harmonic, nharmonic, NS_FIELD_HIDDEN | NS_FIELD_CONSTANT), NS_FIELD_END};

/* The size 'm' is the number of prescribed velocities. */
static const NsSlot slots[] = {
    {"computePrescribedVelocity", "prescribedVelocity", "", "velocity", 'm', '1', NS_NATIVE_TIME, NULL, 0}};

const char ns_boundary_general_text[] = "BoundaryCondition";
const char ns_boundary_fixed_text[] = "FixedBC";
const char ns_boundary_harmonic_text[] = "HarmonicBC";

#define NOUN "boundary condition"

const NsModelClass ns_boundary_general = {
    .name = ns_boundary_general_text, .noun = NOUN, .fields = fields, .slots = slots, .nslots = 1};
const NsModelClass ns_boundary_fixed = {.name = ns_boundary_fixed_text, .noun = NOUN, .fields = fields};
const NsModelClass ns_boundary_harmonic = {.name = ns_boundary_harmonic_text, .noun = NOUN, .fields = harmonic_fields};

const NsModelClass *const ns_boundary_classes[] = {
#define X(name) &ns_boundary_##name,
    NS_BOUNDARY_LIST(X)
#undef X
};

/* ---- making ---- */

NsStatus ns_boundary_new(NsBoundary **out, const NsModelClass *class, int n, const int *index) {
  static const double zero = 0;
  *out = NULL;
  NsBoundary *b = ns_alloc(1, sizeof *b);
  if (!b) return NS_ENOMEM;
  b->class = class;
  b->n = n;
  b->keepers = 1;
  b->index = ns_alloc((size_t)n, sizeof *b->index);
  if (!b->index || ns_boundary_set_values(b, (NsSource){&zero, 0, 0, NULL, false}) != NS_OK) {
    ns_boundary_free(b);
    return NS_ENOMEM;
  }
  memcpy(b->index, index, (size_t)n * sizeof *index);
  *out = b;
  return NS_OK;
}

void ns_boundary_keep(NsBoundary *b) {
  if (b) b->keepers++;
}

void ns_boundary_free(NsBoundary *b) {
  if (!b || --b->keepers > 0) return;
  ns_coef_clear(&b->velocity);
  ns_free(b->index);
  ns_free(b->harmonic);
  ns_free(b);
}

NsStatus ns_boundary_set_values(NsBoundary *b, NsSource source) {
  return ns_coef_set(&b->velocity, b->n, 1, source);
}

static int harmonic_value(void *context, double t, const double *const *args, double *out) {
  const NsBoundary *b = context;
  const double *a = b->harmonic, *amplitude = a + b->n, *omega = amplitude + b->n, *phi = omega + b->n;
  (void)args;
  for (int i = 0; i < b->n; i++) out[i] = a[i] + amplitude[i] * cos(omega[i] * t + phi[i]);
  return 0;
}

NsStatus ns_boundary_set_harmonic(NsBoundary *b, const double *parameters) {
  size_t count = 4 * (size_t)b->n;
  if (!b->harmonic) b->harmonic = ns_alloc(count, sizeof *b->harmonic);
  if (!b->harmonic) return NS_ENOMEM;
  b->nharmonic = (int)count;
  memcpy(b->harmonic, parameters, count * sizeof *parameters);
  return ns_boundary_set_function(b, (NsFunction){.value = harmonic_value, .context = b});
}

NsStatus ns_boundary_set_function(NsBoundary *b, NsFunction function) {
  return ns_coef_set_function(&b->velocity, b->n, 1, function);
}

void ns_boundary_freeze(NsBoundary *b) {
  if (b) ns_coef_freeze(&b->velocity);
}

int ns_boundary_last(const NsBoundary *b) {
  int last = -1;
  for (int i = 0; i < b->n; i++)
    if (b->index[i] > last) last = b->index[i];
  return last;
}

NsStatus ns_boundary_update(NsBoundary *b, const char *owner, double t, NsError *err) {
  NsCoefName name = {"dynamical system", owner, "prescribedVelocity"};
  return b ? ns_coef_update(&b->velocity, name, t, NULL, err) : NS_OK;
}

void ns_boundary_impose(const NsBoundary *b, double *v) {
  for (int i = 0; b && i < b->n; i++) v[b->index[i]] = b->velocity.value[i];
}

void ns_boundary_hold(const NsBoundary *b, double *w) {
  for (int i = 0; b && i < b->n; i++) w[b->index[i]] = 0;
}

void ns_boundary_isolate(const NsBoundary *b, int nv, double *W) {
  size_t n = (size_t)nv;
  for (int i = 0; b && i < b->n; i++) {
    size_t k = (size_t)b->index[i];
    for (size_t j = 0; j < n; j++) W[k + j * n] = W[j + k * n] = 0;
    W[k + k * n] = 1;
  }
}

void ns_boundary_pick(const NsBoundary *b, const double *w, double *out) {
  for (int i = 0; b && i < b->n; i++) out[i] = w[b->index[i]];
}
