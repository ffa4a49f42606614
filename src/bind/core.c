/*
** core.c
** luaopen_nslua_core: registers every type and returns the module's table.
*/
#include "base/version.h"
#include "bind/lua/object.h"

#include "bind/diff/ad.h"
#include "bind/array/arrays.h"
#include "bind/array/elementwise.h"
#include "bind/array/fft.h"
#include "bind/call/callee.h"
#include "bind/diff/compile.h"
#include "bind/file/files.h"
#include "bind/file/files_hdf5.h"
#include "bind/lua/host.h"
#include "bind/internal/internal.h"
#include "bind/array/sparse.h"
#include "bind/array/band.h"
#include "bind/array/linalg.h"
#include "bind/lua/versions.h"
#include "bind/array/matrix.h"
#include "bind/model/kinematics.h"
#include "bind/model/model.h"
#include "bind/lua/number_text.h"
#include "bind/lua/options.h"
#include "bind/numerics/box.h"
#include "bind/numerics/answer.h"
#include "bind/numerics/nlp.h"
#include "bind/numerics/smooth.h"
#include "bind/ode/dae.h"
#include "bind/ode/ode.h"
#include "bind/ode/root.h"
#include "bind/file/journal.h"
#include "bind/file/process.h"
#include "bind/file/workers.h"
#include "bind/array/functions.h"
#include "bind/array/random.h"
#include "bind/array/samples.h"
#include "bind/simulation/simulation.h"
#include "bind/array/curve_points.h"
#include "bind/array/vector.h"

/* Each opener gets the module table on top of the stack and leaves it there. */
static void (*const openers[])(lua_State *) = {
    nsl_open_support,
    nsl_open_options,
    nsl_open_vector,
    nsl_open_matrix,
    nsl_open_elementwise,
    nsl_open_arrays,
    nsl_open_functions,
    nsl_open_samples,
    nsl_open_fft,
    nsl_open_random,
    nsl_open_linalg,
    nsl_open_versions,
    nsl_open_sparse,
    nsl_open_band,
    nsl_open_host,
    nsl_open_callee,
    nsl_open_ad,
    nsl_open_compile,
    nsl_open_kinematics,
    nsl_open_first_order_ds,
    nsl_open_mechanical_ds,
    nsl_open_boundary,
    nsl_open_relation,
    nsl_open_law,
    nsl_open_interaction,
    nsl_open_nsds,
    nsl_open_terms,
    nsl_open_time_grid,
    nsl_open_osi,
    nsl_open_osnsp,
    nsl_open_time_stepping,
    nsl_open_discrete,
    nsl_open_discrete_support,
    nsl_open_solution,
    nsl_open_adjoint,
    nsl_open_exchange,
    nsl_open_clone,
    nsl_open_answer,
    nsl_open_numerics,
    nsl_open_numerics_mcp,
    nsl_open_numerics_cone,
    nsl_open_numerics_study,
    nsl_open_numerics_contacts,
    nsl_open_optimise,
    nsl_open_nlp,
    nsl_open_ode,
    nsl_open_root,
    nsl_open_dae,
    nsl_open_process,
    nsl_open_journal,
    nsl_open_workers,
    nsl_open_number,
    nsl_open_thin,
    nsl_open_files,
    nsl_open_files_hdf5,
#ifdef NSL_INTERNAL
    nsl_open_internal,
#endif
};

NSL_EXPORT int luaopen_nslua_core(lua_State *L) {
  luaL_checkversion(L);
  lua_newtable(L);
  lua_pushliteral(L, "nslua " NS_VERSION);
  lua_setfield(L, -2, "_VERSION");
  for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) openers[i](L);
  return 1;
}
