/*
** compiler.h
** Native code at run time: a C compiler of the system, spawned on a source text.
*/
#pragma once

#include <stdbool.h>

#include "io/library.h"

/*
** Compiles a C source to a shared library and opens it. `program` is the compiler (tcc, or one that takes cc's options): a
** path, or a name that is searched in the absolute directories of PATH. NULL: cc, then tcc when cc fails. No shell is
** involved. The files are in a private directory in TMPDIR (else /tmp), which is removed before this returns. *used (NULL: not
** wanted): the compiler's name, static or `program`. Contraction and built-in functions are off: each operation rounds as
** written.
**
** NS_EIO: "cannot run compiler 'X': reason", "compiler 'X' failed: first lines of its output", "no C compiler (cc, tcc)",
** "cannot make a directory in 'PATH': reason", "cannot write 'PATH': reason"; NS_ENOMEM.
*/
NsStatus ns_compiler_build(NsLibrary **library, const char *source, const char *program, const char **used, NsError *err);

/*
** The same by cc, then tcc, while the caller goes on: a child process, no thread. At most two work in a process at a time, others wait for
** their turn. NULL: no memory.
*/
typedef struct NsCompilation NsCompilation;
NsCompilation *ns_compiler_start(const char *source);

/* Whether it has ended; a call costs a system call. It begins those that wait, and starts tcc where cc has failed. */
bool ns_compiler_ended(NsCompilation *compilation);

/* Opens the library of one that has ended, before it is stopped, with errors and *used as of ns_compiler_build. */
NsStatus ns_compiler_take(NsCompilation *compilation, NsLibrary **library, const char **used, NsError *err);

/* Ends the process if it still works, removes its files and frees the memory. NULL is ignored. */
void ns_compiler_stop(NsCompilation *compilation);
