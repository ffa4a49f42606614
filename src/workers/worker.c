/*
** worker.c
** fork or posix_spawn, a socket pair, frames of length and bytes, poll.
*/
#include "workers/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/memory.h"
#include "base/text.h"

extern char **environ;

enum {
  LENGTH = 4,      /* bytes of a message's length before it, little-endian */
  CHUNK = 1 << 16, /* bytes that one read takes at most */
  FIRST_FREE = 10, /* the driver's descriptors lie above those that a program expects to be free */
  MOST_WORKERS = 4096
};

/* ---- start ---- */

static NsStatus cannot_start(int error, NsError *err) {
  return ns_fail(err, error == ENOMEM ? NS_ENOMEM : NS_EIO, "cannot start a worker: %s", strerror(error));
}

/* Moves fd up, with close-on-exec; -1 with errno set. */
static int worker_move_up(int fd) {
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE), error = errno;
  close(fd);
  errno = error;
  return moved;
}

static bool join_by_socket(int ends[2]) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return false;
  for (int i = 0; i < 2; i++)
    if ((ends[i] = worker_move_up(ends[i])) < 0) return close(ends[1 - i]), false;
  return true;
}

#ifdef __linux__
/* Ends this process, and the programs that it has started when it leads their group. */
static void end_group(int signal_number) {
  (void)signal_number;
  kill(getpgrp() == getpid() ? 0 : getpid(), SIGKILL);
}
#endif

/*
** In a worker: it ends, whatever it is doing, with the programs that it has started, when its driver is gone, which has the number `parent`.
** The driver may be a worker itself.
*/
static void end_with(pid_t parent) {
#ifdef __linux__
  struct sigaction action = {.sa_handler = end_group};
  sigaction(SIGRTMAX, &action, NULL);
  prctl(PR_SET_PDEATHSIG, SIGRTMAX);
  if (getppid() != parent) end_group(0); /* the driver ended before the call above */
#else
  (void)parent;
#endif
}

NsStatus ns_worker_fork(NsWorker *worker, bool *child, NsError *err) {
  int ends[2];
  pid_t parent = getpid();
  *child = false;
  *worker = (NsWorker){.fd = -1};
  if (!join_by_socket(ends)) return cannot_start(errno, err);
  pid_t pid = fork();
  if (pid < 0) {
    int error = errno;
    close(ends[0]);
    close(ends[1]);
    return cannot_start(error, err);
  }
  *child = pid == 0;
  worker->pid = pid;
  worker->fd = ends[*child];
  close(ends[!*child]);
  setpgid(pid, pid); /* a Ctrl-C at the terminal reaches the driver alone; both call it, whoever is first */
  if (*child) end_with(parent);
  return NS_OK;
}

