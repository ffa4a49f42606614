/*
** scratch.c
** Makes private directories by mkdtemp, and removes them.
*/
#include "io/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

NsStatus ns_scratch_new(NsScratch *scratch, NsError *err) {
  const char *root = getenv("TMPDIR");
  if (!root || root[0] == '\0' || strlen(root) > NS_SCRATCH_PATH - 32) root = "/tmp";
  snprintf(scratch->path, sizeof scratch->path, "%s/nslua-XXXXXX", root);
  if (mkdtemp(scratch->path)) return NS_OK;
  scratch->path[0] = '\0';
  return ns_fail(err, NS_EIO, "cannot make a directory in '%s': %s", root, strerror(errno));
}

static void remove_entries(DIR *directory) {
  for (struct dirent *entry; (entry = readdir(directory));) unlinkat(dirfd(directory), entry->d_name, 0);
}

void ns_scratch_remove(NsScratch *scratch) {
  if (scratch->path[0] == '\0') return;
  DIR *directory = opendir(scratch->path);
  if (directory) {
    remove_entries(directory);
    closedir(directory);
  }
  rmdir(scratch->path);
  scratch->path[0] = '\0';
}
