/*
** internal_io.h
** The io room for specs: hidden functions in the module's table `internal`.
*/
#ifndef NSL_BIND_INTERNAL_IO_H
#define NSL_BIND_INTERNAL_IO_H

#include "bind/support.h"

/*
** Adds to the field `internal` of the module, made when absent: csv_write(path, names, columns), npy_write(path,
** rows[, order]), number_format(x), library_symbol(path, symbol[, x]), file_open(path). Does nothing unless built
** with NSL_INTERNAL.
*/
void nsl_open_internal_io(lua_State *L);

#endif
