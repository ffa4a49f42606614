/*
** library.h
** Shared libraries: a native callback by file and symbol.
*/
#pragma once

#include "base/error.h"

typedef struct NsLibrary NsLibrary;
typedef void (*NsSymbol)(void);

/* Opens a library; dlopen searches for a name without a slash. NS_EIO ("cannot open library 'X': reason"), NS_ENOMEM. */
NsStatus ns_library_open(NsLibrary **library, const char *path, NsError *err);

/* The function called `name`, to be cast to its type. NS_EIO ("library 'X' has no symbol 'F'"). */
NsStatus ns_library_symbol(const NsLibrary *library, const char *name, NsSymbol *symbol, NsError *err);

/* Closes a library; its functions must not be called afterwards. NULL is ignored. */
void ns_library_close(NsLibrary *library);
