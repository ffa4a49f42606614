/*
** mpi.h
** Messages between the processes that an MPI launcher has started together (its ranks), in the optional module nslua.mpi.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/engine.h"

/* "Open MPI 4.1.4", in a static buffer. Also before ns_mpi_start. */
const char *ns_mpi_version(void);

/*
** Joins the ranks, once in the life of a process; later calls give the same answer. *rank: the number of this process, from 0;
** *count: how many there are, 1 in a process that no launcher has started. NS_EIO ("MPI: reason"), also after ns_mpi_finish.
*/
NsStatus ns_mpi_start(const NsEngine *engine, int *rank, int *count, NsError *err);

/*
** Sends a copy of `size` bytes to a rank, without waiting. Messages to one rank arrive whole and in order. They travel during
** calls of this function, ns_mpi_receive and ns_mpi_finish. A message to a rank that is lost vanishes. NS_EIO ("MPI: reason"), NS_ENOMEM, NS_ETOOLARGE above 2 GB.
*/
NsStatus ns_mpi_send(int to, const void *bytes, size_t size, NsError *err);

/*
** The next message that has arrived, from any rank, valid until the next call; *bytes is NULL when there is none. It does not
** wait. NS_EIO ("MPI: reason"), NS_ENOMEM.
*/
NsStatus ns_mpi_receive(int *from, const char **bytes, size_t *size, NsError *err);

/* Whether the process of rank 0 has ended; false where that can not be known, and in rank 0. It takes a microsecond. */
bool ns_mpi_abandoned(void);

/* Says that a rank is lost: what is still to be sent to it vanishes, and ns_mpi_finish waits for no other rank. */
void ns_mpi_lose(int rank);

/* Waits at most `seconds` for what is still to be sent, then leaves the ranks, when all of them leave. Later calls do nothing. */
void ns_mpi_finish(double seconds);
