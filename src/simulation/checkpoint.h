/*
** checkpoint.h
** Writes the state of a simulation to a file, and reads it into a simulation of the same model.
*/
#pragma once

#include "io/checkpoint.h"
#include "simulation/time_stepping.h"

/*
** Writes to a file (io/checkpoint.h): the state (ns_ts_visit), the parameters of the laws, the log of events, the description
** of the model (identity.h), what links contacts that come and go (NsOrigin) and a note (NULL: none). A run that goes on from the
** file has the same bits as an uninterrupted run, if its callbacks depend on their arguments alone. NS_EIO, NS_ENOMEM, and the
** statuses of ns_ts_prepare.
*/
NsStatus ns_ts_save(NsTimeStepping *ts, const char *path, const char *note, size_t note_size, NsError *err);

/*
** Reads the state from a file. On success *pieces holds the contents, which the caller clears. NS_EARG when the file is of
** another model, naming the first line of the description that differs (constants are compared unless `any_constants`), was
** written by another version of nslua, or is beyond the end of the grid; NS_EIO; NS_ENOMEM. On failure nothing has changed.
*/
NsStatus ns_ts_load(NsTimeStepping *ts, const char *path, bool any_constants, NsCheckpoint *pieces, NsError *err);

/*
** Whether ns_ts_load would accept the file, with the same statuses; changes nothing. *k: the step of the file; *computed:
** whether the step from there is computed.
*/
NsStatus ns_ts_peek(NsTimeStepping *ts, const char *path, long *k, bool *computed, NsError *err);
