/*
** process.h
** Programs run without a shell: bytes go in through a pipe, what the program writes comes back.
*/
#ifndef NS_IO_PROCESS_H
#define NS_IO_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* What a program left behind; `out` and `err` are owned by the struct and end in a zero that does not count. */
typedef struct NsProcessOutput {
  char *out, *err;
  size_t out_size, err_size;
  int status;   /* its exit status; 127 and `missing` when there is no such program */
  int signal;   /* what ended it, 0 when it has exited by itself */
  bool missing; /* the program was not found on the PATH */
} NsProcessOutput;

/*
** Runs argv[0] (looked up on the PATH; argv ends in NULL), feeds it `size` bytes and waits until it has ended. What it
** leaves running, a window that persists, is not waited for. Arguments reach the program as they are: no shell reads
** them. A program that stops reading its input does no harm (no SIGPIPE). The engine's interrupt flag is polled every
** 20 ms: the program is then killed. It has a process group of its own: Ctrl-C at a terminal reaches it in this way
** alone, and a window that persists not at all. An exit status that is not 0 is no failure of this function.
** NS_EIO ("cannot run 'X': reason"; `missing` is set when it is not there), NS_ENOMEM, NS_EINTR.
*/
NsStatus ns_process_run(const char *const *argv, const char *input, size_t size, NsProcessOutput *output, NsError *err);

/* Frees what the struct holds and zeroes it. */
void ns_process_output_free(NsProcessOutput *output);

#endif
