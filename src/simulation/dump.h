/*
** dump.h
** Writes the last one-step problem to a file that Lua can read.
*/
#pragma once

#include "simulation/one_step_problem.h"

/*
** Writes a Lua table constructor after `return`: M (by rows), q, lower, upper, lambda, y, the kind, the solver's verdict, and H
** (by rows) and K of polyhedral laws. Numbers read back exactly. NS_EARG when no problem was solved yet, NS_EIO, NS_ENOMEM.
*/
NsStatus ns_osnsp_dump(const NsOsnsp *problem, const char *path, NsError *err);
