/*
** worker.h
** Worker processes: a copy of this process or a new program, joined to it by a socket that carries messages.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { NS_WORKER_END = 160 };

/*
** One end of a connection: a worker as its driver sees it, or, in the worker, the driver (pid 0). Messages are strings of
** bytes; each arrives whole, in order, or not at all.
*/
typedef struct NsWorker {
  long pid;
  int fd;                  /* the socket; -1 when closed */
  bool ended;              /* of a worker: the process is gone, `end` and `signal` tell how */
  int signal;              /* the signal that ended it, or 0 */
  char end[NS_WORKER_END]; /* "exit status 3", "signal 11 (Segmentation fault)" */
  char *bytes;             /* what has arrived; of it `begin` to `used` is not read yet */
  size_t begin, used, room;
} NsWorker;

/*
** Copies this process. In the copy *child becomes true and `worker` is the connection to the driver; the caller then closes
** what it does not need and never returns to the code that the driver goes on with. The copy has its own process group and
** ends with its driver (on Linux also when the driver is killed). NS_EIO ("cannot start a worker: reason").
**
** The process may have other threads. The copy has the calling thread alone, so a lock that another thread holds at this
** moment stays closed in the copy for ever. The copy may use:
** - malloc and stdio: fork of glibc (and of musl, of the BSDs, of macOS) takes their locks before it copies and opens them in the copy;
** - OpenBLAS: it ends its threads by pthread_atfork, and starts new ones at the next call that wants them, in both processes;
** - the Lua state and the objects of the engine: they have no locks, and one thread alone uses a state, which is the one that calls;
** - system calls.
** It may not use a lock of the host program that another thread of it can hold. OpenMP of GCC knows no fork, and waits for ever
** in a copy of a process that had work done by several threads; an OpenBLAS built on it does so only when the host program
** asks it for several threads, as nslua asks for one (linalg/dense.c).
*/
NsStatus ns_worker_fork(NsWorker *worker, bool *child, NsError *err);

/*
** Starts the program argv[0] (searched on the PATH; argv ends with NULL) as a worker; its end of the socket is the descriptor
** NS_WORKER_FD. It calls ns_worker_adopt. NS_EIO ("cannot start a worker: 'PROGRAM': reason").
*/
enum { NS_WORKER_FD = 3 };
NsStatus ns_worker_spawn(NsWorker *worker, const char *const *argv, NsError *err);

/* In a program that ns_worker_spawn started: the connection to the driver. NS_EARG when it was not started so. */
NsStatus ns_worker_adopt(NsWorker *driver, NsError *err);

/*
** Limits the data of this process (heap and private memory) to so many bytes: an allocation beyond fails. NS_EIO ("cannot limit
** the memory: reason").
*/
NsStatus ns_worker_limit(double bytes, NsError *err);

/*
** Waits until one of n workers has sent something or has ended, or a signal came, at most `seconds`; takes in what has
** arrived. Entries with fd -1 are skipped. NS_ENOMEM.
*/
NsStatus ns_workers_wait(NsWorker *const *workers, int n, double seconds);

/* The next whole message that has arrived, valid until the next wait or receive; false when there is none. */
bool ns_worker_next(NsWorker *worker, const char **bytes, size_t *size);

/* Waits for a message. NS_EEND: the other side is gone. NS_EINTR: a signal came. NS_ENOMEM. */
NsStatus ns_worker_receive(NsWorker *worker, const char **bytes, size_t *size);

/* Sends a message, waiting until the other side takes it. NS_EEND: the other side is gone. NS_ETOOLARGE above 4 GB. */
NsStatus ns_worker_send(NsWorker *worker, const char *bytes, size_t size);

/*
** Sends a signal to a worker that has not ended; says to it that no more messages come. SIGKILL also reaches the programs that it
** has started, which are in its process group.
*/
void ns_worker_stop(NsWorker *worker, int signal_number);

/* Kills the worker, if it has not ended, and the programs that it has started; waits for its end, and frees the memory. */
void ns_worker_close(NsWorker *worker);

/* Frees the memory alone: of the connection to a driver, which lasts as long as the process, or of a worker of another process. */
void ns_worker_forget(NsWorker *worker);
