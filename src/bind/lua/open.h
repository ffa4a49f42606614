/*
** open.h
** The contents of nslua.core: the functions that fill the module, in the order in which they are called.
*/
#pragma once

#include <lua.h>

/* X(name) stands for nsl_open_name, in the file whose banner tells what it adds. */
#define NSL_OPEN_LIST(X)                                                                                                       \
  X(support) /* on(name, f); pcall, for what raises again what it catches */                                                   \
  X(vector)                                                                                                                    \
  X(matrix)                                                                                                                    \
  X(elementwise) /* methods of vectors and matrices */                                                                         \
  X(arrays)                                                                                                                    \
  X(functions)                                                                                                                 \
  X(samples)                                                                                                                   \
  X(fft)                                                                                                                       \
  X(random)                                                                                                                    \
  X(linalg)                                                                                                                    \
  X(schur)                                                                                                                     \
  X(versions)                                                                                                                  \
  X(sparse)                                                                                                                    \
  X(band)                                                                                                                      \
  X(host)                                                                                                                      \
  X(reads)                                                                                                                     \
  X(threads)                                                                                                                   \
  X(callee)                                                                                                                    \
  X(ad)                                                                                                                        \
  X(compile)                                                                                                                   \
  X(curve)      /* curve_support */                                                                                            \
  X(kinematics) /* motion_support */                                                                                           \
  X(first_order_ds)                                                                                                            \
  X(mechanical_ds)                                                                                                             \
  X(boundary)                                                                                                                  \
  X(relation)                                                                                                                  \
  X(law)                                                                                                                       \
  X(interaction)                                                                                                               \
  X(nsds)                                                                                                                      \
  X(scene) /* contact_support */                                                                                               \
  X(solid)                                                                                                                     \
  X(time_grid)                                                                                                                 \
  X(osi)                                                                                                                       \
  X(osnsp)                                                                                                                     \
  X(time_stepping)                                                                                                             \
  X(discrete)                                                                                                                  \
  X(discrete_support)                                                                                                          \
  X(solution)                                                                                                                  \
  X(adjoint)                                                                                                                   \
  X(exchange) /* exchange_support */                                                                                           \
  X(mode)     /* core.mode, see bind/simulation/mode.c */                                                                      \
  X(terms)                                                                                                                     \
  X(clone)                                                                                                                     \
  X(model_compile) /* compile_support */                                                                                       \
  X(answer)        /* result_fields_meta, the metatable of results */                                                          \
  X(numerics)                                                                                                                  \
  X(numerics_mcp)                                                                                                              \
  X(numerics_cone)                                                                                                             \
  X(numerics_study)                                                                                                            \
  X(numerics_contacts)                                                                                                         \
  X(optimise) /* optimise_support */                                                                                           \
  X(nlp)                                                                                                                       \
  X(ode)                                                                                                                       \
  X(root)                                                                                                                      \
  X(dae)        /* dae_support, engine */                                                                                      \
  X(process)    /* process_support = { run, rows, range, save, check, scratch } */                                             \
  X(journal)    /* journal_support = { open, read, make_folder, list_folder, remove_folder } */                                \
  X(workers)    /* worker_support */                                                                                           \
  X(number)     /* number_support = { format, concat, tostring, cell } */                                                      \
  X(thin)       /* thin_support = { rises, columns, distance, corners } */                                                     \
  X(files)      /* file_support = { load_csv, load_npy, load_npz, save_csv, ... } */                                           \
  X(files_hdf5) /* file_support.load_h5, save_h5 */

/*
** What the core asks the Lua side, by on(name, f):
**   unknown  f(class, what, known, name, sure): the message of nsl_no_such_name, nil for none
**   option   f(options, known, who): the options with other spellings replaced (nslua.base.option_tables)
**   events   f(events, who): the events of solve_ivp as lists (nslua.base.event_options)
**   compile  f(simulation): compiles the callbacks of its model (nslua.compile)
**   compile one f(function, title, told): what is to run in place of a function of a solver that compiles
**   lost path f(compiled, title, error): whether a callback that nslua.compile compiled shall run in Lua again
**   columns  f(systems, interactions, observed): the names of the columns of a run (nslua.base.column_names)
*/

/* Each gets the module's table on top of the stack and leaves it there. */
#define X(name) void nsl_open_##name(lua_State *L);
NSL_OPEN_LIST(X)
#undef X
