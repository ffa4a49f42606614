/*
** location.h
** Where the files of a unit are.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
** The directory of a resource location: a URI "file:///a%20b", "file:/a" or "file://localhost/a", or a path. NULL or "" stands
** for the directory "resources" of the unit that this library is part of. Returns false when it is none of these, or too long
** for `size` bytes.
*/
bool fmu_locate(const char *location, char *path, size_t size);
