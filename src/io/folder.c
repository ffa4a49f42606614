/*
** folder.c
** mkdir, readdir, rmdir.
*/
#include "io/folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

NsStatus ns_folder_make(const char *path, NsError *err) {
  struct stat there;
  if (mkdir(path, 0777) == 0) return NS_OK;
  int error = errno;
  if (error == EEXIST && stat(path, &there) == 0 && S_ISDIR(there.st_mode)) return NS_OK;
  return ns_fail(err, NS_EIO, "cannot make the directory '%s': %s", path, strerror(error));
}

NsStatus ns_folder_list(const char *path, void (*found)(void *context, const char *name), void *context, NsError *err) {
  DIR *folder = opendir(path);
  if (!folder) return ns_fail(err, NS_EIO, "cannot read '%s': %s", path, strerror(errno));
  for (const struct dirent *entry; (entry = readdir(folder));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) found(context, entry->d_name);
  closedir(folder);
  return NS_OK;
}

NsStatus ns_folder_remove(const char *path, NsError *err) {
  if (rmdir(path) == 0) return NS_OK;
  return ns_fail(err, NS_EIO, "cannot remove '%s': %s", path, strerror(errno));
}
