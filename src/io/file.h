/*
** file.h
** Files written whole or not at all: a buffered writer on a temporary file that takes the real name at the end; and files
** read whole.
*/
#ifndef NS_IO_FILE_H
#define NS_IO_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/*
** A file being written. The bytes go to a temporary file in the directory of `path`; ns_file_commit gives it the
** name, so that a reader sees the old contents or the new ones, never half. An existing file keeps its mode, a
** symbolic link stays and its target is replaced. What is no regular file (a device, a pipe) is written directly.
** The first failure is kept: later writes do nothing and the commit reports it.
*/
typedef struct NsFile NsFile;

/* Opens path for writing. NS_EIO ("cannot write 'PATH': reason"), NS_ENOMEM. *file is NULL on failure. */
NsStatus ns_file_open(NsFile **file, const char *path, NsError *err);

/* Appends size bytes. */
void ns_file_write(NsFile *file, const void *bytes, size_t size);

/* Appends text formatted as printf does. */
void ns_file_print(NsFile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
** Room for at least `size` bytes (at most NS_FILE_RESERVE), to be filled by the caller and claimed with
** ns_file_advance: formatting without a copy.
*/
enum { NS_FILE_RESERVE = 1024 };
char *ns_file_reserve(NsFile *file, size_t size);
void ns_file_advance(NsFile *file, size_t size);

/* Writes what is left, syncs, renames. NS_EIO removes the temporary file. `file` is freed in every case. */
NsStatus ns_file_commit(NsFile *file, NsError *err);

/*
** Whether two paths name one file: by device and inode where it is there; where neither is, by the directory and the name that
** symbolic links lead to. False where a directory is not there, for paths that differ.
*/
bool ns_file_same(const char *a, const char *b);

/* Drops the file and what was written; the old contents stay. NULL is ignored. */
void ns_file_abort(NsFile *file);

/*
** The contents of a file, with a zero after them that does not count; to be freed by ns_free. NS_EIO ("cannot read
** 'PATH': reason"), NS_ENOMEM.
*/
NsStatus ns_file_load(const char *path, char **bytes, size_t *size, NsError *err);

#endif
