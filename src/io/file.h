/*
** file.h
** A buffered writer whose file appears whole or not at all, and a function that reads a whole file.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
** A file being written. The bytes go to a temporary file in the directory of `path`, which ns_file_commit renames to `path`: a
** reader sees the old contents or the new ones, never a part. An existing file keeps its mode; a symbolic link stays, and its
** target is replaced. A device or a pipe is written directly. After a failure later writes do nothing, and the commit reports
** the failure.
*/
typedef struct NsFile NsFile;

/* Opens path for writing. NS_EIO ("cannot write 'PATH': reason"), NS_ENOMEM. *file is NULL on failure. */
NsStatus ns_file_open(NsFile **file, const char *path, NsError *err);

/* Appends size bytes. */
void ns_file_write(NsFile *file, const void *bytes, size_t size);

/* Appends text formatted as printf does. */
void ns_file_print(NsFile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
** Returns a buffer for at least `size` bytes (at most NS_FILE_RESERVE). The caller fills it and then calls ns_file_advance
** with the number of bytes: formatting without a copy.
*/
enum { NS_FILE_RESERVE = 1024 };
char *ns_file_reserve(NsFile *file, size_t size);
void ns_file_advance(NsFile *file, size_t size);

/* Writes the rest, syncs, renames. NS_EIO: the temporary file is removed. `file` is freed in every case. */
NsStatus ns_file_commit(NsFile *file, NsError *err);

/*
** Whether two paths name the same file. Existing files are compared by device and inode; when neither exists, the directories
** and names that symbolic links lead to are compared. Different paths in a missing directory: false.
*/
bool ns_file_same(const char *a, const char *b);

/* Discards what was written and frees `file`; the old contents stay. NULL is ignored. */
void ns_file_abort(NsFile *file);

/*
** Reads a file into *bytes (freed by ns_free), with a zero after the *size bytes. NS_EIO ("cannot read 'PATH': ..."),
** NS_ENOMEM.
*/
NsStatus ns_file_load(const char *path, char **bytes, size_t *size, NsError *err);
