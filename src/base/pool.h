/*
** pool.h
** Threads that share the work of one call.
*/
#pragma once

#include <stdatomic.h>

#include "base/status.h"

enum { NS_POOL_MOST = 1024 };

/*
** The number of threads that a call may have, with the calling one, from 1 to NS_POOL_MOST: 1 at the start, and in a copy of this process (fork).
** Others are started when they are first needed, and wait between calls; they have no signals, and end with the process, with the library, or
** when the number changes.
*/
int ns_pool_threads(void);
void ns_pool_set_threads(int threads);

/*
** Calls body(context, 0) here, and body(context, member) in other threads, as they come, at most `most` in all; each has a number of its own,
** which is below `most`. A call returns when it finds no more work to take. Whether another thread comes at all is not known: none does when all
** are at work, for another thread or for the call that this one is in. So no result may depend on it, and nobody may wait for work that
** nobody has taken. Members see the requests to stop that the caller sees (interrupt.h). Returns when all calls have ended.
*/
typedef void NsPoolBody(void *context, int member);
void ns_pool_share(int most, NsPoolBody *body, void *context);

/*
** Calls task(context, index, member) for the indices 0 .. count - 1, which the members take in increasing order. After a failure no further one is
** begun. Returns the status of the first task (by its index) that failed, as a loop would.
*/
typedef NsStatus NsPoolTask(void *context, int index, int member);
NsStatus ns_pool_run(int most, int count, NsPoolTask *task, void *context);

/* In a loop that waits for work of others: the rounds so far. It gives way to other threads, in case there are fewer processors. */
void ns_pool_wait(int round);
