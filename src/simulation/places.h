/*
** places.h
** What changes in a run beside the states of systems: numbers of discrete states, and of the model where actions have changed them.
**
** A place is one number. Its key is (e + 1) * 2^32 + k for number k of event e, -(c + 1) * 2^32 - k for number k of change c
** (action_changes.h). The changes must be listed (ns_action_changes_list).
*/
#pragma once

#include <stdint.h>

#include "integrators/sensitivity.h"
#include "simulation/time_stepping.h"

/* Room for the name of a place, and for the text of a change. */
enum { NS_PLACE_NAME = 4 * NS_NAME_SIZE };

/* The number of a place; NULL: it is not there. *version: of its coefficient, or NULL. */
double *ns_place_number(const NsTimeStepping *ts, int64_t key, uint64_t **version);

/* The change that the place belongs to; NULL: it is one of a discrete state. */
const NsActionChange *ns_place_change(const NsTimeStepping *ts, int64_t key);

/*
** Calls add(context, key) for each place. *draws: the name of an event with a generator; *other: a change of what is no number; NULL: there is
** none.
*/
void ns_places_list(const NsTimeStepping *ts, void (*add)(void *context, int64_t key), void *context, const char **draws,
                    const NsActionChange **other);

/* The name of a place, as columns of a run and messages have it. */
void ns_place_name(const NsTimeStepping *ts, int64_t key, char text[NS_PLACE_NAME]);

/* The place as a parameter. NS_EARG: its derivative is not known. NS_ENOMEM. */
NsStatus ns_place_parameter(NsTimeStepping *ts, int64_t key, NsParameter *parameter, NsError *err);

/* Where a script reaches the number of a place: of a coefficient, in the vector that it has given. */
const double *ns_place_reached(const NsTimeStepping *ts, int64_t key, const double *number);

/* The bytes of all generators; from (NULL: none): they become these; to (NULL: none): receives them. Returns how many they are. */
size_t ns_places_draws(const NsTimeStepping *ts, const char *from, char *to);
