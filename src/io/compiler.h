/*
** compiler.h
** Native code at run time: a C compiler of the system, spawned on a source text.
*/
#ifndef NS_IO_COMPILER_H
#define NS_IO_COMPILER_H

#include "io/library.h"

/*
** Compiles a C source to a shared library and opens it. `program`: the compiler, found on PATH or by its path (tcc and
** what takes the options of cc); NULL: cc, and tcc where that does not do. The files stand in a directory of their own,
** for this user alone, in TMPDIR (else /tmp), and are gone when this returns. *used (NULL: not wanted): the compiler's
** name, static or `program`. Contraction and built-in functions are off: each operation rounds as it stands.
** NS_EIO: "cannot run compiler 'X': reason", "compiler 'X' failed: first lines of what it said", "no C compiler (cc, tcc)",
** "cannot write 'PATH': reason"; NS_ENOMEM.
*/
NsStatus ns_compiler_build(NsLibrary **library, const char *source, const char *program, const char **used, NsError *err);

#endif
