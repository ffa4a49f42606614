/*
** hdf5.c
** The table of functions of the HDF5 module.
*/
#include "io/hdf5.h"

#include <stdio.h>

#include "io/hdf5_types.h"

const NsHdf5 *ns_hdf5(const NsEngine *engine) {
  static NsHdf5 table = {ns_hdf5_pack, ns_hdf5_load, ns_hdf5_clear, ns_hdf5_append, ""};
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0 || (major == 1 && (minor < 10 || (minor == 10 && release < 2))))
    return NULL;
  snprintf(table.version, sizeof table.version, "%u.%u.%u", major, minor, release);
  ns_hdf5_engine = engine;
  return &table;
}
