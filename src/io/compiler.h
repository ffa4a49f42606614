/*
** compiler.h
** Native code at run time: a C compiler of the system, spawned on a source text.
*/
#ifndef NS_IO_COMPILER_H
#define NS_IO_COMPILER_H

#include "io/library.h"

/*
** Compiles a C source to a shared library and opens it. `program`: the compiler (tcc, or what takes the options of cc),
** by its path or found in an absolute directory of PATH; NULL: cc, and tcc where that does not do. No shell has a part in
** it. The files stand in a directory of their own, for this user alone, in TMPDIR (else /tmp), and are gone when this
** returns. *used (NULL: not wanted): the compiler's name, static or `program`. Contraction and built-in functions are
** off: each operation rounds as it stands.
** NS_EIO: "cannot run compiler 'X': reason", "compiler 'X' failed: first lines of what it said", "no C compiler (cc, tcc)",
** "cannot make a directory in 'PATH': reason", "cannot write 'PATH': reason"; NS_ENOMEM.
*/
NsStatus ns_compiler_build(NsLibrary **library, const char *source, const char *program, const char **used, NsError *err);

#endif
