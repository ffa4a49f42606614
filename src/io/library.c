/*
** library.c
** dlopen and dlsym with readable errors.
*/
#include "io/library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/memory.h"

struct NsLibrary {
  void *handle;
  char path[];
};

/* The loader's message without the file name, which our message has already. */
static const char *reason(const char *path) {
  const char *text = dlerror();
  size_t length = strlen(path);
  if (!text) return "unknown error";
  return strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0 ? text + length + 2 : text;
}

NsStatus ns_library_open(NsLibrary **out, const char *path, NsError *err) {
  *out = NULL;
  NsLibrary *library = ns_alloc(1, sizeof *library + strlen(path) + 1);
  if (!library) return ns_fail(err, NS_ENOMEM, "cannot open library '%s': not enough memory", path);
  strcpy(library->path, path);
  library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library->handle) {
    NsStatus status = ns_fail(err, NS_EIO, "cannot open library '%s': %s", path, reason(path));
    ns_free(library);
    return status;
  }
  *out = library;
  return NS_OK;
}

NsStatus ns_library_symbol(const NsLibrary *library, const char *name, NsSymbol *symbol, NsError *err) {
  void *address = dlsym(library->handle, name);
  *symbol = NULL;
  if (!address) return ns_fail(err, NS_EIO, "library '%s' has no symbol '%s'", library->path, name);
  memcpy(symbol, &address, sizeof *symbol);
  return NS_OK;
}

void ns_library_close(NsLibrary *library) {
  if (!library) return;
  dlclose(library->handle);
  ns_free(library);
}
