/*
** sensitivities.h
** The option `sensitivities` of run{}, and the derivatives in a solution.
*/
#pragma once

#include "bind/simulation/simulation.h"
#include "model/parameter_list.h"
#include "simulation/run.h"

/* Where the simulation at 1 has clocks, the option on top becomes one with the places that their actions write. */
void nsl_prepare_sensitivities(lua_State *L);

/*
** Reads the option at stack index `option` for the simulation at 1. Pushes a list of the names of the parameters, and an object
** that keeps those in *asked.
*/
void nsl_read_sensitivities(lua_State *L, int option, NsRunSensitivities *asked);

/* Watches from the run of the simulation at 1 to its next one which of these parameters the script's functions read by themselves. */
void nsl_watch_parameters(lua_State *L, const NsRunSensitivities *asked);

/* NS_EARG when, since then, a callback has read an initial value that is a parameter: its derivatives lack what that does. */
NsStatus nsl_read_initial(const NsRunSensitivities *asked, NsError *err);

/* Adds the numbers {object, field [, i [, j]]}, a table at idx, to the parameters. Raises when the object is not in the model. */
void nsl_add_field_parameter(lua_State *L, NsParameterList *list, int idx);

/* The record of the last run of the simulation at 1, for core.adjoint. Raises when there is none. */
NsSensitivities *nsl_check_recorded(lua_State *L);

/*
** Push sol.S, a list with a matrix for each row; and sol:sensitivity(...) for the name or number at `which`. names: the stack
** index of the list of names.
*/
int nsl_push_sensitivity_rows(lua_State *L, const NsSolution *s);
int nsl_push_sensitivity(lua_State *L, const NsSolution *s, int names, int which);
