/*
** internal.h
** nslua.internal: engine functions bound for specs alone. An installed build has neither this file nor the others of its
** folder.
*/
#ifndef NSL_INTERNAL_INTERNAL_H
#define NSL_INTERNAL_INTERNAL_H

#include "base/field.h"
#include "bind/lua/object.h"

/* Each of these adds its functions to the table on top of the stack. */

/*
** status_count(), status_message(i), status_name(i), fail(status, text), allocates(count, size), resizes(from, to),
** failing(n, on, f, ...) (a call while an allocation fails), arena(), interrupt_raise(), interrupt_clear(),
** interrupted().
*/
void nsl_internal_base(lua_State *L);

/*
** box{M=, q=, lower=, upper=, guess=, method=, tolerance=, max_iterations=, repeats=} takes plain tables (M a list of
** rows; lower 0 and upper inf when absent) and returns a table with z, w, status, message, iterations, residual,
** relative, backward, solver, warm, solutions, allocations (made while solving) and seconds (of one of `repeats`
** solves).
*/
void nsl_internal_box(lua_State *L);

/*
** Parts of solvers; each takes one table of named arguments and returns one of results: scale, active, mcp_jacobian, box_map,
** block, minor_sign. Also fischer(a, b) and fischer_box(z, f, lower, upper).
*/
void nsl_internal_solvers(lua_State *L);

/*
** mixed(problems): solves with one solver a list of problems of rows and contacts, each {W=, q=, groups=, guess=, sparse=,
** tolerance=, max_iterations=, repeats=}. Returns a list of {z, w, status, solver, iterations, warm, residual, relative,
** backward, seconds, allocations}. mixed_part(problem, method): runs one method ("measure" (of guess), "newton", "plane",
** "embed" or "sweeps") alone; returns also the measure of the result, exact (embed) and rho.
*/
void nsl_internal_mixed(lua_State *L);

/*
** csv_write(path, names, columns), npy_write(path, rows[, order]), number_format(x), library_symbol(path, symbol[,
** x]), file_open(path), number_parse(text), file_load(path).
*/
void nsl_internal_io(lua_State *L);

/* owner() (a closable object with views on it), to_vector, to_matrix, describe, integer, finite. */
void nsl_internal_views(lua_State *L);

/* jacobians(f, self, t, plain, ...) and along(f, plain, t, tdot, x, w, first_only), as C calls them. */
void nsl_internal_ad(lua_State *L);

/*
** relation_bias(relation, t, q, qdot [, lambda]) and relation_rate(...): ns_relation_add_bias and ns_relation_add_rate of a
** linked relation. triplets(n, pieces): a matrix made from coefficients by ns_triplets_form.
*/
void nsl_internal_model(lua_State *L);

/* probe(size, rate, ...) and spread([size,] rate): an object with a field of every type. */
void nsl_internal_fields(lua_State *L);

/* classes(): the tables of all systems, relations and boundary conditions. */
void nsl_internal_classes(lua_State *L);

/* parts(simulation), peek(simulation, part, field), poke(simulation, part, field): every field of a simulation. */
void nsl_internal_tables(lua_State *L);

/* Pushes {NAME = true, bits = N} for the bits that are set; pushes the list of the fields of a table. */
void nsl_internal_push_bits(lua_State *L, unsigned bits, const char *const *names);
void nsl_internal_push_fields(lua_State *L, const NsField *table);

/* law_classes(): the tables of all laws; law_table(law [, theta]): the answers of a law's class; law_clone(law). */
void nsl_internal_laws(lua_State *L);

/*
** tape(inputs, entries, outputs, x, direction, from, count), tape_source(inputs, entries, outputs),
** tape_native(inputs, entries, outputs, xs, program), tape_operations(),
** compiler_build(source, program [, function, inputs, count]).
*/
void nsl_internal_tape(lua_State *L);

/* zlu(n, A, b): solves a complex system. */
void nsl_internal_linalg(lua_State *L);

/*
** The functions of ode/bernstein.h on lists: bernstein.of_dense(start, rows), .nodes(), .interpolate(values) (and its error),
** .at(b, x) (and the slope), .split(b), .divide(b), .changes(b), .first(b).
*/
void nsl_internal_ode(lua_State *L);

/* variational{...}: the functions of ode/variational.h with callbacks in Lua; see its comment. */
void nsl_internal_variational(lua_State *L);

/*
** tableau(scheme, stages), tableau_weights(nodes, x): the functions of integrators/fesd/tableau.h. accumulation(times, rows): those of
** integrators/accumulation.h.
*/
void nsl_internal_fesd(lua_State *L);

/* flow(nsds, options): the motion of a first-order model in a mode, and the choice of the mode. */
void nsl_internal_switching(lua_State *L);

/* places(simulation, parameters), model_derivative(simulation, parameters, point): model/parameter_place.h, model/vjp.h. */
void nsl_internal_derivatives(lua_State *L);

/* Puts luaopen_nslua_internal in package.preload, so that require "nslua.internal" finds it. */
void nsl_open_internal(lua_State *L);

#endif
