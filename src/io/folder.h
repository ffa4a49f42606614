/*
** folder.h
** Folders: make one, list its files, remove it.
*/
#pragma once

#include "base/error.h"

/* Makes the folder at path; it may be there already. NS_EIO ("cannot make the directory 'PATH': reason"). */
NsStatus ns_folder_make(const char *path, NsError *err);

/* Calls found(context, name) for each entry but "." and "..", in no order. NS_EIO ("cannot read 'PATH': reason"). */
NsStatus ns_folder_list(const char *path, void (*found)(void *context, const char *name), void *context, NsError *err);

/* Removes an empty folder. NS_EIO ("cannot remove 'PATH': reason"). */
NsStatus ns_folder_remove(const char *path, NsError *err);
