/*
** checkpoint.h
** The state of a simulation in a file, and back into the same or another simulation of the same model.
*/
#ifndef NS_SIMULATION_CHECKPOINT_H
#define NS_SIMULATION_CHECKPOINT_H

#include "io/checkpoint.h"
#include "simulation/time_stepping.h"

/*
** Writes the state to a file (io/checkpoint.h) with a note of the caller's (NULL: none): what ns_ts_visit walks, the
** parameters of the laws, the log of events. A run that goes on from the file gives the bits of one that was not
** stopped, as far as its callbacks depend on their arguments alone. With it goes the description of the model, identity.h. NS_EIO, NS_ENOMEM, what ns_ts_prepare returns.
*/
NsStatus ns_ts_save(NsTimeStepping *ts, const char *path, const char *note, size_t note_size, NsError *err);

/*
** Takes the state over from a file. On success *pieces holds what was read, to be cleared. NS_EARG when the file is of
** another model, naming the first line of the description that differs (constants count unless `any_constants`), or is beyond the end of the grid: then nothing has changed. NS_EIO, NS_ENOMEM.
*/
NsStatus ns_ts_load(NsTimeStepping *ts, const char *path, bool any_constants, NsCheckpoint *pieces, NsError *err);

/*
** Whether ns_ts_load would take the file over; changes nothing. *k is the step that it is at, *computed whether the step from there
** is computed. What ns_ts_load returns.
*/
NsStatus ns_ts_peek(const NsTimeStepping *ts, const char *path, long *k, bool *computed, NsError *err);

#endif
