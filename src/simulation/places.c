/*
** places.c
** Keys of places, and the numbers that they stand for.
*/
#include "simulation/places.h"

#include <string.h>

#include "base/text.h"
#include "model/parameter_place.h"

/* What a key tells: number k of event or change `of`. */
typedef struct Place {
  bool changed; /* by actions: `of` is a change */
  int of, k;
} Place;

static const int64_t SPAN = (int64_t)1 << 32;

static Place place_of_key(int64_t key) {
  int64_t size = key < 0 ? -key : key;
  return (Place){key < 0, (int)(size / SPAN) - 1, (int)(size % SPAN)};
}

const NsActionChange *ns_place_change(const NsTimeStepping *ts, int64_t key) {
  Place place = place_of_key(key);
  return place.changed ? &ts->changes.of[place.of] : NULL;
}

double *ns_place_number(const NsTimeStepping *ts, int64_t key, uint64_t **version) {
  Place place = place_of_key(key);
  *version = NULL;
  if (place.changed) return ns_action_changes_number(&ts->changes, place.of, place.k, version);
  const NsDiscrete *d = place.of < ts->user.count ? ts->user.of[place.of].discrete : NULL;
  return d && place.k < d->numbers ? d->now + place.k : NULL;
}

/* ---- the list ---- */

static bool is_discrete_number(const NsTimeStepping *ts, const double *number) {
  for (int e = 0; e < ts->user.count; e++) {
    const NsDiscrete *d = ts->user.of[e].discrete;
    if (d && ns_number_in(number, d->now, d->numbers)) return true;
  }
  return false;
}

void ns_places_list(const NsTimeStepping *ts, void (*add)(void *context, int64_t key), void *context, const char **draws,
                    const NsActionChange **other) {
  uint64_t *version;
  *draws = NULL;
  *other = NULL;
  for (int e = 0; e < ts->user.count; e++) {
    const NsDiscrete *d = ts->user.of[e].discrete;
    for (int k = 0; d && k < d->numbers; k++) add(context, (e + 1) * SPAN + k);
    if (d && d->generators > 0) *draws = ts->user.of[e].name;
  }
  for (int c = 0, k = -1; ns_action_changes_next(&ts->changes, &c, &k, other);) {
    const double *number = ns_action_changes_number(&ts->changes, c, k, &version);
    if (!is_discrete_number(ts, number)) add(context, -(c + 1) * SPAN - k);
  }
}

void ns_place_name(const NsTimeStepping *ts, int64_t key, char text[NS_PLACE_NAME]) {
  const NsActionChange *c = ns_place_change(ts, key);
  Place place = place_of_key(key);
  if (c) {
    ns_print(text, NS_PLACE_NAME, "%s[%d] of %s '%s'", c->field->name, place.k + 1, c->noun, c->name);
    return;
  }
  const NsUserEvent *event = &ts->user.of[place.of];
  const NsDiscreteState *state = event->discrete->states;
  while (place.k < state->first || place.k >= state->first + ns_discrete_width(state)) state++;
  if (state->size == 0) ns_print(text, NS_PLACE_NAME, "%s.%s", event->name, state->name);
  else ns_print(text, NS_PLACE_NAME, "%s.%s[%d]", event->name, state->name, place.k - state->first + 1);
}

/* ---- as parameters ---- */

/* Whether the coefficients and z of an object follow the number: it is bound to a discrete state. */
static bool follows_number(const NsField *fields, void *object, const double *number) {
  for (const NsField *field = fields; field->name; field++) {
    const NsCoef *coef = field->type == NS_FIELD_COEF ? ns_field_place(field, object) : NULL;
    if (coef && coef->value && coef->source.live && ns_number_in(number, coef->source.data, coef->rows)) return true;
  }
  return false;
}

/* Finds the object whose coefficients follow the number of a discrete state; returns how many objects do. */
static int find_follower(const NsNsds *nsds, NsParameter *parameter) {
  int followers = 0;
  for (int d = 0; d < nsds->nds; d++)
    if (follows_number(nsds->ds[d]->class->model.fields, nsds->ds[d], parameter->number))
      parameter->owner = nsds->ds[d], followers++;
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsRelation *relation = nsds->interactions[i]->relation;
    if (relation != parameter->owner && follows_number(relation->class->model.fields, relation, parameter->number))
      parameter->owner = relation, followers++;
  }
  return followers;
}

NsStatus ns_place_parameter(NsTimeStepping *ts, int64_t key, NsParameter *parameter, NsError *err) {
  *parameter = (NsParameter){.unit = 1};
  if (ns_action_changes_list(&ts->changes, ts->nsds) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  parameter->number = ns_place_number(ts, key, &parameter->version);
  if (!parameter->number)
    return ns_fail(err, NS_EARG, "run: sensitivities: an action has changed the coefficients that there are");
  const NsActionChange *c = ns_place_change(ts, key);
  if (c) parameter->owner = c->field->type == NS_FIELD_VECTOR && !c->law ? NULL : c->object;
  else if (find_follower(ts->nsds, parameter) > 1)
    return ns_fail(err, NS_EARG, "run: sensitivities: several objects are bound to one discrete state");
  return NS_OK;
}

const double *ns_place_reached(const NsTimeStepping *ts, int64_t key, const double *number) {
  const NsActionChange *c = ns_place_change(ts, key);
  const NsCoef *coef = c && c->field->type == NS_FIELD_COEF ? ns_field_place(c->field, c->object) : NULL;
  if (!coef || !coef->source.data) return number;
  ptrdiff_t k = number - coef->value;
  return coef->source.data + k % coef->rows * coef->source.row_stride + k / coef->rows * coef->source.col_stride;
}

size_t ns_places_draws(const NsTimeStepping *ts, const char *from, char *to) {
  size_t bytes = 0;
  for (int e = 0; e < ts->user.count; e++) {
    const NsDiscrete *d = ts->user.of[e].discrete;
    size_t size = d ? (size_t)d->generators * sizeof *d->draws : 0;
    if (size > 0 && from) memcpy(d->draws, from + bytes, size);
    if (size > 0 && to) memcpy(to + bytes, d->draws, size);
    bytes += size;
  }
  return bytes;
}
