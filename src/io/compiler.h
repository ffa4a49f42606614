/*
** compiler.h
** Native code at run time: a C compiler of the system, spawned on a source text.
*/
#pragma once

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
