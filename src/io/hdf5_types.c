/*
** hdf5_types.c
** Errors of the HDF5 library, and its access properties.
*/
#include "io/hdf5_types.h"

#include <stdio.h>
#include <string.h>

const NsEngine *ns_hdf5_engine;

/* ---- errors ---- */

NsHdf5Quiet ns_hdf5_begin(void) {
  NsHdf5Quiet before = {NULL, NULL};
  H5Eget_auto2(H5E_DEFAULT, &before.print, &before.context);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  H5Eclear2(H5E_DEFAULT);
  return before;
}

void ns_hdf5_end(NsHdf5Quiet before) {
  H5Eclear2(H5E_DEFAULT);
  H5Eset_auto2(H5E_DEFAULT, before.print, before.context);
}

enum { REASON = 256 };

/* The innermost entry comes first. If it quotes a message of the system, only that message is taken. */
static herr_t take_reason(unsigned n, const H5E_error2_t *entry, void *context) {
  static const char quote[] = "error message = '";
  char *reason = context;
  if (n > 0 || !entry->desc) return 0;
  const char *said = strstr(entry->desc, quote);
  if (said) snprintf(reason, REASON, "%.*s", (int)strcspn(said + sizeof quote - 1, "'"), said + sizeof quote - 1);
  else snprintf(reason, REASON, "HDF5 says: %s", entry->desc);
  for (char *end = reason; *end; end++)
    if (*end == '\n') *end = ' ';
  return 0;
}

NsStatus ns_hdf5_fail(NsError *err, const char *verb, const char *path) {
  char reason[REASON] = "HDF5 fails";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_reason, reason);
  return ns_hdf5_engine->fail(err, NS_EIO, "cannot %s '%s': %s", verb, path, reason);
}

NsStatus ns_hdf5_memory(NsError *err, const char *verb, const char *path) {
  return ns_hdf5_engine->fail(err, NS_ENOMEM, "cannot %s '%s': not enough memory", verb, path);
}

/* ---- files ---- */

char *ns_hdf5_copy(const char *text, size_t n) {
  char *copy = ns_hdf5_engine->alloc(n + 1, 1);
  if (copy && n > 0) memcpy(copy, text, n);
  return copy;
}

hid_t ns_hdf5_access(void) {
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  if (access < 0) return access;
  herr_t bad = H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0;
  bad = bad || H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0;
#if H5_VERSION_GE(1, 10, 7)
  bad = bad || H5Pset_file_locking(access, true, true) < 0;
#endif
  if (!bad) return access;
  H5Pclose(access);
  return -1;
}
