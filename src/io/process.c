/*
** process.c
** posix_spawn, three pipes and a poll loop.
*/
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/memory.h"

extern char **environ;

enum { PATIENCE_MS = 20, CHUNK = 1 << 16, FIRST_FREE = 3 };

/* What one stream of the program has written so far. */
typedef struct Text {
  char *bytes;
  size_t used, room;
} Text;

typedef struct Run {
  pid_t pid;
  int input, output[2]; /* our ends of the pipes; -1 when closed. output: standard output, standard error */
  Text text[2];
  bool ended;
  int wait_status;
} Run;

/* ---- pipes ---- */

static void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

/* Moves fd above 2, with close-on-exec; -1 with errno set. */
static int move_up(int fd) {
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FREE);
  int error = errno;
  close(fd);
  errno = error;
  return moved;
}

static bool make_pipe(int ends[2]) {
  if (pipe(ends) != 0) {
    ends[0] = ends[1] = -1;
    return false;
  }
  ends[0] = move_up(ends[0]);
  ends[1] = move_up(ends[1]);
  return ends[0] >= 0 && ends[1] >= 0;
}

static bool set_nonblocking(int fd) {
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0;
}

/* ---- start ---- */

/* Starts the program with the signal mask `mask`, default SIGPIPE and SIGINT, and its own process group. */
static int spawn_with(pid_t *pid, const char *const *argv, posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
                      const sigset_t *mask) {
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGINT);
  posix_spawnattr_setsigdefault(attributes, &defaults);
  posix_spawnattr_setsigmask(attributes, mask);
  posix_spawnattr_setpgroup(attributes, 0);
  posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  return posix_spawnp(pid, argv[0], actions, attributes, (char *const *)argv, environ);
}

