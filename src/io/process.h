/*
** process.h
** Runs programs without a shell: input through a pipe, output collected.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The result of a program. `out` and `err` are owned by the struct; a zero byte follows each, not counted in its size. */
typedef struct NsProcessOutput {
  char *out, *err;
  size_t out_size, err_size;
  int status;   /* exit status; 127 when `missing` */
  int signal;   /* the signal that ended it; 0 when it exited by itself */
  bool missing; /* the program was not found on the PATH */
} NsProcessOutput;

/*
** Runs argv[0] (searched on the PATH; argv ends with NULL), feeds it `size` bytes of input and waits for its end. Processes
** that it leaves running, as a window that stays open, are not waited for. No shell changes the arguments. A program that
** stops reading its input does no harm (no SIGPIPE). The engine's interrupt flag is polled every 20 ms; when it is raised, the
** program is killed. The program has its own process group, so Ctrl-C at a terminal reaches it only through this flag, and
** never reaches a window that stays open. An exit status other than 0 is not a failure of this function. NS_EIO ("cannot run
** 'X': reason"; `missing` is set when there is no such program), NS_ENOMEM, NS_EINTR.
*/
NsStatus ns_process_run(const char *const *argv, const char *input, size_t size, NsProcessOutput *output, NsError *err);

/* Frees what the struct holds and zeroes it. */
void ns_process_output_free(NsProcessOutput *output);
