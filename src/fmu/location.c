/*
** location.c
** The directory of a unit's resources, from a URI or from the place of this library.
*/
#define _GNU_SOURCE /* dladdr */
#include "fmu/location.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Copies `from`, with %20 and the like decoded. */
static bool decode_path(const char *from, char *to, size_t size) {
  size_t n = 0;
  for (; *from && n + 1 < size; from++, n++) {
    int high = *from == '%' ? hex_digit(from[1]) : -1, low = high >= 0 ? hex_digit(from[2]) : -1;
    to[n] = *from;
    if (low < 0) continue;
    to[n] = (char)(high * 16 + low);
    if (to[n] == '\0') return false;
    from += 2;
  }
  to[n] = '\0';
  return *from == '\0';
}

/* This library is UNIT/binaries/PLATFORM/NAME.so. */
static bool beside_this_library(char *path, size_t size) {
  static const char here;
  Dl_info info;
  char *real = dladdr(&here, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
  if (!real) return false;
  for (int level = 0; level < 3; level++) {
    char *slash = strrchr(real, '/');
    if (slash) *slash = '\0';
  }
  size_t length = strlen(real);
  bool fits = length + sizeof "/resources" <= size;
  if (fits) {
    memcpy(path, real, length);
    memcpy(path + length, "/resources", sizeof "/resources");
  }
  free(real);
  return fits;
}

bool fmu_locate(const char *location, char *path, size_t size) {
  static const char scheme[] = "file:", host[] = "localhost";
  if (!location || !*location) return beside_this_library(path, size);
  if (strncmp(location, scheme, sizeof scheme - 1) != 0) {
    size_t length = strlen(location);
    if (location[0] != '/' || length >= size) return false;
    memcpy(path, location, length + 1);
    return true;
  }
  location += sizeof scheme - 1;
  if (strncmp(location, "//", 2) == 0) location += 2;
  if (strncmp(location, host, sizeof host - 1) == 0) location += sizeof host - 1;
  return location[0] == '/' && decode_path(location, path, size);
}