/* Spawns argv with the program's ends of the pipes as its standard streams; an errno. */
static int process_spawn(pid_t *pid, const char *const *argv, const int streams[3], const sigset_t *mask) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (!error) {
    for (int i = 0; i < 3 && !error; i++) error = posix_spawn_file_actions_adddup2(&actions, streams[i], i);
    if (!error) error = spawn_with(pid, argv, &actions, &attributes, mask);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/* Opens the pipes and starts the program; an errno. */
static int process_start(Run *run, const char *const *argv, const sigset_t *mask) {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, error = 0;
  if (make_pipe(in) && make_pipe(out) && make_pipe(err) && set_nonblocking(in[1]) && set_nonblocking(out[0]) &&
      set_nonblocking(err[0]))
    error = process_spawn(&run->pid, argv, (const int[]){in[0], out[1], err[1]}, mask);
  else error = errno;
  close_end(&in[0]);
  close_end(&out[1]);
  close_end(&err[1]);
  run->input = in[1];
  run->output[0] = out[0];
  run->output[1] = err[0];
  return error;
}

/* ---- the exchange ---- */

/* Appends what can be read from a stream now; false when there is no memory. */
static bool drain(int *fd, Text *text) {
  for (;;) {
    if (text->room - text->used < CHUNK) {
      size_t room = 2 * text->room + CHUNK + 1;
      char *bytes = ns_resize(text->bytes, room, 1);
      if (!bytes) return false;
      text->bytes = bytes;
      text->room = room;
    }
    ssize_t got = read(*fd, text->bytes + text->used, text->room - text->used - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (got <= 0) {
      close_end(fd);
      return true;
    }
    text->used += (size_t)got;
  }
}

/* Writes as much as the program accepts now; closes its input when all is written or the program reads no more. */
static void feed(Run *run, const char **input, size_t *size) {
  while (*size > 0) {
    ssize_t done = write(run->input, *input, *size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (done < 0) break;
    *input += done;
    *size -= (size_t)done;
  }
  close_end(&run->input);
}

static void look_whether_ended(Run *run) {
  pid_t got;
  do got = waitpid(run->pid, &run->wait_status, WNOHANG);
  while (got < 0 && errno == EINTR);
  run->ended = got != 0;
}

/* Waits until a stream is ready, at most PATIENCE_MS; with all streams closed only 1 ms, as the program is about to end. */
static void wait_for_streams(const Run *run) {
  struct pollfd fds[3] = {{run->input, POLLOUT, 0}, {run->output[0], POLLIN, 0}, {run->output[1], POLLIN, 0}};
  bool open = run->input >= 0 || run->output[0] >= 0 || run->output[1] >= 0;
  poll(fds, 3, open ? PATIENCE_MS : 1); /* poll ignores negative descriptors */
}

/* Exchanges data until the program has ended. Its output is then complete, even if other processes still hold the pipes. */
static NsStatus process_exchange(Run *run, const char *input, size_t size) {
  while (!run->ended) {
    if (ns_interrupted()) return NS_EINTR;
    wait_for_streams(run);
    look_whether_ended(run);
    if (run->input >= 0 && !run->ended) feed(run, &input, &size);
    for (int i = 0; i < 2; i++)
      if (run->output[i] >= 0 && !drain(&run->output[i], &run->text[i])) return NS_ENOMEM;
  }
  return NS_OK;
}

static void kill_and_reap(Run *run) {
  if (run->ended) return;
  kill(run->pid, SIGKILL);
  while (waitpid(run->pid, &run->wait_status, 0) < 0 && errno == EINTR) continue;
  run->ended = true;
}

static void close_streams(Run *run) {
  close_end(&run->input);
  close_end(&run->output[0]);
  close_end(&run->output[1]);
}

/* ---- SIGPIPE ---- */

/* Blocks SIGPIPE in this thread. Returns whether one was already pending. */
static bool block_sigpipe(sigset_t *before) {
  sigset_t pipe_only, pending;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &pipe_only, before);
  return sigismember(&pending, SIGPIPE) == 1;
}

/* Removes a pending SIGPIPE raised by our writes, and restores the mask. */
static void restore_sigpipe(const sigset_t *before, bool was_pending) {
  sigset_t pipe_only;
  sigemptyset(&pipe_only);
  sigaddset(&pipe_only, SIGPIPE);
  while (!was_pending && sigtimedwait(&pipe_only, NULL, &(struct timespec){0, 0}) < 0 && errno == EINTR) continue;
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* ---- the whole ---- */

static void take_output(Run *run, NsProcessOutput *output) {
  for (int i = 0; i < 2; i++)
    if (run->text[i].bytes) run->text[i].bytes[run->text[i].used] = '\0';
  output->out = run->text[0].bytes;
  output->out_size = run->text[0].used;
  output->err = run->text[1].bytes;
  output->err_size = run->text[1].used;
  if (WIFEXITED(run->wait_status)) output->status = WEXITSTATUS(run->wait_status);
  if (WIFSIGNALED(run->wait_status)) output->signal = WTERMSIG(run->wait_status);
}

static NsStatus fail_to_start(const char *program, int error, NsProcessOutput *output, NsError *err) {
  output->missing = error == ENOENT;
  output->status = 127;
  return ns_fail(err, error == ENOMEM ? NS_ENOMEM : NS_EIO, "cannot run '%s': %s", program, strerror(error));
}

NsStatus ns_process_run(const char *const *argv, const char *input, size_t size, NsProcessOutput *output, NsError *err) {
  Run run = {.input = -1, .output = {-1, -1}};
  sigset_t mask;
  *output = (NsProcessOutput){0};
  bool was_pending = block_sigpipe(&mask);
  int error = process_start(&run, argv, &mask);
  NsStatus status = error ? fail_to_start(argv[0], error, output, err) : process_exchange(&run, input, size);
  if (!error && status != NS_OK) kill_and_reap(&run);
  close_streams(&run);
  restore_sigpipe(&mask, was_pending);
  if (!error) take_output(&run, output);
  if (!error && status != NS_OK) {
    ns_process_output_free(output);
    return ns_fail(err, status, "%s: %s", argv[0], ns_status_message(status));
  }
  return status;
}

void ns_process_output_free(NsProcessOutput *output) {
  ns_free(output->out);
  ns_free(output->err);
  *output = (NsProcessOutput){0};
}
