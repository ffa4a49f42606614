/*
** dump.h
** The last one-step problem as a file that Lua can read back.
*/
#ifndef NS_SIMULATION_DUMP_H
#define NS_SIMULATION_DUMP_H

#include "simulation/one_step_problem.h"

/*
** Writes M (rows), q, lower, upper, H (rows) and K where laws are polyhedral, lambda, y, the kind and the solver's verdict as a Lua table constructor after `return`; numbers
** read back exactly. NS_EARG when nothing was solved yet, NS_EIO, NS_ENOMEM.
*/
NsStatus ns_osnsp_dump(const NsOsnsp *problem, const char *path, NsError *err);

#endif