NsStatus ns_worker_spawn(NsWorker *worker, const char *const *argv, NsError *err) {
  int ends[2];
  pid_t pid;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  *worker = (NsWorker){.fd = -1};
  if (!join_by_socket(ends)) return cannot_start(errno, err);
  int error = posix_spawn_file_actions_init(&actions);
  if (!error) {
    error = posix_spawnattr_init(&attributes);
    if (!error) {
      error = posix_spawn_file_actions_adddup2(&actions, ends[1], NS_WORKER_FD);
      posix_spawnattr_setpgroup(&attributes, 0);
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
      if (!error) error = posix_spawnp(&pid, argv[0], &actions, &attributes, (char *const *)argv, environ);
      posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  close(ends[1]);
  if (error) {
    close(ends[0]);
    return ns_fail(err, NS_EIO, "cannot start a worker: '%s': %s", argv[0], strerror(error));
  }
  worker->pid = pid;
  worker->fd = ends[0];
  return NS_OK;
}

NsStatus ns_worker_adopt(NsWorker *driver, NsError *err) {
  int kind;
  socklen_t size = sizeof kind;
  *driver = (NsWorker){.fd = -1};
  if (getsockopt(NS_WORKER_FD, SOL_SOCKET, SO_TYPE, &kind, &size) != 0)
    return ns_fail(err, NS_EARG, "no driver has started this process as a worker");
  driver->fd = worker_move_up(NS_WORKER_FD);
  if (driver->fd < 0) return cannot_start(errno, err);
  end_with(getppid());
  return NS_OK;
}

NsStatus ns_worker_limit(double bytes, NsError *err) {
  rlim_t most = bytes < 0x1p62 ? (rlim_t)bytes : RLIM_INFINITY;
  if (setrlimit(RLIMIT_DATA, &(struct rlimit){most, most}) == 0) return NS_OK;
  return ns_fail(err, NS_EIO, "cannot limit the memory: %s", strerror(errno));
}

/* ---- the end ---- */

/* Ends a worker and the programs that it has started, which are in its group. */
static void worker_kill(const NsWorker *worker) {
  kill(-(pid_t)worker->pid, SIGKILL);
  kill((pid_t)worker->pid, SIGKILL); /* it may have left the group */
}

/* Waits for the end of the process, which has closed its socket or has been killed, and notes how it ended. */
static void worker_reap(NsWorker *worker) {
  int status = 0;
  if (worker->ended || worker->pid <= 0) return;
  worker_kill(worker); /* it may have closed its socket and gone on */
  while (waitpid((pid_t)worker->pid, &status, 0) < 0 && errno == EINTR) {}
  worker->ended = true;
  if (WIFSIGNALED(status)) {
    worker->signal = WTERMSIG(status);
    ns_print(worker->end, sizeof worker->end, "signal %d (%s)", worker->signal, strsignal(worker->signal));
  } else {
    ns_print(worker->end, sizeof worker->end, "exit status %d", WEXITSTATUS(status));
  }
}

static void worker_hang_up(NsWorker *worker) {
  if (worker->fd >= 0) close(worker->fd);
  worker->fd = -1;
  worker_reap(worker);
}

void ns_worker_stop(NsWorker *worker, int signal_number) {
  if (worker->ended || worker->pid <= 0) return;
  if (signal_number == SIGKILL) worker_kill(worker);
  else kill((pid_t)worker->pid, signal_number);
  if (worker->fd >= 0) shutdown(worker->fd, SHUT_WR);
}

void ns_worker_close(NsWorker *worker) {
  worker_hang_up(worker);
  ns_worker_forget(worker);
}

void ns_worker_forget(NsWorker *worker) {
  ns_free(worker->bytes);
  worker->bytes = NULL;
  worker->begin = worker->used = worker->room = 0;
}

/* ---- messages ---- */

bool ns_worker_next(NsWorker *worker, const char **bytes, size_t *size) {
  const unsigned char *at = (const unsigned char *)worker->bytes + worker->begin;
  if (worker->used - worker->begin < LENGTH) return false;
  size_t length = at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 | (size_t)at[3] << 24;
  if (worker->used - worker->begin - LENGTH < length) return false;
  *bytes = worker->bytes + worker->begin + LENGTH;
  *size = length;
  worker->begin += LENGTH + length;
  return true;
}

/* Makes room for one more chunk behind what was not read yet. */
static bool make_chunk_room(NsWorker *worker) {
  if (worker->begin > 0) memmove(worker->bytes, worker->bytes + worker->begin, worker->used - worker->begin);
  worker->used -= worker->begin;
  worker->begin = 0;
  if (worker->room - worker->used >= CHUNK) return true;
  size_t room = 2 * worker->used + CHUNK;
  char *larger = ns_resize(worker->bytes, room, 1);
  if (!larger) return false;
  worker->bytes = larger;
  worker->room = room;
  return true;
}

/* Takes in one chunk. NS_EEND: the other side is gone. */
static NsStatus take_in(NsWorker *worker, int flags) {
  if (!make_chunk_room(worker)) return NS_ENOMEM;
  ssize_t got = recv(worker->fd, worker->bytes + worker->used, worker->room - worker->used, flags);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK)) return NS_EINTR;
  if (got <= 0) return NS_EEND;
  worker->used += (size_t)got;
  return NS_OK;
}

NsStatus ns_worker_receive(NsWorker *worker, const char **bytes, size_t *size) {
  while (!ns_worker_next(worker, bytes, size)) {
    if (worker->fd < 0) return NS_EEND;
    NsStatus status = take_in(worker, 0);
    if (status != NS_OK) return status;
  }
  return NS_OK;
}

/* All bytes; NS_EEND when the other side is gone. MSG_NOSIGNAL: a write to a worker that has ended raises no SIGPIPE. */
static NsStatus send_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t done = send(fd, bytes, size, MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return NS_EEND;
    bytes += done;
    size -= (size_t)done;
  }
  return NS_OK;
}

NsStatus ns_worker_send(NsWorker *worker, const char *bytes, size_t size) {
  enum { SHORT = 512 }; /* bytes of a message that goes out together with its length, by one call */
  char together[LENGTH + SHORT];
  if (worker->fd < 0) return NS_EEND;
  if (size > UINT32_MAX) return NS_ETOOLARGE;
  for (int i = 0; i < LENGTH; i++) together[i] = (char)(size >> (8 * i) & 255);
  size_t first = size < SHORT ? size : SHORT;
  memcpy(together + LENGTH, bytes, first);
  NsStatus status = send_all(worker->fd, together, LENGTH + first);
  return status == NS_OK ? send_all(worker->fd, bytes + first, size - first) : status;
}

NsStatus ns_workers_wait(NsWorker *const *workers, int n, double seconds) {
  struct pollfd *fds = ns_alloc((size_t)n, sizeof *fds);
  if (!fds || n > MOST_WORKERS) return ns_free(fds), fds ? NS_ETOOLARGE : NS_ENOMEM;
  for (int i = 0; i < n; i++) fds[i] = (struct pollfd){workers[i]->fd, POLLIN, 0};
  NsStatus status = NS_OK;
  if (poll(fds, (nfds_t)n, (int)fmin(ceil(fmax(seconds, 0) * 1e3), INT_MAX)) > 0)
    for (int i = 0; i < n && status != NS_ENOMEM; i++) {
      if (!fds[i].revents) continue;
      status = take_in(workers[i], MSG_DONTWAIT);
      if (status == NS_EEND) worker_hang_up(workers[i]);
    }
  ns_free(fds);
  return status == NS_ENOMEM ? status : NS_OK;
}
