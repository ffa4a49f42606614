/*
** workers.h
** worker_support: worker processes, the signals that stop a sweep, and a clock, for the Lua side.
*/
#ifndef NSL_FILE_WORKERS_H
#define NSL_FILE_WORKERS_H

#include <lua.h>

/*
** Adds worker_support to the module on top of the stack: functions that start workers and wait for them, the signals of a
** driver and of a worker, and what is known of the process (clock, pid, host, cores).
*/
void nsl_open_workers(lua_State *L);

#endif
